//! Packets of a routing relation with phases (docs/model.md, "Phases").
//!
//! A packet's header has its phase in place of its class, and a word beyond it has the router or
//! group by way of which it goes.

use super::answer::{Head, NextHop};
use super::relation::RelationTables;
use super::table::Address;
use crate::network::context::NetworkContext;
use crate::packet::Packets;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_routing::phased::{Course, Queues};
use flitlab_routing::relation::{Phase, Phases};

/// The phase of a packet at a router, and the target of its leg, a via or this destination.
#[inline(always)]
fn leg(
    phases: &Phases,
    packets: &Packets,
    (slot, phase): (u32, u8),
    (router, destination): (u32, u32),
) -> (u8, u32) {
    match phases.phases[usize::from(phase)] {
        Phase::Via { then } => {
            let via = fitted!(packets.rest_of(slot)[0], u32);
            if phases.is_reached(via, router) { (then, destination) } else { (phase, via) }
        }
        _ => (phase, destination),
    }
}

/// The next hop of a packet at a router that is not its destination's.
#[inline]
pub(super) fn next_hop(
    tables: &RelationTables<'_>,
    phases: &Phases,
    packets: &Packets,
    Head { slot, router, .. }: Head,
    (phase, destination): (u8, u32),
) -> NextHop {
    let (phase, target) = leg(phases, packets, (slot, phase), (router, destination));
    if matches!(phases.phases[usize::from(phase)], Phase::Decides { .. }) {
        return NextHop::Undecided;
    }
    let relation = &tables.routes.relation;
    NextHop::Hops(relation.list(relation.in_phase(router, phase), target))
}

impl RelationTables<'_> {
    /// Lets a packet decide at a router.
    pub(crate) fn decide(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (slot, router): (u32, u32),
        queues: &mut dyn Queues,
    ) {
        let packet = packets.packets[slot as usize];
        let mut address = Address::from(packet.route);
        let ends = [packet.source, address.destination].map(|end| context.end(end).router);
        let via = packets.rest_of(slot).first().map_or(NONE, |&word| fitted!(word, u32));
        let course = Course { phase: address.class, via };
        let ends = (ends[0], ends[1]);
        let of_packet = (packet.source, packet.sequence);
        let fabric = context.fabric;
        let course = self.routes.decide(fabric, router, (ends, course), of_packet, queues);
        address.class = course.phase;
        packets.packets[slot as usize].route = address.into();
        packets.rest(slot).iter_mut().for_each(|word| *word = course.via.into());
    }
}
