//! The input-buffered router: asking, granting, releasing (docs/model.md, "Router").
//!
//! A router keeps for each output a time before which it can't grant: its release, or when the first packet asks for
//! it, or when the credits suffice that are on their way. All of these are known ahead, so nobody needs to be woken: it
//! goes from the least of these times to the next. An output that is looked at too early is looked at in vain, and
//! gives a better time.

use super::adaptive::Choosers;
use super::credits::{Credit, Links, Returning};
use super::octet::{EIGHT, Octet, least, places_of};
use super::packet::Packets;
use super::ports::{Input, NOT_STALLED, Output, Queue, Router, place};
use super::sink::Delivery;
use super::tick::{NEVER, Tick};
use super::visit::{Outbox, Returned, Sent};
use super::walk::{Stretch, between, cyclic, steps};
use super::way::Address;
use super::whole::Whole;
use super::{Arbitration, ChannelKind, Digest, Interruption, STALLS, Stall};
use crate::routing::ForwardingTable;
use crate::topology::NONE;
use crate::units::Picoseconds;

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
    /// By output: before when it can't grant.
    pub due: &'a mut [Octet],
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

impl Visit<'_, '_> {
    /// Simulates the router's outputs before `until`, or until it has something for its terminals that can't wait.
    /// When an output is looked at next.
    pub(super) fn run(&mut self, until: Tick) -> Tick {
        self.take_arrivals();
        loop {
            let mut now = least(self.due);
            if self.choosers.is_some() {
                let decide_at = *self.decide_at();
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
        if self.due.len() > 64 / EIGHT {
            let outputs = self.outputs.len();
            let start = usize::from(self.router.next_output) % outputs;
            for output in (start..outputs).chain(0..start) {
                if self.is_due(output, now) {
                    self.look(output, Walk::Any, now);
                }
            }
            return;
        }
        let mut due = 0;
        for (place, octet) in self.due.iter().enumerate() {
            due |= places_of(now, octet) << (EIGHT * place);
        }
        let start = u32::from(self.router.next_output);
        due = due.rotate_right(start);
        while due != 0 {
            let output = (due.trailing_zeros() + start) % 64;
            due &= due - 1;
            self.look(output as usize, Walk::Any, now);
        }
    }

    #[inline(always)]
    pub(super) fn is_due(&self, output: usize, now: Tick) -> bool {
        self.due[output / EIGHT][output % EIGHT] == now
    }

    /// Says when an output is looked at next.
    #[inline(always)]
    pub(super) fn set_due(&mut self, output: usize, due: Tick) {
        self.due[output / EIGHT][output % EIGHT] = due;
    }

    /// Sees to it that an output is looked at by `due`.
    #[inline(always)]
    pub(super) fn lower(&mut self, output: usize, due: Tick) {
        let present = &mut self.due[output / EIGHT][output % EIGHT];
        *present = (*present).min(due);
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

    /// Whether a packet asks for an output now or soon.
    #[inline(always)]
    fn is_asked(&self, output: usize) -> bool {
        let words = output * self.words..(output + 1) * self.words;
        self.asking[words].iter().fold(0, |all, word| all | word) != 0
    }

    /// The input port and the lane of a pair.
    #[inline(always)]
    pub(super) fn place(&self, pair: u32) -> (usize, u8) {
        place(pair, self.shift)
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
        // No branch: which of them it is can't be foreseen.
        let enters = state.in_ring & (straight != output);
        queue.need = queue.flits + self.whole.bubble * u16::from(enters);
        queue.options = 0;
        queue.output = output;
        queue.onto = onto;
        let due = queue.ask.max(state.free_at);
        let word = self.word(usize::from(output), pair);
        self.asking[word] |= 1 << (pair % 64);
        self.lower(usize::from(output), due);
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
        self.set_due(output, blocked.until);
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
        let queue = &mut self.queues[pair as usize];
        let slot = queue.head;
        let packet = &mut self.packets.packets[slot as usize];
        let flits = packet.flits;
        let last = self.whole.send(packet, state.kind, now);
        let released = last + self.whole.timing(state.kind).flit;
        let arrives = packet.tail;
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
            self.outbox.sent.push(Sent {
                slot,
                part: state.far_part,
                router: state.far_router,
                pair: u32::from(state.far_pair) + u32::from(onto),
            });
        } else {
            self.leave(output, slot, lane, arrives);
        }
        let kind = if injects { ChannelKind::Injection } else { ChannelKind::Network };
        let credit = Credit { time: released + self.whole.timing(kind).back, flits };
        if injects {
            self.return_to_terminal(feeder, lane, credit, now);
        } else {
            self.outbox.returned.push(Returned { feeder, lane, credit });
        }

        // The other packets that ask for it, and the one behind it.
        let word = self.word(output, pair);
        self.asking[word] &= !(1 << (pair % 64));
        let next = if self.is_asked(output) { released } else { NEVER };
        self.set_due(output, next);
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
