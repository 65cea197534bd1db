//! The state of routers' reduction units.

use serde::{Deserialize, Serialize};

use crate::counters::Counters;
use crate::frame::tick::{Tick, move_back};
use crate::network::context::NetworkContext;
use crate::network::trees::Trees;
use crate::packet::collective::COLLECTIVE;
use crate::packet::{Origin, Packet, last_start};
use flitlab_base::narrow::{fitted, narrow};

/// The state of a place for an open operation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
enum OperationState {
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
struct Operands {
    /// Operands that are still to come.
    missing: u16,
    /// The result as far as it is known: ready at the latest time at which an operand's first flit
    /// is taken, whole at the latest time at which an operand's last flit is.
    packet: Packet,
    origin: Origin,
}

impl Operands {
    /// Combines the operands with one more.
    fn add(&mut self, Packet { ready, tail, note, .. }: &Packet, other: &Origin) {
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
struct OpenOperation {
    state: OperationState,
    /// Time at which the last of the results had left that had to make room for it; of a result that
    /// has left, its own.
    free_at: Tick,
}

/// The progress of a router with the packets of collective operations, by their numbers there.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ReductionUnit {
    /// The first result that has not left, and the first that is not made.
    next: u64,
    made: u64,
    /// The result that is sent upwards, where links are shared flit by flit.
    pub upwards: u64,
    /// The packet that goes down next, and the time at which the one before it had left.
    pub down: u64,
    pub down_at: Tick,
    /// Time at which the last of the results before `next` had left.
    left_at: Tick,
    /// Time at which the unit has made all results for which it has operands.
    free_at: Tick,
    /// The buffer of that packet, once it is there; the number of its copies still to be sent; and
    /// the number of outputs held for them.
    pub input_vc: Option<u32>,
    pub left: u16,
    pub held: u16,
}

/// The reduction units of a part's routers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ReductionUnits {
    pub units: Vec<ReductionUnit>,
    /// By router, then number modulo the number of operations that can be open.
    open_operations: Vec<OpenOperation>,
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
    fn unit(&mut self, router: u32, number: u64) -> (&mut ReductionUnit, &mut OpenOperation) {
        let open = self.open();
        let place = router as usize * open + fitted!(number % open as u64, usize);
        (&mut self.units[router as usize], &mut self.open_operations[place])
    }

    /// Number of results that a unit can be working on.
    fn open(&self) -> usize {
        self.open_operations.len() / self.units.len()
    }

    /// The time, perhaps past, from which a router can take operands of this number; `None` if
    /// results before it have to leave first.
    pub fn takes_from(&mut self, router: u32, number: u64) -> Option<Tick> {
        let open = self.open() as u64;
        let (unit, operation) = self.unit(router, number);
        debug_assert!(number >= unit.made, "an operand comes after its result");
        (number < unit.next + open).then_some(operation.free_at)
    }

    /// Takes the operand of this number, of so many: its first flit at `packet.ready` and its last
    /// one at `packet.tail`. Returns whether that was the last operand.
    pub fn take(
        &mut self,
        router: u32,
        (number, operands): (u64, u16),
        (packet, origin): (Packet, Origin),
        counters: &mut Counters,
    ) -> bool {
        let (_, operation) = self.unit(router, number);
        match &mut operation.state {
            OperationState::Open(operands) => {
                debug_assert_eq!(operands.packet.route.0, packet.route.0);
                operands.add(&packet, &origin);
                counters.flits_combined += u64::from(packet.flits);
                operands.missing == 0
            }
            state => {
                debug_assert!(matches!(state, OperationState::Empty));
                let Origin { created, injected, payload, hops, .. } = origin;
                let class = origin.class();
                let origin = Origin::new((created, injected), COLLECTIVE, payload, hops, 0, class);
                let missing = operands - 1;
                *state = OperationState::Open(Operands { missing, packet, origin });
                missing == 0
            }
        }
    }

    /// Makes the next result of a router, given by its number in the part and its name, if it has
    /// all its operands. Also says whether the result turns there, to go down.
    pub fn make(
        &mut self,
        (router, name): (u32, u32),
        context: &NetworkContext<'_>,
    ) -> Option<(Packet, Origin, bool)> {
        let trees = &context.trees;
        let made = self.units[router as usize].made;
        let (unit, operation) = self.unit(router, made);
        let OperationState::Open(Operands { missing: 0, mut packet, origin }) = operation.state
        else {
            return None;
        };
        let (tree, number) = trees.place(name, packet.route.0);
        debug_assert_eq!(number, unit.made);
        // No result comes before those before it, even if it has been there longer: they may leave
        // by other outputs, and nothing is known of this one until they are made.
        let start = packet.ready.max(unit.free_at);
        let last = last_start(start, packet.tail, packet.flits, trees.flit);
        unit.free_at = last + trees.flit;
        (packet.ready, packet.tail) = (start, last);
        if tree.operands[name as usize] > 1 {
            packet.tail = last + trees.latency;
            packet.ready = context.header(start, last) + trees.latency;
        }
        packet.source = tree.root;
        packet.sequence = trees.sequence(packet.route.0);
        operation.state = OperationState::Made;
        unit.made += 1;
        let at_root = tree.root_router == name;
        debug_assert!(!at_root || usize::from(packet.note) == trees.members % 65536);
        Some((packet, origin, at_root && trees.kind.goes_down()))
    }

    /// Notes that a result was granted its output and will have left the unit at `released`.
    /// Returns whether operands that had to wait may be taken then.
    pub fn leave(&mut self, router: u32, number: u64, released: Tick) -> bool {
        let (unit, operation) = self.unit(router, number);
        debug_assert!(matches!(operation.state, OperationState::Made));
        (operation.state, operation.free_at) = (OperationState::Gone, released);
        let before = unit.next;
        let mut next = before;
        loop {
            let (unit, operation) = self.unit(router, next);
            if !matches!(operation.state, OperationState::Gone) {
                return next > before;
            }
            unit.left_at = unit.left_at.max(operation.free_at);
            *operation = OpenOperation { state: OperationState::Empty, free_at: unit.left_at };
            next += 1;
            unit.next = next;
        }
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
