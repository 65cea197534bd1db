//! Topology-agnostic routing: forwarding tables for fabrics of any shape.

mod algorithm;
mod dependency;
mod frontier;
mod graph;
mod nue;
mod sssp;

pub use algorithm::{ALGORITHMS, Algorithm, Generated, NoTable, Parameters};
pub use nue::Partition;
