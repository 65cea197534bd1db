//! Adapters: from messages to source queues, and from these to injection channels.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_engine::{REQUEST_CHANNEL, RESPONSE_CHANNEL};
use flitlab_routing::Routes;

use crate::shared::{
    channel::{ChannelKind, Moving},
    operations::{DOWN, UP},
    packet::Packet,
};

use super::{Simulator, network::Flit, turns::first_from};

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

impl Simulator<'_> {
    /// Gives each terminal its adapter.
    pub fn add_adapters(&mut self) {
        let channels = self.channels.iter().enumerate();
        let mut channels = channels.filter(|(_, channel)| channel.kind == ChannelKind::Injection);
        for terminal in self.fabric.live_terminals() {
            for _ in 0..self.parameters.injection_channels {
                let (channel, _) = channels.next().expect("they are in the order of terminals");
                let queues = self.source_queues();
                let injection =
                    Injection { channel, queues, pointer: 0, free_from: Picoseconds::ZERO };
                self.adapters[terminal as usize].push(injection);
            }
        }
    }

    /// A queue for each kind of packets where they may take any virtual channel of their kind, else
    /// one for each virtual channel.
    fn source_queues(&self) -> Vec<SourceQueue> {
        let mut kinds: Vec<Vec<usize>> = match self.routes {
            Routes::DirectionOrder(_) | Routes::Table(_) if self.own.parts_kinds => {
                [REQUEST_CHANNEL, RESPONSE_CHANNEL].map(|it| self.channels_of_kind(it)).into()
            }
            Routes::DirectionOrder(_) | Routes::Table(_) => {
                vec![self.channels_of_kind(REQUEST_CHANNEL)]
            }
            Routes::Forwarding(_)
            | Routes::Adaptive(_)
            | Routes::Relation(_)
            | Routes::Paths(_) => (0..self.virtual_channels()).map(|one| vec![one]).collect(),
        };
        let by_source = matches!(self.routes, Routes::DirectionOrder(_) | Routes::Table(_));
        let of_trees = [UP, DOWN].iter().filter(|_| by_source && self.collective.is_some());
        kinds.extend(of_trees.map(|&one| vec![one]));
        kinds.sort_unstable();
        let queue = |virtual_channels: Vec<usize>| SourceQueue {
            pointer: virtual_channels[0],
            virtual_channels,
            waiting: VecDeque::new(),
            sending: None,
        };
        kinds.into_iter().map(queue).collect()
    }

    /// The virtual channels for the request channel or the response channel, where packets may take
    /// any of their kind.
    pub fn channels_of_kind(&self, channel: u8) -> Vec<usize> {
        let all = self.channels_of_all();
        let half = if self.own.parts_kinds { all.len() / 2 } else { all.len() };
        if channel == RESPONSE_CHANNEL { all[half..].to_vec() } else { all[..half].to_vec() }
    }

    /// The virtual channels that are not the collective subnetwork's.
    pub fn channels_of_all(&self) -> Vec<usize> {
        (0..self.virtual_channels()).filter(|&one| !self.is_on_tree(one)).collect()
    }

    /// The source queue of a packet, of a virtual channel of trees if one is given.
    pub fn queue_of(&mut self, packet: &Packet, on_tree: Option<usize>) -> &mut VecDeque<usize> {
        let given = on_tree.or_else(|| self.terminals.injected_on(packet, self.routes));
        let allowed = match given {
            Some(virtual_channel) => vec![virtual_channel],
            None => self.channels_of_kind(packet.channel),
        };
        let adapter = &mut self.adapters[packet.source as usize];
        let queues = &mut adapter[usize::from(packet.injection_channel)].queues;
        let queue = queues.iter_mut().find(|queue| queue.virtual_channels == allowed);
        &mut queue.expect("each kind has one").waiting
    }

    /// Sends a flit on each free injection channel that has one to send.
    pub fn inject(&mut self, now: Picoseconds) {
        for terminal in 0..self.adapters.len() {
            for number in 0..self.adapters[terminal].len() {
                let injection = &self.adapters[terminal][number];
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

    /// What a source queue can send now, if its channel is free: the next flit of the packet that
    /// it is sending, or the header of its first packet.
    fn can_send(&self, terminal: usize, number: usize, queue: usize) -> Option<Sending> {
        let injection = &self.adapters[terminal][number];
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
        let injection = &mut self.adapters[terminal][number];
        let packet = &mut self.packets[packet];
        if next == 0 {
            injection.queues[queue].waiting.pop_front();
            injection.queues[queue].pointer = virtual_channel + 1;
            self.terminals.inject(packet, virtual_channel, self.routes, now);
        }
        let is_last = next + 1 == packet.flits;
        let rest = (!is_last).then_some(Sending { next: next + 1, ..sending });
        injection.queues[queue].sending = rest;
        injection.pointer = queue + 1;
        let channel = &mut self.channels[injection.channel];
        injection.free_from = now + channel.flit_time;
        let free_from = injection.free_from;
        channel.credits[virtual_channel] -= 1;
        let arrives = now + channel.latency;
        let content = Flit {
            packet: sending.packet,
            index: next,
            virtual_channel,
            number: 0,
            is_damaged: false,
        };
        channel.flits.push_back(Moving { arrives, content });
        self.own.digest.add(now, channel.number, packet.source, packet.sequence);
        self.due.extend([free_from, arrives]);
        if is_last {
            self.leaves_adapter(sending.packet, free_from);
        }
    }
}
