//! Virtual channels for paths that are there already.

use super::NoTable;
use super::dependency::{Dependencies, first_layer};
use super::graph::Graph;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::{ForwardingTable, VcAssignment};

/// Gives each path of a table the first virtual channel in which it closes no cycle with those
/// there already, as LASH does with its own. Paths that lead nowhere are left in virtual channel 0.
///
/// # Errors
/// If so many virtual channels don't suffice; another order of the paths could.
pub fn find_vcs(fabric: &Fabric, table: &mut ForwardingTable, vcs: u8) -> Result<(), NoTable> {
    let graph = Graph::new(fabric);
    let mut layers: Vec<Dependencies<'_>> = Vec::new();
    let mut vc_of = vec![0; graph.routers() * table.terminals() as usize];
    let mut path: Vec<Channel> = Vec::new();
    for destination in graph.destinations.iter().filter(|at| table.delivers(at.terminal)) {
        for source in graph.all_routers().filter(|&router| graph.hosts(router) > 0) {
            path.clear();
            let mut at = source;
            while let Some(channel) = table.channel(fabric, at, destination.terminal) {
                let Some(next) = fabric.target(channel).filter(|_| path.len() < graph.routers())
                else {
                    break;
                };
                path.push(channel);
                at = next;
            }
            if at != destination.router {
                continue;
            }
            let vc = first_layer(&mut layers, &graph, || path.windows(2));
            if vc >= usize::from(vcs) {
                return Err(NoTable::VirtualChannels { algorithm: "this table", vcs });
            }
            vc_of[destination.terminal as usize * graph.routers() + source as usize] = narrow(vc);
        }
    }
    table.set_vc_assignment(if layers.len() < 2 {
        VcAssignment::One
    } else {
        VcAssignment::ByPair(vc_of)
    });
    Ok(())
}
