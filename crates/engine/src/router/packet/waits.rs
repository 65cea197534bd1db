//! What packets in the buffers of routers wait for: for the search for deadlocks, and for the
//! channel that holds a packet up.

use crate::common::Common;
use crate::frame::tick::Tick;
use crate::network::ports::{RouterLayout, place};
use crate::next_hop::{Routing, escape_bubble};
use crate::packet::chain;
use crate::part::Part;
use crate::router::packet::PacketRouters;
use crate::router::{AllParts, Buffer, PacketId, Waits};
use crate::set::bits;
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;
use flitlab_model::{Lack, Waiting};

/// An output that the head of a buffer asks for.
#[derive(Clone, Copy)]
struct OutputRequest {
    output: u32,
    vc: u8,
    need: u16,
}

impl Waits for PacketRouters {
    fn buffers(&self) -> usize {
        self.ports.queues.len()
    }

    fn waits_for(parts: &AllParts<'_, '_, Self>, (part, buffer): Buffer) -> Vec<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        // Packets of collective operations wait in no cycle.
        let (_, vc) = place(buffer, routers.ports.size.shift);
        if vc >= parts.context.trees.up {
            return Vec::new();
        }
        let queue = &routers.ports.queues[buffer as usize];
        if queue.head == NONE || common.time(queue.ask) > parts.clock {
            return Vec::new();
        }
        let blocked_by = |request| Self::blocked_by(parts, part, request);
        let waits: Option<Vec<Buffer>> =
            routers.requests_of(common, buffer).into_iter().map(blocked_by).collect();
        waits.unwrap_or_default()
    }

    fn waiting(parts: &AllParts<'_, '_, Self>, (part, buffer): Buffer) -> Waiting {
        let Part { common, routers, .. } = parts.part(part);
        let input_vc = place(buffer, routers.ports.size.shift);
        let queue = &routers.ports.queues[buffer as usize];
        let source = common.packets.packets[queue.head as usize].source;
        let input = input_vc.0 + parts.context.cut.first_input(part) as usize;
        let router = parts.context.network.router_of_input[input];
        let request = routers.requests_of(common, buffer)[0];
        let free = routers.room_due(request.output, request.vc);
        let lacks = Lack::Room { needed: request.need.into(), free };
        let ends = (source, common.destination(router, queue.head));
        parts.named(part, input_vc, ends, request.output, lacks)
    }

    fn credits_are_conserved(parts: &AllParts<'_, '_, Self>) -> bool {
        // A packet that has been granted its next output is leaving. Its room counts as neither
        // used nor free until its credit is sent, which happens at the grant.
        let vcs = narrow::<u8>(parts.context.vc_map.count());
        let parameters = &parts.context.parameters;
        (0..parts.parts.len()).all(|part| {
            let Part { hosts, routers, .. } = parts.part(part);
            let outputs = (0..).zip(routers.ports.outputs()).filter(|(_, it)| it.needs_room);
            let mut network = outputs.flat_map(|(output, _)| (0..vcs).map(move |vc| (output, vc)));
            let held = |(part, buffer): Buffer| {
                let Part { common, routers, .. } = parts.part(part);
                let flits = |slot: u32| u32::from(common.packets.packets[slot as usize].flits);
                // A bad copy at the end of its link uses the room of its original.
                let has_room = |slot: &u32| !common.packets.origins[*slot as usize].is_fresh();
                routers.packets_in(common, buffer).filter(has_room).map(flits).sum::<u32>()
            };
            let mut injections = (0..narrow::<u32>(hosts.sources.injections.len()))
                .flat_map(|number| (0..vcs).map(move |vc| (number, vc)));
            network.all(|(output, vc)| {
                let held = held(parts.far_end(part, output, vc));
                let kept = routers.links.flits_kept(output, vc);
                routers.room_due(output, vc) + held + kept == parameters.buffer
            }) && injections.all(|(number, vc)| {
                let channels = parameters.injection_channels;
                let adapter = &hosts.sources.adapters[(number / channels) as usize];
                let input = adapter.input + number % channels;
                let buffer = (input << routers.ports.size.shift) + u32::from(vc);
                let upstream = routers.ports.input(input).upstream;
                routers.credits.due(upstream + u32::from(vc)) + held((part, buffer))
                    == parameters.injection_buffer
            })
        })
    }

    fn waits_in(parts: &AllParts<'_, '_, Self>, (part, buffer): Buffer, packet: PacketId) -> bool {
        let here = parts.part(part);
        here.routers.packets_in(&here.common, buffer).any(|slot| {
            let state = &here.common.packets.packets[slot as usize];
            (state.source, state.sequence) == packet && here.common.time(state.ready) <= parts.clock
        })
    }

    fn held_by(
        parts: &AllParts<'_, '_, Self>,
        (part, buffer): Buffer,
    ) -> Option<(u32, Option<Buffer>)> {
        let Part { common, routers, .. } = parts.part(part);
        let queue = &routers.ports.queues[buffer as usize];
        let router = routers.router_of_buffer(buffer);
        if common.time(queue.free_at) > parts.clock
            && let Some(output) = routers.sending(&router, buffer)
        {
            // Most packets stay in their virtual channel.
            let (_, vc) = place(buffer, routers.ports.size.shift);
            return Some((output, Self::blocker_behind(parts, part, (output, vc), 0)));
        }
        if queue.head == NONE || common.time(queue.ask) > parts.clock {
            return None;
        }
        let OutputRequest { output, vc, need } = routers.requests_of(common, buffer)[0];
        Some((output, Self::blocker_behind(parts, part, (output, vc), need.into())))
    }
}

impl PacketRouters {
    /// The buffer whose own packets alone can make room for a request.
    fn blocked_by(
        parts: &AllParts<'_, '_, Self>,
        part: usize,
        request: OutputRequest,
    ) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        let output = routers.ports.output(request.output);
        if !output.needs_room || common.time(output.free_at) > parts.clock {
            return None;
        }
        let due = routers.room_due(request.output, request.vc);
        if due >= u32::from(request.need) {
            return None;
        }
        let (far, buffer) = parts.far_end(part, request.output, request.vc);
        let Part { common, routers, .. } = parts.part(far);
        let flits = routers.packets_in(common, buffer).filter_map(|slot| {
            let packet = &common.packets.packets[slot as usize];
            let arrived = common.time(packet.ready) <= parts.clock;
            // A bad copy leaves its buffer whatever the others do.
            let counts = arrived && !common.packets.origins[slot as usize].is_bad();
            counts.then_some(u32::from(packet.flits))
        });
        (due + flits.sum::<u32>() == parts.context.parameters.buffer).then_some((far, buffer))
    }

    /// The buffer behind an output, if it keeps a packet that needs room for `need` flits.
    fn blocker_behind(
        parts: &AllParts<'_, '_, Self>,
        part: usize,
        (output, vc): (u32, u8),
        need: u32,
    ) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        if !routers.ports.output(output).needs_room {
            return None;
        }
        let (far, buffer) = parts.far_end(part, output, vc);
        let there = parts.part(far);
        let flits = there.routers.packets_in(&there.common, buffer).filter_map(|slot| {
            let packet = &there.common.packets.packets[slot as usize];
            (there.common.time(packet.ready) <= parts.clock).then_some(u32::from(packet.flits))
        });
        let is_full = 2 * flits.sum::<u32>() > parts.context.parameters.buffer;
        let now = common.schedule.tick(parts.clock);
        (is_full || routers.room_at(output, vc, now) < need).then_some((far, buffer))
    }

    /// The packets in a buffer or under way to it.
    pub(crate) fn packets_in<'a>(
        &self,
        common: &'a Common<'_>,
        buffer: u32,
    ) -> impl Iterator<Item = u32> + use<'a> {
        chain(&common.packets.packets, self.ports.queues[buffer as usize].head)
    }

    /// Flits of room behind an output on a virtual channel, with the credits under way.
    fn room_due(&self, output: u32, vc: u8) -> u32 {
        self.credits.due(self.ports.output(output).room + u32::from(vc))
    }

    /// Flits of room behind an output on a virtual channel at a time.
    fn room_at(&self, output: u32, vc: u8, now: Tick) -> u32 {
        self.credits.by(self.ports.output(output).room + u32::from(vc), now)
    }

    /// The router of a buffer.
    fn router_of_buffer(&self, buffer: u32) -> RouterLayout {
        let input = buffer >> self.ports.size.shift;
        let place = self.ports.routers.partition_point(|router| router.first_input <= input);
        self.ports.routers[place - 1]
    }

    /// The requests of the head of a buffer: outputs, virtual channels, and the credits that they
    /// need.
    fn requests_of(&self, common: &Common<'_>, buffer: u32) -> Vec<OutputRequest> {
        let queue = &self.ports.queues[buffer as usize];
        let router = self.router_of_buffer(buffer);
        let (vc, need) = (queue.out_vc, queue.need);
        let output = router.first_output + u32::from(queue.output);
        if queue.options == 0 {
            return vec![OutputRequest { output, vc, need }];
        }
        let (input, vc_here) = place(buffer, self.ports.size.shift);
        if let Routing::Relation(relation) = &common.routing {
            let hops = relation.hops_of_list(queue.hops).iter();
            return hops
                .map(|hop| OutputRequest {
                    output: router.first_output + u32::from(hop.port),
                    vc: hop.vc,
                    need: common.context.need_by(hop, need, queue.flits),
                })
                .collect();
        }
        let input = self.ports.input(narrow::<u32>(input));
        let state = self.ports.output(output);
        let (escape, in_ring) = ((queue.output, vc), state.in_ring);
        let bubble = escape_bubble(common.context.bubble, (input, vc_here), escape, in_ring);
        let escape = queue.flits + bubble;
        let options = bits(queue.options).map(|port| OutputRequest {
            output: router.first_output + narrow::<u32>(port),
            vc: common.context.channels.adaptive,
            need,
        });
        std::iter::once(OutputRequest { output, vc, need: escape }).chain(options).collect()
    }

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
