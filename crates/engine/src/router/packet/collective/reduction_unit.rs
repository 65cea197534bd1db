//! A router's reduction unit: it takes operands from their buffers and makes results of them.
//!
//! Both times (operand taken, result ready) are computed as soon as they are determined, not when
//! they occur, like grants. An operand's time is determined when it is the head of its buffer and
//! its operation may be open; a result's time when all its operands are known.

use super::COLLECTIVE;
use super::units::{OpenOperation, Operands, OperationState};
use crate::frame::tick::{NEVER, Tick};
use crate::next_hop::encoded_route::EncodedRoute;
use crate::packet::{Origin, Packet, last_start};
use crate::router::packet::cell::Shape;
use crate::router::packet::{Features, Visit};
use flitlab_fabric::NONE;

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// Makes the requests of a packet of a collective operation that has become the head of a
    /// buffer or of one of the unit's queues.
    pub(crate) fn new_head_collective(&mut self, buffer: u32) {
        let trees = &self.context.trees;
        let (_, vc) = self.place(buffer);
        self.choice(buffer).options = 0;
        if vc == trees.up {
            self.take_operands(buffer, 0);
        } else if vc == trees.down || vc == trees.down + 2 {
            self.cell.ask[S::buffer(buffer as usize)] = NEVER;
            self.begin_if_next(buffer);
        } else {
            let place = S::buffer(buffer as usize);
            let ask = self.cell.ask[place];
            let &Packet { flits, route: EncodedRoute(route), .. } = self.head_of(buffer);
            let output = trees.place(self.name, route).0.towards[self.name as usize];
            (self.cell.out_vc[place], self.cell.need[place]) = (trees.up, flits);
            self.add_request(usize::from(output), buffer, ask);
        }
    }

    /// Takes the operands from a buffer that may be taken. The others wait there until results have
    /// left. Credits that arrive by `settled` can be added at once.
    pub(super) fn take_operands(&mut self, buffer: u32, settled: Tick) {
        let trees = &self.context.trees;
        let place = S::buffer(buffer as usize);
        loop {
            self.cell.ask[place] = NEVER;
            let slot = self.cell.head[place];
            if slot == NONE {
                return;
            }
            let packet = self.packets.packets[slot as usize];
            if packet.ready >= self.window.end {
                // What has come in this window counts from the next one on, whichever of the two
                // routers was visited first.
                return self.put_back(buffer, packet.ready);
            }
            let (tree, number) = trees.place(self.name, packet.route.0);
            let (unit, operation) = self.reduction_units.unit(self.number, number);
            debug_assert!(number >= unit.made, "an operand comes after its result");
            if number >= unit.next + trees.open {
                return;
            }
            let start = packet.ready.max(self.cell.left[place]).max(operation.free_at);
            let last = last_start(start, packet.tail, packet.flits, trees.flit);
            self.cell.left[place] = last + trees.flit;
            self.cell.head[place] = packet.next;
            let Origin { created, injected, payload, hops, .. } =
                self.packets.origins[slot as usize];
            self.packets.remove(slot);
            let packet = Packet { ready: start, tail: last, ..packet };
            let origin =
                Origin::new((created, injected), COLLECTIVE, payload, hops, 0, trees.class);
            let missing = match &mut operation.state {
                OperationState::Open(operands) => {
                    debug_assert_eq!(operands.packet.route.0, packet.route.0);
                    operands.add(&packet, &origin);
                    self.counters.flits_combined += u64::from(packet.flits);
                    operands.missing
                }
                state => {
                    debug_assert!(matches!(state, OperationState::Empty));
                    let missing = tree.operands[self.name as usize] - 1;
                    *state = OperationState::Open(Operands { missing, packet, origin });
                    missing
                }
            };
            if packet.next == NONE {
                self.note_empty(buffer);
            }
            self.release_buffer(buffer, packet.flits, last + trees.flit, settled);
            if missing == 0 {
                self.make_results();
            }
        }
    }

    /// Makes the results that have all their operands, in order.
    fn make_results(&mut self) {
        let trees = &self.context.trees;
        loop {
            let made = self.reduction_units.units[self.number as usize].made;
            let (unit, operation) = self.reduction_units.unit(self.number, made);
            let OperationState::Open(Operands { missing: 0, mut packet, origin }) = operation.state
            else {
                return;
            };
            let (tree, number) = trees.place(self.name, packet.route.0);
            debug_assert_eq!(number, unit.made);
            // No result comes before those before it, even if it has been there longer: they may
            // leave by other outputs, and nothing is known of this one until they are made.
            let start = packet.ready.max(unit.free_at);
            let last = last_start(start, packet.tail, packet.flits, trees.flit);
            unit.free_at = last + trees.flit;
            if tree.operands[self.name as usize] > 1 {
                packet.tail = last + trees.latency;
                packet.ready = self.context.header(start, last) + trees.latency;
            } else {
                (packet.ready, packet.tail) = (start, last);
            }
            packet.source = tree.root;
            packet.sequence = trees.sequence(packet.route.0);
            operation.state = OperationState::Made;
            unit.made += 1;
            let slot = self.packets.insert(packet, origin);
            let at_root = tree.root_router == self.name;
            debug_assert!(!at_root || usize::from(packet.note) == trees.members % 65536);
            let turns = at_root && trees.kind.goes_down();
            let buffer = u32::from(if turns { trees.down } else { trees.up }) + 2;
            if self.append(buffer, slot) {
                self.new_head(buffer, slot);
            }
        }
    }

    /// Notes that a result was granted its output and will have left the unit at `released`: then
    /// operands that had to wait may be taken.
    pub(super) fn result_left(&mut self, number: u64, released: Tick, now: Tick) {
        let trees = &self.context.trees;
        let (unit, operation) = self.reduction_units.unit(self.number, number);
        debug_assert!(matches!(operation.state, OperationState::Made));
        operation.state = OperationState::Gone;
        unit.left_at = unit.left_at.max(released);
        let before = unit.next;
        let mut next = before;
        loop {
            let (unit, operation) = self.reduction_units.unit(self.number, next);
            if !matches!(operation.state, OperationState::Gone) {
                break;
            }
            *operation = OpenOperation { state: OperationState::Empty, free_at: unit.left_at };
            next += 1;
            unit.next = next;
        }
        if next > before {
            for input in 0..u32::from(self.layout.inputs) {
                self.take_operands((input << self.size().shift) + u32::from(trees.up), now);
            }
        }
    }
}
