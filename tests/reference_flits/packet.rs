//! Messages, and the packets into which they are cut.

use std::collections::BTreeSet;

use flitlab::{
    engine::{REQUEST_CHANNEL, RESPONSE_CHANNEL},
    routing::{Course, Routes},
    traffic::{Kind, Message},
    units::Picoseconds,
};

use crate::reference::choosing::injected_on;

use super::Simulator;

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

/// A packet, from its creation to its delivery.
pub struct Packet {
    pub transfer: usize,
    pub is_response: bool,
    pub source: u32,
    pub destination: u32,
    pub injection_channel: u8,
    /// The one in which its header was sent last on an injection or network channel.
    pub virtual_channel: u8,
    /// Whether it chooses its outputs.
    pub adaptive: bool,
    /// Its course since it was injected, if it chooses its outputs.
    pub course: Option<Course>,
    /// Whether its source router has decided on detours.
    pub decided: bool,
    pub passed_intermediate: bool,
    pub flits: u32,
    pub payload: u32,
    pub created: Picoseconds,
    /// Set when its header is sent by the adapter, like `injected`.
    pub sequence: u32,
    pub injected: Picoseconds,
    /// Output ports of its route, one a hop.
    pub ports: Vec<u16>,
    /// The virtual channel of each hop, if its path says so.
    pub lanes: Vec<usize>,
    /// The dimensions in which its way passes the dateline.
    pub datelines: BTreeSet<u32>,
    /// The fabric's channel of which its header got a virtual channel last.
    pub came: Option<u32>,
    /// How many hops of its reserve it has taken.
    pub reserves: u32,
    /// Network channels of which its header has got a virtual channel.
    pub hops: usize,
    /// The failed channel that swallows it.
    pub swallowed_by: Option<usize>,
    /// Whether its sink has no use for it.
    pub lost: bool,
}

impl Simulator<'_> {
    /// Notes when each message enters its queue.
    pub fn create_messages(&mut self, messages: &[Message]) {
        let mut messages = messages.to_vec();
        messages.sort_by_key(|message| message.time);
        for message in messages {
            let transfer = self.transfers.len();
            self.transfers.push(Transfer { message, packets_missing: 0 });
            // It gets its channel when it enters the queue.
            let entry = Entry { transfer, injection_channel: 0, is_response: false };
            self.schedule(message.time + self.parameters.send_overhead, entry);
        }
    }

    /// Cuts what enters the queues now into packets. A terminal's messages take its injection channels in turn.
    pub fn enter_messages(&mut self, now: Picoseconds) {
        let mut entries = self.entries.remove(&now).unwrap_or_default();
        // What terminals create themselves comes first, then responses, those of atomic operations last.
        entries.sort_by_key(|entry| match self.transfers[entry.transfer].message.kind {
            _ if !entry.is_response => 0,
            Kind::Atomic { .. } => 2,
            _ => 1,
        });
        for mut entry in entries {
            let message = self.transfers[entry.transfer].message;
            if !entry.is_response {
                if self.is_cut_off(&message, now) {
                    self.losses.messages.insert(entry.transfer);
                    continue;
                }
                let created = &mut self.adapters[message.source as usize].created;
                entry.injection_channel = (*created % self.parameters.injection_channels) as u8;
                *created += 1;
            }
            let mut rest = match message.kind {
                Kind::Read { request } | Kind::Atomic { request } if !entry.is_response => {
                    u64::from(request)
                }
                // An acknowledgement carries nothing.
                Kind::Put if entry.is_response => 0,
                Kind::Read { .. } | Kind::Atomic { .. } | Kind::Put | Kind::Data => message.bytes,
                Kind::Operand | Kind::Broadcast => unreachable!("no collective operations here"),
            };
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
        let ends = (message.source, message.destination);
        let (source, destination) = if is_response { (ends.1, ends.0) } else { ends };
        let router = |terminal| self.fabric.terminal_router(terminal).expect("terminals are live");
        let (from, to) = (router(source), router(destination));
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
            virtual_channel: 0,
            adaptive: matches!(self.routes, Routes::Adaptive(_))
                && message.kind == Kind::Data
                && from != to,
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
            hops: 0,
            swallowed_by: None,
            lost: false,
        });
        self.undelivered += 1;
        self.transfers[transfer].packets_missing += 1;
        let allowed = self.injected_on(packet, message.kind);
        let queues = &mut self.adapters[source as usize].injection[usize::from(injection_channel)];
        let queue = queues.queues.iter_mut().find(|queue| queue.virtual_channels == allowed);
        queue.expect("each kind has one").waiting.push_back(packet);
    }

    /// The virtual channels in which a packet may be injected.
    fn injected_on(&self, packet: usize, kind: Kind) -> Vec<usize> {
        let Packet { source, destination, is_response, .. } = self.packets[packet];
        match self.routes {
            Routes::DirectionOrder(_) | Routes::Table(_) => self.channels_of_kind(is_response),
            Routes::Forwarding(_) => {
                let router = self.fabric.terminal_router(source).expect("terminals are live");
                let looked_up = self.looked_up(router, source, destination, None);
                vec![looked_up.map_or(0, |(_, lane)| lane)]
            }
            Routes::Relation(_) | Routes::Paths(_) => {
                let all = self.virtual_channels();
                injected_on(self.routes, destination, all).into_iter().collect()
            }
            Routes::Adaptive(it) => {
                let virtual_channel = match kind {
                    Kind::Data => it.rules().channels.adaptive,
                    Kind::Read { .. } | Kind::Put | Kind::Atomic { .. } => {
                        if is_response {
                            RESPONSE_CHANNEL
                        } else {
                            REQUEST_CHANNEL
                        }
                    }
                    Kind::Operand | Kind::Broadcast => {
                        unreachable!("no collective operations here")
                    }
                };
                vec![virtual_channel.into()]
            }
        }
    }

    /// The virtual channels of data and requests, or of responses, where packets may take any of their kind.
    pub fn channels_of_kind(&self, is_response: bool) -> Vec<usize> {
        let all = self.virtual_channels();
        let half = if self.has_reads { all / 2 } else { all };
        if is_response { (half..all).collect() } else { (0..half).collect() }
    }
}
