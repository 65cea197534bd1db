//! Topology-agnostic routing: forwarding tables for fabrics of any shape.
//!
//! Each algorithm is a file here, which says what it models and what it leaves out, and a row of
//! [`ALGORITHMS`]. `dimension-order` and `torus-2qos` are for tori and meshes, the former for
//! HyperX, too; `d-mod-k` is for fat trees, and not all failures leave them a way; `lash`, `dfsssp`
//! and `lash-tor` can fail for want of virtual channels; `smart` takes too long for large fabrics;
//! all others have a table for every connected fabric. Bubble colouring (\[bubble-colouring\]) is
//! for packets that choose their way, and so a rule of the [relations](crate::relation_rules).
//!
//! All of them are deterministic: equal fabrics give equal tables, and what is equally good is
//! chosen by number.

mod algorithm;
mod balance;
mod copies;
mod d_mod_k;
mod dependency;
mod dfsssp;
mod dfsssp_opensm;
mod dimension_order;
mod find_vcs;
mod frontier;
mod graph;
mod grid;
mod kept;
mod lash;
mod lash_tor;
mod left_right;
mod min_hop;
mod mud;
mod nue;
mod segments;
mod smart;
mod sssp;
#[cfg(test)]
mod tests;
mod torus_2qos;
mod udwm;
mod up_down;

use flitlab_base::registry::Row;

pub use algorithm::{Algorithm, Applies, Generated, NoTable, Parameters, Scale, Task};
pub use copies::Spread;
pub use find_vcs::find_vcs;
pub use kept::{NotKept, keep_unconcerned};
pub use nue::{CompleteGraph, EdgeStates, Partition};

/// The algorithms that scenarios can name, in the order in which they are offered.
pub static ALGORITHMS: [Row<Algorithm>; 21] = [
    Algorithm::MIN_HOP,
    Algorithm::DIMENSION_ORDER,
    Algorithm::TORUS_2QOS,
    Algorithm::D_MOD_K,
    Algorithm::UP_DOWN,
    Algorithm::UDWM,
    Algorithm::LEFT_RIGHT,
    Algorithm::SSSP,
    Algorithm::P2_SSSP,
    Algorithm::DFSSSP,
    Algorithm::DFSSSP_FEWEST,
    Algorithm::DFSSSP_OPENSM,
    Algorithm::DFSSSP_BALANCED,
    Algorithm::LASH,
    Algorithm::LASH_TOR,
    Algorithm::MUD,
    Algorithm::SEGMENTS,
    Algorithm::SMART,
    Algorithm::NUE,
    Algorithm::NUE_BALANCED,
    Algorithm::NUE_SPREAD,
];
