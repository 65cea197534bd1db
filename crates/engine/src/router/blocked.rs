//! What whole packets in the buffers of routers wait for: for the search for deadlocks, and for the
//! channel that holds a packet up.
//!
//! A router shows the first packet of each buffer, what it requests, and the room for that. The
//! rest does not depend on the kind: a head that lacks room waits for the head of the buffer at the
//! far end, if the packets there are all that take its room.

use crate::network::ports::place;
use crate::packet::{Origin, Packet, chain};
use crate::part::Part;
use crate::router::asks::OutputRequest;
use crate::router::injector::Injector;
use crate::router::{AllParts, Buffer, PacketId, Waits};
use flitlab_base::units::Picoseconds;
use flitlab_model::{Lack, Waiting};

/// Routers with whole packets in their buffers, one behind the other.
pub(crate) trait Blocked: Injector {
    /// The first packet in a buffer, or under way to it; [`NONE`](flitlab_fabric::NONE) if there is
    /// none.
    fn first_packet(&self, buffer: u32) -> u32;

    /// The requests of the head of a buffer; none if it does not ask yet.
    fn requests_of(parts: &AllParts<'_, '_, Self>, buffer: Buffer) -> Vec<OutputRequest>;

    /// The free flits of the buffer for which a request asks, with all that are known to become
    /// free.
    fn free_for(&self, request: OutputRequest) -> u32;

    /// The flits for which there has to be room at the far end of an output before a request for it
    /// can be granted; `None` if it waits for nothing there.
    fn needed_beyond(
        part: &Part<'_, Self>,
        request: OutputRequest,
        clock: Picoseconds,
    ) -> Option<u32>;

    /// Whether room at the far end of an output is what a request for it lacks now.
    fn lacks_room_beyond(part: &Part<'_, Self>, request: OutputRequest, clock: Picoseconds)
    -> bool;

    /// If the head of a buffer lacks something else than room at an output: the buffers of which one
    /// has to move before it has that; none if it may have it without.
    fn lacks_resource(_: &AllParts<'_, '_, Self>, _: Buffer, _output: u32) -> Option<Vec<Buffer>> {
        None
    }

    /// What the packet before the head was granted, if its flits are still leaving the buffer.
    fn leaving(_: &AllParts<'_, '_, Self>, _: Buffer) -> Option<OutputRequest> {
        None
    }
}

impl<R: Blocked> Waits for R {
    fn buffers(&self) -> usize {
        (self.ports().inputs() as usize) << self.ports().shift
    }

    fn waits_for(parts: &AllParts<'_, '_, R>, buffer: Buffer) -> Vec<Buffer> {
        // Packets of collective operations wait in no cycle.
        let (_, vc) = place(buffer.1, parts.routers(buffer.0).ports().shift);
        if vc >= parts.context.trees.up {
            return Vec::new();
        }
        let requests = R::requests_of(parts, buffer);
        if let [OutputRequest { output, .. }] = *requests
            && let Some(waits) = R::lacks_resource(parts, buffer, output)
        {
            return waits;
        }
        let waits = requests.into_iter().map(|request| parts.blocked_by(buffer.0, request));
        waits.collect::<Option<_>>().unwrap_or_default()
    }

    fn waiting(parts: &AllParts<'_, '_, R>, (part, buffer): Buffer) -> Waiting {
        let Part { common, routers, .. } = parts.part(part);
        let slot = routers.first_packet(buffer);
        let (number, _) = routers.ports().router_of(buffer);
        let router = number + parts.context.cut.first_router(part);
        let request = R::requests_of(parts, (part, buffer))[0];
        let source = common.packets.packets[slot as usize].source;
        let ends = (source, common.destination(router, slot));
        let lacks = match parts.context.parameters.responder_resources {
            Some(held) if R::lacks_resource(parts, (part, buffer), request.output).is_some() => {
                Lack::ResponderResource { held: held.into() }
            }
            _ => Lack::Room { needed: request.need, free: routers.free_for(request) },
        };
        parts.named(part, place(buffer, routers.ports().shift), ends, request.output, lacks)
    }

    /// Packets under way to the buffer count. A packet that has been granted its next output is
    /// leaving: its room counts as neither used nor free until its credit is sent, which happens at
    /// the grant.
    fn flits_held(parts: &AllParts<'_, '_, R>, buffer: Buffer) -> u32 {
        // A bad copy at the end of its link uses the room of its original.
        flits(parts.packets_in(buffer).filter(|(_, origin)| !origin.is_fresh()))
    }

    fn waits_in(parts: &AllParts<'_, '_, R>, buffer: Buffer, id: PacketId) -> bool {
        parts.arrived_in(buffer).any(|(packet, _)| (packet.source, packet.sequence) == id)
    }

    fn held_by(parts: &AllParts<'_, '_, R>, buffer: Buffer) -> Option<(u32, Option<Buffer>)> {
        let first = || R::requests_of(parts, buffer).first().copied();
        let request = R::leaving(parts, buffer).or_else(first)?;
        let OutputRequest { output, vc, .. } = request;
        let part = parts.part(buffer.0);
        if !part.routers.output(output).needs_room {
            return Some((output, None));
        }
        let far = parts.far_end(buffer.0, output, vc);
        let is_full = 2 * flits(parts.arrived_in(far)) > parts.context.parameters.buffer;
        let blocks = is_full || R::lacks_room_beyond(part, request, parts.clock);
        Some((output, blocks.then_some(far)))
    }
}

impl<'a, R: Blocked> AllParts<'a, '_, R> {
    /// The buffer whose own packets alone can make room for a request.
    fn blocked_by(&self, part: usize, request: OutputRequest) -> Option<Buffer> {
        let OutputRequest { output, vc, .. } = request;
        let need = R::needed_beyond(self.part(part), request, self.clock)?;
        let routers = self.routers(part);
        let port = routers.output(output);
        let due = routers.room_due(port.room + u32::from(vc));
        if !port.needs_room || due >= need {
            return None;
        }
        let far = self.far_end(part, output, vc);
        (due + self.flits_arrived(far) == self.context.parameters.buffer).then_some(far)
    }

    /// The flits of the packets in a buffer that leave it one after the other.
    pub(crate) fn flits_arrived(&self, buffer: Buffer) -> u32 {
        // A bad copy leaves its buffer whatever the others do.
        flits(self.arrived_in(buffer).filter(|(_, origin)| !origin.is_bad()))
    }

    /// The packets in a buffer or under way to it.
    fn packets_in(
        &self,
        (part, buffer): Buffer,
    ) -> impl Iterator<Item = (&'a Packet, &'a Origin)> + use<'a, R> {
        let Part { common, routers, .. } = self.part(part);
        let packets = &common.packets;
        chain(&packets.packets, routers.first_packet(buffer))
            .map(|slot| (&packets.packets[slot as usize], &packets.origins[slot as usize]))
    }

    /// The packets in a buffer that could go on.
    fn arrived_in(&self, buffer: Buffer) -> impl Iterator<Item = (&'a Packet, &'a Origin)> {
        let (common, clock) = (&self.part(buffer.0).common, self.clock);
        self.packets_in(buffer).filter(move |it| common.time(it.0.ready) <= clock)
    }
}

/// The flits of packets.
fn flits<'p>(packets: impl Iterator<Item = (&'p Packet, &'p Origin)>) -> u32 {
    packets.map(|(packet, _)| u32::from(packet.flits)).sum()
}
