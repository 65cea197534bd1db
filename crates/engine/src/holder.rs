//! The search for the channel that holds a packet up.
//!
//! A packet that waits in its adapter for room waits for the head of the buffer behind its
//! injection channel. That head waits for a channel in turn. If the buffer behind that channel has
//! no room, or is more than half full, the channel goes no faster than that buffer's head. Then the
//! search follows that head. Followed from buffer to buffer, it ends at a channel that is slow by
//! itself: it sends other packets, or its flits and credits are under way. If a head may take
//! several channels, the first one counts.

use super::deadlock::Buffer;
use super::part::Part;
use super::ports::{RouterLayout, place};
use super::{Engine, Observer};
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;

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

/// The next step of the search from a buffer.
enum NextBlocker {
    /// To the buffer behind this channel, which has no room.
    Buffer(u32, Buffer),
    /// No further: this channel, by its number among all, is what the packet waits for.
    Channel(u32),
}

impl<O: Observer> Engine<'_, O> {
    /// The channel that holds a packet up now, by name. `None` if the packet moves, is not there
    /// yet or no longer, or waits for other packets of its adapter only. In the network, only
    /// [traced](Self::trace) packets are found.
    pub fn held_up_by(&self, packet: Followed) -> Option<String> {
        let channel = self.holder(packet)?;
        Some(self.context.network.channel_name(self.context.fabric, channel))
    }

    fn holder(&self, packet: Followed) -> Option<u32> {
        let part = self.context.cut.part_of_terminal(packet.source);
        let here = &self.parts[part].part;
        let own = self.context.in_part(packet.source, part);
        let adapter = &here.sources.adapters[own as usize];
        let channels = self.context.parameters.injection_channels;
        let number = own * channels + u32::from(packet.channel);
        if adapter.is_to_send(packet.sequence) {
            let waits = here.sources.waits.get(number as usize)?;
            if !waits.is_on() {
                return None;
            }
            let vc = here.sources.injections[number as usize].first_waiting();
            let input_vc = ((adapter.input + u32::from(packet.channel)) << here.ports.size.shift)
                + u32::from(vc);
            return Some(self.end_of_chain((part, input_vc)));
        }
        let input_vc = self.input_vc_of(packet, part, adapter.input + u32::from(packet.channel))?;
        Some(self.end_of_chain(input_vc))
    }

    /// The input virtual channel in which an injected packet waits.
    fn input_vc_of(&self, packet: Followed, part: usize, first_input: u32) -> Option<Buffer> {
        let id = (packet.source, packet.sequence);
        let traces = self.parts.iter().filter_map(|it| it.part.trace.as_ref());
        let latest = traces.filter_map(|trace| trace.latest(id)).max();
        let (part, input) = match latest {
            None => (part, first_input),
            Some((_, channel)) => {
                let network = &self.context.network;
                let input = *network.input_of_channel.get(channel as usize)?;
                // An ejection channel has no router behind it.
                let router = *network.router_of_input.get(input as usize)?;
                let part = self.context.cut.part_of_router(router);
                (part, input - self.context.cut.first_input(part))
            }
        };
        let here = &self.parts[part].part;
        let first = input << here.ports.size.shift;
        let vcs = first..first + narrow::<u32>(self.context.vc_map.count());
        vcs.map(|input_vc| (part, input_vc)).find(|&input_vc| self.waits_in(input_vc, id))
    }

    /// Whether a packet is in a buffer and could go on.
    fn waits_in(&self, (part, input_vc): Buffer, id: (u32, u32)) -> bool {
        let here = &self.parts[part].part;
        match &here.flits {
            Some(flits) => flits.has_packet(here, input_vc, id, here.schedule.tick(self.clock)),
            None => here.packets_in(input_vc).any(|slot| {
                let packet = &here.packets.packets[slot as usize];
                (packet.source, packet.sequence) == id && here.time(packet.ready) <= self.clock
            }),
        }
    }

    /// The channel at the end of the chain of waiting heads that begins at a buffer.
    fn end_of_chain(&self, from: Buffer) -> u32 {
        let mut passed = vec![from];
        loop {
            let at = passed[passed.len() - 1];
            let here = &self.parts[at.0].part;
            let next = match &here.flits {
                Some(_) => self.next_of_flits(at),
                None => self.next_of_packets(at),
            };
            match next {
                NextBlocker::Channel(channel) => return channel,
                // A cycle: any of its channels will do.
                NextBlocker::Buffer(channel, next) if passed.contains(&next) => return channel,
                NextBlocker::Buffer(_, next) => passed.push(next),
            }
        }
    }

    /// The number among all channels of a part's output.
    fn channel_of_output(&self, part: usize, output: u32) -> u32 {
        output + self.context.cut.first_output(part)
    }

    /// The channel upstream of an input virtual channel.
    pub(super) fn upstream_of(&self, (part, input_vc): Buffer) -> u32 {
        let (input, _) = place(input_vc, self.parts[part].part.ports.size.shift);
        self.context.network.channel_of_input[input + self.context.cut.first_input(part) as usize]
    }

    /// The next step from the head of a buffer, in the router that grants whole packets.
    fn next_of_packets(&self, (part, buffer): Buffer) -> NextBlocker {
        let here = &self.parts[part].part;
        let queue = &here.ports.queues[buffer as usize];
        let router = here.router_of_buffer(buffer);
        if here.time(queue.free_at) > self.clock
            && let Some(output) = here.sending(&router, buffer)
        {
            // Most packets stay in their virtual channel.
            let (_, vc) = place(buffer, here.ports.size.shift);
            return self.next_behind(part, output, vc, 0);
        }
        if queue.head == NONE || here.time(queue.ask) > self.clock {
            // Nothing is in the way there: flits or credits are under way.
            return NextBlocker::Channel(self.upstream_of((part, buffer)));
        }
        let request = here.requests_of(buffer)[0];
        self.next_behind(part, request.output, request.vc, request.need.into())
    }

    /// The next step behind an output: to the buffer behind it if that keeps a packet that needs
    /// room for `need` flits, else to the channel itself.
    fn next_behind(&self, part: usize, output: u32, vc: u8, need: u32) -> NextBlocker {
        let here = &self.parts[part].part;
        let channel = self.channel_of_output(part, output);
        if !here.ports.output(output).needs_room {
            return NextBlocker::Channel(channel);
        }
        let (far, buffer) = self.far_end(here, output, vc);
        let there = &self.parts[far].part;
        let flits = there.packets_in(buffer).filter_map(|slot| {
            let packet = &there.packets.packets[slot as usize];
            (there.time(packet.ready) <= self.clock).then_some(u32::from(packet.flits))
        });
        let is_full = 2 * flits.sum::<u32>() > self.context.parameters.buffer;
        if is_full || here.room_now(output, vc, self.clock) < need {
            return NextBlocker::Buffer(channel, (far, buffer));
        }
        NextBlocker::Channel(channel)
    }

    /// The next step from the heads of an input virtual channel's queues, in the flit-by-flit
    /// router.
    fn next_of_flits(&self, at: Buffer) -> NextBlocker {
        match self.flits_held_by(at) {
            None => NextBlocker::Channel(self.upstream_of(at)),
            Some((output, None)) => NextBlocker::Channel(self.channel_of_output(at.0, output)),
            Some((output, Some(next))) => {
                NextBlocker::Buffer(self.channel_of_output(at.0, output), next)
            }
        }
    }
}

impl Part<'_> {
    /// The output by which the latest packet of a buffer leaves.
    fn sending(&self, router: &RouterLayout, buffer: u32) -> Option<u32> {
        let free_at = self.ports.queues[buffer as usize].free_at;
        let own = buffer - (router.first_input << self.ports.size.shift);
        let outputs = router.first_output..router.first_output + u32::from(router.outputs);
        let is_it = |&output: &u32| {
            let output = self.ports.output(output);
            output.free_at == free_at && u32::from(output.pointer) == own + 1
        };
        outputs.clone().find(is_it).or_else(|| {
            let mut outputs = outputs;
            outputs.find(|&output| self.ports.output(output).free_at == free_at)
        })
    }
}
