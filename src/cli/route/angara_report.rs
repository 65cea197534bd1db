//! Facts about a routing table, for people and as JSON.

use serde::Serialize;

use super::traffic::TrafficReport;
use super::{Sigma, deviation_text, load_text};
use crate::cli::terminal;
use crate::cli::text::{counted, torus_text};
use flitlab::narrow::rounded;
use flitlab::routing::RouteTable;
use flitlab::tables::angara::{Choices, LowerBound, lower_bound};
use flitlab::tables::{LoadFigures, Proof, Quality};

/// Facts about a table.
#[derive(Debug, Serialize)]
pub(super) struct AngaraReport {
    fabric: String,
    nodes: usize,
    pub algorithm: Option<&'static str>,
    routed_pairs: u64,
    pairs_without_route: u64,
    /// Of the pairs that have a route.
    share_with_one_shortest_route: f64,
    /// The numbers of shortest legal routes that occur, in ascending order.
    pairs_by_shortest_routes: Vec<PairsByRoutes>,
    /// Pairs with several routes in the table, which their source takes in turn.
    pairs_with_several_routes: u64,
    #[serde(flatten)]
    load: LoadFigures,
    /// The deviation that was asked for.
    pub asked_sigma: Option<Sigma>,
    /// Of the maximum load with one route a pair; with several it is the one before rounding.
    lower_bound: u32,
    lower_bound_before_rounding: f64,
    /// How far the maximum load is above the lower bound, as a fraction of that.
    gap: f64,
    hops_mean: f64,
    hops_maximum: u32,
    routes_with_first_or_last_step: u64,
    /// Of a table for a traffic.
    pub traffic: Option<TrafficReport>,
    pub build_sssp_calls: Option<u64>,
    /// CPU time of the algorithm, the list of shortest routes included.
    pub cpu_seconds: Option<f64>,
    /// Wall-clock seconds, with all threads.
    pub seconds: Option<f64>,
    dependencies: u64,
    /// Source and destination.
    unroutable: Vec<(String, String)>,
}

/// Pairs that have equally many shortest legal routes.
#[derive(Debug, Serialize)]
struct PairsByRoutes {
    routes: usize,
    pairs: usize,
}

impl AngaraReport {
    pub(super) fn new(
        choices: &Choices<'_>,
        table: &RouteTable,
        quality: &Quality,
        proof: &Proof,
        bound: Option<LowerBound>,
    ) -> Self {
        let fabric = choices.region().fabric();
        let bound = bound.unwrap_or_else(|| {
            let mut loads = vec![0; fabric.channel_slots() as usize];
            for &(channel, load) in &quality.loads {
                loads[channel as usize] = rounded(load.ceil());
            }
            lower_bound(choices, &loads)
        });
        // Loads of tables with one route a pair are whole numbers.
        let least = if quality.several > 0 { bound.value } else { f64::from(bound.rounded()) };
        let missing = |nodes: &[u32]| {
            let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
            pairs
                .filter(|&(from, to)| from != to && table.header(from, to).is_none())
                .map(|(from, to)| (fabric.router_name(from), fabric.router_name(to)))
                .collect()
        };
        Self {
            fabric: torus_text(fabric.torus().expect("Angara's tables are of tori")),
            nodes: choices.region().nodes().len(),
            algorithm: None,
            routed_pairs: quality.routed,
            pairs_without_route: quality.unrouted,
            share_with_one_shortest_route: choices.single_share(),
            pairs_by_shortest_routes: choices
                .pairs_by_routes()
                .into_iter()
                .map(|(routes, pairs)| PairsByRoutes { routes, pairs })
                .collect(),
            pairs_with_several_routes: quality.several,
            load: quality.load,
            asked_sigma: None,
            lower_bound: bound.rounded(),
            lower_bound_before_rounding: bound.value,
            gap: if least > 0.0 { quality.load.maximum / least - 1.0 } else { 0.0 },
            hops_mean: quality.hops_mean,
            hops_maximum: quality.hops_maximum,
            routes_with_first_or_last_step: quality.stepping,
            traffic: None,
            build_sssp_calls: None,
            cpu_seconds: None,
            seconds: None,
            dependencies: proof.dependencies,
            unroutable: if quality.unrouted == 0 {
                Vec::new()
            } else {
                missing(choices.region().nodes())
            },
        }
    }

    /// Fabric and algorithm.
    pub(super) fn title(&self) -> String {
        let algorithm = self.algorithm.map_or(String::new(), |name| format!(", algorithm {name}"));
        format!("{}, {} nodes{algorithm}", self.fabric, self.nodes)
    }

    /// A fact a line.
    pub(super) fn text(&self) -> String {
        let mut text = self.title() + "\n";
        let mut line = |name: &str, value: String| text += &terminal::fact(name, &value, 21);
        let pairs = format!(
            "{} routed, {} without a route; {:.1}% have one shortest route only",
            self.routed_pairs,
            self.pairs_without_route,
            100.0 * self.share_with_one_shortest_route
        );
        line("pairs", pairs);
        let by_routes =
            |it: &PairsByRoutes| format!("{} for {}", it.routes, counted(it.pairs, "pair"));
        let histogram: Vec<String> = self.pairs_by_shortest_routes.iter().map(by_routes).collect();
        line("shortest routes", histogram.join(", "));
        if self.pairs_with_several_routes > 0 {
            let several = self.pairs_with_several_routes;
            let have =
                if several == 1 { "1 pair has".into() } else { format!("{several} pairs have") };
            line("routes in turn", format!("{have} several routes in the table"));
        }
        line("channel load", load_text(&self.load));
        let Self { lower_bound, lower_bound_before_rounding, gap, .. } = self;
        let bound = if *gap == 0.0 {
            format!("{lower_bound}: the table is optimal")
        } else if self.pairs_with_several_routes > 0 {
            let above = gap * 100.0;
            format!(
                "{lower_bound_before_rounding:.3} with several routes a pair: the table's maximum is {above:.1}% above it"
            )
        } else if *gap < 0.0 {
            format!("{lower_bound} for the generators' routes; the table has others")
        } else {
            format!(
                "{lower_bound} ({lower_bound_before_rounding:.3}): the table's maximum is {:.1}% above it",
                gap * 100.0
            )
        };
        line("lower bound", bound);
        if let Some(traffic) = &self.traffic {
            line("its traffic", traffic.text());
        }
        line("deviation", deviation_text(&self.load, self.asked_sigma));
        line("hops", format!("mean {:.3}, at most {}", self.hops_mean, self.hops_maximum));
        line("first, last steps", format!("in {} routes", self.routes_with_first_or_last_step));
        let proof = format!(
            "every route followed; {} dependencies of channels, no cycle outside rings",
            self.dependencies
        );
        line("proof", proof);
        if let Some(calls) = self.build_sssp_calls {
            line("searches", format!("{calls} calls of BUILD_SSSP"));
        }
        if let (Some(cpu), Some(seconds)) = (self.cpu_seconds, self.seconds) {
            line("time", format!("{seconds:.3} s, {cpu:.3} s of CPU"));
        }
        text
    }
}
