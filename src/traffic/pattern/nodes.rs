//! What patterns know of a fabric's nodes: how many there are, and their coordinates if they have any.

use super::PatternError;
use crate::topology::{Fabric, Torus};

/// The nodes of a fabric: its terminals, failed ones included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes<'f> {
    count: u32,
    /// Coordinates, if node n is the only one at the torus' place n.
    torus: Option<&'f Torus>,
}

impl<'f> Nodes<'f> {
    pub(super) fn of(fabric: &'f Fabric) -> Self {
        let count = fabric.terminals();
        let alone =
            |&terminal: &u32| fabric.terminal_router(terminal).is_none_or(|at| at == terminal);
        let torus = fabric.grid().filter(|grid| grid.nodes() == count);
        Self { count, torus: torus.filter(|_| (0..count).all(|terminal| alone(&terminal))) }
    }

    pub(super) fn count(self) -> u32 {
        self.count
    }

    /// The coordinates that a pattern needs.
    pub(super) fn torus(self, pattern: &'static str) -> Result<&'f Torus, PatternError> {
        self.torus.ok_or(PatternError::NoCoordinates { pattern })
    }
}
