//! Adapters: packets wait there for injection channels, and are granted them.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_routing::Routes;

use super::{
    Simulator,
    network::{Sending, Source},
    packet::Packet,
};

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

impl Simulator<'_> {
    /// Cuts what enters the queues now into packets.
    pub fn enter_messages(&mut self, now: Picoseconds) {
        for entry in self.terminals.entering(now) {
            if self.is_cut_off(entry, now) {
                self.losses.messages.insert(entry.transfer);
                continue;
            }
            for packet in self.terminals.cut(entry, self.routes, now) {
                let virtual_channel = self.injected_on(&packet);
                let queues = &mut self.adapters[packet.source as usize];
                let queues = &mut queues[usize::from(packet.injection_channel)];
                queues.waiting[virtual_channel].push_back(self.packets.len());
                self.packets.push(packet);
                self.created += 1;
            }
        }
    }

    /// The virtual channel in which a packet is injected.
    fn injected_on(&self, packet: &Packet) -> usize {
        let by_source = match self.routes {
            Routes::DirectionOrder(order) if order.rules().dateline => 2 * packet.channel,
            _ => packet.channel,
        };
        self.terminals.injected_on(packet, self.routes).unwrap_or(by_source.into())
    }

    /// Gives each free injection channel the next packet that its credits cover.
    pub fn grant_injection(&mut self, now: Picoseconds) {
        if self.paused {
            return;
        }
        let virtual_channels = self.virtual_channels();
        for queues in self.adapters.iter_mut().flatten() {
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
            self.terminals.inject(packet, virtual_channel, self.routes, now);
            queues.pointer = (virtual_channel + 1) % virtual_channels;
            channel.credits[virtual_channel] -= packet.flits;
            channel.sending = Some(Sending {
                packet: number,
                out_vc: virtual_channel,
                from: Source::Whole,
                started: 0,
                began: now,
                latest_start: now,
                number: 0,
                void_from: 0,
            });
        }
    }
}
