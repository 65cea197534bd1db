//! How much of the tables changes when a failure has others made.

use flitlab_fabric::Fabric;
use flitlab_routing::{ForwardingTable, RouteTable, Routes};

/// Destinations whose entries are sent together: a subnet manager of InfiniBand sets the forwarding
/// table of a switch in blocks of 64 entries. The tables of Angara's nodes are taken alike.
const BLOCK: u32 = 64;

/// What of the tables is others than before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Destinations for which some entry is another one.
    pub destinations: u32,
    /// Blocks of 64 destinations in the tables of switches, or of sending nodes, with such an entry.
    pub blocks: u64,
}

impl Changes {
    /// Compares tables with those that were made `later` for what is left of a fabric; `None` if
    /// there are none. Only live destinations count, and live holders of tables.
    pub fn between(earlier: &Routes, later: &Routes, left: &Fabric) -> Option<Self> {
        match (earlier, later) {
            (Routes::Forwarding(old), Routes::Forwarding(new)) => {
                Some(of_forwarding(old, new, left))
            }
            (Routes::Table(old), Routes::Table(new)) => Some(of_routes(old, new, left)),
            _ => None,
        }
    }
}

fn of_forwarding(old: &ForwardingTable, new: &ForwardingTable, left: &Fabric) -> Changes {
    let destinations: Vec<u32> = left.live_terminals().collect();
    changes(left.routers(), &destinations, |router, terminal| {
        old.port(router, terminal) != new.port(router, terminal)
            && left.outputs(router).any(|channel| left.target(channel).is_some())
    })
}

fn of_routes(old: &RouteTable, new: &RouteTable, left: &Fabric) -> Changes {
    let mut live: Vec<u32> =
        left.live_terminals().filter_map(|terminal| left.terminal_router(terminal)).collect();
    live.sort_unstable();
    live.dedup();
    changes(left.routers(), &live, |source, destination| {
        live.binary_search(&source).is_ok()
            && old.headers(source, destination) != new.headers(source, destination)
    })
}

/// `differs` says of a holder of a table and a destination whether the entry is another one.
fn changes(holders: u32, destinations: &[u32], differs: impl Fn(u32, u32) -> bool) -> Changes {
    let mut changed = vec![false; destinations.len()];
    let mut blocks = 0;
    for holder in 0..holders {
        let mut last = None;
        for (changed, &destination) in changed.iter_mut().zip(destinations) {
            if differs(holder, destination) {
                *changed = true;
                let block = Some(destination / BLOCK);
                blocks += u64::from(block != last);
                last = block;
            }
        }
    }
    let destinations = changed.iter().map(|&changed| u32::from(changed)).sum();
    Changes { destinations, blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_counted_by_destination_and_by_block() {
        let destinations: Vec<u32> = (0..130).collect();
        let all = changes(2, &destinations, |_, _| true);
        assert_eq!(all, Changes { destinations: 130, blocks: 6 });
        let few = changes(2, &destinations, |holder, to| holder == 1 && [3, 63, 64].contains(&to));
        assert_eq!(few, Changes { destinations: 3, blocks: 2 });
        assert_eq!(changes(2, &destinations, |_, _| false), Changes::default());
    }
}
