//! The routers and their links.

use super::derouting::Ways;
use super::event::{Event, Events, Femtoseconds, Kind, NEVER};
use super::queue::{ADAPTIVE, ESCAPE_TO_DESTINATION, ESCAPE_TO_INTERMEDIATE, Queues};
use super::traffic::{Clock, Destinations, transmission};
use super::{Measured, Parameters, Routing, Settings};
use crate::adaptive::profit::IdleRatio;
use crate::adaptive::{Derouting, Leg};
use crate::topology::Torus;
use crate::traffic::Pattern;

#[derive(Clone, Copy, Debug)]
struct Packet {
    created: Femtoseconds,
    destination: u32,
    leg: Leg,
    hops: u16,
    derouting: Option<Derouting>,
    to_intermediate: bool,
    channel: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct Link {
    busy: bool,
    /// Answers that wait, oldest in bit 0: 1 for an acknowledgement.
    answers: u32,
    waiting_answers: u32,
    sent_first: u32,
    sent: u32,
}

#[derive(Clone, Debug, Default)]
struct Generator {
    message: u32,
    sent: u32,
    outstanding: bool,
    started: bool,
    destination: u32,
    ways: Ways,
}

#[derive(Clone, Debug, Default)]
struct Ejection {
    packets: std::collections::VecDeque<u32>,
    used: u32,
    busy: bool,
}

pub(super) struct Network<'a> {
    torus: &'a Torus,
    parameters: &'a Parameters,
    settings: &'a Settings,
    dimensions: u32,
    directions: u32,
    pub(super) measured: Measured,
    events: Events,
    clock: Clock,
    destinations: Destinations,
    created: u32,
    next_creation: Femtoseconds,
    next_attempt: Femtoseconds,
    waiting: Vec<u64>,
    generators: Vec<Generator>,
    ejections: Vec<Ejection>,
    packets: Vec<Packet>,
    free_packets: Vec<u32>,
    links: Vec<Link>,
    under_way: Vec<(u32, u32)>,
    queues: Queues,
    far: Vec<u32>,
    idle: IdleRatio,
}

const UNDER_WAY: usize = 32;

impl<'a> Network<'a> {
    pub(super) fn new(
        torus: &'a Torus,
        parameters: &'a Parameters,
        settings: &'a Settings,
        pattern: Pattern,
    ) -> Self {
        let nodes = torus.nodes();
        let directions = torus.directions();
        let links = nodes * directions;
        let packet = |rate| transmission(8 * parameters.packet.0, rate);
        let answer = |rate| transmission(8 * parameters.answer.0, rate);
        let (external, internal) = (parameters.external_rate, parameters.internal_rate);
        let far = 1000 * parameters.external_latency;
        let near = 1000 * parameters.internal_latency;
        let events = Events::new([
            packet(external) + far,
            packet(external),
            answer(external) + far,
            packet(internal) + near,
            packet(internal) + near,
            answer(internal) + near,
            packet(internal),
            packet(internal) + answer(internal) + 2 * near,
            answer(external),
        ]);
        let idle = match settings.routing {
            Routing::AdaptiveBubble => IdleRatio::AnyIdle,
            Routing::PickOrthant(w) | Routing::OutFlank(_, _, w) => w.idle,
        };
        Self {
            torus,
            parameters,
            settings,
            dimensions: torus.dimensions() as u32,
            directions,
            measured: Measured::default(),
            events,
            clock: Clock::new(torus, parameters, settings.load),
            destinations: Destinations::new(pattern, nodes, settings),
            created: 0,
            next_creation: 0,
            next_attempt: NEVER,
            waiting: vec![0; nodes.div_ceil(64) as usize],
            generators: vec![Generator::default(); nodes as usize],
            ejections: vec![Ejection::default(); nodes as usize],
            packets: Vec::new(),
            free_packets: Vec::new(),
            links: vec![Link::default(); links as usize],
            under_way: vec![(0, 0); links as usize * UNDER_WAY],
            queues: Queues::new(links, parameters.capacity),
            far: (0..links)
                .map(|l| torus.neighbor(l / directions, l % directions).unwrap() * directions + l % directions)
                .collect(),
            idle,
        }
    }

    pub(super) fn run(&mut self) {
        let mut batch = Vec::new();
        loop {
            let next = self.events.next_time();
            let time = next.min(self.next_creation).min(self.next_attempt);
            if time == NEVER {
                break;
            }
            if time == self.next_creation {
                self.create(time);
            }
            if time == self.next_attempt {
                self.attempt(time);
            }
            if time == next {
                while let Some(kind) = self.events.take(time, &mut batch) {
                    for &event in &batch {
                        self.handle(time, kind, event);
                    }
                }
            }
        }
        assert!(self.queues.is_empty());
    }

    fn create(&mut self, now: Femtoseconds) {
        self.created += 1;
        self.next_creation = if self.created < self.parameters.messages {
            self.clock.creation(self.created)
        } else {
            NEVER
        };
        for node in 0..self.generators.len() as u32 {
            let generator = &self.generators[node as usize];
            if !generator.outstanding && generator.message + 1 == self.created {
                self.wait(now, node);
            }
        }
    }

    fn wait(&mut self, now: Femtoseconds, node: u32) {
        self.waiting[node as usize / 64] |= 1 << (node % 64);
        if self.next_attempt == NEVER {
            self.next_attempt = (now / self.clock.attempt + 1) * self.clock.attempt;
        }
    }

    fn attempt(&mut self, now: Femtoseconds) {
        self.next_attempt = NEVER;
        for word in 0..self.waiting.len() {
            let mut set = std::mem::take(&mut self.waiting[word]);
            while set != 0 {
                let node = word as u32 * 64 + set.trailing_zeros();
                set &= set - 1;
                let generator = &mut self.generators[node as usize];
                if !generator.started {
                    generator.started = true;
                    generator.destination = self.destinations.next(node, generator.message);
                    generator.ways.find(self.torus, self.settings, node, generator.destination);
                }
                generator.outstanding = true;
                self.events.add(now, Kind::Injection, node, 0);
            }
        }
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
            Kind::Delivery => {
                let packet = &self.packets[with as usize];
                self.measured.deliver(packet.created, now, packet.hops, packet.derouting);
                self.free_packets.push(with);
            }
            Kind::InjectionAnswer => self.injection_answer(now, place, with == 1),
            Kind::EjectionSent => {
                self.ejections[place as usize].busy = false;
                self.eject(now, place);
            }
            Kind::EjectionAnswer => self.ejections[place as usize].used -= 1,
        }
    }

    fn opposite(&self, place: u32) -> u32 {
        let direction = place % self.directions;
        place - direction + self.torus.opposite(direction)
    }

    fn arrival(&mut self, now: Femtoseconds, place: u32, number: u32) {
        let node = place / self.directions;
        let direction = place % self.directions;
        let mut packet = self.packets[number as usize];
        packet.leg.step(self.torus.dimension(direction));
        packet.hops += 1;
        let came = packet.channel;
        let out = self.take(now, node, packet, number, Some((direction, u32::from(came))));
        let accepted = out.is_some();
        self.measured.witness(now, place, accepted);
        self.measured.refused += u64::from(!accepted);
        let back = self.opposite(place);
        let link = &mut self.links[back as usize];
        link.answers |= u32::from(accepted) << link.waiting_answers;
        link.waiting_answers += 1;
        self.serve(now, back);
        if let Some(Some(link)) = out {
            self.serve(now, link);
        }
    }

    /// The queue's link if it is one.
    fn take(
        &mut self,
        now: Femtoseconds,
        node: u32,
        mut packet: Packet,
        number: u32,
        from: Option<(u32, u32)>,
    ) -> Option<Option<u32>> {
        let mut entering = from.is_none();
        if packet.leg.is_done() && packet.to_intermediate {
            packet.to_intermediate = false;
            packet.leg = Leg::minimal(self.torus, node, packet.destination, 0);
            entering = true;
        }
        if packet.leg.is_done() {
            let ejection = &mut self.ejections[node as usize];
            if ejection.used == self.parameters.capacity {
                return None;
            }
            ejection.used += 1;
            ejection.packets.push_back(number);
            self.packets[number as usize] = packet;
            self.eject(now, node);
            return Some(None);
        }
        let (link, channel) = self.choose(node, &packet.leg, packet.to_intermediate, from, entering)?;
        packet.channel = channel as u8;
        self.packets[number as usize] = packet;
        self.queues.push(link, channel, number);
        Some(Some(link))
    }

    fn choose(
        &self,
        node: u32,
        leg: &Leg,
        to_intermediate: bool,
        from: Option<(u32, u32)>,
        entering: bool,
    ) -> Option<(u32, u32)> {
        let first = node * self.directions;
        let half = self.parameters.capacity / 2;
        let needed = if from.is_none() { half + 1 } else { 1 };
        let mut best = None;
        let mut most = needed - 1;
        for direction in leg.directions(self.dimensions) {
            let free = self.queues.free(first + direction, ADAPTIVE);
            if free > most {
                most = free;
                best = Some(first + direction);
            }
        }
        if let Some(link) = best {
            return Some((link, ADAPTIVE));
        }
        let escape = if to_intermediate { ESCAPE_TO_INTERMEDIATE } else { ESCAPE_TO_DESTINATION };
        let direction = leg.directions(self.dimensions).next().expect("the leg is not done");
        let needed = match from {
            None => half + 1,
            Some(came) if came == (direction, escape) && !entering => 1,
            Some(_) => 2,
        };
        (self.queues.free(first + direction, escape) >= needed).then_some((first + direction, escape))
    }

    fn serve(&mut self, now: Femtoseconds, place: u32) {
        let link = &mut self.links[place as usize];
        if link.busy {
            return;
        }
        if link.waiting_answers > 0 {
            let accepted = link.answers & 1;
            link.answers >>= 1;
            link.waiting_answers -= 1;
            link.busy = true;
            self.events.add(now, Kind::AnswerSent, place, 0);
            self.events.add(now, Kind::Answer, self.far[place as usize], accepted);
        } else if let Some((channel, packet)) = self.queues.send(place) {
            let slot = (link.sent_first + link.sent) as usize % UNDER_WAY;
            self.under_way[place as usize * UNDER_WAY + slot] = (channel, packet);
            link.sent += 1;
            link.busy = true;
            self.events.add(now, Kind::PacketSent, place, 0);
            self.events.add(now, Kind::Arrival, self.far[place as usize], packet);
        }
    }

    fn answer(&mut self, now: Femtoseconds, place: u32, accepted: bool) {
        let place = self.opposite(place);
        let link = &mut self.links[place as usize];
        let (channel, packet) = self.under_way[place as usize * UNDER_WAY + link.sent_first as usize];
        link.sent_first = (link.sent_first + 1) % UNDER_WAY as u32;
        link.sent -= 1;
        if accepted {
            self.queues.release(place, channel, packet);
        } else {
            self.queues.retry(place, channel, packet);
            self.serve(now, place);
        }
    }

    fn injection(&mut self, now: Femtoseconds, node: u32) {
        let used = self.queues.used_adaptive(node * self.directions, self.directions);
        let generator = &self.generators[node as usize];
        let (leg, detour) = generator.ways.choose(used, self.parameters.capacity, self.idle);
        let packet = Packet {
            created: self.clock.creation(generator.message),
            destination: generator.destination,
            leg,
            hops: 0,
            derouting: detour.map(|d| d.0),
            to_intermediate: detour.is_some_and(|d| d.0 != Derouting::Orthant),
            channel: 0,
        };
        let number = self.free_packets.pop().unwrap_or_else(|| {
            self.packets.push(packet);
            self.packets.len() as u32 - 1
        });
        let out = self.take(now, node, packet, number, None);
        match out {
            None => self.free_packets.push(number),
            Some(Some(link)) => self.serve(now, link),
            Some(None) => {}
        }
        self.events.add(now, Kind::InjectionAnswer, node, u32::from(out.is_some()));
    }

    fn injection_answer(&mut self, now: Femtoseconds, node: u32, accepted: bool) {
        let generator = &mut self.generators[node as usize];
        generator.outstanding = false;
        if accepted {
            generator.sent += 1;
            if generator.sent == self.parameters.message_packets {
                generator.sent = 0;
                generator.message += 1;
                generator.started = false;
            }
        }
        if generator.message < self.created {
            self.wait(now, node);
        }
    }

    fn eject(&mut self, now: Femtoseconds, node: u32) {
        let ejection = &mut self.ejections[node as usize];
        if !ejection.busy && let Some(packet) = ejection.packets.pop_front() {
            ejection.busy = true;
            self.events.add(now, Kind::Delivery, node, packet);
            self.events.add(now, Kind::EjectionSent, node, 0);
            self.events.add(now, Kind::EjectionAnswer, node, 0);
        }
    }
}
