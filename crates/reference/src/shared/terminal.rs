//! Terminals, which are the same in both models of links: how their messages are cut into packets,
//! and what follows when packets have come.

use std::collections::{BTreeMap, BTreeSet};

use flitlab_base::units::Picoseconds;
use flitlab_engine::{CompletedMessage, DeliveredPacket, InjectionChoice, Log, Parameters};
use flitlab_fabric::Fabric;
use flitlab_model::workload::{Message, MessageKind};
use flitlab_routing::{Routes, relation::Hop};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::{
    atomics::Atomics,
    choosing::{self, Turns},
    classes,
    detours::Adaptive,
    packet::{Packet, flits_of},
    phased::Phased,
    ways,
};

/// A message's progress; of a read, first its request's, then its response's.
pub struct Transfer {
    pub message: Message,
    /// Packets of what is under way that have not been delivered.
    packets_missing: u64,
}

/// Something to be cut into packets when its time has come: a message, or the response to it.
#[derive(Clone, Copy)]
pub struct Entry {
    pub transfer: usize,
    /// Of a response the injection channel, which is that of its request.
    pub response_on: Option<u8>,
}

/// All terminals. Routes are not theirs, as others may take their place when something fails.
pub struct Terminals<'a> {
    fabric: &'a Fabric,
    parameters: &'a Parameters,
    /// The messages as the terminals created them, and how much of each is still missing.
    pub transfers: Vec<Transfer>,
    /// What will enter queues, by time, in order of creation.
    entries: BTreeMap<Picoseconds, Vec<Entry>>,
    /// Packets that have been cut, and neither delivered nor lost.
    pub undelivered: usize,
    pub log: Log,
    /// Of each terminal, messages that have entered its queues.
    created: Vec<u32>,
    /// Of each terminal, packets that have been injected.
    pub begun: Vec<u32>,
    /// Of each terminal, for packets that choose their way.
    random: Vec<ChaCha8Rng>,
    /// Of packets that choose their way.
    pub adaptive: Option<Adaptive<'a>>,
    pub phased: Option<Phased<'a>>,
    /// Number of virtual channels of each set, where packets go by tables or paths.
    pub set_size: usize,
    /// Of sources that take paths in turn.
    turns: Turns,
    atomics: Atomics,
    /// Of each terminal, how many responses more its adapter can hold; `None` without a limit.
    resources: Option<Vec<u16>>,
}

impl<'a> Terminals<'a> {
    /// With messages that enter queues at their times, those of one time in the order given.
    pub fn new(
        fabric: &'a Fabric,
        routes: &'a Routes,
        parameters: &'a Parameters,
        messages: &[Message],
    ) -> Self {
        let all = fabric.terminals();
        let mut terminals = Self {
            fabric,
            parameters,
            transfers: Vec::new(),
            entries: BTreeMap::new(),
            undelivered: 0,
            log: Log::default(),
            created: vec![0; all as usize],
            begun: vec![0; all as usize],
            random: (0..all).map(|terminal| random(routes, terminal)).collect(),
            adaptive: Adaptive::new(fabric, routes),
            phased: Phased::new(fabric, routes),
            set_size: classes::set_size(parameters, routes),
            turns: Turns::new(),
            atomics: Atomics::default(),
            resources: parameters.responder_resources.map(|each| vec![each; all as usize]),
        };
        let mut messages = messages.to_vec();
        messages.sort_by_key(|message| message.time);
        for (transfer, message) in messages.into_iter().enumerate() {
            terminals.transfers.push(Transfer { message, packets_missing: 0 });
            let entry = Entry { transfer, response_on: None };
            terminals.schedule(message.time + parameters.send_overhead, entry);
        }
        terminals
    }

    fn schedule(&mut self, time: Picoseconds, entry: Entry) {
        self.entries.entry(time).or_default().push(entry);
    }

    fn router(&self, terminal: u32) -> u32 {
        self.fabric.terminal_router(terminal).expect("terminals are live")
    }

    /// When something is due, here or elsewhere in the network.
    pub fn next_due(&self, elsewhere: &BTreeSet<Picoseconds>) -> Option<Picoseconds> {
        self.entries.keys().next().into_iter().chain(elsewhere.first()).min().copied()
    }

    /// From now on these routes lead through what is left of the fabric.
    pub fn change_routes(&mut self, left: &'a Fabric, routes: &'a Routes) {
        self.fabric = left;
        self.adaptive = Adaptive::new(left, routes);
        self.phased = Phased::new(left, routes);
        self.turns.clear();
    }

    /// Gives a packet that waits the route that is in the table now, if there is one.
    pub fn renew(&self, packet: &mut Packet, routes: &Routes) {
        let (from, to) = (self.router(packet.source), self.router(packet.destination));
        let route = routes.source_route(self.fabric, from, to).unwrap_or_default();
        packet.ports = route.ports().collect();
    }

    /// What enters queues now, in this order: first what terminals create themselves, then
    /// responses, those of atomic operations last.
    pub fn entering(&mut self, now: Picoseconds) -> Vec<Entry> {
        let mut entries = self.entries.remove(&now).unwrap_or_default();
        entries.sort_by_key(|entry| match self.transfers[entry.transfer].message.kind {
            _ if entry.response_on.is_none() => 0,
            MessageKind::Atomic { .. } => 2,
            _ => 1,
        });
        entries
    }

    /// The packets of what enters its queue now.
    pub fn cut(&mut self, entry: Entry, routes: &Routes, now: Picoseconds) -> Vec<Packet> {
        let Entry { transfer, response_on } = entry;
        let message = self.transfers[transfer].message;
        let is_response = response_on.is_some();
        let ends = (message.source, message.destination);
        let (source, destination) = if is_response { (ends.1, ends.0) } else { ends };
        let injection_channel = response_on.unwrap_or_else(|| {
            let created = &mut self.created[source as usize];
            *created += 1;
            let number = match self.parameters.injection_choice {
                InjectionChoice::InTurn => *created - 1,
                InjectionChoice::ByDestination => destination,
            };
            (number % self.parameters.injection_channels) as u8
        });
        let (from, to) = (self.router(source), self.router(destination));
        let route = routes.source_route(self.fabric, from, to).unwrap_or_default();
        let packet = Packet {
            transfer,
            is_response,
            channel: classes::channel(self.parameters, &message, is_response),
            first_of_set: classes::first_of_set(self.parameters, &message, self.set_size),
            injection_channel,
            adaptive: matches!(routes, Routes::Adaptive(_))
                && classes::choose(self.parameters, &message, is_response)
                && from != to,
            created: now,
            ports: route.ports().collect(),
            ..Packet::new(source, destination)
        };
        let mut rest = match message.kind {
            MessageKind::Read { request } | MessageKind::Atomic { request } if !is_response => {
                request.into()
            }
            // An acknowledgement carries nothing.
            MessageKind::Put if is_response => 0,
            MessageKind::Read { .. }
            | MessageKind::Atomic { .. }
            | MessageKind::Put
            | MessageKind::Data => message.bytes,
            MessageKind::Operand | MessageKind::Broadcast => {
                unreachable!("no collective operations here")
            }
        };
        let mut packets = Vec::new();
        loop {
            let payload = rest.min(self.parameters.maximum_payload.0);
            let (flits, payload_bytes) = (flits_of(self.parameters, payload), payload as u32);
            packets.push(Packet { flits, payload: payload_bytes, ..packet.clone() });
            rest -= payload;
            if rest == 0 {
                packets.last_mut().expect("it was put there").is_last = true;
                break;
            }
            assert!(payload > 0, "a maximum payload of nothing carries empty messages only");
        }
        self.undelivered += packets.len();
        self.transfers[transfer].packets_missing += packets.len() as u64;
        packets
    }

    /// The virtual channel in which a packet is injected; `None` by direction order or a table of
    /// routes, where the models of links differ.
    pub fn injected_on(&self, packet: &Packet, routes: &Routes) -> Option<usize> {
        let message = &self.transfers[packet.transfer].message;
        match routes {
            Routes::DirectionOrder(_) | Routes::Table(_) => None,
            Routes::Forwarding(_) => {
                let looked_up = packet.looked_up(self.fabric, routes, self.router(packet.source));
                Some(looked_up.map_or(packet.first_of_set, |(_, vc)| vc))
            }
            Routes::Relation(of) => {
                let all = self.set_size.min(of.injection_vcs.into());
                Some(packet.destination as usize % all)
            }
            Routes::Paths(_) => {
                Some(packet.first_of_set + packet.destination as usize % self.set_size)
            }
            Routes::Adaptive(it)
                if classes::choose(self.parameters, message, packet.is_response) =>
            {
                Some(it.rules().channels.adaptive.into())
            }
            Routes::Adaptive(_) => Some(packet.lowest_channel(self.adaptive.as_ref())),
        }
    }

    /// A packet is injected now, in a virtual channel: it gets its number, and its way if the
    /// source decides on that.
    pub fn inject(
        &mut self,
        packet: &mut Packet,
        virtual_channel: usize,
        routes: &Routes,
        now: Picoseconds,
    ) {
        let source = packet.source as usize;
        packet.virtual_channel = virtual_channel as u8;
        packet.injected = now;
        packet.sequence = self.begun[source];
        self.begun[source] += 1;
        if packet.operation.is_some() {
            return;
        }
        let (from, to) = (self.router(packet.source), self.router(packet.destination));
        match routes {
            Routes::Adaptive(_) if packet.adaptive => {
                let adaptive = self.adaptive.as_ref().expect("the routing is adaptive");
                packet.course = Some(adaptive.inject(from, to, &mut self.random[source]));
                packet.undecided = adaptive.decides();
            }
            Routes::DirectionOrder(order) => {
                let way = ways::way(self.fabric, order, (from, to), packet.sequence);
                (packet.ports, packet.datelines) = (way.ports, way.datelines);
            }
            Routes::Table(table) => {
                let routes = table.headers(from, to);
                if routes.len() > 1 {
                    let torus = self.fabric.torus().expect("tables of routes are for tori");
                    let header = choosing::header(&routes, packet, to, &mut self.turns);
                    let route = header.route(torus, from, to).expect("the table leads there");
                    packet.ports = route.ports().collect();
                }
            }
            Routes::Paths(routes) => {
                let path = choosing::path(routes, packet, (from, to), &mut self.turns);
                packet.ports = path.iter().map(|hop| hop.port).collect();
                let vc = |hop: &Hop| packet.first_of_set + usize::from(hop.vc);
                packet.vcs = path.iter().map(vc).collect();
            }
            Routes::Relation(_) => {
                packet.progress = self.phased.as_ref().map(|phased| phased.start(packet));
            }
            _ => {}
        }
    }

    /// Whether a packet's terminal takes it in now: the last one of a request needs room for the
    /// response.
    pub fn takes_in(&self, packet: &Packet) -> bool {
        let left = self.resources.as_ref().map(|all| all[packet.destination as usize]);
        !self.ends_request(packet) || left != Some(0)
    }

    /// A packet is granted an ejection channel.
    pub fn hold(&mut self, packet: &Packet) {
        if self.ends_request(packet)
            && let Some(all) = &mut self.resources
        {
            all[packet.destination as usize] -= 1;
        }
    }

    /// The last flit of a packet has left on an injection channel.
    pub fn let_go(&mut self, packet: &Packet) {
        if packet.is_response
            && packet.is_last
            && let Some(all) = &mut self.resources
        {
            all[packet.source as usize] += 1;
        }
    }

    fn ends_request(&self, packet: &Packet) -> bool {
        let is_data = self.transfers[packet.transfer].message.kind == MessageKind::Data;
        packet.is_last && !packet.is_response && !is_data
    }

    /// A packet of a message is not waited for any more, as it has been delivered or is lost; whether
    /// it is the last one.
    pub fn settle(&mut self, transfer: usize) -> bool {
        self.undelivered -= 1;
        self.transfers[transfer].packets_missing -= 1;
        self.transfers[transfer].packets_missing == 0
    }

    /// Records a packet that has been delivered now; whether it is the last one of a message, a
    /// request or a response.
    pub fn deliver(&mut self, packet: &Packet, now: Picoseconds) -> bool {
        self.log.packets.push(DeliveredPacket {
            class: self.transfers[packet.transfer].message.class,
            source: packet.source,
            destination: packet.destination,
            sequence: packet.sequence,
            injection_channel: packet.injection_channel,
            virtual_channel: packet.virtual_channel,
            flits: packet.flits,
            payload: packet.payload,
            hops: packet.hops as u32,
            misroute: packet.misroute(),
            created: packet.created,
            injected: packet.injected,
            delivered: now,
        });
        self.settle(packet.transfer)
    }

    /// Does what follows when all has come of which this was the last packet.
    pub fn complete(&mut self, packet: &Packet, now: Picoseconds) {
        let &Packet { transfer, injection_channel, is_response, .. } = packet;
        let message = self.transfers[transfer].message;
        match message.kind {
            MessageKind::Atomic { .. } if !is_response => {
                let target = message.destination;
                self.atomics.come(target, transfer, injection_channel, self.parameters);
            }
            MessageKind::Read { .. } | MessageKind::Put if !is_response => {
                let entry = Entry { transfer, response_on: Some(injection_channel) };
                self.schedule(now + self.parameters.service_time, entry);
            }
            _ => self.log.messages.push(CompletedMessage {
                class: message.class,
                source: message.source,
                destination: message.destination,
                bytes: message.bytes,
                is_control: false,
                created: message.time,
                completed: now + self.parameters.receive_overhead,
            }),
        }
    }

    /// Performs the atomic operations whose requests have come now.
    pub fn perform_atomics(&mut self, now: Picoseconds) {
        for (time, transfer, injection_channel) in self.atomics.perform(now, self.parameters) {
            self.schedule(time, Entry { transfer, response_on: Some(injection_channel) });
        }
    }

    /// Panics if anything is still to come.
    pub fn check_idle(&self) {
        assert!(self.entries.is_empty());
        let limit = self.parameters.responder_resources;
        let mut left = self.resources.iter().flatten();
        assert!(left.all(|&left| Some(left) == limit), "all responses have left");
        assert!(self.transfers.iter().all(|transfer| transfer.packets_missing == 0));
    }
}

/// A terminal's stream of random numbers.
fn random(routes: &Routes, terminal: u32) -> ChaCha8Rng {
    let seed = match routes {
        Routes::Adaptive(adaptive) => adaptive.seed(),
        _ => 0,
    };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(terminal.into());
    random
}
