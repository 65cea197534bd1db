//! Reachability: whether every live terminal reaches every other, and in how many hops.

use std::collections::VecDeque;

use super::{Fabric, NONE, TopologyError};

/// Hops from a router to each router, or [`NONE`] where there is no path, by breadth-first search.
/// `next` gives the neighbours of a router. `order` receives the routers that are reached, the
/// nearest first.
pub fn breadth_first<N: Iterator<Item = u32>>(
    start: u32,
    hops: &mut [u32],
    order: &mut Vec<u32>,
    next: impl Fn(u32) -> N,
) {
    hops.fill(NONE);
    order.clear();
    hops[start as usize] = 0;
    order.push(start);
    let mut place = 0;
    while let Some(&at) = order.get(place) {
        place += 1;
        for next in next(at) {
            if hops[next as usize] == NONE {
                hops[next as usize] = hops[at as usize] + 1;
                order.push(next);
            }
        }
    }
}

/// The fewest hops between the routers of pairs of terminals. On a torus they are those of a whole
/// one, whatever has failed; 0 where there is no way.
pub fn fewest_hops(fabric: &Fabric, pairs: &[(u32, u32)]) -> Vec<u32> {
    let routers = |&(from, to): &(u32, u32)| {
        Some((fabric.terminal_router(from)?, fabric.terminal_router(to)?))
    };
    let ends: Vec<Option<(u32, u32)>> = pairs.iter().map(routers).collect();
    if let Some(torus) = fabric.torus() {
        let hops = |ends: Option<(u32, u32)>| ends.map_or(0, |(from, to)| torus.hops(from, to));
        return ends.into_iter().map(hops).collect();
    }
    // One search for all pairs of a source.
    let mut by_source: Vec<usize> = (0..ends.len()).filter(|&it| ends[it].is_some()).collect();
    by_source.sort_unstable_by_key(|&it| ends[it]);
    let mut hops = vec![0; fabric.routers() as usize];
    let (mut order, mut start) = (Vec::new(), NONE);
    let mut found = vec![0; ends.len()];
    for (pair, (from, to)) in by_source.into_iter().filter_map(|it| Some((it, ends[it]?))) {
        if from != start {
            start = from;
            let next = |at| fabric.outputs(at).filter_map(|channel| fabric.target(channel));
            breadth_first(start, &mut hops, &mut order, next);
        }
        found[pair] = if hops[to as usize] == NONE { 0 } else { hops[to as usize] };
    }
    found
}

/// Checks that all live terminals reach each other. Cables fail in both directions at once, so the
/// components of an undirected graph are sufficient.
///
/// # Errors
/// Names the first terminal's router and the first one that it can't reach.
pub(super) fn check(fabric: &Fabric) -> Result<(), TopologyError> {
    let mut terminals = vec![0; fabric.routers() as usize];
    for terminal in fabric.live_terminals() {
        terminals[fabric.terminal_router[terminal as usize] as usize] += 1;
    }
    let mut seen = vec![false; fabric.routers() as usize];
    let mut sizes = Vec::new();
    let mut starts = Vec::new();
    for terminal in fabric.live_terminals() {
        let start = fabric.terminal_router[terminal as usize];
        if !seen[start as usize] {
            sizes.push(component(fabric, start, &terminals, &mut seen));
            starts.push(start);
        }
    }
    let live: u64 = sizes.iter().sum();
    if sizes.len() < 2 {
        return if live < 2 {
            Err(TopologyError::Sizes("there are fewer than two live nodes".into()))
        } else {
            Ok(())
        };
    }
    Err(TopologyError::Disconnected {
        from: fabric.router_name(starts[0]),
        to: fabric.router_name(starts[1]),
        pairs: sizes.iter().map(|&size| size * (live - size)).sum(),
    })
}

/// Marks the routers that `start` reaches, and counts their live terminals, given by router.
fn component(fabric: &Fabric, start: u32, terminals: &[u64], seen: &mut [bool]) -> u64 {
    let mut queue = VecDeque::from([start]);
    seen[start as usize] = true;
    let mut size = 0;
    while let Some(router) = queue.pop_front() {
        size += terminals[router as usize];
        for next in fabric.neighbors(router) {
            if !seen[next as usize] {
                seen[next as usize] = true;
                queue.push_back(next);
            }
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Faults, Torus};

    #[test]
    fn the_fewest_hops_of_a_torus_are_those_of_a_search() {
        let ring =
            |sizes: &[u32], open: &[usize]| Torus::new(sizes, open).expect("sizes are sound");
        for torus in [ring(&[5, 4], &[]), ring(&[2, 3, 4], &[2]), ring(&[7], &[0])] {
            let fabric = torus.fabric(&Faults::default()).expect("nothing has failed");
            let all = || 0..fabric.terminals();
            let pairs: Vec<(u32, u32)> =
                all().rev().flat_map(|from| all().map(move |to| (from, to))).collect();
            let found = fewest_hops(&fabric, &pairs);
            let (mut hops, mut order) = (vec![0; fabric.routers() as usize], Vec::new());
            for (&(from, to), found) in pairs.iter().zip(found) {
                let next = |at| fabric.outputs(at).filter_map(|it| fabric.target(it));
                breadth_first(from, &mut hops, &mut order, next);
                assert_eq!(found, hops[to as usize], "{from} to {to}");
            }
        }
    }
}
