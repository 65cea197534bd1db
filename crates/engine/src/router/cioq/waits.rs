//! What packets wait for: for the search for deadlocks, and for the channel that holds a packet up.
//!
//! The head of a buffer waits for room in the buffer of an output. That gets some when its first
//! packet is sent, for which the buffer at the far end has to have room. So the head of the one
//! waits for the head of the other.

use super::{CioqRouters, Hops, OutputVc};
use crate::next_hop::Routing;
use crate::part::Part;
use crate::router::asks::OutputRequest;
use crate::router::blocked::Blocked;
use crate::router::{AllParts, Buffer, Routers};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;
use flitlab_routing::relation::Hop;

impl Blocked for CioqRouters {
    fn first_packet(&self, buffer: u32) -> u32 {
        self.state.inputs[buffer as usize].first
    }

    /// Fallbacks are among them only if no other hop has room.
    fn requests_of(parts: &AllParts<'_, '_, Self>, (part, buffer): Buffer) -> Vec<OutputRequest> {
        let Part { common, routers, .. } = parts.part(part);
        let head = routers.state.inputs[buffer as usize];
        if head.first == NONE {
            return Vec::new();
        }
        let (_, router) = routers.ports.router_of(buffer);
        let need = common.packets.packets[head.first as usize].flits.into();
        let request = |output: u16, vc| OutputRequest {
            output: router.first_output + u32::from(output),
            vc,
            need,
        };
        match head.hops {
            Hops::Unknown => Vec::new(),
            Hops::One { output, vc } => vec![request(output, vc)],
            Hops::Ejection(output) => {
                (0..fitted!(routers.rules.vcs, u8)).map(|vc| request(output, vc)).collect()
            }
            Hops::List(list) => {
                let Routing::Relation(relation) = &common.routing else { return Vec::new() };
                let hops = relation.hops_of_list(list).iter();
                let request = |hop: &Hop| request(hop.port, hop.vc);
                let others = hops.clone().filter(|hop| !hop.is_fallback()).map(request);
                if others.clone().any(|it| routers.free_for(it) >= need) {
                    others.collect()
                } else {
                    hops.map(request).collect()
                }
            }
        }
    }

    fn free_for(&self, OutputRequest { output, vc, .. }: OutputRequest) -> u32 {
        self.output_vc(output, vc).room.due()
    }

    /// Of the first packet in the buffer of the output.
    fn needed_beyond(part: &Part<'_, Self>, request: OutputRequest, _: Picoseconds) -> Option<u32> {
        let lacks = part.routers.free_for(request) < request.need;
        lacks.then(|| Self::flits_before(part, request)).flatten()
    }

    fn lacks_room_beyond(
        part: &Part<'_, Self>,
        request: OutputRequest,
        clock: Picoseconds,
    ) -> bool {
        let OutputRequest { output, vc, .. } = request;
        let place = part.routers.output(output).room + u32::from(vc);
        let credits = &part.routers.state.credits[place as usize];
        Self::flits_before(part, request)
            .is_some_and(|flits| part.common.time(credits.from(flits)) > clock)
    }
}

impl CioqRouters {
    fn output_vc(&self, output: u32, vc: u8) -> &OutputVc {
        &self.state.vcs[(output * self.rules.vcs + u32::from(vc)) as usize]
    }

    /// The flits of the first packet in the buffer for which a request asks, if there is one.
    fn flits_before(
        Part { common, routers, .. }: &Part<'_, Self>,
        OutputRequest { output, vc, .. }: OutputRequest,
    ) -> Option<u32> {
        let first = routers.output_vc(output, vc).packets.front()?;
        Some(common.packets.packets[first.slot as usize].flits.into())
    }
}
