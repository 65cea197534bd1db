//! The root of a virtual channel's spanning tree: the router of its hull that most shortest paths
//! lead through (\[betweenness\]).

use crate::agnostic::graph::{Destination, Graph};
use flitlab_base::narrow::narrow;
use flitlab_fabric::NONE;

/// The router with the highest betweenness among those inside the hull, the first of equals.
/// Shortest paths run between the routers inside and the terminals of this part, which count at
/// their routers.
pub(super) fn root(graph: &Graph, part: &[Destination], inside: &[bool]) -> u32 {
    let routers = graph.routers();
    let mut terminals = vec![0.0; routers];
    for destination in part {
        terminals[destination.router as usize] += 1.0;
    }
    let neighbors = Neighbors::new(graph, inside);
    let mut betweenness = vec![0.0; routers];
    let (mut hops, mut order) = (vec![NONE; routers], Vec::with_capacity(routers));
    let (mut paths, mut through) = (vec![0.0; routers], vec![0.0; routers]);
    for start in graph.all_routers().filter(|&router| inside[router as usize]) {
        neighbors.search(start, &mut hops, &mut paths, &mut order);
        through.copy_from_slice(&terminals);
        for &router in order[1..].iter().rev() {
            let at = router as usize;
            let share = (1.0 + through[at]) / paths[at];
            for &(next, cables) in neighbors.of(router) {
                if hops[next as usize] + 1 == hops[at] {
                    through[next as usize] += cables * paths[next as usize] * share;
                }
            }
            // One start is the router itself, the others its terminals.
            betweenness[at] += through[at] * (1.0 + terminals[start as usize]);
        }
        let start = start as usize;
        // Its terminals start paths through it, but not to themselves.
        betweenness[start] += (through[start] - 1.0).max(0.0) * terminals[start];
    }
    let mut best = None;
    for router in (0..routers).filter(|&router| inside[router]) {
        if best.is_none_or(|best: usize| betweenness[best] < betweenness[router]) {
            best = Some(router);
        }
    }
    narrow(best.expect("a part has destinations"))
}

/// The neighbors of each router inside, with the number of cables to them.
struct Neighbors {
    /// Those of router `r` are `list[first[r]..first[r + 1]]`.
    first: Vec<usize>,
    list: Vec<(u32, f64)>,
}

impl Neighbors {
    fn new(graph: &Graph, inside: &[bool]) -> Self {
        let mut first = vec![0];
        let mut list: Vec<(u32, f64)> = Vec::new();
        for router in graph.all_routers() {
            let start = list.len();
            for channel in graph.outputs(router) {
                let next = graph.target(channel);
                if !inside[next as usize] {
                    continue;
                }
                match list[start..].iter_mut().find(|(known, _)| *known == next) {
                    Some((_, cables)) => *cables += 1.0,
                    None => list.push((next, 1.0)),
                }
            }
            first.push(list.len());
        }
        Self { first, list }
    }

    fn of(&self, router: u32) -> &[(u32, f64)] {
        &self.list[self.first[router as usize]..self.first[router as usize + 1]]
    }

    /// Hops from a router, the number of shortest paths, and the routers by ascending hops.
    fn search(&self, start: u32, hops: &mut [u32], paths: &mut [f64], order: &mut Vec<u32>) {
        hops.fill(NONE);
        paths.fill(0.0);
        order.clear();
        hops[start as usize] = 0;
        paths[start as usize] = 1.0;
        order.push(start);
        let mut place = 0;
        while let Some(&router) = order.get(place) {
            place += 1;
            let behind = hops[router as usize] + 1;
            for &(next, cables) in self.of(router) {
                if hops[next as usize] == NONE {
                    hops[next as usize] = behind;
                    order.push(next);
                }
                if hops[next as usize] == behind {
                    paths[next as usize] += cables * paths[router as usize];
                }
            }
        }
    }
}
