//! Balanced shortest paths without regard to deadlock (\[sssp\]).
//!
//! All channels start with a weight above what can ever be added to them, so that paths are
//! shortest ones. P-SSSP finds the lightest paths from all routers to a destination at a time and
//! then adds to the weight of each channel the terminals whose paths take it, as many times more as
//! the channel is slower than the fastest ones. P²-SSSP does so after each path: a source takes the
//! path that is the lightest at that moment. Paths to one destination join, as forwarding by
//! destination has it.

use super::Algorithm;
use super::frontier::{Frontier, scatter};
use super::graph::{Destination, Graph};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `sssp`.
    pub const SSSP: Row<Self> = Row::new(
        "sssp",
        "shortest paths, balanced over the fabric a destination at a time; can deadlock.",
        Self::plain(|task| {
            sssp(&task.graph, &mut task.table);
            Ok(())
        }),
    );

    /// `p2-sssp`.
    pub const P2_SSSP: Row<Self> = Row::new(
        "p2-sssp",
        "shortest paths, balanced over the fabric a path at a time; can deadlock.",
        Self::plain(|task| {
            p2_sssp(&task.graph, &mut task.table);
            Ok(())
        }),
    );
}

/// Distances that the search by levels compares are below two to the power of this.
const DISTANCE_BITS: u32 = 48;

/// Balanced shortest paths, a destination at a time (OpenSM's `sssp`).
pub(super) fn sssp(graph: &Graph, table: &mut ForwardingTable) {
    let mut search = Search::new(graph);
    for &destination in &graph.destinations {
        search.search(destination.router);
        search.write(destination, table);
        search.add_weights();
    }
}

/// Balanced shortest paths, a path at a time.
pub(super) fn p2_sssp(graph: &Graph, table: &mut ForwardingTable) {
    let mut weights = vec![initial_weight(graph); graph.slots()];
    let (mut hops, mut order) = (vec![NONE; graph.routers()], Vec::new());
    let mut way = vec![NONE; graph.routers()];
    for destination in &graph.destinations {
        graph.fill_hops(destination.router, &mut hops, &mut order);
        // The routers nearer by have their ways already.
        for &router in &order[1..] {
            let nearer = graph.outputs(router).filter(|&channel| {
                hops[graph.target(channel) as usize] + 1 == hops[router as usize]
            });
            let weight = |channel: Channel| {
                let mut sum = weights[channel as usize];
                let mut at = graph.target(channel);
                while at != destination.router {
                    let next = way[at as usize];
                    sum += weights[next as usize];
                    at = graph.target(next);
                }
                sum
            };
            let channel = nearer.min_by_key(|&channel| weight(channel));
            way[router as usize] = channel.expect("a router nearer by");
            let mut at = router;
            while at != destination.router {
                let channel = way[at as usize];
                weights[channel as usize] += u64::from(graph.hosts(router)) * graph.cost(channel);
                at = graph.target(way[at as usize]);
            }
        }
        let row = table.row(destination.terminal);
        for &router in &order[1..] {
            row[router as usize] = graph.port(way[router as usize]);
        }
    }
}

/// More than all paths together add to a channel: the square of the number of terminals, if all
/// channels are alike.
fn initial_weight(graph: &Graph) -> u64 {
    graph.weight_above(graph.destinations.len() as u64)
}

/// The lightest paths from all routers to one, found against the direction of the channels: by
/// levels of hops as long as no path with more hops than another can be lighter, else by Dijkstra's
/// algorithm.
pub(super) struct Search<'a> {
    graph: &'a Graph,
    weights: Vec<u64>,
    /// The initial value of each weight, and the most that was added to one.
    initial: u64,
    added: u64,
    /// The router that `hops` lead to, which is the same for all its terminals; [`NONE`] if they
    /// don't.
    levels_of: u32,
    hops: Vec<u32>,
    /// The channels to routers nearer by, and those routers: of the router at a place in `order`,
    /// `nearer[first[place]..first[place + 1]]`.
    nearer: Vec<(Channel, u32)>,
    first: Vec<usize>,
    frontier: Frontier,
    distance: Vec<u64>,
    /// By router, the channel towards the destination.
    way: Vec<Channel>,
    /// Routers as they were reached for good.
    order: Vec<u32>,
    flow: Vec<u64>,
}

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph) -> Self {
        let initial = initial_weight(graph);
        Self {
            graph,
            weights: vec![initial; graph.slots()],
            initial,
            added: 0,
            levels_of: NONE,
            hops: vec![NONE; graph.routers()],
            nearer: Vec::new(),
            first: Vec::new(),
            frontier: Frontier::default(),
            distance: vec![u64::MAX; graph.routers()],
            way: vec![NONE; graph.routers()],
            order: Vec::with_capacity(graph.routers()),
            flow: vec![0; graph.routers()],
        }
    }

    /// Finds the lightest paths from all routers to one.
    pub(super) fn search(&mut self, router: u32) {
        if self.levels_of != router {
            self.find_levels(router);
        }
        let farthest = self.order.last().map_or(0, |&last| self.hops[last as usize]);
        // A path of h hops weighs at most h (initial + added), one of more hops at least (h + 1)
        // initial.
        let levels_are_exact = u64::from(farthest) * self.added < self.initial;
        if levels_are_exact && u64::from(farthest + 1) * self.initial < 1 << DISTANCE_BITS {
            self.search_by_levels(router);
        } else {
            self.search_any(router);
        }
    }

    /// Finds the hops to a router, and the channels that lead nearer to it.
    fn find_levels(&mut self, router: u32) {
        let Self { graph, hops, order, nearer, first, .. } = self;
        graph.fill_hops(router, hops, order);
        nearer.clear();
        first.clear();
        for &from in &*order {
            first.push(nearer.len());
            let ways = graph.outputs(from).map(|channel| (channel, graph.target(channel)));
            nearer.extend(ways.filter(|&(_, at)| hops[at as usize] < hops[from as usize]));
        }
        first.push(nearer.len());
        self.levels_of = router;
    }

    /// Of equally light ways the one over the router that Dijkstra's algorithm would leave first:
    /// the least of one number, without a branch, since which way it is can't be foretold (2.6
    /// times faster on a torus of 6x5x5).
    fn search_by_levels(&mut self, router: u32) {
        let Self { weights, distance, way, order, nearer, first, .. } = self;
        distance[router as usize] = 0;
        way[router as usize] = NONE;
        for (place, &from) in order.iter().enumerate().skip(1) {
            let (mut lightest, mut by) = (u128::MAX, NONE);
            for &(channel, at) in &nearer[first[place]..first[place + 1]] {
                let rest = distance[at as usize];
                let found = rest + weights[channel as usize];
                let key = (u128::from(found) << (DISTANCE_BITS + u32::BITS))
                    | u128::from(rest) << u32::BITS
                    | u128::from(scatter(at));
                (lightest, by) = if key < lightest { (key, channel) } else { (lightest, by) };
            }
            distance[from as usize] = (lightest >> (DISTANCE_BITS + u32::BITS)) as u64;
            way[from as usize] = by;
        }
    }

    /// Dijkstra's algorithm.
    fn search_any(&mut self, router: u32) {
        self.levels_of = NONE;
        self.distance.fill(u64::MAX);
        self.way.fill(NONE);
        self.order.clear();
        self.distance[router as usize] = 0;
        self.frontier.set(router, 0);
        while let Some((at, distance)) = self.frontier.pop() {
            self.order.push(at);
            for channel in self.graph.inputs(at) {
                let from = self.graph.source(channel);
                let new = distance + self.weights[channel as usize];
                if new < self.distance[from as usize] {
                    self.distance[from as usize] = new;
                    self.way[from as usize] = channel;
                    self.frontier.set(from, new);
                }
            }
        }
    }

    pub(super) fn write(&self, destination: Destination, table: &mut ForwardingTable) {
        let row = table.row(destination.terminal);
        for &router in &self.order[1..] {
            row[router as usize] = self.graph.port(self.way[router as usize]);
        }
    }

    /// Adds to each channel the terminals whose paths take it.
    pub(super) fn add_weights(&mut self) {
        for &router in &self.order {
            self.flow[router as usize] = u64::from(self.graph.hosts(router));
        }
        for &router in self.order[1..].iter().rev() {
            let channel = self.way[router as usize];
            let flow = self.flow[router as usize];
            let weight = &mut self.weights[channel as usize];
            *weight += flow * self.graph.cost(channel);
            self.added = self.added.max(*weight - self.initial);
            self.flow[self.graph.target(channel) as usize] += flow;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{random_fabric, torus};
    use super::*;

    #[test]
    fn levels_give_the_ways_of_dijkstras_algorithm() {
        let fabrics = (0..40).map(random_fabric).chain([torus(&[4, 3, 3], 3, 2)]);
        let mut ties = 0;
        for fabric in fabrics {
            let graph = Graph::new(&fabric);
            let mut levels = Search::new(&graph);
            let mut any = Search::new(&graph);
            for destination in &graph.destinations {
                levels.search(destination.router);
                any.search_any(destination.router);
                assert_eq!(levels.distance, any.distance);
                assert_eq!(levels.way, any.way);
                levels.add_weights();
                any.add_weights();
                ties += usize::from(levels.order != any.order);
            }
            assert_eq!(levels.weights, any.weights);
            assert!(levels.added < levels.initial);
        }
        assert!(ties > 0, "routers are left in another order, and nothing depends on it");
    }
}
