//! Adapters of routers that take whole packets: packets wait there for injection channels.

use std::collections::VecDeque;

use flitlab_routing::Routes;

use super::{
    packet::Packet,
    simulation::{Routers, Simulation},
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

/// The source queue of a packet, of a virtual channel of trees if one is given.
pub fn source_queue<'q, R: Routers<Injection = InjectionQueues>>(
    simulation: &'q mut Simulation<'_, R>,
    packet: &Packet,
    on_tree: Option<usize>,
) -> &'q mut VecDeque<usize> {
    let Simulation { terminals, routes, adapters, .. } = simulation;
    let by_source = || match routes {
        Routes::DirectionOrder(order) if order.rules().dateline => 2 * packet.channel,
        _ => packet.channel,
    };
    let by_rule = || terminals.injected_on(packet, routes).unwrap_or_else(|| by_source().into());
    let queues = &mut adapters[packet.source as usize][usize::from(packet.injection_channel)];
    &mut queues.waiting[on_tree.unwrap_or_else(by_rule)]
}
