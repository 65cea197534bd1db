//! Routing tables for the Angara interconnect (\[angara-routing\]).
//!
//! A route keeps the direction order +x +y +z +k -x -y -z -k and never goes both ways in a
//! dimension. One first step in a positive direction and one last step in a negative direction may
//! break both rules where that can't close a cycle of channels ([`Turns`]). Inside a ring the
//! bubble rule prevents deadlock.
//!
//! [`Choices`] lists the shortest legal routes of every pair. The algorithms choose among them.

mod algorithm;
mod balanced;
mod bfs;
mod bound;
mod breakout;
mod choices;
mod direction_order;
mod dot;
mod exact;
mod genetic;
mod graph;
mod job_nodes;
mod linear;
mod menus;
mod parameters;
mod reading;
mod resilience;
mod search;
mod selection;
mod split;
mod sssp;
mod traffic;
mod traffic_balancing;
mod turns;

pub use algorithm::{Algorithm, Generated, NoTable};
pub use balanced::{Balanced, balanced};
pub use bfs::bfs;
pub use bound::{LowerBound, lower_bound};
#[cfg(test)]
pub(crate) use choices::searched;
pub use choices::{Choices, Pair, memory_needed, unroutable};
pub use dot::{DOT_START, DrawnRoute};
pub use genetic::genetic;
pub use graph::{Part, RoutingGraph};
pub use job_nodes::{Job, JobNodes, RatedNodes, job_nodes};
pub use parameters::{Freedoms, Parameters, Stop};
pub use reading::{
    Grouping, Named, NextSource, Numbering, PairOrder, Reading, RouteEnds, RouteTies, SmallGain,
    SsspReading, UniqueRoutes, VertexKey, VertexTies,
};
pub use resilience::{Failure, Resilience, resilience};
pub use selection::Selection;
pub use sssp::{Sssp, single_path_share, sssp, sssp_by, sssp_in_one_stage};
pub use traffic::{ForTraffic, for_traffic};
pub use turns::Turns;

use super::Region;
use flitlab_base::registry::{Component, Row};

/// The algorithms that scenarios can name, in the order in which they are offered.
pub static ALGORITHMS: [Row<Algorithm>; 8] = [
    Algorithm::BALANCED,
    Algorithm::SSSP,
    Algorithm::BFS,
    Algorithm::GENETIC,
    Algorithm::EXACT,
    Algorithm::SGR,
    Algorithm::TRAFFIC_BALANCING,
    Algorithm::DIRECTION_ORDER,
];

impl Component for Algorithm {
    const NOUN: &'static str = "algorithm";

    fn built_in() -> &'static [Row<Self>] {
        &ALGORITHMS
    }
}
