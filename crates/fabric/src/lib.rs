//! Fabrics: routers joined by directed channels, terminals attached to routers, as flat arrays.
//!
//! A [`Fabric`] is the graph that routing and the engine see: no dimensions, only routers with
//! numbered output ports. Where a fabric has coordinates (a torus), they live in its [`Torus`], which
//! routing and traffic may use and the engine doesn't. [`Cabling`] puts together what has none, and
//! [`Failures`] takes cables and routers away again. Rates and latencies belong to the router
//! model; a fabric says only which of its cables have others ([`CableClass`]).

#![warn(missing_docs)]
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "tests cast numbers that stand beside the cast"
    )
)]

pub mod builders;
mod cables;
mod cabling;
mod connectivity;
mod fabric;
mod failures;
mod faults;
mod names;
pub mod netlist;
mod size;
mod spanning_tree;
mod torus;

pub use cables::{CableClass, CableRate, CableSpeed, LaneRate, LaneSpeed};
pub use cabling::{Cabling, Port};
pub use connectivity::breadth_first;
pub use fabric::{Channel, Fabric, NONE};
pub use failures::{Amount, Failures, RandomFailures};
pub use faults::Faults;
pub use names::{AmountOrShare, DimensionName, DirectionName, SwitchName, sizes_text};
pub use names::{NodeName, NodePair, Places};
pub use spanning_tree::{SpanningTree, TreeError};
pub use torus::{DIMENSION_NAMES, MAXIMUM_DIMENSIONS, Torus};

use flitlab_base::memory::Shortage;

/// Why a fabric can't be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// The sizes are not those of a torus: what is wrong and what is allowed.
    #[error("{0}")]
    Sizes(String),
    /// A failed cable or node is not part of the fabric: its position in the list, and the message.
    #[error("{1}")]
    UnknownFault(usize, String),
    /// The fabric needs more memory than is free.
    #[error("{0}")]
    Memory(Shortage),
    /// Failures have left two nodes without a path between them.
    #[error(
        "the fabric falls apart: no path from node {from} to node {to} ({pairs} ordered pairs have none)"
    )]
    Disconnected {
        /// The name of the node at which the first such pair begins.
        from: String,
        /// The name of the node that it can't reach.
        to: String,
        /// Ordered pairs of live nodes without a path; at least 1.
        pairs: u64,
    },
}

impl TopologyError {
    /// Advice on how to proceed; `None` if there is none.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Memory(shortage) => Some(shortage.help()),
            _ => None,
        }
    }
}
