//! What can be wrong with a run.

use std::fmt;

use crate::topology::TopologyError;
use crate::traffic::PatternError;
use crate::units::Picoseconds;

/// Why there is no result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SimulationError {
    /// The fabric can't be built.
    Topology(TopologyError),
    /// The pattern doesn't suit the torus.
    Pattern(PatternError),
    /// A dimension is no ring: it has fewer than three nodes or is open.
    NotARing {
        /// The dimension's number.
        dimension: usize,
    },
    /// A parameter or setting is out of range.
    Range {
        /// Which one, and what it may be.
        message: &'static str,
    },
    /// Packets are left, but for a million packet times none was delivered.
    Stalled {
        /// When that was noticed.
        time: Picoseconds,
        /// Packets delivered until then.
        delivered: u64,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Topology(error) => error.fmt(formatter),
            Self::Pattern(error) => error.fmt(formatter),
            Self::NotARing { dimension } => {
                write!(formatter, "dimension {dimension} is no ring: it needs three or more nodes")
            }
            Self::Range { message } => formatter.write_str(message),
            Self::Stalled { time, delivered } => {
                write!(formatter, "stalled at {time} ps, after {delivered} packets")
            }
        }
    }
}

impl std::error::Error for SimulationError {}
