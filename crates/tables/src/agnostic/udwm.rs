//! UDWM (\[udwm\]) as a table: Up*/Down* in which a turn from down to up is allowed if it leads to
//! a lower virtual channel ([`relation`](crate::relation_rules)'s `udwm` offers all such ways).
//!
//! The rule of \[udwm\] looks at the virtual channel in which a packet arrives; a table knows the
//! destination alone. So all ways to a destination form a tree here, each router's virtual channel
//! being as high as there are such turns ahead of it. Where virtual channels are left over,
//! destinations are parted among them. Of a router's shortest ways that with the fewest turns is
//! taken, of equals the port with the fewest destinations. If some router would need more virtual
//! channels than there are, all packets to this destination go as Up*/Down* has it.

use super::Algorithm;
use super::graph::{Destination, Graph};
use super::up_down::{Directions, Ways, center};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `udwm`.
    pub const UDWM: Row<Self> = Row::new(
        "udwm",
        "up-down, with turns up again into lower virtual channels.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            memory: |at| at.pairs(3),
            ..Self::plain(|task| {
                udwm(&task.graph, &mut task.table, task.parameters.vcs);
                Ok(())
            })
        },
    );
}

/// Fills in the table.
fn udwm(graph: &Graph, table: &mut ForwardingTable, vcs: u8) {
    let directions = Directions::new(graph, &[center(graph)]);
    let mut vc_of = vec![0u8; graph.routers() * table.terminals() as usize];
    let mut used = vec![0u32; graph.slots()];
    let mut ways = Ways::new(graph);
    for (number, &destination) in graph.destinations.iter().enumerate() {
        let start = destination.terminal as usize * graph.routers();
        let vc_of = &mut vc_of[start..start + graph.routers()];
        let tree = Tree::new(graph, &directions, destination, vcs, &used);
        if tree.complete(graph) {
            let row = table.row(destination.terminal);
            let most = tree.turns.iter().copied().filter(|&turns| turns < vcs).max().unwrap_or(0);
            let spare: u8 = narrow(number % usize::from(vcs - most));
            for router in graph.all_routers().map(|router| router as usize) {
                let channel = tree.channel[router];
                if channel != NONE {
                    row[router] = graph.port(channel);
                    used[channel as usize] += 1;
                    vc_of[router] = tree.turns[router] + spare;
                }
            }
        } else {
            let complete = ways.find(graph, &directions, destination.router);
            assert!(complete, "every router has a way up to the root");
            ways.write(graph, &directions, destination, &mut used, table);
            vc_of.fill(narrow(number % usize::from(vcs)));
        }
    }
    table.set_vc_assignment(if vcs == 1 { VcAssignment::One } else { VcAssignment::ByHop(vc_of) });
}

/// Shortest ways to one destination with few enough turns.
struct Tree {
    /// By router: turns from down to up on its way; 255 without one.
    turns: Vec<u8>,
    /// By router: the first channel of its way.
    channel: Vec<Channel>,
    end: u32,
}

impl Tree {
    fn new(
        graph: &Graph,
        directions: &Directions,
        destination: Destination,
        vcs: u8,
        used: &[u32],
    ) -> Self {
        let end = destination.router;
        let mut tree = Self {
            turns: vec![u8::MAX; graph.routers()],
            channel: vec![NONE; graph.routers()],
            end,
        };
        tree.turns[end as usize] = 0;
        let mut hops = vec![NONE; graph.routers()];
        hops[end as usize] = 0;
        let mut reached = vec![end];
        let mut place = 0;
        while let Some(&at) = reached.get(place) {
            place += 1;
            let next = tree.channel[at as usize];
            for channel in graph.inputs(at) {
                let from = graph.source(channel) as usize;
                let turns =
                    next != NONE && directions.up(graph, next) && !directions.up(graph, channel);
                let turns = tree.turns[at as usize] + u8::from(turns);
                let further = hops[at as usize] + 1;
                if turns >= vcs || hops[from] < further {
                    continue;
                }
                let better = |old: Channel| {
                    (turns, used[channel as usize]) < (tree.turns[from], used[old as usize])
                };
                if hops[from] == NONE {
                    hops[from] = further;
                    reached.push(graph.source(channel));
                } else if !better(tree.channel[from]) {
                    continue;
                }
                tree.turns[from] = turns;
                tree.channel[from] = channel;
            }
        }
        tree
    }

    /// Whether all routers with terminals have a way.
    fn complete(&self, graph: &Graph) -> bool {
        graph
            .all_routers()
            .all(|at| graph.hosts(at) == 0 || at == self.end || self.channel[at as usize] != NONE)
    }
}
