//! Bad copies, and how they leave buffers (docs/model.md, "Links that err").

use crate::frame::tick::{NEVER, Tick};
use crate::packet::chain;
use crate::router::asks::Asks;
use crate::router::packet::cell::Shape;
use crate::router::packet::{Features, Visit};
use flitlab_fabric::NONE;

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// Whether a bad copy at the head of a buffer asks for an output before it leaves.
    pub(in crate::router::packet) fn asks_before_it_leaves(&self, buffer: u32) -> bool {
        self.cell.ask[S::buffer(buffer as usize)] < self.head_of(buffer).tail
    }

    /// Removes bad copies from their buffers whose last flits are there, unless they have been
    /// granted an output.
    pub(super) fn discard_bad_copies(&mut self, now: Tick) {
        let number = self.number as usize;
        let mut due = std::mem::take(&mut self.links.state.bad_copies[number]);
        due.retain(|&(leaves, buffer)| {
            if leaves <= now {
                self.discard_from(buffer, now);
            }
            leaves > now
        });
        self.links.state.bad_copies[number] = due;
    }

    /// Removes such bad copies from one buffer.
    fn discard_from(&mut self, buffer: u32, now: Tick) {
        let place = S::buffer(buffer as usize);
        let first = self.cell.head[place];
        let (origins, packets) = (&self.packets.origins, &self.packets.packets);
        let goes =
            |&slot: &u32| origins[slot as usize].is_bad() && packets[slot as usize].tail <= now;
        let (gone, left): (Vec<u32>, Vec<u32>) = chain(packets, first).partition(goes);
        let head_goes = gone.first() == Some(&first);
        if head_goes && self.asks_before_it_leaves(buffer) {
            self.withdraw_all(buffer, now);
        }
        self.cell.head[place] = NONE;
        self.note_empty(buffer);
        for slot in left {
            self.append(buffer, slot);
        }
        for slot in gone {
            let (flits, is_fresh) = (self.packet(slot).flits, self.origin(slot).is_fresh());
            self.packets.remove(slot);
            if !is_fresh {
                self.release_buffer(buffer, flits, now, now);
            }
        }
        if head_goes {
            self.cell.ask[place] = NEVER;
            self.cell.left[place] = self.cell.left[place].max(now);
            let head = self.cell.head[place];
            if head != NONE {
                self.new_head(buffer, head);
            }
        }
    }

    /// Withdraws all requests of the head of a buffer.
    pub(in crate::router::packet) fn withdraw_all(&mut self, buffer: u32, now: Tick) {
        if *self.asks(buffer) == Asks::One {
            let request = self.cell.request(buffer as usize, self.size().words);
            if let Some((output, ..)) = request {
                self.withdraw_request(usize::from(output), buffer, now);
            }
        } else {
            self.withdraw(usize::MAX, buffer, now);
        }
    }
}
