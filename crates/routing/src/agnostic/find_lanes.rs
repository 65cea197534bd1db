//! Virtual channels for paths that are there already.

use super::NoTable;
use super::dependency::{Dependencies, first_layer};
use super::graph::Graph;
use crate::{ForwardingTable, Lanes};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, Fabric};

/// Gives each path of a table the first virtual channel in which it closes no cycle with those
/// there already, as LASH does with its own. Paths that lead nowhere are left in virtual channel 0.
///
/// # Errors
/// If so many virtual channels don't suffice; another order of the paths could.
pub fn find_lanes(fabric: &Fabric, table: &mut ForwardingTable, lanes: u8) -> Result<(), NoTable> {
    let graph = Graph::new(fabric);
    let mut layers: Vec<Dependencies<'_>> = Vec::new();
    let mut lane_of = vec![0; graph.routers() * table.terminals() as usize];
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
            let lane = first_layer(&mut layers, &graph, || path.windows(2));
            if lane >= usize::from(lanes) {
                return Err(NoTable::Lanes { algorithm: "this table", lanes });
            }
            lane_of[destination.terminal as usize * graph.routers() + source as usize] =
                narrow(lane);
        }
    }
    table.set_lanes(if layers.len() < 2 { Lanes::One } else { Lanes::ByPair(lane_of) });
    Ok(())
}
