//! Topology-agnostic routing: forwarding tables for fabrics of any shape.
//!
//! Each algorithm is a file here, and a row of [`ALGORITHMS`].
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

pub use algorithm::{ALGORITHMS, Algorithm, Applies, Generated, NoTable, Parameters, Scale, Task};
pub use find_lanes::find_lanes;
pub use nue::Partition;
