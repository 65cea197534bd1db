//! Up*/Down* (\[autonet\]): packets first go up, towards a root, then down, and never up again.
//!
//! A router from which a destination can be reached going down only does so; others go up by the
//! shortest way to such a one. So no packet turns up after it went down, whatever router it came
//! from. (OpenSM's tables make such turns: each router there takes its own shortest legal way, and
//! a packet that arrived going down may be sent up.)
//!
//! The roots are the routers from which nearly all terminals are equally far, as the top of a fat
//! tree is; if there are none, or if from there some pair has no way, the router with the least
//! hops to all terminals. Among ports that are as good a router takes the one with the fewest
//! destinations so far.

use super::Algorithm;
use super::graph::{Destination, Graph};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, NONE, breadth_first};
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `up-down`.
    pub const UP_DOWN: Row<Self> = Row::new(
        "up-down",
        "first up a tree, then down.",
        Self {
            avoids_deadlock: true,
            ..Self::plain(|task| {
                up_down(&task.graph, &mut task.table);
                Ok(())
            })
        },
    )
    .known_as(&["updn"]);
}

/// Fills in the table.
fn up_down(graph: &Graph, table: &mut ForwardingTable) {
    let roots = tops(graph);
    if roots.is_empty() || !fill(graph, &Directions::new(graph, &roots), table) {
        let complete = fill(graph, &Directions::new(graph, &[center(graph)]), table);
        assert!(complete, "every router has a way up to a single root");
    }
}

/// Gives each router a port to each terminal; false if some pair has no way.
pub(super) fn fill(graph: &Graph, directions: &Directions, table: &mut ForwardingTable) -> bool {
    let mut used = vec![0u32; graph.slots()];
    let mut ways = Ways::new(graph);
    for &destination in &graph.destinations {
        if !ways.find(graph, directions, destination.router) {
            return false;
        }
        ways.write(graph, directions, destination, &mut used, table);
    }
    true
}

/// Which way is up.
pub(super) struct Directions {
    /// By router, its place in an order in which each but the roots has a neighbor before it.
    place: Vec<u32>,
    /// The connected routers in that order.
    order: Vec<u32>,
}

impl Directions {
    /// By hops from the nearest root, then by number.
    pub(super) fn new(graph: &Graph, roots: &[u32]) -> Self {
        let mut least = vec![NONE; graph.routers()];
        for &root in roots {
            for (least, hops) in least.iter_mut().zip(graph.hops(root)) {
                *least = (*least).min(hops);
            }
        }
        let mut order: Vec<u32> =
            graph.all_routers().filter(|&router| graph.connected(router)).collect();
        order.sort_unstable_by_key(|&router| (least[router as usize], router));
        Self::ordered(graph, order)
    }

    /// By an order of the connected routers in which each but the first has a neighbor before it.
    pub(super) fn ordered(graph: &Graph, order: Vec<u32>) -> Self {
        let mut place = vec![NONE; graph.routers()];
        for (number, &router) in (0..).zip(&order) {
            place[router as usize] = number;
        }
        Self { place, order }
    }

    /// Whether a channel leads up.
    pub(super) fn up(&self, graph: &Graph, channel: Channel) -> bool {
        self.place[graph.target(channel) as usize] < self.place[graph.source(channel) as usize]
    }
}

/// The legal ways from all routers to one.
pub(super) struct Ways {
    /// By router: hops going down only, [`NONE`] if that does not lead there.
    down: Vec<u32>,
    /// By router: hops going up first where it must.
    hops: Vec<u32>,
}

impl Ways {
    pub(super) fn new(graph: &Graph) -> Self {
        Self { down: vec![NONE; graph.routers()], hops: vec![NONE; graph.routers()] }
    }

    /// False if a router with terminals has none.
    pub(super) fn find(&mut self, graph: &Graph, directions: &Directions, end: u32) -> bool {
        let above = |at| {
            let down = graph.inputs(at).filter(|&channel| !directions.up(graph, channel));
            down.map(|channel| graph.source(channel))
        };
        breadth_first(end, &mut self.down, &mut Vec::new(), above);
        self.hops.copy_from_slice(&self.down);
        // What lies up comes first in the order.
        for &router in &directions.order {
            if self.down[router as usize] == NONE {
                let up = graph.outputs(router).filter(|&channel| directions.up(graph, channel));
                let hops = up.map(|channel| self.hops[graph.target(channel) as usize]).min();
                self.hops[router as usize] = hops.map_or(NONE, |hops| hops.saturating_add(1));
            }
        }
        directions
            .order
            .iter()
            .all(|&router| graph.hosts(router) == 0 || self.hops[router as usize] != NONE)
    }

    pub(super) fn hops(&self, router: u32) -> u32 {
        self.hops[router as usize]
    }

    /// Whether a channel is the start of a router's best way.
    fn leads(&self, graph: &Graph, directions: &Directions, channel: Channel) -> bool {
        let (at, next) = (graph.source(channel) as usize, graph.target(channel) as usize);
        if self.down[at] != NONE {
            !directions.up(graph, channel) && self.down[next] < self.down[at]
        } else {
            directions.up(graph, channel) && self.hops[next] < self.hops[at]
        }
    }

    /// Writes the port of each router that has a way: of those that lead there the one with the
    /// fewest destinations, `used`.
    pub(super) fn write(
        &self,
        graph: &Graph,
        directions: &Directions,
        destination: Destination,
        used: &mut [u32],
        table: &mut ForwardingTable,
    ) {
        let row = table.row(destination.terminal);
        for &router in &directions.order {
            if router == destination.router || self.hops[router as usize] == NONE {
                continue;
            }
            let leading =
                graph.outputs(router).filter(|&channel| self.leads(graph, directions, channel));
            let best = leading.min_by_key(|&channel| used[channel as usize]);
            let channel = best.expect("a way starts with a channel");
            used[channel as usize] += 1;
            row[router as usize] = graph.port(channel);
        }
    }
}

/// The routers from which one distance holds for more than 90% of the terminals and every other for
/// less than 5%.
fn tops(graph: &Graph) -> Vec<u32> {
    let all = graph.destinations.len() as u64;
    let routers = graph.all_routers().filter(|&router| graph.connected(router));
    let top = |&router: &u32| {
        let mut terminals: Vec<u64> = Vec::new();
        for (at, &hops) in (0..).zip(&graph.hops(router)) {
            if graph.hosts(at) > 0 {
                let hops = hops as usize;
                terminals.resize(terminals.len().max(hops + 1), 0);
                terminals[hops] += u64::from(graph.hosts(at));
            }
        }
        let most = terminals.iter().copied().max().unwrap_or(0);
        let others = terminals.iter().filter(|&&count| count != most);
        10 * most > 9 * all && others.into_iter().all(|&count| 20 * count < all)
    };
    let tops: Vec<u32> = routers.filter(top).collect();
    // Routers with terminals are not above others.
    tops.into_iter().filter(|&router| graph.hosts(router) == 0).collect()
}

/// The router with the least hops to all terminals.
pub(super) fn center(graph: &Graph) -> u32 {
    let routers = graph.all_routers().filter(|&router| graph.connected(router));
    let sum = |router: u32| {
        let hops = graph.hops(router);
        let sum: u64 =
            graph.destinations.iter().map(|at| u64::from(hops[at.router as usize])).sum();
        sum
    };
    routers.min_by_key(|&router| (sum(router), router)).expect("a fabric has routers")
}
