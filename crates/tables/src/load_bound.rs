//! A lower bound on the load of the fullest channel between routers, over all tables.
//!
//! Give each channel a length. The paths of all pairs of terminals together are at least as long as
//! the sum of the pairs' shortest paths. They are at most as long as the maximum load times the sum
//! of all lengths, since no channel is on more paths than that. So the maximum load is at least the
//! quotient, for any lengths. If paths may have the least hops only, only those count, and the
//! quotient is higher. The best lengths are the dual of the linear program of the least maximum
//! load. So their bound is what paths that may be split would reach.
//!
//! Good lengths are high where every choice of paths is crowded. Multiplicative updates (\[young\])
//! find them: each step adds to a channel's exponent the load that the shortest paths put on it.
//! Lengths are whole numbers, so the quotient is exact despite any rounding in the search.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use flitlab_base::narrow::{narrow, rounded};
use flitlab_fabric::{Fabric, NONE};

/// The paths that a table may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paths {
    /// Those with the least hops between routers.
    Minimal,
    /// All paths, with detours.
    Any,
}

/// A lower bound on the edge-forwarding index, with its proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadBound {
    /// Length of each channel. Parallel channels are equally long; vacant ones have length 0.
    pub lengths: Vec<u32>,
    /// The sum of the shortest paths' lengths over all ordered pairs of live terminals.
    pub paths: u128,
    /// The sum of all channels' lengths, in the unit of `paths`. A slower channel counts as much
    /// less.
    pub channels: u128,
}

impl LoadBound {
    /// Searches for lengths with a high bound. Equal fabrics give equal bounds, on any number of
    /// threads.
    pub fn new(fabric: &Fabric, paths: Paths) -> Self {
        let graph = Graph::new(fabric);
        let work = graph.ends.len() as u64 * graph.edges.len() as u64;
        let steps = (WORK / work.max(1)).clamp(1, MAX_STEPS);
        let mut exponents = vec![0.0; graph.edges.len()];
        let mut best: Option<(Vec<u32>, u128, u128)> = None;
        for step in 0..steps {
            let highest = exponents.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let length = |exponent: &f64| rounded(libm::exp(exponent - highest) * LONGEST);
            let lengths: Vec<u32> = exponents.iter().map(length).collect();
            // Loads tell the next step where to go.
            let found = graph.shortest(&lengths, paths, step + 1 < steps);
            let all = graph.total(&lengths);
            // a/b > c/d without dividing.
            if best.as_ref().is_none_or(|(_, paths, channels)| found.paths * channels > paths * all)
            {
                best = Some((lengths, found.paths, all));
            }
            let value = found.paths as f64 / all.max(1) as f64;
            let most = found.loads.iter().copied().fold(0.0, f64::max);
            let pace = 2.0 / (1.0 + step as f64 / 8.0).sqrt();
            for (exponent, load) in exponents.iter_mut().zip(&found.loads) {
                *exponent += pace * (load - value) / most.max(1.0);
            }
        }
        let (lengths, paths, channels) = best.expect("a step at least");
        Self { lengths: graph.by_channel(fabric, &lengths), paths, channels }
    }

    /// The bound before rounding up.
    pub fn value(&self) -> f64 {
        self.paths as f64 / self.channels.max(1) as f64
    }

    /// The bound on a whole number: loads are whole numbers.
    pub fn rounded(&self) -> u64 {
        narrow(self.paths.div_ceil(self.channels.max(1)))
    }
}

/// Channels that the search may look at, destinations times steps included, and its most steps.
const WORK: u64 = 100_000_000;
const MAX_STEPS: u64 = 200;

/// The length of the longest channel.
const LONGEST: f64 = 1_048_576.0;

/// Parts in which destinations are looked at in parallel; fixed, so that sums do not depend on the
/// threads.
const PARTS: usize = 16;

/// All channels from one router to another.
struct Edge {
    source: u32,
    target: u32,
    /// Capacity of the channels together, in parts of a channel of the fastest cables
    /// ([`Graph::unit`]).
    carries: u64,
}

/// Routers joined by edges, each for all parallel channels: making these equally long, at their
/// mean, leaves their total and can only make paths longer.
struct Graph {
    /// Live terminals of each router.
    terminals: Vec<u32>,
    /// Routers with terminals.
    ends: Vec<u32>,
    /// By source.
    edges: Vec<Edge>,
    /// The edges out of router `r` are `first[r]..first[r + 1]`.
    first: Vec<usize>,
    /// The edges into each router.
    into: Vec<Vec<u32>>,
    /// Capacity of a channel of the fastest cables; 1 if all channels are alike.
    unit: u64,
}

/// Into how many parts a channel is divided where others are slower.
const PARTS_OF_CHANNEL: u64 = 1 << 20;

/// The sums over the shortest paths.
struct Shortest {
    /// The length of all of them together.
    paths: u128,
    /// By edge, how many pairs' paths take each of its channels, equally short ones sharing; as
    /// many times as it is slower.
    loads: Vec<f64>,
}

impl Graph {
    fn new(fabric: &Fabric) -> Self {
        let terminals = fabric.terminals_by_router();
        let terminals: Vec<u32> = terminals.iter().map(|own| narrow(own.len())).collect();
        let (mut edges, mut first) = (Vec::new(), vec![0]);
        let mut into = vec![Vec::new(); terminals.len()];
        let unit = if fabric.cable_classes().len() > 1 { PARTS_OF_CHANNEL } else { 1 };
        // Rounded up, so that no bound is too high.
        let part = |channel| -> u64 {
            rounded((unit as f64 / fabric.cable(channel).rate.slowness()).ceil())
        };
        for source in 0..fabric.routers() {
            let own = fabric.outputs(source);
            let mut targets: Vec<(u32, u64)> =
                own.filter_map(|channel| Some((fabric.target(channel)?, part(channel)))).collect();
            targets.sort_unstable();
            for parallel in targets.chunk_by(|one, other| one.0 == other.0) {
                let target = parallel[0].0;
                into[target as usize].push(narrow(edges.len()));
                let carries = parallel.iter().map(|it| it.1).sum();
                edges.push(Edge { source, target, carries });
            }
            first.push(edges.len());
        }
        let ends = (0..fabric.routers()).filter(|&at| terminals[at as usize] > 0).collect();
        Self { terminals, ends, edges, first, into, unit }
    }

    /// The lengths of all channels together, each as often as it carries units.
    fn total(&self, lengths: &[u32]) -> u128 {
        let edges = self.edges.iter().zip(lengths);
        edges.map(|(edge, &length)| u128::from(edge.carries) * u128::from(length)).sum()
    }

    fn by_channel(&self, fabric: &Fabric, lengths: &[u32]) -> Vec<u32> {
        let mut by_channel = vec![0; fabric.channel_slots() as usize];
        for (edge, &length) in self.edges.iter().zip(lengths) {
            for channel in fabric.outputs(edge.source) {
                if fabric.target(channel) == Some(edge.target) {
                    by_channel[channel as usize] = length;
                }
            }
        }
        by_channel
    }

    /// The sums over all shortest paths; loads are 0 unless they are asked for.
    fn shortest(&self, lengths: &[u32], paths: Paths, with_loads: bool) -> Shortest {
        // Where all channels are equally long, the shortest paths are those with the least hops,
        // and found sooner.
        let alike = lengths.windows(2).all(|pair| pair[0] == pair[1]);
        let paths = if alike { Paths::Minimal } else { paths };
        let part = self.ends.len().div_ceil(PARTS).max(1);
        let parts: Vec<Shortest> = self
            .ends
            .par_chunks(part)
            .map(|ends| {
                let mut search = Search::new(self, lengths);
                for &end in ends {
                    match paths {
                        Paths::Minimal => search.by_hops(end),
                        Paths::Any => search.by_length(end),
                    }
                    search.add_lengths(end);
                    if with_loads {
                        search.add_loads(end, paths);
                    }
                }
                search.found
            })
            .collect();
        let mut sum = Shortest { paths: 0, loads: vec![0.0; self.edges.len()] };
        for part in parts {
            sum.paths += part.paths * u128::from(self.unit);
            for (load, more) in sum.loads.iter_mut().zip(part.loads) {
                *load += more;
            }
        }
        for (load, edge) in sum.loads.iter_mut().zip(&self.edges) {
            *load = *load * self.unit as f64 / edge.carries as f64;
        }
        sum
    }
}

/// Shortest paths from all routers to one, and what such searches have found so far.
struct Search<'a> {
    graph: &'a Graph,
    lengths: &'a [u32],
    /// By router, hops to the destination; [`NONE`] for those not reached.
    hops: Vec<u32>,
    distance: Vec<u64>,
    /// By router, its place in `order`.
    place: Vec<u32>,
    /// Routers as they were reached for good, the destination first.
    order: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    flow: Vec<f64>,
    found: Shortest,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Graph, lengths: &'a [u32]) -> Self {
        let routers = graph.terminals.len();
        Self {
            graph,
            lengths,
            hops: vec![NONE; routers],
            distance: vec![u64::MAX; routers],
            place: vec![NONE; routers],
            order: Vec::with_capacity(routers),
            heap: BinaryHeap::new(),
            flow: vec![0.0; routers],
            found: Shortest { paths: 0, loads: vec![0.0; graph.edges.len()] },
        }
    }

    /// Among the paths with the least hops.
    fn by_hops(&mut self, end: u32) {
        self.hops.fill(NONE);
        self.order.clear();
        self.hops[end as usize] = 0;
        self.distance[end as usize] = 0;
        self.order.push(end);
        let mut place = 0;
        while let Some(&at) = self.order.get(place) {
            place += 1;
            for &edge in &self.graph.into[at as usize] {
                let from = self.graph.edges[edge as usize].source;
                let distance = self.distance[at as usize] + u64::from(self.lengths[edge as usize]);
                if self.hops[from as usize] == NONE {
                    self.hops[from as usize] = self.hops[at as usize] + 1;
                    self.distance[from as usize] = distance;
                    self.order.push(from);
                } else if self.hops[from as usize] == self.hops[at as usize] + 1 {
                    self.distance[from as usize] = self.distance[from as usize].min(distance);
                }
            }
        }
    }

    /// Among all paths: Dijkstra's algorithm.
    fn by_length(&mut self, end: u32) {
        self.distance.fill(u64::MAX);
        self.place.fill(NONE);
        self.order.clear();
        self.distance[end as usize] = 0;
        self.heap.push(Reverse((0, end)));
        while let Some(Reverse((distance, at))) = self.heap.pop() {
            if self.place[at as usize] != NONE {
                continue;
            }
            self.place[at as usize] = narrow(self.order.len());
            self.order.push(at);
            for &edge in &self.graph.into[at as usize] {
                let from = self.graph.edges[edge as usize].source;
                let further = distance + u64::from(self.lengths[edge as usize]);
                if further < self.distance[from as usize] {
                    self.distance[from as usize] = further;
                    self.heap.push(Reverse((further, from)));
                }
            }
        }
    }

    /// Terminals at a router times those at another one.
    fn pairs(&self, router: u32, end: u32) -> u64 {
        let terminals = |at: u32| u64::from(self.graph.terminals[at as usize]);
        terminals(router) * terminals(end)
    }

    /// Adds the lengths of the paths to a destination that were found.
    fn add_lengths(&mut self, end: u32) {
        for &at in &self.order[1..] {
            let length = u128::from(self.distance[at as usize]);
            self.found.paths += u128::from(self.pairs(at, end)) * length;
        }
    }

    /// Adds the loads of the paths to a destination that were found.
    fn add_loads(&mut self, end: u32, paths: Paths) {
        let graph = self.graph;
        self.flow.fill(0.0);
        for &at in self.order[1..].iter().rev() {
            let router = at as usize;
            self.flow[router] += self.pairs(at, end) as f64;
            let nearer = |next: u32| match paths {
                Paths::Minimal => self.hops[next as usize] + 1 == self.hops[router],
                Paths::Any => self.place[next as usize] < self.place[router],
            };
            let shortest = |edge: &usize| {
                let next = graph.edges[*edge].target;
                let distance = self.distance[next as usize] + u64::from(self.lengths[*edge]);
                nearer(next) && distance == self.distance[router]
            };
            let out = graph.first[router]..graph.first[router + 1];
            let ways: u64 =
                out.clone().filter(shortest).map(|edge| graph.edges[edge].carries).sum();
            let share = self.flow[router] / ways as f64;
            for edge in out.filter(shortest) {
                let Edge { target, carries, .. } = graph.edges[edge];
                let load = share * carries as f64;
                self.found.loads[edge] += load;
                self.flow[target as usize] += load;
            }
        }
    }
}
