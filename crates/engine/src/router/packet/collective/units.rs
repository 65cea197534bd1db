//! The state of routers' reduction units.

use serde::{Deserialize, Serialize};

use super::trees::Trees;
use crate::frame::tick::{Tick, move_back};
use crate::packet::{Origin, Packet};
use flitlab_base::narrow::{fitted, narrow};

/// The state of a place for an open operation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) enum OperationState {
    #[default]
    Empty,
    /// Some operands have been taken.
    Open(Operands),
    /// The result is made, and has not left.
    Made,
    /// The result has left, but one of the results before it has not.
    Gone,
}

/// The operands of a result that have been taken.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Operands {
    /// Operands that are still to come.
    pub missing: u16,
    /// The result as far as it is known: ready at the latest time at which an operand's first flit
    /// is taken, whole at the latest time at which an operand's last flit is.
    pub packet: Packet,
    pub origin: Origin,
}

impl Operands {
    /// Combines the operands with one more.
    pub(super) fn add(&mut self, Packet { ready, tail, note, .. }: &Packet, other: &Origin) {
        let Self { missing, packet, origin } = self;
        *missing -= 1;
        packet.note = packet.note.wrapping_add(*note);
        (packet.ready, packet.tail) = (packet.ready.max(*ready), packet.tail.max(*tail));
        origin.hops = origin.hops.max(other.hops);
        (origin.created, origin.injected) =
            ({ origin.created }.min(other.created), { origin.injected }.min(other.injected));
    }
}

/// The operation on one packet at a router.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct OpenOperation {
    pub state: OperationState,
    /// Time at which the last of the results had left that had to make room for it.
    pub free_at: Tick,
}

/// The progress of a router with the packets of collective operations, by their numbers there.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct ReductionUnit {
    /// The first result that has not left, and the first that is not made.
    pub next: u64,
    pub made: u64,
    /// The packet that goes down next, and the time at which the one before it had left.
    pub down: u64,
    pub down_at: Tick,
    /// Time at which the last of all results so far had left.
    pub left_at: Tick,
    /// Time at which the unit has made all results for which it has operands.
    pub free_at: Tick,
    /// The buffer of that packet, once it is there; the number of its copies still to be sent; and
    /// the number of outputs held for them.
    pub input_vc: Option<u32>,
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
        let open_operations = routers * narrow::<usize>(trees.open);
        Self {
            units: vec![ReductionUnit::default(); routers],
            open_operations: vec![OpenOperation::default(); open_operations],
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
            move_back([&mut unit.free_at, &mut unit.down_at, &mut unit.left_at], by);
        }
        for operation in &mut self.open_operations {
            move_back([&mut operation.free_at], by);
            if let OperationState::Open(Operands { packet, .. }) = &mut operation.state {
                move_back([&mut packet.ready, &mut packet.tail], by);
            }
        }
    }

    pub fn memory(&self) -> usize {
        size_of_val(&*self.units) + size_of_val(&*self.open_operations)
    }
}
