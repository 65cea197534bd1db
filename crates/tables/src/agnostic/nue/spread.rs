//! `nue-spread`: the table of Nue for as many virtual channels or fewer that loads channels and
//! virtual channels least.
//!
//! With more virtual channels Nue's paths are others, not always better ones; and since it assigns
//! near destinations to the same virtual channel, what a switch sends at a time, or what comes to
//! a region, may all be in one of them (results/nue). Paths that close no cycle together close none
//! either where each virtual channel has only some of them. So the destinations of each part of a
//! table for fewer virtual channels can be spread over several ones.

use std::cmp::Reverse;

use super::{Partition, nue};
use crate::agnostic::algorithm::{Algorithm, Parameters, Task};
use crate::agnostic::graph::Graph;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::Channel;
use flitlab_routing::{ForwardingTable, VcAssignment};

impl Algorithm {
    /// `nue-spread`.
    pub const NUE_SPREAD: Row<Self> = Row::new(
        "nue-spread",
        "the best of nue's tables for as many virtual channels or fewer, spread over them.",
        Self {
            avoids_deadlock: true,
            parts_paths: true,
            memory: |at| {
                let loads = at.vcs * (at.vcs + 1) / 2 * at.slots * 8;
                at.pairs(7).saturating_add(at.dependencies + at.turns * 2 + loads)
            },
            ..Self::plain(|task| {
                spread(task);
                Ok(())
            })
        },
    );
}

/// Fills in the table with the lowest load of the fullest channel plus the fullest virtual channel
/// of one, of equal ones that with the most virtual channels. All that fewer virtual channels have
/// to choose from is there with more, so this sum never grows with their number.
fn spread(task: &mut Task<'_>) {
    let vcs = task.parameters.vcs;
    let near = (1..=vcs).map(|parts| (parts, Partition::Near));
    // In turn they are better on some fabrics, worse on others (results/nue); powers of two tell.
    let in_turn = (1..=vcs).filter(|parts| *parts > 1 && parts.is_power_of_two());
    let in_turn = in_turn.map(|parts| (parts, Partition::InTurn));
    let mut best: Option<((u64, Reverse<u8>), ForwardingTable, u32)> = None;
    for (parts, partition) in near.chain(in_turn) {
        let mut table = ForwardingTable::empty(task.fabric);
        let of_parts = Parameters { vcs: parts, partition, spread: None };
        let (falls, _) = nue(&task.graph, &mut table, &of_parts, 1);
        for (used, (fullest, assignment)) in (parts..).zip(spreads(&task.graph, &table, parts, vcs))
        {
            let rank = (fullest, Reverse(used));
            if best.as_ref().is_none_or(|best| rank < best.0) {
                table.set_vc_assignment(assignment);
                best = Some((rank, table.clone(), falls));
            }
        }
    }
    if let Some((_, table, falls)) = best {
        (task.table, task.escape_falls) = (table, Some(falls));
    }
}

/// The virtual channels of the destinations of a table of so many parts if these are spread over
/// each number of virtual channels up to `vcs`, and the load of the fullest channel plus that of
/// the fullest virtual channel of a channel: pairs of terminals, each as often as the channel is
/// slower.
fn spreads(graph: &Graph, table: &ForwardingTable, parts: u8, vcs: u8) -> Vec<(u64, VcAssignment)> {
    let mut spreads: Vec<Spread> =
        (parts..=vcs).map(|vcs| Spread::new(graph, table, vcs)).collect();
    let mut counts = vec![0; usize::from(parts)];
    let mut total = vec![0; graph.slots()];
    let mut flows = vec![0; graph.slots()];
    let mut taken: Vec<Channel> = Vec::new();
    let mut destinations = graph.destinations.clone();
    destinations.sort_unstable_by_key(|at| at.terminal);
    for destination in destinations {
        for router in graph.all_routers().filter(|&at| graph.hosts(at) > 0) {
            let mut at = router;
            while let Some(port) = table.port(at, destination.terminal) {
                let channel = graph.first(at) + u32::from(port);
                if flows[channel as usize] == 0 {
                    taken.push(channel);
                }
                flows[channel as usize] += u64::from(graph.hosts(router)) * graph.cost(channel);
                at = graph.target(channel);
            }
        }
        let part = match table.vc_assignment() {
            VcAssignment::ByDestination(parts) => parts[destination.terminal as usize],
            _ => 0,
        };
        let count = &mut counts[usize::from(part)];
        for spread in &mut spreads {
            spread.add(destination.terminal, (part, parts), *count, &taken, &flows);
        }
        *count += 1;
        for channel in taken.drain(..) {
            total[channel as usize] += std::mem::take(&mut flows[channel as usize]);
        }
    }
    let fullest = total.into_iter().max().unwrap_or(0);
    spreads.into_iter().map(|spread| spread.finished(fullest)).collect()
}

/// The destinations spread over a number of virtual channels.
struct Spread {
    vcs: u8,
    vc_of: Vec<u8>,
    /// By virtual channel, then channel.
    loads: Vec<u64>,
}

impl Spread {
    fn new(graph: &Graph, table: &ForwardingTable, vcs: u8) -> Self {
        let loads = vec![0; usize::from(vcs) * graph.slots()];
        Self { vcs, vc_of: vec![0; table.terminals() as usize], loads }
    }

    /// Assigns the next destination of a part, of which there were `count` before, to one of the
    /// virtual channels of this part, in turn, with what its paths load.
    fn add(
        &mut self,
        terminal: u32,
        (part, parts): (u8, u8),
        count: usize,
        taken: &[Channel],
        flows: &[u64],
    ) {
        let bound =
            |part: u8| (usize::from(part) * usize::from(self.vcs)).div_ceil(usize::from(parts));
        let (first, end) = (bound(part), bound(part + 1));
        let vc = first + count % (end - first);
        self.vc_of[terminal as usize] = narrow(vc);
        let loads = &mut self.loads[vc * flows.len()..][..flows.len()];
        for &channel in taken {
            loads[channel as usize] += flows[channel as usize];
        }
    }

    fn finished(self, fullest: u64) -> (u64, VcAssignment) {
        let figure = fullest + self.loads.into_iter().max().unwrap_or(0);
        let assignment = match self.vcs {
            1 => VcAssignment::One,
            _ => VcAssignment::ByDestination(self.vc_of),
        };
        (figure, assignment)
    }
}
