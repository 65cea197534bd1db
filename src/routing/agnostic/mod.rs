//! Topology-agnostic routing: forwarding tables for fabrics of any shape.
//!
//! | algorithm | lanes | deadlock | what it does |
//! |---|---|---|---|
//! | `min-hop` | 1 | possible | shortest paths, each router balances its own ports |
//! | `dimension-order` | 1 | possible on rings | all the way along the first dimension, then the second, ... |
//! | `torus-2qos` | 2, or 4 | no | the same, changing lanes at datelines, and round failures |
//! | `d-mod-k` | 1 | no | up a fat tree by the destination's number, then down |
//! | `sssp` | 1 | possible | shortest paths, balanced over the fabric a destination at a time (P-SSSP) |
//! | `p2-sssp` | 1 | possible | the same, a path at a time (P²-SSSP) |
//! | `up-down` | 1 | no | first up a tree, then down |
//! | `mud` | as given | no | a tree a lane, each destination in the lane that suits it |
//! | `segments` | 1 | no | a forbidden turn in each segment of the fabric |
//! | `lash` | as needed | no | shortest paths, each in the first lane where it closes no cycle |
//! | `dfsssp` | as given | no | the paths of `sssp`, parted among lanes so that none has a cycle |
//! | `lash-tor` | as needed | no | the paths of `sssp`, changing lanes where they would close a cycle |
//! | `nue` | as given | no | paths searched on the dependency graph, without closing a cycle |
//! | `nue-balanced` | as given | no | the best of several tables of `nue`, its most loaded channels relieved |
//!
//! Each file says what it models and what it leaves out. `dimension-order` and `torus-2qos` are for tori and meshes,
//! `d-mod-k` is for fat trees, and not all failures leave them a way; `lash`, `dfsssp` and `lash-tor` can fail for
//! want of lanes; all others have a table for every connected fabric. Smart (Cherkasova and
//! others, 1996) is left out: its time grows with the ninth power of the routers.
//!
//! All of them are deterministic: equal fabrics give equal tables, and what is equally good is chosen by number.

mod algorithm;
mod balance;
mod d_mod_k;
mod dependency;
mod dfsssp;
mod dimension_order;
mod find_lanes;
mod frontier;
mod graph;
mod grid;
mod lash;
mod lash_tor;
mod min_hop;
mod mud;
mod nue;
mod segments;
mod sssp;
#[cfg(test)]
mod tests;
mod torus_2qos;
mod up_down;

pub use algorithm::{ALGORITHMS, Algorithm, Generated, NoTable, Parameters};
pub use find_lanes::find_lanes;
pub use nue::Partition;
