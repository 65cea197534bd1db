//! The convex hull of a part of the destinations: the routers on shortest paths between them.

use crate::agnostic::graph::{Destination, Graph};
use flitlab_fabric::NONE;

/// For each router, whether it lies in the hull. A router that comes in is a start of shortest
/// paths itself if its number is higher than that of the one whose paths led to it.
pub(super) fn hull(graph: &Graph, part: &[Destination]) -> Vec<bool> {
    let routers = graph.routers();
    let mut inside = vec![false; routers];
    for destination in part {
        inside[destination.router as usize] = true;
    }
    let mut left = graph.connected_routers - inside.iter().filter(|&&inside| inside).count();
    let mut hops = vec![NONE; routers];
    let mut order = Vec::with_capacity(routers);
    let mut followed = vec![false; routers];
    for start in graph.all_routers() {
        if left == 0 {
            break;
        }
        if !inside[start as usize] {
            continue;
        }
        graph.fill_hops(start, &mut hops, &mut order);
        // From the farthest on, each router inside draws in those before it on its shortest paths.
        followed.copy_from_slice(&inside);
        for &router in order.iter().rev() {
            if !followed[router as usize] {
                continue;
            }
            for next in graph.outputs(router).map(|channel| graph.target(channel)) {
                if hops[next as usize] + 1 == hops[router as usize] && !followed[next as usize] {
                    followed[next as usize] = true;
                    inside[next as usize] = true;
                    left -= 1;
                }
            }
        }
    }
    inside
}
