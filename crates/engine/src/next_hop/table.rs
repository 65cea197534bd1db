//! Next hops that are looked up by a packet's address: in the routers' forwarding tables, or in the
//! paths of its source.

use super::answer::{Head, NextHop, OutVc};
use crate::network::context::NetworkContext;
use crate::packet::Packet;
use crate::packet::encoded_route::EncodedRoute;
use flitlab_routing::{ForwardingTable, PathRoutes};

/// The route of a packet whose next hop routers look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The destination terminal.
    pub destination: u32,
    /// A number that decides its virtual channel, together with the router: its class in a
    /// forwarding table, the number of its path, or its fallback hops so far in a relation.
    pub class: u8,
    /// Where its set of virtual channels begins, or what it has decided.
    pub own: SetOrDecision,
    /// The ejection channel's number among the terminal's.
    pub ejection: u16,
}

/// What one byte of an address has, by the kind of routing: by a table or by paths, where the packet's
/// set of virtual channels begins; by a relation with phases, what it has decided on at this router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetOrDecision(u8);

impl SetOrDecision {
    /// Of a relation: nothing is decided at this router yet.
    pub(super) const UNDECIDED: Self = Self(0);

    /// The first virtual channel of its set.
    pub(super) fn set_from(first_vc: u8) -> Self {
        Self(first_vc)
    }

    /// The first virtual channel of its set, under a table or paths.
    #[inline]
    fn first_vc(self) -> u8 {
        self.0
    }

    /// The place of a port among those of its hops, where packets choose ports at the head of their
    /// buffer; else the phase in which it decided.
    pub(super) fn decided(what: u8) -> Self {
        Self(what + 1)
    }

    /// What it has decided on at this router, if it has.
    #[inline]
    pub(super) fn decision(self) -> Option<u8> {
        self.0.checked_sub(1)
    }
}

impl From<Address> for EncodedRoute {
    #[inline]
    fn from(Address { destination, class, own, ejection }: Address) -> Self {
        let (class, own) = (u64::from(class), u64::from(own.0));
        Self(u64::from(destination) | class << 32 | own << 40 | u64::from(ejection) << 48)
    }
}

impl From<EncodedRoute> for Address {
    #[inline]
    fn from(EncodedRoute(encoded): EncodedRoute) -> Self {
        let [a, b, c, d, class, own, low, high] = encoded.to_le_bytes();
        Self {
            destination: u32::from_le_bytes([a, b, c, d]),
            class,
            own: SetOrDecision(own),
            ejection: u16::from_le_bytes([low, high]),
        }
    }
}

/// The next hop on a virtual channel by its number.
#[inline]
fn hop(context: &NetworkContext<'_>, output: u16, virtual_channel: u8) -> NextHop {
    let vc = OutVc::This(context.vc_map.index(virtual_channel));
    NextHop::Output { output, vc, keeps_bubble: false }
}

/// The next hop by a forwarding table.
#[inline]
pub(super) fn next_hop(
    table: &ForwardingTable,
    context: &NetworkContext<'_>,
    route: EncodedRoute,
    head: Head,
) -> NextHop {
    let Address { destination, class, own, ejection } = route.into();
    let end = context.end(destination);
    match table.port(head.router, destination) {
        Some(port) if end.router != head.router => {
            let vc = table.vc(head.router, destination, class, head.came, port);
            hop(context, port, own.first_vc() + vc)
        }
        _ => NextHop::ejection(end.ejection + ejection, head.vc),
    }
}

/// The next hop of a packet that has crossed `hops` channels of its path. A packet's class is the
/// number of its path.
#[inline]
pub(super) fn next_hop_of_path(
    paths: &PathRoutes,
    context: &NetworkContext<'_>,
    (source, hops, route): (u32, u16, EncodedRoute),
    vc: u8,
) -> NextHop {
    let Address { destination, class, own, ejection } = route.into();
    let end = context.end(destination);
    let path = paths.path(context.end(source).router, end.router, class);
    match path.get(usize::from(hops)) {
        Some(next) => hop(context, next.port, own.first_vc() + next.vc),
        None => NextHop::ejection(end.ejection + ejection, vc),
    }
}

/// The number of the path that a packet to a terminal takes which is injected now, between two
/// routers. With
/// `turns`, its source takes the paths to each router in turn.
pub(super) fn path_of(
    routes: &PathRoutes,
    (packet, destination): (&Packet, u32),
    (from, to): (u32, u32),
    turns: Option<&mut Vec<u8>>,
) -> u8 {
    let paths = routes.paths.numbers(from, to).len();
    if paths <= 1 {
        return 0;
    }
    let Some(turns) = turns else {
        return routes.drawn(packet.source, (packet.sequence, destination), paths);
    };
    let turn = &mut turns[to as usize];
    let path = *turn;
    *turn = if usize::from(path) + 1 == paths { 0 } else { path + 1 };
    path
}

/// The virtual channel on which a terminal's packets of a class to a destination leave their first
/// router.
pub(super) fn first_vc(
    table: &ForwardingTable,
    context: &NetworkContext<'_>,
    traffic_class: u8,
    (source, destination): (u32, u32),
) -> u8 {
    let router = context.end(source).router;
    let vc = table.port(router, destination).map_or(0, |port| {
        let class = table.class(context.fabric, source, destination);
        table.vc(router, destination, class, None, port)
    });
    context.vc_map.index(context.vc_map.set(traffic_class).first + vc)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_back_as_they_were() {
        let address =
            Address { destination: u32::MAX, class: 15, own: SetOrDecision(14), ejection: 300 };
        assert_eq!(Address::from(EncodedRoute::from(address)), address);
    }
}
