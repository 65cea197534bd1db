//! The distribution of destinations among virtual channels.

use super::bisection::Weighted;
use crate::agnostic::frontier::scatter;
use crate::agnostic::graph::{Destination, Graph};

/// The rule that distributes destinations among the virtual channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partition {
    /// Near destinations share a virtual channel, by multilevel partitioning of the fabric.
    #[default]
    Near,
    /// Destinations take the virtual channels in turn.
    InTurn,
}

impl Partition {
    /// A part for each virtual channel, in the first order.
    pub(in crate::agnostic) fn parts(self, graph: &Graph, vcs: u8) -> Vec<Vec<Destination>> {
        let mut destinations = graph.destinations.clone();
        order(&mut destinations, 0);
        let vcs = usize::from(vcs);
        let mut parts = vec![Vec::new(); vcs];
        match self {
            Self::InTurn => {
                for (place, &destination) in destinations.iter().enumerate() {
                    parts[place % vcs].push(destination);
                }
            }
            Self::Near => {
                let part_of = weighted(graph).parts(vcs);
                for destination in destinations {
                    parts[part_of[destination.router as usize]].push(destination);
                }
            }
        }
        parts
    }
}

/// Sorts destinations into rounds: one of each router, then another of each, the routers of every
/// round scattered another way. Each `number` of an order scatters them differently.
///
/// The order matters much, if wildly. Paths to the first few terminals of a router block what later
/// destinations would need: on 25 fabrics with one virtual channel 2,253 and 2,891 destinations
/// fell back on the tree in two orders of one router after the other, 529 to 1,140 in five of all
/// terminals scattered, 269 to 835 in fourteen of rounds.
pub(super) fn order(destinations: &mut [Destination], number: u32) {
    destinations.sort_unstable_by_key(|at| (at.router, at.terminal));
    let mut in_rounds = Vec::with_capacity(destinations.len());
    for of_router in destinations.chunk_by(|one, other| one.router == other.router) {
        for (round, destination) in (1..).zip(of_router) {
            let scattered = scatter((destination.router + 1) ^ (2 * number));
            in_rounds.push((round, scattered.wrapping_mul(2 * round + 1), *destination));
        }
    }
    in_rounds.sort_unstable_by_key(|&(round, scattered, _)| (round, scattered));
    for (destination, (_, _, next)) in destinations.iter_mut().zip(in_rounds) {
        *destination = next;
    }
}

/// A vertex for each router, which weighs one more than its terminals, and edges that weigh their
/// cables.
fn weighted(graph: &Graph) -> Weighted {
    let routers = graph.all_routers();
    let neighbors = |router: u32| {
        let mut neighbors: Vec<u32> =
            graph.outputs(router).map(|channel| graph.target(channel)).collect();
        neighbors.sort_unstable();
        neighbors
            .chunk_by(|one, other| one == other)
            .map(|same| (same[0], same.len() as u64))
            .collect()
    };
    Weighted {
        weights: routers.clone().map(|router| u64::from(graph.hosts(router)) + 1).collect(),
        neighbors: routers.map(neighbors).collect(),
    }
}
