//! Left-right routing as a table: packets first go left in the preorder of a breadth-first tree,
//! then right, as Up*/Down* goes up, then down. [`relation`](crate::relation_rules)'s `left-right` offers
//! all shortest such ways.
//!
//! A router's port has to suit packets from everywhere, so, as with `up-down`, a router from which
//! a destination can be reached going right only does so, and others go left by the shortest way to
//! such a one. The root is the router with the least hops to all terminals.

use super::Algorithm;
use super::graph::Graph;
use super::up_down::{Directions, center, fill};
use flitlab_base::registry::Row;
use flitlab_fabric::NONE;

impl Algorithm {
    /// `left-right`.
    pub const LEFT_RIGHT: Row<Self> = Row::new(
        "left-right",
        "first left in a tree's preorder, then right.",
        Self {
            avoids_deadlock: true,
            ..Self::plain(|task| {
                let directions = Directions::ordered(&task.graph, preorder(&task.graph));
                let complete = fill(&task.graph, &directions, &mut task.table);
                assert!(complete, "every router has a way left to the root");
                Ok(())
            })
        },
    );
}

/// The connected routers in preorder, children by hops from the root and number.
fn preorder(graph: &Graph) -> Vec<u32> {
    let root = center(graph);
    let mut parent = vec![NONE; graph.routers()];
    let (mut hops, mut order) = (vec![NONE; graph.routers()], Vec::new());
    graph.fill_hops(root, &mut hops, &mut order);
    let mut children = vec![Vec::new(); graph.routers()];
    for &at in &order {
        for next in graph.outputs(at).map(|channel| graph.target(channel)) {
            if next != root
                && parent[next as usize] == NONE
                && hops[next as usize] > hops[at as usize]
            {
                parent[next as usize] = at;
                children[at as usize].push(next);
            }
        }
    }
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(at) = open.pop() {
        found.push(at);
        let own = &mut children[at as usize];
        own.sort_unstable();
        open.extend(own.iter().rev());
    }
    found
}
