//! A table for what failures leave of a fabric, in which the ways to all destinations stay that the
//! failures don't concern.
//!
//! A destination is concerned if the entry of some router for it leads to a channel that is not
//! there any more, or is missing. Ways to the others stay as they are, with their virtual channels;
//! ways to concerned destinations are those of a table that was made for what is left. Ways of two
//! tables can wait for each other in a circle although those of each can't. So the paths to
//! concerned destinations get virtual channels anew, as those of \[lash\] do: each the one that its
//! own table gives it, or else the first one in which it closes no cycle with the paths there.

use super::dependency::Dependencies;
use super::graph::{Destination, Graph};
use flitlab_fabric::{Channel, Fabric, NONE};
use flitlab_routing::{ForwardingTable, VcAssignment};

/// Why some ways of a table can't stay while others change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotKept {
    /// The virtual channel of a hop follows from the destination, and has to change with it.
    #[error(
        "packets change virtual channels on their way, so ways of two tables don't go together"
    )]
    ByHop,
    /// A path closes a cycle in each virtual channel.
    #[error(
        "beside the ways that stay, a new one closes a cycle in each of the {0} virtual channels"
    )]
    VirtualChannels(u8),
}

/// Returns a table for `left` with the entries of `old` for all destinations that are not
/// concerned, and those of `new`, which was made for `left`, for the others. Paths are parted among
/// `vcs` virtual channels, if `old` is free of deadlock; otherwise they keep theirs.
///
/// # Errors
/// If there is no such table.
pub fn keep_unconcerned(
    left: &Fabric,
    old: &ForwardingTable,
    new: &ForwardingTable,
    vcs: u8,
) -> Result<ForwardingTable, NotKept> {
    let graph = Graph::new(left);
    let mut table = new.clone();
    let routers = graph.routers();
    let mut vc_of = vec![0; routers * new.terminals() as usize];
    let mut layers: Vec<_> = (0..vcs).map(|_| Dependencies::new(&graph)).collect();
    let sources: Vec<u32> = graph.all_routers().filter(|&router| graph.hosts(router) > 0).collect();
    let is_kept = |to: &Destination| is_unconcerned(&graph, old, to);
    let (kept, concerned): (Vec<Destination>, Vec<_>) =
        graph.destinations.iter().copied().partition(is_kept);
    let mut path = Vec::new();
    let mut is_free = true;
    for destination in &kept {
        let terminal = destination.terminal;
        for router in graph.all_routers() {
            table.set(router, terminal, old.port(router, terminal));
        }
        for &source in &sources {
            let vc = path_vc(old, source, terminal)?;
            vc_of[terminal as usize * routers + source as usize] = vc;
            find_path(&graph, &table, source, destination, &mut path);
            let layer = layers.get_mut(usize::from(vc));
            is_free &= layer.is_some_and(|layer| layer.insert_all(path.windows(2)));
        }
    }
    for destination in &concerned {
        for &source in &sources {
            let own = path_vc(new, source, destination.terminal)?;
            find_path(&graph, &table, source, destination, &mut path);
            let mut fits = |vc: &u8| layers[usize::from(*vc)].insert_all(path.windows(2));
            let vc = match is_free {
                true => [own].into_iter().chain(0..vcs).find(|vc| fits(vc)),
                false => Some(own),
            };
            let vc = vc.ok_or(NotKept::VirtualChannels(vcs))?;
            vc_of[destination.terminal as usize * routers + source as usize] = vc;
        }
    }
    let one = vc_of.iter().all(|&vc| vc == 0);
    table.set_vc_assignment(if one { VcAssignment::One } else { VcAssignment::ByPair(vc_of) });
    Ok(table)
}

/// Whether all routers still have the way to a destination that a table gives them.
fn is_unconcerned(graph: &Graph, table: &ForwardingTable, to: &Destination) -> bool {
    let mut others = graph.all_routers().filter(|&it| it != to.router && graph.connected(it));
    others.all(|router| {
        let channel = channel(graph, table, router, to.terminal);
        channel.is_some_and(|channel| graph.target(channel) != NONE)
    })
}

fn channel(graph: &Graph, table: &ForwardingTable, router: u32, terminal: u32) -> Option<Channel> {
    table.port(router, terminal).map(|port| graph.first(router) + u32::from(port))
}

/// The virtual channel of the paths from a router to a terminal.
fn path_vc(table: &ForwardingTable, source: u32, terminal: u32) -> Result<u8, NotKept> {
    match table.vc_assignment() {
        VcAssignment::One => Ok(0),
        VcAssignment::ByDestination(vcs) => Ok(vcs[terminal as usize]),
        VcAssignment::ByPair(vcs) => {
            let routers = table.routers() as usize;
            Ok(vcs[terminal as usize * routers + source as usize])
        }
        VcAssignment::ByHop(_) | VcAssignment::ByServiceLevel(_) => Err(NotKept::ByHop),
    }
}

/// The channels that packets take from a router to a destination.
fn find_path(
    graph: &Graph,
    table: &ForwardingTable,
    source: u32,
    to: &Destination,
    path: &mut Vec<Channel>,
) {
    path.clear();
    let mut at = source;
    while at != to.router {
        let channel = channel(graph, table, at, to.terminal).expect("every router has a way");
        assert!(path.len() < graph.slots(), "no way leads back");
        path.push(channel);
        at = graph.target(channel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agnostic::{ALGORITHMS, Algorithm, Parameters};
    use crate::{ForwardingFlaw, prove_forwarding, test_fabric};

    /// A torus, what is left of it without two cables, and the tables of both.
    fn made(algorithm: &Algorithm, vcs: u8) -> Option<(Fabric, ForwardingTable, ForwardingTable)> {
        let whole = test_fabric(&[4, 4], &[]);
        let cables: Vec<Channel> = whole.cables().take(7).step_by(3).collect();
        let left = whole.without(&cables, &[]);
        let parameters = Parameters { vcs, ..Parameters::default() };
        let table =
            |fabric: &Fabric| algorithm.generate(fabric, &parameters).ok().map(|it| it.table);
        let (old, new) = (table(&whole)?, table(&left)?);
        Some((left, old, new))
    }

    #[test]
    fn destinations_that_are_not_concerned_keep_their_ways_and_no_cycle_is_closed() {
        let (mut seen, mut parted) = (0, 0);
        for algorithm in &ALGORITHMS {
            let Some((left, old, new)) = made(algorithm, 4) else { continue };
            let Ok(table) = keep_unconcerned(&left, &old, &new, 4) else { continue };
            let graph = Graph::new(&left);
            let mut kept = 0;
            for to in &graph.destinations {
                let is_kept = is_unconcerned(&graph, &old, to);
                let of = if is_kept { &old } else { &new };
                kept += u32::from(is_kept);
                for router in 0..16 {
                    assert_eq!(table.port(router, to.terminal), of.port(router, to.terminal));
                    if is_kept {
                        let [was, is] = [&old, &table].map(|it| path_vc(it, router, to.terminal));
                        assert_eq!(was, is, "{}", algorithm.name);
                    }
                }
            }
            assert!(kept < 16, "{}: cables are used", algorithm.name);
            let flaws = prove_forwarding(&left, &table).flaws;
            if algorithm.avoids_deadlock {
                assert!(flaws.is_empty(), "{}: {flaws:?}", algorithm.name);
            }
            assert!(flaws.iter().all(|flaw| matches!(flaw, ForwardingFlaw::Cycle(_))));
            seen += 1;
            parted += u32::from(kept > 0);
        }
        assert!(seen >= 8 && parted >= 4, "{seen} {parted}");
    }

    #[test]
    fn tables_that_dont_go_together_are_refused() {
        let (left, old, new) = made(&Algorithm::LASH_TOR, 4).expect("it has tables for tori");
        assert_eq!(keep_unconcerned(&left, &old, &new, 4), Err(NotKept::ByHop));
        // Shortest ways round a ring of four need a second virtual channel.
        let (left, old, new) = made(&Algorithm::LASH, 4).expect("four suffice");
        let lanes = old.vc_count().max(new.vc_count());
        assert!(lanes > 1);
        let few = (1..=4).map(|vcs| keep_unconcerned(&left, &old, &new, vcs).is_ok());
        assert!(few.is_sorted());
    }
}
