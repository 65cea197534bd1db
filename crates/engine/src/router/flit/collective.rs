//! The collective subnetwork with links shared flit by flit (docs/model.md, "Trees on links that are
//! shared flit by flit"): packets that routers combine and replicate along trees.
//!
//! A router's reduction unit has input ports of its own behind those of network channels. Their
//! queues are those of any input port, but nobody gets credits for what leaves them:
//!
//! | port of the unit | queues by virtual channel |
//! |---|---|
//! | 0 | up: results that go on upwards; down: results that turn at the root's router |
//! | 1 + output | down: the copy for this output |
//!
//! The head of another port's queue on the upper virtual channel is an operand. Once it is whole,
//! the unit takes it, and its flits leave the queue at once. On the lower one the head, or a result
//! that turns, is copied for all outputs when its turn has come. Its flits stay in its queue until
//! the last copy has left.

use std::sync::Arc;

use super::FlitRules;
use super::router_view::FlitRouterView;
use super::states::VcState;
use crate::frame::tick::{NEVER, Tick};
use crate::network::context::NetworkContext;
use crate::packet::Packet;
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::NONE;

impl FlitRules {
    /// Flits for which a queue at a port of a reduction unit has room.
    pub(super) fn room_of_unit(&self, context: &NetworkContext<'_>, port: u16, vc: u32) -> u32 {
        let trees = &context.trees;
        let packet = context.parameters.maximum_packet();
        let results = packet * narrow::<u32>(trees.open);
        let (is_up, is_down) = (vc == u32::from(trees.up), vc == u32::from(trees.down));
        match port {
            0 if trees.kind.goes_up() && (is_up || is_down && trees.kind.goes_down()) => results,
            1.. if is_down => packet,
            _ => 0,
        }
    }
}

impl FlitRouterView<'_, '_> {
    /// Advances the head of a queue for packets of collective operations: it is taken, copied, or
    /// asks for its output. Returns the virtual channels there that are open to it, if it asks now.
    #[inline(never)]
    pub(super) fn advance_on_tree(&mut self, queue: usize, now: Tick) -> u16 {
        let (input, vc) = self.place(queue);
        let port = self.router.port_of_unit(fitted!(input, u16));
        let state = &self.state.queues[self.first_queue + queue];
        if state.free_at == NEVER {
            // The last copy of the packet before it makes the queue due.
            return 0;
        }
        let Packet { flits, route, .. } = self.common.packets.packets[state.head as usize];
        let waits_for_all = port.is_none() || self.rules.forwards_whole;
        let awaited = if waits_for_all { u32::from(flits) - 1 } else { 0 };
        if state.flits.len() <= awaited {
            // The next flit makes the queue due.
            return 0;
        }
        let came = state.flits.at(awaited, &self.state.times);
        let asks = match port {
            None => self.rules.asks(came, state.free_at),
            Some(_) => came.max(state.free_at),
        };
        let context = Arc::clone(&self.common.context);
        let trees = &context.trees;
        let (tree, number) = trees.place(self.name, route.0);
        let name = self.name;
        let output = match port {
            None if vc == trees.up => {
                let operands = tree.operands[name as usize];
                self.take_operand(queue, (number, operands), asks, now);
                return 0;
            }
            None | Some(0) if vc == trees.down => {
                self.begin_copies(queue, (number, tree.outputs(name)), asks, now);
                return 0;
            }
            None | Some(0) => {
                self.state.reduction_units.units[self.number as usize].upwards = number;
                tree.towards[name as usize]
            }
            Some(port) => port - 1,
        };
        self.begin_head(self.first_queue + queue, asks);
        let rules = self.rules;
        let state = self.queue(queue);
        (state.output, state.vcs, state.chooses) = (output, 1 << vc, false);
        state.need = rules.needed(flits, 0);
        self.request_vc(queue, now)
    }

    /// Lets the reduction unit take the head of a queue, which asks from `asks` on, if it has a
    /// place for it: the packet's number, and how many operands its result has.
    fn take_operand(&mut self, queue: usize, operand: (u64, u16), asks: Tick, now: Tick) {
        let units = &mut self.state.reduction_units;
        // If results have to leave first, that makes the queue due.
        let Some(takes) = units.takes_from(self.number, operand.0) else { return };
        let start = asks.max(takes);
        if start > now {
            return self.set_due(queue, start);
        }
        debug_assert_eq!(start, now);
        let slot = self.state.queues[self.first_queue + queue].head;
        let packets = &mut self.common.packets;
        let origin = packets.origins[slot as usize];
        let packet = packets.packets[slot as usize];
        packets.remove(slot);
        let flit = self.common.context.trees.flit;
        let last = now + (Tick::from(packet.flits) - 1) * flit;
        let taken = (Packet { ready: now, tail: last, ..packet }, origin);
        let has_all = units.take(self.number, operand, taken, &mut self.common.counters);
        self.free_queue(queue, packet.next, packet.flits, last + flit);
        if has_all {
            self.make_results();
        }
    }

    /// Takes a packet off a queue, whose flits have left at `released`; `next` is the packet behind
    /// it. Their credits go back.
    fn free_queue(&mut self, queue: usize, next: u32, flits: u16, released: Tick) {
        let number = self.first_queue + queue;
        let state = &mut self.state.queues[number];
        (state.head, state.free_at) = (next, released);
        state.vc_state = if next == NONE { VcState::Idle } else { VcState::Routing };
        for _ in 0..flits {
            state.flits.pop();
        }
        let has_more = next != NONE && !state.flits.is_empty();
        let upstream = state.upstream;
        for _ in 0..flits {
            let place = self.state.vcs.get_mut(upstream.place as usize);
            let time = released + upstream.back;
            if place.is_none_or(|vc| vc.give_back(time, &mut self.state.times)) {
                self.tell_sender(number, released);
            }
        }
        if has_more {
            self.lower_due(queue, released);
        }
    }

    /// Makes a queue due by `time`.
    fn lower_due(&mut self, queue: usize, time: Tick) {
        let (input, _) = self.place(queue);
        let port = (self.number, self.router.first_input + fitted!(input, u32));
        self.state.wake_times.lower(self.first_queue + queue, port, time);
    }

    /// The queue of an input port and a virtual channel of collective operations.
    fn queue_on_tree(&self, input: u16, vc: u8) -> usize {
        let input_vc = (usize::from(input) << self.rules.shift) + usize::from(vc);
        input_vc * self.rules.outputs as usize
    }

    /// Makes the heads on a virtual channel of collective operations due by `time`.
    fn wake_heads(&mut self, vc: u8, time: Tick) {
        for input in
            (0..=self.router.first_of_unit()).chain(self.router.transit..self.router.inputs)
        {
            let queue = self.queue_on_tree(input, vc);
            let state = self.queue(queue);
            if state.vc_state == VcState::Routing && state.head != NONE {
                self.lower_due(queue, time);
            }
        }
    }

    /// Makes the results that have all their operands, in order, and queues them.
    fn make_results(&mut self) {
        let context = Arc::clone(&self.common.context);
        let trees = &context.trees;
        let router = (self.number, self.name);
        let mut times = std::mem::take(&mut self.scratch.arrivals);
        while let Some((packet, origin, turns)) = self.state.reduction_units.make(router, &context)
        {
            let slot = self.common.packets.insert(packet, origin);
            let before_last = (0..Tick::from(packet.flits)).rev();
            times.clear();
            times.extend(before_last.map(|flits| packet.tail - flits * trees.flit));
            let vc = if turns { trees.down } else { trees.up };
            self.put(self.queue_on_tree(self.router.first_of_unit(), vc), slot, &times);
        }
        times.clear();
        self.scratch.arrivals = times;
    }

    /// Puts a packet into a queue of the reduction unit, where its flits are at some times.
    fn put(&mut self, queue: usize, slot: u32, times: &[Tick]) {
        let state = &mut self.state.queues[self.first_queue + queue];
        self.common.packets.packets[slot as usize].next = NONE;
        let tail = std::mem::replace(&mut state.tail, slot);
        if state.head == NONE {
            state.head = slot;
        } else {
            self.common.packets.packets[tail as usize].next = slot;
        }
        for &time in times {
            state.flits.push(time, &mut self.state.times);
        }
        if state.vc_state == VcState::Idle {
            state.vc_state = VcState::Routing;
            let due = times[0].max(state.free_at);
            self.lower_due(queue, due);
        }
    }

    /// Copies the head of a queue for all its outputs, if it is the next of all packets that go down
    /// here.
    fn begin_copies(
        &mut self,
        queue: usize,
        (number, outputs): (u64, &[u16]),
        asks: Tick,
        now: Tick,
    ) {
        let unit = &mut self.state.reduction_units.units[self.number as usize];
        debug_assert!(number >= unit.down);
        if number != unit.down || unit.input_vc.is_some() {
            // The last copy of the packet before it makes the queue due.
            return;
        }
        let start = asks.max(unit.down_at);
        if start > now {
            return self.set_due(queue, start);
        }
        debug_assert_eq!(start, now);
        unit.input_vc = Some(fitted!(queue, u32));
        (unit.left, unit.held) = (fitted!(outputs.len(), u16), 0);
        let packets = &mut self.common.packets;
        let state = &mut self.state.queues[self.first_queue + queue];
        let (slot, vc) = (state.head, state.in_vc);
        let Packet { flits, next, .. } = packets.packets[slot as usize];
        (state.head, state.left, state.free_at) = (next, flits, NEVER);
        let mut times = std::mem::take(&mut self.scratch.arrivals);
        let came = (0..flits).map(|flit| state.flits.at(flit.into(), &self.state.times));
        times.extend(came.map(|came| came.max(now)));
        for (left, &output) in (0..outputs.len()).rev().zip(outputs) {
            let mut copy = slot;
            if left > 0 {
                copy = self.common.packets.copy(slot);
                self.common.counters.flits_created += u64::from(flits);
            }
            let port = self.router.first_of_unit() + 1 + output;
            self.put(self.queue_on_tree(port, vc), copy, &times);
        }
        times.clear();
        self.scratch.arrivals = times;
    }

    /// Lets a copy that has been granted its virtual channel wait until all copies of its packet
    /// have theirs. Then they ask for the switch.
    #[cold]
    pub(super) fn hold_copy(&mut self, queue: usize, now: Tick) {
        let number = self.first_queue + queue;
        let again = std::mem::replace(&mut self.state.queues[number].again, NEVER);
        self.state.set_next(self.state.queues[number].active as usize);
        if let Some(waits) = &mut self.state.waits {
            waits.waits_from(number, NEVER);
        }
        let unit = &mut self.state.reduction_units.units[self.number as usize];
        unit.held += 1;
        if unit.held < unit.left {
            return;
        }
        let of_copies = self.router.first_of_unit() + 1..self.router.transit;
        let vc = self.common.context.trees.down;
        for port in of_copies {
            let number = self.first_queue + self.queue_on_tree(port, vc);
            let state = &mut self.state.queues[number];
            if state.vc_state == VcState::Active && state.again == NEVER {
                state.again = again;
                let place = state.active as usize;
                if let Some(waits) = &mut self.state.waits {
                    waits.waits_from(number, again);
                }
                self.state.set_next(place);
            }
        }
        debug_assert!(again >= now);
    }

    /// Ends a packet that has left the reduction unit by `free_at` from a queue, given by its number
    /// in the part.
    #[cold]
    pub(super) fn leave_unit(&mut self, queue: usize, free_at: Tick) {
        let input = self.state.queues[queue].input;
        let unit = &mut self.state.reduction_units.units[self.number as usize];
        if input == self.router.first_of_unit() {
            let number = unit.upwards;
            return self.result_left(number, free_at);
        }
        unit.left -= 1;
        unit.down_at = unit.down_at.max(free_at);
        if unit.left > 0 {
            return;
        }
        let (number, released) = (unit.down, unit.down_at);
        unit.down += 1;
        let origin = unit.input_vc.take().expect("it has been copied") as usize;
        let state = &self.state.queues[self.first_queue + origin];
        let (input, vc, next, flits) = (state.input, state.in_vc, state.head, state.left);
        self.free_queue(origin, next, flits, released);
        if input == self.router.first_of_unit() {
            self.result_left(number, released);
        }
        self.wake_heads(vc, released);
    }

    /// Notes that a result has left the unit by `released`: then operands that had to wait may be
    /// taken.
    fn result_left(&mut self, number: u64, released: Tick) {
        if self.state.reduction_units.leave(self.number, number, released) {
            self.wake_heads(self.common.context.trees.up, released);
        }
    }
}
