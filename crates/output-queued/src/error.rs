//! Errors of a run.

use flitlab_base::units::Picoseconds;
use flitlab_fabric::TopologyError;
use flitlab_traffic::PatternError;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The fabric can't be built.
    #[error("{0}")]
    Topology(TopologyError),
    /// The pattern doesn't suit the torus.
    #[error("{0}")]
    Pattern(PatternError),
    /// A dimension is no ring: it has fewer than three nodes or is open.
    #[error("dimension {dimension} is no ring: it needs three or more nodes")]
    NotARing {
        /// The dimension's number.
        dimension: usize,
    },
    /// A parameter or setting is out of range.
    #[error("{message}")]
    Range {
        /// Which one, and what it may be.
        message: &'static str,
    },
    /// Packets are left, but for a long time none was delivered.
    #[error("stalled at {time} ps, after {delivered} packets")]
    Stalled {
        /// When that was noticed.
        time: Picoseconds,
        /// Packets delivered until then.
        delivered: u64,
    },
}
