//! Channels and routers that fail where links are granted to whole packets. Links that err are left
//! out.

use crate::shared::channel::ChannelKind;

use super::Simulator;

impl Simulator<'_> {
    /// Loses the packets that are in a router, or between it and its terminals.
    pub fn lose_what_is_in(&mut self, router: usize) {
        let router = &self.routers[router];
        let mut lost: Vec<usize> = Vec::new();
        for &input in &router.inputs {
            let buffers = self.channels[input].buffers.iter();
            lost.extend(buffers.flat_map(|it| &it.flits).map(|(_, flit)| flit.packet));
            if self.channels[input].kind == ChannelKind::Injection {
                lost.extend(self.on_channel(input));
            }
        }
        for output in router.outputs.iter().filter(|it| it.name.port().is_none()) {
            lost.extend(self.on_channel(output.channel));
        }
        self.lost.extend(lost);
    }

    /// The packets that have been given a channel and are not whole at its end.
    pub fn on_channel(&self, channel: usize) -> Vec<usize> {
        let channel = &self.channels[channel];
        let sending = channel.sending.iter();
        let sending = sending.filter(|it| it.started < self.packets[it.packet].flits);
        let flits = channel.flits.iter().map(|flit| flit.content.packet);
        sending.map(|it| it.packet).chain(flits).collect()
    }
}
