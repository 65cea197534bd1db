//! The routes of one pair: all shortest ones, and the one that a table takes.

use serde::Serialize;

use super::graph::{GraphReport, draw, note};
use super::{Failure, Route, angara};
use crate::cli::terminal;
use crate::cli::text::{counted, fabric_text};
use flitlab::registry::Row;
use flitlab::routing::{ForwardingTable, Header};
use flitlab::scenario::Network;
use flitlab::tables::ShortestWays;
use flitlab::tables::angara::{Algorithm, DrawnRoute, Parameters, RoutingGraph};
use flitlab::tables::forwarding_path;
use flitlab::topology::Torus;

/// The pair that is looked at.
#[derive(Debug, Serialize)]
struct Place {
    fabric: String,
    algorithm: Option<&'static str>,
    source: String,
    destination: String,
}

impl Place {
    fn new(
        network: &Network,
        algorithm: Option<&'static str>,
        (source, destination): (u32, u32),
    ) -> Self {
        let name = |node| network.fabric.terminal_name(node);
        let (source, destination) = (name(source), name(destination));
        Self { fabric: fabric_text(network), algorithm, source, destination }
    }

    /// A line.
    fn title(&self) -> String {
        let Self { fabric, source, destination, .. } = self;
        let algorithm = self.algorithm.map_or(String::new(), |name| format!(", algorithm {name}"));
        format!("{fabric}{algorithm}, from {source} to {destination}\n")
    }
}

/// The routes of a pair in a table for Angara.
#[derive(Debug, Serialize)]
struct AngaraPair {
    #[serde(flatten)]
    place: Place,
    hops: u16,
    shortest_routes: usize,
    routes: Vec<ListedRoute>,
    /// Where --graph is given.
    graph: Option<GraphReport>,
}

/// A legal route.
#[derive(Debug, Serialize)]
struct ListedRoute {
    /// A direction; the step is one hop.
    first_step: Option<String>,
    directions: Vec<Hops>,
    last_step: Option<String>,
    /// Whether the table has this route.
    in_table: bool,
    /// The share of the pair's packets that take it, from 0 to 1.
    share: f64,
}

/// Hops in one direction.
#[derive(Debug, Serialize)]
struct Hops {
    direction: String,
    hops: u16,
}

impl ListedRoute {
    fn new(torus: &Torus, header: Header, route: &flitlab::routing::Route, share: f64) -> Self {
        let named = |run: &flitlab::routing::Run| Hops {
            direction: torus.direction_name(u32::from(run.port)),
            hops: run.hops,
        };
        let mut directions: Vec<Hops> = route.runs().iter().map(named).collect();
        let first_step = header.first_step().map(|_| directions.remove(0).direction);
        let last_step =
            header.last_step().and_then(|_| directions.pop()).map(|step| step.direction);
        Self { first_step, directions, last_step, in_table: share > 0.0, share }
    }

    fn text(&self) -> String {
        let mut parts: Vec<String> =
            self.first_step.iter().map(|step| format!("first step {step}")).collect();
        parts.extend(self.directions.iter().map(|it| format!("{} {}", it.hops, it.direction)));
        parts.extend(self.last_step.iter().map(|step| format!("last step {step}")));
        let taken = match self.share {
            0.0 => String::new(),
            1.0 => "; the table takes this one".into(),
            share => format!("; {:.1}% of the packets take this one", share * 100.0),
        };
        parts.join(", ") + &taken
    }
}

/// Shows the routes of a pair, and which of them a table for Angara takes.
pub(super) fn angara(
    route: &Route,
    network: &Network,
    (algorithm, parameters): (Row<Algorithm>, &Parameters),
    (source, destination): (u32, u32),
) -> Result<(), Failure> {
    let angara::Made { choices, generated, .. } = angara::generate(network, algorithm, parameters)?;
    let torus = choices.region().torus();
    let place = Place::new(network, Some(algorithm.name), (source, destination));
    let Some(pair) = choices.pair(source, destination) else {
        let Place { source, destination, .. } = &place;
        return Err(Failure::Check(format!(
            "error: there is no legal route from {source} to {destination}"
        )));
    };
    let channels = |header: Header| header.route(torus, source, destination);
    let mut headers: Vec<Header> =
        (0..pair.routes()).map(|number| choices.header(&pair, number)).collect();
    let taken = generated.table.headers(source, destination);
    let round: f64 = taken.iter().map(|it| f64::from(it.1)).sum();
    let share = |route: &flitlab::routing::Route| {
        let own = taken.iter().find(|it| channels(it.0).as_ref() == Some(route));
        own.map_or(0.0, |it| f64::from(it.1) / round)
    };
    // Around failures, an algorithm may know longer routes only.
    for &(chosen, _) in &taken {
        if headers.iter().all(|&header| channels(header) != channels(chosen)) {
            headers.push(chosen);
        }
    }
    let routes: Vec<(Header, flitlab::routing::Route)> =
        headers.into_iter().filter_map(|header| Some((header, channels(header)?))).collect();
    let listed =
        routes.iter().map(|(header, it)| ListedRoute::new(torus, *header, it, share(it))).collect();
    let graph = RoutingGraph::new(choices.region(), parameters.freedoms);
    let drawn: Vec<DrawnRoute> = (1..)
        .zip(&routes)
        .filter_map(|(number, (header, it))| {
            let is_bold = share(it) > 0.0;
            let name = format!("route {number}{}", if is_bold { ", in the table" } else { "" });
            Some(DrawnRoute { path: graph.path(source, *header, it)?, name, is_bold })
        })
        .collect();
    let graph = draw(route, &graph, &graph.between(source, destination), &drawn)?;
    let report = AngaraPair {
        place,
        hops: pair.hops,
        shortest_routes: pair.routes(),
        routes: listed,
        graph,
    };
    route.print(&report, || report.text())?;
    note(route)
}

impl AngaraPair {
    /// A fact a line.
    fn text(&self) -> String {
        let shortest = counted(self.shortest_routes, "legal route");
        let shortest = format!("{shortest} of {}", counted(self.hops.into(), "hop"));
        let mut text = self.place.title() + &terminal::fact("shortest", &shortest, 21);
        for (number, route) in (1..).zip(&self.routes) {
            text += &terminal::fact(&format!("route {number}"), &route.text(), 21);
        }
        text + &self.graph.as_ref().map_or(String::new(), GraphReport::text)
    }
}

/// The way of a pair by a forwarding table.
#[derive(Debug, Serialize)]
struct ForwardingPair {
    #[serde(flatten)]
    place: Place,
    /// Of the fabric's shortest ways.
    shortest_hops: u32,
    /// Those that differ in a channel; none given above 2^64.
    shortest_ways: Option<u64>,
    hops: usize,
    channels: Vec<Hop>,
}

/// A hop of the way.
#[derive(Debug, Serialize)]
struct Hop {
    channel: String,
    lane: u8,
}

/// Shows the way of a pair by a forwarding table.
pub(super) fn forwarding(
    route: &Route,
    network: &Network,
    algorithm: Option<&'static str>,
    table: &ForwardingTable,
    (source, destination): (u32, u32),
) -> Result<(), Failure> {
    let fabric = &network.fabric;
    let flawed = |message| Failure::Check(format!("error: {message}"));
    let path = forwarding_path(fabric, table, source, destination)
        .map_err(|flaw| flawed(flaw.describe(fabric)))?;
    let router = |node| fabric.terminal_router(node).expect("live nodes are named");
    let shortest = ShortestWays::new(fabric, router(source), router(destination));
    let shortest = shortest.expect("the table has a way");
    let hop = |hop: &flitlab::routing::VirtualChannel| Hop {
        channel: fabric.channel_name(hop.channel),
        lane: hop.vc,
    };
    let report = ForwardingPair {
        place: Place::new(network, algorithm, (source, destination)),
        shortest_hops: shortest.hops,
        shortest_ways: shortest.count,
        hops: path.len(),
        channels: path.iter().map(hop).collect(),
    };
    route.print(&report, || report.text())
}

impl ForwardingPair {
    /// A fact a line.
    fn text(&self) -> String {
        let hops = |hops| counted(hops, "hop");
        let ways = match self.shortest_ways {
            Some(1) => "1 way".into(),
            Some(ways) => format!("{ways} ways"),
            None => "more than 2^64 ways".into(),
        };
        let shortest = format!("{ways} of {}", hops(self.shortest_hops as usize));
        let mut text = self.place.title() + &terminal::fact("shortest", &shortest, 21);
        text += &terminal::fact("in the table", &hops(self.hops), 21);
        for (number, Hop { channel, lane }) in (1..).zip(&self.channels) {
            let value = format!("{channel}, virtual channel {lane}");
            text += &terminal::fact(&format!("hop {number}"), &value, 21);
        }
        text
    }
}
