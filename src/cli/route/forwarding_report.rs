//! Facts about a forwarding table, for people and as JSON.

use serde::Serialize;

use super::{Sigma, deviation_text, load_text};
use crate::cli::terminal;
use flitlab::tables::agnostic::{CompleteGraph, EdgeStates};
use flitlab::tables::{ForwardingProof, ForwardingQuality, LoadBound, LoadFigures, Paths};
use flitlab::topology::Fabric;

/// Facts about a table.
#[derive(Debug, Default, Serialize)]
pub(super) struct ForwardingReport {
    fabric: String,
    routers: u32,
    terminals: usize,
    /// Between routers, two a cable.
    channels: usize,
    pub algorithm: Option<&'static str>,
    /// Virtual channels that the algorithm may use.
    pub lanes: Option<u8>,
    /// Where the virtual channels of a table that was read come from.
    pub lanes_from: Option<String>,
    /// No file says which service levels paths have.
    pub lanes_unknown: bool,
    routed_pairs: u64,
    pairs_without_route: u64,
    #[serde(flatten)]
    load: LoadFigures,
    /// The deviation that was asked for.
    pub asked_sigma: Option<Sigma>,
    /// Of the maximum load, for any table.
    lower_bound: u64,
    lower_bound_before_rounding: f64,
    /// The lower bound for tables all of whose paths have the fewest hops.
    lower_bound_of_minimal_routing: u64,
    lower_bound_of_minimal_routing_before_rounding: f64,
    /// How far the maximum load is above the lower bound for any table, as a fraction of that.
    gap: f64,
    hops_mean: f64,
    hops_maximum: u32,
    least_hops_mean: f64,
    least_hops_maximum: u32,
    /// Virtual channels that packets take between routers.
    lanes_used: u32,
    /// Destinations whose paths follow the escape tree.
    pub escape_falls: Option<u32>,
    /// Of nue.
    pub complete_graph: Option<CompleteGraphReport>,
    /// CPU time of the algorithm.
    pub cpu_seconds: Option<f64>,
    /// Wall-clock seconds.
    pub seconds: Option<f64>,
    dependencies: u64,
    /// By the virtual channel that is held.
    dependencies_by_lane: Vec<u64>,
    /// Each of these can wait for the next, the last for the first; empty if none was found.
    cycle: Vec<VcChannel>,
    /// Ways that are wrong or missing; 0 where missing ones are allowed.
    pub flaws: usize,
}

/// A channel and one of its virtual channels.
#[derive(Debug, Serialize)]
struct VcChannel {
    channel: String,
    lane: u8,
}

/// The complete channel dependency graph, of which each virtual channel has one, and how many edges
/// of it are in which state.
#[derive(Debug, Serialize)]
pub(super) struct CompleteGraphReport {
    channels: u64,
    edges: u64,
    used_by_lane: Vec<u64>,
    blocked_by_lane: Vec<u64>,
    unused_by_lane: Vec<u64>,
    impasses: u32,
}

impl CompleteGraphReport {
    pub(super) fn new(graph: &CompleteGraph) -> Self {
        let states = |of: fn(&CompleteGraph, &EdgeStates) -> u64| {
            graph.states.iter().map(|states| of(graph, states)).collect()
        };
        Self {
            channels: graph.channels,
            edges: graph.edges,
            used_by_lane: states(|_, states| states.used),
            blocked_by_lane: states(|_, states| states.blocked),
            unused_by_lane: states(CompleteGraph::unused),
            impasses: graph.impasses,
        }
    }

    /// Its size, and the states of its edges in all virtual channels together.
    fn text(&self) -> String {
        let total = |by_lane: &[u64]| by_lane.iter().sum::<u64>();
        let times = match self.used_by_lane.len() {
            1 => String::new(),
            vcs => format!(" in each of {vcs} virtual channels"),
        };
        format!(
            "{} channels and {} edges{times}: {} used, {} blocked, {} unused",
            self.channels,
            self.edges,
            total(&self.used_by_lane),
            total(&self.blocked_by_lane),
            total(&self.unused_by_lane)
        )
    }
}

impl ForwardingReport {
    pub(super) fn new(name: String, fabric: &Fabric) -> Self {
        Self {
            fabric: name,
            routers: fabric.routers(),
            terminals: fabric.live_terminals().count(),
            channels: fabric.channels(),
            ..Self::default()
        }
    }

    /// Adds the quality of the table and the facts proved about it.
    pub(super) fn judge(
        &mut self,
        fabric: &Fabric,
        quality: &ForwardingQuality,
        proof: &ForwardingProof,
    ) {
        let any = LoadBound::new(fabric, Paths::Any);
        let minimal = LoadBound::new(fabric, Paths::Minimal);
        // A bound for any table holds for these too, and its search may have found more.
        let minimal = if minimal.value() > any.value() { &minimal } else { &any };
        let place = |place: &flitlab::routing::VirtualChannel| VcChannel {
            channel: fabric.channel_name(place.channel),
            lane: place.vc,
        };
        self.routed_pairs = proof.pairs;
        self.pairs_without_route = quality.routed + quality.unrouted - proof.pairs;
        self.load = quality.load;
        self.lower_bound = any.rounded();
        self.lower_bound_before_rounding = any.value();
        self.lower_bound_of_minimal_routing = minimal.rounded();
        self.lower_bound_of_minimal_routing_before_rounding = minimal.value();
        self.gap = quality.load.maximum / any.rounded().max(1) as f64 - 1.0;
        self.hops_mean = quality.hops_mean;
        self.hops_maximum = quality.hops_maximum;
        self.least_hops_mean = quality.least_hops_mean;
        self.least_hops_maximum = quality.least_hops_maximum;
        self.lanes_used = proof.vcs_used();
        self.dependencies = proof.dependencies.iter().sum();
        self.dependencies_by_lane.clone_from(&proof.dependencies);
        self.cycle = proof.cycle().unwrap_or_default().iter().map(place).collect();
    }

    /// Fabric and algorithm.
    pub(super) fn title(&self) -> String {
        let algorithm = self.algorithm.map_or(String::new(), |name| format!(", algorithm {name}"));
        format!("{}, {} terminals{algorithm}", self.fabric, self.terminals)
    }

    /// A fact a line.
    pub(super) fn text(&self) -> String {
        let mut text = self.title() + "\n";
        let mut line = |name: &str, value: String| text += &terminal::fact(name, &value, 21);
        line(
            "fabric",
            format!("{} routers, {} channels between them", self.routers, self.channels),
        );
        let (routed, without) = (self.routed_pairs, self.pairs_without_route);
        line("pairs", format!("{routed} routed, {without} without a route"));
        line("channel load", load_text(&self.load));
        line("lower bound", self.bound_text());
        line("deviation", deviation_text(&self.load, self.asked_sigma));
        let hops = format!(
            "mean {:.3}, at most {}; mean {:.3}, at most {} if every path were shortest",
            self.hops_mean, self.hops_maximum, self.least_hops_mean, self.least_hops_maximum
        );
        line("hops", hops);
        line("virtual channels", self.vcs_text());
        if let Some(graph) = &self.complete_graph {
            line("complete graph", graph.text());
        }
        if let Some(falls) = self.escape_falls {
            let impasses = self.complete_graph.as_ref().map_or(String::new(), |graph| {
                let solved = graph.impasses - falls;
                format!("; {} impasses, {solved} solved by backtracking", graph.impasses)
            });
            let paths = format!("to {falls} of {} destinations{impasses}", self.terminals);
            line("escape paths", paths);
        }
        line("proof", self.proof_text());
        if let (Some(cpu), Some(seconds)) = (self.cpu_seconds, self.seconds) {
            line("time", format!("{seconds:.3} s, {cpu:.3} s of CPU"));
        }
        text
    }

    fn bound_text(&self) -> String {
        let bounds = format!(
            "{} of any table, {} of those with shortest paths only",
            self.lower_bound, self.lower_bound_of_minimal_routing
        );
        if self.pairs_without_route > 0 {
            format!("{bounds}, if they route every pair")
        } else if self.gap == 0.0 {
            format!("{bounds}; this one is optimal")
        } else {
            format!("{bounds}; this table's maximum is {:.1}% above the first", 100.0 * self.gap)
        }
    }

    fn vcs_text(&self) -> String {
        let mut text = match self.lanes {
            Some(vcs) => format!("{} of {vcs} used", self.lanes_used),
            None => format!("{} used", self.lanes_used),
        };
        if let Some(origin) = &self.lanes_from {
            text += &format!(": {origin}");
        }
        text
    }

    fn proof_text(&self) -> String {
        let last = self.dependencies_by_lane.iter().rposition(|&count| count > 0).unwrap_or(0);
        let vcs: Vec<String> =
            self.dependencies_by_lane[..=last].iter().map(u64::to_string).collect();
        let vcs = match vcs.len() {
            1 => String::new(),
            _ => format!(" ({} by virtual channel)", vcs.join(", ")),
        };
        let followed = match self.flaws {
            0 => "every path followed".into(),
            1 => "fails, a way is wrong or missing".into(),
            flaws => format!("fails, {flaws} ways are wrong or missing"),
        };
        let found = match (self.cycle.len(), self.flaws) {
            (0, 0) => ", no cycle".into(),
            // Ways that don't end may close one once they are mended.
            (0, _) => String::new(),
            (length, _) => format!(", a cycle of {length}"),
        };
        format!("{followed}; {} dependencies of channels{vcs}{found}", self.dependencies)
    }
}
