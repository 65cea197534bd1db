//! The routers and the links between them.

use std::cmp::Reverse;

use super::age::Ages;
use super::ejection::Ejection;
use super::event::{Delays, Events, Femtoseconds, NEVER, Sending};
use super::injection::Generators;
use super::link::{
    ADAPTIVE, Answer, CHANNELS, ESCAPE_TO_DESTINATION, ESCAPE_TO_INTERMEDIATE, Links, Next, Slot,
};
use super::observer::{InjectedPacket, Observer};
use super::packet::{Delivered, Packet};
use super::traffic::{Destinations, transmission};
use super::{Parameters, RunTotals, Settings, SimulationError};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::prefetch;
use flitlab_base::stop;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Torus;
use flitlab_routing::adaptive::{Candidate, Compass, Leg, Misroute};
use flitlab_traffic::Pattern;

/// The limit of lifetimes is looked at every so many instants.
const CHECKED: u64 = 256;

/// A run of which no packet arrives for this many times a packet's longest step is given up.
const PATIENCE: u64 = 1_000_000;

/// An arrival's memory is fetched so many arrivals before it; likewise that of an answer.
const AHEAD: usize = 6;

/// Where an arriving packet comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Generator,
    /// A link in `direction` whose virtual channel was `channel`.
    Link {
        direction: u32,
        channel: u32,
    },
}

/// How the ports of all nodes are numbered: by node, then by direction; the last one leads to the
/// sink.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    dimensions: u32,
    directions: u32,
    /// Each node has as many numbers as the next power of two.
    shift: u32,
}

impl Ports {
    pub(super) fn new(torus: &Torus) -> Self {
        let directions = torus.directions();
        let shift = (directions + 1).next_power_of_two().trailing_zeros();
        Self { dimensions: narrow(torus.dimensions()), directions, shift }
    }

    pub(super) fn count(self, nodes: u32) -> u32 {
        nodes << self.shift
    }

    /// The first port of a node.
    fn first(self, node: u32) -> u32 {
        node << self.shift
    }

    fn node(self, port: u32) -> u32 {
        port >> self.shift
    }

    fn direction(self, port: u32) -> u32 {
        port & ((1 << self.shift) - 1)
    }

    /// The node's port in the opposite direction.
    fn opposite(self, port: u32) -> u32 {
        let positive = self.direction(port) < self.dimensions;
        if positive { port + self.dimensions } else { port - self.dimensions }
    }

    /// The port of an outlet: those of a dimension follow one another.
    fn outlet(self, node: u32, outlet: u32) -> u32 {
        self.first(node) + outlet / 2 + self.dimensions * (outlet % 2)
    }

    fn dimension(self, direction: u32) -> u32 {
        if direction < self.dimensions { direction } else { direction - self.dimensions }
    }

    /// Where each port's link leads, as the next node's port of the same direction.
    fn ends(self, torus: &Torus) -> Vec<u32> {
        let end = |port| {
            let direction = self.direction(port);
            if direction >= self.directions {
                return u32::MAX;
            }
            let next = torus.neighbor(self.node(port), direction).expect("a ring has no edge");
            self.first(next) + direction
        };
        (0..self.count(torus.nodes())).map(end).collect()
    }
}

/// The outlets of a node, as bits. An outlet is a link to a neighbour, the lowest dimension first
/// and its positive direction first, or the link to the sink, the last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outlets {
    /// Outlets for which something waits.
    pending: u16,
    /// Outlets that are sending.
    busy: u16,
    /// How many events had been set off up to the node's next wake-up. It comes when the next of
    /// those that are busy gets free.
    wake_up: u64,
}

/// All routers, links, generators and sinks.
#[derive(Debug)]
pub(super) struct Network<'a, O> {
    torus: &'a Torus,
    compass: Compass,
    capacity: u32,
    ports: Ports,
    events: Events,
    generators: Generators<'a>,
    ejection: Ejection,
    /// By port, as everything that a port has.
    links: Links,
    /// Where a link leads, as the next node's port of the same direction.
    far: Vec<u32>,
    outlets: Vec<Outlets>,
    /// Nodes that may wake up at this instant, those whose wake-up was set off last first.
    due: Vec<(u64, u32)>,
    patience: Femtoseconds,
    /// From a generator to its router.
    injection: Femtoseconds,
    ages: Ages,
    measured: RunTotals,
    observer: &'a mut O,
}

impl<'a, O: Observer> Network<'a, O> {
    pub(super) fn new(
        torus: &'a Torus,
        parameters: &'a Parameters,
        settings: &'a Settings,
        pattern: Pattern,
        observer: &'a mut O,
    ) -> Self {
        let nodes = torus.nodes();
        let ports = Ports::new(torus);
        let links = ports.count(nodes);
        let destinations = Destinations::new(pattern, nodes, settings);
        let delays = delays(parameters);
        let generators = Generators::new(torus, parameters, settings, destinations);
        let patience = generators.longest_step(&delays).saturating_mul(PATIENCE);
        let answered = delays.injection + delays.injection_answer;
        Self {
            torus,
            compass: Compass::new(torus, false),
            capacity: parameters.capacity,
            ports,
            events: Events::new(delays),
            ages: generators.ages(answered, delays.injection + delays.delivery),
            generators,
            ejection: Ejection::new(nodes, parameters.capacity),
            links: Links::new(links, parameters.capacity),
            far: ports.ends(torus),
            outlets: vec![Outlets::default(); nodes as usize],
            due: Vec::new(),
            patience,
            measured: RunTotals::default(),
            injection: delays.injection,
            observer,
        }
    }

    /// Runs until nothing is left to do, or until the lifetimes are certain to exceed `limit` in
    /// all.
    pub(super) fn run(mut self, limit: u128) -> Result<Option<RunTotals>, SimulationError> {
        for instant in 0u64.. {
            let Some(time) = self.advance()? else { break };
            if instant % CHECKED == 0 {
                stop::look();
                if self.ages.least(time) > limit {
                    return Ok(None);
                }
                if !self.observer.goes_on() {
                    return Ok(Some(self.measured));
                }
            }
        }
        debug_assert!(self.links.is_empty());
        Ok((self.measured.lifetime_sum <= limit).then_some(self.measured))
    }

    /// Runs until all messages are created, then as [`run`](Self::run) does.
    pub(super) fn run_from_last_creation(
        mut self,
        limit: u128,
    ) -> Result<Option<RunTotals>, SimulationError> {
        for instant in 0u64.. {
            if self.generators.next_creation == NEVER {
                break;
            }
            self.advance()?;
            if instant % CHECKED == 0 {
                stop::look();
            }
        }
        self.run(limit)
    }

    fn next_time(&self) -> Femtoseconds {
        let generators = self.generators.next_creation.min(self.generators.next_attempt);
        generators.min(self.events.next_time())
    }

    /// Simulates the next instant at which something happens, and gives its time; `None` if nothing
    /// is left.
    #[inline]
    fn advance(&mut self) -> Result<Option<Femtoseconds>, SimulationError> {
        let time = self.next_time();
        if time == NEVER {
            return Ok(None);
        }
        if time == self.generators.next_creation {
            self.observer.created(time, self.ages.alive());
            self.generators.create(time);
            let nodes = self.torus.nodes();
            self.ages.create(time, nodes, self.generators.packets_at_once());
        }
        if time == self.generators.next_attempt {
            self.generators.attempt(time, &mut self.events);
        }
        let created = self.generators.latest_creation();
        if time > self.measured.end.max(created).saturating_add(self.patience) {
            let delivered = self.measured.packets;
            return Err(SimulationError::Stalled { time: Picoseconds(time / 1000), delivered });
        }
        if time == self.events.next_time() {
            self.step(time);
        }
        Ok(Some(time))
    }

    /// All events of an instant. As every delay is above 0, none of them sets off another one now.
    #[inline]
    fn step(&mut self, now: Femtoseconds) {
        self.free(now);
        while let Some((number, (port, slot))) = self.events.arrivals.take(now) {
            if let Some((port, slot)) = self.events.arrivals.behind(AHEAD) {
                self.links.prefetch_packet(port, slot);
                self.prefetch_node(self.ports.node(self.far[port as usize]));
            }
            self.wake_up(now, number);
            self.arrival(now, port, slot);
        }
        while let Some((number, (port, answer))) = self.events.answers.take(now) {
            if let Some((port, _)) = self.events.answers.behind(AHEAD) {
                self.prefetch_node(self.ports.node(self.far[port as usize]));
            }
            self.wake_up(now, number);
            self.answer(now, port, answer);
        }
        while let Some((number, node)) = self.events.injections.take(now) {
            self.wake_up(now, number);
            self.injection(now, node);
        }
        while let Some((_, packet)) = self.events.deliveries.take(now) {
            let created = self.generators.creation(packet.number);
            self.ages.deliver(now, created);
            self.observer.delivered(packet.number, created, now);
            self.measured.deliver(created, now, packet.derouting);
        }
        while let Some((_, (node, accepted))) = self.events.injection_answers.take(now) {
            self.generators.answer(now, node, accepted, &mut self.events);
        }
        self.wake_up(now, u64::MAX);
    }

    /// Fetches ahead what a visit of a node needs.
    #[inline]
    fn prefetch_node(&self, node: u32) {
        prefetch(&self.outlets[node as usize]);
        self.links.prefetch_links(self.ports.first(node), self.ports.directions);
    }

    /// Frees the outlets that have sent what they were sending. Their routers wake up if something
    /// waits.
    #[inline]
    fn free(&mut self, now: Femtoseconds) {
        let Self { events, ports, outlets, links, due, .. } = self;
        events.take_freed(now, |place| {
            let node = ports.node(place);
            let outlets = &mut outlets[node as usize];
            outlets.busy &= !(1 << ports.direction(place));
            if outlets.pending != 0 {
                due.push((outlets.wake_up, node));
                links.prefetch_links(ports.first(node), ports.directions);
            }
        });
        due.sort_unstable_by_key(|due| Reverse(due.0));
    }

    /// Wakes up all routers whose wake-up was set off before the event of the given number.
    #[inline]
    fn wake_up(&mut self, now: Femtoseconds, number: u64) {
        while let Some(&(set_off, node)) = self.due.last() {
            if set_off > number {
                break;
            }
            self.due.pop();
            // Something else at this instant may have taken its place.
            if self.outlets[node as usize].wake_up == set_off {
                self.flush(now, node);
            }
        }
    }

    /// A packet has come over the link of another node's port.
    #[inline]
    fn arrival(&mut self, now: Femtoseconds, from: u32, slot: Slot) {
        let port = self.far[from as usize];
        let (node, direction) = (self.ports.node(port), self.ports.direction(port));
        let mut packet = self.links.packet(from, slot);
        let dimension = self.ports.dimension(direction);
        if self.compass.level(node, packet.target, dimension) {
            packet.bearing.reach(dimension);
        }
        let accepted = self.take(node, packet, From::Link { direction, channel: slot.channel() });
        self.measured.witness(now, node * self.ports.directions + direction, accepted);
        let back = self.ports.opposite(port);
        self.links.push_answer(back, Answer { slot, accepted });
        self.pend(back);
        self.flush(now, node);
    }

    fn injection(&mut self, now: Femtoseconds, node: u32) {
        let used = self.links.used_adaptive(self.ports.first(node), self.ports.directions);
        let offer = self.generators.offer(node);
        let detour = offer.ways.choose(used, self.capacity);
        let mut leg = detour.map_or(offer.ways.minimal, |detour| detour.first);
        let hops = detour.map_or(leg.distance(), Candidate::distance);
        let end = detour.map_or(offer.destination, |detour| detour.node);
        let derouting = detour.map(|detour| detour.kind);
        if derouting != Some(Misroute::Orthant) {
            leg = self.generators.with_ties(leg, node, end, offer.negative_ties);
        }
        let packet = Packet {
            number: offer.number,
            destination: offer.destination,
            target: end,
            bearing: leg.bearing,
            negative_ties: offer.negative_ties,
            derouting,
        };
        let accepted = self.take(node, packet, From::Generator);
        if accepted {
            let Packet { number, destination, derouting: detour, .. } = packet;
            let time = now - self.injection;
            self.observer.injected(InjectedPacket { number, destination, time, hops, detour });
        }
        let events = &mut self.events;
        events.injection_answers.add(now, &mut events.set_off, (node, accepted));
        self.flush(now, node);
    }

    /// Puts an arrived packet into a queue, and says whether one took it.
    #[inline]
    fn take(&mut self, node: u32, mut packet: Packet, from: From) -> bool {
        let mut from_channel = from;
        if packet.bearing.is_done() && packet.is_on_detour() {
            packet.target = packet.destination;
            let ties = u32::from(packet.negative_ties);
            packet.bearing = Leg::minimal(self.torus, node, packet.target, ties).bearing;
            // The second leg starts on another escape network.
            if let From::Link { channel, .. } = &mut from_channel {
                *channel = CHANNELS;
            }
        }
        if packet.bearing.is_done() {
            let Packet { number, derouting, .. } = packet;
            let delivered = Delivered { number, derouting };
            self.outlets[node as usize].pending |= 1 << self.ports.directions;
            return self.ejection.push(node, delivered);
        }
        let Some((link, channel)) = self.choose(node, &packet, from_channel) else {
            return false;
        };
        self.links.push(link, channel, packet);
        self.pend(link);
        true
    }

    /// The queue for a packet: the adaptive one with the most room, else the escape one.
    #[inline]
    fn choose(&self, node: u32, packet: &Packet, from: From) -> Option<(u32, u32)> {
        let first = self.ports.first(node);
        let injected = self.capacity / 2 + 1;
        let mut most = if from == From::Generator { injected - 1 } else { 0 };
        let mut best = None;
        for direction in packet.bearing.directions(self.ports.dimensions) {
            let free = self.links.free(first + direction, ADAPTIVE);
            if free > most {
                most = free;
                best = Some((first + direction, ADAPTIVE));
            }
        }
        if best.is_some() {
            return best;
        }
        let channel =
            if packet.is_on_detour() { ESCAPE_TO_INTERMEDIATE } else { ESCAPE_TO_DESTINATION };
        let direction = packet.bearing.directions(self.ports.dimensions).next()?;
        let needed = match from {
            From::Generator => injected,
            _ if from == (From::Link { direction, channel }) => 1,
            From::Link { .. } => 2,
        };
        let link = first + direction;
        (self.links.free(link, channel) >= needed).then_some((link, channel))
    }

    /// Notes that something waits for a link.
    #[inline]
    fn pend(&mut self, port: u32) {
        let direction = self.ports.direction(port);
        let dimension = self.ports.dimension(direction);
        let outlet = 2 * dimension + u32::from(direction != dimension);
        self.outlets[self.ports.node(port) as usize].pending |= 1 << outlet;
    }

    /// Sends what comes next through all free outlets of a node, and sets off its next wake-up.
    #[inline]
    fn flush(&mut self, now: Femtoseconds, node: u32) {
        let Outlets { mut pending, mut busy, .. } = self.outlets[node as usize];
        let mut ready = pending & !busy;
        busy |= ready;
        while ready != 0 {
            let outlet = ready.trailing_zeros();
            ready &= ready - 1;
            let more = self.send(now, node, outlet);
            pending &= !(u16::from(!more) << outlet);
        }
        self.events.set_off += 1;
        self.outlets[node as usize] = Outlets { pending, busy, wake_up: self.events.set_off };
    }

    /// Sends what comes next through a free outlet for which something waits, and tells whether
    /// more does.
    #[inline]
    fn send(&mut self, now: Femtoseconds, node: u32, outlet: u32) -> bool {
        let events = &mut self.events;
        let place = self.ports.first(node) + outlet;
        if outlet == self.ports.directions {
            let (packet, more) = self.ejection.send(node);
            events.deliveries.add(now, &mut events.set_off, packet);
            events.begin(now, Sending::Ejection, place);
            return more;
        }
        let port = self.ports.outlet(node, outlet);
        let (next, more) = self.links.send(port);
        let is_packet = matches!(next, Next::Packet(_));
        self.observer.sent(node, self.ports.direction(port), is_packet);
        match next {
            Next::Packet(slot) => {
                events.arrivals.add(now, &mut events.set_off, (port, slot));
                events.begin(now, Sending::Packet, place);
            }
            Next::Answer(answer) => {
                events.answers.add(now, &mut events.set_off, (port, answer));
                events.begin(now, Sending::Answer, place);
            }
        }
        more
    }

    /// An answer has come over the link of another node's port.
    #[inline]
    fn answer(&mut self, now: Femtoseconds, from: u32, Answer { slot, accepted }: Answer) {
        let port = self.ports.opposite(self.far[from as usize]);
        if accepted {
            self.links.release(port, slot);
        } else {
            self.links.retry(port, slot);
            self.pend(port);
        }
        self.flush(now, self.ports.node(port));
    }
}

pub(super) fn delays(parameters: &Parameters) -> Delays {
    let packet = |rate| transmission(8 * parameters.packet.0, rate);
    let answer = |rate| transmission(8 * parameters.answer.0, rate);
    let (external, internal) = (parameters.external_rate, parameters.internal_rate);
    let (far, near) =
        ((parameters.external_latency * 1000).0, (parameters.internal_latency * 1000).0);
    Delays {
        arrival: packet(external) + far,
        packet_sent: packet(external),
        answer: answer(external) + far,
        injection: packet(internal) + near,
        delivery: packet(internal) + near,
        injection_answer: answer(internal) + near,
        ejection_sent: packet(internal),
        answer_sent: answer(external),
    }
}
