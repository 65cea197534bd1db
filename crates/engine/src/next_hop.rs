//! The lookup of a packet's next hop by its address: in the routers' forwarding tables, or in the
//! paths of its source.
//!
//! The flit-by-flit router and the router that grants whole packets both ask [`NextHop`] for each
//! head.

use super::encoded_route::Address;
use super::network_context::NetworkContext;
use super::packet::Packet;
use flitlab_routing::{ForwardingTable, PathRoutes};

/// Where a router looks up a packet's next output.
#[derive(Clone, Copy, Debug)]
pub(super) enum NextHop<'f> {
    Table(&'f ForwardingTable),
    /// Paths that sources write into headers. A packet's class is the number of its path.
    Paths(&'f PathRoutes),
}

impl NextHop<'_> {
    /// The output and the virtual channel by which a packet leaves a router. The packet has crossed
    /// `hops` channels, and has come by the cable of output `came` on virtual channel `vc`.
    #[inline]
    pub(super) fn look_up(
        self,
        context: &NetworkContext<'_>,
        router: u32,
        (source, hops, address): (u32, u16, Address),
        (came, vc): (Option<u16>, u8),
    ) -> (u16, u8) {
        let Address { destination, class, ejection } = address;
        let end = context.end(destination);
        match self {
            Self::Table(table) => match table.port(router, destination) {
                Some(port) if end.router != router => {
                    let channel = table.vc(router, destination, class, came, port);
                    (port, context.vc_map.index(channel))
                }
                _ => (end.ejection + ejection, vc),
            },
            Self::Paths(paths) => {
                let path = paths.path(context.end(source).router, end.router, class);
                match path.get(usize::from(hops)) {
                    Some(hop) => (hop.port, context.vc_map.index(hop.vc)),
                    None => (end.ejection + ejection, vc),
                }
            }
        }
    }
}

/// The number of the path that a packet takes which is injected now, between two routers. With
/// `turns`, its source takes the paths to each router in turn.
pub(super) fn path_of(
    routes: &PathRoutes,
    packet: &Packet,
    (from, to): (u32, u32),
    turns: Option<&mut Vec<u8>>,
) -> u8 {
    let paths = routes.paths.numbers(from, to).len();
    if paths <= 1 {
        return 0;
    }
    let Some(turns) = turns else { return routes.drawn(packet.source, packet.sequence, paths) };
    let turn = &mut turns[to as usize];
    let path = *turn;
    *turn = if usize::from(path) + 1 == paths { 0 } else { path + 1 };
    path
}
