//! Channels and routers that fail where links are shared flit by flit.

use crate::shared::channel::ChannelKind;

use super::Simulator;

impl Simulator<'_> {
    /// Packets with flits on a channel, or whose headers have been sent on it, are cut; others that
    /// would be sent on it are swallowed.
    pub fn cut_channel(&mut self, router: usize, channel: usize) {
        self.channels[channel].failed = true;
        for place in 0..self.channels[channel].flits.len() {
            let packet = self.channels[channel].flits[place].content.packet;
            self.lost.insert(packet);
        }
        let queues = self.routers[router].inputs.iter().flat_map(|input| &input.queues);
        let outputs = &self.routers[router].outputs;
        let ways: Vec<(usize, bool)> = queues
            .filter_map(|queue| {
                let way = queue.way.filter(|way| outputs[way.output].channel == channel)?;
                Some((way.packet, queue.flits.front().is_some_and(|(_, flit)| flit.index == 0)))
            })
            .collect();
        for (packet, waits) in ways {
            if waits {
                self.swallow(packet, channel);
            } else {
                self.lost.insert(packet);
            }
        }
    }

    /// Loses packets that are in a router, or on their way between it and its terminals.
    pub fn lose_what_is_in(&mut self, router: usize) {
        let router = &self.routers[router];
        let mut lost = Vec::new();
        for input in &router.inputs {
            for queue in &input.queues {
                lost.extend(queue.way.map(|way| way.packet));
                lost.extend(queue.flits.iter().map(|(_, flit)| flit.packet));
            }
        }
        let inputs = router.inputs.iter().map(|input| input.channel);
        let outputs = router.outputs.iter().map(|output| output.channel);
        for channel in inputs.chain(outputs).map(|channel| &self.channels[channel]) {
            if channel.kind != ChannelKind::Network {
                lost.extend(channel.flits.iter().map(|flit| flit.content.packet));
            }
        }
        self.lost.extend(lost);
    }
}
