//! A router's reduction unit: it takes operands from their buffers and makes results of them.
//!
//! Both times (operand taken, result ready) are computed as soon as they are determined, not when
//! they occur, like grants. An operand's time is determined when it is the head of its buffer and
//! its operation may be open; a result's time when all its operands are known.

use crate::frame::tick::{NEVER, Tick};
use crate::packet::encoded_route::EncodedRoute;
use crate::packet::{Packet, last_start};
use crate::router::asks::Asks;
use crate::router::packet::cell::Shape;
use crate::router::packet::{Features, Visit};
use flitlab_fabric::NONE;

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// Makes the requests of a packet of a collective operation that has become the head of a
    /// buffer or of one of the unit's queues.
    pub(in crate::router::packet) fn new_head_collective(&mut self, buffer: u32) {
        let trees = &self.context.trees;
        let (_, vc) = self.place(buffer);
        *self.asks(buffer) = Asks::One;
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
            let Some(takes) = self.reduction_units.takes_from(self.number, number) else { return };
            let start = packet.ready.max(self.cell.left[place]).max(takes);
            let last = last_start(start, packet.tail, packet.flits, trees.flit);
            self.cell.left[place] = last + trees.flit;
            self.cell.head[place] = packet.next;
            let origin = self.packets.origins[slot as usize];
            self.packets.remove(slot);
            let operand = (Packet { ready: start, tail: last, ..packet }, origin);
            let of = (number, tree.operands[self.name as usize]);
            let has_all = self.reduction_units.take(self.number, of, operand, self.counters);
            if packet.next == NONE {
                self.note_empty(buffer);
            }
            self.release_buffer(buffer, packet.flits, last + trees.flit, settled);
            if has_all {
                self.make_results();
            }
        }
    }

    /// Makes the results that have all their operands, in order.
    fn make_results(&mut self) {
        let trees = &self.context.trees;
        let router = (self.number, self.name);
        while let Some((packet, origin, turns)) = self.reduction_units.make(router, self.context) {
            let slot = self.packets.insert(packet, origin);
            let buffer = u32::from(if turns { trees.down } else { trees.up }) + 2;
            if self.append(buffer, slot) {
                self.new_head(buffer, slot);
            }
        }
    }

    /// Notes that a result was granted its output and will have left the unit at `released`: then
    /// operands that had to wait may be taken.
    pub(super) fn result_left(&mut self, number: u64, released: Tick, now: Tick) {
        let up = u32::from(self.context.trees.up);
        if self.reduction_units.leave(self.number, number, released) {
            for input in 0..u32::from(self.layout.inputs) {
                self.take_operands((input << self.size().shift) + up, now);
            }
        }
    }
}
