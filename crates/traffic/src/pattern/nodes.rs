//! Facts about the nodes to which a pattern is bound.

use super::{Live, PatternError, WorstCase};
use flitlab_fabric::{Fabric, Torus};

/// The nodes of a fabric: its terminals, failed ones included, numbered from 0.
#[derive(Clone, Copy)]
pub struct Nodes<'f> {
    /// The name of the pattern, for errors.
    pub(super) pattern: &'static str,
    /// The nodes that have not failed.
    pub live: &'f Live,
    /// Coordinates, if node n is the only one at the torus' place n.
    torus: Option<&'f Torus>,
    fabric: &'f Fabric,
    /// The scenario's seed, for what is drawn once.
    pub seed: u64,
    worst_case: Option<&'f WorstCase>,
}

impl<'f> Nodes<'f> {
    pub(super) fn new(
        pattern: &'static str,
        fabric: &'f Fabric,
        live: &'f Live,
        seed: u64,
    ) -> Self {
        let count = fabric.terminals();
        let alone =
            |&terminal: &u32| fabric.terminal_router(terminal).is_none_or(|at| at == terminal);
        let torus = fabric.grid().filter(|grid| grid.nodes() == count);
        let torus = torus.filter(|_| (0..count).all(|terminal| alone(&terminal)));
        Self { pattern, live, torus, fabric, seed, worst_case: None }
    }

    /// With what finds the worst case of a routing, if there is one.
    pub(super) fn with_worst_case(self, worst_case: Option<&'f WorstCase>) -> Self {
        Self { worst_case, ..self }
    }

    /// What finds the worst case.
    ///
    /// # Errors
    /// If the pattern is bound without a routing.
    pub(super) fn worst_case(&self) -> Result<&'f WorstCase, PatternError> {
        self.worst_case.ok_or_else(|| {
            PatternError::Refused(format!("{} is known beside a routing alone", self.pattern))
        })
    }

    pub(super) fn fabric(&self) -> &'f Fabric {
        self.fabric
    }

    /// These nodes for another pattern, with another seed.
    pub(super) fn of(self, pattern: &'static str, seed: u64) -> Self {
        Self { pattern, seed, ..self }
    }

    /// How many there are, failed ones included: 2 at least.
    pub fn count(&self) -> u32 {
        self.live.terminals
    }

    /// The torus or mesh whose places are the nodes, for patterns on coordinates.
    ///
    /// # Errors
    /// If the nodes have no coordinates.
    pub fn torus(&self) -> Result<&'f Torus, PatternError> {
        self.torus.ok_or(PatternError::NoCoordinates { pattern: self.pattern })
    }

    /// The group of each node, by number, for patterns on groups; a failed node counts to group 0.
    ///
    /// # Errors
    /// If the fabric is not made of groups.
    pub fn groups(&self) -> Result<Vec<u32>, PatternError> {
        let groups = self.fabric.groups();
        if groups.is_empty() {
            return Err(PatternError::NoGroups { pattern: self.pattern });
        }
        let router = |node| self.fabric.terminal_router(node).unwrap_or(0);
        Ok((0..self.count()).map(|node| groups[router(node) as usize]).collect())
    }

    /// The sizes of the dimensions in which the routers are arranged, the first of which runs
    /// fastest, for patterns on the coordinates of routers.
    ///
    /// # Errors
    /// If the routers are not arranged so.
    pub fn dimensions(&self) -> Result<&'f [u32], PatternError> {
        match (self.fabric.joined_dimensions(), self.fabric.grid()) {
            ([], None) => Err(PatternError::NoDimensions { pattern: self.pattern }),
            ([], Some(grid)) => Ok(grid.sizes()),
            (joined, _) => Ok(joined),
        }
    }

    /// The live terminals of each router, ascending.
    pub fn terminals_by_router(&self) -> Vec<Vec<u32>> {
        self.fabric.terminals_by_router()
    }

    /// Bits of a node's number, for patterns on bits.
    ///
    /// # Errors
    /// If the number of nodes is no power of two.
    pub fn bits(&self) -> Result<u32, PatternError> {
        if self.count().is_power_of_two() {
            return Ok(self.count().trailing_zeros());
        }
        Err(self.refuse_count("a power of two of nodes", super::sizes::powers_of_two))
    }

    /// Sees to it that there are nodes of these numbers.
    ///
    /// # Errors
    /// If one of them is none.
    pub fn check(&self, mut numbers: impl Iterator<Item = u32>) -> Result<(), PatternError> {
        match numbers.find(|&node| node >= self.count()) {
            Some(node) => {
                let (pattern, nodes) = (self.pattern, self.count());
                Err(PatternError::UnknownNode { pattern, node, nodes })
            }
            None => Ok(()),
        }
    }
}
