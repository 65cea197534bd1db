//! Bad copies, and how they leave buffers (docs/model.md, "Links that err").

use crate::frame::tick::{NEVER, Tick};
use crate::network::ports::PacketQueue;
use crate::network::size::Size;
use crate::packet::Packet;
use crate::router::packet::features::Features;
use crate::router::packet::router_view::RouterView;
use flitlab_fabric::NONE;

impl<S: Size, F: Features> RouterView<'_, '_, S, F> {
    /// Whether a bad copy at the head of a buffer asks for an output before it leaves.
    pub(crate) fn asks_before_it_leaves(&self, input_vc: u32) -> bool {
        let PacketQueue { head, ask, .. } = self.queues[input_vc as usize];
        ask < self.packets.packets[head as usize].tail
    }

    /// Removes bad copies from their buffers whose last flits are there, unless they have been
    /// granted an output.
    pub(super) fn discard_bad_copies(&mut self, now: Tick) {
        let number = self.number as usize;
        let mut due = std::mem::take(&mut self.links.state.bad_copies[number]);
        due.retain(|&(leaves, input_vc)| {
            if leaves <= now {
                self.discard_from(input_vc, now);
            }
            leaves > now
        });
        self.links.state.bad_copies[number] = due;
    }

    /// Removes such bad copies from one buffer.
    fn discard_from(&mut self, input_vc: u32, now: Tick) {
        let head = self.queues[input_vc as usize].head;
        let (mut before, mut slot) = (NONE, head);
        while slot != NONE {
            let Packet { next, tail, flits, .. } = self.packets.packets[slot as usize];
            let origin = self.packets.origins[slot as usize];
            if !origin.is_bad() || tail > now {
                (before, slot) = (slot, next);
                continue;
            }
            if slot == head && self.asks_before_it_leaves(input_vc) {
                self.withdraw_all(input_vc, now);
            }
            let queue = &mut self.queues[input_vc as usize];
            if queue.tail == slot {
                queue.tail = before;
            }
            match before {
                NONE => queue.head = next,
                before => self.packets.packets[before as usize].next = next,
            }
            self.packets.remove(slot);
            if !origin.is_fresh() {
                self.release_buffer(input_vc, flits, now, now);
            }
            slot = next;
        }
        let queue = &mut self.queues[input_vc as usize];
        if queue.head != head {
            queue.ask = NEVER;
            queue.free_at = queue.free_at.max(now);
            if queue.head != NONE {
                self.new_head(input_vc);
            }
        }
    }

    /// Withdraws all requests of the head of a buffer.
    fn withdraw_all(&mut self, input_vc: u32, now: Tick) {
        let PacketQueue { options, output, .. } = self.queues[input_vc as usize];
        if options == 0 {
            self.withdraw_request(usize::from(output), input_vc, now);
        } else if self.routing.is_by_relation() {
            self.withdraw::<true>(usize::MAX, input_vc, now);
        } else {
            self.withdraw::<false>(usize::MAX, input_vc, now);
        }
    }
}
