//! Sending of a reduction unit's results, and of the copies of packets that go down a tree.

use crate::frame::tick::{NEVER, Tick};
use crate::network::ports::PacketQueue;
use crate::network::size::Size;
use crate::packet::Packet;
use crate::router::packet::allocation::Blocked;
use crate::router::packet::{Features, RouterView};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

impl<S: Size, F: Features> RouterView<'_, '_, S, F> {
    /// Whether an input virtual channel holds packets of collective operations.
    pub(crate) fn is_collective(&self, input_vc: u32) -> bool {
        self.place(input_vc).1 >= self.context.trees.up
    }

    /// Requests its outputs for the head of a buffer on the way down, if it is the next of all
    /// packets that go down here.
    pub(super) fn begin_if_next(&mut self, input_vc: u32) {
        let trees = &self.context.trees;
        let slot = self.queues[input_vc as usize].head;
        if slot == NONE {
            return;
        }
        let packet = self.packets.packets[slot as usize];
        let (tree, number) = trees.place(self.name, packet.route.0);
        let unit = &mut self.reduction_units.units[self.number as usize];
        debug_assert!(number >= unit.down);
        if number != unit.down || unit.input_vc.is_some() {
            return;
        }
        let outputs = tree.outputs(self.name);
        (unit.input_vc, unit.left, unit.held) = (Some(input_vc), fitted!(outputs.len(), u16), 0);
        let queue = &mut self.queues[input_vc as usize];
        let ask = packet.ready.max(queue.free_at).max(unit.down_at);
        (queue.ask, queue.out_vc, queue.need) = (ask, trees.down, packet.flits);
        for &output in outputs {
            self.add_request(usize::from(output), input_vc, ask);
        }
    }

    /// Grants a free output to a packet of a collective operation that asks for it, if there is
    /// room. Returns whether it did.
    pub(crate) fn try_grant_copy(
        &mut self,
        output: usize,
        input_vc: u32,
        blocked: &mut Blocked,
        now: Tick,
    ) -> bool {
        let trees = &self.context.trees;
        let PacketQueue { out_vc, flits, .. } = self.queues[input_vc as usize];
        if let Some(obstacle) = self.lack_of_room(output, (out_vc, flits, flits), now) {
            blocked.add(&obstacle);
            return false;
        }
        if trees.together && out_vc == trees.down {
            self.hold_output(output, input_vc, now);
        } else {
            self.send_copy(output, input_vc, now);
        }
        true
    }

    /// Holds an output for a packet until the packet holds all that it needs. Then all its copies
    /// start.
    fn hold_output(&mut self, output: usize, input_vc: u32, now: Tick) {
        self.drop_request(output, input_vc);
        self.keep_busy(output, NEVER, now);
        let unit = &mut self.reduction_units.units[self.number as usize];
        unit.held += 1;
        if unit.held < unit.left {
            return;
        }
        let slot = self.queues[input_vc as usize].head;
        let route = self.packets.packets[slot as usize].route.0;
        let (tree, _) = self.context.trees.place(self.name, route);
        for &output in tree.outputs(self.name) {
            self.send_copy(usize::from(output), input_vc, now);
        }
    }

    /// Sends a result, or a copy of the packet that goes down, through an output that has room.
    fn send_copy(&mut self, output: usize, input_vc: u32, now: Tick) {
        let PacketQueue { head: original, out_vc, flits, .. } = self.queues[input_vc as usize];
        let unit = &mut self.reduction_units.units[self.number as usize];
        let is_last = out_vc == self.context.trees.up || {
            unit.left -= 1;
            unit.left == 0
        };
        let Packet { next, route, .. } = self.packets.packets[original as usize];
        let mut slot = original;
        if !is_last {
            slot = self.packets.copy(original);
            self.counters.flits_created += u64::from(flits);
        }
        self.send::<true>(output, (input_vc, slot), out_vc, now);
        if is_last {
            let queue = &mut self.queues[input_vc as usize];
            (queue.head, queue.ask) = (next, NEVER);
            self.finish(input_vc, (out_vc, flits, route.0), now);
        }
    }

    /// Ends a packet, all of whose outputs have been granted: its buffer, or its place in the unit,
    /// is free when it has left.
    fn finish(&mut self, input_vc: u32, (out_vc, flits, route): (u8, u16, u64), now: Tick) {
        let trees = &self.context.trees;
        let (_, vc) = self.place(input_vc);
        let (_, number) = trees.place(self.name, route);
        let released = self.queues[input_vc as usize].free_at;
        if vc <= trees.down {
            self.release_buffer(input_vc, flits, released, now);
        }
        if out_vc == trees.down {
            let unit = &mut self.reduction_units.units[self.number as usize];
            (unit.down, unit.down_at, unit.input_vc) = (unit.down + 1, released, None);
        }
        if self.queues[input_vc as usize].head != NONE {
            self.new_head(input_vc);
        }
        if vc > trees.down {
            self.result_left(number, released, now);
        }
        if out_vc == trees.down {
            let down = u32::from(trees.down);
            for input in 0..u32::from(self.router.inputs) {
                self.begin_if_next((input << self.size.shift()) + down);
            }
            self.begin_if_next(down + 2);
        }
    }
}
