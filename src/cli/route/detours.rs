//! The intermediate nodes of OutFlank Routing for one pair.

use serde::Serialize;

use super::look::ends;
use super::{Failure, Route};
use crate::cli::terminal;
use crate::cli::text::{counted, torus_text};
use flitlab::adaptive::{IntermediateNode, NonMinimalRule, PairDetours};
use flitlab::scenario::{Network, RoutingSpec};
use flitlab::topology::Torus;

/// The pair and its nodes.
#[derive(Debug, Serialize)]
struct Report {
    fabric: String,
    source: String,
    destination: String,
    /// Hops of the minimal route.
    hops: u32,
    /// The profit of the minimal route.
    profit: f64,
    /// Delta.
    steps: u32,
    /// Eta.
    distance_weight: f64,
    /// Used slots behind each direction of the source, in direction order.
    load: Vec<u32>,
    nodes: Vec<Node>,
}

/// An intermediate node.
#[derive(Debug, Serialize)]
struct Node {
    kind: &'static str,
    node: String,
    /// Lambda of an outflanking node, beta of a wraparound node, by dimension.
    vector: Vec<i8>,
    hops: u32,
    dilation: u32,
    profit: f64,
    /// Whether packets may be sent through it.
    used: bool,
    /// Whether a packet is sent through it now.
    taken: bool,
}

/// Shows the intermediate nodes between the nodes of these names.
pub(super) fn show(route: &Route, network: &Network, names: &[String]) -> Result<(), Failure> {
    let Some((torus, _)) = network.torus() else {
        return Err(Failure::input(
            "--detours is for OutFlank Routing, which is for tori\n\
             help: name a scenario with [topology.torus]",
        ));
    };
    let pair = ends(network, "--detours", names)?;
    let own = match &network.routing {
        RoutingSpec::Adaptive(rules, ..) if rules.non_minimal.goes_via_intermediate() => {
            rules.non_minimal.detours(torus)
        }
        _ => Ok(None),
    };
    let usual = || NonMinimalRule::new("outflank", "").detours(torus);
    let detours = own.and_then(|own| own.map_or_else(usual, |own| Ok(Some(own))));
    let detours = detours.map_err(Failure::input)?.expect("the rule is OutFlank's");
    let load = load(torus, route.look.load.as_deref())?;
    let found = detours.of_pair(torus, pair, &load).expect("the detours lead through nodes");
    let PairDetours { hops, profit, steps, nodes, best } = found;
    let node = |(place, it): (usize, IntermediateNode)| Node {
        kind: it.kind.name(),
        node: torus.node_name(it.node),
        vector: it.vector,
        hops: it.hops,
        dilation: it.dilation,
        profit: it.profit,
        used: it.is_used,
        taken: best == Some(place),
    };
    let report = Report {
        fabric: torus_text(torus),
        source: torus.node_name(pair.0),
        destination: torus.node_name(pair.1),
        hops,
        profit,
        steps,
        distance_weight: detours.weights.distance,
        load,
        nodes: nodes.into_iter().enumerate().map(node).collect(),
    };
    route.print(&report, || report.text())
}

/// The used slots behind each direction of the source; none if nothing is given.
fn load(torus: &Torus, given: Option<&[u32]>) -> Result<Vec<u32>, Failure> {
    let directions = torus.directions() as usize;
    match given {
        None => Ok(vec![0; directions]),
        Some(load) if load.len() == directions => Ok(load.to_vec()),
        Some(load) => {
            let names: Vec<String> =
                (0..torus.directions()).map(|direction| torus.direction_name(direction)).collect();
            Err(Failure::input(format!(
                "--load has {}, and the source has {directions} directions\n\
                 help: give the used slots behind {}, joined by commas",
                counted(load.len(), "number"),
                names.join(" ")
            )))
        }
    }
}

impl Report {
    /// A fact a line.
    fn text(&self) -> String {
        let Self { fabric, source, destination, hops, profit, .. } = self;
        let mut text = format!("{fabric}, OutFlank Routing, from {source} to {destination}\n");
        let mut line = |name: &str, value: String| text += &terminal::fact(name, &value, 21);
        let (steps, weight) = (counted(self.steps as usize, "step"), self.distance_weight);
        line("rule", format!("{steps} outside the minimal orthant, distance weight {weight}"));
        line("minimal", format!("{}, profit {profit:.3}", counted(*hops as usize, "hop")));
        for it in &self.nodes {
            let vector: Vec<String> = it.vector.iter().map(i8::to_string).collect();
            let symbol = if it.kind == "outflank" { "lambda" } else { "beta" };
            let remark = match it {
                Node { taken: true, .. } => "; a packet takes this one",
                Node { used: false, .. } => "; admissible, not used",
                _ => "",
            };
            let value = format!(
                "{}, {symbol} ({}), {} hops, dilation {}, profit {:.3}{remark}",
                it.node,
                vector.join(","),
                it.hops,
                it.dilation,
                it.profit
            );
            line(it.kind, value);
        }
        text
    }
}
