//! Statistics of channels: the flits that each carried, and the time for which packets waited for
//! it, by reason.
//!
//! [`Statistics`] belongs to a part; grants count into it.

use serde::{Deserialize, Serialize};

use super::part::Part;
use super::ports::Output;
use super::router::RouterView;
use super::size::Size;
use super::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_model::{ChannelStatistics, STALLS, Stall};

/// The statistics of all channels since the last reset: network and ejection channels by router,
/// then injection channels.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Statistics {
    vcs: usize,
    /// Flits sent, by channel and virtual channel, counted at the grant.
    pub flits: Vec<u64>,
    /// Times in which packets waited for an output, by reason.
    pub stalled: Vec<[Picoseconds; STALLS]>,
    /// By channel: time that the packet at hand at the reset still took.
    carried_over: Vec<Tick>,
}

impl Statistics {
    /// Bytes for each output, without those for its virtual channels.
    pub(super) const BYTES_PER_OUTPUT: u64 =
        (size_of::<[Picoseconds; STALLS]>() + size_of::<Tick>()) as u64;

    pub(super) fn new(outputs: usize, channels: usize, vcs: usize) -> Self {
        Self {
            vcs,
            flits: vec![0; channels * vcs],
            stalled: vec![[Picoseconds::ZERO; STALLS]; outputs],
            carried_over: vec![0; channels],
        }
    }

    #[inline]
    pub(super) fn sent(&mut self, channel: u32, vc: u8, flits: u16) {
        self.flits[channel as usize * self.vcs + usize::from(vc)] += u64::from(flits);
    }

    /// Time for which a channel carried flits since the reset, at `flit_time` each; it will be free
    /// after the time `left`. Flits are counted at the grant. So the rest of the packet at hand is
    /// subtracted, and the rest of the packet at the reset is added. The time is exact if flits
    /// follow back to back. Otherwise it is too small by less than a packet, and never too large.
    pub(super) fn busy(&self, channel: u32, flit_time: Tick, left: Picoseconds) -> Picoseconds {
        let flits: u64 = self.of(channel).iter().sum();
        let granted = flits * Picoseconds::from(flit_time)
            + Picoseconds::from(self.carried_over[channel as usize]);
        granted.saturating_sub(left)
    }

    fn of(&self, channel: u32) -> &[u64] {
        &self.flits[channel as usize * self.vcs..][..self.vcs]
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.flits) + size_of_val(&*self.stalled) + size_of_val(&*self.carried_over)
    }
}

impl<S: Size> RouterView<'_, '_, S> {
    /// Ends the present stall of an output at `now` and counts it.
    #[inline(always)]
    pub(super) fn end_stall(&mut self, output: usize, now: Tick) {
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
    pub(super) fn waited_for_since(&self, output: usize, now: Tick) -> Tick {
        let mut first = NEVER;
        for word in 0..self.size.words() {
            let mut bits = self.requests[output * self.size.words() + word];
            while bits != 0 {
                let input_vc = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                first = first.min(self.queues[input_vc].ask);
            }
        }
        first.max(now)
    }

    /// Counts all stalls of a router until `now`; waits go on.
    fn settle_stalls(&mut self, now: Tick) {
        for output in 0..usize::from(self.router.outputs) {
            self.end_stall(output, now);
            let since = &mut self.output(output).since;
            *since = (*since).max(now);
        }
    }
}

impl Part<'_> {
    /// Counts all stalls of the part until `now`; waits go on.
    pub(super) fn settle_stalls(&mut self, now: Tick) {
        if self.flits.is_some() {
            return self.count_flit_stalls(now);
        }
        for number in 0..fitted!(self.ports.routers.len(), u32) {
            self.borrow_router(number, self.ports.size).settle_stalls(now);
        }
    }

    /// Resets all statistics at `now`; waits go on.
    pub(super) fn reset_statistics(&mut self, now: Tick) {
        self.settle_stalls(now);
        self.statistics.flits.fill(0);
        self.statistics.stalled.fill([Picoseconds::ZERO; STALLS]);
        if let Some(links) = &mut self.links {
            links.reset_statistics();
        }
        let outputs: Vec<Tick> = (0..fitted!(self.ports.outputs, u32))
            .map(|output| self.output_free_at(output))
            .collect();
        let injections = self.sources.injections.iter().map(|injection| injection.free_at);
        let left = &mut self.statistics.carried_over;
        for (left, free_at) in left.iter_mut().zip(outputs.into_iter().chain(injections)) {
            *left = free_at.saturating_sub(now);
        }
    }

    /// Time at which the last flit that an output was given has left.
    pub(super) fn output_free_at(&self, output: u32) -> Tick {
        match &self.flits {
            // An output that is held for a packet of a collective operation sends nothing.
            None => match self.ports.output(output).free_at {
                NEVER if self.links.is_some() => self.line_free(output),
                NEVER => 0,
                free_at => free_at,
            },
            Some(flits) => flits.state.outputs[output as usize].line,
        }
    }

    /// The statistics of a channel. Stalls must have been settled.
    pub(super) fn channel_statistics(&self, channel: u32) -> ChannelStatistics {
        let mut flits = vec![0; usize::from(self.context.parameters.virtual_channels)];
        for (vc, &count) in (0..).zip(self.statistics.of(channel)) {
            flits[usize::from(self.context.vc_map.number(vc))] = count;
        }
        let stalled = self.statistics.stalled.get(channel as usize).copied().unwrap_or_default();
        ChannelStatistics {
            flits,
            flits_resent: self.flits_resent(channel),
            stalled: self.flits.as_ref().is_none_or(|it| it.counts_stalls()).then_some(stalled),
        }
    }
}
