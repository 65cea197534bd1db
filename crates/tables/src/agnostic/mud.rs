//! MUD, several Up*/Down* trees (\[mud\]): each virtual channel has a root of its own, and packets
//! take the virtual channel in which their way is shortest.
//!
//! The paper lets each pair choose, which takes several addresses a terminal. Where routers forward
//! by destination alone, all packets to a terminal have to take the same virtual channel: that with
//! the fewest hops from all others, of equals the one with the fewest destinations. Roots are
//! chosen far from each other.

use super::Algorithm;
use super::graph::Graph;
use super::up_down::{Directions, Ways, center};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `mud`.
    pub const MUD: Row<Self> = Row::new(
        "mud",
        "a tree for each virtual channel, each destination in the one that suits it.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            memory: |at| at.pairs(2).saturating_add(at.vcs * (at.slots + at.routers) * 8),
            ..Self::plain(|task| {
                mud(&task.graph, &mut task.table, task.parameters.vcs);
                Ok(())
            })
        },
    );
}

/// Fills in the table.
fn mud(graph: &Graph, table: &mut ForwardingTable, vcs: u8) {
    let trees: Vec<Directions> =
        roots(graph, vcs).iter().map(|&root| Directions::new(graph, &[root])).collect();
    let mut vc_of = vec![0; table.terminals() as usize];
    let mut destinations = vec![0u32; trees.len()];
    let mut used = vec![0; graph.slots()];
    let mut ways: Vec<Ways> = trees.iter().map(|_| Ways::new(graph)).collect();
    for &destination in &graph.destinations {
        for (ways, tree) in ways.iter_mut().zip(&trees) {
            let complete = ways.find(graph, tree, destination.router);
            assert!(complete, "every router has a way up to the root");
        }
        let hops = |vc: usize| -> u64 {
            let routers = graph.all_routers();
            let routers = routers.filter(|&router| graph.hosts(router) > 0);
            routers.map(|at| u64::from(graph.hosts(at)) * u64::from(ways[vc].hops(at))).sum()
        };
        let best = (0..trees.len()).min_by_key(|&vc| (hops(vc), destinations[vc]));
        let vc = best.expect("there is a virtual channel");
        destinations[vc] += 1;
        vc_of[destination.terminal as usize] = narrow(vc);
        ways[vc].write(graph, &trees[vc], destination, &mut used, table);
    }
    table.set_vc_assignment(VcAssignment::ByDestination(vc_of));
}

/// The center, then always the router farthest from those chosen.
fn roots(graph: &Graph, vcs: u8) -> Vec<u32> {
    let mut roots = vec![center(graph)];
    let mut nearest = graph.hops(roots[0]);
    while roots.len() < usize::from(vcs).min(graph.connected_routers) {
        let routers = graph.all_routers().filter(|&router| graph.connected(router));
        let farthest = routers
            .max_by_key(|&router| (nearest[router as usize], std::cmp::Reverse(router)))
            .expect("a fabric has routers");
        roots.push(farthest);
        for (nearest, hops) in nearest.iter_mut().zip(graph.hops(farthest)) {
            *nearest = (*nearest).min(hops);
        }
    }
    roots
}
