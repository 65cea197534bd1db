//! Injection channels: which packets are granted them.

use flitlab_base::units::Picoseconds;

use super::{
    Simulator,
    network::{Sending, Source},
};

impl Simulator<'_> {
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
