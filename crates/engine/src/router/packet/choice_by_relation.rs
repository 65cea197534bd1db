//! Allocation for packets that choose among the hops of a routing relation (docs/model.md, "Routing
//! relations").
//!
//! There are three passes, as in `adaptive`. The third one grants fallbacks, and is repeated while
//! it grants any. Routers may have any number of ports, and hops may use any virtual channels. An
//! output offers a packet the virtual channels that the relation allows there, rather than one
//! adaptive virtual channel. The hops of a packet are looked up by the input virtual channel at
//! which it has arrived and by its destination.

use std::ops::Range;

use crate::frame::tick::{NEVER, Tick};
use crate::next_hop::RelationTables;
use crate::router::packet::allocation::{AllocationPass, Blocked};
use crate::router::packet::cell::Shape;
use crate::router::packet::choices::{OutputRoom, RoomCache, vcs_in};
use crate::router::packet::{Features, Visit};
use flitlab_base::narrow::fitted;
use flitlab_routing::relation::Hop;

/// In place of a set of ports in [`Choice::options`](super::choices::Choice): the head has a choice, and the relation
/// says which.
pub(crate) const BY_RELATION: u16 = 1;

impl<'a, 'f, S: Shape, F: Features> Visit<'a, 'f, S, F> {
    pub(crate) fn relation_tables(&self) -> &'a RelationTables<'f> {
        self.routing.relation()
    }

    /// The hops of the head of a buffer, grouped by port: their places in the tables.
    pub(crate) fn ports_of(&mut self, buffer: u32) -> Range<usize> {
        let hops = self.choice(buffer).hops;
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

    /// Serves the outputs that are due, in three passes. Each pass is in cyclic order from behind
    /// the latest grant before this instant.
    #[inline(always)]
    pub(crate) fn allocate_by_relation(&mut self, now: Tick) {
        let (outputs, buffers) = (self.layout.outputs, self.size().buffers);
        self.adaptive_state.room_cache.begin(outputs, buffers);
        let start = self.cell.next_output;
        let fallback = self.relation_tables().has_fallbacks();
        let mut due = std::mem::take(&mut self.adaptive_state.due);
        due.clear();
        if fallback {
            let all = 0..self.layout.outputs;
            due.extend(all.filter(|&output| self.cell.due[usize::from(output)] <= now));
        }
        let grants = self.counters.grants;
        self.serve_choices(now);
        if fallback {
            // Nothing has changed for the other heads, unless a grant took room. For want of that
            // room others may now take a fallback.
            let mut granted =
                self.counters.grants > grants || self.grant_fallbacks(&due, start, now);
            due.clear();
            due.extend(0..self.layout.outputs);
            while granted {
                granted = self.grant_fallbacks(&due, start, now);
            }
        }
        self.adaptive_state.due = due;
    }

    /// Serves requests for fallbacks at some outputs, given in ascending order. The cyclic order
    /// starts at `start`. Returns whether a packet was granted one.
    #[inline(always)]
    fn grant_fallbacks(&mut self, outputs: &[u16], start: u16, now: Tick) -> bool {
        let (before, behind) = outputs.split_at(outputs.partition_point(|&output| output < start));
        let mut granted = false;
        for output in behind.iter().chain(before).map(|&output| usize::from(output)) {
            let requests = self.words(output);
            let any = self.escapes()[requests].iter().any(|&word| word != 0);
            if any && self.cell.free_at[output] <= now {
                granted |= self.grant_escapes(output, now);
            }
        }
        granted
    }

    /// Grants a free output to the head of a buffer if it has a hop there with room and prefers no
    /// other output. Returns whether it did.
    pub(crate) fn try_grant_hop(
        &mut self,
        output: usize,
        buffer: u32,
        (pass, blocked): (AllocationPass, &mut Blocked),
        now: Tick,
    ) -> bool {
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
            return false;
        }
        // There is room on some virtual channel: the lack of room on others does not matter.
        let vc = fitted!(open.trailing_zeros(), u8);
        if let Some(obstacle) = self.obstacle(output, buffer, (vc, need, slot), now) {
            blocked.add(&obstacle);
            return false;
        }
        let first = self.first_of(buffer, ports.clone());
        let best = match pass {
            AllocationPass::Preferred => self.best(ports, first, needs, now),
            AllocationPass::Any => self.best(here..here + 1, first, needs, now),
        };
        match best {
            Some(hop) if usize::from(hop.port) == output => {
                self.grant_choice(output, buffer, hop.vc, now);
                true
            }
            _ => {
                blocked.passed_over = true;
                false
            }
        }
    }

    /// The best hop with room through a free output, fallbacks excluded: by the output with the
    /// most room in all, since the least waits for it, on the virtual channel with the most room.
    /// The list has `hops` hops; among equals the first in cyclic order from `first` is taken.
    fn best(
        &mut self,
        ports: Range<usize>,
        (hops, first): (usize, usize),
        needs: [u16; 2],
        now: Tick,
    ) -> Option<Hop> {
        let (mut best, mut most, mut turn) = (None, (0, 0), 0);
        for place in ports {
            let of_port = self.relation_tables().port(place);
            if self.cell.free_at[S::port(usize::from(of_port.port))] > now {
                continue;
            }
            let &mut OutputRoom { room: rooms, all, .. } =
                self.output_room(usize::from(of_port.port), now);
            for vc in vcs_in(of_port.vcs) {
                let room = rooms[usize::from(vc)];
                let (like, own) = ((all, room), of_port.turn(vc, first, hops));
                if room >= of_port.need(vc, needs) && (best.is_none() || (like, turn) > (most, own))
                {
                    (best, most, turn) = (Some(Hop::new(of_port.port, vc)), like, own);
                }
            }
        }
        best
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

    /// Counts a hop of a head that is a fallback.
    pub(crate) fn count_fallback(&mut self, buffer: u32) {
        let slot = self.cell.head[S::buffer(buffer as usize)];
        self.relation_tables().count_fallback(&mut self.packets.packets[slot as usize]);
    }

    /// The virtual channel on which the head of a buffer can take a fallback by a free output. If
    /// there is none: the time until which there is none, as far as it is known.
    pub(crate) fn fallback_hop(
        &mut self,
        output: usize,
        buffer: u32,
        now: Tick,
    ) -> Result<u8, Tick> {
        let place = S::buffer(buffer as usize);
        let (ask, need) = (self.cell.ask[place], self.cell.need[place]);
        let (slot, flits) = (self.cell.head[place], self.head_of(buffer).flits);
        if ask > now {
            return Err(ask);
        }
        if self.fits_elsewhere(buffer, flits, now) {
            // The packet is granted a hop there, or what it waits for there makes the output due
            // again.
            return Err(NEVER);
        }
        let ports = self.ports_of(buffer);
        let here = self.relation_tables().port(self.place_of(ports.clone(), output));
        let (hops, first) = self.first_of(buffer, ports);
        let (mut best, mut most, mut turn, mut until) = (None, 0, 0, NEVER);
        let needs = self.context.needs(need, flits);
        for vc in vcs_in(here.fallback) {
            let need = here.need(vc, needs);
            match self.obstacle(output, buffer, (vc, need, slot), now) {
                Some(obstacle) => until = until.min(obstacle.until),
                None => {
                    let room = self.output_room(output, now).room[usize::from(vc)];
                    let own = here.turn(vc, first, hops);
                    if best.is_none() || (room, turn) > (most, own) {
                        (best, most, turn) = (Some(vc), room, own);
                    }
                }
            }
        }
        best.ok_or(until)
    }
}
