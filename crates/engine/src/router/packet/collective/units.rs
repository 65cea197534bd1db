//! The state of routers' reduction units.

use serde::{Deserialize, Serialize};

use super::trees::Trees;
use crate::frame::tick::{Tick, rebased};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::NONE;

/// The state of a place for an open operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum OperationState {
    Empty,
    /// Some operands have been taken.
    Open,
    /// The result is made, and has not left.
    Made,
    /// The result has left, but one of the results before it has not.
    Gone,
}

/// The operation on one packet at a router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OpenOperation {
    pub(super) state: OperationState,
    /// The route of its packets.
    pub(super) route: u64,
    /// Operands that are still to come.
    pub(super) missing: u16,
    pub(super) flits: u16,
    pub(super) hops: u16,
    /// The latest times at which an operand's first flit and an operand's last flit are taken.
    pub(super) start: Tick,
    pub(super) tail: Tick,
    /// Number of nodes whose data it contains.
    pub(super) nodes: u32,
    pub(super) payload: u32,
    pub(super) created: Picoseconds,
    pub(super) injected: Picoseconds,
    /// Time at which the last of the results had left that had to make room for it.
    pub(super) free_at: Tick,
}

impl OpenOperation {
    pub(super) const EMPTY: Self = Self {
        state: OperationState::Empty,
        route: 0,
        missing: 0,
        flits: 0,
        hops: 0,
        start: 0,
        tail: 0,
        nodes: 0,
        payload: 0,
        created: Picoseconds::NEVER,
        injected: Picoseconds::NEVER,
        free_at: 0,
    };
}

/// The progress of a router with the packets of collective operations, by their numbers there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ReductionUnit {
    /// The first result that has not left, and the first that is not made.
    pub next: u64,
    pub(super) made: u64,
    /// The packet that goes down next, and the time at which the one before it had left.
    pub down: u64,
    pub down_at: Tick,
    /// Time at which the last of all results so far had left.
    pub(super) left_at: Tick,
    /// Time at which the unit has made all results for which it has operands.
    pub(super) free_at: Tick,
    /// The buffer of that packet, once it is there; the number of its copies still to be sent; and
    /// the number of outputs held for them.
    pub input_vc: u32,
    pub left: u16,
    pub held: u16,
}

/// The reduction units of a part's routers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReductionUnits {
    pub(super) units: Vec<ReductionUnit>,
    /// By router, then number modulo the number of operations that can be open.
    pub(super) open_operations: Vec<OpenOperation>,
}

impl ReductionUnits {
    pub fn new(trees: &Trees, routers: usize) -> Self {
        let routers = if trees.is_empty() { 0 } else { routers };
        let unit = ReductionUnit {
            next: 0,
            made: 0,
            down: 0,
            down_at: 0,
            left_at: 0,
            free_at: 0,
            input_vc: NONE,
            left: 0,
            held: 0,
        };
        let open_operations = routers * narrow::<usize>(trees.open);
        Self {
            units: vec![unit; routers],
            open_operations: vec![OpenOperation::EMPTY; open_operations],
        }
    }

    /// A router's unit, and its place for the operation on a packet by the packet's number.
    #[inline]
    pub(super) fn unit(
        &mut self,
        router: u32,
        number: u64,
    ) -> (&mut ReductionUnit, &mut OpenOperation) {
        let open = self.open_operations.len() / self.units.len();
        let place = router as usize * open + fitted!(number % open as u64, usize);
        (&mut self.units[router as usize], &mut self.open_operations[place])
    }

    pub fn rebase(&mut self, by: Tick) {
        for unit in &mut self.units {
            unit.free_at = rebased(unit.free_at, by);
            unit.down_at = rebased(unit.down_at, by);
            unit.left_at = rebased(unit.left_at, by);
        }
        for operation in &mut self.open_operations {
            operation.start = rebased(operation.start, by);
            operation.tail = rebased(operation.tail, by);
            operation.free_at = rebased(operation.free_at, by);
        }
    }

    pub fn memory(&self) -> usize {
        size_of_val(&*self.units) + size_of_val(&*self.open_operations)
    }

    /// Whether another state belongs to equally many routers.
    pub fn is_like(&self, other: &Self) -> bool {
        self.units.len() == other.units.len()
            && self.open_operations.len() == other.open_operations.len()
    }
}
