//! Credits on their way back from an input port to the channel that feeds it.
//!
//! They are known from the grant on, but count only from the time at which they arrive. They stay at the
//! input port until the feeder runs short and looks for them, so that a packet's move does not touch the
//! router behind it.

use super::parameters::VIRTUAL_CHANNELS;
use super::port::{Input, Output};
use crate::topology::NONE;
use crate::units::Picoseconds;

/// Credits on their way back to a channel's sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    pub time: Picoseconds,
    pub flits: u16,
    pub virtual_channel: u8,
    /// The credits that arrive next there.
    pub next: u32,
}

/// All credits on their way, in chains by input port.
#[derive(Debug)]
pub(super) struct Credits {
    pub credits: Vec<Credit>,
    free: u32,
}

impl Credits {
    pub(super) fn new() -> Self {
        Self { credits: Vec::new(), free: NONE }
    }

    #[inline]
    fn insert(&mut self, credit: Credit) -> u32 {
        if self.free == NONE {
            self.credits.push(credit);
            return self.credits.len() as u32 - 1;
        }
        let slot = self.free;
        self.free = self.credits[slot as usize].next;
        self.credits[slot as usize] = credit;
        slot
    }
}

impl Input {
    /// Notes which credits have arrived at the feeder by `now`.
    #[inline]
    pub(super) fn settle(&mut self, credits: &mut Credits, now: Picoseconds) {
        while self.returning != NONE {
            let slot = self.returning;
            let credit = credits.credits[slot as usize];
            if credit.time > now {
                break;
            }
            self.queues[usize::from(credit.virtual_channel)].returned += credit.flits;
            self.returning = credit.next;
            credits.credits[slot as usize].next = credits.free;
            credits.free = slot;
        }
    }

    /// Sends credits to the feeder, behind those that arrive before or with them.
    #[inline]
    pub(super) fn send_credit(&mut self, credits: &mut Credits, credit: Credit) {
        if self.returning != NONE
            && credits.credits[self.returning_last as usize].time <= credit.time
        {
            let slot = credits.insert(credit);
            credits.credits[self.returning_last as usize].next = slot;
            self.returning_last = slot;
            return;
        }
        let mut before = NONE;
        let mut at = self.returning;
        while at != NONE && credits.credits[at as usize].time <= credit.time {
            before = at;
            at = credits.credits[at as usize].next;
        }
        let slot = credits.insert(Credit { next: at, ..credit });
        if at == NONE {
            self.returning_last = slot;
        }
        if before == NONE {
            self.returning = slot;
        } else {
            credits.credits[before as usize].next = slot;
        }
    }
}

impl Output {
    /// Takes over what has been settled at the far end.
    #[inline]
    pub(super) fn take_returned(&mut self, input: &mut Input) {
        let buffers: &mut [_; VIRTUAL_CHANNELS] = &mut input.queues;
        for (credits, queue) in self.credits.iter_mut().zip(buffers) {
            *credits += std::mem::take(&mut queue.returned);
        }
    }
}
