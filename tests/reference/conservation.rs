//! What must hold at every tick: no space is lost, made up or used twice.

use super::{Simulator, network::Channel};

impl Simulator<'_> {
    /// Panics if, for a buffer, what is free, taken, used and on its way doesn't add up.
    pub fn check_conservation(&self) {
        for channel in self.channels.iter().filter(|channel| !channel.ends_in_sink()) {
            for virtual_channel in 0..self.virtual_channels() {
                let buffer = &channel.buffers[virtual_channel];
                let used = buffer.flits.len() as u32 + buffer.departed;
                assert!(used <= channel.capacity, "a buffer overflows");
                assert_eq!(
                    channel.credits[virtual_channel]
                        + self.taken(channel, virtual_channel)
                        + self.flits_on_wire(channel, virtual_channel)
                        + used
                        + credits_on_wire(channel, virtual_channel),
                    channel.capacity,
                    "space is conserved"
                );
            }
            let sending = channel.buffers.iter().filter(|buffer| buffer.is_sending).count();
            assert!(sending <= self.parameters.crossbar_speedup as usize);
        }
    }

    /// Panics if anything is left anywhere.
    pub fn check_idle(&self) {
        for channel in &self.channels {
            assert!(channel.sending.is_none() && channel.flits.is_empty());
            assert!(channel.credits.iter().all(|&credits| credits == channel.capacity));
            assert!(channel.returning.is_empty());
        }
        assert!(self.entries.is_empty());
        assert!(self.transfers.iter().all(|transfer| transfer.packets_missing == 0));
        assert_eq!(self.log.packets.len(), self.packets.len());
        assert_eq!(self.log.messages.len(), self.transfers.len());
    }

    /// Flits for which the sender has taken credits and which have not started.
    fn taken(&self, channel: &Channel, virtual_channel: usize) -> u32 {
        channel.sending.as_ref().map_or(0, |sending| {
            let packet = &self.packets[sending.packet];
            if sending.onto == virtual_channel { packet.flits - sending.started } else { 0 }
        })
    }

    fn flits_on_wire(&self, channel: &Channel, virtual_channel: usize) -> u32 {
        let flits = channel.flits.iter();
        flits.filter(|moving| moving.content.virtual_channel == virtual_channel).count() as u32
    }
}

fn credits_on_wire(channel: &Channel, virtual_channel: usize) -> u32 {
    let messages = channel.returning.iter().map(|moving| &moving.content);
    let same = messages.filter(|message| message.virtual_channel == virtual_channel);
    same.map(|message| message.flits).sum()
}
