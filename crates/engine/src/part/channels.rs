//! The statistics of a part's channels.

use super::Part;
use crate::frame::SimulatedPart;
use crate::frame::tick::{HORIZON, Tick};
use crate::router::Routers;
use flitlab_base::narrow::fitted;
use flitlab_base::units::Picoseconds;
use flitlab_model::{ChannelKind, ChannelReport, ChannelStatistics};

/// A channel of a part: its number, its kind, and the time of a flit.
type ListedChannel = (u32, ChannelKind, Tick);

/// The channels of a part in the order of the whole network: those to other routers and to
/// terminals, and those of injection.
#[derive(Debug)]
pub(crate) struct ChannelLists {
    outputs: Vec<ListedChannel>,
    injections: Vec<ListedChannel>,
}

impl<R: Routers> Part<'_, R> {
    fn lists(&self) -> &ChannelLists {
        let listed = |(number, kind)| (number, kind, self.flit_time(number));
        self.channels.get_or_init(|| ChannelLists {
            outputs: self.output_channels().map(listed).collect(),
            injections: self.injection_channels().map(listed).collect(),
        })
    }

    /// The time of a flit on a channel.
    fn flit_time(&self, channel: u32) -> Tick {
        let Self { common, hosts, routers, .. } = self;
        let timing = match (channel as usize).checked_sub(routers.ports().outputs) {
            None => routers.output(channel).timing,
            Some(injection) => {
                let channels = common.context.parameters.injection_channels as usize;
                hosts.sources.adapters[injection / channels].timing
            }
        };
        common.context.timing(timing).flit
    }

    /// Calls `each` with the kind of each channel to a router or a terminal, in order, and with its
    /// [busy](Self::busy) time.
    pub(crate) fn busy_outputs(
        &self,
        now: Picoseconds,
        mut each: impl FnMut(ChannelKind, Picoseconds),
    ) {
        let free_at = self.routers.outputs_free_at();
        for &(number, kind, flit) in &self.lists().outputs {
            let left = self.common.time(free_at[number as usize]).saturating_sub(now);
            each(kind, self.common.statistics.busy(number, flit, left));
        }
    }

    /// [`busy_outputs`](Self::busy_outputs), of injection channels.
    pub(crate) fn busy_injections(
        &self,
        now: Picoseconds,
        mut each: impl FnMut(ChannelKind, Picoseconds),
    ) {
        let outputs = self.routers.ports().outputs;
        for &(number, kind, flit) in &self.lists().injections {
            let free_at = self.hosts.sources.injections[number as usize - outputs].free_at;
            let left = self.common.time(free_at).saturating_sub(now);
            each(kind, self.common.statistics.busy(number, flit, left));
        }
    }

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
        let outputs = self.routers.outputs_free_at().into_iter();
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
        let outputs = self.routers.ports().outputs;
        let free_at = match (channel as usize).checked_sub(outputs) {
            None => self.routers.output_free_at(channel),
            Some(injection) => self.hosts.sources.injections[injection].free_at,
        };
        let left = self.common.time(free_at).saturating_sub(now);
        self.common.statistics.busy(channel, self.flit_time(channel), left)
    }

    /// The name of a channel.
    pub(crate) fn channel_name(&self, number: u32) -> String {
        let context = &*self.common.context;
        let outputs = fitted!(self.routers.ports().outputs, u32);
        let name = if number < outputs {
            number + context.cut.first_output(self.common.schedule.part)
        } else {
            context.channel_of_injection(self.common.schedule.part, number - outputs)
        };
        context.network.channel_name(context.fabric, name)
    }

    /// The report of a channel for a time since the reset, until `now`. Stalls must have been
    /// settled.
    pub(crate) fn report(
        &self,
        (number, kind): (u32, ChannelKind),
        (now, since): (Picoseconds, Picoseconds),
    ) -> ChannelReport {
        let statistics = self.channel_statistics(number);
        let time = (now - since).max(Picoseconds(1)).0 as f64;
        ChannelReport {
            name: self.channel_name(number),
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
