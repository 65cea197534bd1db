//! The search for the channel that holds a packet up.
//!
//! A packet that waits in its adapter for room waits for the head of the buffer behind its
//! injection channel. That head waits for a channel in turn. If the buffer behind that channel has
//! no room, or is more than half full, the channel goes no faster than that buffer's head. Then the
//! search follows that head. Followed from buffer to buffer, it ends at a channel that is slow by
//! itself: it sends other packets, or its flits and credits are under way. If a head may take
//! several channels, the first one counts.

use crate::network::ports::place;
use crate::router::{AllParts, Buffer, Routers};
use flitlab_base::narrow::narrow;

/// A packet: its source, its injection channel and its number among those of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The terminal that sent it.
    pub source: u32,
    /// The number of its injection channel among those of its source.
    pub channel: u8,
    /// Its number among the packets of its source, from 0.
    pub sequence: u32,
}

impl<R: Routers> AllParts<'_, '_, R> {
    /// The number of the channel that holds a packet up now. `None` if the packet moves, is not
    /// there yet or no longer, or waits for other packets of its adapter only. In the network, only
    /// traced packets are found.
    pub(crate) fn holder(&self, packet: Followed) -> Option<u32> {
        let part = self.context.cut.part_of_terminal(packet.source);
        let hosts = &self.part(part).hosts;
        let own = self.context.in_part(packet.source, part);
        let adapter = &hosts.sources.adapters[own as usize];
        let channels = self.context.parameters.injection_channels;
        let number = own * channels + u32::from(packet.channel);
        let ports = self.routers(part).ports();
        let port = hosts.sources.injections[number as usize].port;
        let input = ports.routers[adapter.router as usize].first_input + u32::from(port);
        if adapter.is_to_send(packet.sequence) {
            let waits = hosts.sources.waits.get(number as usize)?;
            if !waits.is_on() {
                return None;
            }
            let vc = hosts.sources.injections[number as usize].first_waiting();
            return Some(self.end_of_chain((part, (input << ports.shift) + u32::from(vc))));
        }
        Some(self.end_of_chain(self.input_vc_of(packet, part, input)?))
    }

    /// The input virtual channel in which an injected packet waits.
    fn input_vc_of(&self, packet: Followed, part: usize, first_input: u32) -> Option<Buffer> {
        let id = (packet.source, packet.sequence);
        let traces = self.parts.iter().filter_map(|part| part.common.trace.as_ref());
        let latest = traces.filter_map(|trace| trace.latest(id)).max();
        let (part, input) = match latest {
            None => (part, first_input),
            Some((_, channel)) => {
                let network = &self.context.network;
                let input = *network.input_of_channel.get(channel as usize)?;
                // An ejection channel has no router behind it.
                let router = *network.router_of_input.get(input as usize)?;
                let part = self.context.cut.part_of_router(router);
                (part, self.routers(part).ports().input_named(self.context, part, input))
            }
        };
        let first = input << self.routers(part).ports().shift;
        let vcs = first..first + narrow::<u32>(self.context.vc_map.count());
        vcs.map(|input_vc| (part, input_vc)).find(|&input_vc| R::waits_in(self, input_vc, id))
    }

    /// The channel at the end of the chain of waiting heads that begins at a buffer.
    fn end_of_chain(&self, from: Buffer) -> u32 {
        let mut passed = vec![from];
        loop {
            let at = passed[passed.len() - 1];
            let Some((output, next)) = R::held_by(self, at) else { return self.upstream_of(at) };
            let channel = output + self.context.cut.first_output(at.0);
            match next {
                // It is slow by itself, or a cycle begins: any of its channels will do.
                None => return channel,
                Some(next) if passed.contains(&next) => return channel,
                Some(next) => passed.push(next),
            }
        }
    }

    /// The channel upstream of an input virtual channel.
    fn upstream_of(&self, (part, input_vc): Buffer) -> u32 {
        let ports = self.routers(part).ports();
        let (input, _) = place(input_vc, ports.shift);
        let input = ports.name_of_input(self.context, part, narrow(input));
        self.context.network.channel_of_input[input as usize]
    }
}
