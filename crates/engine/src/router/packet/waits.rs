//! What packets in the buffers of routers wait for: for the search for deadlocks, and for the
//! channel that holds a packet up.

use crate::network::ports::place;
use crate::next_hop::escape_bubble;
use crate::packet::{Origin, Packet, chain};
use crate::part::Part;
use crate::router::deadlock::{HeadRequests, OutputRequest};
use crate::router::packet::PacketRouters;
use crate::router::{AllParts, Buffer, PacketId, Waits};
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;
use flitlab_model::{Lack, Waiting};

type Parts<'a, 'f> = AllParts<'a, 'f, PacketRouters>;

impl Waits for PacketRouters {
    fn buffers(&self) -> usize {
        self.ports.queues.len()
    }

    fn waits_for(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Vec<Buffer> {
        // Packets of collective operations wait in no cycle.
        let (_, vc) = place(buffer, parts.routers(part).ports.size.shift);
        if vc >= parts.context.trees.up {
            return Vec::new();
        }
        let requests = Self::requests_of(parts, (part, buffer)).into_iter();
        let waits = requests.map(|request| Self::blocked_by(parts, part, request));
        waits.collect::<Option<_>>().unwrap_or_default()
    }

    fn waiting(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Waiting {
        let Part { common, routers, .. } = parts.part(part);
        let ports = &routers.ports;
        let head = ports.queues[buffer as usize].head;
        let source = common.packets.packets[head as usize].source;
        let router = ports.router_of(buffer).0 + parts.context.cut.first_router(part);
        let OutputRequest { output, vc, need } = Self::requests_of(parts, (part, buffer))[0];
        let free = routers.credits.due(ports.output(output).room + u32::from(vc));
        let ends = (source, common.destination(router, head));
        let input_vc = place(buffer, ports.size.shift);
        parts.named(part, input_vc, ends, output, Lack::Room { needed: need, free })
    }

    /// Packets under way to the buffer count. A packet that has been granted its next output is
    /// leaving: its room counts as neither used nor free until its credit is sent, which happens at
    /// the grant.
    fn flits_held(parts: &Parts<'_, '_>, buffer: Buffer) -> u32 {
        // A bad copy at the end of its link uses the room of its original.
        let packets = Self::packets_in(parts, buffer).filter(|(_, origin)| !origin.is_fresh());
        packets.map(|(packet, _)| u32::from(packet.flits)).sum()
    }

    fn room_due(&self, place: u32) -> u32 {
        self.credits.due(place)
    }

    fn flits_kept(&self, output: u32, vc: u8) -> u32 {
        self.links.channel(output).map_or(0, |channel| channel.flits_kept(vc))
    }

    fn waits_in(parts: &Parts<'_, '_>, buffer: Buffer, id: PacketId) -> bool {
        let mut arrived = Self::arrived_in(parts, buffer);
        arrived.any(|(packet, _)| (packet.source, packet.sequence) == id)
    }

    fn held_by(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Option<(u32, Option<Buffer>)> {
        let Part { common, routers, .. } = parts.part(part);
        if common.time(routers.ports.queues[buffer as usize].free_at) > parts.clock
            && let Some(output) = routers.sending(buffer)
        {
            // Most packets stay in their virtual channel.
            let (_, vc) = place(buffer, routers.ports.size.shift);
            let request = OutputRequest { output, vc, need: 0 };
            return Some((output, Self::blocker_behind(parts, part, request)));
        }
        let request = *Self::requests_of(parts, (part, buffer)).first()?;
        Some((request.output, Self::blocker_behind(parts, part, request)))
    }
}

impl PacketRouters {
    /// The buffer whose own packets alone can make room for a request.
    fn blocked_by(
        parts: &Parts<'_, '_>,
        part: usize,
        OutputRequest { output, vc, need }: OutputRequest,
    ) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        let state = routers.ports.output(output);
        let due = routers.credits.due(state.room + u32::from(vc));
        if !state.needs_room || common.time(state.free_at) > parts.clock || due >= need {
            return None;
        }
        let far = parts.far_end(part, output, vc);
        // A bad copy leaves its buffer whatever the others do.
        let there = Self::arrived_in(parts, far).filter(|(_, origin)| !origin.is_bad());
        let flits: u32 = there.map(|(packet, _)| u32::from(packet.flits)).sum();
        (due + flits == parts.context.parameters.buffer).then_some(far)
    }

    /// The buffer behind an output, if it keeps a packet from what it asks for there.
    fn blocker_behind(
        parts: &Parts<'_, '_>,
        part: usize,
        OutputRequest { output, vc, need }: OutputRequest,
    ) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        let state = routers.ports.output(output);
        if !state.needs_room {
            return None;
        }
        let far = parts.far_end(part, output, vc);
        let there = Self::arrived_in(parts, far).map(|(packet, _)| u32::from(packet.flits));
        let is_full = 2 * there.sum::<u32>() > parts.context.parameters.buffer;
        let now = common.schedule.tick(parts.clock);
        let room = routers.credits.by(state.room + u32::from(vc), now);
        (is_full || room < need).then_some(far)
    }

    /// The packets in a buffer or under way to it.
    fn packets_in<'a>(
        parts: &Parts<'a, '_>,
        (part, buffer): Buffer,
    ) -> impl Iterator<Item = (&'a Packet, &'a Origin)> + use<'a> {
        let Part { common, routers, .. } = parts.part(part);
        let packets = &common.packets;
        chain(&packets.packets, routers.ports.queues[buffer as usize].head)
            .map(|slot| (&packets.packets[slot as usize], &packets.origins[slot as usize]))
    }

    /// The packets in a buffer that could go on.
    fn arrived_in<'a>(
        parts: &Parts<'a, '_>,
        buffer: Buffer,
    ) -> impl Iterator<Item = (&'a Packet, &'a Origin)> {
        let (common, clock) = (&parts.part(buffer.0).common, parts.clock);
        Self::packets_in(parts, buffer).filter(move |it| common.time(it.0.ready) <= clock)
    }

    /// The requests of the head of a buffer; none if it does not ask yet.
    fn requests_of(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Vec<OutputRequest> {
        let Part { common, routers: Self { ports, .. }, .. } = parts.part(part);
        let queue = &ports.queues[buffer as usize];
        if queue.head == NONE || common.time(queue.ask) > parts.clock {
            return Vec::new();
        }
        let (_, router) = ports.router_of(buffer);
        let (input, vc_here) = place(buffer, ports.size.shift);
        let came = (ports.input(narrow::<u32>(input)), vc_here);
        let escape_bubble = || {
            let escape = (queue.output, queue.out_vc);
            let in_ring = ports.output(router.first_output + u32::from(queue.output)).in_ring;
            escape_bubble(common.context.bubble, came, escape, in_ring)
        };
        let has_escape = queue.options != 0 && !common.routing.is_by_relation();
        let head = HeadRequests {
            first_output: router.first_output,
            options: queue.options,
            output: queue.output,
            vcs: 1 << queue.out_vc,
            need: queue.need,
            flits: queue.flits,
            of_escape: queue.flits + if has_escape { escape_bubble() } else { 0 },
            hops: queue.hops,
        };
        head.list(common)
    }

    /// The output by which the latest packet of a buffer leaves.
    fn sending(&self, buffer: u32) -> Option<u32> {
        let free_at = self.ports.queues[buffer as usize].free_at;
        let (_, router) = self.ports.router_of(buffer);
        let behind = buffer - (router.first_input << self.ports.size.shift) + 1;
        let outputs = router.first_output..router.first_output + u32::from(router.outputs);
        let busy = outputs.filter(|&output| self.ports.output(output).free_at == free_at);
        busy.min_by_key(|&output| u32::from(self.ports.output(output).pointer) != behind)
    }
}
