//! Heads of buffers: which of them may request, by which ways they may go on, and how they decide.

use flitlab_base::units::Picoseconds;
use flitlab_routing::{Routes, relation::Hop};

use crate::shared::{channel::OutputName, choosing, network::Place};

use super::Simulator;

/// A hop of a packet: a virtual channel of an output, whose place is that among the router's.
#[derive(Clone, Copy)]
pub struct Way {
    pub output: usize,
    pub virtual_channel: usize,
    /// Whether it counts only if no other has room.
    pub is_fallback: bool,
}

impl Simulator<'_> {
    /// The packet at a buffer's head, if it may request, but for one request that was not granted.
    pub fn asking(&self, place: Place, now: Picoseconds) -> Option<usize> {
        let (packet, ready) = self.ready(place)?;
        (ready <= now).then_some(packet)
    }

    /// The packet at the head of a buffer that does not cross yet, and the time from which it may.
    pub fn ready(&self, place: Place) -> Option<(usize, Picoseconds)> {
        let buffer = &self.channels[place.channel].buffers[place.virtual_channel];
        if buffer.crossing.is_some() {
            return None;
        }
        let &(_, header) = buffer.flits.front()?;
        assert_eq!(header.index, 0, "a buffer's head is a header until it crosses");
        let flits = buffer.flits.iter().map(|&(came, flit)| (came, flit.packet, flit.index));
        let came = self.came(header.packet, flits)?;
        Some((header.packet, came + self.parameters.routing_latency))
    }

    /// The buffers at a router's inputs, by input virtual channel.
    pub fn places(&self, router: usize) -> impl Iterator<Item = Place> + use<> {
        let virtual_channels = self.virtual_channels();
        let inputs = self.routers[router].inputs.clone().into_iter();
        inputs.flat_map(move |channel| {
            (0..virtual_channels).map(move |virtual_channel| Place { channel, virtual_channel })
        })
    }

    /// The hops of a packet that has come to a place, in the order in which it likes them where all
    /// else is equal.
    pub fn ways(&self, router: usize, place: Place, number: usize) -> Vec<Way> {
        let packet = &self.packets[number];
        let named = |name| self.routers[router].output_named(name).expect("it is live");
        let came_in = place.virtual_channel;
        if let Routes::Relation(routes) = self.routes {
            let routes = (routes, self.terminals.phased.as_ref());
            let at = (router as u32, came_in);
            let hops = choosing::hops(routes, self.fabric, packet, at, |_| false);
            if !hops.is_empty() {
                let way = |hop: Hop| Way {
                    output: named(OutputName::Port(hop.port)),
                    virtual_channel: hop.vc.into(),
                    is_fallback: hop.escape || hop.detour,
                };
                return hops.into_iter().map(way).collect();
            }
        }
        let (name, vc) =
            packet.next_output(self.fabric, self.routes, None, self.parameters, router as u32);
        let output = named(name);
        let virtual_channels = match name {
            OutputName::Ejection { .. } => match self.routes {
                Routes::Relation(_) => 0..self.virtual_channels(),
                _ => came_in..came_in + 1,
            },
            OutputName::Port(port) => {
                let channel = &self.channels[self.routers[router].outputs[output].channel];
                let by_dateline =
                    packet.dateline_vc(self.fabric, self.routes, port, channel.is_in_ring);
                let vc = vc.or(by_dateline).unwrap_or(came_in);
                vc..vc + 1
            }
        };
        let way = |virtual_channel| Way { output, virtual_channel, is_fallback: false };
        virtual_channels.map(way).collect()
    }

    /// Lets heads decide how they go on that ask for the first time, and all if they decide again.
    pub fn decide(&mut self, router: usize, now: Picoseconds) {
        let asking = |place| Some((place, self.asking(place, now)?));
        let asking: Vec<(Place, usize)> = self.places(router).filter_map(asking).collect();
        let decides = |it: &&(Place, usize)| {
            self.settles() && (self.packets[it.1].before.is_none() || self.is_time_again(now))
        };
        let settling: Vec<_> = asking.iter().filter(decides).copied().collect();
        let asking: Vec<usize> = asking.into_iter().map(|(_, packet)| packet).collect();
        self.decide_all(router, &asking, now);
        for (place, packet) in settling {
            let ways = self.ways(router, place, packet);
            let outputs = &self.routers[router].outputs;
            let room = |way: &Way| outputs[way.output].buffers[way.virtual_channel].room;
            let packet = &mut self.packets[packet];
            packet.settled |= ways.iter().any(|way| packet.flits <= room(way));
        }
    }

    /// Whether a packet decides no more once one of its hops has room.
    fn settles(&self) -> bool {
        matches!(self.routes, Routes::Relation(routes) if routes.settles)
    }

    /// The rooms of all buffers at outputs.
    fn all_rooms(&self) -> Vec<u32> {
        let outputs = self.routers.iter().flat_map(|router| &router.outputs);
        outputs.flat_map(|it| &it.buffers).map(|buffer| buffer.room).collect()
    }

    /// All queues, of the flits that begin to cross before an instant.
    fn all_queues(&self, before: Picoseconds) -> Vec<u32> {
        let outputs = self.routers.iter().flat_map(|router| &router.outputs);
        outputs.flat_map(|it| &it.buffers).map(|buffer| buffer.queue(before)).collect()
    }

    /// Notes by what queues packets decide again and by what rooms they settle, if it is time.
    pub fn look_at_queues(&mut self, now: Picoseconds) {
        if self.is_time_again(now) {
            self.own.decided_by = (self.all_queues(now), self.all_rooms());
        }
    }

    /// Makes the next time due at which packets decide again, unless they would decide as they have:
    /// by queues that are as they were then, and stay so, and with as much room.
    pub fn look_again(&mut self, now: Picoseconds) {
        let Some(again) = self.again() else { return };
        let (queues, rooms) = &self.own.decided_by;
        let are_other = |before| self.all_queues(before) != *queues;
        let settle = || self.settles() && self.all_rooms() != *rooms;
        if are_other(now) || are_other(Picoseconds::NEVER) || settle() {
            self.due.insert(again * (now.0 / again.0 + 1));
        }
    }
}
