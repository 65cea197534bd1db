//! Adapters: from messages to packets, and from packets to injection channels.

use std::collections::{BTreeSet, VecDeque};

use flitlab::{
    engine::{REQUEST_CHANNEL, RESPONSE_CHANNEL},
    routing::{Course, Routes},
    traffic::{Kind, Message},
    units::Picoseconds,
};

use super::{
    Simulator,
    choosing::{injected_on, path},
    network::Sending,
};

/// A message's progress; of a read, first its request's, then its response's.
pub struct Transfer {
    pub message: Message,
    /// Packets of what is under way that have not been delivered.
    pub packets_missing: u64,
}

/// Something to be cut into packets when its time has come.
#[derive(Clone, Copy)]
pub struct Entry {
    pub transfer: usize,
    pub injection_channel: u8,
    pub is_response: bool,
}

/// A packet, from its creation to its delivery, or a copy of it that a link sent again.
#[derive(Clone)]
pub struct Packet {
    pub transfer: usize,
    pub is_response: bool,
    pub source: u32,
    pub destination: u32,
    pub injection_channel: u8,
    /// The one on which it was sent last.
    pub virtual_channel: u8,
    /// Whether it chooses its outputs.
    pub adaptive: bool,
    /// Its course since it was granted an injection channel, if it chooses its outputs.
    pub course: Option<Course>,
    /// Whether its source router has decided on detours.
    pub decided: bool,
    pub passed_intermediate: bool,
    pub flits: u32,
    pub payload: u32,
    pub created: Picoseconds,
    /// Set when the adapter grants it a channel, like `injected`.
    pub sequence: u32,
    pub injected: Picoseconds,
    /// Output ports of its route, one a hop; known when the adapter grants it a channel.
    pub ports: Vec<u16>,
    /// The virtual channel of each hop, if its path says so.
    pub lanes: Vec<usize>,
    /// The dimensions in which its way passes the dateline.
    pub datelines: BTreeSet<u32>,
    /// The fabric's channel on which it was sent last.
    pub came: Option<u32>,
    /// How many hops of its reserve it has taken.
    pub reserves: u32,
    /// Hops for which it has been granted the output.
    pub hops_granted: usize,
}

/// What waits for one injection channel.
pub struct InjectionQueues {
    pub channel: usize,
    /// Packets that wait, first in first out, by virtual channel.
    pub waiting: Vec<VecDeque<usize>>,
    /// The virtual channel that is looked at first.
    pub pointer: usize,
}

impl InjectionQueues {
    pub fn new(channel: usize, virtual_channels: u8) -> Self {
        let waiting = vec![VecDeque::new(); usize::from(virtual_channels)];
        Self { channel, waiting, pointer: 0 }
    }
}

/// A terminal's adapter.
#[derive(Default)]
pub struct Adapter {
    pub injection: Vec<InjectionQueues>,
    /// Packets granted so far.
    pub granted: u32,
}

impl Simulator<'_> {
    /// Gives each message its injection channel, in turn, and the time at which it enters its queue.
    pub fn create_messages(&mut self, messages: &[Message]) {
        let mut messages = messages.to_vec();
        messages.sort_by_key(|message| message.time);
        let mut created = vec![0; self.fabric.terminals() as usize];
        for message in messages {
            let count = &mut created[message.source as usize];
            let injection_channel = (*count % self.parameters.injection_channels) as u8;
            *count += 1;
            let transfer = self.transfers.len();
            self.transfers.push(Transfer { message, packets_missing: 0 });
            let entry = Entry { transfer, injection_channel, is_response: false };
            self.schedule(message.time + self.parameters.send_overhead, entry);
        }
    }

    /// Cuts what enters the queues now into packets.
    pub fn enter_messages(&mut self, now: Picoseconds) {
        let mut entries = self.entries.remove(&now).unwrap_or_default();
        // What terminals create themselves comes first, then responses, those of atomic operations last.
        entries.sort_by_key(|entry| match self.transfers[entry.transfer].message.kind {
            _ if !entry.is_response => 0,
            Kind::Atomic { .. } => 2,
            _ => 1,
        });
        for entry in entries {
            let message = self.transfers[entry.transfer].message;
            let bytes = match message.kind {
                Kind::Read { request } | Kind::Atomic { request } if !entry.is_response => {
                    u64::from(request)
                }
                // An acknowledgement carries nothing.
                Kind::Put if entry.is_response => 0,
                Kind::Read { .. } | Kind::Atomic { .. } | Kind::Put | Kind::Data => message.bytes,
                Kind::Operand | Kind::Broadcast => unreachable!("no collective operations here"),
            };
            let mut rest = bytes;
            loop {
                let payload = rest.min(self.parameters.maximum_payload.0);
                self.create_packet(entry, payload, now);
                rest -= payload;
                if rest == 0 {
                    break;
                }
                assert!(payload > 0, "a maximum payload of nothing carries empty messages only");
            }
        }
    }

    fn create_packet(&mut self, entry: Entry, payload: u64, now: Picoseconds) {
        let Entry { transfer, injection_channel, is_response } = entry;
        let message = self.transfers[transfer].message;
        let (source, destination, virtual_channel) = if is_response {
            (message.destination, message.source, RESPONSE_CHANNEL)
        } else {
            let virtual_channel = match (message.kind, self.routes) {
                (Kind::Data, Routes::Adaptive(it)) => it.rules().channels.adaptive,
                _ => REQUEST_CHANNEL,
            };
            (message.source, message.destination, virtual_channel)
        };
        let router = |terminal| self.fabric.terminal_router(terminal).expect("terminals are live");
        let (from, to) = (router(source), router(destination));
        let virtual_channel = match self.routes {
            Routes::Forwarding(_) => {
                let lane = self.next_lane(from, source, destination, None);
                lane.map_or(0, |(_, lane)| lane as u8)
            }
            Routes::DirectionOrder(order) if order.rules().dateline => 2 * virtual_channel,
            _ => {
                let any_fabric = injected_on(self.routes, destination, self.virtual_channels());
                any_fabric.map_or(virtual_channel, |lane| lane as u8)
            }
        };
        let route = self.routes.source_route(self.fabric, from, to).unwrap_or_default();
        let carrying = payload.div_ceil(self.parameters.flit.0) as u32;
        let flits = self.parameters.header_flits + carrying + self.parameters.checksum_flits;
        let packet = self.packets.len();
        self.packets.push(Packet {
            transfer,
            is_response,
            source,
            destination,
            injection_channel,
            virtual_channel,
            adaptive: match self.routes {
                Routes::Adaptive(it) => {
                    virtual_channel == it.rules().channels.adaptive && from != to
                }
                _ => false,
            },
            course: None,
            decided: false,
            passed_intermediate: false,
            flits: flits.max(1),
            payload: payload as u32,
            created: now,
            sequence: u32::MAX,
            injected: Picoseconds::MAX,
            ports: route.ports().collect(),
            lanes: Vec::new(),
            datelines: BTreeSet::new(),
            came: None,
            reserves: 0,
            hops_granted: 0,
        });
        self.created += 1;
        self.undelivered += 1;
        self.transfers[transfer].packets_missing += 1;
        let queues = &mut self.adapters[source as usize].injection[usize::from(injection_channel)];
        queues.waiting[usize::from(virtual_channel)].push_back(packet);
    }

    /// Gives each free injection channel the next packet that its credits cover.
    pub fn grant_injection(&mut self, now: Picoseconds) {
        let virtual_channels = self.virtual_channels();
        for adapter in &mut self.adapters {
            for queues in &mut adapter.injection {
                let channel = &mut self.channels[queues.channel];
                if channel.sending.is_some() {
                    continue;
                }
                let fits = |&virtual_channel: &usize| {
                    queues.waiting[virtual_channel].front().is_some_and(|&packet| {
                        self.packets[packet].flits <= channel.credits[virtual_channel]
                    })
                };
                let cyclic = (0..virtual_channels)
                    .map(|step| (queues.pointer + step) % virtual_channels)
                    .find(fits);
                let Some(virtual_channel) = cyclic else { continue };
                let number = queues.waiting[virtual_channel].pop_front().expect("it was looked at");
                let packet = &mut self.packets[number];
                packet.sequence = adapter.granted;
                packet.injected = now;
                if let (Routes::Adaptive(it), true) = (self.routes, packet.adaptive) {
                    let router = |terminal| self.fabric.terminal_router(terminal).expect("live");
                    let random = Some(&mut self.random[packet.source as usize]);
                    let random = random.filter(|_| it.rules().is_random());
                    let (from, to) = (router(packet.source), router(packet.destination));
                    packet.course = Some(it.inject(from, to, random));
                }
                if let Routes::DirectionOrder(order) = self.routes {
                    let router = |terminal| self.fabric.terminal_router(terminal).expect("live");
                    let ends = (router(packet.source), router(packet.destination));
                    let way = super::ways::way(self.fabric, order, ends, packet.sequence);
                    (packet.ports, packet.datelines) = (way.ports, way.datelines);
                }
                if let Routes::Paths(routes) = self.routes {
                    let ends = (packet.source, packet.destination);
                    let turns = &mut self.turns;
                    let path = path(routes, self.fabric, ends, packet.sequence, turns);
                    packet.ports = path.iter().map(|hop| hop.port).collect();
                    packet.lanes = path.iter().map(|hop| usize::from(hop.lane)).collect();
                }
                adapter.granted += 1;
                queues.pointer = (virtual_channel + 1) % virtual_channels;
                channel.credits[virtual_channel] -= packet.flits;
                channel.sending = Some(Sending {
                    packet: number,
                    onto: virtual_channel,
                    from: None,
                    started: 0,
                    began: now,
                    latest_start: now,
                    number: 0,
                    void_from: 0,
                });
            }
        }
    }
}
