//! One scenario, from its checked form to its result rows.
//!
//! A [`Simulation`] is a scenario bound to its fabric, routes and traffic: what `flitlab check`
//! prints and what `flitlab run` runs. Building it simulates nothing.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::checkpoint::Checkpoint;
use super::output_queued::OutputQueuedRun;
use super::rows::{
    channel_rows, failure_rows, latency_rows, pair_rows, status_of, whole, with_dropped,
    with_latencies, with_link_errors, with_order, with_recovery, without_results,
};
use super::timeline::TimelineLog;
use super::warnings::{
    TOO_LONG, channels_warning, dropped_warning, livelock_warning, load_warnings, outgrown_warning,
};
use crate::workload::{self, BoundMember, Ended, Hangs, Share};
use crate::{InterruptionSpec, Network, RoutingError, RoutingSpec, Scenario};
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::{rounded, rounded_down};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{
    Counters, Deadlock, END, Engine, EngineState, Failure, Interruption, Passage, memory_needed,
};
use flitlab_fabric::{Fabric, TreeError};
use flitlab_measure::{
    Bottleneck, Collector, CompletionBound, Ending, FiniteMeasurement, Forecast, Halt, Halted,
    LoadBound, LogFilter, Logged, Offered, Outgrown, Progress, Snapshot, Span, Summary, Watch,
    Window, ZeroLoad, forecast, load_bounds, looks_at_all_pairs, measure_finite,
    measure_interruption, measure_load, summary_until_now,
};
use flitlab_report::{DeadlockText, DigestLog, PointResult, PointRow, Status};
use flitlab_routing::Routes;
use flitlab_routing::adaptive::Misroute;
use flitlab_workload::traffic::{LoadError, LoadRates, PatternError, Workload};

/// A simulation whose end nobody waits for any longer.
pub(super) struct Unwaited<'f> {
    pub why: Outgrown,
    pub engine: Engine<'f, Collector>,
    /// The engine's memory at first.
    pub memory: (usize, usize),
    /// When it was built.
    pub built: (ThreadTime, Instant),
}

/// Why a scenario can't be simulated. [`Scenario::read`] finds all of these beforehand, with their
/// places.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Routing(#[from] RoutingError),
    #[error(transparent)]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The workload can't be bound to the fabric, for another reason.
    #[error("{0}")]
    Workload(String),
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// There is too little memory for the simulator's arrays.
    #[error(transparent)]
    Memory(#[from] Shortage),
}

impl SetupError {
    /// The way out, where there is one to tell.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Memory(shortage) | Self::Routing(RoutingError::Memory(shortage)) => {
                Some(shortage.help())
            }
            _ => None,
        }
    }
}

/// The most bars of the ranks' timelines in the results of a point, of which a sweep may have many.
pub const BARS_OF_A_POINT: usize = 20_000;

/// The most bars of the ranks' timelines in the results of a run: some 10 MB of timeline.csv.
pub const BARS_OF_A_RUN: usize = 100_000;

/// A scenario bound to its fabric, routes and traffic.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    /// The workloads, by class.
    pub(crate) bound: Vec<BoundMember>,
    interruption: Option<Interruption>,
    threads: usize,
    digests: Option<DigestLog>,
    /// Whether an application is simulated twice, to know what its critical path waited for.
    pub(crate) traces_path: bool,
    /// Where the timeline of applications is written.
    pub(crate) timeline: Option<TimelineLog>,
    /// The most bars of the ranks' timelines that results have, of all applications together.
    bars: usize,
    pub(super) log_filter: Option<LogFilter>,
    forecast: OnceLock<Forecast>,
}

/// The outcome of a simulation.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub found: PointResult,
    /// With its packets, where the finding has a text.
    pub deadlock: Option<Deadlock>,
    /// Packets and messages, if they were asked for.
    pub logged: Logged,
    pub work: Work,
}

/// The cost of a simulation. It is no part of the results, since it differs from run to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// CPU time of all threads while simulating, and of this one while building what is simulated.
    pub simulating: Duration,
    pub building: Duration,
    /// Simulating, on the clock.
    pub elapsed: Duration,
    pub counters: Counters,
    /// Bytes of the simulator's arrays per node before traffic, and per packet under way.
    pub bytes_a_node: f64,
    pub bytes_a_packet: usize,
}

impl Work {
    /// Adds the cost of another simulation that belongs to this one.
    pub(super) fn add(&mut self, other: &Self) {
        self.simulating += other.simulating;
        self.building += other.building;
        self.elapsed += other.elapsed;
        self.counters.add(&other.counters);
    }

    /// CPU nanoseconds for each of `count` things.
    pub fn nanoseconds_each(&self, count: u64) -> f64 {
        self.simulating.as_nanos() as f64 / count.max(1) as f64
    }
}

impl Simulation {
    /// Makes the routes, if no other simulation of the network has, and the pattern.
    ///
    /// # Errors
    /// If a pair can't be routed, the pattern is not defined on the fabric, or there is too little
    /// memory.
    pub fn new(scenario: &Scenario) -> Result<Self, SetupError> {
        let network = &scenario.network;
        let routes = network.routes().map_err(Clone::clone)?;
        let collective = scenario.workload.is_collective();
        let simulator = match OutputQueuedRun::of(scenario, 1.0) {
            Some(run) => run.memory(),
            None => memory_needed(&network.fabric, &scenario.parameters, routes, collective),
        };
        let room = |traffic| claim("simulating this fabric", simulator.saturating_add(traffic));
        let bound = scenario.workload.bind(scenario, &room)?;
        let interruption = scenario.interruption.as_ref().map(|it| interruption(it, network));
        Ok(Self {
            scenario: scenario.clone(),
            bound,
            interruption: interruption.transpose()?,
            threads: 1,
            digests: None,
            traces_path: false,
            timeline: None,
            bars: BARS_OF_A_POINT,
            log_filter: None,
            forecast: OnceLock::new(),
        })
    }

    /// Runs with at most so many threads; otherwise with one. Results do not depend on them.
    #[must_use]
    pub fn on_threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Writes the digest in the course of the simulation to a log.
    #[must_use]
    pub fn logging(self, digests: DigestLog) -> Self {
        Self { digests: Some(digests), ..self }
    }

    /// Keeps the packets and messages that the filter lets through.
    #[must_use]
    pub fn logging_deliveries(self, filter: LogFilter) -> Self {
        Self { log_filter: Some(filter), ..self }
    }

    /// Simulates an application a second time, with an eye on the packets of its critical path, and
    /// finds the channels that they waited for.
    #[must_use]
    pub fn tracing_path(self) -> Self {
        Self { traces_path: true, ..self }
    }

    /// Writes what the ranks of applications do to a file.
    #[must_use]
    pub fn writing_timeline(self, timeline: TimelineLog) -> Self {
        Self { timeline: Some(timeline), ..self }
    }

    /// Has the results tell in up to so many bars what ranks of applications did over time, instead
    /// of [`BARS_OF_A_POINT`].
    #[must_use]
    pub fn with_bars(self, bars: usize) -> Self {
        Self { bars, ..self }
    }

    /// The most bars for each application.
    pub(crate) fn bars_of_each(&self) -> usize {
        let applications = self.shares().filter(|share| share.member().kind == "application");
        self.bars / applications.count().max(1)
    }

    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The most threads that it runs with.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub fn fabric(&self) -> &Fabric {
        &self.scenario.network.fabric
    }

    /// How the largest packets get across channels that err; `None` where links don't.
    pub fn passage(&self) -> Option<Passage> {
        self.scenario.parameters.passage(self.fabric().cable_classes())
    }

    pub fn routes(&self) -> &Routes {
        self.scenario.network.routes().expect("or there would be no simulation")
    }

    /// The workloads that send something, by class.
    pub fn shares(&self) -> impl Iterator<Item = Share<'_>> {
        let classes = (0..).zip(&self.bound).filter(|(_, member)| !member.is_silent);
        classes.map(|(class, _)| Share::new(self, class))
    }

    /// The workload, if it is the only one.
    pub(super) fn only(&self) -> Option<Share<'_>> {
        (!self.scenario.workload.are_several()).then(|| Share::new(self, 0))
    }

    /// The terminals that send something, ascending.
    pub fn senders(&self) -> Vec<u32> {
        let mut senders: Vec<u32> =
            self.shares().flat_map(|share| share.senders().iter().copied()).collect();
        senders.sort_unstable();
        senders.dedup();
        senders
    }

    /// Returns the forecast, which needs no simulation; looks at all pairs at the first call.
    pub fn forecast(&self) -> &Forecast {
        self.forecast.get_or_init(|| self.look_at_pairs())
    }

    /// Loads that no rule exceeds which goes by some ways, as far as `work` allows; none where it is
    /// known which ways packets take, or of what comes to an end.
    pub fn load_bounds(&self, work: u64) -> Vec<LoadBound> {
        let Routes::Relation(routes) = self.routes() else { return Vec::new() };
        if self.scenario.workload.is_finite() {
            return Vec::new();
        }
        let (parameters, senders) = (&self.scenario.parameters, self.senders().len());
        load_bounds(self.fabric(), routes, parameters, &self.streams(), senders, work)
    }

    /// How soon a finite workload can be over at best by what channels carry; `None` for a load,
    /// where packets may be dropped, and where too many messages would have to be looked at.
    pub fn completion_bound(&self) -> Option<CompletionBound> {
        let only = self.only()?;
        // What is dropped need not arrive.
        if self.scenario.parameters.head_of_queue_lifetime.is_some() {
            return None;
        }
        only.member().workload.completion_bound(only)
    }

    fn look_at_pairs(&self) -> Forecast {
        let (parameters, senders) = (&self.scenario.parameters, self.senders().len());
        forecast(self.fabric(), self.routes(), parameters, &self.streams(), senders)
    }

    /// Simulates to the end.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Outcome {
        self.run_from(None, progress, &mut |_| {})
    }

    /// Runs from a checkpoint of this scenario. `keep` is called again and again with all that is
    /// needed to resume from there ([`Checkpoint`]).
    ///
    /// # Panics
    /// If the checkpoint is another scenario's, or was taken on another number of threads.
    pub fn run_from(
        &self,
        checkpoint: Option<Checkpoint>,
        progress: &mut dyn FnMut(Progress),
        keep: &mut dyn FnMut(Snapshot<'_>),
    ) -> Outcome {
        let (state, from) = checkpoint.map(|it| (it.engine, it.standing)).unzip();
        let row = PointRow {
            nodes: u32::try_from(self.fabric().live_terminals().count()).ok(),
            ..PointRow::default()
        };
        let only = self.only().map(|only| only.member().workload.without_network(&row));
        if let Some(outcome) = only.flatten() {
            return outcome;
        }
        if let Some((run, rates)) = self.output_queued() {
            return self.run_output_queued(&run, &rates, row, progress);
        }
        let watch = &mut Watch { progress, keep, from };
        let mut outcome = match self.offered_load() {
            Some((rates, offered)) => self.run_load(rates, &offered, row, state, watch),
            None => self.run_finite(row, state, watch),
        };
        self.tell_slowdowns(&mut outcome, progress);
        outcome
    }

    /// The run of a load on output-queued routers; `None` if the routers are the engine's.
    pub(super) fn output_queued(&self) -> Option<(OutputQueuedRun<'_>, LoadRates)> {
        let rates = self.load()?;
        Some((OutputQueuedRun::of(&self.scenario, rates.fraction)?, rates))
    }

    /// With what another simulation of the same network, parameters and pattern says of the pairs.
    #[must_use]
    pub(super) fn with_forecast(self, forecast: Forecast) -> Self {
        Self { forecast: forecast.into(), ..self }
    }

    /// The traffic from its beginning.
    pub fn workload(&self) -> Box<dyn Workload> {
        workload::whole(self)
    }

    /// Returns the rates of the load that is measured, and the facts that the measurement needs;
    /// `None` for what comes to an end.
    pub(super) fn offered_load(&self) -> Option<(LoadRates, Offered)> {
        let rates = self.load().filter(|_| !self.scenario.workload.is_finite())?;
        Some((rates, self.offered(&rates)))
    }

    pub(super) fn engine(&self, workload: Box<dyn Workload>) -> Engine<'_, Collector> {
        let mut engine = self.engine_without_logs(workload, self.log_filter.as_ref());
        if let Some(digests) = self.digests.clone() {
            engine.log(move |time, grants, digest| digests.add(time, grants, digest));
        }
        engine
    }

    /// An engine whose digests are not written, for what is simulated once more.
    pub(crate) fn engine_without_logs(
        &self,
        workload: Box<dyn Workload>,
        log_filter: Option<&LogFilter>,
    ) -> Engine<'_, Collector> {
        let mut collector = Collector::new(self.fabric().terminals());
        if self.scenario.measure.order {
            collector = collector.following_order();
        }
        collector = collector.telling_latencies_by(self.scenario.measure.latency_by);
        if let Some(filter) = log_filter {
            collector = collector.logging(filter.clone());
        }
        let (fabric, routes) = (self.fabric(), self.routes());
        let mut parameters = self.scenario.parameters.clone();
        // The workloads know them then.
        if self.bound.iter().any(|member| member.has_host_overheads) {
            (parameters.send_overhead, parameters.receive_overhead) =
                (Picoseconds::ZERO, Picoseconds::ZERO);
        }
        let (threads, interruption) = (self.threads, self.interruption.as_ref());
        Engine::interrupted(threads, fabric, routes, &parameters, workload, collector, interruption)
    }

    fn run_load(
        &self,
        rates: LoadRates,
        offered: &Offered,
        row: PointRow,
        state: Option<EngineState<Collector>>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let started = ThreadTime::now();
        let senders = self.senders();
        let LoadRates { fraction, payload, .. } = rates;
        let mut engine = self.engine(self.workload());
        go_on(&mut engine, state);
        let memory = engine.memory();
        let built = (ThreadTime::now(), Instant::now());
        let settings = &self.scenario.measure;
        let measured = match &self.interruption {
            None => measure_load(&mut engine, offered, &senders, settings, watch),
            Some(it) => measure_interruption(&mut engine, it, offered, &senders, settings, watch),
        };
        let logged = engine.observer().logged();
        let work = self.work(&engine, started, built, memory);
        let capacity = self.fabric().capacity();
        let to_fraction = 1.0 / capacity;
        let parameters = &self.scenario.parameters;
        // Bytes a picosecond are TB/s.
        let flit_rate = parameters.flit.0 as f64 / parameters.link_flit_time().0 as f64 * 1e3;
        let interval = measured.packet_latency_interval;
        let row = PointRow {
            capacity: Some(capacity * flit_rate),
            status: status_of(&measured.ending),
            offered_load: Some(fraction),
            offered_payload: Some(payload / 1e9),
            accepted_load: Some(measured.accepted_flits * to_fraction),
            accepted_load_ci95: measured.accepted_flits_half_width.map(|half| half * to_fraction),
            accepted_payload: Some(measured.accepted_payload / 1e9),
            accepted_minimum_source: Some(measured.accepted_payload_minimum / 1e9),
            jain_fairness: measured.fairness,
            packet_latency_mean_ci95: interval.and_then(|it| it.half_width).map(whole),
            effective_windows: interval.map(|it| it.effective_windows),
            simulated_time: Some(measured.warm_up + measured.measured),
            warm_up: Some(measured.warm_up),
            windows: Some(measured.windows),
            ..with_recovery(row, &measured.ending)
        };
        let row = self.with_summary(row, &measured.summary);
        let drops = self.scenario.parameters.head_of_queue_lifetime.is_some();
        let dropped = if drops { dropped_warning(&row) } else { None };
        let stuck = matches!(row.status, Status::Deadlock | Status::Livelock);
        let row = if stuck { without_results(row) } else { row };
        let channels = channel_rows(&measured.summary.channels);
        let quantiles = if stuck { &[] } else { &measured.summary.packet_latency_quantiles[..] };
        let latencies = latency_rows(quantiles);
        let windows = self.window_rows(&engine, &measured.history);
        let mut warnings = load_warnings(&measured, fraction, &row, &self.scenario);
        match &measured.ending {
            Ending::Deadlock(_) => warnings.extend(self.scenario.deadlock_advice()),
            Ending::Livelock(livelock) => {
                warnings.push(livelock_warning(*livelock, self.passage()));
            }
            _ => {}
        }
        warnings.extend(dropped);
        warnings.extend(channels_warning(channels.len(), measured.summary.all_channels));
        let workloads = if stuck {
            self.rows_without_results(row.status)
        } else if self.only().is_some() {
            Vec::new()
        } else {
            self.rows_of_loads(row.status, &measured.summary.classes, measured.measured)
        };
        let failures = failure_rows(&measured.ending);
        let deadlock = match measured.ending {
            Ending::Deadlock(deadlock) => Some(deadlock),
            _ => None,
        };
        let pairs = if stuck { &[] } else { &measured.summary.latencies_by_pair[..] };
        let found = PointResult {
            measured: row,
            channels,
            latencies,
            windows,
            pairs: pair_rows(self.fabric(), pairs),
            workloads,
            warnings,
            deadlock: deadlock.as_ref().map(DeadlockText::from),
            failures,
            ..PointResult::default()
        };
        Outcome { found, deadlock, logged, work }
    }

    /// Returns the cost of a simulation that was begun, and built, at these times, with this memory
    /// at first.
    fn work(
        &self,
        engine: &Engine<'_, Collector>,
        started: ThreadTime,
        built: (ThreadTime, Instant),
        memory: (usize, usize),
    ) -> Work {
        Work {
            simulating: built.0.elapsed() + engine.time_of_other_threads(),
            building: built.0.duration_since(started),
            elapsed: built.1.elapsed(),
            counters: engine.counters(),
            bytes_a_node: memory.0 as f64 / f64::from(self.fabric().routers()),
            bytes_a_packet: memory.1,
        }
    }

    /// Fills in the shares of derouted packets, by kind, as far as the routing has that kind.
    pub(super) fn with_derouted(
        &self,
        row: PointRow,
        shares: Option<[f64; Misroute::KINDS.len()]>,
    ) -> PointRow {
        let kinds: &[Misroute] = match &self.scenario.network.routing {
            RoutingSpec::Adaptive(rules, ..) => rules.non_minimal.kinds(),
            RoutingSpec::Relation(spec) => spec.misroutes(),
            _ => &[],
        };
        let share = |kind| {
            let place = kinds.contains(&kind).then_some(kind as usize)?;
            Some(shares?[place])
        };
        PointRow {
            derouted_outflank: share(Misroute::OutFlank),
            derouted_wraparound: share(Misroute::Wraparound),
            derouted_orthant: share(Misroute::Orthant),
            derouted_at_source: share(Misroute::AtSource),
            derouted_on_the_way: share(Misroute::OnTheWay),
            ..row
        }
    }

    /// Returns the facts about the load that the measurement needs.
    fn offered(&self, rates: &LoadRates) -> Offered {
        let parameters = &self.scenario.parameters;
        let flit_time = parameters.link_flit_time();
        let all = self.senders().len() as f64 / flit_time.0 as f64;
        let flits = rates.flits * all;
        let loads = || self.shares().map(Share::member).filter(|it| it.workload.load().is_some());
        let flits_of_packet = |bytes: u64| {
            u64::from(parameters.packet_flits(bytes.min(parameters.maximum_payload.0)))
        };
        let packets_of = |bytes: u64| {
            let (full, rest) = parameters.packets(bytes);
            (full + u64::from(rest.is_some())) as f64
        };
        // All pairs of nodes are looked at for these: seconds in a large network.
        let bound = looks_at_all_pairs(&self.streams())
            .then(|| self.forecast().bottleneck.as_ref())
            .flatten()
            .map(|it| Bottleneck { name: it.name.clone(), load: it.load * rates.flits });
        let settled = self.scenario.measure.window.is_some();
        let zero_load = (!settled).then(|| {
            let packet: Picoseconds = rounded_down(self.forecast().zero_load_mean);
            // Of many sizes the one in which a byte travels in the mean.
            let behind = loads().map(|load| {
                let bytes = rounded(load.message.0.mean_of_bytes());
                parameters.message_flits(bytes) - flits_of_packet(bytes)
            });
            let behind = behind.max().unwrap_or(0);
            let slowest = self.fabric().cable_classes().iter().map(|&class| {
                parameters
                    .injection_flit_time_of(class)
                    .max(parameters.flit_time_of(class))
                    .max(parameters.ejection_flit_time_of(class))
            });
            let slowest = slowest.max().expect("a class of cables");
            ZeroLoad { packet, message: packet + slowest * behind }
        });
        let packets = self.shares().filter_map(|share| {
            let (rates, senders) = (share.load()?, share.senders().len() as f64);
            let sizes = &share.member().message.0;
            let senders = senders / flit_time.0 as f64;
            Some(match sizes.only() {
                Some(bytes) => rates.flits * senders / flits_of_packet(bytes) as f64,
                None => rates.messages * senders * sizes.mean_of(packets_of),
            })
        });
        // A window has so many more of them as their sizes scatter.
        let scatter = loads().map(|load| load.message.0.mean_of_bytes() / load.message.0.mean());
        let scatter = scatter.filter(|it| it.is_finite()).fold(1.0, f64::max);
        Offered {
            flits,
            packets: packets.sum(),
            messages: rates.messages * all / scatter,
            flit_time,
            random: rates.random || self.routes().draws(),
            cycle: rates.cycle,
            zero_load,
            bound,
        }
    }

    fn run_finite(
        &self,
        row: PointRow,
        state: Option<EngineState<Collector>>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let started = ThreadTime::now();
        let workload = self.workload();
        let (messages, span) = (workload.messages(), self.span(watch));
        let span = match span {
            Ok(span) => span,
            Err(unwaited) => return self.outgrown(*unwaited, row, started),
        };
        let mut engine = self.engine(workload);
        go_on(&mut engine, state);
        let memory = engine.memory();
        let built = (ThreadTime::now(), Instant::now());
        let measured = measure_finite(&mut engine, messages, self.senders().len(), span, watch);
        let logged = engine.observer().logged();
        let work = self.work(&engine, started, built, memory);
        let classes = engine.observer().by_class();
        // Of a point that does not come to its end.
        let unfinished = |status, time, warnings, history: &[Window]| {
            let measured = PointRow {
                status,
                simulated_time: Some(time),
                events: engine.counters().grants,
                digest: Some(engine.digest().0),
                ..row.clone()
            };
            let windows = self.window_rows(&engine, history);
            let mut found = PointResult { measured, warnings, windows, ..PointResult::default() };
            self.rows_of_unfinished(&engine, status, &classes, None, &mut found);
            found
        };
        let outcome = |found, deadlock| Outcome { found, deadlock, logged, work };
        let measured = match measured {
            Ok(measured) => measured,
            Err(Halted { why: Halt::Livelock(livelock), history }) => {
                let warnings = vec![livelock_warning(livelock, self.passage())];
                let found = unfinished(Status::Livelock, engine.now(), warnings, &history);
                return outcome(found, None);
            }
            Err(Halted { why: Halt::Deadlock(deadlock), history }) => {
                let warnings = self.scenario.deadlock_advice().into_iter().collect();
                let mut found = unfinished(Status::Deadlock, deadlock.time, warnings, &history);
                found.deadlock = Some((&deadlock).into());
                return outcome(found, Some(deadlock));
            }
        };
        if engine.now() == END {
            let warnings = vec![TOO_LONG.into()];
            return outcome(unfinished(Status::TooLong, END, warnings, &measured.history), None);
        }
        let ended = PointRow {
            status: Status::Completed,
            completion_time: Some(measured.completion),
            bandwidth: Some(measured.bandwidth / 1e9),
            simulated_time: Some(measured.completion),
            ..row.clone()
        };
        let mut found = self.result_of(&engine, ended, &measured.summary, &measured.history);
        if let Err(Hangs { time, warning }) = self.finish(&engine, &measured, span, &mut found) {
            found = unfinished(Status::Stuck, time, vec![warning], &measured.history);
        }
        outcome(found, None)
    }

    /// The outcome of what comes to an end beside loads that leave it no room, in a simulation that was
    /// begun at this time: what was measured until it was ended, as of a load that is not steady.
    fn outgrown(&self, unwaited: Unwaited<'_>, row: PointRow, started: ThreadTime) -> Outcome {
        let Unwaited { why: Outgrown { time, growth, history }, mut engine, memory, built } =
            unwaited;
        let summary = summary_until_now(&mut engine);
        let status = Status::NotSteady;
        let row = PointRow { status, simulated_time: Some(time), ..row };
        let mut found = self.result_of(&engine, row, &summary, &history);
        found.warnings.insert(0, outgrown_warning(time, growth));
        self.rows_of_unfinished(&engine, status, &summary.classes, Some(time), &mut found);
        let work = self.work(&engine, started, built, memory);
        Outcome { found, deadlock: None, logged: Logged::default(), work }
    }

    /// The result of what comes to an end: its row with all that the summary tells, and the rows
    /// beside it.
    fn result_of(
        &self,
        engine: &Engine<'_, Collector>,
        row: PointRow,
        summary: &Summary,
        history: &[Window],
    ) -> PointResult {
        let measured = self.with_summary(row, summary);
        let channels = channel_rows(&summary.channels);
        let warnings = channels_warning(channels.len(), summary.all_channels);
        PointResult {
            warnings: warnings.into_iter().chain(dropped_warning(&measured)).collect(),
            measured,
            channels,
            latencies: latency_rows(&summary.packet_latency_quantiles),
            pairs: pair_rows(self.fabric(), &summary.latencies_by_pair),
            windows: self.window_rows(engine, history),
            ..PointResult::default()
        }
    }

    /// Fills in what the summary of any measurement tells.
    fn with_summary(&self, row: PointRow, summary: &Summary) -> PointRow {
        let Summary { counters, .. } = summary;
        let row = PointRow {
            network_latency_mean: summary.network_latency.map(whole),
            hops_mean: summary.hops,
            events: counters.grants,
            digest: Some(summary.digest.0),
            ..with_latencies(row, summary.packet_latency, summary.message_latency)
        };
        let row = with_order(self.with_derouted(row, summary.derouted), summary.reordering);
        let row = with_link_errors(row, &self.scenario.parameters, counters);
        let drops = self.scenario.parameters.head_of_queue_lifetime.is_some();
        with_dropped(row, drops, counters)
    }

    /// Adds what the workloads say when nothing is left to happen.
    ///
    /// # Errors
    /// Why one of them hangs, if it did not come to its end.
    fn finish(
        &self,
        engine: &Engine<'_, Collector>,
        measured: &FiniteMeasurement,
        span: Option<Span>,
        found: &mut PointResult,
    ) -> Result<(), Hangs> {
        if let Some(only) = self.only() {
            let &FiniteMeasurement { completion, messages, .. } = measured;
            let ended = Ended { share: only, engine, completion, messages };
            return only.member().workload.finish(&ended, found);
        }
        self.finish_several(engine, &measured.summary.classes, span, found)
    }
}

/// The failures of a scenario's interruption, and the routes of what each leaves, made as the first.
fn interruption(spec: &InterruptionSpec, network: &Network) -> Result<Interruption, SetupError> {
    let refuse = |reason: String| SetupError::Routing(RoutingError::NoTable(reason));
    let changes = network.table_changes(spec).map_err(|error| refuse(error.to_string()))?;
    let mut failures: Vec<Failure> = Vec::new();
    for (number, failure) in spec.failures.iter().enumerate() {
        let before = failures.last().map_or(&network.fabric, |before| &before.left);
        let left = failure.failed.apply(before).map_err(|error| refuse(error.to_string()))?;
        let change = changes.iter().find(|change| change.failures.end == number + 1);
        let new = change.map(|change| {
            let routes = change.network.routes().map_err(Clone::clone)?.clone();
            Ok::<_, RoutingError>((change.ready, routes))
        });
        failures.push(Failure { at: failure.time, left, new: new.transpose()? });
    }
    Ok(Interruption::new(&network.fabric, failures))
}

/// Brings an engine to where a checkpoint was taken, if it is to go on from one.
fn go_on(engine: &mut Engine<'_, Collector>, state: Option<EngineState<Collector>>) {
    if let Some(state) = state {
        assert!(engine.resume(state), "the checkpoint is another scenario's");
    }
}
