//! A load on output-queued routers: all messages, from the first to the last.
//!
//! There is no warm-up, as in \[outflank\]: every packet counts. What is accepted is measured from
//! the end of the first quarter of the messages until the last ones are created; a load is steady if
//! what is under way grows little meanwhile.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::outcome::{Outcome, Work};
use super::rows::{channel_rows, latency_rows, whole, with_latencies, with_order};
use super::setup::Simulation;
use super::warnings::{
    FEW_MESSAGES, channels_warning, growing_warning, silent_warning, stalled_warning,
};
use crate::output_queued::{packets_of, routing};
use crate::{RoutingSpec, Scenario};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Bytes;
use flitlab_engine::{ChannelKind, ChannelReport, ChannelStatistics, Counters};
use flitlab_fabric::{Fabric, Torus};
use flitlab_measure::{Delivered, Logged, MAX_CHANNELS, Progress, jain_fairness};
use flitlab_output_queued::{
    self as output_queued, Creation, Keep, Measurement, Parameters, Settings, SimulationError,
    memory_needed, picoseconds, transmission,
};
use flitlab_report::{PointResult, PointRow, Status, WindowPhase, WindowRow};
use flitlab_routing::adaptive::Tie;
use flitlab_traffic::{LoadRates, LoadSpec};

/// A load on output-queued routers.
#[derive(Clone, Debug)]
pub(super) struct OutputQueuedRun<'s> {
    torus: &'s Torus,
    fabric: &'s Fabric,
    parameters: Parameters,
    settings: Settings,
}

impl<'s> OutputQueuedRun<'s> {
    /// The run of a scenario whose load is this fraction of the capacity; `None` if its routers are
    /// the engine's. What is asked for here was checked when the scenario was read.
    pub(super) fn of(scenario: &'s Scenario, load: f64) -> Option<Self> {
        let routers = *scenario.parameters.kind.output_queues()?;
        let (torus, _) = scenario.network.torus()?;
        let spec: &LoadSpec = scenario.workload.downcast_ref()?;
        let RoutingSpec::Adaptive(rules, ..) = &scenario.network.routing else { return None };
        let message_packets = packets_of(spec, routers.packet)?;
        let settings = Settings {
            pattern: spec.pattern.clone(),
            load,
            routing: routing(rules).ok()?,
            tie: rules.tie.unwrap_or(Tie::Plus),
            seed: scenario.seed,
        };
        let parameters = Parameters { message_packets, ..routers };
        Some(Self { torus, fabric: &scenario.network.fabric, parameters, settings })
    }

    /// Packets that are created in all.
    pub(super) fn packets(&self) -> u64 {
        let Parameters { messages, message_packets, .. } = self.parameters;
        u64::from(self.torus.nodes()) * u64::from(messages) * u64::from(message_packets)
    }

    /// The CPU time of a packet, from those that arrive within such a time; `None` if none does.
    pub(super) fn rehearse(&self, time: Duration) -> Option<Duration> {
        let begun = ThreadTime::now();
        let mut goes_on = || begun.elapsed() < time;
        let (parameters, settings) = (&self.parameters, &self.settings);
        let packets =
            output_queued::rehearse(self.torus, parameters, settings, &mut goes_on).ok()?;
        (packets > 0).then(|| begun.elapsed().div_f64(packets as f64))
    }

    /// Bytes that it takes.
    pub(super) fn memory(&self) -> u64 {
        // What is recorded: of each message how much has arrived, of each link what it has sent.
        let recorded = 4 * u64::from(self.parameters.messages)
            + u64::from(self.torus.directions()) * size_of::<[u64; 2]>() as u64;
        memory_needed(self.torus, &self.parameters) + u64::from(self.torus.nodes()) * recorded
    }

    /// What links between routers have carried: of at most [`MAX_CHANNELS`], the busiest.
    fn channels(&self, measured: &Measurement) -> Vec<ChannelReport> {
        let time = |bytes: Bytes| transmission(8 * bytes.0, self.parameters.external_rate);
        let (packet, answer) = (time(self.parameters.packet), time(self.parameters.answer));
        let busy = |link: usize| measured.sent[link][0] * packet + measured.sent[link][1] * answer;
        let mut links: Vec<usize> = (0..measured.sent.len()).collect();
        links.sort_by_key(|&link| Reverse(busy(link)));
        links.truncate(MAX_CHANNELS);
        links.sort_unstable();
        let directions = self.torus.directions() as usize;
        let report = |link: usize| {
            let (node, direction) = (narrow(link / directions), narrow::<u32>(link % directions));
            let flits = vec![measured.sent[link][0]];
            ChannelReport {
                name: self.fabric.channel_name(self.fabric.outputs(node).start + direction),
                kind: ChannelKind::Network,
                statistics: ChannelStatistics { flits, ..ChannelStatistics::default() },
                utilisation: busy(link) as f64 / measured.totals.end as f64,
                stalled: None,
                queue: None,
            }
        };
        links.into_iter().map(report).collect()
    }

    /// A row for the time from each creation of messages until the next one, or the end.
    fn windows(&self, measured: &Measurement) -> Vec<WindowRow> {
        let end = Creation { time: measured.totals.end, under_way: 0 };
        let ends = measured.creations.iter().skip(1).chain([&end]);
        let sent = transmission(8 * self.parameters.packet.0, self.parameters.external_rate) as f64;
        let (nodes, links) = (measured.payload.len() as f64, measured.sent.len() as f64);
        let row = |((from, to), delivered): ((&Creation, &Creation), &Delivered)| {
            let time = to.time.saturating_sub(from.time).max(1) as f64;
            let load = delivered.packets as f64 * sent / time / nodes / self.fabric.capacity();
            let mean = delivered.latency as f64 / delivered.packets as f64;
            WindowRow {
                phase: WindowPhase::Measured,
                start: picoseconds(from.time),
                end: picoseconds(to.time),
                accepted_load: Some(load),
                packet_latency_mean: (delivered.packets > 0).then(|| whole(mean)),
                flits_under_way: Some(to.under_way),
                utilisation_mean: Some(delivered.hops as f64 * sent / time / links),
                packets: Some(delivered.packets),
                ..WindowRow::default()
            }
        };
        measured.creations.iter().zip(ends).zip(&measured.windows).map(row).collect()
    }
}

impl Simulation {
    /// Simulates a load on output-queued routers.
    pub(super) fn run_output_queued(
        &self,
        run: &OutputQueuedRun<'_>,
        rates: &LoadRates,
        row: PointRow,
        progress: &mut dyn FnMut(Progress),
    ) -> Outcome {
        let begun = (ThreadTime::now(), Instant::now());
        let keep = Keep { order: self.scenario().measure.order, log: self.log_filter.clone() };
        let measured =
            output_queued::measure(run.torus, &run.parameters, &run.settings, keep, progress);
        let (found, logged, counters) = match measured {
            Ok(measured) => {
                let (packets, hops) = (measured.totals.packets, measured.totals.hops);
                let found = self.point_of(run, rates, row, &measured);
                let counters = Counters {
                    grants: found.measured.events,
                    packets_delivered: packets,
                    flits_created: packets,
                    flits_delivered: packets,
                    packet_hops: hops,
                    flit_hops: hops,
                    ..Counters::default()
                };
                (found, measured.logged, counters)
            }
            Err(SimulationError::Stalled { time, delivered }) => {
                let measured =
                    PointRow { status: Status::Livelock, simulated_time: Some(time), ..row };
                let warnings = vec![stalled_warning(time, delivered)];
                let found = PointResult { measured, warnings, ..PointResult::default() };
                (found, Logged::default(), Counters::default())
            }
            Err(error) => unreachable!("the scenario was checked: {error}"),
        };
        let work = Work {
            simulating: begun.0.elapsed(),
            elapsed: begun.1.elapsed(),
            counters,
            bytes_a_node: run.memory() as f64 / f64::from(run.torus.nodes()),
            ..Work::default()
        };
        Outcome { found, deadlock: None, logged, work }
    }

    /// The row of a run that has come to its end, and all that stands beside it.
    fn point_of(
        &self,
        run: &OutputQueuedRun<'_>,
        rates: &LoadRates,
        row: PointRow,
        measured: &Measurement,
    ) -> PointResult {
        let Measurement { totals, collector, .. } = measured;
        let growth = measured.growth();
        let status = match growth {
            None => Status::Undecided,
            Some(growth) if growth <= self.scenario().measure.growth => Status::Steady,
            Some(_) => Status::NotSteady,
        };
        // Bytes a picosecond are TB/s.
        let flit_time = self.scenario().parameters.link_flit_time().0 as f64;
        let capacity = self.fabric().capacity() * run.parameters.packet.0 as f64 / flit_time * 1e3;
        let payload = rates.payload / 1e9;
        let share = measured.accepted_share();
        let created = measured.created_of_each() * run.parameters.packet.0;
        let least = measured.payload.iter().min().map(|&least| least as f64 / created as f64);
        let mean = |sum: u128| sum as f64 / totals.packets as f64;
        let row = PointRow {
            status,
            capacity: Some(capacity),
            offered_load: Some(rates.fraction),
            offered_payload: Some(payload),
            accepted_load: share.map(|share| rates.fraction * share),
            accepted_payload: share.map(|share| payload * share),
            accepted_minimum_source: share.and(least).map(|least| payload * least),
            jain_fairness: share.and_then(|_| jain_fairness(measured.payload.iter().copied())),
            network_latency_mean: Some(whole(mean(collector.total.network_latency))),
            hops_mean: Some(mean(totals.hops.into())),
            simulated_time: Some(picoseconds(totals.end)),
            windows: Some(narrow(measured.windows.len())),
            // Each packet is granted its links, and those of its generator and its sink.
            events: totals.hops + totals.refused + 2 * totals.packets,
            digest: Some(totals.digest),
            ..with_latencies(row, collector.packet_latency(), collector.message_latency())
        };
        let row = PointRow {
            // The collector has picoseconds, each rounded.
            packet_latency_mean: Some(whole(totals.mean_lifetime())),
            packet_latency_max: Some(picoseconds(totals.lifetime_maximum)),
            ..self.with_derouted(row, collector.total.derouted_shares())
        };
        let row = with_order(row, collector.reordering());
        let channels = channel_rows(&run.channels(measured));
        let warnings = [
            growth.filter(|_| status == Status::NotSteady).map(|it| growing_warning(it, &row)),
            (status == Status::Undecided).then(|| FEW_MESSAGES.into()),
            silent_warning(self.bound[0].pattern.silent().count()),
            channels_warning(channels.len(), measured.sent.len()),
        ];
        PointResult {
            measured: row,
            channels,
            latencies: latency_rows(&collector.packet_latency_quantiles()),
            windows: run.windows(measured),
            warnings: warnings.into_iter().flatten().collect(),
            ..PointResult::default()
        }
    }
}
