//! Routing: the ways of packets, the algorithms that compute them, and proofs that they are right.
//!
//! - [`Routes`] is the routing of a fabric, as the engine uses it. Its variants differ in who
//!   decides: the source ([`DirectionOrder`], [`RouteTable`], [`PathRoutes`]) or each router
//!   ([`ForwardingTable`], [`Adaptive`], [`RelationRoutes`]).
//! - Algorithms make tables: [`agnostic`] for fabrics of any shape, [`angara`] for Angara's tori.
//!   [`relation`] has rules whose packets choose among several hops, and [`path_selection`] picks
//!   one path of each pair from a relation. [`opensm`] reads and writes the tables of InfiniBand.
//! - Proofs share no code with the algorithms: [`prove`], [`prove_forwarding`] and
//!   [`prove_relation`] follow all packets and look for cycles among the virtual channels that they
//!   hold. [`prove_deadlock_free`] judges any [`Routes`].
//! - [`Quality`] and [`ForwardingQuality`] give channel loads and hops of a table; [`LoadBound`] is
//!   the lowest load that any table can have.
//!
//! # A table, made and proved
//!
//! ```
//! use flitlab_fabric::{Faults, Torus};
//! use flitlab_routing::agnostic::{Algorithm, Parameters};
//! use flitlab_routing::{ForwardingQuality, prove_forwarding};
//!
//! let torus = Torus::new(&[5], &[]).unwrap();
//! let ring = torus.fabric(&Faults::default()).unwrap();
//!
//! let up_down = Algorithm::UP_DOWN.generate(&ring, &Parameters::default()).unwrap();
//! let proof = prove_forwarding(&ring, &up_down.table);
//! assert!(proof.holds());
//! assert_eq!(proof.pairs, 20);
//!
//! // Up*/Down* leaves one of the five cables idle to be free of deadlock, so some ways are longer.
//! let quality = ForwardingQuality::new(&ring, &up_down.table);
//! assert!(quality.hops_mean > quality.least_hops_mean);
//! ```
//!
//! # A table with a cycle
//!
//! Shortest paths on a ring deadlock: packets can fill all of its buffers and wait for each other.
//!
//! ```
//! # use flitlab_fabric::{Faults, Torus};
//! # use flitlab_routing::agnostic::{Algorithm, Parameters};
//! # use flitlab_routing::prove_forwarding;
//! # let ring = Torus::new(&[5], &[]).unwrap().fabric(&Faults::default()).unwrap();
//! let shortest = Algorithm::MIN_HOP.generate(&ring, &Parameters::default()).unwrap();
//! let proof = prove_forwarding(&ring, &shortest.table);
//! assert!(!proof.holds());
//!
//! // The cycle goes round the ring.
//! let cycle = proof.cycle().expect("shortest paths close a cycle");
//! assert_eq!(cycle.len(), 5);
//! println!("{}", proof.flaws[0].describe(&ring));
//! ```

#![warn(missing_docs)]

pub mod adaptive;
pub mod agnostic;
mod alike_vcs;
pub mod angara;
mod changes;
mod choice_proof;
mod choosing;
pub mod concurrent_flow;
mod cycle;
mod deadlock_proof;
mod direction_order;
mod direction_rules;
mod escape;
mod file;
mod forwarding;
mod forwarding_path;
mod forwarding_proof;
mod forwarding_quality;
mod header;
mod load_bound;
mod load_figures;
mod offsets;
pub mod opensm;
pub mod path_selection;
mod phase_proof;
pub mod phased;
#[cfg(test)]
mod plain_tables;
mod proof;
mod quality;
mod region;
pub mod relation;
mod relation_proof;
mod ring_proof;
mod route;
mod run_loads;
mod service_levels;
mod table;
mod torus_adaptive;
pub mod without_load;
mod worst_case;

pub use changes::Changes;
pub use choosing::{MAX_PATHS, PathRoutes, Preference, RelationRoutes};
pub use deadlock_proof::{Danger, FlowControl, Freedom, prove_deadlock_free};
pub use direction_order::DirectionOrder;
use direction_rules::drawn;
pub use direction_rules::{DirectionRules, HalfRing, OrderError};
pub use file::{TableFile, header_text};
pub use forwarding::{ForwardingTable, MAX_VCS, VcAssignment};
pub use forwarding_path::ShortestWays;
pub use forwarding_proof::{ForwardingFlaw, ForwardingProof, VirtualChannel, prove_forwarding};
pub use forwarding_quality::ForwardingQuality;
pub use header::Header;
pub use load_bound::{LoadBound, Paths};
pub use load_figures::{LoadFigures, MAX_POWER, deviation};
pub use proof::{Flaw, Proof, prove};
pub use quality::Quality;
pub use region::Region;
pub use relation_proof::{RelationFlaw, RelationProof, prove_relation};
pub use route::{MAXIMUM_RUNS, Route, Run};
pub use service_levels::{MANAGEMENT_LANE, SERVICE_LEVELS, ServiceLevels};
pub use table::{MAX_ROUND, RouteTable};
pub use torus_adaptive::{Adaptive, AdaptiveChannels, AdaptiveRules, Course, EscapeRule, Onward};
pub use worst_case::{NoWorstCase, WorstCase};

use std::sync::Arc;

use flitlab_fabric::{Channel, Fabric};

/// The hops for which a way has room at once: what is listed for every pair is not made longer step by
/// step.
const USUAL_HOPS: usize = 32;

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
        self.for_each_way(fabric, source, destination, |way, share| {
            way.iter().for_each(|&channel| each(channel, share));
        });
    }

    /// Calls `each` with the channels of the ways among which sources choose for packets from one
    /// terminal to another, each way with its share of the packets. Half of the packets go either way
    /// round a half ring that is drawn; of several routes in a table each has its count's share. Where
    /// routers choose, it is the one way of [`for_each_channel`](Self::for_each_channel).
    ///
    /// # Panics
    /// If a terminal has failed, or the pair has no route.
    pub fn for_each_way(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        mut each: impl FnMut(&[Channel], f64),
    ) {
        let router = |terminal| fabric.terminal_router(terminal).expect("live");
        let mut way = Vec::with_capacity(USUAL_HOPS);
        match self {
            Self::DirectionOrder(order) if order.draws() => {
                let (source, destination) = (router(source), router(destination));
                order.for_each_way(fabric, source, destination, |route, share| {
                    way.clear();
                    route.for_each_channel(fabric, source, |channel| way.push(channel));
                    each(&way, share);
                });
            }
            Self::Table(table) => {
                let ends = (router(source), router(destination));
                table.for_each_route(fabric, ends, |route, share| {
                    way.clear();
                    route.for_each_channel(fabric, ends.0, |channel| way.push(channel));
                    each(&way, share);
                });
            }
            Self::Paths(routes) => {
                let routers = (router(source), router(destination));
                routes.for_each_way(fabric, (source, destination), routers, each);
            }
            _ => {
                self.for_each_channel(fabric, source, destination, |channel| way.push(channel));
                each(&way, 1.0);
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

/// Pairs of live nodes between which a routing has no legal route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{routing} has no way around the failures from node {} to node {} ({pairs} ordered pairs have none)", .first.0, .first.1)]
pub struct Unroutable {
    /// The routing, as the subject of the message.
    pub routing: &'static str,
    /// The first such pair, source and destination.
    pub first: (String, String),
    /// Number of such ordered pairs.
    pub pairs: u64,
}

/// A torus with failed cables.
#[cfg(test)]
fn test_fabric(sizes: &[u32], cables: &[(u32, u32)]) -> Fabric {
    use flitlab_fabric::{Faults, Torus};
    let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
    Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap()
}
