//! One scenario, bound to its fabric, routes and traffic.
//!
//! A [`Simulation`] is what `flitlab check` prints and what `flitlab run` runs. Building it simulates
//! nothing.

use std::sync::OnceLock;

use super::output_queued::OutputQueuedRun;
use super::timeline::TimelineLog;
use crate::workload::{self, BoundMember, Share};
use crate::{InterruptionSpec, Network, RoutingError, Scenario};
use flitlab_base::memory::{Shortage, claim};
use flitlab_base::narrow::{rounded, rounded_down};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Engine, Failure, Interruption, Passage, memory_needed};
use flitlab_fabric::{Fabric, TreeError};
use flitlab_measure::{
    Bottleneck, Collector, CompletionBound, Forecast, LoadBound, LogFilter, Offered, ZeroLoad,
    forecast, load_bounds, looks_at_all_pairs,
};
use flitlab_report::DigestLog;
use flitlab_routing::Routes;
use flitlab_traffic::{LoadError, LoadRates, PatternError, Workload};

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
    pub(super) scenario: Scenario,
    /// The workloads, by class.
    pub(crate) bound: Vec<BoundMember>,
    pub(super) interruption: Option<Interruption>,
    threads: usize,
    digests: Option<DigestLog>,
    /// Whether an application is simulated twice, to know what its critical path waited for.
    pub(crate) traces_path: bool,
    /// Where the timeline of applications is written.
    pub(crate) timeline: Option<TimelineLog>,
    /// The most bars of the ranks' timelines that results have, of all applications together.
    pub(super) bars: usize,
    pub(super) log_filter: Option<LogFilter>,
    forecast: OnceLock<Forecast>,
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
