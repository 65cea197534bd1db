//! Algorithms that make routing tables for Angara: their description and their errors.

use super::{Choices, LowerBound, Parameters};
use crate::path_selection::NoCandidates;
use flitlab_routing::RouteTable;

/// An algorithm that makes a routing table for Angara.
#[derive(Clone, Copy)]
pub struct Algorithm {
    /// Whether the table depends on the scenario's seed.
    pub is_random: bool,
    /// Whether a route follows from where its nodes lie, and not from other routes: such a table
    /// need not be stored pair by pair.
    pub follows_rule: bool,
    /// Makes a table with a route for every pair that has a legal one. The last argument is the
    /// seed.
    ///
    /// # Errors
    /// If the algorithm has no table for these choices.
    pub table: fn(&Choices<'_>, &Parameters, u64) -> Result<Generated, NoTable>,
}

/// Why an algorithm has no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTable {
    /// The linear program is too large to solve in reasonable time.
    #[error(
        "{algorithm} is for at most {most} routes of pairs that have several; here there are {routes}: use balanced"
    )]
    TooLarge {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Routes of pairs that have several.
        routes: u64,
        /// The most routes that the algorithm takes.
        most: u64,
    },
    /// The solver of linear programs gave up.
    #[error("{algorithm}: the linear program was not solved: {reason}")]
    NotSolved {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// The solver's message.
        reason: String,
    },
    /// There are too many routes to count.
    #[error("{algorithm}: {reason}")]
    Selection {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// The limit that was reached.
        reason: NoCandidates,
    },
    /// A gap is left between the best table found and the proved bound.
    #[error(
        "{algorithm} found a table with a maximum load of {maximum}, and proved that none has less than {bound}, but \
         nothing in between: use balanced, which gives that table"
    )]
    Open {
        /// Name of the algorithm.
        algorithm: &'static str,
        /// Maximum load of the table that was found.
        maximum: u32,
        /// Proved lower bound of the maximum load, below `maximum`.
        bound: u32,
    },
}

/// A table with the counts of its algorithm.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The table, with a route for each pair that has one.
    pub table: RouteTable,
    /// Number of searches of SSSP from a source (\[angara-routing\], Algorithm 4 and Figure 4);
    /// `None` for other algorithms.
    pub sssp_calls: Option<u64>,
    /// The lower bound that Balanced has found; `None` for other algorithms.
    pub bound: Option<LowerBound>,
}

impl Generated {
    /// A table without counts.
    pub fn new(table: RouteTable) -> Self {
        Self { table, sssp_calls: None, bound: None }
    }
}
