//! Which way packets go: source routes, the tables that hold them, and how they are computed.
//!
//! The engine sees a [`Route`] only: runs of hops through output ports. What the ports mean
//! (directions of a torus, direction bits, first and last steps) is known here and in topology.

mod adaptive;
pub mod agnostic;
pub mod angara;
mod cycle;
mod direction_order;
mod file;
mod forwarding;
mod forwarding_proof;
mod forwarding_quality;
mod header;
mod load_bound;
pub mod opensm;
mod proof;
mod quality;
mod region;
mod route;
mod service_levels;
mod table;

pub use adaptive::{Adaptive, AdaptiveChannels, AdaptiveRules, Course, Derouter};
pub use direction_order::{DirectionOrder, HalfRing};
pub use file::{TableFile, TableFileError};
pub use forwarding::{ForwardingTable, Lanes, MAXIMUM_LANES};
pub use forwarding_proof::{ForwardingFlaw, ForwardingProof, LaneChannel, prove_forwarding};
pub use forwarding_quality::ForwardingQuality;
pub use header::Header;
pub use load_bound::{LoadBound, Paths};
pub use proof::{Flaw, Proof, prove};
pub use quality::Quality;
pub use region::Region;
pub use route::{MAXIMUM_RUNS, Route, Run};
pub use service_levels::{SERVICE_LEVELS, ServiceLevels};
pub use table::RouteTable;

use std::fmt;
use std::sync::Arc;

use crate::topology::Fabric;

/// The routes of a fabric: computed for each pair, or read from a table.
#[derive(Clone, Debug)]
pub enum Routes {
    DirectionOrder(DirectionOrder),
    Table(RouteTable),
    /// Packets choose their way hop by hop.
    Adaptive(Adaptive),
    /// Routers look up the way by a packet's destination. Every pair of live terminals has one.
    Forwarding(Arc<ForwardingTable>),
}

impl Routes {
    /// The route from one router to another, as the source's adapter writes it into the header; of
    /// adaptive routing the one that a packet takes if it never leaves the escape channel.
    ///
    /// # Panics
    /// If the pair has none; the constructors refuse fabrics with such a pair.
    #[must_use]
    pub fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        match self {
            Self::DirectionOrder(order) => order.route(fabric, source, destination),
            Self::Table(table) => table.route(fabric, source, destination),
            Self::Adaptive(adaptive) => adaptive.route(fabric, source, destination),
            Self::Forwarding(_) => unreachable!("routers look it up"),
        }
    }
}

/// Pairs of live nodes between which a routing has no legal route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unroutable {
    /// What kind of routes there are none of.
    pub routing: &'static str,
    /// The first such pair, source and destination.
    pub first: (String, String),
    /// How many ordered pairs there are.
    pub pairs: u64,
}

impl fmt::Display for Unroutable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, destination) = &self.first;
        write!(
            formatter,
            "{} has no way around the failures from node {source} to node {destination} ({} ordered \
             pairs have none)",
            self.routing, self.pairs
        )
    }
}

impl std::error::Error for Unroutable {}

/// A torus with failed cables.
#[cfg(test)]
fn test_fabric(sizes: &[u32], cables: &[(u32, u32)]) -> Fabric {
    use crate::topology::{Faults, Torus};
    let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
    Torus::new(sizes, &[]).unwrap().fabric(&faults).unwrap()
}
