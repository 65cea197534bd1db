//! Ways in direction order, from docs/model.md alone ("Order of directions"): the rules are all
//! that is shared with the fast engine.

use std::collections::BTreeSet;

use flitlab_fabric::{Fabric, Torus};
use flitlab_routing::{DirectionOrder, HalfRing};

/// A packet's way through the network.
pub struct Way {
    /// Output ports, one a hop.
    pub ports: Vec<u16>,
    /// The dimensions in which it passes the cable between the last coordinate and the first.
    pub datelines: BTreeSet<u32>,
}

/// The way of a source's packet of this number.
pub fn way(fabric: &Fabric, order: &DirectionOrder, ends: (u32, u32), sequence: u32) -> Way {
    let torus = fabric.torus().expect("direction order is for tori");
    let dimensions = torus.dimensions();
    let usual = |dimension| goes_negative(torus, order, ends, dimension, sequence);
    let usual: Vec<Option<bool>> = (0..dimensions).map(usual).collect();
    // All choices of ways round, in the order in which one is taken if failures are in the way of
    // the first.
    let mut choices: Vec<u32> = (0..1 << dimensions).collect();
    let moves = |turned: u32| (0..dimensions).all(|d| turned >> d & 1 == 0 || usual[d].is_some());
    choices.retain(|&turned| moves(turned));
    let steps = |turned: u32| {
        let negative = |d: usize| usual[d].map(|negative| negative != (turned >> d & 1 == 1));
        walk(fabric, torus, order, ends, &(0..dimensions).map(negative).collect::<Vec<_>>())
    };
    let live = choices.into_iter().filter_map(|turned| Some((turned, steps(turned)?)));
    let mut live: Vec<(u32, Way)> = live.collect();
    live.sort_by_key(|(turned, way)| (*turned != 0, way.ports.len(), turned.count_ones(), *turned));
    live.into_iter().next().expect("every pair has a way").1
}

/// Whether the shortest way in a dimension is the negative one; `None` if there is nothing to go.
fn goes_negative(
    torus: &Torus,
    order: &DirectionOrder,
    (source, destination): (u32, u32),
    dimension: usize,
    sequence: u32,
) -> Option<bool> {
    let (from, to) =
        (torus.coordinate(source, dimension), torus.coordinate(destination, dimension));
    if from == to {
        return None;
    }
    if !torus.closed(dimension) {
        return Some(to < from);
    }
    let size = torus.sizes()[dimension];
    let (ahead, behind) = ((to + size - from) % size, (from + size - to) % size);
    if ahead != behind {
        return Some(behind < ahead);
    }
    Some(match order.rules().half_ring {
        HalfRing::Plus => false,
        HalfRing::Balanced => torus.coordinates(source).iter().sum::<u32>() % 2 == 1,
        HalfRing::Random => drawn(order.seed(), source, sequence) >> (32 + dimension) & 1 == 1,
    })
}

/// What SplitMix64 makes of its state.
pub fn splitmix(state: u64) -> u64 {
    let mut z = state;
    z ^= z >> 30;
    z = z.wrapping_mul(13_787_848_793_156_543_929);
    z ^= z >> 27;
    z = z.wrapping_mul(10_723_151_780_598_845_931);
    z ^ z >> 31
}

/// An output of SplitMix64.
pub fn drawn(seed: u64, source: u32, sequence: u32) -> u64 {
    let number = (u128::from(source) << 32) + u128::from(sequence) + 1;
    let step = 11_400_714_819_323_198_485u128;
    splitmix(((u128::from(splitmix(seed)) + number * step) & u128::from(u64::MAX)) as u64)
}

/// Goes from channel to channel, one direction after the other; `None` if one is missing.
fn walk(
    fabric: &Fabric,
    torus: &Torus,
    order: &DirectionOrder,
    (source, destination): (u32, u32),
    negative: &[Option<bool>],
) -> Option<Way> {
    let dimensions = torus.dimensions();
    let mut way = Way { ports: Vec::new(), datelines: BTreeSet::new() };
    let mut at = source;
    let named = order.rules().order.clone();
    let left_out = (0..2 * dimensions as u16).filter(|port| !named.contains(port));
    for port in named.iter().copied().chain(left_out) {
        let dimension = usize::from(port) % dimensions;
        if negative[dimension] != Some(usize::from(port) >= dimensions) {
            continue;
        }
        while torus.coordinate(at, dimension) != torus.coordinate(destination, dimension) {
            let next = fabric.target(fabric.outputs(at).start + u32::from(port))?;
            let step = torus.coordinate(at, dimension).abs_diff(torus.coordinate(next, dimension));
            // In a dimension of two nodes this holds of its one cable, which is in no ring.
            if step + 1 == torus.sizes()[dimension] {
                way.datelines.insert(dimension as u32);
            }
            way.ports.push(port);
            at = next;
        }
    }
    (at == destination).then_some(way)
}
