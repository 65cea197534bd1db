//! What packets wait for: for the search for deadlocks, and for the channel that holds a packet up.
//!
//! The head of a buffer waits for room in the buffer of an output. That gets some when its first
//! packet is sent, for which the buffer at the far end has to have room. So the head of the one
//! waits for the head of the other.

use super::{CioqRouters, Hops};
use crate::network::ports::place;
use crate::next_hop::Routing;
use crate::packet::chain;
use crate::part::Part;
use crate::router::{AllParts, Buffer, PacketId, Routers, Waits};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::{Lack, Waiting};

type Parts<'a, 'f> = AllParts<'a, 'f, CioqRouters>;

impl Waits for CioqRouters {
    fn buffers(&self) -> usize {
        self.state.inputs.len()
    }

    fn waits_for(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Vec<Buffer> {
        let hops = Self::hops_of(parts, (part, buffer));
        let routers = parts.routers(part);
        let flits = routers.head_flits(parts, (part, buffer));
        let waits = hops.into_iter().map(|(output, vc)| {
            let lacks = routers.output_vc(output, vc).room.due() < flits;
            lacks.then(|| Self::blocked_by(parts, part, (output, vc))).flatten()
        });
        waits.collect::<Option<_>>().unwrap_or_default()
    }

    fn waiting(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Waiting {
        let Part { common, routers, .. } = parts.part(part);
        let slot = routers.state.inputs[buffer as usize].first;
        let packet = common.packets.packets[slot as usize];
        let (number, _) = routers.ports.router_of(buffer);
        let router = number + parts.context.cut.first_router(part);
        let (output, vc) = Self::hops_of(parts, (part, buffer))[0];
        let lacks = Lack::Room {
            needed: packet.flits.into(),
            free: routers.output_vc(output, vc).room.due(),
        };
        let ends = (packet.source, common.destination(router, slot));
        parts.named(part, place(buffer, routers.rules.shift), ends, output, lacks)
    }

    fn flits_held(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> u32 {
        let Part { common, routers, .. } = parts.part(part);
        let packets = &common.packets.packets;
        let slots = chain(packets, routers.state.inputs[buffer as usize].first);
        slots.map(|slot| u32::from(packets[slot as usize].flits)).sum()
    }

    fn room_due(&self, place: u32) -> u32 {
        self.state.credits[place as usize].due()
    }

    fn waits_in(parts: &Parts<'_, '_>, buffer: Buffer, id: PacketId) -> bool {
        Self::arrived_in(parts, buffer).any(|slot| {
            let packet = &parts.part(buffer.0).common.packets.packets[slot as usize];
            (packet.source, packet.sequence) == id
        })
    }

    fn held_by(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Option<(u32, Option<Buffer>)> {
        let &(output, vc) = Self::hops_of(parts, (part, buffer)).first()?;
        let Part { common, routers, .. } = parts.part(part);
        let port = routers.output(output);
        if !port.needs_room {
            return Some((output, None));
        }
        let far = parts.far_end(part, output, vc);
        let packets = &parts.part(far.0).common.packets.packets;
        let there =
            Self::arrived_in(parts, far).map(|slot| u32::from(packets[slot as usize].flits));
        let is_full = 2 * there.sum::<u32>() > parts.context.parameters.buffer;
        let first = routers.output_vc(output, vc).packets.front();
        let lacks = first.is_some_and(|first| {
            let flits = common.packets.packets[first.slot as usize].flits;
            let credits = &routers.state.credits[(port.room + u32::from(vc)) as usize];
            common.time(credits.from(flits.into())) > parts.clock
        });
        Some((output, (is_full || lacks).then_some(far)))
    }
}

impl CioqRouters {
    fn output_vc(&self, output: u32, vc: u8) -> &super::OutputVc {
        &self.state.vcs[(output * self.rules.vcs + u32::from(vc)) as usize]
    }

    fn head_flits(&self, parts: &Parts<'_, '_>, (part, buffer): Buffer) -> u32 {
        let packets = &parts.part(part).common.packets.packets;
        let first = self.state.inputs[buffer as usize].first;
        packets.get(first as usize).map_or(0, |packet| packet.flits.into())
    }

    /// The hops of the head of a buffer, as outputs of the part with their virtual channels; none if
    /// it does not ask yet. Fallbacks are among them only if no other hop has room.
    fn hops_of(parts: &Parts<'_, '_>, (part, buffer): Buffer) -> Vec<(u32, u8)> {
        let Part { common, routers, .. } = parts.part(part);
        let head = routers.state.inputs[buffer as usize];
        let (_, router) = routers.ports.router_of(buffer);
        let output = |output: u16| router.first_output + u32::from(output);
        if head.first == NONE {
            return Vec::new();
        }
        match head.hops {
            Hops::Unknown => Vec::new(),
            Hops::One { output: own, vc } => vec![(output(own), vc)],
            Hops::Ejection(own) => {
                (0..fitted!(routers.rules.vcs, u8)).map(|vc| (output(own), vc)).collect()
            }
            Hops::List(list) => {
                let Routing::Relation(relation) = &common.routing else { return Vec::new() };
                let flits = routers.head_flits(parts, (part, buffer));
                let hops = relation.hops_of_list(list).iter();
                let has_room = |output: u32, vc| routers.output_vc(output, vc).room.due() >= flits;
                let place = |hop: &flitlab_routing::relation::Hop| (output(hop.port), hop.vc);
                let others = hops.clone().filter(|hop| !hop.is_fallback()).map(place);
                if others.clone().any(|(output, vc)| has_room(output, vc)) {
                    others.collect()
                } else {
                    hops.map(place).collect()
                }
            }
        }
    }

    /// The buffer whose own packets alone can make room for the first packet in the buffer of an
    /// output.
    fn blocked_by(parts: &Parts<'_, '_>, part: usize, (output, vc): (u32, u8)) -> Option<Buffer> {
        let Part { common, routers, .. } = parts.part(part);
        let port = routers.output(output);
        let first = routers.output_vc(output, vc).packets.front()?;
        let flits = common.packets.packets[first.slot as usize].flits;
        let due = routers.state.credits[(port.room + u32::from(vc)) as usize].due();
        if !port.needs_room || due >= flits.into() {
            return None;
        }
        let far = parts.far_end(part, output, vc);
        let packets = &parts.part(far.0).common.packets.packets;
        let there =
            Self::arrived_in(parts, far).map(|slot| u32::from(packets[slot as usize].flits));
        (due + there.sum::<u32>() == parts.context.parameters.buffer).then_some(far)
    }

    /// The packets in a buffer that could go on, were they the head.
    fn arrived_in<'a>(
        parts: &Parts<'a, '_>,
        (part, buffer): Buffer,
    ) -> impl Iterator<Item = u32> + use<'a> {
        let clock = parts.clock;
        let Part { common, routers, .. } = parts.part(part);
        let packets = &common.packets.packets;
        chain(packets, routers.state.inputs[buffer as usize].first)
            .filter(move |&slot| common.time(packets[slot as usize].ready) <= clock)
    }
}
