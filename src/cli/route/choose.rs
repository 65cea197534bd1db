//! Nodes for a job: of the free nodes of a torus those whose table is best.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::{Failure, Maker, Route, plain, read, wrong_line};
use crate::cli::terminal;
use crate::cli::text::torus_text;
use flitlab::scenario::Network;
use flitlab::tables::angara::{Job, RatedNodes, job_nodes};
use flitlab::topology::{NodeName, Torus};

/// The largest torus, in nodes.
const MOST_NODES: u32 = 4_096;

/// The job, and what it may have.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Choose {
    /// Choose N free nodes for a job: those whose table loads its fullest channel least, then the
    /// nearest to each other; beside them, what the first free nodes and random ones are like
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..),
          conflicts_with_all = ["check", "save", "out", "allow_partial", "sigma", "pair", "graph",
                                "detours", "traffic"])]
    choose: Option<u32>,
    /// File with the free nodes, one a line: its number, or its coordinates such as 0,1,3
    /// [default: all nodes of the scenario]
    #[arg(long, value_name = "FILE", requires = "choose")]
    free: Option<PathBuf>,
}

impl Choose {
    /// Whether nodes are to be chosen in place of a table.
    pub(super) fn is_asked(&self) -> bool {
        self.choose.is_some()
    }
}

/// The JSON object that `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    fabric: String,
    algorithm: &'static str,
    free_nodes: usize,
    chosen: Rated,
    /// The first free nodes; `None` if they have no routes among themselves.
    linear: Option<Rated>,
    random: Option<Rated>,
    /// A key of scenarios.
    node_set: String,
}

/// A set of nodes, by their names.
#[derive(Debug, Serialize)]
struct Rated {
    nodes: Vec<String>,
    maximum_load: f64,
    hops_mean: f64,
    hops_maximum: u32,
}

/// Chooses nodes, and says how good they are.
pub(super) fn show(route: &Route, network: &Network, maker: &Maker<'_>) -> Result<(), Failure> {
    let count = route.choose.choose.expect("asked for");
    let (Maker::Angara(algorithm, parameters), Some((torus, faults))) = (maker, network.torus())
    else {
        return Err(Failure::input(
            "--choose rates nodes by tables for Angara\n\
             help: name a scenario with [topology.torus], and --algorithm balanced or another one \
             for Angara",
        ));
    };
    if torus.nodes() > MOST_NODES {
        return Err(Failure::input(format!(
            "--choose is for tori of up to {MOST_NODES} nodes, and this one has {}\n\
             help: take a part of it as a mesh of its own",
            torus.nodes()
        )));
    }
    let live = |&node: &u32| network.fabric.terminal_router(node).is_some();
    let mut free: Vec<u32> = match &route.choose.free {
        None => (0..torus.nodes()).filter(live).collect(),
        Some(_) => listed(route, network, torus)?,
    };
    free.sort_unstable();
    free.dedup();
    if free.len() < count as usize {
        return Err(Failure::input(format!(
            "--choose asks for {count} nodes, and {} are free\nhelp: ask for fewer",
            free.len()
        )));
    }
    let job = Job { torus, faults, free: &free, count: count as usize, seed: network.seed };
    let found = job_nodes(&job, algorithm, parameters)
        .map_err(|error| Failure::input(error.to_string()))?
        .ok_or_else(|| {
            Failure::Check(format!(
                "error: no {count} of the free nodes were found that have routes among themselves\n\
                 help: free other nodes, or ask for fewer"
            ))
        })?;
    let rated = |it: &RatedNodes| Rated {
        nodes: it.nodes.iter().map(|&node| torus.node_name(node)).collect(),
        maximum_load: it.maximum_load,
        hops_mean: it.hops_mean,
        hops_maximum: it.hops_maximum,
    };
    let report = Report {
        fabric: torus_text(torus),
        algorithm: algorithm.name,
        free_nodes: free.len(),
        chosen: rated(&found.best),
        linear: found.linear.as_ref().map(rated),
        random: found.random.as_ref().map(rated),
        node_set: node_set(torus, &found.best.nodes),
    };
    route.print(&report, || report.text())
}

/// The nodes of the file of free ones.
fn listed(route: &Route, network: &Network, torus: &Torus) -> Result<Vec<u32>, Failure> {
    let path = route.choose.free.as_ref().expect("looked at");
    let text = read(path)?;
    let lines = (1..).zip(text.lines().map(|line| line.split('#').next().unwrap_or("").trim()));
    lines
        .filter(|(_, line)| !line.is_empty())
        .map(|(number, line)| {
            let wrong = |message: String| wrong_line(path, number, &message);
            let node =
                NodeName::of_torus(Some(torus)).of_text(line).map_err(|(message, help)| {
                    wrong(help.map_or(message.clone(), |help| format!("{message}\nhelp: {help}")))
                })?;
            match network.fabric.terminal_router(node) {
                Some(_) => Ok(node),
                None => Err(wrong(format!(
                    "node {line} has failed, or is outside the scenario's node set\n\
                     help: leave it out of the free nodes"
                ))),
            }
        })
        .collect()
}

/// The nodes as scenarios take them.
fn node_set(torus: &Torus, nodes: &[u32]) -> String {
    let members: Vec<String> =
        nodes.iter().map(|&node| format!("{:?}", torus.coordinates(node))).collect();
    format!("topology.torus.node_set={{list={{members=[{}]}}}}", members.join(","))
}

impl Report {
    /// A fact a line, then the key.
    fn text(&self) -> String {
        let Self { fabric, algorithm, free_nodes, chosen, .. } = self;
        let count = chosen.nodes.len();
        let mut text =
            format!("{fabric}, {count} of {free_nodes} free nodes, algorithm {algorithm}\n");
        let mut line = |name: &str, value: String| text += &terminal::fact(name, &value, 21);
        let figures = |it: &Rated| {
            format!(
                "maximum channel load {}, hops mean {:.3}, at most {}",
                plain(it.maximum_load),
                it.hops_mean,
                it.hops_maximum
            )
        };
        let or_none = |it: &Option<Rated>| {
            it.as_ref().map_or_else(|| "no routes among these nodes alone".into(), figures)
        };
        line("chosen", figures(chosen));
        line("first free nodes", or_none(&self.linear));
        line("random nodes", or_none(&self.random));
        line("nodes", chosen.nodes.join(" "));
        text + &format!("  for a scenario:\n{}\n", self.node_set)
    }
}
