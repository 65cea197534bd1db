//! Routers: which packet is granted which output.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Arbitration, MAX_VIRTUAL_CHANNELS};
use flitlab_routing::{AdaptiveRules, Routes, relation::Hop, relation::Ring};

use crate::shared::{
    channel::{ChannelKind, OutputName},
    choosing,
    network::{HasOutlet, Outlet, Place},
    packet::{Packet, largest},
};

use super::{
    Simulator,
    network::{Sending, Source},
};

/// An output of a router.
pub struct Output {
    pub name: OutputName,
    pub channel: usize,
    /// The input virtual channel that is looked at first, as `port * virtual channels + virtual
    /// channel`.
    pub pointer: usize,
    /// When the adaptive virtual channel was granted last.
    pub granted: Picoseconds,
    /// When each virtual channel was granted last, by the choice of a packet.
    pub taken: Vec<Picoseconds>,
    /// For how long the packets had waited that were granted it.
    pub waited: Picoseconds,
}

impl Output {
    pub fn new(name: OutputName, channel: usize) -> Self {
        let (granted, waited) = (Picoseconds::ZERO, Picoseconds::ZERO);
        let taken = vec![Picoseconds::ZERO; MAX_VIRTUAL_CHANNELS.into()];
        Self { name, channel, pointer: 0, granted, taken, waited }
    }
}

impl HasOutlet for Output {
    fn outlet(&self) -> Outlet {
        let &Self { name, channel, granted, waited, .. } = self;
        Outlet { name, channel, granted, waited }
    }
}

/// The three times for which a router goes through its outputs ("Granting").
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// To packets that like no other output better.
    Preferred,
    /// To any packet that can have it.
    Any,
    /// To packets with room at none of their outputs, which escape.
    Escape,
}

/// A packet at the head of a buffer that asks for outputs.
#[derive(Clone)]
pub struct Request {
    packet: usize,
    /// Its outputs' places among the router's, each with the virtual channel at the far end.
    pub outputs: Vec<(usize, usize)>,
    /// Those for which it asks if none of the others has room.
    escapes: Vec<(usize, usize)>,
    /// Those of all of them that enter a ring, by a relation.
    entering: Vec<(usize, usize)>,
    /// Whether it chooses by a relation.
    by_relation: bool,
    /// Whether it goes along a tree, by all outputs.
    on_tree: bool,
}

impl Request {
    /// Of a packet that goes along a tree.
    pub fn on_tree(packet: usize, outputs: Vec<(usize, usize)>) -> Self {
        Self { on_tree: true, ..Self::plain(packet, outputs) }
    }

    /// Of a packet that has no choice.
    fn plain(packet: usize, outputs: Vec<(usize, usize)>) -> Self {
        let (escapes, entering) = (Vec::new(), Vec::new());
        Self { packet, outputs, escapes, entering, by_relation: false, on_tree: false }
    }
}

impl Simulator<'_> {
    /// Walks a router's free outputs once and gives each to a packet that asks for it and fits.
    pub fn grant_outputs(&mut self, router: usize, now: Picoseconds) {
        self.decide(router, now);
        let mut requests = self.requests(router, now);
        requests.extend(self.requests_on_trees(router, now));
        requests.sort_by_key(|request| request.0);
        if requests.is_empty() {
            return;
        }
        let outputs = self.routers[router].outputs.len();
        let start = self.own.pointers[router];
        let mut turns = VecDeque::from([Turn::Preferred, Turn::Any, Turn::Escape]);
        while let Some(turn) = turns.pop_front() {
            for output in (0..outputs).map(|step| (start + step) % outputs) {
                let channel = self.routers[router].outputs[output].channel;
                if !self.channels[channel].can_be_granted() {
                    continue;
                }
                let chosen = self.choose(router, output, &requests, (turn, now));
                let Some((input_vc, out_vc)) = chosen else { continue };
                let place = requests.iter().position(|request| request.0 == input_vc);
                let request = &mut requests[place.expect("it was chosen")].1;
                if request.on_tree {
                    request.outputs.retain(|&way| way != (output, out_vc));
                    self.grant_on_tree(router, input_vc, (output, out_vc), now);
                    continue;
                }
                let (_, request) = requests.remove(place.expect("it was chosen"));
                self.packets[request.packet].fallbacks += u32::from(turn == Turn::Escape);
                self.grant(router, input_vc, request.packet, (output, out_vc), now);
                if turn == Turn::Escape && turns.is_empty() {
                    turns.push_back(turn);
                }
            }
        }
    }

    fn all_credits(&self) -> Vec<Vec<u32>> {
        self.channels.iter().map(|channel| channel.credits.clone()).collect()
    }

    /// Notes by what credits packets decide again, if it is time.
    pub fn look_at_credits(&mut self, now: Picoseconds) {
        if self.is_time_again(now) {
            self.own.decided_by = self.all_credits();
        }
    }

    /// Makes the next time due at which packets decide again, unless they would decide as they have.
    pub fn look_again(&mut self, now: Picoseconds) {
        if let Some(again) = self.again()
            && self.own.decided_by != self.all_credits()
        {
            self.due.insert(Picoseconds((now.0 / again.0 + 1) * again.0));
        }
    }

    /// Lets packets decide how they go on.
    fn decide(&mut self, router: usize, now: Picoseconds) {
        let inputs = self.routers[router].inputs.iter();
        // What reduction units take asks for no output.
        let all = || (0..self.virtual_channels()).filter(|&it| !self.is_on_tree(it));
        let places = inputs.flat_map(|&channel| {
            all().map(move |virtual_channel| Place { channel, virtual_channel })
        });
        let asking: Vec<usize> = places.filter_map(|place| self.asking(place, now)).collect();
        self.decide_all(router, &asking, now);
    }

    /// The requests of the packets at the heads of buffers, in the order of input virtual channels.
    fn requests(&self, router: usize, now: Picoseconds) -> Vec<(usize, Request)> {
        let inputs = self.routers[router].inputs.iter();
        let stride = self.places_of_port();
        let places = inputs.enumerate().flat_map(|(port, &channel)| {
            let channels = (0..self.virtual_channels()).filter(|&it| !self.is_on_tree(it));
            channels.map(move |virtual_channel| {
                (port * stride + virtual_channel, Place { channel, virtual_channel })
            })
        });
        let requests = places.filter_map(|(input_vc, place)| {
            let packet = self.asking(place, now)?;
            Some((input_vc, self.request(router, place, packet)))
        });
        requests.collect()
    }

    /// What a packet asks for at a router where it is the head of a buffer.
    fn request(&self, router: usize, place: Place, packet: usize) -> Request {
        let output_vc = |(port, vc)| {
            let output = self.routers[router].output_named(OutputName::Port(port));
            (output.expect("it is live"), vc)
        };
        let at = (router as u32, place.virtual_channel);
        let has_failed = |port| self.has_failed(router, port);
        let of = &self.packets[packet];
        let adaptive = self.terminals.adaptive.as_ref();
        if let Some(choice) = choosing::choice(adaptive, self.fabric, of, at, has_failed) {
            let nearer: Vec<_> = choice.nearer.into_iter().map(output_vc).collect();
            let escapes = vec![output_vc(choice.escape)];
            if nearer.is_empty() {
                return Request::plain(packet, escapes);
            }
            return Request { escapes, ..Request::plain(packet, nearer) };
        }
        if let Routes::Relation(routes) = self.routes {
            let routes = (routes, self.terminals.phased.as_ref());
            let hops = choosing::hops(routes, self.fabric, of, at, has_failed);
            let those = |is_one: fn(&Hop) -> bool| {
                let hops = hops.iter().filter(|hop| is_one(hop));
                hops.map(|hop| output_vc((hop.port, hop.vc.into()))).collect()
            };
            if !hops.is_empty() {
                return Request {
                    packet,
                    outputs: those(|hop| !hop.escape && !hop.detour),
                    escapes: those(|hop| hop.escape || hop.detour),
                    entering: those(|hop| hop.ring == Ring::Enters),
                    by_relation: true,
                    on_tree: false,
                };
            }
        }
        let (output, vc) = self.next_output(router, packet);
        let outputs = vec![(output, vc.unwrap_or(place.virtual_channel))];
        Request::plain(packet, outputs)
    }

    /// The packet at the buffer's head, if it may ask for its output.
    pub fn asking(&self, place: Place, now: Picoseconds) -> Option<usize> {
        let (packet, ready) = self.ready(place)?;
        (ready <= now).then_some(packet)
    }

    /// The packet at the buffer's head, and the time from which it may ask for its output.
    fn ready(&self, place: Place) -> Option<(usize, Picoseconds)> {
        let buffer = &self.channels[place.channel].buffers[place.virtual_channel];
        if buffer.is_sending {
            return None;
        }
        let &(_, header) = buffer.flits.front()?;
        assert_eq!(header.index, 0, "a buffer's head is a header until it is granted an output");
        let flits = buffer.flits.iter().map(|&(came, flit)| (came, flit.packet, flit.index));
        let came = self.came(header.packet, flits)?;
        Some((header.packet, came + self.parameters.routing_latency))
    }

    /// The output that the packet needs at the router where its header is, and its virtual channel
    /// if a forwarding table, its path or a dateline gives it one.
    fn next_output(&self, router: usize, packet: usize) -> (usize, Option<usize>) {
        let packet = &self.packets[packet];
        let adaptive = self.terminals.adaptive.as_ref();
        let (name, vc) =
            packet.next_output(self.fabric, self.routes, adaptive, self.parameters, router as u32);
        let outputs = &self.routers[router];
        let place = outputs.output_named(name).expect("routes lead through live outputs");
        let on_ring = self.channels[outputs.outputs[place].channel].ring.is_some();
        let way = |port| (router as u32, port);
        (place, vc.or_else(|| self.dateline_vc(packet, way(name.port()?), on_ring)))
    }

    /// The virtual channel that a packet takes behind a port if rings have datelines.
    fn dateline_vc(&self, packet: &Packet, (at, port): (u32, u16), on_ring: bool) -> Option<usize> {
        let adaptive = self.terminals.adaptive.as_ref();
        if let Some(adaptive) = adaptive.filter(|it| it.has_dateline()) {
            let end = self.fabric.terminal_router(packet.destination)?;
            let lowest = packet.lowest_channel(Some(adaptive));
            return Some(adaptive.of_pair(lowest, at, end, port));
        }
        packet.dateline_vc(self.fabric, self.routes, port, on_ring)
    }

    /// The input virtual channel that a free output is to serve next, and the virtual channel at
    /// the far end.
    fn choose(
        &self,
        router: usize,
        output: usize,
        requests: &[(usize, Request)],
        (turn, now): (Turn, Picoseconds),
    ) -> Option<(usize, usize)> {
        let start = self.routers[router].outputs[output].pointer;
        let serve = |may_be_served: fn(ChannelKind) -> bool, input_vc: usize, request: &Request| {
            let wishes = if turn == Turn::Escape { &request.escapes } else { &request.outputs };
            if !wishes.iter().any(|wish| wish.0 == output) {
                return None;
            }
            let input = self.routers[router].inputs[input_vc / self.places_of_port()];
            if request.on_tree {
                let channel = &self.channels[self.routers[router].outputs[output].channel];
                let way = wishes.iter().find(|way| way.0 == output)?;
                let fits = channel.ends_in_sink()
                    || channel.credits[way.1] >= self.packets[request.packet].flits;
                let fits = fits && may_be_served(self.channels[input].kind);
                return (turn != Turn::Escape && fits).then_some((input_vc, way.1));
            }
            let entering = |wish: &(usize, usize)| {
                if request.entering.contains(wish) { largest(self.parameters) } else { 0 }
            };
            let room = |&(output, out_vc): &(usize, usize)| {
                let from =
                    Place { channel: input, virtual_channel: input_vc % self.places_of_port() };
                self.has_room(
                    router,
                    from,
                    (request.packet, entering(&(output, out_vc))),
                    output,
                    out_vc,
                )
            };
            // Who only lacks room for others waits for it, and takes none of the last hops.
            let fits = |wish: &(usize, usize)| {
                let output = &self.channels[self.routers[router].outputs[wish.0].channel];
                let flits = self.packets[request.packet].flits + entering(wish);
                room(wish)
                    || request.by_relation
                        && (!output.needs_room() || flits <= output.credits[wish.1])
            };
            let wish = match turn {
                Turn::Preferred => self.preferred(router, input, request, room),
                Turn::Escape if request.outputs.iter().any(fits) => None,
                Turn::Any | Turn::Escape => self.liked_at(router, output, wishes, room),
            };
            let wish = wish.filter(|wish| wish.0 == output)?;
            let fits =
                may_be_served(self.channels[input].kind) && self.can_send(input) && room(&wish);
            fits.then_some((input_vc, wish.1))
        };
        let walk = |may_be_served| {
            let (before, from) =
                requests.split_at(requests.partition_point(|request| request.0 < start));
            let mut in_turn = from.iter().chain(before);
            in_turn.find_map(|(input_vc, request)| serve(may_be_served, *input_vc, request))
        };
        match self.parameters.arbitration {
            Arbitration::RoundRobin | Arbitration::OldestFirst | Arbitration::Weighted => {
                walk(|_| true)
            }
            Arbitration::Random => {
                let name = self.routers[router].outputs[output].name;
                let number = name.number(self.fabric, self.parameters);
                let lot = |input_vc| choosing::lot(now, router, number, self.drawn_place(input_vc));
                let mut by_chance: Vec<_> = requests.iter().collect();
                by_chance.sort_by_key(|it| lot(it.0));
                by_chance
                    .into_iter()
                    .find_map(|(input_vc, request)| serve(|_| true, *input_vc, request))
            }
            Arbitration::TransitFirst => walk(|kind| kind == ChannelKind::Network)
                .or_else(|| walk(|kind| kind == ChannelKind::Injection)),
        }
    }

    /// Of some ways on the one by an output that has room and that a packet likes best.
    fn liked_at(
        &self,
        router: usize,
        output: usize,
        ways: &[(usize, usize)],
        room: impl Fn(&(usize, usize)) -> bool,
    ) -> Option<(usize, usize)> {
        let there = ways.iter().filter(|way| way.0 == output && room(way)).copied();
        choosing::most_preferred(self.routes, there, |way| self.seen_of(router, way))
    }

    /// What a packet sees of a way on.
    fn seen_of(&self, router: usize, &(output, out_vc): &(usize, usize)) -> choosing::Seen {
        let Output { channel, taken, .. } = &self.routers[router].outputs[output];
        let credits = self.channels[*channel].credits.iter();
        choosing::Seen {
            waits: credits.map(|&credits| self.parameters.buffer - credits).collect(),
            taken: taken.clone(),
            virtual_channel: out_vc,
            credits: self.credits(router, &(output, out_vc)),
        }
    }

    /// What is known to be free behind a router's output, in a virtual channel.
    fn credits(&self, router: usize, &(output, out_vc): &(usize, usize)) -> u32 {
        self.channels[self.routers[router].outputs[output].channel].credits[out_vc]
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
            let open = open.into_iter();
            return choosing::most_preferred(self.routes, open, |way| self.seen_of(router, way));
        }
        if request.escapes.is_empty() {
            return open.first().copied();
        }
        self.liked((router, input), request.packet, &open)
    }

    /// Whether the input port can send one packet more.
    fn can_send(&self, input: usize) -> bool {
        let buffers = self.channels[input].buffers.iter();
        let sending = buffers.filter(|buffer| buffer.is_sending).count();
        sending < self.parameters.crossbar_speedup as usize
    }

    /// Whether the credits cover what the packet needs to go from a buffer by an output in a
    /// virtual channel, where it leaves so much room at the least.
    fn has_room(
        &self,
        router: usize,
        from: Place,
        (packet, leaving): (usize, u32),
        output: usize,
        out_vc: usize,
    ) -> bool {
        let output = &self.channels[self.routers[router].outputs[output].channel];
        let packet = &self.packets[packet];
        if output.ends_in_sink() && !self.terminals.takes_in(packet) {
            return false;
        }
        let same_ring = self.channels[from.channel].ring == output.ring;
        let goes_on = same_ring && (!packet.adaptive || from.virtual_channel == out_vc);
        let (rules, table) = match &self.terminals.adaptive {
            Some(adaptive) => (adaptive.rules.clone(), adaptive.has_table()),
            None => (AdaptiveRules::default(), false),
        };
        let chooses = packet.adaptive && out_vc == usize::from(rules.channels.adaptive);
        let injected = self.channels[from.channel].kind == ChannelKind::Injection;
        let others = match self.routes {
            Routes::Relation(routes) if injected => routes.injection_bubble.into(),
            _ if chooses => u32::from(if injected { rules.injection_bubble } else { 0 }),
            _ => u32::from(self.parameters.bubble && !table && output.ring.is_some() && !goes_on),
        };
        let room = packet.flits + leaving.max(others * largest(self.parameters));
        !output.needs_room() || room <= output.credits[out_vc]
    }

    fn grant(
        &mut self,
        router: usize,
        input_vc: usize,
        number: usize,
        (output, out_vc): (usize, usize),
        now: Picoseconds,
    ) {
        let stride = self.places_of_port();
        let virtual_channel = input_vc % stride;
        let from =
            Place { channel: self.routers[router].inputs[input_vc / stride], virtual_channel };
        let (_, ready) = self.ready(from).expect("it asks");
        let at = &mut self.routers[router];
        self.own.pointers[router] = (output + 1) % at.outputs.len();
        let input_vcs = at.inputs.len() * stride;
        let output = &mut at.outputs[output];
        output.pointer = (input_vc + 1) % input_vcs;
        output.waited += now - ready;
        if self.terminals.adaptive.as_ref().is_some_and(|it| it.is_adaptive(out_vc)) {
            output.granted = now;
        }
        if output.name.port().is_some() {
            output.taken[out_vc] = now;
        }
        self.channels[from.channel].buffers[virtual_channel].is_sending = true;
        let channel = &mut self.channels[output.channel];
        let packet = &mut self.packets[number];
        if channel.failed {
            self.lost.insert(number);
            self.swallowed.insert(number, output.channel);
        } else if let OutputName::Port(port) = output.name {
            channel.credits[out_vc] -= packet.flits;
            packet.go_on(self.fabric, router as u32, port, out_vc);
            if let Some(phased) = &self.terminals.phased {
                phased.take(packet, router as u32, (port, out_vc));
            }
        } else {
            self.terminals.hold(packet);
        }
        let (mut on_link, mut void_from) = (0, 0);
        if let Some(link) = &mut channel.link {
            assert!(!link.sender.has_wanted(), "what is wanted is sent first");
            (on_link, void_from) = link.sender.keep(packet.clone(), out_vc);
            link.rooms.insert(on_link, (out_vc, packet.flits));
        }
        channel.sending = Some(Sending {
            packet: number,
            out_vc,
            from: Source::Buffer(from),
            started: 0,
            began: now,
            latest_start: now,
            number: on_link,
            void_from,
        });
    }
}
