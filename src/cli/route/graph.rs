//! Angara's routing graph: its size, and its drawing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Serialize;

use super::{Failure, Route};
use crate::cli::terminal;
use crate::cli::text::torus_text;
use flitlab::scenario::Network;
use flitlab::tables::Region;
use flitlab::tables::angara::{DOT_START, DrawnRoute, Freedoms, Part, RoutingGraph};

/// More edges are not drawn: Graphviz takes minutes for as many, and nobody sees any of them.
const MAX_EDGES: u64 = 20_000;

/// The size of a routing graph.
#[derive(Debug, Serialize)]
pub(super) struct GraphReport {
    vertices_per_node: u32,
    /// The fewest and the most edges that leave the vertices of a node.
    edges_per_node: [u32; 2],
    vertices: u64,
    edges: u64,
    /// Of these, the drawn ones.
    drawn_vertices: usize,
    drawn_edges: usize,
}

impl GraphReport {
    fn new(graph: &RoutingGraph<'_, '_>) -> Self {
        let nodes = graph.region().nodes();
        let edges: Vec<u32> = nodes.iter().map(|&node| graph.edges_of(node)).collect();
        let vertices_per_node = graph.vertices_per_node();
        Self {
            vertices_per_node,
            edges_per_node: [edges.iter().min(), edges.iter().max()]
                .map(|edges| edges.copied().unwrap_or(0)),
            vertices: nodes.len() as u64 * u64::from(vertices_per_node),
            edges: edges.into_iter().map(u64::from).sum(),
            drawn_vertices: 0,
            drawn_edges: 0,
        }
    }

    /// A fact a line.
    pub(super) fn text(&self) -> String {
        let Self { vertices_per_node, edges_per_node: [least, most], vertices, edges, .. } = self;
        let edges_per_node =
            if least == most { least.to_string() } else { format!("{least} to {most}") };
        let size = format!(
            "{vertices_per_node} vertices and {edges_per_node} edges a node, {vertices} and {edges} in all"
        );
        let drawn = format!("{} vertices and {} edges", self.drawn_vertices, self.drawn_edges);
        terminal::fact("routing graph", &size, 21) + &terminal::fact("drawn", &drawn, 21)
    }
}

/// Draws a part of a graph to the file that --graph names.
pub(super) fn draw(
    route: &Route,
    graph: &RoutingGraph<'_, '_>,
    part: &Part,
    routes: &[DrawnRoute],
) -> Result<Option<GraphReport>, Failure> {
    let Some(path) = &route.look.graph else { return Ok(None) };
    route.write(path, |output| graph.write_dot(part, routes, output))?;
    let (drawn_vertices, drawn_edges) = (part.vertices.len(), part.edges.len());
    Ok(Some(GraphReport { drawn_vertices, drawn_edges, ..GraphReport::new(graph) }))
}

/// Says where the drawing is, if there is one.
pub(super) fn note(route: &Route) -> Result<(), Failure> {
    let Some(path) = &route.look.graph else { return Ok(()) };
    route.note(&format!("graph in {}", path.display()))
}

/// Draws the whole graph of a network.
pub(super) fn whole(route: &Route, network: &Network, freedoms: Freedoms) -> Result<(), Failure> {
    let region = Region::new(&network.fabric);
    let graph = RoutingGraph::new(&region, freedoms);
    let edges = GraphReport::new(&graph).edges;
    if edges > MAX_EDGES {
        return Err(Failure::input(format!(
            "the routing graph has {edges} edges, and no more than {MAX_EDGES} can be drawn\n\
             help: --pair A B draws the part on the routes from node A to node B"
        )));
    }
    let report = draw(route, &graph, &graph.whole(), &[])?.expect("a file was named");
    let text = || {
        let nodes = region.nodes().len();
        format!("{}, {nodes} nodes\n{}", torus_text(region.torus()), report.text())
    };
    route.print(&report, text)?;
    note(route)
}

/// Whether a file begins like a drawing of a routing graph.
pub(super) fn is_drawing(path: &Path) -> bool {
    let mut start = vec![0; DOT_START.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == DOT_START.as_bytes()
}
