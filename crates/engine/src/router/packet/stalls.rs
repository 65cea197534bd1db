//! Times for which packets wait for an output, by reason, where routers grant an output to a whole
//! packet.

use crate::frame::tick::{NEVER, Tick};
use crate::router::packet::cell::{Cell, Shape};
use crate::router::packet::{Features, Visit};
use crate::set::bits;
use flitlab_base::units::Picoseconds;
use flitlab_model::Stall;

impl<S: Shape, F: Features> Visit<'_, '_, S, F> {
    /// Ends the present stall of an output at `now` and counts it.
    #[inline(always)]
    pub(super) fn end_stall(&mut self, output: usize, now: Tick) {
        let output = S::port(output);
        let Cell { stall, free_at, since, .. } = &*self.cell;
        let (stall, free_at, since) = (stall[output], free_at[output], since[output]);
        let until = if stall == Stall::OutputBusy as u8 { free_at.min(now) } else { now };
        if since < until {
            let channel = self.channel(output) as usize;
            let stalled = &mut self.statistics.stalled[channel];
            stalled[usize::from(stall)] += Picoseconds::from(until - since);
        }
    }

    /// Time since which packets wait for an output that is busy, from `now` on; [`NEVER`] if none
    /// asks for it.
    #[inline(always)]
    pub(super) fn waited_for_since(&self, output: usize, now: Tick) -> Tick {
        let mut first = NEVER;
        for (word, place) in self.words(output).enumerate() {
            for bit in bits(self.cell.requests[place]) {
                first = first.min(self.cell.ask[S::buffer(word * 64 + bit)]);
            }
        }
        first.max(now)
    }

    /// Counts all stalls of a router until `now`; waits go on.
    pub(crate) fn settle_stalls(&mut self, now: Tick) {
        for output in 0..usize::from(self.layout.outputs) {
            self.end_stall(output, now);
            let since = &mut self.cell.since[output];
            *since = (*since).max(now);
        }
    }
}
