//! Allocation for packets that choose among the hops of a routing relation (docs/model.md, "Routing
//! relations").
//!
//! There are three passes, as in [`choice`](super::choice). The third one grants fallbacks, and is repeated while
//! it grants any. Routers may have any number of ports, and hops may use any virtual channels. An
//! output offers a packet the virtual channels that the relation allows there, rather than one
//! adaptive virtual channel. The hops of a packet are looked up by the input virtual channel at
//! which it has arrived and by its destination.

use std::ops::Range;

use crate::frame::tick::{NEVER, Tick, multiple_from};
use crate::next_hop::{HopRank, PortHops, RelationTables};
use crate::router::packet::allocation::{AllocationPass, Blocked};
use crate::router::packet::cell::{NEEDS_ROOM, Shape};
use crate::router::packet::choices::{OutputRoom, RoomCache, vcs_in};
use crate::router::packet::vector::at_most;
use crate::router::packet::{Features, Visit};
use crate::set::bits;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_routing::relation::Hop;

impl<'a, 'f, S: Shape, F: Features> Visit<'a, 'f, S, F> {
    pub(super) fn relation_tables(&self) -> &'a RelationTables<'f> {
        self.routing.relation()
    }

    /// The hops of the head of a buffer, grouped by port: their places in the tables.
    pub(super) fn ports_of(&mut self, buffer: u32) -> Range<usize> {
        let hops = self.asks(buffer).hops();
        self.relation_tables().ports(hops)
    }

    /// The place of the hops by an output, which is among these places.
    #[inline(always)]
    fn place_of(&self, mut ports: Range<usize>, output: usize) -> usize {
        let is_it = |place: &usize| usize::from(self.relation_tables().port(*place).port) == output;
        ports.find(is_it).expect("it asks for none but those of its hops")
    }

    /// The number of hops in a list grouped by port, and the one that is preferred among equals.
    #[inline]
    fn first_of(&self, buffer: u32, ports: Range<usize>) -> (usize, usize) {
        let relation_tables = self.relation_tables();
        let Some(last) = ports.last().map(|place| relation_tables.port(place)) else {
            return (0, 0);
        };
        let hops = usize::from(last.first) + (last.vcs | last.fallback).count_ones() as usize;
        (hops, relation_tables.first(self.name, self.head_of(buffer).note, hops))
    }

    /// The free outputs by which heads that ask now may take a fallback, in a word of their set; none
    /// unless a head needs one.
    #[inline(always)]
    pub(super) fn fallback_outputs(&mut self, word: usize, now: Tick) -> u64 {
        let (mut outputs, mut is_stuck) = (0, false);
        if !self.relation_tables().has_fallbacks() {
            return outputs;
        }
        for of_buffers in 0..self.size().words {
            if self.choosing()[of_buffers] == 0 {
                continue;
            }
            for bit in bits(self.choosing_now(of_buffers, now)) {
                let buffer = fitted!(of_buffers * 64 + bit, u32);
                let flits = self.head_of(buffer).flits;
                is_stuck = is_stuck || !self.fits_elsewhere(buffer, flits, now);
                for place in self.ports_of(buffer) {
                    let PortHops { port, fallback, .. } = self.relation_tables().port(place);
                    if fallback != 0 && usize::from(port) / 64 == word {
                        outputs |= 1 << (port % 64);
                    }
                }
            }
        }
        // A grant may take the room that the others have. So the outputs of all heads count.
        let free_at = &self.cell.free_at.as_ref()[word * 64..];
        let free = at_most::<F::Vector>(&free_at[..free_at.len().min(64)], now);
        if is_stuck { outputs & free } else { 0 }
    }

    /// The virtual channel of the hop that the head of a buffer may have by a free output, if it has
    /// one with room there and prefers no other output.
    pub(super) fn preferred_hop(
        &mut self,
        output: usize,
        buffer: u32,
        (pass, blocked): (AllocationPass, &mut Blocked),
        now: Tick,
    ) -> Option<u8> {
        let place = S::buffer(buffer as usize);
        let (need, slot) = (self.cell.need[place], self.cell.head[place]);
        let flits = self.head_of(buffer).flits;
        let ports = self.ports_of(buffer);
        let here = self.place_of(ports.clone(), output);
        let (of_port, needs) = (self.relation_tables().port(here), self.context.needs(need, flits));
        let open = self.output_room(output, now).open_to(&of_port, needs);
        if open == 0 {
            for vc in vcs_in(of_port.vcs) {
                let need = of_port.need(vc, needs);
                let obstacle = self.lack_of_room(output, (vc, need, slot), now);
                obstacle.iter().for_each(|obstacle| blocked.add(obstacle));
            }
            return None;
        }
        // There is room on some virtual channel: the lack of room on others does not matter.
        let vc = fitted!(open.trailing_zeros(), u8);
        if let Some(obstacle) = self.obstacle(output, buffer, (vc, need, slot), now) {
            blocked.add(&obstacle);
            return None;
        }
        let first = self.first_of(buffer, ports.clone());
        let among = if pass == AllocationPass::Preferred { ports } else { here..here + 1 };
        let best = self.best(among, first, needs, now);
        let own = best.filter(|hop| usize::from(hop.port) == output).map(|hop| hop.vc);
        blocked.passed_over |= own.is_none();
        own
    }

    /// The best hop with room through a free output, fallbacks excluded: by the output that the
    /// packet prefers, on the virtual channel there that it prefers. The list has `hops` hops;
    /// among equals the first in cyclic order from `first` is taken.
    fn best(
        &mut self,
        ports: Range<usize>,
        (hops, first): (usize, usize),
        needs: [u16; 2],
        now: Tick,
    ) -> Option<Hop> {
        let (mut best, mut most, mut turn) = (None, <(HopRank, HopRank)>::default(), 0);
        for place in ports {
            let of_port = self.relation_tables().port(place);
            let port = usize::from(of_port.port);
            if self.cell.free_at[S::port(port)] > now {
                continue;
            }
            self.output_room(port, now);
            let of_output = self.rank_output(port);
            if best.is_some() && of_output < most.0 {
                continue;
            }
            for vc in vcs_in(of_port.vcs) {
                let room = self.adaptive_state.room_cache.outputs[port].room[usize::from(vc)];
                if room < of_port.need(vc, needs) {
                    continue;
                }
                let rank = (of_output, self.rank_vc(port, vc));
                if best.is_some() && rank < most {
                    continue;
                }
                let own = of_port.turn(vc, first, hops);
                if best.is_none() || (rank, turn) > (most, own) {
                    (best, most, turn) = (Some(Hop::new(of_port.port, vc)), rank, own);
                }
            }
        }
        best
    }

    /// The rank of an output whose room has been looked up in this allocation. The less waits for
    /// it, the more room it has in all.
    #[inline(always)]
    fn rank_output(&self, output: usize) -> HopRank {
        let (preference, times) =
            (self.relation_tables().preference(), &self.adaptive_state.hop_times);
        let known = &self.adaptive_state.room_cache.outputs[output];
        let idle = || {
            let rooms = &known.room[..self.context.vc_map.count()];
            let buffer = self.context.parameters.buffer;
            rooms.iter().map(|&room| i64::from(u32::from(room) == buffer)).sum()
        };
        times.rank_output(preference, self.channel(output) as usize, || known.all.into(), idle)
    }

    /// The rank of a virtual channel of such an output.
    #[inline(always)]
    fn rank_vc(&self, output: usize, vc: u8) -> HopRank {
        let (preference, times) =
            (self.relation_tables().preference(), &self.adaptive_state.hop_times);
        let room = self.adaptive_state.room_cache.outputs[output].room[usize::from(vc)];
        times.rank_vc(preference, (self.channel(output) as usize, vc), room.into())
    }

    /// The room behind the virtual channels of an output, free or busy.
    #[inline(always)]
    fn output_room(&mut self, output: usize, now: Tick) -> &mut OutputRoom {
        let RoomCache { allocation, ref outputs, .. } = self.adaptive_state.room_cache;
        if outputs[output].allocation != allocation {
            let mut view = OutputRoom { allocation, ..OutputRoom::default() };
            let room = self.cell.room[S::port(output)];
            for vc in 0..fitted!(self.context.vc_map.count(), u8) {
                let place = room + u32::from(vc);
                self.credits.collect(place, now);
                let room = self.credits.room[place as usize];
                view.room[usize::from(vc)] = room;
                view.all += u32::from(room);
            }
            self.adaptive_state.room_cache.outputs[output] = view;
        }
        &mut self.adaptive_state.room_cache.outputs[output]
    }

    /// Whether the head of a buffer has a non-fallback hop with room for its flits, by an output
    /// that is free or busy.
    #[inline(always)]
    fn fits_elsewhere(&mut self, buffer: u32, flits: u16, now: Tick) -> bool {
        let RoomCache { state, ref heads, .. } = self.adaptive_state.room_cache;
        let (known, fits) = heads[buffer as usize];
        if known == state {
            return fits;
        }
        let [_, entering] = self.context.needs(flits, flits);
        let vcs = fitted!((1_u32 << self.context.vc_map.count()) - 1, u16);
        let fits = self.ports_of(buffer).any(|place| {
            let of_port = self.relation_tables().port(place);
            let view = self.output_room(usize::from(of_port.port), now);
            if view.flits != flits {
                (view.flits, view.fits) = (flits, view.open(vcs, flits));
            }
            let enters = of_port.vcs & of_port.enters;
            of_port.vcs & !enters & view.fits != 0
                || enters != 0 && view.open(enters, entering) != 0
        });
        self.adaptive_state.room_cache.heads[buffer as usize] = (state, fits);
        fits
    }

    /// Notes that a head with a choice is granted a hop.
    pub(super) fn note_hop(&mut self, output: usize, (buffer, vc): (u32, u8), now: Tick) {
        let slot = self.cell.head[S::buffer(buffer as usize)];
        let taken = (self.asks(buffer).hops(), (fitted!(output, u16), vc));
        let tables = self.relation_tables();
        tables.take_hop(self.context, self.packets, (slot, self.name), taken);
        let (channel, time) = (self.channel(output) as usize, self.time(now));
        self.adaptive_state.hop_times.note(channel, vc, time);
        self.adaptive_state.room_cache.take_room(output);
        if let Some(again) = tables.again() {
            let next = multiple_from(now + 1, again, self.epoch);
            let decide_at = self.decide_at();
            *decide_at = (*decide_at).min(next);
        }
    }

    /// Lets the heads that have decided here and wait decide again, if it is time. Returns whether
    /// there are any.
    pub(super) fn decide_again(&mut self, again: Picoseconds, now: Tick) -> bool {
        let is_time = self.time(now).0.is_multiple_of(again.0);
        let mut waits = false;
        for word in 0..self.size().words {
            for bit in bits(self.choosing_now(word, now)) {
                let buffer = fitted!(word * 64 + bit, u32);
                let slot = self.cell.head[S::buffer(buffer as usize)];
                let packet = &self.packets.packets[slot as usize];
                if !self.relation_tables().has_decided(packet) {
                    continue;
                }
                waits = true;
                if is_time && self.decide_by_relation(slot, now) {
                    self.ask_anew(buffer, now);
                }
            }
        }
        waits
    }

    /// The first time for deciding again after the room behind some output has changed. Till then
    /// heads would decide as they have.
    pub(super) fn next_change(&mut self, again: Picoseconds, now: Tick) -> Tick {
        let mut change = NEVER;
        for output in 0..usize::from(self.layout.outputs) {
            if self.has(output, NEEDS_ROOM) {
                let first = self.cell.room[S::port(output)];
                for vc in 0..fitted!(self.context.vc_map.count(), u32) {
                    change = change.min(self.credits.next_change(first + vc, now));
                }
            }
        }
        multiple_from(change, again, self.epoch)
    }

    /// Lets a packet of a relation decide. Returns whether it goes on otherwise than before.
    pub(crate) fn decide_by_relation(&mut self, slot: u32, now: Tick) -> bool {
        let (tables, context) = (self.relation_tables(), self.context);
        let Self { cell, credits, packets, name, .. } = self;
        let mut used = |port: u16, vcs: u16| {
            let first = cell.room.as_ref()[usize::from(port)];
            let used = vcs_in(vcs).map(|vc| {
                let place = first + u32::from(vc);
                credits.collect(place, now);
                context.parameters.buffer - u32::from(credits.room[place as usize])
            });
            used.sum()
        };
        tables.decide(context, packets, (slot, *name), &mut used)
    }

    /// The virtual channel on which the head of a buffer, which asks now, can take a fallback by a
    /// free output, if it can.
    pub(super) fn fallback_hop(
        &mut self,
        output: usize,
        buffer: u32,
        blocked: &mut Blocked,
        now: Tick,
    ) -> Option<u8> {
        let place = S::buffer(buffer as usize);
        let (need, slot) = (self.cell.need[place], self.cell.head[place]);
        let flits = self.head_of(buffer).flits;
        if self.fits_elsewhere(buffer, flits, now) {
            // The packet is granted a hop there, or what it waits for there makes the output due
            // again.
            return None;
        }
        let ports = self.ports_of(buffer);
        let here = self.relation_tables().port(self.place_of(ports.clone(), output));
        let (hops, first) = self.first_of(buffer, ports);
        let (mut best, mut most, mut turn) = (None, HopRank::default(), 0);
        let needs = self.context.needs(need, flits);
        for vc in vcs_in(here.fallback) {
            let need = here.need(vc, needs);
            match self.obstacle(output, buffer, (vc, need, slot), now) {
                Some(obstacle) => blocked.add(&obstacle),
                None => {
                    self.output_room(output, now);
                    let rank = self.rank_vc(output, vc);
                    let own = here.turn(vc, first, hops);
                    if best.is_none() || (rank, turn) > (most, own) {
                        (best, most, turn) = (Some(vc), rank, own);
                    }
                }
            }
        }
        best
    }
}
