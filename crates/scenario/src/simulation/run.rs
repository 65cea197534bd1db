//! A simulation carried out, to the rows of its result.

use std::time::Instant;

use cpu_time::ThreadTime;

use super::checkpoint::Checkpoint;
use super::outcome::{Outcome, Work};
use super::rows::{
    channel_rows, failure_rows, latency_rows, pair_rows, status_of, whole, with_dropped,
    with_latencies, with_link_errors, with_order, with_recovery, without_results,
};
use super::setup::Simulation;
use super::warnings::{
    TOO_LONG, channels_warning, dropped_warning, livelock_warning, load_warnings, outgrown_warning,
};
use crate::RoutingSpec;
use crate::workload::{Ended, Hangs};
use flitlab_engine::{END, Engine, EngineState};
use flitlab_measure::{
    Collector, Ending, FiniteMeasurement, Halt, Halted, Logged, Offered, Outgrown, Progress,
    Snapshot, Span, Summary, Watch, Window, measure_finite, measure_interruption, measure_load,
    summary_until_now,
};
use flitlab_report::{DeadlockText, PointResult, PointRow, Status};
use flitlab_routing::adaptive::Misroute;
use flitlab_traffic::LoadRates;

/// A simulation whose end nobody waits for any longer.
pub(super) struct Unwaited<'f> {
    pub why: Outgrown,
    pub engine: Engine<'f, Collector>,
    /// The engine's memory at first.
    pub memory: (usize, usize),
    /// When it was built.
    pub built: (ThreadTime, Instant),
}

impl Simulation {
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

/// Brings an engine to where a checkpoint was taken, if it is to go on from one.
fn go_on(engine: &mut Engine<'_, Collector>, state: Option<EngineState<Collector>>) {
    if let Some(state) = state {
        assert!(engine.resume(state), "the checkpoint is another scenario's");
    }
}
