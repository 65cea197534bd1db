//! Adapters: from source queues to injection channels.

use std::collections::VecDeque;

use flitlab::{routing::Routes, units::Picoseconds};

use crate::reference::{choosing::path, ways};

use super::{
    Simulator, first_from,
    network::{ChannelKind, Flit, Moving},
};

/// A packet that is being sent.
#[derive(Clone, Copy)]
pub struct Sending {
    packet: usize,
    virtual_channel: usize,
    /// The flit that is sent next.
    next: u32,
}

/// A queue of packets that may take the same virtual channels.
pub struct SourceQueue {
    pub virtual_channels: Vec<usize>,
    /// Packets of which nothing has been sent.
    pub waiting: VecDeque<usize>,
    pub sending: Option<Sending>,
    /// The virtual channel that is looked at first.
    pointer: usize,
}

/// An injection channel with the queues that it serves, by their lowest virtual channels.
pub struct Injection {
    pub channel: usize,
    pub queues: Vec<SourceQueue>,
    /// The queue that is looked at first.
    pointer: usize,
    free_from: Picoseconds,
}

/// A terminal's adapter.
#[derive(Default)]
pub struct Adapter {
    pub injection: Vec<Injection>,
    /// Packets of which a flit has been sent, and messages that have entered queues.
    pub begun: u32,
    pub created: u32,
}

impl Simulator<'_> {
    /// Gives each terminal its adapter.
    pub fn add_adapters(&mut self) {
        self.adapters = (0..self.fabric.terminals()).map(|_| Adapter::default()).collect();
        let channels = self.channels.iter().enumerate();
        let mut channels = channels.filter(|(_, channel)| channel.kind == ChannelKind::Injection);
        for terminal in self.fabric.live_terminals() {
            for _ in 0..self.parameters.injection_channels {
                let (channel, _) = channels.next().expect("they are in the order of terminals");
                let queues = self.source_queues();
                let injection = Injection { channel, queues, pointer: 0, free_from: 0 };
                self.adapters[terminal as usize].injection.push(injection);
            }
        }
    }

    /// A queue for each kind of packets where they may take any virtual channel of their kind, else one for each virtual
    /// channel.
    fn source_queues(&self) -> Vec<SourceQueue> {
        let kinds = match self.routes {
            Routes::DirectionOrder(_) | Routes::Table(_) if self.has_reads => {
                vec![self.channels_of_kind(false), self.channels_of_kind(true)]
            }
            Routes::DirectionOrder(_) | Routes::Table(_) => vec![self.channels_of_kind(false)],
            Routes::Forwarding(_)
            | Routes::Adaptive(_)
            | Routes::Relation(_)
            | Routes::Paths(_) => (0..self.virtual_channels()).map(|one| vec![one]).collect(),
        };
        let queue = |virtual_channels: Vec<usize>| SourceQueue {
            pointer: virtual_channels[0],
            virtual_channels,
            waiting: VecDeque::new(),
            sending: None,
        };
        kinds.into_iter().map(queue).collect()
    }

    /// Sends a flit on each free injection channel that has one to send.
    pub fn inject(&mut self, now: Picoseconds) {
        for terminal in 0..self.adapters.len() {
            for number in 0..self.adapters[terminal].injection.len() {
                let injection = &self.adapters[terminal].injection[number];
                if injection.free_from > now {
                    continue;
                }
                let queues = 0..injection.queues.len();
                let can = queues.filter(|&queue| self.can_send(terminal, number, queue).is_some());
                if let Some(queue) = first_from(injection.pointer, can) {
                    self.send_from_queue(terminal, number, queue, now);
                }
            }
        }
    }

    /// What a source queue can send now, if its channel is free: the next flit of the packet that it is sending, or the
    /// header of its first packet.
    fn can_send(&self, terminal: usize, number: usize, queue: usize) -> Option<Sending> {
        let injection = &self.adapters[terminal].injection[number];
        let queue = &injection.queues[queue];
        let credits = &self.channels[injection.channel].credits;
        if let Some(sending) = queue.sending {
            return (credits[sending.virtual_channel] > 0).then_some(sending);
        }
        if self.paused {
            return None;
        }
        let &packet = queue.waiting.front()?;
        let needed = if self.wormhole() { 1 } else { self.packets[packet].flits };
        let virtual_channels = queue.virtual_channels.iter().copied();
        let fits = virtual_channels.filter(|&number| credits[number] >= needed);
        let virtual_channel = first_from(queue.pointer, fits)?;
        Some(Sending { packet, virtual_channel, next: 0 })
    }

    fn send_from_queue(&mut self, terminal: usize, number: usize, queue: usize, now: Picoseconds) {
        let sending = self.can_send(terminal, number, queue).expect("it was looked at");
        let Sending { packet, virtual_channel, next } = sending;
        if next == 0 {
            self.begin(terminal, number, queue, sending, now);
        }
        let injection = &mut self.adapters[terminal].injection[number];
        let packet = &self.packets[packet];
        let is_last = next + 1 == packet.flits;
        let rest = (!is_last).then_some(Sending { next: next + 1, ..sending });
        injection.queues[queue].sending = rest;
        injection.pointer = queue + 1;
        let channel = &mut self.channels[injection.channel];
        injection.free_from = now + channel.flit_time;
        channel.credits[virtual_channel] -= 1;
        let arrives = now + channel.latency;
        let content = Flit { packet: sending.packet, index: next, virtual_channel };
        channel.flits.push_back(Moving { arrives, content });
        self.digest.add(now, channel.number, packet.source, packet.sequence);
        self.due.extend([injection.free_from, arrives]);
    }

    /// Numbers a packet whose header is sent now and gives it its course if it chooses its way.
    fn begin(
        &mut self,
        terminal: usize,
        number: usize,
        queue: usize,
        sending: Sending,
        now: Picoseconds,
    ) {
        let adapter = &mut self.adapters[terminal];
        let queue = &mut adapter.injection[number].queues[queue];
        queue.waiting.pop_front();
        queue.pointer = sending.virtual_channel + 1;
        let packet = &mut self.packets[sending.packet];
        packet.sequence = adapter.begun;
        if let Routes::DirectionOrder(order) = self.routes {
            let router = |terminal| self.fabric.terminal_router(terminal).expect("live");
            let ends = (router(packet.source), router(packet.destination));
            let way = ways::way(self.fabric, order, ends, packet.sequence);
            (packet.ports, packet.datelines) = (way.ports, way.datelines);
        }
        if let Routes::Paths(routes) = self.routes {
            let ends = (packet.source, packet.destination);
            let path = path(routes, self.fabric, ends, packet.sequence, &mut self.turns);
            packet.ports = path.iter().map(|hop| hop.port).collect();
            packet.lanes = path.iter().map(|hop| usize::from(hop.lane)).collect();
        }
        adapter.begun += 1;
        packet.injected = now;
        packet.virtual_channel = sending.virtual_channel as u8;
        if let (Routes::Adaptive(it), true) = (self.routes, packet.adaptive) {
            let router = |terminal| self.fabric.terminal_router(terminal).expect("live");
            let random = Some(&mut self.random[terminal]).filter(|_| it.rules().is_random());
            packet.course =
                Some(it.inject(router(packet.source), router(packet.destination), random));
        }
    }
}
