//! Sending of a reduction unit's results, and of the copies of packets that go down a tree.

use crate::frame::tick::{NEVER, Tick};
use crate::network::context::NetworkContext;
use crate::packet::Packet;
use crate::router::link::replay::Hold;
use crate::router::packet::cell::{REPEATS, Shape};
use crate::router::packet::{Features, Visit};
use flitlab_base::narrow::fitted;
use flitlab_fabric::NONE;

impl<'a, S: Shape, F: Features> Visit<'a, '_, S, F> {
    /// Whether a buffer holds packets of collective operations.
    pub(in crate::router::packet) fn is_collective(&self, buffer: u32) -> bool {
        self.place(buffer).1 >= self.context.trees.up
    }

    /// Requests its outputs for the head of a buffer on the way down, if it is the next of all
    /// packets that go down here.
    pub(super) fn begin_if_next(&mut self, buffer: u32) {
        let trees = &self.context.trees;
        let place = S::buffer(buffer as usize);
        let slot = self.cell.head[place];
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
        (unit.input_vc, unit.left, unit.held) = (Some(buffer), fitted!(outputs.len(), u16), 0);
        let ask = packet.ready.max(self.cell.left[place]).max(unit.down_at);
        self.cell.ask[place] = ask;
        (self.cell.out_vc[place], self.cell.need[place]) = (trees.down, packet.flits);
        for &output in outputs {
            self.add_request(usize::from(output), buffer, ask);
        }
    }

    /// Grants a free output to a packet of a collective operation that has room there.
    pub(in crate::router::packet) fn grant_copy(&mut self, output: usize, buffer: u32, now: Tick) {
        let trees = &self.context.trees;
        let out_vc = self.cell.out_vc[S::buffer(buffer as usize)];
        if trees.together && out_vc == trees.down {
            self.hold_output(output, buffer, now);
        } else {
            self.send_copy(output, buffer, now);
        }
    }

    /// Holds an output for a packet until the packet holds all that it needs. Then all its copies
    /// start.
    fn hold_output(&mut self, output: usize, buffer: u32, now: Tick) {
        self.drop_request(output, buffer);
        self.keep_busy(output, NEVER, now);
        if F::RESENDS && self.has(output, REPEATS) {
            self.set_hold(output, Hold::Waits);
        }
        let unit = &mut self.reduction_units.units[self.number as usize];
        unit.held += 1;
        if unit.held < unit.left {
            return;
        }
        let outputs = self.outputs_down(buffer);
        // Links go on sending while outputs are held.
        let repeats = outputs.iter().map(|&it| usize::from(it));
        let repeats: Vec<usize> = repeats.filter(|&it| self.has(it, REPEATS)).collect();
        let free_at = repeats.iter().map(|&output| self.line_free(output)).max().unwrap_or(now);
        if free_at <= now {
            return self.send_copies(buffer, now);
        }
        for output in repeats {
            self.set_hold(output, Hold::Starts(free_at));
        }
    }

    /// The outputs of the head of a buffer, which goes down.
    fn outputs_down(&self, buffer: u32) -> &'a [u16] {
        let context: &'a NetworkContext<'_> = self.context;
        let (tree, _) = context.trees.place(self.name, self.head_of(buffer).route.0);
        tree.outputs(self.name)
    }

    fn send_copies(&mut self, buffer: u32, now: Tick) {
        for &output in self.outputs_down(buffer) {
            self.send_copy(usize::from(output), buffer, now);
        }
    }

    /// Starts the copies of the packet that holds all its outputs, which no link uses any more.
    pub(in crate::router::packet) fn start_held(&mut self, now: Tick) {
        let unit = &self.reduction_units.units[self.number as usize];
        self.send_copies(unit.input_vc.expect("it holds outputs"), now);
        self.handle_granted(now);
    }

    /// Sends a result, or a copy of the packet that goes down, through an output that has room.
    fn send_copy(&mut self, output: usize, buffer: u32, now: Tick) {
        let place = S::buffer(buffer as usize);
        let (original, out_vc) = (self.cell.head[place], self.cell.out_vc[place]);
        let unit = &mut self.reduction_units.units[self.number as usize];
        let is_last = out_vc == self.context.trees.up || {
            unit.left -= 1;
            unit.left == 0
        };
        let Packet { next, route, flits, .. } = self.packets.packets[original as usize];
        let mut slot = original;
        if !is_last {
            slot = self.packets.copy(original);
            self.counters.flits_created += u64::from(flits);
        }
        let released = self.send::<true>(output, (buffer, slot), out_vc, now);
        self.cell.left[place] = self.cell.left[place].max(released);
        if is_last {
            (self.cell.head[place], self.cell.ask[place]) = (next, NEVER);
            self.finish(buffer, (out_vc, flits, route.0, next), now);
        }
    }

    /// Ends a packet, all of whose outputs have been granted: its buffer, or its place in the unit,
    /// is free when it has left.
    fn finish(
        &mut self,
        buffer: u32,
        (out_vc, flits, route, next): (u8, u16, u64, u32),
        now: Tick,
    ) {
        let trees = &self.context.trees;
        let (_, vc) = self.place(buffer);
        let (_, number) = trees.place(self.name, route);
        let released = self.cell.left[S::buffer(buffer as usize)];
        if vc <= trees.down {
            self.release_buffer(buffer, flits, released, now);
        }
        if out_vc == trees.down {
            let unit = &mut self.reduction_units.units[self.number as usize];
            (unit.down, unit.down_at, unit.input_vc) = (unit.down + 1, released, None);
        }
        self.go_to_next(buffer, next);
        if vc > trees.down {
            self.result_left(number, released, now);
        }
        if out_vc == trees.down {
            let down = u32::from(trees.down);
            for input in 0..u32::from(self.layout.inputs) {
                self.begin_if_next((input << self.size().shift) + down);
            }
            self.begin_if_next(down + 2);
        }
    }
}
