//! The input-buffered router: asking, granting, releasing (docs/model.md, "Router").
//!
//! A router is visited for a whole window. It keeps for each output a time before which it can't grant: its release,
//! or when the first packet asks for it, or when the credits suffice that are on their way. All of these are known
//! ahead, so nobody needs to be woken: the visit goes from the least of these times to the next. An output that is
//! looked at too early is looked at in vain, and gives a better time.
//!
//! A visit reads and writes nothing but its own router. What a grant brings about elsewhere lies beyond the window:
//! the packet asks in the next router, and its credits get back to the router before, no sooner than a window later.
//! So both go to the outbox, and are delivered when the visit is over.

use super::adaptive::Choosers;
use super::credits::{Credit, Links, Returning};
use super::model::Model;
use super::packet::{Packets, last_start};
use super::ports::{AWAY, Input, NOT_STALLED, Output, Queue, Router};
use super::sink::Delivery;
use super::tick::{NEVER, Tick};
use super::walk::{Stretch, between, cyclic, steps};
use super::way::Address;
use super::whole::Whole;
use super::{Arbitration, ChannelKind, Digest, Interruption, STALLS, Stall, Switching};
use crate::routing::ForwardingTable;
use crate::topology::NONE;
use crate::units::Picoseconds;

/// A packet on its way to another router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub slot: u32,
    /// The output's `far_queue`, `far_router` and `far_pair`, lane included but for a queue that is [`AWAY`].
    pub queue: u32,
    pub router: u32,
    pub pair: u16,
    pub lane: u8,
}

/// Credits on their way to another router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Returned {
    /// The input port's `feeder`.
    pub feeder: u32,
    pub lane: u8,
    pub credit: Credit,
}

/// What a visit brings about elsewhere.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    pub sent: Vec<Sent>,
    pub returned: Vec<Returned>,
    pub deliveries: Vec<Delivery>,
    /// Injection channels of the router, and when credits arrive that they wait for.
    pub fed: Vec<(u32, Tick)>,
}

impl Outbox {
    /// Whether it holds something that may let the router's own terminals send something within the window.
    #[inline]
    fn is_urgent(&self, hosts_answer: bool) -> bool {
        !self.fed.is_empty() || hosts_answer && !self.deliveries.is_empty()
    }
}

/// The least of some times.
#[inline(always)]
fn least(times: &[Tick]) -> Tick {
    let mut least = NEVER;
    for &time in times {
        least = if time < least { time } else { least };
    }
    least
}

/// A router in hand: its own state, and what all routers share.
pub(super) struct Visit<'a, 'f> {
    pub whole: &'a Whole<'f>,
    pub table: Option<&'f ForwardingTable>,
    pub interruption: Option<&'f Interruption>,
    /// Its number in the whole network, and that of its first output.
    pub name: u32,
    pub first_channel: u32,
    pub epoch: Picoseconds,
    pub router: &'a mut Router,
    pub outputs: &'a mut [Output],
    pub inputs: &'a mut [Input],
    /// By input port, then lane.
    pub queues: &'a mut [Queue],
    /// By output; then one for each terminal, and one for new packets that have to decide.
    pub due: &'a mut [Tick],
    pub asking: &'a mut [u64],
    pub escapes: &'a mut [u64],
    pub arrived: &'a mut [u64],
    /// Words of a set of pairs.
    pub words: usize,
    /// A pair is an input port shifted by so many bits, and a lane.
    pub shift: u32,
    pub rooms: &'a mut [u16],
    pub returning: &'a mut [Returning],
    pub links: &'a mut Links,
    pub packets: &'a mut Packets,
    pub flits: &'a mut [u64],
    pub stalled: &'a mut [[Picoseconds; STALLS]],
    pub digest: &'a mut Digest,
    pub grants: &'a mut u64,
    /// When the latest thing happened.
    pub latest: &'a mut Picoseconds,
    pub choosers: Option<&'a mut Choosers<'f>>,
    pub outbox: &'a mut Outbox,
    /// Whether a packet that is delivered may let a terminal send something within the window.
    pub hosts_answer: bool,
}

/// Whom a walk of the outputs serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walk {
    /// Of packets that have a choice, only those that like the output best.
    Preferred,
    Any,
}

/// Why the head of a buffer can't have an output now, and when that may have changed.
pub(super) struct Obstacle {
    stall: Stall,
    pub until: Tick,
}

/// Why nobody can have an output, and when somebody may.
struct Blocked {
    stall: Option<Stall>,
    until: Tick,
    /// Whether a packet could have had it that likes another better.
    passed_over: bool,
}

impl Blocked {
    #[inline(always)]
    fn add(&mut self, obstacle: &Obstacle) {
        self.stall = self.stall.max(Some(obstacle.stall));
        self.until = self.until.min(obstacle.until);
    }
}

impl<'f> Model<'f> {
    /// Simulates a router up to the end of the window. When something happens in it next, or before.
    pub(super) fn visit(&mut self, number: u32) -> Tick {
        let router = self.ports.routers[number as usize];
        let outputs =
            router.first_due as usize..router.first_due as usize + usize::from(router.outputs);
        let terminals = outputs.end..outputs.end + usize::from(router.terminals);
        let end = self.window.end;
        loop {
            let at_terminals = least(&self.ports.due[terminals.clone()]);
            let until = at_terminals.min(end);
            let decisions = self.ports.due[terminals.end];
            let mut next = decisions.min(least(&self.ports.due[outputs.clone()]));
            if next < until || self.has_arrivals(number) {
                next = self.hold(number).run(until);
                if self.outbox.is_urgent(self.hosts_answer) {
                    self.empty_own(router.first_terminal);
                    continue;
                }
            }
            if at_terminals.min(next) >= end {
                self.empty_own(router.first_terminal);
                self.send_out();
                return at_terminals.min(next);
            }
            if at_terminals < end && at_terminals <= next {
                for own in 0..u32::from(router.terminals) {
                    if self.ports.due[terminals.start + own as usize] == at_terminals {
                        self.serve_terminal(router.first_terminal + own, at_terminals);
                    }
                }
            }
        }
    }

    /// Whether packets have come to empty buffers of a router.
    #[inline(always)]
    fn has_arrivals(&self, number: u32) -> bool {
        let words = self.ports.words;
        self.ports.arrived[number as usize * words..][..words].iter().any(|&word| word != 0)
    }

    /// Takes a router in hand.
    #[inline]
    pub(super) fn hold(&mut self, number: u32) -> Visit<'_, 'f> {
        let ports = &mut self.ports;
        let words = ports.words;
        let router = &mut ports.routers[number as usize];
        let outputs = router.first_output as usize
            ..router.first_output as usize + usize::from(router.outputs);
        let inputs =
            router.first_input as usize..router.first_input as usize + usize::from(router.inputs);
        let queues = inputs.start << ports.shift..inputs.end << ports.shift;
        let rooms = router.first_room as usize..(router.first_room + router.rooms) as usize;
        let lanes = self.whole.lanes.count();
        let due = router.first_due as usize;
        let due = due..due + usize::from(router.outputs) + usize::from(router.terminals) + 1;
        let asking = outputs.start * words..outputs.end * words;
        let arrived = number as usize * words..(number as usize + 1) * words;
        let escapes = if ports.escapes.is_empty() { 0..0 } else { asking.clone() };
        Visit {
            table: self.table,
            interruption: self.interruption,
            name: number + self.whole.cut.first_router(self.part),
            first_channel: router.first_output + self.whole.cut.first_output(self.part),
            epoch: self.epoch,
            words,
            shift: ports.shift,
            flits: &mut self.statistics.flits[outputs.start * lanes..outputs.end * lanes],
            stalled: &mut self.statistics.stalled[outputs.clone()],
            router,
            outputs: &mut ports.outputs[outputs],
            inputs: &mut ports.inputs[inputs],
            queues: &mut ports.queues[queues],
            due: &mut ports.due[due],
            asking: &mut ports.asking[asking],
            escapes: &mut ports.escapes[escapes],
            arrived: &mut ports.arrived[arrived],
            rooms: &mut self.credits.room[rooms.clone()],
            returning: &mut self.credits.returning[rooms],
            links: &mut self.credits.links,
            packets: &mut self.packets,
            digest: &mut self.digest,
            grants: &mut self.counters.grants,
            latest: &mut self.latest,
            choosers: self.choosers.as_mut(),
            outbox: &mut self.outbox,
            hosts_answer: self.hosts_answer,
            whole: &self.whole,
        }
    }

    /// Sees to what a router's packets bring about at its own terminals.
    fn empty_own(&mut self, first_terminal: u32) {
        for place in 0..self.outbox.deliveries.len() {
            self.deliver(self.outbox.deliveries[place]);
        }
        self.outbox.deliveries.clear();
        let first = first_terminal * self.whole.parameters.injection_channels;
        for place in 0..self.outbox.fed.len() {
            let (injection, time) = self.outbox.fed[place];
            self.feed(first + injection, time);
        }
        self.outbox.fed.clear();
    }

    /// Delivers what a visit has sent to other routers.
    #[inline]
    fn send_out(&mut self) {
        for place in 0..self.outbox.sent.len() {
            let sent = self.outbox.sent[place];
            if sent.queue & AWAY == 0 {
                self.join(sent.router, u32::from(sent.pair), sent.slot);
            } else {
                self.send_away(sent.queue & !AWAY, sent.lane, sent.slot);
            }
        }
        self.outbox.sent.clear();
        for place in 0..self.outbox.returned.len() {
            let Returned { feeder, lane, credit } = self.outbox.returned[place];
            if feeder & AWAY == 0 {
                self.return_credit(feeder + u32::from(lane), credit);
            } else {
                self.send_credit_away(feeder & !AWAY, lane, credit);
            }
        }
        self.outbox.returned.clear();
    }

    /// A packet is on its way to a buffer of a router of this part.
    #[inline]
    pub(super) fn join(&mut self, number: u32, pair: u32, slot: u32) {
        let router = &self.ports.routers[number as usize];
        let place = self.ports.queue(router, pair);
        let queue = &mut self.ports.queues[place];
        let tail = std::mem::replace(&mut queue.tail, slot);
        let packet = &mut self.packets.packets[slot as usize];
        packet.next = NONE;
        if queue.head != NONE {
            self.packets.packets[tail as usize].next = slot;
            return;
        }
        queue.head = slot;
        let ready = packet.ready;
        self.ports.arrived[number as usize * self.ports.words + pair as usize / 64] |=
            1 << (pair % 64);
        self.active.lower(number, ready);
    }

    /// Sends a credit to a sender of this part, which looks when it arrives if it waits for one.
    #[inline]
    pub(super) fn return_credit(&mut self, place: u32, credit: Credit) {
        if self.credits.send(place, credit, self.window.start) {
            self.wake_sender(place, credit.time);
        }
    }

    #[cold]
    fn wake_sender(&mut self, place: u32, time: Tick) {
        let (number, output) = self.ports.senders[place as usize / self.whole.lanes.count()];
        let router = &self.ports.routers[number as usize];
        let free_at = self.ports.outputs[(router.first_output + output) as usize].free_at;
        let time = time.max(free_at);
        let due = &mut self.ports.due[(router.first_due + output) as usize];
        *due = (*due).min(time);
        self.active.lower(number, time);
    }
}

impl Visit<'_, '_> {
    /// Simulates the router's outputs before `until`, or until it has something for its terminals that can't wait.
    /// When an output is looked at next.
    fn run(&mut self, until: Tick) -> Tick {
        self.take_arrivals();
        let outputs = usize::from(self.router.outputs);
        loop {
            let mut now = least(&self.due[..outputs]);
            if self.choosers.is_some() {
                let decide_at = self.due[self.decisions()];
                now = now.min(decide_at);
                if now < until && decide_at == now {
                    self.decide_all(now);
                    continue;
                }
            }
            if now >= until {
                return now;
            }
            if self.choosers.is_some() {
                self.allocate_among_choosers(now);
            } else {
                self.allocate(now);
            }
            if self.outbox.is_urgent(self.hosts_answer) {
                return now;
            }
        }
    }

    /// Serves the outputs that are due once, in cyclic order, from behind the latest grant before this instant.
    #[inline(always)]
    fn allocate(&mut self, now: Tick) {
        let outputs = usize::from(self.router.outputs);
        let start = usize::from(self.router.next_output);
        if outputs > 64 {
            for output in (start.min(outputs)..outputs).chain(0..start.min(outputs)) {
                if self.due[output] == now {
                    self.look(output, Walk::Any, now);
                }
            }
            return;
        }
        let mut due = 0;
        for (output, &time) in self.due[..outputs].iter().enumerate() {
            due |= u64::from(time == now) << output;
        }
        let from_start = if start < 64 { u64::MAX << start } else { 0 };
        for mut due in [due & from_start, due & !from_start] {
            while due != 0 {
                let output = due.trailing_zeros() as usize;
                due &= due - 1;
                self.look(output, Walk::Any, now);
            }
        }
    }

    /// Lets the heads that have come to empty buffers since the last visit ask.
    #[inline(always)]
    fn take_arrivals(&mut self) {
        for word in 0..self.words {
            let mut bits = std::mem::take(&mut self.arrived[word]);
            while bits != 0 {
                let pair = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                self.head(pair);
            }
        }
    }

    /// The input port and the lane of a pair.
    #[inline(always)]
    pub(super) fn place(&self, pair: u32) -> (usize, u8) {
        ((pair >> self.shift) as usize, (pair & ((1 << self.shift) - 1)) as u8)
    }

    /// The word of a set in which an output has a pair.
    #[inline(always)]
    pub(super) fn word(&self, output: usize, pair: u32) -> usize {
        output * self.words + pair as usize / 64
    }

    /// A packet has become the head of a buffer: it asks for its next output, now or later.
    #[inline(always)]
    pub(super) fn head(&mut self, pair: u32) {
        let queue = &mut self.queues[pair as usize];
        let packet = &self.packets.packets[queue.head as usize];
        queue.flits = packet.flits;
        queue.ask = packet.ready.max(queue.free_at);
        let (input, lane) = self.place(pair);
        match self.table {
            _ if self.choosers.is_some() => self.head_among_choosers(pair),
            None => self.ask(pair, self.whole.code.output(packet.way), lane),
            Some(table) => {
                let input = &self.inputs[input];
                let came = (!input.injects).then_some(input.opposite);
                let (output, onto) =
                    look_up(self.whole, table, self.name, packet.way.into(), (came, lane));
                self.ask(pair, output, onto);
            }
        }
    }

    /// The head of a buffer asks for one output, onto a lane.
    #[inline(always)]
    pub(super) fn ask(&mut self, pair: u32, output: u16, onto: u8) {
        let (input, _) = self.place(pair);
        let straight = self.inputs[input].straight;
        let state = &self.outputs[usize::from(output)];
        let queue = &mut self.queues[pair as usize];
        let enters = state.in_ring && straight != output;
        queue.need = queue.flits + if enters { self.whole.bubble } else { 0 };
        queue.options = 0;
        queue.output = output;
        queue.onto = onto;
        let due = queue.ask.max(state.free_at);
        let word = self.word(usize::from(output), pair);
        self.asking[word] |= 1 << (pair % 64);
        let present = &mut self.due[usize::from(output)];
        *present = (*present).min(due);
    }

    /// Looks at a free output: grants it to the first packet that can go, or notes why none can and when one may.
    #[inline(always)]
    pub(super) fn look(&mut self, output: usize, walk: Walk, now: Tick) {
        debug_assert!(self.outputs[output].free_at <= now);
        let pointer = u32::from(self.outputs[output].pointer);
        let mut blocked = Blocked { stall: None, until: NEVER, passed_over: false };
        if self.words == 1 && self.whole.parameters.arbitration == Arbitration::RoundRobin {
            let stretch = cyclic(pointer, 0, 1);
            if self.look_along(output, (stretch, walk), &mut blocked, now) {
                return;
            }
        } else if self.look_around(output, pointer, walk, &mut blocked, now) {
            return;
        }
        if blocked.passed_over {
            return self.pass_over(output);
        }
        // Nobody can have it now.
        self.end_stall_at(output, now);
        if blocked.stall.is_some() {
            *self.latest = (*self.latest).max(self.epoch + u64::from(now));
        }
        let state = &mut self.outputs[output];
        state.stall = blocked.stall.map_or(NOT_STALLED, |stall| stall as u8);
        state.since = now;
        debug_assert!(blocked.until > now);
        self.due[output] = blocked.until;
    }

    fn look_around(
        &mut self,
        output: usize,
        pointer: u32,
        walk: Walk,
        blocked: &mut Blocked,
        now: Tick,
    ) -> bool {
        let transit = self.transit_pairs();
        for (low, high) in [(0, transit), (transit, u32::MAX)] {
            for step in 0..steps(self.words) {
                let mut stretch = cyclic(pointer, step, self.words);
                stretch.mask &= between(low, high, stretch.word as u32 * 64);
                if self.look_along(output, (stretch, walk), blocked, now) {
                    return true;
                }
            }
        }
        false
    }

    /// The pairs that are served before the others.
    #[inline]
    pub(super) fn transit_pairs(&self) -> u32 {
        match self.whole.parameters.arbitration {
            Arbitration::RoundRobin => u32::MAX,
            Arbitration::TransitFirst => u32::from(self.router.transit) << self.shift,
        }
    }

    /// Grants an output to the first packet of a stretch of a walk that can go. False if none can.
    #[inline(always)]
    fn look_along(
        &mut self,
        output: usize,
        (stretch, walk): (Stretch, Walk),
        blocked: &mut Blocked,
        now: Tick,
    ) -> bool {
        let asking = self.asking[output * self.words + stretch.word];
        let mut bits = (asking & stretch.mask).rotate_right(stretch.turn);
        while bits != 0 {
            let pair = stretch.word as u32 * 64 + (bits.trailing_zeros() + stretch.turn) % 64;
            bits &= bits - 1;
            let queue = &self.queues[pair as usize];
            if queue.ask > now {
                blocked.until = blocked.until.min(queue.ask);
                continue;
            }
            let chooses = queue.options != 0;
            let onto = if chooses { self.whole.channels.adaptive } else { queue.onto };
            let (need, flits) = (queue.need, queue.flits);
            match self.obstacle(output, pair, (onto, need, flits), now) {
                None => {
                    if chooses {
                        if walk == Walk::Preferred && !self.prefers(output, pair, now) {
                            blocked.passed_over = true;
                            continue;
                        }
                        self.withdraw(output, pair, now);
                    }
                    self.grant(output, pair, onto, now);
                    return true;
                }
                Some(obstacle) => blocked.add(&obstacle),
            }
        }
        false
    }

    /// What keeps the head of a buffer from having a free output now, on a lane where it needs so much room.
    #[inline(always)]
    pub(super) fn obstacle(
        &mut self,
        output: usize,
        pair: u32,
        (onto, need, flits): (u8, u16, u16),
        now: Tick,
    ) -> Option<Obstacle> {
        let state = &self.outputs[output];
        if state.needs_room {
            let place = usize::from(state.room) + usize::from(onto);
            if self.rooms[place] < need
                && let Some(obstacle) = self.lack_of_room(place, need, flits, now)
            {
                return Some(obstacle);
            }
        }
        let (input, _) = self.place(pair);
        let mut until = self.inputs[input].free_at;
        if until > now && self.whole.parameters.crossbar_speedup > 1 {
            until = self.input_free_at(input, now);
        }
        (until > now).then_some(Obstacle { stall: Stall::InputBusy, until })
    }

    fn lack_of_room(&mut self, place: usize, need: u16, flits: u16, now: Tick) -> Option<Obstacle> {
        let room = &mut self.rooms[place];
        let returning = &mut self.returning[place];
        *room += returning.collect(self.links, now);
        if *room >= need {
            return None;
        }
        let stall = if *room < flits { Stall::NoCredit } else { Stall::Bubble };
        // The reason changes when there is room for the packet itself.
        let least = if *room < flits { flits } else { need };
        let until = returning.foresee(self.links, least - *room);
        Some(Obstacle { stall, until })
    }

    /// When an input port can send another packet while it is sending some; at most `now` if it can already.
    fn input_free_at(&self, input: usize, now: Tick) -> Tick {
        let queues = &self.queues[input << self.shift..(input + 1) << self.shift];
        let sending = queues.iter().map(|queue| queue.free_at).filter(|&time| time > now);
        if (sending.clone().count() as u32) < self.whole.parameters.crossbar_speedup {
            now
        } else {
            sending.min().unwrap_or(now)
        }
    }

    /// Sends the head of a buffer through a free output, onto a lane that has room.
    #[inline(always)]
    pub(super) fn grant(&mut self, output: usize, pair: u32, onto: u8, now: Tick) {
        self.router.next_output = output as u16 + 1;
        self.end_stall_at(output, now);
        let (input, lane) = self.place(pair);
        let state = &mut self.outputs[output];
        let timing = self.whole.timings[state.kind as usize];
        let queue = &mut self.queues[pair as usize];
        let slot = queue.head;
        let packet = &mut self.packets.packets[slot as usize];
        let flits = packet.flits;
        let last = last_start(now, packet.tail, flits, timing.flit);
        let released = last + timing.flit;
        let header = match self.whole.parameters.switching {
            Switching::VirtualCutThrough => now,
            Switching::StoreAndForward => last,
        };
        let arrives = last + timing.forward;
        packet.tail = arrives;
        packet.ready = header + timing.forward + self.whole.routing;
        queue.free_at = released;
        queue.ask = NEVER;
        queue.head = packet.next;
        let is_empty = queue.head == NONE;
        let time = self.epoch + u64::from(now);
        self.digest.add(time, self.first_channel + output as u32, packet.source, packet.sequence);
        *self.grants += 1;
        self.flits[output * self.whole.lanes.count() + usize::from(onto)] += u64::from(flits);
        state.free_at = released;
        state.pointer = pair as u16 + 1;
        state.stall = Stall::OutputBusy as u8;
        state.since = now;
        let state = *state;
        let from = &mut self.inputs[input];
        from.free_at = released;
        let (feeder, injects) = (from.feeder, from.injects);

        if state.kind == ChannelKind::Network && !state.dead {
            self.rooms[usize::from(state.room) + usize::from(onto)] -= flits;
            self.go_on(output, slot, arrives);
            let away = if state.far_queue & AWAY == 0 { u32::from(onto) } else { 0 };
            self.outbox.sent.push(Sent {
                slot,
                queue: state.far_queue + away,
                router: state.far_router,
                pair: state.far_pair + u16::from(onto),
                lane: onto,
            });
        } else {
            self.leave(output, slot, lane, arrives);
        }
        let kind = if injects { ChannelKind::Injection } else { ChannelKind::Network };
        let credit = Credit { time: released + self.whole.timings[kind as usize].back, flits };
        if injects {
            self.return_to_terminal(feeder, lane, credit, now);
        } else {
            self.outbox.returned.push(Returned { feeder, lane, credit });
        }

        // The other packets that ask for it, and the one behind it.
        let word = self.word(output, pair);
        self.asking[word] &= !(1 << (pair % 64));
        let next = self.first_ask(output);
        self.due[output] = if next == NEVER { NEVER } else { next.max(released) };
        if !is_empty {
            self.head(pair);
        }
    }

    /// A packet leaves the network: it is on its way to its sink, or is swallowed.
    #[inline(always)]
    fn leave(&mut self, output: usize, slot: u32, lane: u8, arrives: Tick) {
        let channels = self.whole.parameters.ejection_channels;
        let first = u32::from(self.router.outputs) - u32::from(self.router.terminals) * channels;
        let mut terminal = NONE;
        if self.outputs[output].dead {
            self.packets.origins[slot as usize].lose();
        } else {
            terminal = self.router.first_terminal + (output as u32 - first) / channels;
        }
        let time = self.epoch + u64::from(arrives);
        self.outbox.deliveries.push(Delivery { time, slot, terminal, lane });
    }

    /// Sends credits to an injection channel of the router's own.
    #[inline(always)]
    fn return_to_terminal(&mut self, feeder: u32, lane: u8, credit: Credit, now: Tick) {
        let place = feeder as usize + usize::from(lane);
        let (settled, awaited) = self.returning[place].send(self.links, credit, now);
        self.rooms[place] += settled;
        if awaited {
            let network = self.rooms.len() / self.whole.lanes.count() - self.inputs.len()
                + usize::from(self.router.transit);
            let injection = feeder as usize / self.whole.lanes.count() - network;
            self.outbox.fed.push((injection as u32, credit.time));
        }
    }

    /// Notes that a packet has been sent to the next router.
    #[inline(always)]
    fn go_on(&mut self, output: usize, slot: u32, arrives: Tick) {
        if self.table.is_some() {
            self.packets.packets[slot as usize].note += 1;
            if let Some(interruption) = self.interruption {
                let sent = self.whole.fabric.outputs(self.name).start + output as u32;
                if interruption.cuts(sent, self.epoch + u64::from(arrives)) {
                    self.packets.origins[slot as usize].lose();
                }
            }
        } else if self.choosers.is_none() {
            let mut way = self.packets.packets[slot as usize].way;
            if self.whole.code.go_on(&mut way) {
                self.whole.code.refill(&mut way, self.packets.rest(slot));
            }
            self.packets.packets[slot as usize].way = way;
        }
    }
}

/// The output and the lane by which a packet leaves a router that has a table.
#[inline]
fn look_up(
    whole: &Whole<'_>,
    table: &ForwardingTable,
    router: u32,
    address: Address,
    (came, lane): (Option<u16>, u8),
) -> (u16, u8) {
    let Address { destination, class, ejection } = address;
    match table.port(router, destination) {
        Some(port) if whole.fabric.terminal_router(destination) != Some(router) => {
            let channel = table.lane(router, destination, class, came, port);
            (port, whole.lanes.lane(channel))
        }
        _ => (whole.ejection(destination, router) + ejection, lane),
    }
}
