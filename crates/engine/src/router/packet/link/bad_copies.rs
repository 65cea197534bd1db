//! Bad copies, and how they leave buffers (docs/model.md, "Links that err").

use crate::frame::tick::{NEVER, Tick};
use crate::network::ports::PacketQueue;
use crate::network::size::Size;
use crate::packet::chain;
use crate::router::packet::{Features, RouterView};
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
        let first = self.queue(input_vc).head;
        let (origins, packets) = (&self.packets.origins, &self.packets.packets);
        let goes =
            |&slot: &u32| origins[slot as usize].is_bad() && packets[slot as usize].tail <= now;
        let (gone, left): (Vec<u32>, Vec<u32>) = chain(packets, first).partition(goes);
        let head_goes = gone.first() == Some(&first);
        if head_goes && self.asks_before_it_leaves(input_vc) {
            self.withdraw_all(input_vc, now);
        }
        let PacketQueue { head, tail, .. } = &mut self.queues[input_vc as usize];
        *head = NONE;
        for slot in left {
            self.packets.append(head, tail, slot);
        }
        for slot in gone {
            let (flits, is_fresh) = (self.packet(slot).flits, self.origin(slot).is_fresh());
            self.packets.remove(slot);
            if !is_fresh {
                self.release_buffer(input_vc, flits, now, now);
            }
        }
        if head_goes {
            let queue = self.queue(input_vc);
            (queue.ask, queue.free_at) = (NEVER, queue.free_at.max(now));
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
