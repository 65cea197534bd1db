//! Packets that choose among the hops of a routing relation (docs/model.md, "Routing relations").
//!
//! It is the allocation of `adaptive`, in the same three walks, for routers with any number of ports and for hops in
//! any lanes: what an output offers a packet is not one adaptive lane but those that the relation allows there. Which
//! hops these are is looked up each time, by the place where the packet has come in and its destination.

use super::model::Model;
use super::packet::{Origin, Packet};
use super::ports::{Output, Ports, Queue};
use super::router::{Blocked, Visit, Walk};
use super::size::Size;
use super::tick::{NEVER, Tick};
use super::way::Address;
use super::whole::Whole;
use crate::adaptive::drawn_at;
use crate::narrow::fitted;
use crate::routing::RelationRoutes;
use crate::routing::relation::Hop;
use crate::topology::NONE;

/// The relation by which packets choose, as routers look it up.
#[derive(Debug)]
pub(super) struct Related<'f> {
    pub routes: &'f RelationRoutes,
    /// By input port of the part: the channel of the fabric that ends there; [`NONE`] of an injection channel.
    came: Vec<u32>,
}

/// In place of a set of ports: the packet has a choice, and the relation says which.
pub(super) const BY_RELATION: u16 = 1;

impl<'f> Related<'f> {
    pub(super) fn new(
        whole: &Whole<'_>,
        part: usize,
        ports: &Ports,
        routes: &'f RelationRoutes,
    ) -> Self {
        let inputs = ports.routers.iter().map(|router| usize::from(router.inputs)).sum();
        let first = whole.cut.first_input(part) as usize;
        let came = whole.network.channel_of_input[first..][..inputs].iter().map(|&channel| {
            if channel >= whole.network.first_injection() {
                return NONE;
            }
            let router = whole.network.router_of_output(channel);
            let port = channel - whole.network.first_output[router as usize];
            whole.fabric.outputs(router).start + port
        });
        Self { routes, came: came.collect() }
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.came)
    }

    /// The hops that a packet may take from a router, to which it has come through an input port of the part in a lane.
    #[inline]
    pub(super) fn hops(
        &self,
        router: u32,
        (input, lane): (usize, u8),
        destination: u32,
    ) -> &'f [Hop] {
        let relation = &self.routes.relation;
        let state = match self.came[input] {
            NONE => relation.injected(router),
            channel => relation.arrived(channel, lane),
        };
        relation.hops(state, destination)
    }

    /// The place among so many hops from which on the first one is preferred of equal ones, at a router to a packet
    /// that was given a random number.
    #[inline]
    pub(super) fn first(&self, router: u32, drawn: u16, hops: usize) -> usize {
        if self.routes.random_ties && hops > 0 {
            drawn_at(router, drawn) as usize % hops
        } else {
            0
        }
    }
}

/// The hops of a list in cyclic order from a place on.
#[inline]
pub(super) fn from_place(hops: &[Hop], first: usize) -> impl Iterator<Item = &Hop> {
    hops[first..].iter().chain(&hops[..first])
}

impl<'f> Model<'f> {
    /// The hops that a packet may take which is in an input port of the part, in a lane.
    pub(super) fn hops_of(
        &self,
        related: &Related<'f>,
        (input, lane): (usize, u8),
        slot: u32,
    ) -> &'f [Hop] {
        let router = self.whole.network.router_of_input
            [input + self.whole.cut.first_input(self.schedule.part) as usize];
        let Address { destination, .. } = self.packets.packets[slot as usize].way.into();
        related.hops(router, (input, lane), self.whole.end(destination).router)
    }

    /// Gives a packet that is injected now what it needs to choose its way.
    pub(super) fn set_out_by_relation(
        &mut self,
        (destination, number): (u32, u32),
        packet: &mut Packet,
        origin: &mut Origin,
    ) {
        let choosers = self.choosers.as_ref().expect("packets choose their ways");
        let related = choosers.related().expect("by a relation");
        if related.routes.random_ties {
            packet.note = related.routes.drawn(packet.source, packet.sequence);
        }
        packet.way = Address { destination, class: 0, ejection: fitted!(number, u16) }.into();
        origin.hops = 0;
    }
}

impl<'f, S: Size> Visit<'_, 'f, S> {
    fn related(&self) -> &Related<'f> {
        let choosers = self.choosers.as_deref().expect("packets choose their ways");
        choosers.related().expect("by a relation")
    }

    /// Counts a hop of a packet whose number of hops nobody knew when it was injected.
    #[inline]
    pub(super) fn count_hop(&mut self, slot: u32) {
        if self.by_relation() {
            self.packets.origins[slot as usize].hops += 1;
        }
    }

    /// Where the head of a buffer is bound for.
    fn address(&self, pair: u32) -> Address {
        let queue = &self.queues[pair as usize];
        self.packets.packets[queue.head as usize].way.into()
    }

    /// The hops that the head of a buffer may take.
    fn hops(&self, pair: u32) -> &'f [Hop] {
        let (input, lane) = self.place(pair);
        let destination = self.whole.end(self.address(pair).destination).router;
        let input = self.router.first_input as usize + input;
        self.related().hops(self.name, (input, lane), destination)
    }

    /// A packet has become the head of a buffer: it asks for its next outputs, now or later.
    pub(super) fn head_by_relation(&mut self, pair: u32) {
        let Address { destination, ejection, .. } = self.address(pair);
        let end = self.whole.end(destination);
        if end.router == self.name {
            let (_, lane) = self.place(pair);
            return self.ask(pair, end.ejection + ejection, lane);
        }
        let hops = self.hops(pair);
        let queue = &mut self.queues[pair as usize];
        queue.need = queue.flits;
        queue.options = BY_RELATION;
        let ask = queue.ask;
        for hop in hops {
            let output = usize::from(hop.port);
            self.add_asker(output, pair, ask);
            if hop.escape {
                let word = self.word(output, pair);
                self.escapes[word] |= 1 << (pair % 64);
            }
        }
    }

    /// Takes back all requests of the head of a buffer that chooses, which goes by `granted`.
    pub(super) fn withdraw_hops(&mut self, granted: usize, pair: u32, now: Tick) {
        for hop in self.hops(pair) {
            let output = usize::from(hop.port);
            let word = self.word(output, pair);
            self.escapes[word] &= !(1 << (pair % 64));
            if output != granted {
                self.stop_asking(output, pair, now);
            }
        }
        self.queues[pair as usize].options = 0;
    }

    /// Serves the outputs that are due, in three walks, in cyclic order from behind the latest grant before this
    /// instant.
    pub(super) fn allocate_by_relation(&mut self, now: Tick) {
        let start = usize::from(self.router.next_output);
        self.look_at_due::<true, false>(Walk::Preferred, now);
        let mut passed_over = std::mem::take(self.passed_over());
        for &output in &passed_over {
            self.look::<true, false>(output, Walk::Any, now);
        }
        passed_over.clear();
        *self.passed_over() = passed_over;
        if !self.related().routes.relation.has_escape() {
            return;
        }
        let outputs = usize::from(self.router.outputs);
        // A packet that escapes takes room, for want of which others may then escape.
        let mut granted = true;
        while std::mem::take(&mut granted) {
            for output in (0..outputs).map(|step| (start + step) % outputs) {
                let asking = self.words(output);
                let any = self.escapes[asking].iter().any(|&word| word != 0);
                if any && self.output(output).free_at <= now {
                    granted |= self.look_for_escapes::<true>(output, now);
                }
            }
        }
    }

    /// Grants a free output to the head of a buffer if it can have a hop there; false if it can't, or likes another
    /// one better.
    pub(super) fn look_at_hops(
        &mut self,
        output: usize,
        pair: u32,
        (walk, blocked): (Walk, &mut Blocked),
        now: Tick,
    ) -> bool {
        let Queue { need, flits, .. } = self.queues[pair as usize];
        let here = |hop: &&Hop| !hop.escape && usize::from(hop.port) == output;
        let mut open = false;
        for hop in self.hops(pair).iter().filter(here) {
            match self.obstacle(output, pair, (hop.lane, need, flits), now) {
                None => open = true,
                Some(obstacle) => blocked.add(&obstacle),
            }
        }
        if !open {
            return false;
        }
        let best = match walk {
            Walk::Preferred => self.best(pair, |_| true, now),
            Walk::Any => self.best(pair, |hop| usize::from(hop.port) == output, now),
        };
        match best {
            Some(hop) if usize::from(hop.port) == output => {
                self.withdraw_hops(output, pair, now);
                self.grant(output, pair, hop.lane, now);
                true
            }
            _ => {
                blocked.passed_over = true;
                false
            }
        }
    }

    /// The hop that the head of a buffer likes best among those that are no escapes, lead through a free output and have
    /// room: the one with the most.
    fn best(&mut self, pair: u32, allows: impl Fn(&Hop) -> bool, now: Tick) -> Option<Hop> {
        let Queue { head, need, .. } = self.queues[pair as usize];
        let hops = self.hops(pair);
        let drawn = self.packets.packets[head as usize].note;
        let first = self.related().first(self.name, drawn, hops.len());
        let (mut best, mut most) = (None, 0);
        for hop in from_place(hops, first).filter(|hop| !hop.escape && allows(hop)) {
            if self.output(usize::from(hop.port)).free_at > now {
                continue;
            }
            let room = self.room_behind(hop, now);
            if room >= need && (best.is_none() || room > most) {
                (best, most) = (Some(*hop), room);
            }
        }
        best
    }

    /// Flits free behind a hop.
    fn room_behind(&mut self, hop: &Hop, now: Tick) -> u16 {
        let &mut Output { room, .. } = self.output(usize::from(hop.port));
        let place = room + u32::from(hop.lane);
        self.credits.collect(place, now);
        self.credits.room[place as usize]
    }

    /// The lane in which the head of a buffer can escape by a free output; until when, as far as it is known, there is
    /// none.
    pub(super) fn escape_by_relation(
        &mut self,
        output: usize,
        pair: u32,
        now: Tick,
    ) -> Result<u8, Tick> {
        let Queue { ask, need, flits, head, .. } = self.queues[pair as usize];
        if ask > now {
            return Err(ask);
        }
        let hops = self.hops(pair);
        for hop in hops.iter().filter(|hop| !hop.escape) {
            if self.room_behind(hop, now) >= need {
                // It is served there, or what it waits for there has the router look again.
                return Err(NEVER);
            }
        }
        let drawn = self.packets.packets[head as usize].note;
        let first = self.related().first(self.name, drawn, hops.len());
        let (mut best, mut most, mut until) = (None, 0, NEVER);
        for hop in from_place(hops, first) {
            if !hop.escape || usize::from(hop.port) != output {
                continue;
            }
            match self.obstacle(output, pair, (hop.lane, need, flits), now) {
                Some(obstacle) => until = until.min(obstacle.until),
                None => {
                    let room = self.room_behind(hop, now);
                    if best.is_none() || room > most {
                        (best, most) = (Some(hop.lane), room);
                    }
                }
            }
        }
        best.ok_or(until)
    }
}
