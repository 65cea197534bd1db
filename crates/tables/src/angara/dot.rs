//! The routing graph as a drawing, in Graphviz' language DOT.

use std::io::{self, Write};

use super::{Part, RoutingGraph};

/// Colours of routes that colour-blind readers can tell apart (Okabe and Ito); a pair with more
/// routes has some colours several times.
const COLOURS: [&str; 7] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

/// A route to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawnRoute {
    /// The vertices that it passes, from begin to end ([`RoutingGraph::path`]).
    pub path: Vec<u32>,
    /// The name of the route, which stands at its last edge.
    pub name: String,
    /// Whether it is drawn thicker than the others.
    pub is_bold: bool,
}

impl RoutingGraph<'_, '_> {
    /// Writes a part of the graph: the vertices of each node in a box, an edge of a step with its
    /// direction, an edge to an end dashed. Routes are coloured paths; the edges of several routes
    /// are drawn several times.
    ///
    /// # Errors
    /// Those of the output.
    pub fn write_dot(
        &self,
        part: &Part,
        routes: &[DrawnRoute],
        output: &mut impl Write,
    ) -> io::Result<()> {
        let torus = self.region().torus();
        writeln!(output, "{DOT_START}\n  rankdir=LR;\n  node [shape=box];")?;
        let mut named: Vec<(u32, String)> =
            part.vertices.iter().map(|&vertex| self.name(vertex)).collect();
        // Ends are numbered behind the vertices of all nodes.
        named.sort_by_key(|&(node, _)| node);
        for vertices in named.chunk_by(|one, other| one.0 == other.0) {
            let node = torus.node_name(vertices[0].0);
            writeln!(output, "  subgraph \"cluster {node}\" {{\n    label=\"{node}\";")?;
            for (_, name) in vertices {
                writeln!(output, "    \"{node} {name}\" [label=\"{name}\"];")?;
            }
            writeln!(output, "  }}")?;
        }
        let edge = |(from, to): (u32, u32)| {
            let name = |vertex| {
                let (node, name) = self.name(vertex);
                format!("\"{} {name}\"", torus.node_name(node))
            };
            format!("  {} -> {}", name(from), name(to))
        };
        let drawn: Vec<&[u32]> = routes.iter().flat_map(|route| route.path.windows(2)).collect();
        for &(from, to) in part.edges.iter().filter(|edge| !drawn.contains(&&[edge.0, edge.1][..]))
        {
            let look = match self.step_to(to) {
                Some(step) => format!("label=\"{}\"", torus.direction_name(step)),
                None => "style=dashed".into(),
            };
            writeln!(output, "{} [{look}];", edge((from, to)))?;
        }
        for (route, colour) in routes.iter().zip(COLOURS.iter().cycle()) {
            let width = if route.is_bold { 4 } else { 2 };
            for ends in route.path.windows(2) {
                let label = match self.step_to(ends[1]) {
                    Some(step) => torus.direction_name(step),
                    None => route.name.clone(),
                };
                let look = format!("label=\"{label}\", color=\"{colour}\", penwidth={width}");
                writeln!(output, "{} [{look}];", edge((ends[0], ends[1])))?;
            }
        }
        writeln!(output, "}}")
    }
}

/// The first line of a drawing, by which a file of one is told from others.
pub const DOT_START: &str = "digraph \"routing graph\" {";

#[cfg(test)]
mod tests {
    use super::super::{Choices, Freedoms};
    use super::*;
    use crate::Region;

    fn text(graph: &RoutingGraph<'_, '_>, part: &Part, routes: &[DrawnRoute]) -> String {
        let mut text = Vec::new();
        graph.write_dot(part, routes, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn each_vertex_and_edge_is_drawn_once() {
        let fabric = crate::test_fabric(&[3, 2], &[]);
        let region = Region::new(&fabric);
        let graph = RoutingGraph::new(&region, Freedoms::default());
        let whole = graph.whole();
        let text = text(&graph, &whole, &[]);
        assert!(text.starts_with(DOT_START) && text.ends_with("}\n"));
        assert_eq!(text.matches("subgraph").count(), 6);
        assert_eq!(text.matches(" -> ").count(), whole.edges.len());
        let vertices = text.lines().filter(|line| line.starts_with("    \"")).count();
        assert_eq!(vertices, whole.vertices.len());
    }

    /// From (0,0) to (2,1) of a 4x4 torus: half a ring in x, one step in y.
    #[test]
    fn the_routes_of_a_pair_are_coloured() {
        let fabric = crate::test_fabric(&[4, 4], &[]);
        let region = Region::new(&fabric);
        let graph = RoutingGraph::new(&region, Freedoms::default());
        let choices = Choices::new(region.clone(), Freedoms::default());
        let pair = choices.pair(0, 6).unwrap();
        let route = |number| {
            let header = choices.header(&pair, number);
            let route = header.route(region.torus(), 0, 6).unwrap();
            let path = graph.path(0, header, &route).unwrap();
            DrawnRoute { path, name: format!("route {number}"), is_bold: number == 1 }
        };
        let text = text(&graph, &graph.between(0, 6), &[route(0), route(1)]);
        // Three steps, and the edge to the end.
        assert_eq!(text.matches("color=\"#0072B2\", penwidth=2").count(), 4);
        assert_eq!(text.matches("color=\"#D55E00\", penwidth=4").count(), 4);
        assert!(text.contains("\"(2,1) +x+y\" -> \"(2,1) end\" [label=\"route 0\""), "{text}");
    }
}
