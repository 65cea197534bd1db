//! The statistics of a part's channels.

use super::Part;
use crate::frame::SimulatedPart;
use crate::frame::tick::{HORIZON, Tick};
use crate::router::Routers;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_model::{ChannelKind, ChannelReport, ChannelStatistics};

impl<R: Routers> Part<'_, R> {
    /// Counts all stalls of the part until the present time `clock`; waits go on. Returns the
    /// present time as a tick of the part.
    pub(crate) fn settle_stalls(&mut self, clock: Picoseconds) -> Tick {
        if clock.saturating_sub(self.common.schedule.epoch) >= Picoseconds::from(HORIZON) {
            self.rebase(clock);
        }
        let now = self.common.schedule.tick(clock);
        self.routers.settle_stalls(&mut self.common, now);
        now
    }

    /// Resets all statistics at the present time `clock`; waits go on.
    pub(crate) fn reset_statistics(&mut self, clock: Picoseconds) {
        let now = self.settle_stalls(clock);
        self.routers.reset_statistics();
        let statistics = &mut self.common.statistics;
        statistics.reset();
        let outputs = (0..fitted!(self.routers.ports().outputs, u32))
            .map(|output| self.routers.output_free_at(output));
        let injections = self.hosts.sources.injections.iter().map(|injection| injection.free_at);
        for (left, free_at) in statistics.carried_over.iter_mut().zip(outputs.chain(injections)) {
            *left = free_at.saturating_sub(now);
        }
    }

    /// The part's channels to other routers and to terminals, by number.
    pub(crate) fn output_channels(&self) -> impl Iterator<Item = (u32, ChannelKind)> {
        let all = 0..fitted!(self.routers.ports().outputs, u32);
        let all = all.map(|number| (number, self.routers.output(number)));
        let live =
            all.filter(|(_, output)| output.kind == ChannelKind::Ejection || output.is_wired());
        live.map(|(number, output)| (number, output.kind))
    }

    /// The injection channels of the part's live terminals, in the order of the whole network.
    pub(crate) fn injection_channels(&self) -> impl Iterator<Item = (u32, ChannelKind)> {
        let context = &*self.common.context;
        let (part, first) = (self.common.schedule.part, fitted!(self.routers.ports().outputs, u32));
        let channels = context.parameters.injection_channels;
        let live = context.cut.terminals(part);
        let live = live.filter(|&it| context.fabric.terminal_router(it).is_some());
        live.flat_map(move |terminal| {
            let own = first + context.in_part(terminal, part) * channels;
            (own..own + channels).map(|number| (number, ChannelKind::Injection))
        })
    }

    /// Time for which a channel has carried flits since the reset, until `now`.
    pub(crate) fn busy(&self, channel: u32, now: Picoseconds) -> Picoseconds {
        let Self { common, hosts, routers } = self;
        let ports = routers.ports();
        let (free_at, timing) = match (channel as usize).checked_sub(ports.outputs) {
            None => (routers.output_free_at(channel), routers.output(channel).timing),
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
    pub(crate) fn report(
        &self,
        (number, kind): (u32, ChannelKind),
        (now, since): (Picoseconds, Picoseconds),
    ) -> ChannelReport {
        let context = &*self.common.context;
        let statistics = self.channel_statistics(number);
        let time = (now - since).max(Picoseconds(1)).0 as f64;
        let outputs = fitted!(self.routers.ports().outputs, u32);
        let name = if number < outputs {
            number + context.cut.first_output(self.common.schedule.part)
        } else {
            context.channel_of_injection(self.common.schedule.part, number - outputs)
        };
        ChannelReport {
            name: context.network.channel_name(context.fabric, name),
            kind,
            // A packet that is granted a channel in the last moment counts in full.
            utilisation: (self.busy(number, now).0 as f64 / time).min(1.0),
            stalled: statistics.stalled.map(|by| by.map(|stalled| stalled.0 as f64 / time)),
            queue: statistics.waited.map(|waited| waited.0 as f64 / time),
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
            flits_by_class: common.statistics.by_class(channel).to_vec(),
            flits_resent: routers.flits_resent(channel),
            stalled: routers.counts_stalls().then_some(stalled),
            // What routers combine does not wait for one channel alone.
            waited: common
                .statistics
                .waited
                .get(channel as usize)
                .copied()
                .filter(|_| common.context.trees.is_empty()),
        }
    }
}
