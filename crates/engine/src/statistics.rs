//! Statistics of channels: the flits that each carried, and the time for which packets waited for
//! it, by reason.
//!
//! [`Statistics`] belongs to a part; grants count into it.

use serde::{Deserialize, Serialize};

use super::part::Part;
use super::ports::Output;
use super::router::RouterView;
use super::routers::Routers;
use super::size::Size;
use super::tick::{NEVER, Tick};
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_model::{ChannelKind, ChannelReport, ChannelStatistics, STALLS, Stall};

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
    pub(super) fn settle_stalls(&mut self, now: Tick) {
        for output in 0..usize::from(self.router.outputs) {
            self.end_stall(output, now);
            let since = &mut self.output(output).since;
            *since = (*since).max(now);
        }
    }
}

impl<R: Routers> Part<'_, R> {
    /// Counts all stalls of the part until `now`; waits go on.
    pub(super) fn settle_stalls(&mut self, now: Tick) {
        self.routers.settle_stalls(&mut self.common, now);
    }

    /// Resets all statistics at `now`; waits go on.
    pub(super) fn reset_statistics(&mut self, now: Tick) {
        self.settle_stalls(now);
        self.routers.reset_statistics();
        let statistics = &mut self.common.statistics;
        statistics.flits.fill(0);
        statistics.stalled.fill([Picoseconds::ZERO; STALLS]);
        let outputs = (0..fitted!(self.routers.ports().outputs, u32))
            .map(|output| self.routers.output_free_at(output));
        let injections = self.hosts.sources.injections.iter().map(|injection| injection.free_at);
        for (left, free_at) in statistics.carried_over.iter_mut().zip(outputs.chain(injections)) {
            *left = free_at.saturating_sub(now);
        }
    }

    /// The part's channels to other routers and to terminals, by number.
    pub(super) fn output_channels(&self) -> impl Iterator<Item = (u32, ChannelKind)> {
        let live = (0..).zip(self.routers.ports().outputs());
        let live =
            live.filter(|(_, output)| output.kind == ChannelKind::Ejection || output.is_wired());
        live.map(|(number, output)| (number, output.kind))
    }

    /// The injection channels of the part's live terminals, in the order of the whole network.
    pub(super) fn injection_channels(&self) -> impl Iterator<Item = (u32, ChannelKind)> {
        let context = &*self.common.context;
        let (part, first) = (self.number(), fitted!(self.routers.ports().outputs, u32));
        let channels = context.parameters.injection_channels;
        let live = context.cut.terminals(part);
        let live = live.filter(|&it| context.fabric.terminal_router(it).is_some());
        live.flat_map(move |terminal| {
            let own = first + context.in_part(terminal, part) * channels;
            (own..own + channels).map(|number| (number, ChannelKind::Injection))
        })
    }

    /// Time for which a channel has carried flits since the reset, until `now`.
    pub(super) fn busy(&self, channel: u32, now: Picoseconds) -> Picoseconds {
        let Self { common, hosts, routers } = self;
        let ports = routers.ports();
        let (free_at, timing) = match (channel as usize).checked_sub(ports.outputs) {
            None => (routers.output_free_at(channel), ports.output(channel).timing),
            Some(injection) => {
                let channels = common.context.parameters.injection_channels as usize;
                let adapter = &hosts.sources.adapters[injection / channels];
                (hosts.sources.injections[injection].free_at, adapter.timing)
            }
        };
        let left = common.time(free_at).saturating_sub(now);
        common.statistics.busy(channel, common.context.timing(timing).flit, left)
    }

    /// The report of a channel for a time since the reset, until `now`. Stalls must have been
    /// settled.
    pub(super) fn report(
        &self,
        (number, kind): (u32, ChannelKind),
        (now, since): (Picoseconds, Picoseconds),
    ) -> ChannelReport {
        let context = &*self.common.context;
        let statistics = self.channel_statistics(number);
        let time = (now - since).max(Picoseconds(1)).0 as f64;
        let outputs = fitted!(self.routers.ports().outputs, u32);
        let name = if number < outputs {
            number + context.cut.first_output(self.number())
        } else {
            context.channel_of_injection(self.number(), number - outputs)
        };
        ChannelReport {
            name: context.network.channel_name(context.fabric, name),
            kind,
            // A packet that is granted a channel in the last moment counts in full.
            utilisation: (self.busy(number, now).0 as f64 / time).min(1.0),
            stalled: statistics.stalled.map(|by| by.map(|stalled| stalled.0 as f64 / time)),
            statistics,
        }
    }

    fn channel_statistics(&self, channel: u32) -> ChannelStatistics {
        let Self { common, routers, .. } = self;
        let mut flits = vec![0; usize::from(common.context.parameters.virtual_channels)];
        for (vc, &count) in (0..).zip(common.statistics.of(channel)) {
            flits[usize::from(common.context.vc_map.number(vc))] = count;
        }
        let stalled = common.statistics.stalled.get(channel as usize).copied().unwrap_or_default();
        ChannelStatistics {
            flits,
            flits_resent: routers.flits_resent(channel),
            stalled: routers.counts_stalls().then_some(stalled),
        }
    }
}
