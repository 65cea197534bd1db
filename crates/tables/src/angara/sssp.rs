//! SSSP, as \[angara-routing\] has it (Algorithms 3 and 4): unique routes first, then the other
//! pairs by turns, length and source, from each source a batch of routes that do not cross at a
//! time.
//!
//! Algorithm 4 searches the routing graph by breadth first with relaxation; since each channel's
//! weight starts at |N|^2, it finds the shortest routes with the least load. Usually these are
//! looked up here among the pair's shortest routes, which is many times as fast. What the paper
//! leaves open is a [`SsspReading`]: which of equally loaded routes is taken, for example.

use super::graph::RoutingGraph;
use super::reading::{Grouping, PairOrder, RouteTies, SsspReading, UniqueRoutes};
use super::selection::Selection;
use super::{Algorithm, Freedoms, Generated};
use super::{Choices, Pair};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, NONE};

impl Algorithm {
    /// `sssp`.
    pub const SSSP: Row<Self> = Row::new(
        "sssp",
        "the published SSSP, by single-source shortest paths.",
        Self {
            is_random: false,
            follows_rule: false,
            table: |choices, parameters, _| {
                let sssp = sssp_by(choices, parameters.freedoms, parameters.sssp);
                let made = Generated::new(choices.table(&sssp.selection));
                Ok(Generated { sssp_calls: Some(sssp.calls), ..made })
            },
        },
    );
}

/// A selection, and how often Algorithm 4 was called (\[angara-routing\], Figure 4).
#[derive(Clone, Debug)]
pub struct Sssp {
    /// The route of each pair.
    pub selection: Selection,
    /// Number of calls.
    pub calls: u64,
}

/// Chooses a route for every pair by the usual reading.
pub fn sssp(choices: &Choices<'_>) -> Sssp {
    // It does not look at the routing graph.
    sssp_by(choices, Freedoms::default(), SsspReading::default())
}

/// Chooses a route for every pair by a reading, with the freedoms by which the pairs were listed.
pub fn sssp_by(choices: &Choices<'_>, freedoms: Freedoms, reading: SsspReading) -> Sssp {
    let paths = match reading.unique {
        UniqueRoutes::Channels => None,
        UniqueRoutes::Paths => Some(numbers_of_paths(choices, freedoms)),
    };
    let is_unique = |place: u32, pair: &Pair| match &paths {
        None => pair.routes() == 1,
        Some(paths) => paths[place as usize] == 1,
    };
    let unique = Selection::first_routes(choices, is_unique);
    build(choices, freedoms, reading, unique, |place, pair| !is_unique(place, pair))
}

/// Chooses routes like [`sssp`], but without its first stage: unique routes are found in groups
/// like the others. \[angara-routing\], Figure 4, gives the effect of the first stage.
pub fn sssp_in_one_stage(choices: &Choices<'_>) -> Sssp {
    let none = Selection::none(choices);
    build(choices, Freedoms::default(), SsspReading::default(), none, |_, _| true)
}

/// A pair that waits for its route: 8 bytes, as large tori have hundreds of millions. The order of
/// the fields is that of the pairs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Open {
    group: (u16, u16),
    /// The number of its source, times the nodes, plus that of its destination.
    number: u32,
}

/// Adds a route for every pair that is open.
fn build(
    choices: &Choices<'_>,
    freedoms: Freedoms,
    reading: SsspReading,
    mut selection: Selection,
    is_open: impl Fn(u32, &Pair) -> bool,
) -> Sssp {
    let order = places_in_order(choices, reading);
    let nodes: u32 = narrow(order.len());
    let mut numbers = vec![0; order.len()];
    (0..).zip(&order).for_each(|(number, &place)| numbers[place as usize] = number);
    let open = choices.pairs_by_place().filter(|(place, pair)| is_open(*place, pair));
    let open = open.map(|(place, pair)| {
        let turns = u16::from(pair.turns);
        let group = match reading.groups {
            Grouping::Turns => (turns, pair.hops),
            Grouping::Hops => (pair.hops, turns),
            Grouping::HopsOnly => (pair.hops, 0),
        };
        let number = |at: u32| numbers[at as usize];
        Open { group, number: number(place / nodes) * nodes + number(place % nodes) }
    });
    let mut open: Vec<Open> = open.collect();
    open.sort_unstable();
    let graph = matches!(reading.ties, RouteTies::Reached | RouteTies::ReachedLast)
        .then(|| RoutingGraph::new(choices.region(), freedoms));
    let mut tree = graph.as_ref().map(|it| Tree::new(it, reading.ties == RouteTies::ReachedLast));
    let (mut calls, mut channels) = (0, Vec::new());
    // Channels that the present batch uses carry its number.
    let mut used_by = vec![0u64; selection.loads.len()];
    let key = |it: &Open| (it.group, it.number / nodes);
    for group in open.chunk_by(|one, other| key(one) == key(other)) {
        let pair = |it: &Open| {
            let at = |number: u32| order[number as usize];
            let place = at(it.number / nodes) * nodes + at(it.number % nodes);
            (place, choices.at(place))
        };
        let mut waiting: Vec<(u32, Pair)> = group.iter().map(pair).collect();
        while let Some(&(_, Pair { source, hops, .. })) = waiting.first() {
            calls += 1;
            if let Some(tree) = &mut tree {
                tree.grow(source, &selection.loads, hops.into());
            }
            let path = |(place, pair): (u32, Pair)| {
                let number = match (&tree, reading.ties) {
                    (Some(tree), _) => tree.route(choices, &pair),
                    (None, RouteTies::Last) => {
                        selection.least_of(choices, &pair, (0..pair.routes()).rev())
                    }
                    (None, _) => selection.least_loaded(choices, &pair),
                };
                (place, pair, number)
            };
            let paths: Vec<(u32, Pair, usize)> = waiting.drain(..).map(path).collect();
            for (place, pair, number) in paths {
                channels.clear();
                channels.extend(choices.channels(&pair, number));
                if channels.iter().any(|&channel| used_by[channel as usize] == calls) {
                    waiting.push((place, pair));
                    continue;
                }
                for &channel in &channels {
                    used_by[channel as usize] = calls;
                }
                selection.add_over(place, number, pair.weight, channels.iter().copied());
            }
        }
    }
    Sssp { selection, calls }
}

/// The places of the nodes among the region's, in the order in which a reading takes them.
fn places_in_order(choices: &Choices<'_>, reading: SsspReading) -> Vec<u32> {
    let region = choices.region();
    let place = |node: &u32| region.nodes().binary_search(node).expect("a node of the region");
    let order = reading.numbering.nodes(region);
    let mut places: Vec<u32> = order.iter().map(|node| narrow(place(node))).collect();
    if reading.order == PairOrder::Descending {
        places.reverse();
    }
    places
}

/// For each place of a pair how many shortest paths of the routing graph it has.
fn numbers_of_paths(choices: &Choices<'_>, freedoms: Freedoms) -> Vec<u64> {
    let graph = RoutingGraph::new(choices.region(), freedoms);
    let mut tree = Tree::new(&graph, false);
    let no_loads = vec![0; choices.region().fabric().channel_slots() as usize];
    let mut numbers = vec![0; choices.places()];
    for at in 0..choices.region().nodes().len() {
        tree.grow(choices.region().nodes()[at], &no_loads, u32::MAX);
        for (place, pair) in choices.pairs_of(at) {
            numbers[place as usize] = tree.ends[pair.destination as usize].paths;
        }
    }
    numbers
}

/// The share of the pairs that have exactly one shortest path of the routing graph, from 0 to 1: a
/// first step and a direction through the same channel are two.
pub fn single_path_share(choices: &Choices<'_>, freedoms: Freedoms) -> f64 {
    let paths = numbers_of_paths(choices, freedoms);
    let single = paths.iter().filter(|&&paths| paths == 1).count();
    single as f64 / choices.routable().max(1) as f64
}

/// The shortest paths from a source through the routing graph (Algorithm 4), of each node and each
/// vertex those over the channels that carry least.
struct Tree<'g, 'r, 'f> {
    graph: &'g RoutingGraph<'r, 'f>,
    /// Whether of equal paths the last one is kept.
    keeps_last: bool,
    /// By vertex.
    reached: Vec<Reached>,
    /// The vertices that were reached.
    order: Vec<u32>,
    /// By node, the vertex by which routes end there.
    ends: Vec<Reached>,
}

/// How a vertex was reached.
#[derive(Clone, Copy)]
struct Reached {
    /// [`NONE`]: not yet.
    hops: u32,
    /// The vertex before; of a node's end the vertex there.
    from: u32,
    /// What the channels to it carry in all.
    load: u64,
    /// The number of shortest paths to it.
    paths: u64,
}

impl Reached {
    const NOT_YET: Self = Self { hops: NONE, from: NONE, load: 0, paths: 0 };

    /// Takes note of another way to it; whether it is the first.
    fn by(&mut self, way: Self, keeps_last: bool) -> bool {
        if way.hops < self.hops {
            *self = way;
            return true;
        }
        if way.hops == self.hops {
            let paths = self.paths + way.paths;
            if way.load < self.load || keeps_last && way.load == self.load {
                *self = way;
            }
            self.paths = paths;
        }
        false
    }
}

impl<'g, 'r, 'f> Tree<'g, 'r, 'f> {
    fn new(graph: &'g RoutingGraph<'r, 'f>, keeps_last: bool) -> Self {
        Self {
            graph,
            keeps_last,
            reached: vec![Reached::NOT_YET; graph.size()],
            order: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Searches from a source to all nodes at this distance, and nearer ones.
    fn grow(&mut self, source: u32, loads: &[u32], hops: u32) {
        for vertex in self.order.drain(..) {
            self.reached[vertex as usize] = Reached::NOT_YET;
        }
        self.ends.clear();
        self.ends.resize(self.graph.region().fabric().routers() as usize, Reached::NOT_YET);
        let start = self.graph.begin(source);
        self.reached[start as usize] = Reached { hops: 0, from: start, load: 0, paths: 1 };
        self.order.push(start);
        let mut at = 0;
        while let Some(&vertex) = self.order.get(at) {
            at += 1;
            let here = self.reached[vertex as usize];
            let (node, _) = self.graph.node_and_kind(vertex);
            self.ends[node as usize].by(Reached { from: vertex, ..here }, self.keeps_last);
            if here.hops == hops {
                continue;
            }
            for (next, channel) in self.graph.successors(vertex) {
                let load = here.load + u64::from(loads[channel as usize]);
                let way = Reached { hops: here.hops + 1, from: vertex, load, paths: here.paths };
                if self.reached[next as usize].by(way, self.keeps_last) {
                    self.order.push(next);
                }
            }
        }
    }

    /// Which of a pair's routes leads from the source to its destination.
    fn route(&self, choices: &Choices<'_>, pair: &Pair) -> usize {
        let mut vertex = self.ends[pair.destination as usize].from;
        let mut channels: Vec<Channel> = Vec::with_capacity(pair.hops.into());
        while let Some(direction) = self.graph.past(vertex).latest {
            vertex = self.reached[vertex as usize].from;
            let (node, _) = self.graph.node_and_kind(vertex);
            channels.push(self.graph.region().channel(node, direction));
        }
        channels.reverse();
        let is_it = |&number: &usize| choices.channels(pair, number).eq(channels.iter().copied());
        (0..pair.routes()).find(is_it).expect("the list has all shortest paths of the graph")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Region;
    use super::super::reading::Named;
    use super::*;
    use crate::{prove, test_fabric as fabric};

    /// Every channel that a search of the routing graph takes has the least load, and the list has
    /// the route.
    #[test]
    fn every_reading_gives_every_pair_a_shortest_route() {
        for (sizes, cables) in [(&[4, 2, 2][..], &[][..]), (&[5, 4], &[]), (&[3, 3, 2], &[(4, 1)])]
        {
            let fabric = fabric(sizes, cables);
            for relaxation in [false, true] {
                let freedoms = Freedoms { relaxation, ..Freedoms::default() };
                let choices = Choices::new(Region::new(&fabric), freedoms);
                for reading in SsspReading::all() {
                    let sssp = sssp_by(&choices, freedoms, reading);
                    let proof = prove(&fabric, &choices.table(&sssp.selection));
                    assert!(proof.holds(), "{reading:?}: {}", proof.flaws[0].describe(&fabric));
                    let total: u64 = sssp.selection.loads.iter().map(|&it| u64::from(it)).sum();
                    assert_eq!(total, choices.hops(), "{reading:?}: a pair without its route");
                }
            }
        }
    }

    /// The search's routes carry as little as those of the list.
    #[test]
    fn the_search_finds_what_the_list_has() {
        let fabric = fabric(&[4, 3, 2], &[]);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let graph = RoutingGraph::new(choices.region(), Freedoms::default());
        let selection = sssp(&choices).selection;
        for keeps_last in [false, true] {
            let mut tree = Tree::new(&graph, keeps_last);
            for pair in choices.pairs() {
                tree.grow(pair.source, &selection.loads, pair.hops.into());
                let load = |number| -> u64 {
                    let channels = choices.channels(&pair, number);
                    channels.map(|it| u64::from(selection.loads[it as usize])).sum()
                };
                let least = load(selection.least_loaded(&choices, &pair));
                assert_eq!(load(tree.route(&choices, &pair)), least, "{pair:?}");
                assert_eq!(tree.ends[pair.destination as usize].load, least, "{pair:?}");
            }
        }
    }

    #[test]
    fn each_choice_of_a_reading_changes_the_loads() {
        let fabrics = [fabric(&[4, 2, 2, 2], &[]), fabric(&[6, 4, 2], &[])];
        let choices =
            fabrics.each_ref().map(|it| Choices::new(Region::new(it), Freedoms::default()));
        let loads = |reading| {
            let selections = choices.iter().map(|it| sssp_by(it, Freedoms::default(), reading));
            selections.flat_map(|it| it.selection.loads).collect()
        };
        fn changed<N: Named>(loads: impl Fn(N) -> Vec<u32>) {
            let found: BTreeSet<_> = N::ALL.iter().map(|row| loads(row.0)).collect();
            assert_eq!(found.len(), N::ALL.len(), "{}", N::ALL[0].1);
        }
        let usual = SsspReading::default();
        changed(|unique| loads(SsspReading { unique, ..usual }));
        changed(|groups| loads(SsspReading { groups, ..usual }));
        changed(|ties| loads(SsspReading { ties, ..usual }));
        changed(|order| loads(SsspReading { order, ..usual }));
        changed(|numbering| loads(SsspReading { numbering, ..usual }));
    }
}
