//! MinHop, OpenSM's first choice: of the ports on shortest paths each router takes the one with the
//! fewest destinations so far. It has no regard to deadlock.

use super::Algorithm;
use super::graph::Graph;
use flitlab_base::registry::Row;
use flitlab_fabric::NONE;
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `min-hop`.
    pub const MIN_HOP: Row<Self> = Row::new(
        "min-hop",
        "shortest paths, each router balances its own ports; can deadlock.",
        Self::plain(|task| {
            min_hop(&task.graph, &mut task.table);
            Ok(())
        }),
    )
    .known_as(&["minhop", "minimal"]);
}

/// Fills in the table.
fn min_hop(graph: &Graph, table: &mut ForwardingTable) {
    let mut used = vec![0u32; graph.slots()];
    let (mut hops, mut order) = (vec![NONE; graph.routers()], Vec::new());
    for destination in &graph.destinations {
        graph.fill_hops(destination.router, &mut hops, &mut order);
        let row = table.row(destination.terminal);
        for &router in &order[1..] {
            let nearer = graph.outputs(router).filter(|&channel| {
                hops[graph.target(channel) as usize] + 1 == hops[router as usize]
            });
            let best = nearer.min_by_key(|&channel| used[channel as usize]);
            let channel = best.expect("a router nearer by");
            used[channel as usize] += 1;
            row[router as usize] = graph.port(channel);
        }
    }
}
