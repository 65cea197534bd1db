//! `summary.json`, and what `--json` prints.

use serde::{Deserialize, Serialize};

use super::{COMMIT, Failure, components, program, text};
use flitlab::measure::{LongerWays, Saturation};
use flitlab::printable::{printable_json, printable_lines};
use flitlab::report::{self, ChannelRow, DeadlockNote, PathChannelRow, Sustained, SustainedLoad};
use flitlab::scenario::{Deadlock, Point, RESULTS_VERSION};
use flitlab::simulation::{OverBound, Simulation, Work};
use flitlab::sweep::{CRITERION, label_of};

/// Facts about a scenario before it runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Expectation {
    pub name: String,
    pub fabric: String,
    pub nodes: usize,
    pub channels: usize,
    /// Load 1, in payload a node.
    #[serde(rename = "capacity_payload_GB_per_s_per_node")]
    pub capacity_payload: Option<f64>,
    pub hops_mean: f64,
    pub hops_maximum: u32,
    /// Whether packets take detours by what waits, and the most hops of one, if it is known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub detours_under_load: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops_maximum_with_detours: Option<u32>,
    pub zero_load_latency_mean_ns: f64,
    pub zero_load_latency_maximum_ns: f64,
    /// The highest load that the channel loads allow; none if too many pairs would have to be
    /// looked at.
    pub throughput_bound_load: Option<f64>,
    pub bottleneck: Option<String>,
    /// Of an exchange: it takes this long at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_bound_ns: Option<f64>,
    /// The probability that one of the largest packets gets across a channel that errs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_probability: Option<f64>,
    /// The share of such a channel's rate that is left for packets that get across, about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_rate: Option<f64>,
    /// Channels at which packets can wait for each other for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarding_cycle: Option<String>,
}

impl Expectation {
    pub(super) fn new(simulation: &Simulation) -> Self {
        let forecast = simulation.forecast();
        let completion = simulation.completion_bound();
        let exchange = simulation.scenario().workload.is_finite();
        // A fraction of capacity means nothing where there is no load.
        let throughput = forecast.throughput().filter(|_| !exchange);
        let bottleneck = forecast.bottleneck.as_ref().filter(|_| !exchange);
        let of_exchange = completion.as_ref().map(|bound| bound.bottleneck.clone());
        let fabric = simulation.fabric();
        let capacity = fabric.capacity();
        let passage = simulation.passage();
        Self {
            name: simulation.scenario().name.clone(),
            fabric: text::fabric_text(&simulation.scenario().network),
            nodes: fabric.live_terminals().count(),
            channels: fabric.channels(),
            capacity_payload: simulation.load().map(|load| load.payload / load.fraction / 1e9),
            hops_mean: forecast.hops_mean,
            hops_maximum: forecast.hops_maximum,
            detours_under_load: forecast.longer_ways != LongerWays::No,
            hops_maximum_with_detours: match forecast.longer_ways {
                LongerWays::AtMost(most) => Some(most),
                LongerWays::No | LongerWays::Some => None,
            },
            zero_load_latency_mean_ns: forecast.zero_load_mean / 1e3,
            zero_load_latency_maximum_ns: forecast.zero_load_maximum.0 as f64 / 1e3,
            throughput_bound_load: throughput.map(|flits| flits / capacity),
            bottleneck: bottleneck.map(|bottleneck| bottleneck.name.clone()).or(of_exchange),
            completion_bound_ns: completion.map(|bound| bound.time.0 as f64 / 1e3),
            passage_probability: passage.map(|passage| passage.probability),
            passage_rate: passage.map(|passage| passage.rate),
            forwarding_cycle: match simulation.scenario().deadlock() {
                Deadlock::Possible { how, .. } => Some(how),
                Deadlock::Never(_) | Deadlock::Rarely { .. } | Deadlock::Dropped { .. } => None,
            },
        }
    }
}

/// The cost of a simulation; printed by `--json`, never written to results, since it differs each
/// time.
#[derive(Debug, Serialize)]
pub(super) struct Cost {
    /// On the clock, without setting up.
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub set_up_cpu_seconds: f64,
    pub cpu_ns_per_flit_hop: f64,
    pub cpu_ns_per_packet_hop: f64,
    pub packet_hops_per_cpu_second: f64,
    pub bytes_per_node: f64,
    pub bytes_per_packet_under_way: usize,
}

impl Cost {
    pub(super) fn new(work: &Work) -> Self {
        let seconds = work.simulating.as_secs_f64();
        Self {
            seconds: work.elapsed.as_secs_f64(),
            cpu_seconds: seconds,
            set_up_cpu_seconds: work.building.as_secs_f64(),
            cpu_ns_per_flit_hop: work.nanoseconds_each(work.counters.flit_hops),
            cpu_ns_per_packet_hop: work.nanoseconds_each(work.counters.packet_hops),
            packet_hops_per_cpu_second: work.counters.packet_hops as f64 / seconds.max(1e-9),
            bytes_per_node: work.bytes_a_node,
            bytes_per_packet_under_way: work.bytes_a_packet,
        }
    }
}

/// The highest load that a series sustains, and how it was looked for.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SaturationNote {
    #[serde(flatten)]
    pub found: SustainedLoad,
    /// How a load is judged.
    pub criterion: &'static str,
    pub tolerance: f64,
}

impl SaturationNote {
    /// Returns the result of a search for a sweep's point; `number` is the point's.
    pub(super) fn new(point: &Point, number: usize, tolerance: f64, found: &Saturation) -> Self {
        let label = label_of(point, u32::try_from(number).expect("a sweep has fewer points"));
        let found =
            Sustained { sustained_load: found.sustained, lowest_load_not_sustained: found.failed };
        Self { found: SustainedLoad { label, found }, criterion: CRITERION, tolerance }
    }
}

/// What made a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Made {
    /// The version of flitlab.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flitlab: Option<String>,
    /// The version of what its simulations compute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_version: Option<u32>,
    /// The commit of flitlab; empty if it is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// Points that were computed by other commits, which compute the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_other_commits: Vec<MadeEarlier>,
}

/// Points that an earlier call of a sweep computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeEarlier {
    /// Empty if it is not known.
    pub commit: String,
    /// Their numbers, as in points.csv.
    pub points: Vec<u32>,
}

impl Made {
    /// By this program.
    pub(super) fn here() -> Self {
        Self {
            flitlab: Some(env!("CARGO_PKG_VERSION").into()),
            results_version: Some(RESULTS_VERSION),
            commit: COMMIT.into(),
            by_other_commits: Vec::new(),
        }
    }

    /// Adds that a point was computed by this commit.
    pub(super) fn add(&mut self, point: u32, commit: &str) {
        if commit == self.commit {
            return;
        }
        let others = &mut self.by_other_commits;
        match others.iter_mut().find(|earlier| earlier.commit == commit) {
            Some(earlier) => earlier.points.push(point),
            None => others.push(MadeEarlier { commit: commit.into(), points: vec![point] }),
        }
    }

    /// In words; `None` if nothing is known.
    pub(super) fn text(&self) -> Option<String> {
        let version = self.flitlab.as_ref()?;
        let of = |commit: &str| {
            if commit.is_empty() {
                "an unknown commit".to_owned()
            } else {
                format!("commit {commit}")
            }
        };
        let mut text = version.clone();
        if let Some(results) = self.results_version {
            text += &format!(", results version {results}");
        }
        if !self.commit.is_empty() {
            text += &format!(", {}", of(&self.commit));
        }
        for MadeEarlier { commit, points } in &self.by_other_commits {
            text += &format!("; {} by {}", text::counted(points.len(), "point"), of(commit));
        }
        Some(text)
    }
}

/// All of a result.
#[derive(Debug, Serialize)]
pub(super) struct Summary<'r> {
    #[serde(flatten)]
    pub made: Made,
    pub title: Option<String>,
    pub scenario: Expectation,
    pub points: &'r [report::Point],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub saturation: Vec<SaturationNote>,
    /// Of a sweep whose packets choose their ways: what these allow, figure by figure.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub load_bounds: &'r [report::BoundLine],
    pub busiest_channels: Vec<&'r ChannelRow>,
    pub warnings: Vec<String>,
    pub deadlocks: Vec<DeadlockNote>,
    /// Of a run of something that ends: how far it stayed from its bound, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_bound: Option<OverBound>,
    /// The channels that held a critical path up longest, if that was asked for.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub path_channels: &'r [PathChannelRow],
}

impl Summary<'_> {
    /// The contents of `summary.json`.
    pub(super) fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("rows are plain data") + "\n"
    }
}

/// The JSON object that `--json` prints: the summary, where the results are, and their cost.
#[derive(Debug, Serialize)]
pub(super) struct Printed<'a> {
    #[serde(flatten)]
    pub summary: &'a Summary<'a>,
    /// None if there are no files.
    pub results: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Printed<'_> {
    /// Gives a program this object.
    pub(super) fn give(&self) {
        program::give(|answer| answer.json = serde_json::to_string(self).ok());
    }

    pub(super) fn print(&self) -> Result<(), Failure> {
        print_json(self)
    }
}

/// Prints one JSON object on standard output. A program gets it as a value.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    if program::current().is_some() {
        program::give(|answer| answer.json = serde_json::to_string(value).ok());
        return Ok(());
    }
    let json = serde_json::to_string_pretty(value).expect("plain data");
    print_text(&printable_json(&(json + "\n")))
}

/// Prints on standard output what is not the result: where it can't be printed, the work goes on.
pub(super) fn mention(text: &str) {
    let _ = print_text(text);
}

/// Prints on standard output, without control characters; a reader that stops early is no error.
/// A program gets it.
pub(super) fn print_text(text: &str) -> Result<(), Failure> {
    use std::io::{ErrorKind, Write, stdout};
    let text = &*components::renamed(text);
    if program::current().is_some() {
        program::give(|answer| answer.text.push_str(&printable_lines(text)));
        return Ok(());
    }
    let text = printable_lines(text);
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("can't write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
