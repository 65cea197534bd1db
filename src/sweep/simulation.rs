//! One scenario, from its checked form to its result rows.
//!
//! A [`Simulation`] is a scenario bound to its fabric, routes and traffic: what `flitlab check` prints and
//! what `flitlab run` runs. Building it simulates nothing.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use super::checkpoint::Checkpoint;
use super::rows::{
    channel_rows, exchange_row, latency_rows, whole, window_row, with_latencies, with_recovery,
    without_results,
};
use super::warnings::{channels_warning, load_warnings};
use crate::adaptive::Derouting;
use crate::engine::{Counters, Deadlock, Engine, EngineState, Interruption, memory_needed};
use crate::measure::{
    Bottleneck, Collector, CompletionBound, Ending, Offered, Outlook, Progress, Snapshot, Watch,
    ZeroLoad, completion_bound, looks_at_all_pairs, measure_exchange, measure_interruption,
    measure_load, outlook,
};
use crate::memory::{Shortage, claim};
use crate::narrow::rounded_down;
use crate::report::{DigestLog, Finding, FoundDeadlock, Measured, Status, WindowRow};
use crate::routing::Routes;
use crate::scenario::{
    InterruptionSpec, Network, RoutingError, RoutingSpec, Scenario, WorkloadSpec,
};
use crate::topology::Fabric;
use crate::traffic::{Exchange, LoadError, LoadSpec, OpenLoad, Pattern, PatternError, Workload};
use crate::units::Picoseconds;

/// Why a scenario can't be simulated. [`Scenario::read`] finds all of these beforehand, with their
/// places.
#[derive(Clone, Debug, PartialEq)]
pub enum SetupError {
    Routing(RoutingError),
    Pattern(PatternError),
    Load(LoadError),
    /// There is too little memory for the simulator's arrays.
    Memory(Shortage),
}

impl SetupError {
    /// The way out, where there is one to tell.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Memory(shortage) | Self::Routing(RoutingError::Memory(shortage)) => {
                Some(shortage.help())
            }
            _ => None,
        }
    }
}

impl fmt::Display for SetupError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routing(error) => error.fmt(formatter),
            Self::Pattern(error) => error.fmt(formatter),
            Self::Load(error) => error.fmt(formatter),
            Self::Memory(shortage) => shortage.fmt(formatter),
        }
    }
}

impl std::error::Error for SetupError {}

/// A scenario bound to its fabric, routes and traffic.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
    traffic: Traffic,
    interruption: Option<Interruption>,
    threads: usize,
    digests: Option<DigestLog>,
    outlook: OnceLock<Outlook>,
}

/// The traffic, before anything has been sent.
#[derive(Debug)]
enum Traffic {
    Load(OpenLoad),
    Exchange(Pattern),
}

/// What a simulation gave.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub found: Finding,
    /// With its packets, where the finding has a text.
    pub deadlock: Option<Deadlock>,
    pub work: Work,
}

/// What a simulation cost. No part of the results: it differs from run to run.
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
    fn new(
        started: ThreadTime,
        built: (ThreadTime, Instant),
        counters: Counters,
        memory: (usize, usize),
        nodes: u32,
        others: Duration,
    ) -> Self {
        Self {
            simulating: built.0.elapsed() + others,
            building: built.0.duration_since(started),
            elapsed: built.1.elapsed(),
            counters,
            bytes_a_node: memory.0 as f64 / f64::from(nodes),
            bytes_a_packet: memory.1,
        }
    }

    /// CPU nanoseconds for each of `count` things.
    #[must_use]
    pub fn nanoseconds_each(&self, count: u64) -> f64 {
        self.simulating.as_nanos() as f64 / count.max(1) as f64
    }
}

impl Simulation {
    /// Makes the routes, if no other simulation of the network has, and the pattern.
    ///
    /// # Errors
    /// If a pair can't be routed, the pattern is not defined on the fabric, or there is too little memory.
    pub fn new(scenario: &Scenario) -> Result<Self, SetupError> {
        let fabric = &scenario.network.fabric;
        let routes = scenario.network.routes();
        let routes = routes.map_err(|error| SetupError::Routing(error.clone()))?;
        let parameters = &scenario.parameters;
        let engine = memory_needed(fabric, parameters, routes);
        let room = |traffic: u64| {
            claim("simulating this fabric", engine.saturating_add(traffic))
                .map_err(SetupError::Memory)
        };
        let traffic = match &scenario.workload {
            WorkloadSpec::Load(spec) => {
                room(OpenLoad::memory_needed(fabric.terminals()))?;
                let flits_of = |bytes| parameters.message_flits(bytes);
                let slot = parameters.link_flit_time();
                let load = OpenLoad::new(spec, fabric, slot, flits_of, scenario.seed);
                Traffic::Load(load.map_err(SetupError::Load)?)
            }
            WorkloadSpec::Exchange(spec) => {
                let pattern = Pattern::new(&spec.pattern, fabric, scenario.seed)
                    .map_err(SetupError::Pattern)?;
                let steps = pattern.steps().unwrap_or(0);
                room(Exchange::memory_needed(spec, steps, fabric.terminals()))?;
                Traffic::Exchange(pattern)
            }
        };
        let interruption =
            scenario.interruption.as_ref().map(|it| interruption(it, &scenario.network));
        Ok(Self {
            scenario: scenario.clone(),
            traffic,
            interruption: interruption.transpose()?,
            threads: 1,
            digests: None,
            outlook: OnceLock::new(),
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

    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    #[must_use]
    pub fn fabric(&self) -> &Fabric {
        &self.scenario.network.fabric
    }

    fn routes(&self) -> &Routes {
        self.scenario.network.routes().expect("or there would be no simulation")
    }

    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        match &self.traffic {
            Traffic::Load(load) => load.pattern(),
            Traffic::Exchange(pattern) => pattern,
        }
    }

    /// The traffic of a load point; `None` for a finite exchange.
    #[must_use]
    pub fn load(&self) -> Option<&OpenLoad> {
        match &self.traffic {
            Traffic::Load(load) => Some(load),
            Traffic::Exchange(_) => None,
        }
    }

    /// The terminals that send something.
    #[must_use]
    pub fn senders(&self) -> Vec<u32> {
        self.fabric()
            .live_terminals()
            .filter(|&terminal| self.pattern().rate(terminal) > 0.0)
            .collect()
    }

    /// What can be said without simulating; looks at all pairs at the first call.
    pub fn outlook(&self) -> &Outlook {
        self.outlook.get_or_init(|| self.look_at_pairs())
    }

    /// How soon a finite exchange can be over at best; `None` for a load, and where too many messages would have
    /// to be looked at.
    #[must_use]
    pub fn completion_bound(&self) -> Option<CompletionBound> {
        let WorkloadSpec::Exchange(spec) = &self.scenario.workload else { return None };
        let parameters = &self.scenario.parameters;
        completion_bound(self.fabric(), self.routes(), parameters, self.pattern(), spec)
    }

    fn look_at_pairs(&self) -> Outlook {
        let (bytes, access) = match &self.scenario.workload {
            WorkloadSpec::Load(load) => (load.message.0, load.access),
            WorkloadSpec::Exchange(exchange) => (exchange.message.0, exchange.access),
        };
        let parameters = &self.scenario.parameters;
        outlook(self.fabric(), self.routes(), parameters, self.pattern(), bytes, access)
    }

    /// Simulates to the end.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Outcome {
        self.run_from(None, progress, &mut |_| {})
    }

    /// The same from where a checkpoint was taken of the same scenario. `keep` is shown again and again all that it
    /// takes to go on from there ([`Checkpoint`]).
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
        let watch = &mut Watch { progress, keep, from };
        let row = Measured {
            nodes: u32::try_from(self.fabric().live_terminals().count()).ok(),
            ..Measured::default()
        };
        match (&self.traffic, &self.scenario.workload) {
            (Traffic::Load(load), WorkloadSpec::Load(spec)) => {
                self.run_load(load.clone(), spec, row, state, watch)
            }
            (Traffic::Exchange(pattern), WorkloadSpec::Exchange(spec)) => self.run_exchange(
                Exchange::new(spec, pattern.clone(), self.fabric()),
                row,
                state,
                watch,
            ),
            _ => unreachable!("the traffic was made from the scenario's workload"),
        }
    }

    /// With what another simulation of the same network, parameters and pattern says of the pairs.
    #[must_use]
    pub(super) fn with_outlook(self, outlook: Outlook) -> Self {
        Self { outlook: outlook.into(), ..self }
    }

    /// The traffic from its beginning.
    pub(super) fn workload(&self) -> Workload {
        match (&self.traffic, &self.scenario.workload) {
            (Traffic::Load(load), _) => Workload::Load(load.clone()),
            (Traffic::Exchange(pattern), WorkloadSpec::Exchange(spec)) => {
                Workload::Exchange(Exchange::new(spec, pattern.clone(), self.fabric()))
            }
            _ => unreachable!("the traffic was made from the scenario's workload"),
        }
    }

    /// What the measurement has to know of the load; `None` for a finite exchange.
    pub(super) fn offered_load(&self) -> Option<Offered> {
        match (&self.traffic, &self.scenario.workload) {
            (Traffic::Load(load), WorkloadSpec::Load(spec)) => {
                Some(self.offered(load, spec, self.senders().len()))
            }
            _ => None,
        }
    }

    pub(super) fn engine(&self, workload: Workload) -> Engine<'_, Collector> {
        let collector = Collector::new(self.fabric().terminals());
        let (fabric, routes) = (self.fabric(), self.routes());
        let parameters = &self.scenario.parameters;
        let (threads, interruption) = (self.threads, self.interruption.as_ref());
        let mut engine = Engine::interrupted(
            threads,
            fabric,
            routes,
            parameters,
            workload,
            collector,
            interruption,
        );
        if let Some(digests) = self.digests.clone() {
            engine.log(move |time, grants, digest| digests.add(time, grants, digest));
        }
        engine
    }

    fn run_load(
        &self,
        load: OpenLoad,
        spec: &LoadSpec,
        row: Measured,
        state: Option<EngineState<Collector>>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let started = ThreadTime::now();
        let senders = self.senders();
        let (fraction, payload) = (load.offered_fraction(), load.offered_payload());
        let offered = self.offered(&load, spec, senders.len());
        let mut engine = self.engine(Workload::Load(load));
        go_on(&mut engine, state);
        let memory = engine.memory();
        let built = (ThreadTime::now(), Instant::now());
        let settings = &self.scenario.measure;
        let measured = match &self.interruption {
            None => measure_load(&mut engine, &offered, &senders, settings, watch),
            Some(it) => measure_interruption(&mut engine, it, &offered, &senders, settings, watch),
        };
        let others = engine.time_of_other_threads();
        let nodes = self.fabric().routers();
        let work = Work::new(started, built, measured.counters, memory, nodes, others);
        let capacity = self.fabric().capacity();
        let to_fraction = 1.0 / capacity;
        let parameters = &self.scenario.parameters;
        // Bytes a picosecond are TB/s.
        let flit_rate = parameters.flit.0 as f64 / parameters.link_flit_time() as f64 * 1e3;
        let row = Measured {
            capacity: Some(capacity * flit_rate),
            status: (&measured.ending).into(),
            offered_load: Some(fraction),
            offered_payload: Some(payload / 1e9),
            accepted_load: Some(measured.accepted_flits * to_fraction),
            accepted_payload: Some(measured.accepted_payload / 1e9),
            accepted_minimum_source: Some(measured.accepted_payload_minimum / 1e9),
            jain_fairness: measured.fairness,
            packet_latency_mean_ci95: measured.packet_latency_interval.map(whole),
            network_latency_mean: measured.network_latency.map(whole),
            hops_mean: measured.hops,
            simulated_time: Some(measured.warm_up + measured.measured),
            warm_up: Some(measured.warm_up),
            windows: Some(measured.windows),
            events: measured.counters.grants,
            digest: Some(measured.digest.0),
            ..with_latencies(row, measured.packet_latency, measured.message_latency)
        };
        let row = with_recovery(self.with_derouted(row, measured.derouted), &measured.ending);
        let stuck = row.status == Status::Deadlock;
        let row = if stuck { without_results(row) } else { row };
        let channels = channel_rows(&measured.channels);
        let quantiles = if stuck { &[] } else { &measured.packet_latency_quantiles[..] };
        let latencies = latency_rows(quantiles);
        let windows = measured.history.iter().map(|window| WindowRow {
            accepted_load: Some(
                window.delivered.flits as f64 * offered.flit_time as f64
                    / window.length() as f64
                    / senders.len().max(1) as f64
                    * to_fraction,
            ),
            utilisation_mean: Some(window.mean_utilisation),
            ..window_row(window)
        });
        let windows = windows.collect();
        let mut warnings = load_warnings(&measured, fraction, &row, &self.scenario);
        if let Ending::Deadlock(_) = measured.ending {
            warnings.extend(self.scenario.deadlock_advice());
        }
        warnings.extend(channels_warning(channels.len(), measured.all_channels));
        let deadlock = match measured.ending {
            Ending::Deadlock(deadlock) => Some(deadlock),
            _ => None,
        };
        let found = Finding {
            measured: row,
            channels,
            latencies,
            windows,
            warnings,
            deadlock: deadlock.as_ref().map(FoundDeadlock::from),
        };
        Outcome { found, deadlock, work }
    }

    /// Fills in the shares of derouted packets, by kind, as far as the routing has that kind.
    fn with_derouted(&self, row: Measured, shares: Option<[f64; 3]>) -> Measured {
        let kinds: &[Derouting] = match &self.scenario.network.routing {
            RoutingSpec::Adaptive(rules) => rules.derouter.kinds(),
            _ => &[],
        };
        let share = |kind| {
            let place = kinds.contains(&kind).then_some(kind as usize)?;
            Some(shares?[place])
        };
        Measured {
            derouted_outflank: share(Derouting::OutFlank),
            derouted_wraparound: share(Derouting::Wraparound),
            derouted_orthant: share(Derouting::Orthant),
            ..row
        }
    }

    /// What the measurement has to know of the load.
    fn offered(&self, load: &OpenLoad, spec: &LoadSpec, senders: usize) -> Offered {
        let parameters = &self.scenario.parameters;
        let flit_time = parameters.link_flit_time();
        let all = senders as f64 / flit_time as f64;
        let flits = load.offered_flits() * all;
        let packet = parameters.packet_flits(spec.message.0.min(parameters.maximum_payload.0));
        // All pairs of nodes are looked at for these: seconds in a large network.
        let bound = looks_at_all_pairs(self.fabric(), self.pattern())
            .then(|| self.outlook().bottleneck.as_ref())
            .flatten()
            .map(|it| Bottleneck { name: it.name.clone(), load: it.load * load.offered_flits() });
        let settled = self.scenario.measure.window.is_some();
        let zero_load = (!settled).then(|| {
            let packet: Picoseconds = rounded_down(self.outlook().zero_load_mean);
            let behind = parameters.message_flits(spec.message.0)
                - u64::from(
                    parameters.packet_flits(spec.message.0.min(parameters.maximum_payload.0)),
                );
            let slowest = parameters
                .injection_flit_time()
                .max(flit_time)
                .max(parameters.ejection_flit_time());
            ZeroLoad { packet, message: packet.saturating_add(behind.saturating_mul(slowest)) }
        });
        Offered {
            flits,
            packets: flits / f64::from(packet),
            messages: load.offered_messages() * all,
            flit_time,
            random: load.is_random(),
            zero_load,
            bound,
        }
    }

    fn run_exchange(
        &self,
        exchange: Exchange,
        row: Measured,
        state: Option<EngineState<Collector>>,
        watch: &mut Watch<'_>,
    ) -> Outcome {
        let started = ThreadTime::now();
        let messages = exchange.messages();
        let mut engine = self.engine(Workload::Exchange(exchange));
        go_on(&mut engine, state);
        let memory = engine.memory();
        let built = (ThreadTime::now(), Instant::now());
        let measured = measure_exchange(&mut engine, messages, self.senders().len(), watch);
        let others = engine.time_of_other_threads();
        let nodes = self.fabric().routers();
        let work = Work::new(started, built, engine.counters(), memory, nodes, others);
        match measured {
            Ok(measured) => {
                let row = self.with_derouted(exchange_row(row, &measured), measured.derouted);
                let channels = channel_rows(&measured.channels);
                let warnings = channels_warning(channels.len(), measured.all_channels);
                let warnings = warnings.into_iter().collect();
                let latencies = latency_rows(&measured.packet_latency_quantiles);
                let windows = Vec::new();
                let found = Finding {
                    measured: row,
                    channels,
                    latencies,
                    windows,
                    warnings,
                    deadlock: None,
                };
                Outcome { found, deadlock: None, work }
            }
            Err(deadlock) => {
                let measured = Measured {
                    status: Status::Deadlock,
                    simulated_time: Some(deadlock.time),
                    events: engine.counters().grants,
                    digest: Some(engine.digest().0),
                    ..row
                };
                let found = Finding {
                    measured,
                    warnings: self.scenario.deadlock_advice().into_iter().collect(),
                    deadlock: Some((&deadlock).into()),
                    ..Finding::default()
                };
                Outcome { found, deadlock: Some(deadlock), work }
            }
        }
    }
}

/// The failures of a scenario's interruption, and the table that its algorithm makes of what is left.
fn interruption(spec: &InterruptionSpec, network: &Network) -> Result<Interruption, SetupError> {
    let refuse = |reason: String| SetupError::Routing(RoutingError::NoTable(reason));
    let whole = &network.fabric;
    let left = spec.failures.apply(whole).map_err(|error| refuse(error.to_string()))?;
    let routes = network.routing.routes(&left, network.seed).map_err(SetupError::Routing)?;
    let Routes::Forwarding(table) = routes else {
        return Err(refuse("new tables need [routing.agnostic]".into()));
    };
    let times = (spec.time, spec.time + spec.new_tables_after);
    Ok(Interruption::new(whole, &left, times, Arc::unwrap_or_clone(table)))
}

/// Brings an engine to where a checkpoint was taken, if it is to go on from one.
fn go_on(engine: &mut Engine<'_, Collector>, state: Option<EngineState<Collector>>) {
    if let Some(state) = state {
        assert!(engine.resume(state), "the checkpoint is another scenario's");
    }
}
