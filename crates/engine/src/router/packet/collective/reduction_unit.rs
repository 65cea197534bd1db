//! A router's reduction unit: it takes operands from their buffers and makes results of them.
//!
//! Both times (operand taken, result ready) are computed as soon as they are determined, not when
//! they occur, like grants. An operand's time is determined when it is the head of its buffer and
//! its operation may be open; a result's time when all its operands are known.

use super::COLLECTIVE;
use super::units::{OpenOperation, OperationState};
use crate::frame::tick::{NEVER, Tick};
use crate::network::ports::PacketQueue;
use crate::network::size::Size;
use crate::next_hop::encoded_route::EncodedRoute;
use crate::packet::{Origin, Packet, last_start};
use crate::router::packet::allocation::RouterView;
use crate::router::packet::features::Features;
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;
use flitlab_model::Switching;

impl<S: Size, F: Features> RouterView<'_, '_, S, F> {
    /// Makes the requests of a packet of a collective operation that has become the head of a
    /// buffer or of one of the unit's queues.
    pub(crate) fn new_head_collective(&mut self, input_vc: u32) {
        let trees = &self.context.trees;
        let (_, vc) = self.place(input_vc);
        self.queues[input_vc as usize].options = 0;
        if vc == trees.up {
            self.take_operands(input_vc, 0);
        } else if vc == trees.down || vc == trees.down + 2 {
            self.queues[input_vc as usize].ask = NEVER;
            self.begin_if_next(input_vc);
        } else {
            let PacketQueue { head, ask, flits, .. } = self.queues[input_vc as usize];
            let route = self.packets.packets[head as usize].route.0;
            let output = trees.place(self.name, route).0.towards[self.name as usize];
            let queue = &mut self.queues[input_vc as usize];
            (queue.output, queue.out_vc, queue.need) = (output, trees.up, flits);
            self.add_request(usize::from(output), input_vc, ask);
        }
    }

    /// Takes the operands from a buffer that may be taken. The others wait there until results have
    /// left. Credits that arrive by `settled` can be added at once.
    pub(super) fn take_operands(&mut self, input_vc: u32, settled: Tick) {
        let trees = &self.context.trees;
        loop {
            let queue = &mut self.queues[input_vc as usize];
            queue.ask = NEVER;
            let slot = queue.head;
            if slot == NONE {
                return;
            }
            let packet = self.packets.packets[slot as usize];
            let (tree, number) = trees.place(self.name, packet.route.0);
            let (unit, operation) = self.reduction_units.unit(self.number, number);
            debug_assert!(number >= unit.made, "an operand comes after its result");
            if number >= unit.next + trees.open {
                return;
            }
            let start = packet.ready.max(queue.free_at).max(operation.free_at);
            let last = last_start(start, packet.tail, packet.flits, trees.flit);
            queue.free_at = last + trees.flit;
            queue.head = packet.next;
            let origin = self.packets.origins[slot as usize];
            self.packets.remove(slot);
            if operation.state == OperationState::Empty {
                let missing = tree.operands[self.name as usize];
                *operation = OpenOperation {
                    state: OperationState::Open,
                    route: packet.route.0,
                    missing,
                    flits: packet.flits,
                    payload: origin.payload,
                    free_at: operation.free_at,
                    ..OpenOperation::EMPTY
                };
            } else {
                self.counters.flits_combined += u64::from(packet.flits);
            }
            debug_assert!(
                operation.state == OperationState::Open && operation.route == packet.route.0
            );
            operation.missing -= 1;
            operation.nodes += u32::from(packet.note);
            operation.hops = operation.hops.max(origin.hops);
            operation.start = operation.start.max(start);
            operation.tail = operation.tail.max(last);
            operation.created = operation.created.min(origin.created);
            operation.injected = operation.injected.min(origin.injected);
            let is_whole = operation.missing == 0;
            self.release_buffer(input_vc, packet.flits, last + trees.flit, settled);
            if is_whole {
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
            if operation.state != OperationState::Open || operation.missing > 0 {
                return;
            }
            let route = operation.route;
            let (tree, number) = trees.place(self.name, route);
            debug_assert_eq!(number, unit.made);
            let (mut ready, mut tail) = (operation.start, operation.tail);
            if tree.operands[self.name as usize] > 1 {
                let start = operation.start.max(unit.free_at);
                let last = last_start(start, operation.tail, operation.flits, trees.flit);
                unit.free_at = last + trees.flit;
                tail = last + trees.latency;
                ready = match self.context.parameters.switching {
                    Switching::StoreAndForward => tail,
                    Switching::VirtualCutThrough | Switching::Wormhole => start + trees.latency,
                };
            }
            let packet = Packet {
                ready,
                tail,
                next: NONE,
                source: tree.root,
                sequence: trees.sequence(route),
                flits: operation.flits,
                note: fitted!(operation.nodes & u32::from(u16::MAX), u16),
                route: EncodedRoute(route),
            };
            let created = (operation.created, operation.injected);
            let origin = Origin::new(created, COLLECTIVE, operation.payload, operation.hops, 0);
            operation.state = OperationState::Made;
            unit.made += 1;
            let slot = self.packets.insert(packet, origin);
            let at_root = tree.root_router == self.name;
            debug_assert!(!at_root || usize::from(packet.note) == trees.members % 65536);
            let turns = at_root && trees.kind.goes_down();
            let queue = if turns { trees.down + 2 } else { trees.up + 2 };
            self.append(u32::from(queue), slot);
        }
    }

    /// Puts a result into one of the unit's queues.
    fn append(&mut self, input_vc: u32, slot: u32) {
        let queue = &mut self.queues[input_vc as usize];
        let tail = std::mem::replace(&mut queue.tail, slot);
        if queue.head != NONE {
            self.packets.packets[tail as usize].next = slot;
            return;
        }
        queue.head = slot;
        self.new_head(input_vc);
    }

    /// Notes that a result was granted its output and will have left the unit at `released`: then
    /// operands that had to wait may be taken.
    pub(super) fn result_left(&mut self, number: u64, released: Tick, now: Tick) {
        let trees = &self.context.trees;
        let (unit, operation) = self.reduction_units.unit(self.number, number);
        debug_assert_eq!(operation.state, OperationState::Made);
        operation.state = OperationState::Gone;
        unit.left_at = unit.left_at.max(released);
        let before = unit.next;
        let mut next = before;
        loop {
            let (unit, operation) = self.reduction_units.unit(self.number, next);
            if operation.state != OperationState::Gone {
                break;
            }
            *operation = OpenOperation { free_at: unit.left_at, ..OpenOperation::EMPTY };
            next += 1;
            unit.next = next;
        }
        if next > before {
            for input in 0..u32::from(self.router.inputs) {
                self.take_operands((input << self.size.shift()) + u32::from(trees.up), now);
            }
        }
    }
}
