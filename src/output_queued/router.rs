//! The routers and the links between them.

use super::ejection::Ejection;
use super::event::{Event, Events, Femtoseconds, Kind, NEVER};
use super::injection::Generators;
use super::queue::{ADAPTIVE, CHANNELS, ESCAPE_TO_DESTINATION, ESCAPE_TO_INTERMEDIATE, Queues};
use super::traffic::{Destinations, transmission};
use super::{Measured, Parameters, Settings, SimulationError};
use crate::adaptive::{Derouting, Leg};
use crate::topology::Torus;
use crate::traffic::Pattern;

/// A run whose packets stand still for this many packet times is given up.
const PATIENCE: u64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
struct Packet {
    created: Femtoseconds,
    destination: u32,
    /// What is left of the way to the intermediate node or the destination.
    leg: Leg,
    hops: u16,
    derouting: Option<Derouting>,
    to_intermediate: bool,
    /// The virtual channel of the queue that it was put into last.
    channel: u8,
    negative_ties: u8,
}

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

/// Where an arriving packet has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Refused,
    ToSink,
    ToLink(u32),
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    busy: bool,
    /// Answers that wait, oldest in bit 0: 1 for an acknowledgement. As they go ahead of packets, and
    /// come no faster than packets, there are never more than a few.
    answers: u32,
    waiting_answers: u32,
    /// Packets under way, in a ring: they are answered in the order in which they were sent.
    first: u32,
    under_way: u32,
}

/// All routers, links, generators and sinks.
#[derive(Debug)]
pub(super) struct Network<'a> {
    torus: &'a Torus,
    capacity: u32,
    dimensions: u32,
    directions: u32,
    events: Events,
    generators: Generators<'a>,
    ejection: Ejection,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    /// By node * directions + direction, as everything that a port has.
    links: Vec<Link>,
    /// Channel and packet; a ring for each link.
    under_way: Vec<(u32, u32)>,
    ring: u32,
    queues: Queues,
    /// Where a link leads, as the next node's port of the same direction.
    far: Vec<u32>,
    patience: Femtoseconds,
    measured: Measured,
}

impl<'a> Network<'a> {
    pub(super) fn new(
        torus: &'a Torus,
        parameters: &'a Parameters,
        settings: &'a Settings,
        pattern: Pattern,
    ) -> Self {
        let (nodes, directions) = (torus.nodes(), torus.directions());
        let links = nodes * directions;
        let packet = |rate| transmission(8 * parameters.packet.0, rate);
        let answer = |rate| transmission(8 * parameters.answer.0, rate);
        let (external, internal) = (parameters.external_rate, parameters.internal_rate);
        let (far, near) = (1000 * parameters.external_latency, 1000 * parameters.internal_latency);
        let delays = Kind::ALL.map(|kind| match kind {
            Kind::Arrival => packet(external) + far,
            Kind::PacketSent => packet(external),
            Kind::Answer => answer(external) + far,
            Kind::Injection | Kind::Delivery => packet(internal) + near,
            Kind::InjectionAnswer => answer(internal) + near,
            Kind::EjectionSent => packet(internal),
            Kind::AnswerSent => answer(external),
        });
        let destinations = Destinations::new(pattern, nodes, settings);
        let ring = (CHANNELS * parameters.capacity).next_power_of_two();
        let lead = |link| {
            let direction = link % directions;
            let next = torus.neighbor(link / directions, direction).expect("a ring has no edge");
            next * directions + direction
        };
        Self {
            torus,
            capacity: parameters.capacity,
            dimensions: torus.dimensions() as u32,
            directions,
            events: Events::new(delays),
            generators: Generators::new(torus, parameters, settings, destinations),
            ejection: Ejection::new(nodes, parameters.capacity),
            packets: Vec::new(),
            free_packets: Vec::new(),
            links: vec![Link::default(); links as usize],
            under_way: vec![(0, 0); (links * ring) as usize],
            ring,
            queues: Queues::new(links, parameters.capacity),
            far: (0..links).map(lead).collect(),
            patience: PATIENCE * packet(external),
            measured: Measured::default(),
        }
    }

    /// Runs until nothing is left to do.
    pub(super) fn run(mut self) -> Result<Measured, SimulationError> {
        let mut batch = Vec::new();
        loop {
            let next = self.events.next_time();
            let time = next.min(self.generators.next_creation).min(self.generators.next_attempt);
            if time == NEVER {
                break;
            }
            if time == self.generators.next_creation {
                self.generators.create(time);
            }
            if time == self.generators.next_attempt {
                self.generators.attempt(time, &mut self.events);
                let created = self.generators.latest_creation();
                if time > self.measured.end.max(created) + self.patience {
                    let delivered = self.measured.packets;
                    return Err(SimulationError::Stalled { time: time / 1000, delivered });
                }
            }
            if time == next {
                while let Some(kind) = self.events.take(time, &mut batch) {
                    for &event in &batch {
                        self.handle(time, kind, event);
                    }
                }
            }
        }
        debug_assert!(self.queues.is_empty() && self.free_packets.len() == self.packets.len());
        Ok(self.measured)
    }

    #[inline]
    fn handle(&mut self, now: Femtoseconds, kind: Kind, Event { place, with }: Event) {
        match kind {
            Kind::Arrival => self.arrival(now, place, with),
            Kind::PacketSent | Kind::AnswerSent => {
                self.links[place as usize].busy = false;
                self.serve(now, place);
            }
            Kind::Answer => self.answer(now, place, with == 1),
            Kind::Injection => self.injection(now, place),
            Kind::InjectionAnswer => self.generators.answer(now, place, with == 1),
            Kind::EjectionSent => self.ejection.sent(now, place, &mut self.events),
            Kind::Delivery => {
                let packet = &self.packets[with as usize];
                self.measured.deliver(packet.created, now, packet.hops, packet.derouting);
                self.free_packets.push(with);
            }
        }
    }

    /// The port in the opposite direction.
    #[inline]
    fn opposite(&self, port: u32) -> u32 {
        let direction = port % self.directions;
        if direction < self.dimensions { port + self.dimensions } else { port - self.dimensions }
    }

    fn arrival(&mut self, now: Femtoseconds, port: u32, number: u32) {
        let (node, direction) = (port / self.directions, port % self.directions);
        let mut packet = self.packets[number as usize];
        let from = From::Link { direction, channel: u32::from(packet.channel) };
        packet.leg.step((direction % self.dimensions) as usize);
        packet.hops += 1;
        let taken = self.take(now, node, packet, number, from);
        let accepted = taken != Taken::Refused;
        self.measured.witness(now, port, accepted);
        self.measured.refused += u64::from(!accepted);
        let back = self.opposite(port);
        let link = &mut self.links[back as usize];
        link.answers |= u32::from(accepted) << link.waiting_answers;
        link.waiting_answers += 1;
        self.serve(now, back);
        if let Taken::ToLink(link) = taken {
            self.serve(now, link);
        }
    }

    fn injection(&mut self, now: Femtoseconds, node: u32) {
        let used = self.queues.used_adaptive(node * self.directions, self.directions);
        let offer = self.generators.offer(node);
        let (mut leg, detour) = offer.ways.choose(used, self.capacity);
        let end = detour.map_or(offer.destination, |detour| detour.1);
        let derouting = detour.map(|detour| detour.0);
        if derouting != Some(Derouting::Orthant) {
            leg = self.generators.with_ties(leg, node, end, offer.negative_ties);
        }
        let packet = Packet {
            created: offer.created,
            destination: offer.destination,
            leg,
            hops: 0,
            derouting,
            to_intermediate: derouting.is_some_and(|kind| kind != Derouting::Orthant),
            channel: 0,
            negative_ties: offer.negative_ties,
        };
        let number = self.free_packets.pop().unwrap_or_else(|| {
            self.packets.push(packet);
            self.packets.len() as u32 - 1
        });
        let taken = self.take(now, node, packet, number, From::Generator);
        match taken {
            Taken::Refused => self.free_packets.push(number),
            Taken::ToLink(link) => self.serve(now, link),
            Taken::ToSink => {}
        }
        let accepted = u32::from(taken != Taken::Refused);
        self.events.add(now, Kind::InjectionAnswer, node, accepted);
    }

    /// Puts an arrived packet into a queue, if one takes it.
    fn take(
        &mut self,
        now: Femtoseconds,
        node: u32,
        mut packet: Packet,
        number: u32,
        from: From,
    ) -> Taken {
        let mut from_channel = from;
        if packet.leg.is_done() && packet.to_intermediate {
            packet.to_intermediate = false;
            let ties = u32::from(packet.negative_ties);
            packet.leg = Leg::minimal(self.torus, node, packet.destination, ties);
            // The second leg starts on another escape network.
            if let From::Link { channel, .. } = &mut from_channel {
                *channel = CHANNELS;
            }
        }
        if packet.leg.is_done() {
            if !self.ejection.push(now, node, number, &mut self.events) {
                return Taken::Refused;
            }
            self.packets[number as usize] = packet;
            return Taken::ToSink;
        }
        let Some((link, channel)) = self.choose(node, &packet, from_channel) else {
            return Taken::Refused;
        };
        packet.channel = channel as u8;
        self.packets[number as usize] = packet;
        self.queues.push(link, channel, number);
        Taken::ToLink(link)
    }

    /// The queue for a packet: the adaptive one with the most room, else the escape one.
    #[inline]
    fn choose(&self, node: u32, packet: &Packet, from: From) -> Option<(u32, u32)> {
        let first = node * self.directions;
        let injected = self.capacity / 2 + 1;
        let mut most = if from == From::Generator { injected - 1 } else { 0 };
        let mut best = None;
        for direction in packet.leg.directions(self.dimensions) {
            let free = self.queues.free(first + direction, ADAPTIVE);
            if free > most {
                most = free;
                best = Some((first + direction, ADAPTIVE));
            }
        }
        if best.is_some() {
            return best;
        }
        let channel =
            if packet.to_intermediate { ESCAPE_TO_INTERMEDIATE } else { ESCAPE_TO_DESTINATION };
        let direction = packet.leg.directions(self.dimensions).next()?;
        let needed = match from {
            From::Generator => injected,
            _ if from == (From::Link { direction, channel }) => 1,
            From::Link { .. } => 2,
        };
        let link = first + direction;
        (self.queues.free(link, channel) >= needed).then_some((link, channel))
    }

    /// Sends what comes next over a link, if it is free.
    #[inline]
    fn serve(&mut self, now: Femtoseconds, port: u32) {
        let link = &mut self.links[port as usize];
        if link.busy {
            return;
        }
        if link.waiting_answers > 0 {
            let accepted = link.answers & 1;
            link.answers >>= 1;
            link.waiting_answers -= 1;
            link.busy = true;
            self.events.add(now, Kind::AnswerSent, port, 0);
            self.events.add(now, Kind::Answer, self.far[port as usize], accepted);
        } else if let Some(sent) = self.queues.send(port) {
            let slot = (link.first + link.under_way) & (self.ring - 1);
            self.under_way[(port * self.ring + slot) as usize] = sent;
            link.under_way += 1;
            link.busy = true;
            self.events.add(now, Kind::PacketSent, port, 0);
            self.events.add(now, Kind::Arrival, self.far[port as usize], sent.1);
        }
    }

    fn answer(&mut self, now: Femtoseconds, port: u32, accepted: bool) {
        let port = self.opposite(port);
        let link = &mut self.links[port as usize];
        let (channel, packet) = self.under_way[(port * self.ring + link.first) as usize];
        link.first = (link.first + 1) & (self.ring - 1);
        link.under_way -= 1;
        if accepted {
            self.queues.release(port, channel, packet);
        } else {
            self.queues.retry(port, channel, packet);
            self.serve(now, port);
        }
    }
}
