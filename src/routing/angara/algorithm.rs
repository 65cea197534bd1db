//! The choice among the algorithms.

use super::{Choices, Freedoms, LowerBound, balanced, bfs, genetic, sssp};
use crate::routing::RouteTable;

/// What makes a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Bfs,
    Genetic,
    Sssp,
    Balanced,
}

/// All algorithms with their names.
pub const ALGORITHMS: [(&str, Algorithm); 4] = [
    ("bfs", Algorithm::Bfs),
    ("genetic", Algorithm::Genetic),
    ("sssp", Algorithm::Sssp),
    ("balanced", Algorithm::Balanced),
];

/// A table, and what its algorithm counted.
#[derive(Clone, Debug)]
pub struct Generated {
    pub table: RouteTable,
    /// How often SSSP searched from a source (Algorithm 4; the paper's Figure 4).
    pub sssp_calls: Option<u64>,
    /// The lower bound that Balanced has found.
    pub bound: Option<LowerBound>,
}

impl Algorithm {
    /// A table with a route for every pair that has a legal one. `seed` matters to Genetic only.
    #[must_use]
    pub fn table(self, choices: &Choices<'_>, freedoms: Freedoms, seed: u64) -> Generated {
        let only = |table| Generated { table, sssp_calls: None, bound: None };
        let of = |selection| only(choices.table(&selection));
        match self {
            Self::Bfs => only(bfs(choices.region(), freedoms)),
            Self::Genetic => of(genetic(choices, seed)),
            Self::Sssp => {
                let sssp = sssp(choices);
                Generated { sssp_calls: Some(sssp.calls), ..of(sssp.selection) }
            }
            Self::Balanced => {
                let balanced = balanced(choices);
                Generated { bound: Some(balanced.bound), ..of(balanced.selection) }
            }
        }
    }
}
