//! Packets of a routing relation with phases (docs/model.md, "Phases").
//!
//! A packet's header has its phase in place of its class, and the port that it has chosen, if it
//! chooses one. A word beyond the header has the router or group by way of which it goes.

use super::answer::{Head, NextHop, OutVc};
use super::relation::RelationTables;
use super::table::{Address, SetOrDecision};
use crate::network::context::NetworkContext;
use crate::packet::{Packet, Packets};
use flitlab_base::narrow::fitted;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::adaptive::Misroute;
use flitlab_routing::phased::{Course, Queues};
use flitlab_routing::relation::{Hop, Phase, Phases, Targets};

/// What a router sees when a packet decides: its own outputs, by port and virtual channels, a bit
/// each, and what it knows of others.
struct Seen<'q> {
    context: &'q NetworkContext<'q>,
    used: &'q mut dyn FnMut(u16, u16) -> u32,
}

impl Queues for Seen<'_> {
    fn used(&mut self, port: u16, vcs: u16) -> u32 {
        (self.used)(port, vcs & fitted!((1_u32 << self.context.vc_map.count()) - 1, u16))
    }

    fn elsewhere(&mut self, channel: Channel) -> u32 {
        self.context.far.as_deref().expect("the rule has said so").get(channel)
    }
}

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
    if tables.has_single_hops {
        let &Hop { port, vc, .. } = &relation.hops_of_list(list)[0];
        return NextHop::Output { output: port, vc: OutVc::This(vc), keeps_bubble: false };
    }
    if tables.at_head.is_none() {
        return NextHop::Hops(list);
    }
    match route.own.decision() {
        None if tables.choosable(list).nth(1).is_some() => NextHop::Undecided,
        None => NextHop::Hops(list),
        Some(chosen) => NextHop::Hops(relation.of_port(list, chosen)),
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

    /// Updates a packet that leaves a router for the next one, where it has a single hop.
    #[inline]
    pub(super) fn take_single_hop(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (slot, router): (u32, u32),
    ) {
        let phases = self.phases().expect("relations of single hops have phases");
        let mut address = Address::from(packets.packets[slot as usize].route);
        let list = self.list(phases, context, packets, (slot, address), router);
        address.class = self.hops_of_list(list)[0].phase;
        packets.packets[slot as usize].route = address.into();
    }

    /// Lets a packet decide at a router: on how it goes on, or else on a port. If it has decided here
    /// before, it decides anew. `used` says what it sees of the router's outputs, as
    /// [`Queues::used`] does. Returns whether it goes on otherwise than before.
    pub(crate) fn decide(
        &self,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (slot, router): (u32, u32),
        used: &mut dyn FnMut(u16, u16) -> u32,
    ) -> bool {
        let queues = &mut Seen { context, used };
        let packet = packets.packets[slot as usize];
        let mut address = Address::from(packet.route);
        let before = (address, packets.rest_of(slot).first().copied());
        let [from, to] = [packet.source, address.destination].map(|end| context.end(end).router);
        let phases = self.phases().expect("packets decide in relations with phases alone");
        let of_packet = (packet.source, packet.sequence);
        if let Some(at_head) = self.at_head {
            let list = self.list(phases, context, packets, (slot, address), router);
            let ports: Vec<(u16, u8)> = self.choosable(list).collect();
            let first = self.first(router, packet.note, ports.len());
            let ports = ports.iter().copied();
            let of_flow = (packet.source, packet.sequence, address.destination);
            let place = self.routes.choose((router, at_head), ports, first, of_flow, queues);
            address.own = SetOrDecision::decided(place);
        } else {
            if let Some(decided_in) = address.own.decision() {
                address.class = decided_in;
            }
            let course = Course::straight(address.class);
            let ends = ((from, to), course);
            let course = self.routes.decide(context.fabric, router, ends, of_packet, queues);
            address.own = SetOrDecision::decided(address.class);
            address.class = course.phase;
            packets.rest(slot).iter_mut().for_each(|word| *word = course.via.into());
        }
        packets.packets[slot as usize].route = address.into();
        before != (address, packets.rest_of(slot).first().copied())
    }

    /// Notes of a packet that goes on as it has decided at a router whether that is a detour.
    pub(super) fn note_detour(
        &self,
        phases: &Phases,
        context: &NetworkContext<'_>,
        packets: &mut Packets,
        (slot, router): (u32, u32),
        address: Address,
    ) {
        if packets.origins[slot as usize].misroute(&Misroute::BY_PHASES).is_some() {
            return;
        }
        let is_detour = if self.at_head.is_some() {
            let list = self.list(phases, context, packets, (slot, address), router);
            let mut labels = self.choosable(list).map(|(_, label)| label);
            let least = labels.clone().min();
            address.own.decision().and_then(|place| labels.nth(place.into())) > least
        } else {
            packets.rest_of(slot).first().is_some_and(|&via| via != u64::from(NONE))
        };
        if is_detour {
            let at_source = router == context.end(packets.packets[slot as usize].source).router;
            let kind = if at_source { Misroute::AtSource } else { Misroute::OnTheWay };
            packets.origins[slot as usize].set_misroute(Some(kind), &Misroute::BY_PHASES);
        }
    }

    /// All hops of a packet at a router, whatever port it has chosen.
    fn list(
        &self,
        phases: &Phases,
        context: &NetworkContext<'_>,
        packets: &Packets,
        (slot, address): (u32, Address),
        router: u32,
    ) -> u32 {
        let to = context.end(address.destination).router;
        let (phase, target) = leg(phases, context, packets, (slot, address.class), (router, to));
        let relation = &self.routes.relation;
        relation.list(relation.in_phase(router, phase), target)
    }

    /// Whether a packet has decided at the router where it is.
    pub(crate) fn has_decided(&self, packet: &Packet) -> bool {
        Address::from(packet.route).own.decision().is_some()
    }
}
