//! Which virtual channels of which outputs a packet asks for.

use flitlab_base::units::Picoseconds;
use flitlab_routing::{RelationRoutes, Routes, relation::Ring};

use crate::shared::{
    channel::{ChannelKind, OutputName},
    choosing,
    packet::largest,
};

use super::{Simulator, queue::Queue};

/// A virtual channel of a router's output: the output's place among the router's, and the number.
pub type OutputVc = (usize, usize);

/// Where a packet is: an input port of a router, and the virtual channel in which it came.
#[derive(Clone, Copy)]
pub struct Place {
    pub router: usize,
    pub port: usize,
    pub virtual_channel: usize,
}

/// The outputs of a packet that chooses: those that bring it nearer, and the one on which it can
/// escape.
struct Choice {
    nearer: Vec<OutputVc>,
    escape: OutputVc,
}

/// A hop that a relation allows.
pub struct Related {
    pub output_vc: OutputVc,
    /// Whether it is taken only where no other is open.
    pub last: bool,
    /// Whether it enters a ring.
    pub enters: bool,
}

impl Simulator<'_> {
    /// The packet at a queue's head, if it asks for a virtual channel.
    pub fn asking(&self, queue: &Queue, now: Picoseconds) -> Option<usize> {
        self.waiting(queue, now).filter(|_| queue.packet_asks_again <= now)
    }

    /// The packet at a queue's head, if it asks for a virtual channel, or would if it had not lost
    /// an allocation.
    pub fn waiting(&self, queue: &Queue, now: Picoseconds) -> Option<usize> {
        if queue.way.is_some() {
            return None;
        }
        let &(_, header) = queue.flits.front()?;
        assert_eq!(header.index, 0, "behind a packet's last flit there is a header");
        if self.packets[header.packet].operation.is_some() {
            return self.asks_on_tree(queue, header.packet, now).then_some(header.packet);
        }
        let came = self.came_to_head(queue, header.packet)?;
        let routed_from =
            if self.sharing().routing_at_head { came.max(queue.free_from) } else { came };
        let routed = routed_from + self.parameters.routing_latency;
        let asks = routed.max(queue.free_from);
        (asks <= now).then_some(header.packet)
    }

    /// When the flit came of the packet at the head of a queue with which it may be routed.
    pub fn came_to_head(&self, queue: &Queue, packet: usize) -> Option<Picoseconds> {
        self.came(packet, queue.flits.iter().map(|&(came, it)| (came, it.packet, it.index)))
    }

    /// Lets packets decide how they go on that ask.
    pub fn decide(&mut self, router: usize, now: Picoseconds) {
        let queues = self.routers[router].inputs.iter().flat_map(|input| &input.queues);
        let asking: Vec<usize> = queues.filter_map(|queue| self.asking(queue, now)).collect();
        self.decide_all(router, &asking, now);
    }

    /// The open virtual channels for which a packet asks; whether it chooses among them.
    pub fn open_to(&self, place: Place, packet: usize, now: Picoseconds) -> (Vec<OutputVc>, bool) {
        if self.packets[packet].operation.is_some() {
            let way = self.way_on_tree(place, packet);
            let is_open = self.has_room_for(place.router, packet, way, 0, now);
            return (is_open.then_some(way).into_iter().collect(), false);
        }
        let is_open = |&output_vc: &OutputVc| self.is_open(place, packet, output_vc, now);
        if let Routes::Relation(routes) = self.routes {
            let hops = self.hops(routes, place, packet);
            for last in [false, true] {
                let those = hops.iter().filter(|hop| hop.last == last).map(|hop| hop.output_vc);
                let open: Vec<OutputVc> = those.filter(is_open).collect();
                if !open.is_empty() {
                    return (open, true);
                }
            }
            if !hops.is_empty() {
                return (Vec::new(), true);
            }
        }
        if let Some(choice) = self.choice(place, packet) {
            let open: Vec<OutputVc> = choice.nearer.into_iter().filter(is_open).collect();
            if !open.is_empty() {
                return (open, true);
            }
            return ([choice.escape].into_iter().filter(is_open).collect(), false);
        }
        let (output, _) = self.next_output(place.router, packet);
        let allowed = self.allowed_channels(place, packet, output).into_iter();
        (allowed.map(|number| (output, number)).filter(is_open).collect(), false)
    }

    /// Whether a packet has a choice of its next output, open or not.
    pub fn may_choose(&self, place: Place, packet: usize) -> bool {
        match self.routes {
            Routes::Relation(routes) => !self.hops(routes, place, packet).is_empty(),
            // A packet that stays on the way of the escape table has no choice left.
            _ => self.choice(place, packet).is_some_and(|choice| !choice.nearer.is_empty()),
        }
    }

    /// All virtual channels for which a packet asks, open or not.
    pub fn asked_for(&self, place: Place, packet: usize) -> Vec<OutputVc> {
        if self.packets[packet].operation.is_some() {
            return vec![self.way_on_tree(place, packet)];
        }
        if let Routes::Relation(routes) = self.routes {
            let hops = self.hops(routes, place, packet);
            if !hops.is_empty() {
                return hops.into_iter().map(|hop| hop.output_vc).collect();
            }
        }
        if let Some(choice) = self.choice(place, packet) {
            return choice.nearer.into_iter().chain([choice.escape]).collect();
        }
        let (output, _) = self.next_output(place.router, packet);
        let allowed = self.allowed_channels(place, packet, output).into_iter();
        allowed.map(|number| (output, number)).collect()
    }

    /// The hops that a relation allows a packet, in the order in which it likes them; none at its
    /// destination.
    pub fn hops(&self, routes: &RelationRoutes, place: Place, packet: usize) -> Vec<Related> {
        let Place { router, virtual_channel, .. } = place;
        let packet = &self.packets[packet];
        let place = (router as u32, virtual_channel);
        let has_failed = |port| self.has_failed(router, port);
        let routes = (routes, self.terminals.phased.as_ref());
        let hops = choosing::hops(routes, self.fabric, packet, place, has_failed);
        let hops = hops.into_iter().map(|hop| Related {
            output_vc: self.output_vc(router, (hop.port, hop.vc.into())),
            last: hop.escape || hop.detour,
            enters: hop.ring == Ring::Enters,
        });
        hops.collect()
    }

    /// A virtual channel of the output to a port.
    fn output_vc(&self, router: usize, (port, virtual_channel): (u16, usize)) -> OutputVc {
        let output = self.routers[router].output_named(OutputName::Port(port));
        (output.expect("it is live"), virtual_channel)
    }

    /// The virtual channels that a packet which does not choose its output may take there.
    fn allowed_channels(&self, place: Place, packet: usize, output: usize) -> Vec<usize> {
        let (out, ring) = self.channel_and_ring(place.router, output);
        let channel = self.packets[packet].channel;
        if self.channels[out].ends_in_sink() {
            return self.channels_of_all();
        }
        match self.routes {
            Routes::Forwarding(_) | Routes::Relation(_) | Routes::Paths(_) => {
                let (_, vc) = self.next_output(place.router, packet);
                vec![vc.expect("the table or the path has one")]
            }
            Routes::Adaptive(_) => {
                let adaptive = self.terminals.adaptive.as_ref().expect("the routing is adaptive");
                let of = &self.packets[packet];
                let lowest = of.lowest_channel(Some(adaptive));
                let end = self.fabric.terminal_router(of.destination).expect("it is live");
                let port = self.routers[place.router].outputs[output].name.port();
                let port = port.expect("it goes on");
                vec![adaptive.of_pair(lowest, place.router as u32, end, port)]
            }
            Routes::DirectionOrder(_) | Routes::Table(_) => {
                let goes_on = ring.is_some() && ring == self.ring_of_port(place);
                if self.has_bubble() && goes_on {
                    return vec![place.virtual_channel];
                }
                let all = self.channels_of_kind(channel);
                match self.class(packet, place.router, output) {
                    Some(0) => all[..all.len() / 2].to_vec(),
                    Some(_) => all[all.len() / 2..].to_vec(),
                    None => all,
                }
            }
        }
    }

    /// A packet's class at an output, if that is in a ring with a dateline.
    fn class(&self, packet: usize, router: usize, output: usize) -> Option<u32> {
        let Routes::DirectionOrder(order) = self.routes else { return None };
        let (_, ring) = self.channel_and_ring(router, output);
        let port = self.routers[router].outputs[output].name.port()?;
        let in_ring = order.rules().dateline && ring.is_some();
        in_ring.then(|| u32::from(self.packets[packet].passes_dateline(self.fabric, port)))
    }

    /// Whether nobody holds a virtual channel and its credits suffice for a packet.
    fn is_open(&self, place: Place, packet: usize, output_vc: OutputVc, now: Picoseconds) -> bool {
        let others = match self.routes {
            Routes::Relation(routes) => {
                let hops = self.hops(routes, place, packet);
                let enters = hops.iter().any(|hop| hop.output_vc == output_vc && hop.enters);
                let injected = if self.is_new(place) { routes.injection_bubble } else { 0 };
                u32::from(injected).max(u32::from(enters))
            }
            _ => self.bubble(place, packet, output_vc),
        };
        self.has_room_for(place.router, packet, output_vc, others, now)
    }

    /// Whether nobody holds a virtual channel and its credits suffice for a packet and some of the
    /// largest.
    pub fn has_room_for(
        &self,
        router: usize,
        packet: usize,
        (output, number): OutputVc,
        others: u32,
        now: Picoseconds,
    ) -> bool {
        let output = &self.routers[router].outputs[output];
        let held = &output.virtual_channels[number];
        let is_free = held.held_by.is_none() && held.free_from <= now;
        let channel = &self.channels[output.channel];
        let room = if self.sharing().atomic {
            self.parameters.buffer
        } else if self.wormhole() {
            0
        } else {
            self.packets[packet].flits + others * largest(self.parameters)
        };
        is_free && (!channel.needs_room() || room <= channel.credits[number])
    }

    /// For how many more of the largest packets a packet needs room: one where it enters a ring,
    /// and on the adaptive virtual channel the routing's injection bubble if the packet is new.
    fn bubble(&self, place: Place, packet: usize, output_vc: OutputVc) -> u32 {
        let (output, number) = output_vc;
        if let Some(adaptive) = &self.terminals.adaptive
            && self.packets[packet].adaptive
            && number == usize::from(adaptive.rules.channels.adaptive)
        {
            let injected = adaptive.rules.injection_bubble;
            return if self.is_new(place) { injected.into() } else { 0 };
        }
        let (_, ring) = self.channel_and_ring(place.router, output);
        let goes_on = ring == self.ring_of_port(place) && number == place.virtual_channel;
        (self.has_bubble() && ring.is_some() && !goes_on).into()
    }

    /// Whether what is at a place has come from a terminal.
    fn is_new(&self, place: Place) -> bool {
        let input = self.routers[place.router].inputs[place.port].channel;
        self.channels[input].kind == ChannelKind::Injection
    }

    fn has_bubble(&self) -> bool {
        let table = self.terminals.adaptive.as_ref().is_some_and(|it| it.has_table());
        self.parameters.bubble && !self.wormhole() && !table
    }

    fn channel_and_ring(&self, router: usize, output: usize) -> (usize, Option<u32>) {
        let channel = self.routers[router].outputs[output].channel;
        (channel, self.channels[channel].ring)
    }

    fn ring_of_port(&self, place: Place) -> Option<u32> {
        self.channels[self.routers[place.router].inputs[place.port].channel].ring
    }

    /// The outputs among which a packet chooses; none if it doesn't, or is at its destination.
    fn choice(&self, at: Place, packet: usize) -> Option<Choice> {
        let router = at.router;
        let place = (router as u32, at.virtual_channel);
        let has_failed = |port| self.has_failed(router, port);
        let packet = &self.packets[packet];
        let adaptive = self.terminals.adaptive.as_ref();
        let choice = choosing::choice(adaptive, self.fabric, packet, place, has_failed)?;
        let nearer = choice.nearer.into_iter().map(|way| self.output_vc(router, way)).collect();
        Some(Choice { nearer, escape: self.output_vc(router, choice.escape) })
    }

    /// Which of several offers a packet that chooses likes best.
    pub fn preferred(&self, place: Place, packet: usize, offers: &[OutputVc]) -> OutputVc {
        if let Routes::Relation(routes) = self.routes {
            let hops = self.hops(routes, place, packet).into_iter().map(|hop| hop.output_vc);
            let offered = hops.filter(|hop| offers.contains(hop));
            let seen = |&output_vc: &OutputVc| self.seen_of(place.router, output_vc);
            let best = choosing::most_preferred(self.routes, offered, seen);
            return best.expect("an offer is one of its hops");
        }
        let input = self.routers[place.router].inputs[place.port].channel;
        self.liked((place.router, input), packet, offers).expect("there are offers")
    }

    /// What a packet sees of a hop: what waits for its output, there or here, and when packets took
    /// it.
    fn seen_of(&self, router: usize, (output, number): OutputVc) -> choosing::Seen {
        let of = &self.routers[router].outputs[output];
        let channel = &self.channels[of.channel];
        let queues = || self.routers[router].inputs.iter().flat_map(|input| &input.queues);
        let here = |vc: usize| {
            let ways = queues().filter_map(|queue| queue.way);
            let own = ways.filter(|way| (way.output, way.virtual_channel) == (output, vc));
            own.map(|way| self.packets[way.packet].flits - way.sent).sum::<u32>()
        };
        let there = channel.credits.iter().map(|credits| channel.capacity - credits);
        choosing::Seen {
            waits: there.enumerate().map(|(vc, there)| there + here(vc)).collect(),
            taken: of.virtual_channels.iter().map(|vc| vc.taken).collect(),
            virtual_channel: number,
            credits: channel.credits[number],
        }
    }

    /// The output that a packet which does not choose needs at the router where its header is, and
    /// its virtual channel if a forwarding table gives it one.
    pub fn next_output(&self, router: usize, packet: usize) -> (usize, Option<usize>) {
        let packet = &self.packets[packet];
        let adaptive = self.terminals.adaptive.as_ref();
        let (name, vc) =
            packet.next_output(self.fabric, self.routes, adaptive, self.parameters, router as u32);
        let output = self.routers[router].output_named(name);
        (output.expect("routes lead through live outputs"), vc)
    }

    /// Notes that a packet's header is about to leave on a network channel.
    pub fn goes_on(&mut self, router: usize, packet: usize, (output, number): OutputVc) {
        if self.packets[packet].operation.is_some() {
            return self.goes_on_tree(router, packet, (output, number));
        }
        if let Some(port) = self.routers[router].outputs[output].name.port() {
            self.packets[packet].go_on(self.fabric, router as u32, port, number);
            if let Some(phased) = &self.terminals.phased {
                phased.take(&mut self.packets[packet], router as u32, (port, number));
            }
        }
    }
}
