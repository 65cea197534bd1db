//! A simulation: the parts of a network, run by one thread or several.
//!
//! [`Engine`] is what users of the library see. It owns the parts, runs them through the frame, and
//! gathers counters, statistics and observations.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::time::Duration;

use super::frame::{ObservedPart, SimulatedPart, run_parts};
use super::interruption::FailureProgress;
use super::network_context::NetworkContext;
use super::next_hop;
use super::part::Part;
use super::tick::{END, HORIZON, MAX_HOP_TIME, Tick, tick};
use super::trace::Trace;
use super::{
    Acknowledgements, Backlog, Carried, ChannelKind, ChannelReport, Counters, Digest, Interruption,
    Observer, Parameters, Retry,
};
use flitlab_base::mix::Mix;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_model::Grant;
use flitlab_routing::Routes;
use flitlab_workload::traffic::{Application, Collectives, Workload};

/// Receives time, number of grants and digest so far.
type DigestLog<'f> = Box<dyn FnMut(Picoseconds, u64, Digest) + 'f>;

/// A simulation of one network, its routes and its traffic.
pub struct Engine<'f, O> {
    pub(super) context: Arc<NetworkContext<'f>>,
    pub(super) parts: Vec<ObservedPart<Part<'f>, O>>,
    /// The time within which a router cannot reach another one.
    window: Tick,
    pub(super) clock: Picoseconds,
    pub(super) statistics_since: Picoseconds,
    /// CPU time of all threads but the caller's.
    others: Duration,
    /// Called at every multiple of a window's length.
    log: Option<DigestLog<'f>>,
    pub(super) interruption: Option<(&'f Interruption, FailureProgress)>,
    pub(super) under_way_when_it_came: u64,
}

impl<'f, O: Observer> Engine<'f, O> {
    /// An empty network at time 0, simulated by at most `threads` threads. Results do not depend on
    /// the number of threads.
    ///
    /// The parameters must have been checked, as those of a scenario are:
    ///
    /// * at least one injection and one ejection channel;
    /// * latencies of at least a flit time;
    /// * buffers of two maximum packets;
    /// * at most [`MAX_FLITS`](super::MAX_FLITS) flits a packet;
    /// * as many virtual channels as the routes use.
    ///
    /// # Panics
    /// If a packet and a channel's latency can take longer than [`MAX_HOP_TIME`].
    pub fn new(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
    ) -> Self {
        Self::interrupted(threads, fabric, routes, parameters, workload, observer, None)
    }

    /// Makes a simulation like [`new`](Self::new), with a failure during operation if
    /// `interruption` is given.
    ///
    /// # Panics
    /// As [`new`](Self::new), and if there is an interruption but packets do not go by a forwarding
    /// table.
    pub fn interrupted(
        threads: usize,
        fabric: &'f Fabric,
        routes: &'f Routes,
        parameters: &Parameters,
        workload: Workload,
        observer: O,
        interruption: Option<&'f Interruption>,
    ) -> Self {
        let by_table = next_hop::is_by_table(routes);
        assert!(by_table || interruption.is_none(), "interruptions need forwarding tables");
        let stay = parameters.longest_stay(fabric.cable_classes());
        assert!(stay <= MAX_HOP_TIME, "a packet may take {stay} ps from router to router");
        let context =
            NetworkContext::new(threads, fabric, routes, parameters, &workload, interruption);
        let context = Arc::new(context);
        let window = window(&context, &workload);
        let parts = context.cut.parts();
        let terminals: Vec<_> = (0..parts).map(|part| context.cut.terminals(part)).collect();
        let mut observers: Vec<O> = terminals.iter().skip(1).map(|_| observer.fork()).collect();
        observers.insert(0, observer);
        let workloads = workload.split(&terminals).into_iter().zip(observers);
        let parts = workloads.enumerate().map(|(number, (workload, observer))| ObservedPart {
            part: Part::new(&context, number, workload, interruption),
            observer,
        });
        Self {
            parts: parts.collect(),
            context,
            window,
            clock: Picoseconds::ZERO,
            statistics_since: Picoseconds::ZERO,
            others: Duration::ZERO,
            log: None,
            interruption: interruption.map(|interruption| (interruption, FailureProgress::Ahead)),
            under_way_when_it_came: 0,
        }
    }

    /// Calls `log` with the time, the number of grants so far and their digest. The calls come at
    /// each multiple of a window's length (some 100 ns) and at the end. Two machines whose results
    /// differ find the first difference by comparing their logs.
    pub fn log(&mut self, log: impl FnMut(Picoseconds, u64, Digest) + 'f) {
        self.log = Some(Box::new(log));
    }

    /// Simulates everything up to and including `limit`, or [`END`] if that is earlier. Returns
    /// whether any event is left that could happen later.
    pub fn run_until(&mut self, limit: Picoseconds) -> bool {
        let limit = limit.min(END);
        let Some(mut log) = self.log.take() else { return self.run_quietly(limit) };
        let step = Picoseconds::from(self.window);
        let mut left = true;
        while left && self.clock < limit {
            let mark = step * (self.clock / step + 1);
            left = self.run_quietly(mark.min(limit));
            if self.clock == mark || !left {
                log(self.clock, self.counters().grants, self.digest());
            }
        }
        self.log = Some(log);
        left
    }

    fn run_quietly(&mut self, limit: Picoseconds) -> bool {
        while let Some((interruption, progress)) = self.interruption
            && let Some(due) = progress.due(interruption).filter(|&due| due <= limit)
        {
            self.run_parts_until(due);
            self.go_on_with(interruption, progress, due);
        }
        self.run_parts_until(limit)
    }

    fn run_parts_until(&mut self, limit: Picoseconds) -> bool {
        self.gather();
        let (left, others) = run_parts(&mut self.parts, self.window, limit);
        self.others += others;
        self.gather();
        // The rest may have been an attempt at an output that no packet asks for any more: then
        // time does not go back.
        let latest = self.parts.iter().map(|it| it.part.latest());
        self.clock = if left { limit } else { latest.fold(self.clock, Picoseconds::max) };
        debug_assert!(self.credits_are_conserved());
        left
    }

    /// Gathers the observations of all parts in the first part's observer.
    fn gather(&mut self) {
        let (first, others) = self.parts.split_first_mut().expect("there is a part");
        for part in others {
            first.observer.gather(&mut part.observer);
        }
    }

    /// The present time as a tick of a part.
    fn tick(&mut self, part: usize) -> Tick {
        let part = &mut self.parts[part].part;
        if self.clock.saturating_sub(part.schedule.epoch) >= Picoseconds::from(HORIZON) {
            part.rebase(self.clock);
        }
        tick(self.clock, part.schedule.epoch)
    }

    /// How far the simulation has come: the limit of the latest call, or the time of the last event
    /// if none is left.
    pub fn now(&self) -> Picoseconds {
        self.clock
    }

    /// The fingerprint of all grants so far.
    pub fn digest(&self) -> Digest {
        self.parts.iter().fold(Digest::default(), |digest, it| digest.and(it.part.digest))
    }

    /// Counts of work done so far.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.parts.iter().for_each(|it| counters.add(&it.part.counters));
        counters
    }

    /// CPU time of all threads but the caller's, waits for each other included.
    pub fn time_of_other_threads(&self) -> Duration {
        self.others
    }

    /// Packets that are in the network or on their way to a sink.
    pub fn packets_under_way(&self) -> usize {
        self.parts.iter().map(|it| it.part.packets.count).sum()
    }

    /// Messages that are queued at their sources or under way.
    pub fn messages_under_way(&self) -> u64 {
        let parts = self.parts.iter().map(|it| &it.part);
        let left = |part: &Part<'_>| (part.sources.messages_created, part.sink.messages_completed);
        let (created, completed) =
            parts.map(left).fold((0, 0), |sum, more| (sum.0 + more.0, sum.1 + more.1));
        created - completed - self.counters().messages_lost
    }

    /// Calls `each` with the contents of each terminal's source queues, in the order of terminals.
    pub fn backlogs(&self, mut each: impl FnMut(Backlog)) {
        for (number, part) in self.parts.iter().enumerate() {
            for terminal in self.context.cut.terminals(number) {
                let router = self.context.fabric.terminal_router(terminal);
                each(router.map_or_else(Backlog::default, |_| {
                    let own = self.context.in_part(terminal, number);
                    part.part.sources.adapters[own as usize].queue
                }));
            }
        }
    }

    /// Traces these packets from now on. A packet is given by its source and its number there.
    pub fn trace(&mut self, packets: impl IntoIterator<Item = (u32, u32)>) {
        let wanted: HashSet<_, BuildHasherDefault<Mix>> = packets.into_iter().collect();
        for part in &mut self.parts {
            part.part.trace = Some(Box::new(Trace::of(wanted.clone())));
        }
    }

    /// The grants of channels between routers to the packets of [`Self::trace`], in the order of
    /// time.
    pub fn traced(&self) -> Vec<Grant> {
        let traces = self.parts.iter().filter_map(|it| it.part.trace.as_ref());
        let mut grants: Vec<_> = traces.flat_map(|trace| &trace.grants).copied().collect();
        grants.sort_unstable();
        let grant = |(time, waited, channel, source, sequence)| Grant {
            channel: self.context.network.channel_name(self.context.fabric, channel),
            time,
            waited,
            source,
            sequence,
        };
        grants.into_iter().map(grant).collect()
    }

    fn workloads(&self) -> impl Iterator<Item = &Workload> {
        self.parts.iter().map(|it| &it.part.workload)
    }

    /// The application that is under way, by part of the network; empty if there is none.
    pub fn applications(&self) -> impl Iterator<Item = &Application> {
        self.workloads().filter_map(|workload| match workload {
            Workload::Application(application) => Some(&**application),
            _ => None,
        })
    }

    /// The operations of the collective subnetwork, by part of the network; empty if there are
    /// none.
    pub fn collectives(&self) -> impl Iterator<Item = &Collectives> {
        self.workloads().filter_map(Workload::collectives)
    }

    /// Whether all operations of the collective subnetwork are done; `true` if there are none.
    pub fn collectives_done(&self) -> bool {
        self.collectives().next().is_some() && Collectives::outcome(self.collectives()).is_ok()
    }

    /// The observer, with everything observed so far.
    pub fn observer(&mut self) -> &mut O {
        &mut self.parts[0].observer
    }

    /// Resets the statistics of channels: they count from now on.
    pub fn reset_channels(&mut self) {
        for part in 0..self.parts.len() {
            let now = self.tick(part);
            self.parts[part].part.reset_statistics(now);
        }
        self.statistics_since = self.clock;
    }

    /// The parts and their channels, in the order of the whole network: network and ejection
    /// channels, then injection channels.
    fn in_order(&self) -> impl Iterator<Item = (&Part<'f>, u32, ChannelKind)> {
        let (parts, context) = (&self.parts, &*self.context);
        let parts = || parts.iter().map(|it| &it.part);
        let outputs = parts().flat_map(|part| {
            let live = (0..).zip(part.ports.outputs());
            let live = live
                .filter(|(_, output)| output.kind == ChannelKind::Ejection || output.is_wired());
            live.map(move |(number, output)| (part, number, output.kind))
        });
        let injections = parts().flat_map(move |part| {
            let first = narrow::<u32>(part.ports.outputs);
            let channels = context.parameters.injection_channels;
            let live = context.cut.terminals(part.schedule.part);
            let live = live.filter(|&it| context.fabric.terminal_router(it).is_some());
            live.flat_map(move |terminal| {
                let own = first + context.in_part(terminal, part.schedule.part) * channels;
                (own..own + channels).map(move |number| (part, number, ChannelKind::Injection))
            })
        });
        outputs.chain(injections)
    }

    /// The statistics of each channel since the last reset, in the engine's order: by router,
    /// network then ejection channels; then injection channels.
    pub fn channels(&mut self) -> Vec<ChannelReport> {
        self.settle();
        self.in_order().map(|channel| self.report(channel)).collect()
    }

    /// The `most` channels that were busy for the longest time, in the engine's order, and the
    /// number of all channels. Among equally busy ones the first are taken.
    pub fn busiest_channels(&mut self, most: usize) -> (Vec<ChannelReport>, usize) {
        let all = self.in_order().count();
        if all <= most {
            return (self.channels(), all);
        }
        self.settle();
        let busy = self.in_order().enumerate();
        let mut busy: Vec<(Reverse<Picoseconds>, usize)> =
            busy.map(|(place, channel)| (Reverse(self.busy(channel)), place)).collect();
        busy.select_nth_unstable(most);
        let mut chosen = vec![false; all];
        busy[..most].iter().for_each(|&(_, place)| chosen[place] = true);
        let reports = self.in_order().zip(chosen).filter(|(_, chosen)| *chosen);
        (reports.map(|(channel, _)| self.report(channel)).collect(), all)
    }

    /// Counts all stalls until now.
    fn settle(&mut self) {
        for part in 0..self.parts.len() {
            let now = self.tick(part);
            self.parts[part].part.settle_stalls(now);
        }
    }

    /// Totals of all channels since the last reset. Takes time linear in channels.
    pub fn carried(&self) -> Carried {
        let mut carried =
            Carried { channels: self.context.fabric.channels() as u64, ..Carried::default() };
        let mut busiest = Picoseconds::ZERO;
        for channel in self.in_order() {
            let busy = self.busy(channel);
            busiest = busiest.max(busy);
            if channel.2 == ChannelKind::Network {
                carried.busy += u128::from(busy);
            }
        }
        carried.busiest =
            busiest.0 as f64 / (self.clock - self.statistics_since).max(Picoseconds(1)).0 as f64;
        carried
    }

    /// Time for which a part's channel has carried flits.
    fn busy(&self, (part, channel, _): (&Part<'f>, u32, ChannelKind)) -> Picoseconds {
        let outputs = part.ports.outputs;
        let (free_at, timing) = match (channel as usize).checked_sub(outputs) {
            None => (part.output_free_at(channel), part.ports.output(channel).timing),
            Some(injection) => {
                let channels = self.context.parameters.injection_channels as usize;
                let adapter = &part.sources.adapters[injection / channels];
                (part.sources.injections[injection].free_at, adapter.timing)
            }
        };
        let left = part.time(free_at).saturating_sub(self.clock);
        part.statistics.busy(channel, self.context.timing(timing).flit, left)
    }

    /// The report of a part's channel.
    fn report(&self, channel: (&Part<'f>, u32, ChannelKind)) -> ChannelReport {
        let (part, number, kind) = channel;
        let statistics = part.channel_statistics(number);
        let time = (self.clock - self.statistics_since).max(Picoseconds(1)).0 as f64;
        let outputs = narrow::<u32>(part.ports.outputs);
        let name = if number < outputs {
            number + self.context.cut.first_output(part.schedule.part)
        } else {
            self.context.channel_of_injection(part.schedule.part, number - outputs)
        };
        ChannelReport {
            name: self.context.network.channel_name(self.context.fabric, name),
            kind,
            // A packet that is granted a channel in the last moment counts in full.
            utilisation: (self.busy(channel).0 as f64 / time).min(1.0),
            stalled: statistics.stalled.map(|by| by.map(|stalled| stalled.0 as f64 / time)),
            statistics,
        }
    }

    /// Bytes of the engine's arrays before traffic, and per packet under way.
    pub fn memory(&self) -> (usize, usize) {
        let parts: usize = self.parts.iter().map(|it| it.part.memory()).sum();
        (parts + self.context.network.memory(), self.parts[0].part.packets.bytes())
    }
}

/// The window: the time within which a router cannot reach another one. It is the shorter of two
/// times: until a packet that is sent asks in the next router, and until the credits of a packet
/// that leaves are back. A terminal that comes to a barrier lets no other terminal go on sooner
/// either.
fn window(context: &NetworkContext<'_>, workload: &Workload) -> Tick {
    let parameters = &context.parameters;
    let links = context.timings_of(ChannelKind::Network).iter();
    let forward = links.clone().map(|link| link.forward).min().expect("a class of cables");
    let back = links.map(|link| link.back).min().expect("a class of cables");
    let least = workload.least_payload(parameters.maximum_payload.0);
    let flits = Tick::from(narrow::<u16>(parameters.packet_flits(least)));
    let combining = context.trees.as_ref().map(|trees| trees.flit);
    let fastest = context.timings().iter().map(|timing| timing.flit).chain(combining);
    let fastest = fastest.min().expect("three kinds");
    let window = if parameters.sharing.is_some() {
        forward.min(back)
    } else {
        (forward + context.routing).min(back + flits * fastest)
    };
    let window = match &parameters.errors {
        // A bad copy leaves its buffer when its last flit is there, and acknowledgements may be
        // sent at that time.
        Some(errors)
            if errors.retry == Retry::Stomp
                || errors.acknowledgements == Acknowledgements::Flits =>
        {
            window.min(back)
        }
        _ => window,
    };
    let Some(latency) = workload.barrier_latency() else { return window };
    // A terminal's time at a barrier is known when its last packet starts, or when the last packet
    // that it waits for leaves the network.
    let injections = context.timings_of(ChannelKind::Injection).iter();
    let injection = injections.map(|timing| timing.flit).min().expect("a class of cables");
    let ejections = context.timings_of(ChannelKind::Ejection).iter();
    let ejection = ejections.map(|timing| timing.forward).min().expect("a class of cables");
    let sent = Picoseconds::from(flits * injection);
    let received = Picoseconds::from(ejection) + parameters.receive_overhead;
    let barrier = latency + parameters.send_overhead + sent.min(received);
    window.min(narrow::<Tick>(barrier.min(MAX_HOP_TIME)))
}
