//! Nue routing (\[nue\]), after its implementation in OpenSM.
//!
//! The destinations are parted among the virtual channels. A virtual channel's paths are searched
//! on the complete channel dependency graph: its vertices are the channels, its edges all pairs of
//! channels that a packet could take one after the other. A search for the paths to a destination
//! takes an edge into use only if no cycle comes of it. Edges that would close one are blocked for
//! good. Where the search gets stuck with routers left out, it tries other channels next to them,
//! and if that fails, all paths to this destination follow a spanning tree whose edges are in use
//! from the start.
//!
//! The paper colours the parts of the dependency graph that are in use and searches for a cycle
//! only if an edge's ends have the same colour. After a few destinations nearly all have. Here the
//! channels are kept in topological order instead, which says the same at once for most of the
//! others too.

mod bisection;
mod centrality;
mod complete;
mod escape;
mod hull;
mod partition;
mod search;
mod spread;

pub use complete::{CompleteGraph, EdgeStates};
pub(super) use escape::Tree;
pub use partition::Partition;
pub(super) use search::Search;

use super::graph::Graph;
use super::{Algorithm, Parameters};
use flitlab_base::registry::Row;
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `nue`.
    pub const NUE: Row<Self> = Row::new(
        "nue",
        "paths that close no cycle, in any number of virtual channels.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            parts_destinations: true,
            memory: |at| at.pairs(3).saturating_add(at.dependencies + at.turns * 2),
            ..Self::plain(|task| {
                let (falls, complete) = nue(&task.graph, &mut task.table, task.parameters, 1);
                (task.escape_falls, task.complete_graph) = (Some(falls), Some(complete));
                Ok(())
            })
        },
    );
}

/// After so many further orders a virtual channel without paths along the tree is good enough.
const MIN_ORDERS: u8 = 3;

/// Fills in the table and gives the number of destinations whose paths follow the spanning tree,
/// and what became of the complete channel dependency graphs.
///
/// With several `orders`, each virtual channel is routed in a few of them, and in all if paths
/// follow the tree each time. The one with the fewest such destinations counts, of equals that with
/// the lowest maximum.
pub(super) fn nue(
    graph: &Graph,
    table: &mut ForwardingTable,
    &Parameters { vcs, partition, .. }: &Parameters,
    orders: u8,
) -> (u32, CompleteGraph) {
    let vertices = (graph.destinations.len() + graph.connected_routers) as u64;
    let mut weights = vec![graph.weight_above(vertices); graph.slots()];
    let mut vc_of = vec![0; table.terminals() as usize];
    let mut falls = 0;
    let mut complete = CompleteGraph::new(graph);
    let mut search = Search::new(graph);
    for (vc, mut part) in (0..).zip(partition.parts(graph, vcs)) {
        if part.is_empty() {
            complete.add(0, EdgeStates::default());
            continue;
        }
        for destination in &part {
            vc_of[destination.terminal as usize] = vc;
        }
        let hull = hull::hull(graph, &part);
        let root = centrality::root(graph, &part, &hull);
        let tree = Tree::new(graph, &part, root, &weights, |_| true);
        let mut route = |order: u8| {
            partition::order(&mut part, u32::from(order));
            let mut weights = weights.clone();
            let falls = search.route_all(&part, &tree, &mut weights, table);
            (falls, weights.iter().copied().max(), order, weights)
        };
        let mut best = route(0);
        let mut last = 0;
        while (best.0 > 0 || last < MIN_ORDERS) && last + 1 < orders {
            last += 1;
            let other = route(last);
            if (other.0, other.1) < (best.0, best.1) {
                best = other;
            }
        }
        if best.2 != last {
            best = route(best.2);
        }
        falls += best.0;
        complete.add(search.impasses(), search.states());
        weights = best.3;
    }
    table.set_vc_assignment(if vcs == 1 {
        VcAssignment::One
    } else {
        VcAssignment::ByDestination(vc_of)
    });
    (falls, complete)
}
