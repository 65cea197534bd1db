//! Times for which packets wait for an output, by reason, where routers grant an output to a whole
//! packet.

use crate::frame::tick::{NEVER, Tick};
use crate::network::port_block::Output;
use crate::network::size::Size;
use crate::router::packet::{Features, RouterView};
use crate::set::bits;
use flitlab_base::units::Picoseconds;
use flitlab_model::Stall;

impl<S: Size, F: Features> RouterView<'_, '_, S, F> {
    /// Ends the present stall of an output at `now` and counts it.
    #[inline(always)]
    pub(crate) fn end_stall(&mut self, output: usize, now: Tick) {
        let &mut Output { stall, free_at, since, .. } = self.output(output);
        let until = if stall == Stall::OutputBusy as u8 { free_at.min(now) } else { now };
        if since < until {
            let channel = self.router.first_output as usize + output;
            let stalled = &mut self.statistics.stalled[channel];
            stalled[usize::from(stall)] += Picoseconds::from(until - since);
        }
    }

    /// Time since which packets wait for an output that is busy, from `now` on; [`NEVER`] if none
    /// asks for it.
    #[inline(always)]
    pub(crate) fn waited_for_since(&self, output: usize, now: Tick) -> Tick {
        let mut first = NEVER;
        for word in 0..self.size.words() {
            for bit in bits(self.requests[output * self.size.words() + word]) {
                first = first.min(self.queues[word * 64 + bit].ask);
            }
        }
        first.max(now)
    }

    /// Counts all stalls of a router until `now`; waits go on.
    pub(crate) fn settle_stalls(&mut self, now: Tick) {
        for output in 0..usize::from(self.router.outputs) {
            self.end_stall(output, now);
            let since = &mut self.output(output).since;
            *since = (*since).max(now);
        }
    }
}
