//! LASH-TOR (\[lash-tor\]): packets change to the next virtual channel where their path would close
//! a cycle in the present one.
//!
//! In the paper each path has virtual channel changes of its own. Where routers know a packet by
//! its destination alone, the virtual channel of a channel depends on the router that it leaves and
//! the destination. It is the highest of the virtual channels in which packets arrive, and one more
//! if that closes a cycle. The paths are those of SSSP.

use super::dependency::Dependencies;
use super::graph::Graph;
use super::sssp::sssp;
use super::{Algorithm, Applies, NoTable};
use flitlab_base::registry::Row;
use flitlab_fabric::NONE;
use flitlab_routing::NO_PORT;
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `lash-tor`.
    pub const LASH_TOR: Row<Self> = Row::new(
        "lash-tor",
        "the paths of sssp, changing virtual channels where they would close a cycle.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            applies: Applies::WithVcs,
            memory: |at| at.pairs(3).saturating_add(at.vcs * at.dependencies),
            ..Self::plain(|task| lash_tor(&task.graph, &mut task.table, task.parameters.vcs))
        },
    );
}

/// Fills in the table.
///
/// # Errors
/// If the virtual channels don't suffice.
fn lash_tor(graph: &Graph, table: &mut ForwardingTable, vcs: u8) -> Result<(), NoTable> {
    sssp(graph, table);
    let routers = graph.routers();
    let mut used: Vec<_> = (0..vcs).map(|_| Dependencies::new(graph)).collect();
    let mut vc_of = vec![0u8; routers * table.terminals() as usize];
    let (mut hops, mut order) = (vec![NONE; routers], Vec::new());
    for &destination in &graph.destinations {
        let row = table.row(destination.terminal);
        let channel = |router: u32| graph.first(router) + u32::from(row[router as usize]);
        let start = destination.terminal as usize * routers;
        let vc_of = &mut vc_of[start..start + routers];
        graph.fill_hops(destination.router, &mut hops, &mut order);
        for &router in order[1..].iter().rev() {
            let comes = |&(from, _): &(u32, _)| row[from as usize] != NO_PORT;
            let arriving: Vec<(u8, [u32; 2])> = graph
                .inputs(router)
                .map(|input| (graph.source(input), input))
                .filter(comes)
                .filter(|&(from, input)| channel(from) == input)
                .map(|(from, input)| (vc_of[from as usize], [input, channel(router)]))
                .collect();
            let highest = arriving.iter().map(|(vc, _)| *vc).max().unwrap_or(0);
            let staying = arriving.iter().filter(|(vc, _)| *vc == highest);
            let stays = used[usize::from(highest)].insert_all(staying.map(|(_, pair)| &pair[..]));
            let vc = highest + u8::from(!stays);
            if vc == vcs {
                return Err(NoTable::VirtualChannels { algorithm: "lash-tor", vcs });
            }
            vc_of[router as usize] = vc;
        }
    }
    table.set_vc_assignment(VcAssignment::ByHop(vc_of));
    Ok(())
}
