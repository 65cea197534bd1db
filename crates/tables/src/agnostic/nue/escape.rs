//! The spanning tree of a virtual channel, whose dependencies are in use from the start and can
//! never be blocked.

use crate::agnostic::frontier::Frontier;
use crate::agnostic::graph::{Destination, Graph};
use flitlab_fabric::{Channel, NONE};

/// The lightest paths to a root.
pub(in super::super) struct Tree {
    root: u32,
    /// By router, the channel towards the root.
    up: Vec<Channel>,
    /// The connected routers, the root first, each behind the one that its channel leads to.
    order: Vec<u32>,
    /// Routers behind which, or at which, a destination of the part lies.
    needed: Vec<bool>,
}

impl Tree {
    /// The tree over the channels that are `allowed`.
    pub(in super::super) fn new(
        graph: &Graph,
        part: &[Destination],
        root: u32,
        weights: &[u64],
        allowed: impl Fn(Channel) -> bool,
    ) -> Self {
        let routers = graph.routers();
        let mut distance = vec![u64::MAX; routers];
        let mut up = vec![NONE; routers];
        let mut order = Vec::with_capacity(routers);
        let mut frontier = Frontier::default();
        distance[root as usize] = 0;
        frontier.set(root, 0);
        while let Some((at, reached)) = frontier.pop() {
            order.push(at);
            for channel in graph.inputs(at) {
                let from = graph.source(channel);
                let new = reached + weights[channel as usize];
                if new < distance[from as usize] && allowed(channel) {
                    distance[from as usize] = new;
                    up[from as usize] = channel;
                    frontier.set(from, new);
                }
            }
        }
        let mut needed = vec![false; routers];
        for destination in part {
            needed[destination.router as usize] = true;
        }
        for &router in order[1..].iter().rev() {
            let parent = graph.target(up[router as usize]);
            needed[parent as usize] |= needed[router as usize];
        }
        Self { root, up, order, needed }
    }

    /// The dependencies of all paths along the tree to destinations of the part: towards the root;
    /// away from it, to routers that have destinations behind them; between any two neighbors of
    /// the root.
    pub(in super::super) fn dependencies(&self, graph: &Graph) -> Vec<(Channel, Channel)> {
        let mut dependencies = Vec::new();
        for &router in &self.order[1..] {
            let up = self.up[router as usize];
            let parent = graph.target(up);
            let above = self.up[parent as usize];
            if above != NONE {
                dependencies.push((up, above));
                if self.needed[router as usize] {
                    dependencies.push((graph.opposite(above), graph.opposite(up)));
                }
            }
            if self.needed[router as usize] || parent == self.root {
                let siblings = graph
                    .inputs(parent)
                    .filter(|&input| self.up[graph.source(input) as usize] == input);
                let others = siblings.filter(|&input| input != up);
                dependencies.extend(others.map(|input| (input, graph.opposite(up))));
            }
        }
        dependencies
    }

    /// Sets each router's channel to that along the tree towards a router, which itself gets none.
    pub(in super::super) fn follow(&self, graph: &Graph, router: u32, way: &mut [Channel]) {
        way.copy_from_slice(&self.up);
        let mut at = router;
        let mut up = self.up[at as usize];
        way[at as usize] = NONE;
        while up != NONE {
            at = graph.target(up);
            way[at as usize] = graph.opposite(up);
            up = self.up[at as usize];
        }
    }
}
