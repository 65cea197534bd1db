//! The input-buffered router: requests, grants, releases (docs/model.md, "Router").
//!
//! A router keeps for each output the earliest time at which it can grant. That is the latest of
//! three times: the release of the output, the first request, and the arrival of enough credits.
//! All of them are known ahead, so a visit goes from the earliest of these times to the next. An
//! attempt that comes too early grants nothing and gives a better time.
//!
//! A part borrows a router as a [`Visit`] and calls [`run`](Visit::run).

use crate::arbitration::{
    BitSpan, PacketRequests, Span, cyclic_span, is_cyclic, next_span, span_count,
};
use crate::frame::tick::{NEVER, Tick, time};
use crate::network::port::AWAY;
use crate::network::ports::RemoteUpstream;
use crate::next_hop::answer::{Head, NextHop, OutVc};
use crate::next_hop::{self, Routing};
use crate::packet::{Delivery, Packet};
use crate::router::asks::Asks;
use crate::router::packet::cell::{
    Cell, DEAD, HANDS_ON, IN_RING, NEEDS_ROOM, NOT_STALLED, REPEATS, Shape, WILL_FAIL,
};
use crate::router::packet::choices::TORUS_PORTS;
use crate::router::packet::credits::Credit;
use crate::router::packet::vector::equal;
use crate::router::packet::{Features, Visit};
use crate::set::bits;
use crate::trace::note;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Stall;

/// In place of a step of an arbitration's order: there is no other span.
const LAST: u32 = u32::MAX;

/// Which requests an allocation pass considers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllocationPass {
    /// Of heads with a choice, only those that prefer the output.
    Preferred,
    Any,
    /// Requests for escapes alone, of heads that need one.
    Escapes,
}

/// Why the head of a buffer cannot have an output now, and the time at which that may have changed.
pub(crate) struct Obstacle {
    pub stall: Stall,
    pub until: Tick,
}

/// Why no packet can have an output, and the time at which one may.
#[derive(Clone, Copy)]
pub(crate) struct Blocked {
    stall: Option<Stall>,
    until: Tick,
    /// Whether a packet could have had it, but prefers another output.
    pub passed_over: bool,
}

impl Blocked {
    #[inline(always)]
    pub(crate) fn add(&mut self, obstacle: &Obstacle) {
        self.stall = self.stall.max(Some(obstacle.stall));
        self.until = self.until.min(obstacle.until);
    }
}

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// Simulates the router's outputs before `until`, or until its terminals have something to do
    /// that cannot wait. Returns a lower bound of the time of the next grant.
    // Inlined into the visit, whose borrowed state would go through memory otherwise.
    #[inline(always)]
    pub(crate) fn run(&mut self, until: Tick) -> Tick {
        if self.is_on_torus() {
            self.look_at_rooms();
        }
        if !F::CHOOSES {
            self.take_arrivals();
        }
        loop {
            if F::CHOOSES {
                // Also the heads that came up at the instant before.
                self.take_arrivals();
            }
            let decide_at = if F::CHOOSES { *self.decide_at() } else { NEVER };
            let links_due = if F::RESENDS { *self.links_due() } else { NEVER };
            let drops_due = if F::DROPS { self.lifetimes.due(self.number) } else { NEVER };
            let now = self.cell.least_due::<F::Vector>().min(decide_at).min(links_due);
            let now = now.min(drops_due);
            if now >= until || self.to_hosts.is_urgent() {
                return now;
            }
            if F::DROPS && drops_due == now {
                self.drop_expired(now);
                continue;
            }
            if F::RESENDS && links_due == now {
                self.serve_links(now);
                continue;
            }
            if F::CHOOSES && decide_at == now {
                self.decide_all(now);
                continue;
            }
            if F::CHOOSES {
                self.allocate_among_choices(now);
            } else {
                let start = self.cell.next_output.into();
                self.serve_outputs(AllocationPass::Any, start, now);
            }
            if F::RESENDS {
                self.handle_granted(now);
            }
        }
    }

    /// Tries a grant at each output that a pass serves, in cyclic order from `start`.
    #[inline(always)]
    pub(super) fn serve_outputs(&mut self, pass: AllocationPass, start: u32, now: Tick) {
        let words = self.cell.due.as_ref().len().div_ceil(64);
        for step in 0..span_count(words) {
            let BitSpan { word, mask, turn } = cyclic_span(start, step, words);
            let outputs = if F::CHOOSES {
                self.outputs_of_pass(pass, (word, mask), now)
            } else {
                self.due_outputs(word, now) & mask
            };
            for output in Span::new(fitted!(word, u32) * 64, turn, outputs) {
                // Those that asked may have been granted another output in the meantime.
                let is_due = !F::CHOOSES || self.cell.due[S::port(output as usize)] == now;
                if is_due || pass == AllocationPass::Escapes {
                    self.try_grant(output as usize, pass, now);
                }
            }
        }
    }

    /// A word of the set of outputs that are due.
    #[inline(always)]
    pub(super) fn due_outputs(&self, word: usize, now: Tick) -> u64 {
        let due = &self.cell.due.as_ref()[word * 64..];
        equal::<F::Vector>(&due[..due.len().min(64)], now)
    }

    /// Makes the requests of heads that have come to empty buffers since the last visit.
    #[inline(always)]
    pub(super) fn take_arrivals(&mut self) {
        let words = self.size().words;
        let first = self.number as usize * words;
        for word in 0..words {
            for bit in bits(std::mem::take(&mut self.inlets.arrived[first + word])) {
                let buffer = fitted!(word * 64 + bit, u32);
                let number = self.in_part(buffer);
                let slot = self.inlets.inlets[number as usize].first;
                self.cell.head[S::buffer(buffer as usize)] = slot;
                self.new_head(buffer, slot);
            }
        }
    }

    /// Makes the request of a packet that has become the head of a buffer.
    #[inline(always)]
    pub(super) fn new_head(&mut self, buffer: u32, slot: u32) {
        let place = S::buffer(buffer as usize);
        let packet = &self.packets.packets[slot as usize];
        let ask = packet.ready.max(self.cell.left[place]);
        self.cell.ask[place] = ask;
        let (route, passed, flits) = (packet.route, packet.note, packet.flits);
        if F::COMBINES || F::RESENDS {
            return self.new_head_of_any_kind(buffer);
        }
        if F::CHOOSES {
            return self.request_next_hop(buffer);
        }
        let (output, vc) = match self.routing {
            Routing::Source(routes) => routes.next_hop(route, passed),
            routing => {
                let next = routing.next_hop(self.context, self.packets, self.head(buffer, slot));
                let NextHop::Output { output, vc, .. } = next else {
                    unreachable!("no packet has a choice")
                };
                (output, vc)
            }
        };
        self.ask(buffer, (output, vc), flits, ask);
    }

    /// The head of a buffer, as far as its next hop depends on where it is.
    #[inline(always)]
    fn head(&self, buffer: u32, slot: u32) -> Head {
        let (input, vc) = self.place(buffer);
        let came = (!self.injects(input)).then_some(self.cell.opposite[input]);
        let input = self.layout.first_input + fitted!(input, u32);
        Head { slot, router: self.name, input, vc, came }
    }

    /// Makes the requests of a head, which may be a bad copy or a packet of a collective operation.
    #[inline(never)]
    fn new_head_of_any_kind(&mut self, buffer: u32) {
        let slot = self.cell.head[S::buffer(buffer as usize)];
        if self.origin(slot).is_bad() && !self.asks_before_it_leaves(buffer) {
            return;
        }
        if self.is_collective(buffer) {
            return self.new_head_collective(buffer);
        }
        if F::DROPS {
            self.note_lifetime(buffer);
        }
        self.request_next_hop(buffer);
    }

    /// Makes the requests of a packet that has become the head of a buffer, by where it may go.
    #[inline(always)]
    pub(super) fn request_next_hop(&mut self, buffer: u32) {
        let place = S::buffer(buffer as usize);
        let (slot, ask) = (self.cell.head[place], self.cell.ask[place]);
        let head = self.head(buffer, slot);
        let next = if F::CHOOSES && !F::RELATES && !F::COMBINES {
            self.routing.next_hop_on_torus(self.context, self.packets, head)
        } else {
            self.routing.next_hop(self.context, self.packets, head)
        };
        match next {
            NextHop::Output { output, vc, .. } => {
                *self.asks(buffer) = Asks::One;
                let flits = self.packets.packets[slot as usize].flits;
                self.ask(buffer, (output, vc), flits, ask);
            }
            NextHop::AnyOf { ports, output, escape } => {
                *self.asks(buffer) = Asks::Torus { ports, escape: output };
                self.cell.out_vc[place] = escape;
                self.ask_for_any(buffer);
            }
            NextHop::Hops(hops) => {
                *self.asks(buffer) = Asks::Hops(hops);
                self.ask_for_any(buffer);
            }
            NextHop::Undecided => self.wait_for_decision(buffer),
        }
    }

    /// Requests one output and a virtual channel there for the head of a buffer, of this many
    /// flits, from time `ask` on.
    #[inline(always)]
    fn ask(&mut self, buffer: u32, (output, out_vc): (u16, OutVc), flits: u16, ask: Tick) {
        let (input, vc) = self.place(buffer);
        let place = S::buffer(buffer as usize);
        let in_ring = self.has(output.into(), IN_RING);
        // No branch, since the outcome cannot be predicted.
        let enters = in_ring & (self.cell.ring_output[input] != output);
        self.cell.need[place] = flits + self.context.bubble * u16::from(enters);
        if self.size().shift > 0 {
            self.cell.out_vc[place] = out_vc.of_packet(vc, in_ring);
        }
        self.add_request(output.into(), buffer, ask);
    }

    /// Adds a request of a head for an output, from time `ask` on.
    #[inline(always)]
    pub(crate) fn add_request(&mut self, output: usize, buffer: u32, ask: Tick) {
        let word = self.word(output, buffer);
        let output = S::port(output);
        let Cell { requests, stall, since, free_at, due, .. } = &mut *self.cell;
        requests[word] |= 1 << (buffer % 64);
        // No branch here either.
        let waits = if stall[output] == Stall::OutputBusy as u8 { ask } else { NEVER };
        since[output] = since[output].min(waits);
        due[output] = due[output].min(ask.max(free_at[output]));
    }

    /// Tries to grant a free output to the first packet that can go. If none can, notes why, and
    /// when one may.
    #[inline(always)]
    fn try_grant(&mut self, output: usize, pass: AllocationPass, now: Tick) {
        let output = S::port(output);
        debug_assert!(self.cell.free_at[output] <= now);
        let mut blocked = Blocked { stall: None, until: NEVER, passed_over: false };
        if self.grant_first(output, (pass, &mut blocked), now) {
            return;
        }
        if pass == AllocationPass::Escapes {
            return self.cell.lower(output, blocked.until);
        }
        if blocked.passed_over {
            self.adaptive_state.passed_over[output / 64] |= 1 << (output % 64);
            return;
        }
        // No packet can have it now.
        self.end_stall(output, now);
        if blocked.stall.is_some() {
            *self.latest = (*self.latest).max(self.time(now));
        }
        (self.cell.stall[output], self.cell.since[output]) =
            blocked.stall.map_or((NOT_STALLED, NEVER), |stall| (stall as u8, now));
        debug_assert!(blocked.until > now);
        self.cell.due[output] = blocked.until;
    }

    /// Tries the requests for an output in the order of its arbitration, until one is granted.
    /// Returns whether one is.
    #[inline(always)]
    fn grant_first(
        &mut self,
        output: usize,
        (pass, blocked): (AllocationPass, &mut Blocked),
        now: Tick,
    ) -> bool {
        let is_one = self.size().words == 1 && is_cyclic(self.context.parameters.arbitration);
        let (mut span, mut step) = if is_one {
            let pointer = u32::from(self.cell.pointer[output]);
            (Span::new(0, pointer % 64, self.requests(pass)[output]), LAST)
        } else {
            match self.next_span(output, (pass, 0), now) {
                Some(first) => first,
                None => return false,
            }
        };
        loop {
            for buffer in span {
                if self.try_request((output, buffer), (pass, &mut *blocked), now) {
                    return true;
                }
            }
            if step == LAST {
                return false;
            }
            match self.next_span(output, (pass, step), now) {
                Some(next) => (span, step) = next,
                None => return false,
            }
        }
    }

    /// The sets of requests that a pass considers.
    #[inline(always)]
    fn requests(&self, pass: AllocationPass) -> &[u64] {
        match pass {
            AllocationPass::Escapes => self.escapes(),
            AllocationPass::Preferred | AllocationPass::Any => self.cell.requests.as_ref(),
        }
    }

    /// Grants a free output to a buffer that asks for it, if its head can go in a pass. Returns
    /// whether it can.
    #[inline(always)]
    fn try_request(
        &mut self,
        (output, buffer): (usize, u32),
        (pass, blocked): (AllocationPass, &mut Blocked),
        now: Tick,
    ) -> bool {
        let place = S::buffer(buffer as usize);
        let ask = self.cell.ask[place];
        if ask > now {
            blocked.until = blocked.until.min(ask);
            return false;
        }
        let is_collective = F::COMBINES && self.is_collective(buffer);
        let asks = if F::CHOOSES && !is_collective { *self.asks(buffer) } else { Asks::One };
        let chooses = asks != Asks::One;
        let vc = if chooses && (F::RELATES || pass == AllocationPass::Escapes) {
            let vc = if pass != AllocationPass::Escapes {
                self.preferred_hop(output, buffer, (pass, blocked), now)
            } else if F::RELATES {
                self.fallback_hop(output, buffer, blocked, now)
            } else {
                self.escape(output, buffer, blocked, now)
            };
            let Some(vc) = vc else { return false };
            vc
        } else {
            // By the output of its escape alone it may not go on the adaptive channel.
            if chooses && asks.on_torus().0 >> output & 1 == 0 {
                return false;
            }
            let vc = match (chooses, self.size().shift) {
                (true, _) => self.context.channels.adaptive,
                (false, 0) => 0,
                (false, _) => self.cell.out_vc[place],
            };
            let room = (vc, self.cell.need[place], self.cell.head[place]);
            let obstacle = if is_collective {
                self.lack_of_room(output, room, now)
            } else {
                self.obstacle(output, buffer, room, now)
            };
            if let Some(obstacle) = obstacle {
                blocked.add(&obstacle);
                return false;
            }
            if chooses && pass == AllocationPass::Preferred && !self.prefers(output, buffer, now) {
                blocked.passed_over = true;
                return false;
            }
            vc
        };
        self.grant_request(output, (buffer, vc), pass, now);
        true
    }

    /// The next span of the requests for an output in the order of its arbitration, and the step
    /// behind it. The first step is 0.
    #[inline(always)]
    fn next_span(
        &self,
        output: usize,
        (pass, step): (AllocationPass, u32),
        now: Tick,
    ) -> Option<(Span, u32)> {
        let set = &self.requests(pass)[self.words(output)];
        let pointer = self.cell.pointer[S::port(output)].into();
        if is_cyclic(self.context.parameters.arbitration) {
            let steps = fitted!(span_count(set.len()), u32);
            return (step..steps).find_map(|step| {
                let BitSpan { word, mask, turn } = cyclic_span(pointer, step as usize, set.len());
                let members = set[word] & mask;
                let span = Span::new(fitted!(word, u32) * 64, turn, members);
                (members != 0).then_some((span, step + 1))
            });
        }
        let requests = PacketRequests {
            set,
            pointer,
            first_injected: u32::from(self.layout.transit) << self.size().shift,
            shift: self.size().shift,
            vc_map: &self.context.vc_map,
            time: self.time(now),
            output: (self.name, output),
        };
        next_span(self.context.parameters.arbitration, &requests, step)
    }

    /// The obstacle that keeps the head of a buffer from a free output now, on a virtual channel
    /// where it needs room; see [`Self::lack_of_room`].
    #[inline(always)]
    pub(super) fn obstacle(
        &mut self,
        output: usize,
        buffer: u32,
        room: (u8, u16, u32),
        now: Tick,
    ) -> Option<Obstacle> {
        let lack = self.lack_of_room(output, room, now);
        // With one virtual channel a head asks once its port is free.
        if lack.is_some() || self.size().shift == 0 {
            return lack;
        }
        let (input, _) = self.place(buffer);
        let mut until = self.cell.input_free_at[input];
        if until > now && self.context.parameters.crossbar_speedup > 1 {
            until = self.input_free_at(input, now);
        }
        (until > now).then_some(Obstacle { stall: Stall::InputBusy, until })
    }

    /// The lack of room behind an output on virtual channel `out_vc`, where the packet `slot` needs
    /// room for `need` flits, if there is any.
    #[inline(always)]
    pub(super) fn lack_of_room(
        &mut self,
        output: usize,
        (out_vc, need, slot): (u8, u16, u32),
        now: Tick,
    ) -> Option<Obstacle> {
        if F::BOUNDS_RESPONSES && self.ejects(output) {
            return self.lack_of_resources(output, slot, now);
        }
        let place = self.cell.room[S::port(output)] + u32::from(out_vc);
        if !self.has(output, NEEDS_ROOM) || self.credits.room[place as usize] >= need {
            return None;
        }
        let flits = self.packets.packets[slot as usize].flits;
        self.credits.lack(place, need, flits, now)
    }

    /// Time from which an input port can send another packet, besides those that it is sending; at
    /// most `now` if it can already. Packets of collective operations hold no input port.
    fn input_free_at(&self, input: usize, now: Tick) -> Tick {
        let shift = self.size().shift;
        let all = 1_usize << shift;
        let vcs = if F::COMBINES { all.min(self.context.trees.up.into()) } else { all };
        let left = &self.cell.left.as_ref()[input << shift..][..vcs];
        let sending = left.iter().copied().filter(|&time| time > now);
        if (fitted!(sending.clone().count(), u32)) < self.context.parameters.crossbar_speedup {
            now
        } else {
            sending.min().unwrap_or(now)
        }
    }

    /// Grants a free output to a head that can go by it in a pass.
    #[inline(always)]
    fn grant_request(
        &mut self,
        output: usize,
        (buffer, vc): (u32, u8),
        pass: AllocationPass,
        now: Tick,
    ) {
        if F::COMBINES && self.is_collective(buffer) {
            return self.grant_copy(output, buffer, now);
        }
        if F::CHOOSES && *self.asks(buffer) != Asks::One {
            if F::RELATES {
                self.note_hop(output, (buffer, vc), now);
            } else if pass != AllocationPass::Escapes {
                self.note_adaptive_grant(output, now);
            }
            self.withdraw(output, buffer, now);
        }
        self.grant(output, buffer, vc, now);
    }

    /// Sends the head of a buffer through a free output, on a virtual channel that has room.
    #[inline(always)]
    pub(crate) fn grant(&mut self, output: usize, buffer: u32, out_vc: u8, now: Tick) {
        let place = S::buffer(buffer as usize);
        let slot = self.cell.head[place];
        let Packet { next, flits, .. } = *self.packet(slot);
        let had_room = !F::RESENDS || self.origin(slot).move_on();
        (self.cell.head[place], self.cell.ask[place]) = (next, NEVER);
        let released = self.send::<false>(output, (buffer, slot), out_vc, now);
        self.cell.left[place] = released;
        let (input, _) = self.place(buffer);
        self.cell.input_free_at[input] = released;
        if had_room {
            self.release_buffer(buffer, flits, released, now);
        }
        self.go_to_next(buffer, next);
    }

    /// Lets the packet behind a head that has left a buffer be the head, if there is one.
    #[inline(always)]
    pub(super) fn go_to_next(&mut self, buffer: u32, next: u32) {
        if next == NONE {
            self.note_empty(buffer);
        } else if F::CHOOSES && !F::COMBINES {
            // It asks after this instant, so its requests can wait until the others are granted:
            // heads that choose are much work, which is done in one place.
            self.arrive_again(buffer, next);
        } else {
            self.new_head(buffer, next);
        }
    }

    /// Notes a grant of a channel of the part where packets are looked at.
    #[cold]
    #[inline(never)]
    fn note(&mut self, slot: u32, channel: u32, now: Tick) {
        let packet = &self.packets.packets[slot as usize];
        note(self.trace, packet, (self.epoch, now), self.first_channel + channel);
        let class = self.packets.origins[slot as usize].class();
        self.statistics.count_class(channel, packet.flits, class);
    }

    /// Sends a packet through a free output, and notes all that every grant changes there. Returns
    /// the time at which its last flit has left. `COPY`: it is a packet of a collective operation.
    #[inline(always)]
    pub(crate) fn send<const COPY: bool>(
        &mut self,
        output: usize,
        (buffer, slot): (u32, u32),
        out_vc: u8,
        now: Tick,
    ) -> Tick {
        let output = S::port(output);
        self.end_stall(output, now);
        self.drop_request(output, buffer);
        let since = self.waited_for_since(output, now);
        self.cell.next_output = fitted!(output, u16) + 1;
        let channel = self.channel(output);
        let name = self.first_channel + channel;
        let timing = self.context.timing(self.cell.timing[output]);
        if self.trace.is_some() {
            self.note(slot, channel, now);
        }
        // One look at the packet, which may be far from any cache.
        let packet = &mut self.packets.packets[slot as usize];
        self.statistics.waited(channel, packet.ready, now);
        let last = self.context.send(packet, timing, now);
        packet.next = NONE;
        let needs_rest = match self.routing {
            Routing::Source(routes) if !COPY && self.cell.flags[output] & HANDS_ON != 0 => {
                routes.takes_hop(packet)
            }
            _ => false,
        };
        let Packet { flits, ready, tail: arrives, .. } = *packet;
        self.digest.add(time(self.epoch, now), name, packet.source, packet.sequence);
        let released = last + timing.flit;
        self.counters.grants += 1;
        self.statistics.sent(channel, out_vc, flits);
        self.cell.pointer[output] = fitted!(buffer, u16) + 1;
        self.cell.keep_busy(output, since, released);
        let takes_adaptive_room = self.is_on_torus() && out_vc == self.context.channels.adaptive;
        if self.has(output, HANDS_ON) {
            let room = self.cell.room[output] + u32::from(out_vc);
            self.credits.room[room as usize] -= flits;
            if takes_adaptive_room {
                let left = self.credits.room[room as usize];
                self.adaptive_state.rooms.room[output % TORUS_PORTS] = left.into();
            }
            if COPY {
                self.origin(slot).hops += 1;
            } else if let Routing::Source(routes) = self.routing {
                if needs_rest {
                    routes.refill(self.packets, slot);
                }
            } else {
                self.go_on(slot);
            }
            self.hand_on(output, out_vc, (slot, ready));
        } else if F::RESENDS && self.has(output, REPEATS) {
            self.transmit(output, slot, out_vc, (now, released));
            if takes_adaptive_room {
                self.look_at_room(output);
            }
        } else {
            let vc = if COPY { out_vc } else { self.place(buffer).1 };
            if self.has(output, DEAD | WILL_FAIL) {
                self.meet_failure(output, slot, (vc, out_vc), arrives);
            } else {
                self.leave(output, slot, vc, arrives);
            }
        }
        released
    }

    /// Makes an output busy until a time, for which the other requests for it wait.
    #[inline(always)]
    pub(super) fn keep_busy(&mut self, output: usize, until: Tick, now: Tick) {
        self.end_stall(output, now);
        let since = self.waited_for_since(output, now);
        self.cell.keep_busy(output, since, until);
    }

    /// Returns the credits of a buffer's packet that has left at `released`. Credits that arrive by
    /// `settled` can be added at once.
    #[inline(always)]
    pub(super) fn release_buffer(
        &mut self,
        buffer: u32,
        flits: u16,
        released: Tick,
        settled: Tick,
    ) {
        let (input, vc) = self.place(buffer);
        let upstream = self.cell.upstream[input];
        let back = self.context.timing(self.cell.input_timing[input]).back;
        let credit = Credit { time: released + back, flits };
        // The packets of a buffer leave one after the other, but for operands and bad copies.
        let in_order = !F::COMBINES && !F::RESENDS;
        let mut send = |place: u32, settled: Tick| {
            if in_order {
                self.credits.append(place, credit, settled)
            } else {
                self.credits.send(place, credit, settled)
            }
        };
        if input >= usize::from(self.layout.transit) {
            if send(upstream + u32::from(vc), settled) {
                let channels = self.context.parameters.injection_channels;
                let own = fitted!(input, u32) - u32::from(self.layout.transit);
                let injection = self.layout.first_terminal * channels + own;
                self.to_hosts.fed.push((injection, credit.time));
            }
        } else if upstream & AWAY == 0 {
            let place = upstream + u32::from(vc);
            if send(place, self.window.start) {
                self.woken.push((place, credit.time));
            }
        } else {
            let entry = (upstream & !AWAY) as usize;
            let RemoteUpstream { part, room } = self.remote_upstreams[entry];
            self.outgoing[part as usize].credits.push((room + u32::from(vc), credit));
        }
    }

    /// Takes a packet out of the network: it goes to its sink.
    #[inline(always)]
    pub(crate) fn leave(&mut self, output: usize, slot: u32, vc: u8, arrives: Tick) {
        let terminal = self.cell.far[S::port(output)];
        if F::BOUNDS_RESPONSES && self.origin(slot).completes_request() {
            self.responder_resources.take(terminal);
        }
        let time = self.time(arrives);
        self.to_hosts.deliveries.push(Delivery { time, slot, terminal, vc });
    }

    /// Takes a packet out of the network that is sent to an output that has failed, or hands it on
    /// by one that will fail.
    #[cold]
    #[inline(never)]
    fn meet_failure(&mut self, output: usize, slot: u32, (vc, out_vc): (u8, u8), arrives: Tick) {
        if self.has(output, DEAD) {
            self.routing.swallow(self.context, self.packets, (self.name, slot));
            let time = self.time(arrives);
            let swallowed = Delivery { time, slot, terminal: NONE, vc };
            return self.to_hosts.deliveries.push(swallowed);
        }
        let Packet { flits, ready, .. } = *self.packet(slot);
        let room = self.cell.room[S::port(output)] + u32::from(out_vc);
        self.credits.room[room as usize] -= flits;
        if self.is_on_torus() && out_vc == self.context.channels.adaptive {
            self.look_at_room(output);
        }
        self.routing.go_on(self.context, self.packets, slot, self.name);
        if self.is_cut(output, arrives) {
            self.origin(slot).lose();
        }
        self.hand_on(output, out_vc, (slot, ready));
    }

    /// Sends a packet to the next router.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, slot: u32) {
        match self.routing {
            Routing::Source(routes) => routes.go_on(self.packets, slot),
            Routing::Torus(adaptive) if !next_hop::changes_on_the_way(adaptive) => {}
            routing => routing.go_on(self.context, self.packets, slot, self.name),
        }
    }

    /// Whether a channel fails before a last flit gets across that would be there at this time.
    pub(super) fn is_cut(&self, output: usize, arrives: Tick) -> bool {
        let channel = self.context.fabric.outputs(self.name).start + fitted!(output, u32);
        self.interruption.is_some_and(|it| it.cuts(channel, self.time(arrives)))
    }
}
