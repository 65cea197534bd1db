//! What `flitlab route` shows of a network's routes in place of a table's figures: the routes of a
//! pair, the routing graph, and the detours of a pair.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Maker, Route, forwarding, graph, pair};
use flitlab::scenario::Network;
use flitlab::topology::{NodeName, Places};

/// What is looked at.
#[derive(Debug, Args)]
#[group(skip)]
pub(super) struct Look {
    /// List the shortest routes from node A to node B, and the one that the table takes. A node is
    /// its number, its coordinates such as 0,1,3, or its name
    #[arg(long, num_args = 2, value_names = ["A", "B"],
          conflicts_with_all = ["check", "save", "out", "allow_partial", "sigma"])]
    pair: Option<Vec<String>>,
    /// Write the graph in which Angara's routes are searched to this file, in Graphviz' language
    /// DOT; with --pair the part on the routes of the pair, which are coloured paths in it
    #[arg(long, value_name = "FILE", group = "written",
          conflicts_with_all = ["check", "out", "allow_partial", "sigma"])]
    pub graph: Option<PathBuf>,
    /// List the nodes through which OutFlank Routing may send a packet from node A to node B, with
    /// the dilation and the profit of each: with the keys of the scenario's [routing.outflank], or
    /// else with their defaults
    #[arg(long, num_args = 2, value_names = ["A", "B"],
          conflicts_with_all = ["check", "save", "out", "allow_partial", "sigma", "pair", "graph",
                                "algorithm", "lanes", "partition"])]
    pub detours: Option<Vec<String>>,
    /// Used slots behind each direction of node A, positive directions first, for the profits
    /// [default: all 0]
    #[arg(long, value_name = "N,N,...", requires = "detours", value_delimiter = ',')]
    pub load: Option<Vec<u32>>,
}

impl Look {
    /// Whether something is to be shown in place of a table.
    pub(super) fn is_asked(&self) -> bool {
        self.pair.is_some() || self.graph.is_some()
    }
}

/// Shows what was asked for.
pub(super) fn show(route: &Route, network: &Network, maker: Maker<'_>) -> Result<(), Failure> {
    let names = route.look.pair.as_deref();
    let ends = names.map(|names| ends(network, "--pair", names)).transpose()?;
    match (maker, ends) {
        (Maker::Angara(algorithm, parameters), Some(ends)) => {
            pair::angara(route, network, (algorithm, &parameters), ends)
        }
        (Maker::Angara(_, parameters), None) => graph::whole(route, network, parameters.freedoms),
        _ if route.look.graph.is_some() => Err(Failure::input(
            "--graph draws the graph of Angara's routes, and this table is another one\n\
             help: leave --graph out, or take a torus and an algorithm for Angara, such as \
             --algorithm balanced",
        )),
        (Maker::Agnostic(algorithm, parameters), Some(ends)) => {
            let made = forwarding::generate(network, algorithm, &parameters)?;
            pair::forwarding(route, network, Some(algorithm.name), &made.table, ends)
        }
        (Maker::OpenSm(read), Some(ends)) => {
            pair::forwarding(route, network, None, &read.table, ends)
        }
        (_, None) => unreachable!("a pair or a graph was asked for"),
    }
}

/// The numbers of the two nodes that an option names.
pub(super) fn ends(
    network: &Network,
    option: &str,
    names: &[String],
) -> Result<(u32, u32), Failure> {
    let places = match network.torus() {
        Some((torus, _)) => Places::Torus(torus),
        None => Places::Terminals(&network.fabric),
    };
    let node = |name: &String| {
        let node = NodeName { places: Some(places) }.of_text(name).map_err(|(message, help)| {
            let help = help.map_or(String::new(), |help| format!("\nhelp: {help}"));
            Failure::input(format!("{option}: {message}{help}"))
        })?;
        match network.fabric.terminal_router(node) {
            Some(_) => Ok(node),
            None => Err(Failure::input(format!(
                "{option}: node {} has failed, or is outside the scenario's node set\n\
                 help: name a node that packets are sent from",
                places.name(node)
            ))),
        }
    };
    let (source, destination) = (node(&names[0])?, node(&names[1])?);
    if source == destination {
        return Err(Failure::input(format!(
            "{option}: {} is named twice\nhelp: name two different nodes, source first",
            places.name(source)
        )));
    }
    Ok((source, destination))
}
