//! Adapters: packets wait there for injection channels, and are granted them.

use std::collections::VecDeque;

use flitlab_base::units::Picoseconds;
use flitlab_routing::Routes;

use super::{
    Simulator,
    network::{Sending, Source},
    packet::Packet,
    terminal::Terminals,
};

/// What waits for one injection channel.
pub struct InjectionQueues {
    pub channel: usize,
    /// Packets that wait, first in first out, by virtual channel.
    pub waiting: Vec<VecDeque<usize>>,
    /// The virtual channel that is looked at first.
    pointer: usize,
}

impl InjectionQueues {
    pub fn new(channel: usize, virtual_channels: u8) -> Self {
        let waiting = vec![VecDeque::new(); usize::from(virtual_channels)];
        Self { channel, waiting, pointer: 0 }
    }

    /// Takes the packet that the channel gets if it is free, and the virtual channel: the first one
    /// in turn whose first packet fits.
    pub fn take(&mut self, fits: impl Fn(usize, usize) -> bool) -> Option<(usize, usize)> {
        let all = self.waiting.len();
        let mut cyclic = (0..all).map(|step| (self.pointer + step) % all);
        let first_fits = |&vc: &usize| self.waiting[vc].front().is_some_and(|&it| fits(it, vc));
        let virtual_channel = cyclic.find(first_fits)?;
        self.pointer = (virtual_channel + 1) % all;
        let packet = self.waiting[virtual_channel].pop_front().expect("it was looked at");
        Some((packet, virtual_channel))
    }
}

/// The virtual channel in which a packet is injected, where links are granted to whole packets.
pub fn injected_on(terminals: &Terminals<'_>, packet: &Packet, routes: &Routes) -> usize {
    let by_source = match routes {
        Routes::DirectionOrder(order) if order.rules().dateline => 2 * packet.channel,
        _ => packet.channel,
    };
    terminals.injected_on(packet, routes).unwrap_or(by_source.into())
}

impl Simulator<'_> {
    /// Cuts what enters the queues now into packets.
    pub fn enter_messages(&mut self, now: Picoseconds) {
        for entry in self.terminals.entering(now) {
            if self.is_cut_off(entry, now) {
                self.losses.end(entry.transfer);
                continue;
            }
            for packet in self.terminals.cut(entry, self.routes, now) {
                let virtual_channel = injected_on(&self.terminals, &packet, self.routes);
                let queues = &mut self.adapters[packet.source as usize];
                let queues = &mut queues[usize::from(packet.injection_channel)];
                queues.waiting[virtual_channel].push_back(self.packets.len());
                self.packets.push(packet);
                self.created += 1;
            }
        }
    }

    /// Gives each free injection channel the next packet that its credits cover.
    pub fn grant_injection(&mut self, now: Picoseconds) {
        if self.paused {
            return;
        }
        for queues in self.adapters.iter_mut().flatten() {
            let channel = &mut self.channels[queues.channel];
            if channel.sending.is_some() {
                continue;
            }
            let fits = |packet: usize, virtual_channel: usize| {
                self.packets[packet].flits <= channel.credits[virtual_channel]
            };
            let Some((number, virtual_channel)) = queues.take(fits) else { continue };
            let packet = &mut self.packets[number];
            self.terminals.inject(packet, virtual_channel, self.routes, now);
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
