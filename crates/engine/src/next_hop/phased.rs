//! Packets of a routing relation with phases (docs/model.md, "Phases").
//!
//! A packet's header has its phase in place of its class, and the port that it has chosen, if it
//! chooses one. A word beyond the header has the router or group by way of which it goes.

use super::answer::{Head, NextHop};
use super::relation::RelationTables;
use super::table::Address;
use crate::network::context::NetworkContext;
use crate::packet::Packets;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_routing::adaptive::Misroute;
use flitlab_routing::phased::{Course, Queues};
use flitlab_routing::relation::{Phase, Phases, Targets};

/// The phase of a packet at a router, and the target of its leg, a via or this destination.
#[inline(always)]
fn leg(
    phases: &Phases,
    context: &NetworkContext<'_>,
    packets: &Packets,
    (slot, phase): (u32, u8),
    (router, destination): (u32, u32),
) -> (u8, u32) {
    match (&phases.phases[usize::from(phase)], &phases.targets) {
        (&Phase::Via { then }, _) => {
            let via = fitted!(packets.rest_of(slot)[0], u32);
            if phases.is_reached(via, router) { (then, destination) } else { (phase, via) }
        }
        (_, Targets::Pairs(_)) => {
            let source = context.end(packets.packets[slot as usize].source).router;
            (phase, phases.target(source, destination))
        }
        _ => (phase, destination),
    }
}

/// The next hop of a packet at a router that is not its destination's.
#[inline]
pub(super) fn next_hop(
    tables: &RelationTables<'_>,
    phases: &Phases,
    context: &NetworkContext<'_>,
    packets: &Packets,
    Head { slot, router, .. }: Head,
    (route, destination): (Address, u32),
) -> NextHop {
    let (phase, target) = leg(phases, context, packets, (slot, route.class), (router, destination));
    if matches!(phases.phases[usize::from(phase)], Phase::Decides { .. }) {
        return NextHop::Undecided;
    }
    let relation = &tables.routes.relation;
    let list = relation.list(relation.in_phase(router, phase), target);
    if tables.at_head.is_none() {
        return NextHop::Hops(list);
    }
    match route.first_vc {
        0 if tables.choosable(list).nth(1).is_some() => NextHop::Undecided,
        0 => NextHop::Hops(list),
        chosen => NextHop::Hops(relation.of_port(list, chosen - 1)),
    }
}

impl RelationTables<'_> {
    /// The ports of a list with hops that are no fallbacks, each with its label.
    fn choosable(&self, list: u32) -> impl Iterator<Item = (u16, u8)> + Clone {
        let hops = self.hops_of_list(list);
        let ports = self.ports(list).map(|place| self.port(place));
        ports.filter(|port| port.vcs != 0).map(|port| {
            let hop = hops[usize::from(port.first)..].iter().find(|hop| !hop.is_fallback());
            (port.port, hop.expect("it has such a hop").label)
        })
    }

    /// Lets a packet decide at a router: on how it goes on, or else on a port.
    pub(crate) fn decide(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (slot, router): (u32, u32),
        queues: &mut dyn Queues,
    ) {
        let packet = packets.packets[slot as usize];
        let mut address = Address::from(packet.route);
        let [from, to] = [packet.source, address.destination].map(|end| context.end(end).router);
        let phases = self.phases().expect("packets decide in relations with phases alone");
        let (phase, target) = leg(phases, context, packets, (slot, address.class), (router, to));
        let of_packet = (packet.source, packet.sequence);
        let is_detour;
        if matches!(phases.phases[usize::from(phase)], Phase::Decides { .. }) {
            let via = packets.rest_of(slot).first().map_or(NONE, |&word| fitted!(word, u32));
            let course = Course { phase, via };
            let fabric = context.fabric;
            let course =
                self.routes.decide(fabric, router, ((from, to), course), of_packet, queues);
            address.class = course.phase;
            is_detour = course.via != NONE;
            packets.rest(slot).iter_mut().for_each(|word| *word = course.via.into());
        } else if let Some(at_head) = self.at_head {
            let relation = &self.routes.relation;
            let list = relation.list(relation.in_phase(router, phase), target);
            let ports: Vec<(u16, u8)> = self.choosable(list).collect();
            let first = self.first(router, packet.note, ports.len());
            let ports = ports.iter().copied();
            let of_flow = (packet.source, packet.sequence, address.destination);
            let place =
                self.routes.choose((router, at_head), ports.clone(), first, of_flow, queues);
            address.first_vc = 1 + place;
            let mut labels = ports.map(|(_, label)| label);
            let least = labels.clone().min();
            is_detour = labels.nth(place.into()) > least;
        } else {
            unreachable!("others decide nothing");
        }
        let origin = &mut packets.origins[slot as usize];
        if is_detour && origin.misroute(&Misroute::BY_PHASES).is_none() {
            let at_source = router == from;
            let kind = if at_source { Misroute::AtSource } else { Misroute::OnTheWay };
            origin.set_misroute(Some(kind));
        }
        packets.packets[slot as usize].route = address.into();
    }
}
