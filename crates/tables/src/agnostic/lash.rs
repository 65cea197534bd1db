//! LASH (\[lash\]): shortest paths, each in the first virtual channel in which it closes no cycle
//! with those there already.
//!
//! A path there and the path back go into the same virtual channel. Paths lead from router to
//! router: all terminals of a router are reached alike, except that they take turns on parallel
//! cables.

use super::dependency::{Dependencies, first_layer};
use super::graph::Graph;
use super::{Algorithm, Applies, NoTable};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `lash`.
    pub const LASH: Row<Self> = Row::new(
        "lash",
        "shortest paths, each in the first virtual channel where it closes no cycle.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            applies: Applies::WithVcs,
            memory: |at| {
                let vc_of = at.routers.saturating_mul(at.routers).saturating_mul(5);
                at.pairs(3).saturating_add(vc_of).saturating_add(at.vcs * at.dependencies)
            },
            ..Self::plain(|task| lash(&task.graph, &mut task.table, task.parameters.vcs))
        },
    );
}

/// Fills in the table.
///
/// # Errors
/// If the virtual channels don't suffice.
fn lash(graph: &Graph, table: &mut ForwardingTable, vcs: u8) -> Result<(), NoTable> {
    let ways = Ways::new(graph);
    let routers = graph.routers();
    let mut layers: Vec<Dependencies<'_>> = Vec::new();
    let mut vc_of = vec![0u8; routers * routers];
    let (mut path, mut back) = (Vec::new(), Vec::new());
    let ends: Vec<u32> = graph.all_routers().filter(|&router| graph.hosts(router) > 0).collect();
    for (place, &one) in ends.iter().enumerate() {
        for &other in &ends[place + 1..] {
            ways.path(graph, one, other, &mut path);
            ways.path(graph, other, one, &mut back);
            let pairs = || path.windows(2).chain(back.windows(2));
            let vc = first_layer(&mut layers, graph, pairs);
            if vc >= usize::from(vcs) {
                return Err(NoTable::VirtualChannels { algorithm: "lash", vcs });
            }
            vc_of[other as usize * routers + one as usize] = narrow(vc);
            vc_of[one as usize * routers + other as usize] = narrow(vc);
        }
    }
    let mut pairs = vec![0; routers * table.terminals() as usize];
    let mut turn = vec![0; routers];
    for destination in &graph.destinations {
        let end = destination.router as usize;
        ways.write(graph, destination.router, turn[end], table.row(destination.terminal));
        turn[end] += 1;
        let start = destination.terminal as usize * routers;
        pairs[start..start + routers].copy_from_slice(&vc_of[end * routers..(end + 1) * routers]);
    }
    table.set_vc_assignment(VcAssignment::ByPair(pairs));
    Ok(())
}

/// The first shortest paths that breadth-first search finds, from every router to every other with
/// terminals.
struct Ways {
    routers: usize,
    /// By destination router, then router: the first of the parallel channels to the next router.
    next: Vec<Channel>,
    /// By channel, the first of those parallel to it.
    first: Vec<Channel>,
}

impl Ways {
    fn new(graph: &Graph) -> Self {
        let routers = graph.routers();
        let mut next = vec![NONE; routers * routers];
        let first: Vec<Channel> = graph
            .all_channels()
            .map(|channel| {
                let source = graph.source(channel);
                let parallel =
                    graph.outputs(source).find(|&at| graph.target(at) == graph.target(channel));
                parallel.unwrap_or(channel)
            })
            .collect();
        let mut order = Vec::new();
        for end in graph.all_routers().filter(|&router| graph.hosts(router) > 0) {
            let row = &mut next[end as usize * routers..(end as usize + 1) * routers];
            order.clear();
            order.push(end);
            let mut place = 0;
            while let Some(&at) = order.get(place) {
                place += 1;
                for channel in graph.inputs(at) {
                    let from = graph.source(channel);
                    if row[from as usize] == NONE && from != end {
                        row[from as usize] = first[channel as usize];
                        order.push(from);
                    }
                }
            }
        }
        Self { routers, next, first }
    }

    fn path(&self, graph: &Graph, source: u32, end: u32, path: &mut Vec<Channel>) {
        path.clear();
        let mut at = source;
        while at != end {
            let channel = self.next[end as usize * self.routers + at as usize];
            path.push(channel);
            at = graph.target(channel);
        }
    }

    /// Writes the ports to a router, of parallel cables the one whose turn it is.
    fn write(&self, graph: &Graph, end: u32, turn: usize, row: &mut [u16]) {
        for router in graph.all_routers() {
            let channel = self.next[end as usize * self.routers + router as usize];
            if channel == NONE {
                continue;
            }
            let parallel: Vec<Channel> =
                graph.outputs(router).filter(|&at| self.first[at as usize] == channel).collect();
            row[router as usize] = graph.port(parallel[turn % parallel.len()]);
        }
    }
}
