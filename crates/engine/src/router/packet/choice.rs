//! Allocation for adaptive routing on the Angara router (docs/model.md, "Adaptive routing").
//!
//! A head asks for every output of a minimal route on the adaptive channel. It also asks for one
//! output on its escape channel: that of direction order, or of a forwarding table. Allocation has
//! three passes over the free outputs:
//!
//! 1. preferred: packets that prefer this output to all others that they could have;
//! 2. any: all packets that can have it; only outputs that passed a packet over are served;
//! 3. escape: packets that found none of their outputs with room.
//!
//! No grant enables another one in the same pass, because a grant only takes room. Escapes take no
//! room of the adaptive channel. So one run through each pass is enough.

use crate::frame::tick::{NEVER, Tick};
use crate::network::vc_map::UNUSED;
use crate::next_hop::{Routing, escape_bubble};
use crate::router::packet::allocation::{AllocationPass, Blocked};
use crate::router::packet::cell::{IN_RING, NEEDS_ROOM, NOT_STALLED, Shape};
use crate::router::packet::choices::TORUS_PORTS;
use crate::router::packet::vector::at_most;
use crate::router::packet::{Features, Visit};
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_model::Stall;
use flitlab_routing::adaptive::{Outputs, drawn_at};

impl<'a, 'f, S: Shape, F: Features> Visit<'a, 'f, S, F> {
    /// The set of the router's buffers whose heads have a choice, in words.
    #[inline(always)]
    pub(super) fn choosing(&mut self) -> &mut [u64] {
        let words = self.size().words;
        let first = self.number as usize * words;
        &mut self.adaptive_state.choosing[first..first + words]
    }

    /// A lower bound of the time at which the first undecided head asks.
    pub(crate) fn decide_at(&mut self) -> &mut Tick {
        &mut self.adaptive_state.decide_at[self.number as usize]
    }

    /// The set of the router's input virtual channels whose heads are undecided, in words.
    fn undecided(&mut self) -> &mut [u64] {
        let words = self.size().words;
        let first = self.number as usize * words;
        &mut self.adaptive_state.undecided[first..first + words]
    }

    /// Notes that a head has to decide on a detour when it asks.
    pub(super) fn wait_for_decision(&mut self, buffer: u32) {
        let ask = self.cell.ask[S::buffer(buffer as usize)];
        self.undecided()[buffer as usize / 64] |= 1 << (buffer % 64);
        let present = self.decide_at();
        *present = (*present).min(ask);
    }

    /// Lets the undecided heads that ask at this instant decide on detours.
    #[inline(always)]
    pub(super) fn decide_all(&mut self, now: Tick) {
        let (mut due, mut any) = (NEVER, false);
        for word in 0..self.size().words {
            for bit in bits(self.undecided()[word]) {
                let place = S::buffer(word * 64 + bit);
                let (slot, ask) = (self.cell.head[place], self.cell.ask[place]);
                if ask > now {
                    due = due.min(ask);
                    continue;
                }
                self.undecided()[word] &= !(1 << bit);
                self.decide(slot, now);
                any = true;
                self.arrive_again(fitted!(place, u32), slot);
            }
        }
        if F::RELATES
            && let Some(again) = self.relation_tables().again()
        {
            any |= self.decide_again(again, now);
            due = if any { due.min(self.next_change(again, now)) } else { due };
        }
        *self.decide_at() = due;
    }

    /// Decides on a detour of a packet.
    #[inline(always)]
    fn decide(&mut self, slot: u32, now: Tick) {
        if F::RELATES {
            self.decide_by_relation(slot, now);
            return;
        }
        self.collect_rooms(now);
        let capacity = self.context.parameters.buffer;
        let mut used = [0; u16::BITS as usize];
        let channels = self.context.fabric.outputs(self.name).len();
        for (output, used) in used[..channels].iter_mut().enumerate() {
            *used = if self.has(output, NEEDS_ROOM) {
                capacity - self.adaptive_state.rooms.room[output]
            } else {
                u32::MAX
            };
        }
        self.routing.decide(self.packets, slot, (self.name, capacity), &used[..channels]);
    }

    /// Whether packets choose on a torus.
    #[inline(always)]
    pub(super) fn is_on_torus(&self) -> bool {
        // Not all that has all features has adaptive routing.
        let is_adaptive = !F::COMBINES || matches!(self.routing, Routing::Torus(_));
        F::CHOOSES && !F::RELATES && is_adaptive
    }

    /// Looks up the rooms behind the router's outputs, and when the next credits arrive there. During
    /// a visit no credits come that arrive before the window's end.
    #[inline(always)]
    pub(super) fn look_at_rooms(&mut self) {
        // All packets may be deterministic.
        if self.context.channels.adaptive == UNUSED {
            return;
        }
        for output in 0..self.cell.due.as_ref().len().min(TORUS_PORTS) {
            if self.has(output, NEEDS_ROOM) {
                self.look_at_room(output);
            } else {
                let rooms = &mut self.adaptive_state.rooms;
                (rooms.room[output], rooms.collect_at[output]) = (0, NEVER);
            }
        }
    }

    /// Looks up the room behind an output that leads to a router.
    #[inline(always)]
    pub(super) fn look_at_room(&mut self, output: usize) {
        let place = self.cell.room[S::port(output)] + u32::from(self.context.channels.adaptive);
        let rooms = &mut self.adaptive_state.rooms;
        rooms.room[output % TORUS_PORTS] = self.credits.room[place as usize].into();
        rooms.collect_at[output % TORUS_PORTS] = self.credits.first_time(place);
    }

    /// Collects the credits for the adaptive channel that have arrived.
    #[inline(always)]
    fn collect_rooms(&mut self, now: Tick) {
        let due = at_most::<F::Vector>(&self.adaptive_state.rooms.collect_at, now);
        for output in bits(due) {
            let place = self.cell.room[S::port(output)] + u32::from(self.context.channels.adaptive);
            self.credits.collect(place, now);
            self.look_at_room(output);
        }
    }

    /// The outputs with room for this many flits on the adaptive channel, a bit each.
    #[inline(always)]
    fn with_room(&self, flits: u16) -> u16 {
        let rooms = &self.adaptive_state.rooms.room;
        fitted!(!at_most::<F::Vector>(rooms, u32::from(flits) - 1) & 0xffff, u16)
    }

    /// The outputs that the head of a buffer with a choice asks for, and whether it may escape by
    /// each.
    #[inline(always)]
    fn options(&mut self, buffer: u32) -> impl Iterator<Item = (usize, bool)> + use<'a, 'f, S, F> {
        let (ports, escape) = self.asks(buffer).on_torus();
        let mut ports = bits(ports | 1_u16.unbounded_shl(escape.into()));
        let mut places = if F::RELATES { self.ports_of(buffer) } else { 0..0 };
        let routing = self.routing;
        std::iter::from_fn(move || {
            if !F::RELATES {
                return ports.next().map(|output| (output, output == usize::from(escape)));
            }
            let hops = routing.relation().port(places.next()?);
            Some((usize::from(hops.port), hops.fallback != 0))
        })
    }

    /// Requests all outputs that the head of a buffer may choose, and those of its escapes.
    #[inline(always)]
    pub(super) fn ask_for_any(&mut self, buffer: u32) {
        let (input, _) = self.place(buffer);
        let bubble = self.context.bubble_of(self.injects(input));
        let place = S::buffer(buffer as usize);
        self.cell.need[place] = self.head_of(buffer).flits + bubble;
        let ask = self.cell.ask[place];
        self.choosing()[buffer as usize / 64] |= 1 << (buffer % 64);
        for (output, escapes) in self.options(buffer) {
            self.add_request(output, buffer, ask);
            if escapes {
                *self.escape_word(output, buffer) |= 1 << (buffer % 64);
            }
        }
    }

    /// Withdraws all requests of a head with a choice, which leaves by output `granted`.
    #[inline(always)]
    pub(crate) fn withdraw(&mut self, granted: usize, buffer: u32, now: Tick) {
        for (output, escapes) in self.options(buffer) {
            if output != granted {
                self.withdraw_request(output, buffer, now);
            }
            if F::RELATES && escapes {
                *self.escape_word(output, buffer) &= !(1 << (buffer % 64));
            }
        }
        let asks = std::mem::take(self.asks(buffer));
        if !F::RELATES {
            let (_, escape) = asks.on_torus();
            *self.escape_word(escape.into(), buffer) &= !(1 << (buffer % 64));
        }
        self.choosing()[buffer as usize / 64] &= !(1 << (buffer % 64));
    }

    /// Lets the heads that have a choice choose again from a time on.
    pub(crate) fn choose_again(&mut self, from: Tick) {
        for word in 0..self.size().words {
            for bit in bits(self.choosing()[word]) {
                self.ask_anew(fitted!(word * 64 + bit, u32), from);
            }
        }
    }

    /// Lets the head of a buffer, which has a choice, ask for what it may have now, from a time on.
    pub(super) fn ask_anew(&mut self, buffer: u32, from: Tick) {
        self.withdraw(usize::MAX, buffer, from);
        let ask = &mut self.cell.ask[S::buffer(buffer as usize)];
        *ask = (*ask).max(from);
        self.request_next_hop(buffer);
    }

    /// Notes that the adaptive channel of an output is granted.
    #[inline(always)]
    pub(super) fn note_adaptive_grant(&mut self, output: usize, now: Tick) {
        let (output, time) = (self.channel(output) as usize, self.time(now));
        self.adaptive_state.granted.get_mut(output).into_iter().for_each(|it| *it = time);
    }

    /// Withdraws the request of a head for an output that it does not get.
    #[inline(always)]
    pub(super) fn withdraw_request(&mut self, output: usize, buffer: u32, now: Tick) {
        self.drop_request(output, buffer);
        let place = S::port(output);
        let stall = self.cell.stall[place];
        if stall != Stall::OutputBusy as u8 && stall != NOT_STALLED {
            // The head counts among those that wait until now; from now on the reason may be
            // another.
            self.cell.due[place] = now;
            return;
        }
        self.end_stall(output, now);
        let first = self.waited_for_since(output, now);
        if stall == Stall::OutputBusy as u8 {
            self.cell.since[place] = first;
        }
        // If others wait for a free output, it is due already.
        if first > now || stall == Stall::OutputBusy as u8 {
            let free_at = self.cell.free_at[place];
            self.cell.due[place] = if first == NEVER { NEVER } else { first.max(free_at) };
        }
    }

    /// Whether the head of a buffer, which could have this output, prefers no other output that it
    /// could have.
    #[inline(always)]
    pub(crate) fn prefers(&mut self, output: usize, buffer: u32, now: Tick) -> bool {
        let (options, _) = self.asks(buffer).on_torus();
        let place = S::buffer(buffer as usize);
        let (head, need) = (self.cell.head[place], self.cell.need[place]);
        if options.is_power_of_two() {
            return true;
        }
        let open = options & self.with_room(need) & self.free(now);
        if open.is_power_of_two() {
            return true;
        }
        let (input, _) = self.place(buffer);
        let straight = self.cell.port[input].into();
        let own = self.layout.first_output as usize..;
        let outputs = Outputs {
            open,
            straight,
            drawn: drawn_at(self.name, self.packets.packets[head as usize].note),
            room: &self.adaptive_state.rooms.room,
            granted: self.adaptive_state.granted.get(own).unwrap_or_default(),
        };
        self.routing.preferred(&outputs) == fitted!(output, u32)
    }

    /// Serves the outputs that are due, in three passes. Each pass is in cyclic order from behind
    /// the latest grant before this instant.
    #[inline(always)]
    pub(super) fn allocate_among_choices(&mut self, now: Tick) {
        let start = u32::from(self.cell.next_output);
        if F::RELATES {
            let (outputs, buffers) = (self.layout.outputs, self.size().buffers);
            self.adaptive_state.room_cache.begin(outputs, buffers);
        } else {
            self.collect_rooms(now);
        }
        let mut pass = AllocationPass::Preferred;
        // One loop, so that all that a grant does is there once, and inlined.
        loop {
            let grants = self.counters.grants;
            self.serve_outputs(pass, start, now);
            pass = match pass {
                AllocationPass::Preferred => AllocationPass::Any,
                AllocationPass::Any => AllocationPass::Escapes,
                // For want of the room that was taken others may now take a fallback.
                AllocationPass::Escapes if F::RELATES && self.counters.grants > grants => pass,
                AllocationPass::Escapes => return,
            };
        }
    }

    /// The outputs that a pass serves, of those in the mask of a word.
    #[inline(always)]
    pub(super) fn outputs_of_pass(
        &mut self,
        pass: AllocationPass,
        (word, mask): (usize, u64),
        now: Tick,
    ) -> u64 {
        match pass {
            AllocationPass::Preferred => self.due_outputs(word, now) & mask,
            AllocationPass::Any => {
                let passed_over = &mut self.adaptive_state.passed_over[word];
                let outputs = *passed_over & mask;
                *passed_over &= !mask;
                outputs
            }
            AllocationPass::Escapes if F::RELATES => self.fallback_outputs(word, now) & mask,
            AllocationPass::Escapes if word == 0 => self.outputs_of_stuck(now) & mask,
            AllocationPass::Escapes => 0,
        }
    }

    /// The outputs that send nothing, a bit each. Those of a torus are among the first sixteen.
    #[inline(always)]
    fn free(&self, now: Tick) -> u16 {
        let free_at = self.cell.free_at.as_ref();
        fitted!(at_most::<F::Vector>(&free_at[..free_at.len().min(TORUS_PORTS)], now), u16)
    }

    /// The heads with a choice that ask now, in a word of the set of buffers.
    #[inline(always)]
    pub(super) fn choosing_now(&mut self, word: usize, now: Tick) -> u64 {
        let asks = self.cell.ask.as_ref().get(word * 64..).unwrap_or_default();
        let ready = at_most::<F::Vector>(&asks[..asks.len().min(64)], now);
        self.choosing()[word] & ready
    }

    /// The free outputs by which heads that ask now need an escape, since none of their options has
    /// room, a bit each.
    #[inline(always)]
    fn outputs_of_stuck(&mut self, now: Tick) -> u64 {
        let mut outputs = 0;
        for word in 0..self.size().words {
            for bit in bits(self.choosing_now(word, now)) {
                let place = S::buffer(word * 64 + bit);
                let (options, escape) = self.asks(fitted!(place, u32)).on_torus();
                if options & self.with_room(self.cell.need[place]) == 0 {
                    outputs |= 1 << escape;
                }
            }
        }
        u64::from(outputs & self.free(now))
    }

    /// The virtual channel on which the head of a buffer, which asks now, can escape by a free
    /// output, if it can.
    pub(crate) fn escape(
        &mut self,
        output: usize,
        buffer: u32,
        blocked: &mut Blocked,
        now: Tick,
    ) -> Option<u8> {
        let place = S::buffer(buffer as usize);
        let (options, port) = self.asks(buffer).on_torus();
        if options & self.with_room(self.cell.need[place]) != 0 {
            // The packet is granted a hop there, or what it waits for there makes the output due
            // again.
            return None;
        }
        let (input, vc) = self.place(buffer);
        let out_vc = self.cell.out_vc[place];
        let came = (self.cell.ring_output[input], vc);
        let in_ring = self.has(output, IN_RING);
        let bubble = escape_bubble(self.context.bubble, came, (port, out_vc), in_ring);
        let room = (out_vc, self.head_of(buffer).flits + bubble, self.cell.head[place]);
        let obstacle = self.obstacle(output, buffer, room, now);
        obstacle.iter().for_each(|obstacle| blocked.add(obstacle));
        obstacle.is_none().then_some(out_vc)
    }
}
