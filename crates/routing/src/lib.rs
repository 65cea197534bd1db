//! What routers follow: routes, tables, relations, and rules by which packets choose.
//!
//! [`Routes`] is the routing of a fabric, as the engine uses it. Its variants differ in who decides:
//! the source ([`DirectionOrder`], [`RouteTable`], [`PathRoutes`]) or each router
//! ([`ForwardingTable`], [`Adaptive`], [`RelationRoutes`]).
//!
//! Nothing here is searched for or proved: what makes tables and relations, and shows that they are
//! free of deadlock, is in `flitlab-tables`.
//!
//! ```
//! use flitlab_fabric::{Faults, Torus};
//! use flitlab_routing::{DirectionOrder, HalfRing, Routes};
//!
//! let torus = Torus::new(&[5, 4], &[]).unwrap();
//! let fabric = torus.fabric(&Faults::default()).unwrap();
//! let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus).unwrap());
//!
//! // A hop in the first dimension, round the ring, and two in the second.
//! let route = routes.source_route(&fabric, 4, 10).unwrap();
//! assert_eq!(route.hops(), 3);
//! ```

#![warn(missing_docs)]

pub mod adaptive;
mod choosing;
mod direction_order;
mod direction_rules;
mod escape;
mod forwarding;
mod header;
mod offsets;
pub mod phased;
pub mod relation;
mod route;
mod service_levels;
mod table;
mod torus_adaptive;
pub mod without_load;

pub use choosing::{MAX_PATHS, PathRoutes, Preference, RelationRoutes};
pub use direction_order::DirectionOrder;
use direction_rules::drawn;
pub use direction_rules::{DirectionRules, HalfRing, OrderError, Unroutable};
pub use forwarding::{ForwardingTable, MAX_VCS, NO_PORT, VcAssignment, VirtualChannel};
pub use header::Header;
pub use offsets::{Offsets, Place};
pub use route::{MAXIMUM_RUNS, Route, Run};
pub use service_levels::{MANAGEMENT_LANE, SERVICE_LEVELS, ServiceLevels};
pub use table::{MAX_ROUND, RouteTable};
pub use torus_adaptive::{Adaptive, AdaptiveChannels, AdaptiveRules, Course, EscapeRule, Onward};

use std::sync::Arc;

use flitlab_fabric::{Channel, Fabric};

/// The routes of a fabric, by the rule that packets follow.
#[derive(Clone, Debug)]
pub enum Routes {
    /// Packets keep an order of directions on a torus.
    DirectionOrder(DirectionOrder),
    /// Packets follow the source's table, which has a route for each pair, or several that it takes
    /// in turn.
    Table(RouteTable),
    /// Packets choose their way hop by hop, on a torus.
    Adaptive(Adaptive),
    /// Routers look up the port by a packet's destination. Every pair of live terminals has a way.
    Forwarding(Arc<ForwardingTable>),
    /// Packets choose among the hops of a relation.
    Relation(RelationRoutes),
    /// Packets go by one of the paths of their source.
    Paths(PathRoutes),
}

impl Routes {
    /// The route from one router to another, as the source's adapter writes it into the header.
    ///
    /// - With adaptive routing it is that of a packet that never leaves the escape channel.
    /// - Half rings that are drawn are gone in the positive direction. Of several routes in a table it
    ///   is the first.
    /// - `None` if routers decide, as on an escape by a table, and for paths with a virtual channel
    ///   for each hop.
    ///
    /// # Panics
    /// If the pair has no route; the constructors refuse fabrics with such a pair.
    #[inline]
    pub fn source_route(&self, fabric: &Fabric, source: u32, destination: u32) -> Option<Route> {
        match self {
            Self::DirectionOrder(order) => Some(order.route(fabric, source, destination)),
            Self::Table(table) => Some(table.route(fabric, source, destination)),
            Self::Adaptive(adaptive) => adaptive.route(fabric, source, destination),
            Self::Forwarding(_) | Self::Relation(_) | Self::Paths(_) => None,
        }
    }

    /// The route of a packet, by its number at its source: [`source_route`](Self::source_route)
    /// with half rings as they are drawn for it. `None` as there.
    ///
    /// # Panics
    /// If the pair has no route.
    #[inline]
    pub fn packet_route(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        sequence: u32,
    ) -> Option<Route> {
        match self {
            Self::DirectionOrder(order) => {
                Some(order.packet_route(fabric, source, destination, sequence))
            }
            _ => self.source_route(fabric, source, destination),
        }
    }

    /// The routes after some channels have failed, given by channel, and before new ones are made:
    /// where routers choose, they choose no failed channel. A packet that is left none but failed
    /// channels takes one of those, and so does one that escapes by it. `None` where routers don't
    /// choose: packets keep to their routes.
    ///
    /// If some of the channels had failed earlier, `before` are the routes since then. What packets
    /// under way know of those holds for the new ones, too.
    #[must_use]
    pub fn avoiding(
        &self,
        fabric: &Fabric,
        failed: &[bool],
        before: Option<&Self>,
    ) -> Option<Self> {
        match self {
            Self::Adaptive(adaptive) => Some(Self::Adaptive(adaptive.avoiding(fabric, failed))),
            Self::Relation(routes) => {
                let before = match before {
                    Some(Self::Relation(before)) => Some(&*before.relation),
                    _ => None,
                };
                let relation = Arc::new(routes.relation.avoiding(fabric, failed, before));
                Some(Self::Relation(RelationRoutes { relation, ..routes.clone() }))
            }
            Self::DirectionOrder(_) | Self::Table(_) | Self::Forwarding(_) | Self::Paths(_) => None,
        }
    }

    /// Whether packets between the same nodes may go different ways, chosen by their source, at
    /// random or in turn.
    pub fn draws(&self) -> bool {
        match self {
            Self::DirectionOrder(order) => order.draws(),
            Self::Table(table) => table.has_several(),
            Self::Paths(routes) => routes.chooses(),
            _ => false,
        }
    }

    /// Whether packets between these terminals may go different ways, chosen by their source.
    pub fn draws_between(&self, fabric: &Fabric, source: u32, destination: u32) -> bool {
        let router = |terminal| fabric.terminal_router(terminal).expect("live");
        match self {
            Self::DirectionOrder(order) => order.tied(router(source), router(destination)) != 0,
            Self::Table(table) => table.has_several_between(router(source), router(destination)),
            Self::Paths(routes) => {
                let paths = routes.paths.numbers(router(source), router(destination));
                routes.chooses() && paths.len() > 1
            }
            _ => false,
        }
    }

    /// Calls `each` with the channels that packets take from one terminal to another, as in
    /// [`for_each_way`](Self::for_each_way), and with the share of the packets on each. All channels of
    /// a way come together.
    ///
    /// # Panics
    /// If a terminal has failed, or the pair has no route.
    pub fn for_each_share(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        mut each: impl FnMut(Channel, f64),
    ) {
        self.for_each_way(fabric, source, destination, &mut Vec::new(), |way, share| {
            way.iter().for_each(|&channel| each(channel, share));
        });
    }

    /// Calls `each` with the channels of the ways among which sources choose for packets from one
    /// terminal to another, each way with its share of the packets. Half of the packets go either way
    /// round a half ring that is drawn; of several routes in a table each has its count's share. Where
    /// routers choose, it is the one way of [`for_each_channel`](Self::for_each_channel). The channels of
    /// all ways are appended to `steps`, so that many pairs can share its memory.
    ///
    /// # Panics
    /// If a terminal has failed, or the pair has no route.
    pub fn for_each_way(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        steps: &mut Vec<Channel>,
        mut each: impl FnMut(&[Channel], f64),
    ) {
        let router = |terminal| fabric.terminal_router(terminal).expect("live");
        match self {
            Self::DirectionOrder(order) if order.draws() => {
                let (source, destination) = (router(source), router(destination));
                order.for_each_way(fabric, source, destination, |route, share| {
                    let first = steps.len();
                    route.for_each_channel(fabric, source, |channel| steps.push(channel));
                    each(&steps[first..], share);
                });
            }
            Self::Table(table) => {
                let ends = (router(source), router(destination));
                table.for_each_route(fabric, ends, |route, share| {
                    let first = steps.len();
                    route.for_each_channel(fabric, ends.0, |channel| steps.push(channel));
                    each(&steps[first..], share);
                });
            }
            Self::Paths(routes) => {
                let routers = (router(source), router(destination));
                routes.for_each_way(fabric, (source, destination), routers, steps, each);
            }
            _ => {
                let first = steps.len();
                self.for_each_channel(fabric, source, destination, |channel| steps.push(channel));
                each(&steps[first..], 1.0);
            }
        }
    }

    /// Calls `each` with the channels of a packet's way from one terminal to another, as far as
    /// they are known before it is sent (see [`source_route`](Self::source_route)).
    ///
    /// # Panics
    /// If a terminal has failed, or the pair has no route.
    pub fn for_each_channel(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        mut each: impl FnMut(Channel),
    ) {
        let router = |terminal| fabric.terminal_router(terminal).expect("live");
        let (mut at, end) = (router(source), router(destination));
        let mut step = |channel, at: &mut u32| {
            each(channel);
            *at = fabric.target(channel).expect("routes avoid failures");
        };
        if let Self::Relation(routes) = self {
            routes.for_each_channel(fabric, (at, end), each);
        } else if let Self::Paths(routes) = self {
            routes.for_each_channel(fabric, (source, destination), (at, end), each);
        } else if let Self::Adaptive(adaptive) = self
            && adaptive.has_table()
        {
            adaptive.for_each_channel(fabric, (at, end), each);
        } else if let Self::Forwarding(table) = self {
            while at != end {
                let channel = table.channel(fabric, at, destination);
                step(channel.expect("every pair has a route"), &mut at);
            }
        } else if let Some(route) = self.source_route(fabric, at, end) {
            for port in route.ports() {
                step(fabric.outputs(at).start + u32::from(port), &mut at);
            }
        }
    }
}

/// A torus with failed cables.
#[cfg(test)]
fn test_fabric(sizes: &[u32], cables: &[(u32, u32)]) -> Fabric {
    use flitlab_fabric::{Faults, Torus};
    let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
    Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap()
}
