//! The input-buffered router: asking, granting, releasing (docs/model.md, "Router").
//!
//! A router is visited for a whole window. It keeps for each output a time before which it can't grant: its release,
//! or when the first packet asks for it, or when the credits suffice that are on their way. All of these are known
//! ahead, so nobody needs to be woken: the visit goes from the least of these times to the next. An output that is
//! looked at too early is looked at in vain, and gives a better time.
//!
//! What a grant brings about elsewhere lies beyond the window: the packet asks in the next router, and its credits
//! get back to the router before, no sooner than a window later. So a grant writes both where they will be found.

use super::adaptive::{Walk, decisions};
use super::credits::Credit;
use super::model::Model;
use super::packet::last_start;
use super::ports::{AWAY, NOT_STALLED, Router};
use super::sink::Delivery;
use super::tick::{NEVER, Tick};
use super::way::Address;
use crate::engine::walk::{Stretch, between, cyclic, steps};
use crate::engine::{Arbitration, ChannelKind, Stall, Switching};
use crate::routing::ForwardingTable;
use crate::topology::NONE;

/// Why the head of a buffer can't have an output now, and when that may have changed.
pub(super) struct Obstacle {
    pub stall: Stall,
    pub until: Tick,
}

impl Model<'_> {
    /// Simulates a router up to the end of the window. When something happens in it next, or before.
    pub(super) fn visit(&mut self, number: u32) -> Tick {
        self.take_arrivals(number);
        let router = self.ports.routers[number as usize];
        let outputs = router.first_due as usize..router.first_due as usize + usize::from(router.outputs);
        let terminals = outputs.end..outputs.end + usize::from(router.terminals);
        let end = self.window.end;
        loop {
            let least = |due: &[Tick]| due.iter().copied().fold(NEVER, Tick::min);
            let at_terminals = least(&self.ports.due[terminals.clone()]);
            let at_outputs = least(&self.ports.due[outputs.clone()]);
            let mut now = at_terminals.min(at_outputs);
            if self.choosers.is_some() {
                now = now.min(self.ports.due[decisions(&router)]);
            }
            if now >= end {
                return now;
            }
            if self.choosers.is_some() && self.ports.due[decisions(&router)] == now {
                self.decide_all(number, now);
                continue;
            }
            if at_terminals == now {
                for own in 0..u32::from(router.terminals) {
                    if self.ports.due[terminals.start + own as usize] == now {
                        self.serve_terminal(router.first_terminal + own, now);
                    }
                }
            }
            if at_outputs == now {
                self.allocate(number, now);
            }
        }
    }

    /// Serves the outputs that are due once, in cyclic order, from behind the latest grant before this instant.
    #[inline]
    fn allocate(&mut self, number: u32, now: Tick) {
        if self.choosers.is_some() {
            return self.allocate_among_choosers(number, now);
        }
        let router = self.ports.routers[number as usize];
        let outputs = u32::from(router.outputs);
        let mut output = u32::from(router.next_output);
        for _ in 0..outputs {
            if output >= outputs {
                output = 0;
            }
            if self.ports.due[(router.first_due + output) as usize] == now {
                self.look(number, output, Walk::Any, now);
            }
            output += 1;
        }
    }

    /// Lets the heads that have come to empty buffers since the last visit ask.
    #[inline]
    pub(super) fn take_arrivals(&mut self, number: u32) {
        for word in 0..self.ports.words {
            let place = number as usize * self.ports.words + word;
            let mut bits = std::mem::take(&mut self.ports.arrived[place]);
            while bits != 0 {
                let pair = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                self.head(number, pair);
            }
        }
    }

    /// A packet has become the head of a buffer: it asks for its next output, now or later.
    #[inline]
    pub(super) fn head(&mut self, number: u32, pair: u32) {
        let router = &self.ports.routers[number as usize];
        let place = self.ports.queue(router, pair);
        let lane = (pair & ((1 << self.ports.shift) - 1)) as u8;
        let queue = &mut self.ports.queues[place];
        let packet = &self.packets.packets[queue.head as usize];
        queue.flits = packet.flits;
        queue.ask = packet.ready.max(queue.free_at);
        if self.choosers.is_some() {
            return self.head_among_choosers(number, pair);
        }
        let router = &self.ports.routers[number as usize];
        let input = &self.ports.inputs[(router.first_input + (pair >> self.ports.shift)) as usize];
        let queue = &mut self.ports.queues[place];
        let packet = &self.packets.packets[queue.head as usize];
        let (output, onto) = match self.table {
            Some(table) => {
                let came = (input.injection == NONE).then_some(input.opposite);
                look_up(&self.whole, table, (number, self.part), packet.way.into(), (came, lane))
            }
            None => (self.whole.code.output(packet.way), lane),
        };
        self.ask(number, pair, output, onto);
    }

    /// The head of a buffer asks for one output, onto a lane.
    #[inline]
    pub(super) fn ask(&mut self, number: u32, pair: u32, output: u16, onto: u8) {
        let router = &self.ports.routers[number as usize];
        let input = &self.ports.inputs[(router.first_input + (pair >> self.ports.shift)) as usize];
        let place = self.ports.queue(router, pair);
        let queue = &mut self.ports.queues[place];
        queue.options = 0;
        queue.output = output;
        queue.onto = onto;
        let channel = router.first_output + u32::from(output);
        let state = &self.ports.outputs[channel as usize];
        let enters = state.in_ring && input.straight != output;
        queue.need = queue.flits + if enters { self.whole.bubble } else { 0 };
        let due = queue.ask.max(state.free_at);
        let word = self.ports.word(channel, pair);
        self.ports.asking[word] |= 1 << (pair % 64);
        let present = &mut self.ports.due[(router.first_due + u32::from(output)) as usize];
        *present = (*present).min(due);
    }

    /// Looks at a free output: grants it to the first packet that can go, or notes why none can and when one may.
    #[inline]
    pub(super) fn look(&mut self, number: u32, output: u32, walk: Walk, now: Tick) {
        let router = self.ports.routers[number as usize];
        let channel = router.first_output + output;
        debug_assert!(self.ports.outputs[channel as usize].free_at <= now);
        let pointer = u32::from(self.ports.outputs[channel as usize].pointer);
        let words = self.ports.words;
        let mut blocked = Blocked { stall: None, until: NEVER, passed_over: false };
        if words == 1 && self.whole.parameters.arbitration == Arbitration::RoundRobin {
            let stretch = cyclic(pointer, 0, 1);
            if self.look_along(number, output, (stretch, walk), &mut blocked, now) {
                return;
            }
        } else {
            let transit = self.transit_pairs(&router);
            for (low, high) in [(0, transit), (transit, u32::MAX)] {
                for step in 0..steps(words) {
                    let mut stretch = cyclic(pointer, step, words);
                    stretch.mask &= between(low, high, stretch.word as u32 * 64);
                    if self.look_along(number, output, (stretch, walk), &mut blocked, now) {
                        return;
                    }
                }
            }
        }
        if blocked.passed_over {
            return self.pass_over(output);
        }
        self.wait(&router, output, &blocked, now);
    }

    /// Notes why nobody can have an output now, and when it is looked at again.
    #[inline]
    pub(super) fn wait(&mut self, router: &Router, output: u32, blocked: &Blocked, now: Tick) {
        let channel = router.first_output + output;
        self.end_stall_at(router, channel, now);
        let state = &mut self.ports.outputs[channel as usize];
        state.stall = blocked.stall.map_or(NOT_STALLED, |stall| stall as u8);
        state.since = now;
        debug_assert!(blocked.until > now);
        self.ports.due[(router.first_due + output) as usize] = blocked.until;
    }

    /// The pairs that are served before the others.
    #[inline]
    pub(super) fn transit_pairs(&self, router: &Router) -> u32 {
        match self.whole.parameters.arbitration {
            Arbitration::RoundRobin => u32::MAX,
            Arbitration::TransitFirst => u32::from(router.transit) << self.ports.shift,
        }
    }

    /// Grants an output to the first packet of a stretch of a walk that can go. False if none can.
    #[inline]
    fn look_along(
        &mut self,
        number: u32,
        output: u32,
        (stretch, walk): (Stretch, Walk),
        blocked: &mut Blocked,
        now: Tick,
    ) -> bool {
        let router = self.ports.routers[number as usize];
        let channel = router.first_output + output;
        let asking = self.ports.asking[channel as usize * self.ports.words + stretch.word];
        let mut bits = (asking & stretch.mask).rotate_right(stretch.turn);
        while bits != 0 {
            let pair = stretch.word as u32 * 64 + (bits.trailing_zeros() + stretch.turn) % 64;
            bits &= bits - 1;
            let queue = &self.ports.queues[self.ports.queue(&router, pair)];
            if queue.ask > now {
                blocked.until = blocked.until.min(queue.ask);
                continue;
            }
            let chooses = queue.options != 0;
            let onto = if chooses { self.whole.channels.adaptive } else { queue.onto };
            let (need, flits) = (queue.need, queue.flits);
            match self.obstacle(&router, channel, pair, (onto, need, flits), now) {
                None => {
                    if chooses {
                        if walk == Walk::Preferred && !self.prefers(number, output, pair, now) {
                            blocked.passed_over = true;
                            continue;
                        }
                        self.withdraw(&router, output, pair, now);
                    }
                    self.grant(number, output, pair, onto, now);
                    return true;
                }
                Some(obstacle) => blocked.add(&obstacle),
            }
        }
        false
    }

    /// What keeps the head of a buffer from having a free output now, on a lane where it needs so much room.
    #[inline]
    pub(super) fn obstacle(
        &mut self,
        router: &Router,
        channel: u32,
        pair: u32,
        (onto, need, flits): (u8, u16, u16),
        now: Tick,
    ) -> Option<Obstacle> {
        let output = &self.ports.outputs[channel as usize];
        if output.room != NONE && !output.dead {
            let place = output.room + u32::from(onto);
            if self.credits.room[place as usize] < need {
                self.credits.collect(place, now);
                let room = self.credits.room[place as usize];
                if room < need {
                    let stall = if room < flits { Stall::NoCredit } else { Stall::Bubble };
                    // The reason changes when there is room for the packet itself.
                    let least = if room < flits { flits } else { need };
                    let until = self.credits.foresee(place, least);
                    return Some(Obstacle { stall, until });
                }
            }
        }
        let input = router.first_input + (pair >> self.ports.shift);
        let until = self.ports.input_free_at(input, self.whole.parameters.crossbar_speedup, now);
        (until > now).then_some(Obstacle { stall: Stall::InputBusy, until })
    }

    /// Sends the head of a buffer through a free output, onto a lane that has room.
    #[inline]
    pub(super) fn grant(&mut self, number: u32, output: u32, pair: u32, onto: u8, now: Tick) {
        let router = &mut self.ports.routers[number as usize];
        router.next_output = output as u16 + 1;
        let router = *router;
        let channel = router.first_output + output;
        let place = self.ports.queue(&router, pair);
        let lane = (pair & ((1 << self.ports.shift) - 1)) as u8;
        let input = (router.first_input + (pair >> self.ports.shift)) as usize;

        self.end_stall_at(&router, channel, now);
        let state = &mut self.ports.outputs[channel as usize];
        let timing = *self.whole.timing(state.kind);
        let queue = &mut self.ports.queues[place];
        let slot = queue.head;
        let packet = &mut self.packets.packets[slot as usize];
        let flits = packet.flits;
        let last = last_start(now, packet.tail, flits, timing.flit);
        let released = last + timing.flit;
        state.free_at = released;
        state.pointer = pair as u16 + 1;
        state.stall = Stall::OutputBusy as u8;
        state.since = now;
        let state = *state;
        self.ports.inputs[input].free_at = released;
        queue.free_at = released;
        queue.ask = NEVER;
        queue.head = packet.next;
        let time = self.epoch + u64::from(now);
        let first_output = self.whole.cut.first_output(self.part);
        self.digest.add(time, channel + first_output, packet.source, packet.sequence);
        self.statistics.sent(channel, onto, flits);

        // The other packets that ask for it, and the one behind it.
        let word = self.ports.word(channel, pair);
        self.ports.asking[word] &= !(1 << (pair % 64));
        let next = self.first_ask(&router, channel);
        self.ports.due[(router.first_due + output) as usize] =
            if next == NEVER { NEVER } else { next.max(released) };
        if self.ports.queues[place].head != NONE {
            self.head(number, pair);
        }

        let header = match self.whole.parameters.switching {
            Switching::VirtualCutThrough => now,
            Switching::StoreAndForward => last,
        };
        let packet = &mut self.packets.packets[slot as usize];
        packet.tail = last + timing.forward;
        packet.ready = header + timing.forward + self.whole.routing;
        let arrives = packet.tail;
        if state.dead {
            self.packets.origins[slot as usize].lose();
            let time = self.time(arrives);
            self.deliver(Delivery { time, slot, terminal: NONE, lane });
        } else if state.kind == ChannelKind::Ejection {
            let first = u32::from(router.outputs)
                - u32::from(router.terminals) * self.whole.parameters.ejection_channels;
            let own = (output - first) / self.whole.parameters.ejection_channels;
            let terminal = router.first_terminal + own;
            let time = self.time(arrives);
            self.deliver(Delivery { time, slot, terminal, lane });
        } else {
            self.credits.room[(state.room + u32::from(onto)) as usize] -= flits;
            self.go_on(number, output, slot, arrives);
            if state.far_queue & AWAY == 0 {
                self.join(state.far_router, u32::from(state.far_pair) + u32::from(onto), slot);
            } else {
                self.send_away(state.far_queue & !AWAY, onto, slot);
            }
        }
        let Input { feeder, injection, .. } = self.ports.inputs[input];
        let kind = if injection == NONE { ChannelKind::Network } else { ChannelKind::Injection };
        let credit = Credit { time: released + self.whole.timing(kind).back, flits };
        if feeder & AWAY == 0 {
            self.return_credit(feeder + u32::from(lane), credit);
        } else {
            self.send_credit_away(feeder & !AWAY, lane, credit);
        }
    }

    /// Sends a credit to a sender of this part, which looks when it arrives if it waits for one.
    #[inline]
    pub(super) fn return_credit(&mut self, place: u32, credit: Credit) {
        if self.credits.send(place, credit, self.window.start) {
            self.wake_sender(place, credit.time);
        }
    }

    fn wake_sender(&mut self, place: u32, time: Tick) {
        let channel = place / self.whole.lanes.count() as u32;
        match self.ports.senders.get(channel as usize) {
            Some(&(number, output)) => {
                let router = &self.ports.routers[number as usize];
                let free_at = self.ports.outputs[(router.first_output + output) as usize].free_at;
                let time = time.max(free_at);
                let due = &mut self.ports.due[(router.first_due + output) as usize];
                *due = (*due).min(time);
                self.active.lower(number, time);
            }
            None => self.feed(channel - self.ports.senders.len() as u32, time),
        }
    }

    /// Notes that a packet has been sent to the next router.
    #[inline]
    fn go_on(&mut self, number: u32, output: u32, slot: u32, arrives: Tick) {
        if self.table.is_some() {
            self.packets.packets[slot as usize].note += 1;
            if let Some(interruption) = self.interruption {
                let router = number + self.whole.cut.first_router(self.part);
                let sent = self.whole.fabric.outputs(router).start + output;
                if interruption.cuts(sent, self.time(arrives)) {
                    self.packets.origins[slot as usize].lose();
                }
            }
        } else if self.choosers.is_none() {
            // Most ways are one word.
            let mut way = self.packets.packets[slot as usize].way;
            self.whole.code.go_on(&mut way, self.packets.rest(slot));
            self.packets.packets[slot as usize].way = way;
        }
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
}

/// Why nobody can have an output, and when somebody may.
pub(super) struct Blocked {
    pub stall: Option<Stall>,
    pub until: Tick,
    /// Whether a packet could have had it that likes another better.
    pub passed_over: bool,
}

impl Blocked {
    #[inline]
    pub(super) fn add(&mut self, obstacle: &Obstacle) {
        self.stall = self.stall.max(Some(obstacle.stall));
        self.until = self.until.min(obstacle.until);
    }
}

/// The output and the lane by which a packet leaves a router that has a table.
#[inline]
fn look_up(
    whole: &super::whole::Whole<'_>,
    table: &ForwardingTable,
    (number, part): (u32, usize),
    address: Address,
    (came, lane): (Option<u16>, u8),
) -> (u16, u8) {
    let router = number + whole.cut.first_router(part);
    let Address { destination, class, ejection } = address;
    match table.port(router, destination) {
        Some(port) if whole.fabric.terminal_router(destination) != Some(router) => {
            let channel = table.lane(router, destination, class, came, port);
            (port, whole.lanes.lane(channel))
        }
        _ => (whole.ejection(destination, router) + ejection, lane),
    }
}

use super::ports::Input;
