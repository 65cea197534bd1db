//! Routers: which packet is granted which output.

use std::collections::{BTreeMap, VecDeque};

use flitlab::{
    adaptive::drawn_at,
    engine::{Arbitration, Switching},
    routing::{
        Adaptive, AdaptiveRules, RelationRoutes, Routes,
        relation::{Hop, Ring},
    },
    units::Picoseconds,
};

use super::{
    Place, Simulator,
    adapter::Packet,
    choosing::{self, Head},
    network::{ChannelKind, Flit, Sending},
    ways::splitmix,
};

/// What an output of a router leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OutputName {
    Port(u16),
    Ejection { terminal: u32, number: u32 },
}

/// An output of a router.
pub struct Output {
    pub name: OutputName,
    pub channel: usize,
    /// The pair of input port and virtual channel that is looked at first, as
    /// `port * virtual channels + virtual channel`.
    pub pointer: usize,
}

/// A router's ports, in the model's order.
#[derive(Default)]
pub struct Router {
    /// The channels that arrive.
    pub inputs: Vec<usize>,
    pub outputs: Vec<Output>,
    /// The output that is looked at first.
    pub pointer: usize,
}

impl Router {
    pub fn add_network_output(&mut self, port: u16, channel: usize) {
        self.outputs.push(Output { name: OutputName::Port(port), channel, pointer: 0 });
    }

    pub fn add_ejection_output(&mut self, terminal: u32, number: u32, channel: usize) {
        let name = OutputName::Ejection { terminal, number };
        self.outputs.push(Output { name, channel, pointer: 0 });
    }
}

/// Whom a walk of a router's outputs serves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Packets that like no other output better.
    Preferred,
    /// Packets that can have it.
    Any,
    /// Packets that have found room nowhere.
    Escape,
}

/// A packet at the head of a buffer that asks for outputs.
#[derive(Clone)]
struct Request {
    packet: usize,
    /// Its outputs' places among the router's, each with the virtual channel at the far end.
    outputs: Vec<(usize, usize)>,
    /// Those for which it asks if none of the others has room.
    escapes: Vec<(usize, usize)>,
    /// Those of all of them that enter a ring, by a relation.
    entering: Vec<(usize, usize)>,
    /// Whether it chooses by a relation.
    by_relation: bool,
}

impl Request {
    /// Of a packet that has no choice.
    fn plain(packet: usize, outputs: Vec<(usize, usize)>) -> Self {
        let (escapes, entering) = (Vec::new(), Vec::new());
        Self { packet, outputs, escapes, entering, by_relation: false }
    }
}

impl Simulator<'_> {
    /// Walks a router's free outputs once and gives each to a packet that asks for it and fits.
    pub fn grant_outputs(&mut self, router: usize, now: Picoseconds) {
        self.decide(router, now);
        let mut requests = self.requests(router, now);
        if requests.is_empty() {
            return;
        }
        let outputs = self.routers[router].outputs.len();
        let start = self.routers[router].pointer;
        let mut turns = VecDeque::from([Turn::Preferred, Turn::Any, Turn::Escape]);
        while let Some(turn) = turns.pop_front() {
            for output in (0..outputs).map(|step| (start + step) % outputs) {
                let channel = self.routers[router].outputs[output].channel;
                if !self.channels[channel].can_be_granted() {
                    continue;
                }
                let chosen = self.choose(router, output, &requests, (turn, now));
                let Some((pair, onto)) = chosen else { continue };
                let request = requests.remove(&pair).expect("it was chosen");
                self.packets[request.packet].reserves += u32::from(turn == Turn::Escape);
                self.grant(router, pair, request.packet, (output, onto), now);
                if turn == Turn::Escape && turns.is_empty() {
                    turns.push_back(turn);
                }
            }
        }
    }

    /// Decides how new packets go on.
    fn decide(&mut self, router: usize, now: Picoseconds) {
        let Routes::Adaptive(adaptive) = self.routes else { return };
        for input in self.routers[router].inputs.clone() {
            for virtual_channel in 0..self.virtual_channels() {
                let place = Place { channel: input, virtual_channel };
                let Some(packet) = self.asking(place, now) else { continue };
                let (Some(course), false) =
                    (self.packets[packet].course, self.packets[packet].decided)
                else {
                    continue;
                };
                let capacity = self.parameters.buffer;
                let onto = usize::from(adaptive.rules().channels.adaptive);
                let ports = self.fabric.outputs(router as u32).len() as u16;
                let used: Vec<u32> = (0..ports)
                    .map(|port| {
                        let name = OutputName::Port(port);
                        let mut outputs = self.routers[router].outputs.iter();
                        let output = outputs.find(|output| output.name == name);
                        output.map_or(u32::MAX, |output| {
                            capacity - self.channels[output.channel].credits[onto]
                        })
                    })
                    .collect();
                let full = capacity - self.packets[packet].flits + 1;
                let course = adaptive.decide(router as u32, course, &used, full);
                self.packets[packet].course = Some(course);
                self.packets[packet].decided = true;
            }
        }
    }

    /// The requests of the packets at the heads of buffers, by pair of input port and virtual channel.
    fn requests(&self, router: usize, now: Picoseconds) -> BTreeMap<usize, Request> {
        let inputs = self.routers[router].inputs.iter();
        let places = inputs.flat_map(|&channel| {
            (0..self.virtual_channels())
                .map(move |virtual_channel| Place { channel, virtual_channel })
        });
        let requests = places.enumerate().filter_map(|(pair, place)| {
            let packet = self.asking(place, now)?;
            Some((pair, self.request(router, place, packet)))
        });
        requests.collect()
    }

    /// What a packet asks for at a router where it is the head of a buffer.
    fn request(&self, router: usize, place: Place, packet: usize) -> Request {
        if let Routes::Adaptive(adaptive) = self.routes
            && self.packets[packet].adaptive
            && let Some(request) = self.any_output(adaptive, router, place, packet)
        {
            return request;
        }
        if let Routes::Relation(routes) = self.routes
            && let Some(request) = self.hops(routes, router, place, packet)
        {
            return request;
        }
        let (output, lane) = self.next_output(router, packet);
        let outputs = vec![(output, lane.unwrap_or(place.virtual_channel))];
        Request::plain(packet, outputs)
    }

    /// The outputs that lead an adaptive packet on; none at its destination.
    fn any_output(
        &self,
        adaptive: &Adaptive,
        router: usize,
        at: Place,
        packet: usize,
    ) -> Option<Request> {
        let destination = self.fabric.terminal_router(self.packets[packet].destination)?;
        if router == destination as usize && self.packets[packet].course?.to == destination {
            return None;
        }
        let course = self.packets[packet].course?;
        let (to, mut heading, channels) = (course.to, course.heading, adaptive.rules().channels);
        let escape =
            if to == destination { channels.escape } else { channels.escape_to_intermediate };
        if to == destination && self.packets[packet].passed_intermediate {
            heading.bound = 0;
        }
        let ports = adaptive.ports(router as u32, to, heading);
        let place = |port: u16| {
            let mut outputs = self.routers[router].outputs.iter();
            outputs.position(|output| output.name == OutputName::Port(port)).expect("it is live")
        };
        let mut ports: Vec<u16> = (0..16).filter(|port| ports >> port & 1 == 1).collect();
        let (onto, escape) = (usize::from(channels.adaptive), usize::from(escape));
        let mut way_out = ports[0];
        if adaptive.has_table() {
            let outputs = &self.routers[router].outputs;
            ports.retain(|&port| outputs.iter().any(|it| it.name == OutputName::Port(port)));
            way_out = adaptive.onward(router as u32, to, heading, true).escape;
            if ports.is_empty() || at.virtual_channel == escape {
                let outputs = vec![(place(way_out), escape)];
                return Some(Request::plain(packet, outputs));
            }
        }
        Some(Request {
            packet,
            outputs: ports.iter().map(|&port| (place(port), onto)).collect(),
            escapes: vec![(place(way_out), escape)],
            entering: Vec::new(),
            by_relation: false,
        })
    }

    /// The hops that a relation allows a packet, in the order in which it likes them; none at its destination.
    fn hops(
        &self,
        routes: &RelationRoutes,
        router: usize,
        place: Place,
        number: usize,
    ) -> Option<Request> {
        let packet = &self.packets[number];
        let head = Head {
            router: router as u32,
            came: packet.came.map(|channel| (channel, place.virtual_channel)),
            source: packet.source,
            sequence: packet.sequence,
            destination: self.fabric.terminal_router(packet.destination)?,
            place: choosing::place(self.fabric, packet.destination),
            reserves: packet.reserves,
        };
        let hops = choosing::hops(routes, head);
        if hops.is_empty() {
            return None;
        }
        let output = |hop: &Hop| {
            let name = OutputName::Port(hop.port);
            let mut outputs = self.routers[router].outputs.iter();
            let place = outputs.position(|output| output.name == name).expect("it is live");
            (place, usize::from(hop.lane))
        };
        let of =
            |last| hops.iter().filter(move |hop| (hop.escape || hop.detour) == last).map(output);
        Some(Request {
            packet: number,
            outputs: of(false).collect(),
            escapes: of(true).collect(),
            entering: hops.iter().filter(|hop| hop.ring == Ring::Enters).map(output).collect(),
            by_relation: true,
        })
    }

    /// The packet at the buffer's head, if it may ask for its output.
    fn asking(&self, place: Place, now: Picoseconds) -> Option<usize> {
        let buffer = &self.channels[place.channel].buffers[place.virtual_channel];
        if buffer.is_sending {
            return None;
        }
        let &(_, header) = buffer.flits.front()?;
        assert_eq!(header.index, 0, "a buffer's head is a header until it is granted an output");
        let awaited = match self.parameters.switching {
            Switching::VirtualCutThrough | Switching::Wormhole => 0,
            Switching::StoreAndForward => self.packets[header.packet].flits - 1,
        };
        let is_awaited = |&&(_, flit): &&(Picoseconds, Flit)| {
            flit.packet == header.packet && flit.index == awaited
        };
        let &(came, _) = buffer.flits.iter().find(is_awaited)?;
        (came + self.parameters.routing_latency <= now).then_some(header.packet)
    }

    /// The output that the packet needs at the router where its header is, and its lane if a forwarding
    /// table or a dateline gives it one.
    fn next_output(&self, router: usize, packet: usize) -> (usize, Option<usize>) {
        let packet = &self.packets[packet];
        let looked_up =
            self.next_lane(router as u32, packet.source, packet.destination, packet.came);
        let (mut port, lane) = looked_up.unzip();
        let end = self.fabric.terminal_router(packet.destination);
        if let (Routes::Adaptive(adaptive), Some(end)) = (self.routes, end)
            && adaptive.has_table()
            && end as usize != router
        {
            let heading = flitlab::adaptive::Heading::default();
            port = Some(adaptive.onward(router as u32, end, heading, true).escape);
        }
        if !packet.adaptive && port.is_none() {
            port = packet.ports.get(packet.hops_granted).copied();
        }
        let name = match port {
            Some(port) => OutputName::Port(port),
            None => OutputName::Ejection {
                terminal: packet.destination,
                number: u32::from(packet.injection_channel) % self.parameters.ejection_channels,
            },
        };
        let mut outputs = self.routers[router].outputs.iter();
        let place = outputs.position(|output| output.name == name);
        let place = place.expect("routes lead through live outputs");
        let lane = lane.or_else(|| packet.lanes.get(packet.hops_granted).copied());
        let on_ring = self.channels[self.routers[router].outputs[place].channel].ring.is_some();
        (place, lane.or_else(|| self.dateline_lane(packet, port, on_ring)))
    }

    /// The virtual channel that a packet takes behind a port if rings have datelines.
    fn dateline_lane(&self, packet: &Packet, port: Option<u16>, on_ring: bool) -> Option<usize> {
        let Routes::DirectionOrder(order) = self.routes else { return None };
        let (true, Some(port)) = (order.rules().dateline, port) else { return None };
        let dimensions = self.fabric.torus().expect("a torus").dimensions();
        let dimension = (usize::from(port) % dimensions) as u32;
        let traffic = if packet.is_response { 1 } else { 0 };
        Some(2 * traffic + usize::from(on_ring && packet.datelines.contains(&dimension)))
    }

    /// The port and the lane in which a router sends packets on by its forwarding table; `None` at the
    /// destination's own router, and if the source decides.
    pub fn next_lane(
        &self,
        router: u32,
        source: u32,
        destination: u32,
        came: Option<u32>,
    ) -> Option<(u16, usize)> {
        let Routes::Forwarding(table) = self.routes else { return None };
        if self.fabric.terminal_router(destination) == Some(router) {
            return None;
        }
        let port = table.port(router, destination).expect("every pair is routed");
        let class = table.class(self.fabric, source, destination);
        let input = came.map(|channel| {
            let back = self.fabric.opposite(channel).expect("it is a cable's");
            (back - self.fabric.outputs(router).start) as u16
        });
        Some((port, usize::from(table.lane(router, destination, class, input, port))))
    }

    /// The pair of input port and virtual channel that a free output is to serve next, and the virtual
    /// channel at the far end.
    fn choose(
        &self,
        router: usize,
        output: usize,
        requests: &BTreeMap<usize, Request>,
        (turn, now): (Turn, Picoseconds),
    ) -> Option<(usize, usize)> {
        let start = self.routers[router].outputs[output].pointer;
        let serve = |may_be_served: fn(ChannelKind) -> bool, pair: usize, request: &Request| {
            let input = self.routers[router].inputs[pair / self.virtual_channels()];
            let entering = |wish: &(usize, usize)| {
                if request.entering.contains(wish) { self.parameters.maximum_packet() } else { 0 }
            };
            let room = |&(output, onto): &(usize, usize)| {
                let from =
                    Place { channel: input, virtual_channel: pair % self.virtual_channels() };
                self.has_room(
                    router,
                    from,
                    (request.packet, entering(&(output, onto))),
                    output,
                    onto,
                )
            };
            // Who only lacks room for others waits for it, and takes none of the last hops.
            let fits = |wish: &(usize, usize)| {
                let output = &self.channels[self.routers[router].outputs[wish.0].channel];
                let flits = self.packets[request.packet].flits + entering(wish);
                room(wish)
                    || request.by_relation
                        && (output.ends_in_sink() || flits <= output.credits[wish.1])
            };
            let wish = match turn {
                Turn::Preferred => self.preferred(router, input, request, room),
                Turn::Any => self.liked_at(router, output, &request.outputs, room),
                Turn::Escape if request.outputs.iter().any(fits) => None,
                Turn::Escape => self.liked_at(router, output, &request.escapes, room),
            };
            let wish = wish.filter(|wish| wish.0 == output)?;
            let fits =
                may_be_served(self.channels[input].kind) && self.can_send(input) && room(&wish);
            fits.then_some((pair, wish.1))
        };
        let walk = |may_be_served| {
            let in_turn = requests.range(start..).chain(requests.range(..start));
            in_turn.into_iter().find_map(|(&pair, request)| serve(may_be_served, pair, request))
        };
        match self.parameters.arbitration {
            Arbitration::RoundRobin | Arbitration::OldestFirst | Arbitration::Weighted => {
                walk(|_| true)
            }
            Arbitration::Random => {
                let number = self.number_of_output(router, output);
                let of_output = splitmix(splitmix(now) ^ (router as u64 * 65536 + number));
                let draw = |pair: usize| {
                    let (port, lane) =
                        (pair / self.virtual_channels(), pair % self.virtual_channels());
                    splitmix(of_output ^ (port as u64 * 256 + lane as u64))
                };
                let mut by_chance: Vec<_> = requests.iter().collect();
                by_chance.sort_by_key(|it| draw(*it.0));
                by_chance.into_iter().find_map(|(&pair, request)| serve(|_| true, pair, request))
            }
            Arbitration::TransitFirst => walk(|kind| kind == ChannelKind::Network)
                .or_else(|| walk(|kind| kind == ChannelKind::Injection)),
        }
    }

    /// A network channel's port; ejection channels have the numbers behind those of all ports, dead ones included.
    fn number_of_output(&self, router: usize, output: usize) -> u64 {
        let outputs = &self.routers[router].outputs;
        if let OutputName::Port(port) = outputs[output].name {
            return port.into();
        }
        let is_port = |it: &&Output| matches!(it.name, OutputName::Port(_));
        let ejection = output - outputs.iter().filter(is_port).count();
        (self.fabric.outputs(router as u32).len() + ejection) as u64
    }

    /// Of some ways on the one by an output that has room and that a packet likes best: with the most credits.
    fn liked_at(
        &self,
        router: usize,
        output: usize,
        ways: &[(usize, usize)],
        room: impl Fn(&(usize, usize)) -> bool,
    ) -> Option<(usize, usize)> {
        let there = ways.iter().filter(|way| way.0 == output && room(way));
        let there: Vec<_> = there.copied().collect();
        choosing::liked_best(&there, |way| self.credits(router, way))
    }

    /// What is known to be free behind a router's output, in a virtual channel.
    fn credits(&self, router: usize, &(output, onto): &(usize, usize)) -> u32 {
        self.channels[self.routers[router].outputs[output].channel].credits[onto]
    }

    /// The output that a packet likes best among those that are free and have room for it.
    fn preferred(
        &self,
        router: usize,
        input: usize,
        request: &Request,
        room: impl Fn(&(usize, usize)) -> bool,
    ) -> Option<(usize, usize)> {
        let outputs = &self.routers[router].outputs;
        let is_open = |wish: &&(usize, usize)| {
            self.channels[outputs[wish.0].channel].can_be_granted() && room(wish)
        };
        let open: Vec<(usize, usize)> = request.outputs.iter().filter(is_open).copied().collect();
        if request.by_relation {
            return choosing::liked_best(&open, |way| self.credits(router, way));
        }
        let (Routes::Adaptive(adaptive), false) = (self.routes, request.escapes.is_empty()) else {
            return open.first().copied();
        };
        let port = |wish: &(usize, usize)| match outputs[wish.0].name {
            OutputName::Port(port) => u32::from(port),
            OutputName::Ejection { .. } => unreachable!("a packet that chooses is under way"),
        };
        let set = open.iter().fold(0, |set, wish| set | 1 << port(wish));
        if set == 0 {
            return None;
        }
        let came = self.routers.iter().flat_map(|router| &router.outputs);
        let mut came =
            came.filter(|output| output.channel == input).map(|output| match output.name {
                OutputName::Port(port) => u32::from(port),
                OutputName::Ejection { .. } => u32::MAX,
            });
        let came = came.next().unwrap_or(u32::MAX);
        let drawn = self.packets[request.packet].course.map_or(0, |course| course.drawn);
        let best = adaptive.rules().selection.prefers(
            set,
            came,
            drawn_at(router as u32, drawn),
            |number| {
                let wish = open.iter().find(|wish| port(wish) == number).expect("it is open");
                self.channels[outputs[wish.0].channel].credits[wish.1]
            },
        );
        open.into_iter().find(|wish| port(wish) == best)
    }

    /// Whether the input port can send one packet more.
    fn can_send(&self, input: usize) -> bool {
        let buffers = self.channels[input].buffers.iter();
        let sending = buffers.filter(|buffer| buffer.is_sending).count();
        sending < self.parameters.crossbar_speedup as usize
    }

    /// Whether the credits cover what the packet needs to go from a buffer by an output onto a virtual
    /// channel, where it leaves so much room at the least.
    fn has_room(
        &self,
        router: usize,
        from: Place,
        (packet, leaving): (usize, u32),
        output: usize,
        onto: usize,
    ) -> bool {
        let output = &self.channels[self.routers[router].outputs[output].channel];
        let packet = &self.packets[packet];
        let same_ring = self.channels[from.channel].ring == output.ring;
        let goes_on = same_ring && (!packet.adaptive || from.virtual_channel == onto);
        let (rules, table) = match self.routes {
            Routes::Adaptive(adaptive) => (*adaptive.rules(), adaptive.has_table()),
            _ => (AdaptiveRules::default(), false),
        };
        let chooses = packet.adaptive && onto == usize::from(rules.channels.adaptive);
        let injected = self.channels[from.channel].kind == ChannelKind::Injection;
        let others = match self.routes {
            Routes::Relation(routes) if injected => routes.injection_bubble.into(),
            _ if chooses => u32::from(if injected { rules.injection_bubble } else { 0 }),
            _ => u32::from(self.parameters.bubble && !table && output.ring.is_some() && !goes_on),
        };
        let room = packet.flits + leaving.max(others * self.parameters.maximum_packet());
        output.ends_in_sink() || room <= output.credits[onto]
    }

    fn grant(
        &mut self,
        router: usize,
        pair: usize,
        number: usize,
        (output, onto): (usize, usize),
        now: Picoseconds,
    ) {
        let virtual_channels = self.virtual_channels();
        let virtual_channel = pair % virtual_channels;
        let at = router;
        let router = &mut self.routers[router];
        let from = Place { channel: router.inputs[pair / virtual_channels], virtual_channel };
        router.pointer = (output + 1) % router.outputs.len();
        let pairs = router.inputs.len() * virtual_channels;
        let output = &mut router.outputs[output];
        output.pointer = (pair + 1) % pairs;
        self.channels[from.channel].buffers[virtual_channel].is_sending = true;
        let channel = &mut self.channels[output.channel];
        let packet = &mut self.packets[number];
        if !channel.ends_in_sink() {
            channel.credits[onto] -= packet.flits;
            packet.hops_granted += 1;
            if let OutputName::Port(port) = output.name {
                packet.came = Some(self.fabric.outputs(at as u32).start + u32::from(port));
            }
            if let (Some(course), OutputName::Port(port)) = (&mut packet.course, output.name) {
                let slot = self.fabric.outputs(at as u32).start + u32::from(port);
                let next = self.fabric.target(slot).expect("it is live");
                if next == course.to
                    && Some(next) != self.fabric.terminal_router(packet.destination)
                {
                    course.to = self.fabric.terminal_router(packet.destination).expect("live");
                    packet.passed_intermediate = true;
                }
            }
            packet.virtual_channel = onto as u8;
        }
        let (mut on_link, mut void_from) = (0, 0);
        if let Some(link) = &mut channel.link {
            (on_link, void_from) = link.sender.keep(packet.clone(), onto);
            link.rooms.insert(on_link, (onto, packet.flits));
        }
        channel.sending = Some(Sending {
            packet: number,
            onto,
            from: Some(from),
            started: 0,
            began: now,
            latest_start: now,
            number: on_link,
            void_from,
        });
    }
}
