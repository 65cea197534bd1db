//! The routing graph of \[angara-routing\], section 3.
//!
//! For each node the graph has a vertex for what a packet there may have done: nothing yet, a first
//! step, a list of directions, a last step. One more vertex is the end of the routes to the node.
//! The edges follow from the vertices, so they are computed and not stored.
//!
//! In n dimensions a node has 3^n + 2n + 1 vertices. If all its channels exist and no turn breaks
//! the direction order, 5 * 3^n - 3 * 2^n + (3n^2 + n) / 2 - 1 edges leave them. The paper counts
//! 2n 3^n + (3n^2 + 3n) / 2 + 1, which is a bound: it gives each list of directions 2n edges,
//! though few steps keep to the direction order. Two smaller differences cancel out: the paper lets
//! a first step be followed by its opposite, which is of no use, and does not count the edges from
//! first steps to the end. In one dimension there is nothing that a last step could follow, so a
//! node has one vertex and one edge less.

use super::{Freedoms, Turns};
use crate::Region;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, NONE, breadth_first};
use flitlab_routing::{Header, Route};

/// The past of a packet at a node: a kind of vertex. It forgets the first step once directions
/// follow, and these once the last step is made; a route's whole header is read from its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Past {
    header: Header,
    /// The direction of the latest step; none at the source.
    pub(super) latest: Option<u32>,
    pub(super) stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Begin,
    FirstStep,
    Directions,
    LastStep,
}

/// A step from one kind of vertex to another.
#[derive(Clone, Copy, Debug)]
struct Step {
    direction: u32,
    kind: u32,
    /// Whether it is against the direction order, and so needs an allowed turn.
    against: bool,
}

/// The kinds of vertices and the steps between them, alike at every node.
#[derive(Debug)]
struct Kinds {
    pasts: Vec<Past>,
    steps: Vec<Vec<Step>>,
}

impl Kinds {
    fn new(dimensions: usize, first_and_last_steps: bool) -> Self {
        let begin = Past { header: Header::default(), latest: None, stage: Stage::Begin };
        let mut kinds = Self { pasts: vec![begin], steps: Vec::new() };
        let mut place = 0;
        while let Some(&past) = kinds.pasts.get(place) {
            let next = onward(past, narrow(dimensions), first_and_last_steps);
            let steps = next
                .into_iter()
                .map(|(past, against)| Step {
                    direction: past.latest.expect("a step was made"),
                    kind: kinds.number(past),
                    against,
                })
                .collect();
            kinds.steps.push(steps);
            place += 1;
        }
        kinds
    }

    fn number(&mut self, past: Past) -> u32 {
        let known = self.pasts.iter().position(|&other| other == past);
        narrow(known.unwrap_or_else(|| {
            self.pasts.push(past);
            self.pasts.len() - 1
        }))
    }
}

/// The pasts that one more step leads to, and whether that step is against the direction order.
fn onward(past: Past, dimensions: u32, first_and_last_steps: bool) -> Vec<(Past, bool)> {
    let mut next = Vec::new();
    let latest = past.latest;
    for direction in 0..2 * dimensions {
        let (dimension, positive) = ((direction % dimensions) as usize, direction < dimensions);
        if latest.is_some_and(|latest| latest.abs_diff(direction) == dimensions) {
            continue;
        }
        let step = |header, stage| Past { header, latest: Some(direction), stage };
        let list = if past.stage == Stage::FirstStep { Header::default() } else { past.header };
        let directions = step(list.with_direction(dimension, positive), Stage::Directions);
        let ascends = latest.is_none_or(|latest| latest < direction);
        match past.stage {
            Stage::Begin => {
                next.push((directions, false));
                if positive && first_and_last_steps {
                    let header = past.header.with_first_step(dimension);
                    next.push((step(header, Stage::FirstStep), false));
                }
            }
            Stage::FirstStep if latest != Some(direction) => next.push((directions, !ascends)),
            Stage::Directions => {
                let own = past.header.direction(dimension);
                if latest == Some(direction) || ascends && own.is_none() {
                    next.push((directions, false));
                }
                if !positive && first_and_last_steps && latest != Some(direction) {
                    let header = Header::default().with_last_step(dimension);
                    next.push((step(header, Stage::LastStep), !ascends));
                }
            }
            Stage::FirstStep | Stage::LastStep => {}
        }
    }
    next
}

/// The routing graph of a region.
#[derive(Debug)]
pub struct RoutingGraph<'r, 'f> {
    region: &'r Region<'f>,
    turns: Turns,
    kinds: Kinds,
}

/// Vertices and edges of a routing graph, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The numbers of the vertices.
    pub vertices: Vec<u32>,
    /// The vertices at the two ends of each edge.
    pub edges: Vec<(u32, u32)>,
}

impl<'r, 'f> RoutingGraph<'r, 'f> {
    /// The graph of all routes that stay in a region and take only these freedoms.
    pub fn new(region: &'r Region<'f>, freedoms: Freedoms) -> Self {
        let dimensions = region.torus().dimensions();
        let kinds = Kinds::new(dimensions, freedoms.first_and_last_steps);
        Self { region, turns: freedoms.turns(region), kinds }
    }

    /// The nodes that have vertices.
    pub fn region(&self) -> &'r Region<'f> {
        self.region
    }

    /// Number of kinds of vertices, the end not among them.
    fn kinds(&self) -> u32 {
        narrow(self.kinds.pasts.len())
    }

    /// Number of vertices of a node.
    pub fn vertices_per_node(&self) -> u32 {
        self.kinds() + 1
    }

    /// Number of edges that leave the vertices of a node.
    pub fn edges_of(&self, node: u32) -> u32 {
        let steps = |kind| narrow::<u32>(self.successors(self.vertex(node, kind)).count());
        // From each vertex but the end an edge leads to the end.
        (0..self.kinds()).map(|kind| steps(kind) + 1).sum()
    }

    /// Number of vertices of all routers, ends not among them.
    pub(super) fn size(&self) -> usize {
        self.region.fabric().routers() as usize * self.kinds.pasts.len()
    }

    /// The vertex of a node for a kind.
    pub(super) fn vertex(&self, node: u32, kind: u32) -> u32 {
        node * self.kinds() + kind
    }

    /// The node and the kind of a vertex other than an end.
    pub(super) fn node_and_kind(&self, vertex: u32) -> (u32, u32) {
        (vertex / self.kinds(), vertex % self.kinds())
    }

    /// The past of packets at a vertex other than an end.
    pub(super) fn past(&self, vertex: u32) -> &Past {
        &self.kinds.pasts[self.node_and_kind(vertex).1 as usize]
    }

    /// The vertex of packets that have not left a node yet.
    pub(super) fn begin(&self, node: u32) -> u32 {
        self.vertex(node, 0)
    }

    /// The vertex at which routes to a node end. Ends are numbered behind all other vertices.
    fn end(&self, node: u32) -> u32 {
        self.region.fabric().routers() * self.kinds() + node
    }

    /// The vertices after one by a step, with the channels to them.
    pub(super) fn successors(&self, vertex: u32) -> impl Iterator<Item = (u32, Channel)> + '_ {
        let (node, kind) = self.node_and_kind(vertex);
        let latest = self.kinds.pasts[kind as usize].latest;
        self.kinds.steps[kind as usize].iter().filter_map(move |step| {
            let against = step.against
                && !latest.is_some_and(|latest| self.turns.allows(node, latest, step.direction));
            if against {
                return None;
            }
            let next = self.region.step(node, step.direction)?;
            Some((self.vertex(next, step.kind), self.region.channel(node, step.direction)))
        })
    }

    /// The whole graph.
    pub fn whole(&self) -> Part {
        let nodes = self.region.nodes();
        let begun = |&node: &u32| (0..self.kinds()).map(move |kind| self.vertex(node, kind));
        let mut edges = Vec::new();
        for vertex in nodes.iter().flat_map(begun) {
            edges.extend(self.successors(vertex).map(|(next, _)| (vertex, next)));
            edges.push((vertex, self.end(self.node_and_kind(vertex).0)));
        }
        edges.sort_unstable();
        let ends = nodes.iter().map(|&node| self.end(node));
        Part { vertices: nodes.iter().flat_map(begun).chain(ends).collect(), edges }
    }

    /// The part that lies on the shortest routes of a pair of different nodes. It is empty if the
    /// pair has no route.
    pub fn between(&self, source: u32, destination: u32) -> Part {
        let (mut hops, mut order) = (vec![NONE; self.size()], Vec::new());
        let next = |vertex| self.successors(vertex).map(|(next, _)| next);
        breadth_first(self.begin(source), &mut hops, &mut order, next);
        let is_there = |vertex: u32| self.node_and_kind(vertex).0 == destination;
        let least = order.iter().find(|&&vertex| is_there(vertex));
        let Some(least) = least.map(|&vertex| hops[vertex as usize]) else {
            return Part { vertices: Vec::new(), edges: Vec::new() };
        };
        let mut leads_there = vec![false; hops.len()];
        let (mut vertices, mut edges) = (vec![self.end(destination)], Vec::new());
        for &vertex in order.iter().rev() {
            let length = hops[vertex as usize];
            let ends = is_there(vertex) && length == least;
            let before = edges.len();
            edges.extend(ends.then(|| (vertex, self.end(destination))));
            let leading =
                |next: &u32| hops[*next as usize] == length + 1 && leads_there[*next as usize];
            edges.extend(next(vertex).filter(leading).map(|next| (vertex, next)));
            if edges.len() > before {
                leads_there[vertex as usize] = true;
                vertices.push(vertex);
            }
        }
        vertices.sort_unstable();
        edges.sort_unstable();
        Part { vertices, edges }
    }

    /// The vertices that a packet with this header passes on its route, from begin to end. `None`
    /// if the route is no path of the graph.
    pub fn path(&self, source: u32, header: Header, route: &Route) -> Option<Vec<u32>> {
        let mut vertex = self.begin(source);
        let mut path = vec![vertex];
        let last = route.hops().checked_sub(1)?;
        for (hop, port) in (0..).zip(route.ports()) {
            let stage = if hop == 0 && header.first_step().is_some() {
                Stage::FirstStep
            } else if hop == last && header.last_step().is_some() {
                Stage::LastStep
            } else {
                Stage::Directions
            };
            vertex = self.successors(vertex).map(|(next, _)| next).find(|&next| {
                let past = self.past(next);
                (past.stage, past.latest) == (stage, Some(u32::from(port)))
            })?;
            path.push(vertex);
        }
        path.push(self.end(self.node_and_kind(vertex).0));
        Some(path)
    }

    /// The node of a vertex, and the name of the vertex at this node.
    pub(super) fn name(&self, vertex: u32) -> (u32, String) {
        let begun: u32 = narrow(self.size());
        if vertex >= begun {
            return (vertex - begun, "end".into());
        }
        let torus = self.region.torus();
        let past = self.past(vertex);
        let name = match (past.stage, past.latest) {
            (Stage::FirstStep, Some(step)) => format!("first {}", torus.direction_name(step)),
            (Stage::LastStep, Some(step)) => format!("last {}", torus.direction_name(step)),
            (Stage::Directions, _) => past.header.directions_text(torus),
            _ => "begin".into(),
        };
        (self.node_and_kind(vertex).0, name)
    }

    /// The direction of the step to a vertex; `None` for begins and ends.
    pub(super) fn step_to(&self, vertex: u32) -> Option<u32> {
        if vertex as usize >= self.size() { None } else { self.past(vertex).latest }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Choices;
    use super::*;
    use crate::test_fabric as fabric;

    /// Rings of five: every channel exists, and no turn breaks the order.
    #[test]
    fn the_graph_has_the_vertices_of_the_paper_and_no_more_edges() {
        for n in 1..=4 {
            let fabric = fabric(&vec![5; n], &[]);
            let region = Region::new(&fabric);
            let graph = RoutingGraph::new(&region, Freedoms::default());
            let lists = 3u32.pow(narrow(n)) - 1;
            let count = |stage| graph.kinds.pasts.iter().filter(|past| past.stage == stage).count();
            // In one dimension a last step would follow its opposite, or its own direction.
            let missing = usize::from(n == 1);
            assert_eq!(count(Stage::Begin), 1);
            assert_eq!((count(Stage::FirstStep), count(Stage::LastStep)), (n, n - missing));
            assert_eq!(count(Stage::Directions), lists as usize);
            let (n, missing): (u32, u32) = (narrow(n), narrow(missing));
            assert_eq!(graph.vertices_per_node(), 3u32.pow(n) + 2 * n + 1 - missing);
            let edges = 5 * 3u32.pow(n) - 3 * 2u32.pow(n) + (3 * n * n + n) / 2 - 1 - missing;
            assert!(region.nodes().iter().all(|&node| graph.edges_of(node) == edges));
            let at_most = 2 * n * 3u32.pow(n) + (3 * n * n + 3 * n) / 2 + 1;
            assert!(edges < at_most, "{n}: {edges}");
            let Part { vertices, edges: listed } = graph.whole();
            let nodes = region.nodes().len();
            assert_eq!(vertices.len(), nodes * graph.vertices_per_node() as usize);
            assert_eq!(listed.len(), nodes * edges as usize);
        }
    }

    #[test]
    fn turns_add_edges_and_missing_channels_take_some_away() {
        let edges = |sizes: &[u32], cables: &[(u32, u32)], relaxation| {
            let fabric = fabric(sizes, cables);
            let region = Region::new(&fabric);
            let freedoms = Freedoms { first_and_last_steps: true, relaxation };
            let graph = RoutingGraph::new(&region, freedoms);
            region.nodes().iter().map(|&node| graph.edges_of(node)).sum::<u32>()
        };
        assert!(edges(&[2, 2], &[], true) > edges(&[2, 2], &[], false));
        assert!(edges(&[4, 4], &[(0, 0)], false) < edges(&[4, 4], &[], false));
    }

    /// The channels of each shortest path between the ends of a part.
    fn shortest(graph: &RoutingGraph<'_, '_>, part: &Part) -> BTreeSet<Vec<u32>> {
        let mut found = BTreeSet::new();
        let start = part.vertices.iter().find(|&&vertex| graph.name(vertex).1 == "begin");
        let mut open: Vec<(u32, Vec<u32>)> =
            start.map(|&vertex| (vertex, vec![])).into_iter().collect();
        while let Some((vertex, steps)) = open.pop() {
            if graph.name(vertex).1 == "end" {
                found.insert(steps);
                continue;
            }
            for &(_, next) in part.edges.iter().filter(|edge| edge.0 == vertex) {
                let mut steps = steps.clone();
                steps.extend(graph.step_to(next));
                open.push((next, steps));
            }
        }
        found
    }

    /// The list of routes that all algorithms but BFS choose from is made by another search.
    #[test]
    fn the_shortest_paths_of_a_pair_are_its_listed_routes() {
        for (sizes, cables) in [
            (&[4, 4][..], &[][..]),
            (&[2, 2, 2], &[]),
            (&[4, 3], &[(0, 0), (5, 1)]),
            (&[3, 2, 2], &[(0, 0), (0, 1), (0, 2)]),
        ] {
            let fabric = fabric(sizes, cables);
            let region = Region::new(&fabric);
            let graph = RoutingGraph::new(&region, Freedoms::default());
            let choices = Choices::new(region.clone(), Freedoms::default());
            for pair in choices.pairs() {
                let part = graph.between(pair.source, pair.destination);
                let mut listed = BTreeSet::new();
                for number in 0..pair.routes() {
                    let header = choices.header(&pair, number);
                    let route = header.route(region.torus(), pair.source, pair.destination);
                    let route = route.unwrap();
                    listed.insert(route.ports().map(u32::from).collect());
                    let path = graph.path(pair.source, header, &route).unwrap();
                    let drawn = |edge: &[u32]| part.edges.contains(&(edge[0], edge[1]));
                    assert!(path.windows(2).all(drawn), "{sizes:?} {pair:?}");
                }
                assert_eq!(shortest(&graph, &part), listed, "{sizes:?} {cables:?} {pair:?}");
            }
            for &(source, destination) in &choices.unroutable {
                assert_eq!(graph.between(source, destination).edges, []);
            }
        }
    }
}
