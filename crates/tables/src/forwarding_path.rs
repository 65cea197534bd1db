//! The path of one pair by a forwarding table, and how many shortest ways its fabric has.

use super::ForwardingFlaw;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Fabric, NONE, breadth_first};
use flitlab_routing::{ForwardingTable, VirtualChannel};

/// The channels that packets of a table take from one live terminal to another, with their virtual
/// channels.
///
/// # Errors
/// The flaw of the table that keeps the packets from their destination.
///
/// # Panics
/// If a terminal has failed.
pub fn forwarding_path(
    fabric: &Fabric,
    table: &ForwardingTable,
    source: u32,
    terminal: u32,
) -> Result<Vec<VirtualChannel>, ForwardingFlaw> {
    let router = |terminal| fabric.terminal_router(terminal).expect("live terminals only");
    let (start, end) = (router(source), router(terminal));
    let class = table.class(fabric, source, terminal);
    let (mut at, mut input) = (start, None);
    let mut path = Vec::new();
    let mut passed = vec![];
    while at != end {
        if let Some(first) = passed.iter().position(|&router| router == at) {
            return Err(ForwardingFlaw::Loop { terminal, routers: passed.split_off(first) });
        }
        passed.push(at);
        let Some(port) = table.port(at, terminal) else {
            return Err(ForwardingFlaw::Missing { source: start, terminal, at });
        };
        let outputs = fabric.outputs(at);
        let channel = outputs.start + u32::from(port);
        let next = outputs.contains(&channel).then(|| fabric.target(channel)).flatten();
        let Some(next) = next else {
            return Err(ForwardingFlaw::NoChannel { router: at, terminal, port });
        };
        let vc = table.vc(at, terminal, class, input, port);
        if table.discards(vc) {
            return Err(ForwardingFlaw::Discarded { source, terminal, at });
        }
        path.push(VirtualChannel { channel, vc });
        let back = fabric.opposite(channel).expect("cables have two directions");
        input = Some(narrow(back - fabric.outputs(next).start));
        at = next;
    }
    if !table.delivers(terminal) {
        return Err(ForwardingFlaw::Missing { source: start, terminal, at });
    }
    Ok(path)
}

/// The shortest ways between two routers, whatever a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortestWays {
    /// Hops of each.
    pub hops: u32,
    /// Number of ways that differ in a channel; `None` above 2^64.
    pub count: Option<u64>,
}

impl ShortestWays {
    /// Counts the ways from one router to another. `None` if there is no way.
    pub fn new(fabric: &Fabric, from: u32, to: u32) -> Option<Self> {
        let (mut hops, mut order) = (vec![NONE; fabric.routers() as usize], Vec::new());
        breadth_first(from, &mut hops, &mut order, |at| fabric.neighbors(at));
        if hops[to as usize] == NONE {
            return None;
        }
        let mut counts = vec![Some(0u64); hops.len()];
        counts[from as usize] = Some(1);
        for &at in &order {
            let ways = counts[at as usize];
            // Parallel cables are neighbours several times.
            for next in fabric.neighbors(at).map(|next| next as usize) {
                if hops[next] == hops[at as usize] + 1 {
                    counts[next] =
                        counts[next].zip(ways).and_then(|(one, more)| one.checked_add(more));
                }
            }
        }
        Some(Self { hops: hops[to as usize], count: counts[to as usize] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agnostic::{Algorithm, Parameters};
    use crate::{prove_forwarding, test_fabric};
    use flitlab_fabric::Cabling;

    #[test]
    fn ways_are_counted_with_parallel_cables() {
        let fabric = test_fabric(&[5, 5, 5], &[]);
        let ways = |x: u32, y: u32, z: u32| ShortestWays::new(&fabric, 0, x + 5 * y + 25 * z);
        assert_eq!(ways(0, 0, 0), Some(ShortestWays { hops: 0, count: Some(1) }));
        assert_eq!(ways(2, 1, 0), Some(ShortestWays { hops: 3, count: Some(3) }));
        // 6! / (2! 2! 2!), with steps in negative directions too.
        assert_eq!(ways(2, 3, 2), Some(ShortestWays { hops: 6, count: Some(90) }));

        let mut cabling = Cabling::default();
        for name in ["A", "B", "C"] {
            let router = cabling.router(name);
            cabling.terminal(name, router);
        }
        for (one, other) in [(0, 1), (0, 1), (1, 2), (1, 2), (1, 2)] {
            cabling.cable(one, other);
        }
        let fabric = cabling.fabric().unwrap();
        let ways = ShortestWays::new(&fabric, 0, 2);
        assert_eq!(ways, Some(ShortestWays { hops: 2, count: Some(6) }));
    }

    #[test]
    fn too_many_ways_are_not_counted() {
        let fabric = test_fabric(&[64, 64, 64], &[]);
        let far = ShortestWays::new(&fabric, 0, fabric.routers() / 2 + 64 * 32 + 32).unwrap();
        assert_eq!(far, ShortestWays { hops: 96, count: None });
    }

    /// The proof follows packets by code of its own.
    #[test]
    fn a_path_leads_to_its_destination_with_the_virtual_channels_of_the_proof() {
        let fabric = test_fabric(&[4, 3], &[(0, 0)]);
        for algorithm in [Algorithm::NUE, Algorithm::LASH, Algorithm::LASH_TOR, Algorithm::DFSSSP] {
            let parameters = Parameters { vcs: 4, ..Parameters::default() };
            let table = algorithm.generate(&fabric, &parameters).unwrap().table;
            let mut used = vec![false; usize::from(table.vc_count())];
            for source in 0..12 {
                for terminal in 0..12 {
                    let path = forwarding_path(&fabric, &table, source, terminal).unwrap();
                    let mut at = source;
                    for hop in &path {
                        assert_eq!(fabric.source(hop.channel), at);
                        at = fabric.target(hop.channel).unwrap();
                        used[usize::from(hop.vc)] = true;
                    }
                    assert_eq!(at, terminal);
                    let least = ShortestWays::new(&fabric, source, terminal).unwrap();
                    assert!(narrow::<u32>(path.len()) >= least.hops);
                }
            }
            assert_eq!(used, prove_forwarding(&fabric, &table).vcs, "{}", algorithm.name);
        }
    }

    #[test]
    fn a_path_that_does_not_arrive_is_a_flaw() {
        let fabric = test_fabric(&[4], &[]);
        let made = Algorithm::MIN_HOP.generate(&fabric, &Parameters::default()).unwrap();
        let flaw = |change: &dyn Fn(&mut ForwardingTable)| {
            let mut table = made.table.clone();
            change(&mut table);
            forwarding_path(&fabric, &table, 0, 1).unwrap_err()
        };
        let missing = |at| ForwardingFlaw::Missing { source: 0, terminal: 1, at };
        assert_eq!(flaw(&|table| table.set(0, 1, None)), missing(0));
        assert_eq!(flaw(&|table| table.withhold(1, true)), missing(1));
        let port = ForwardingFlaw::NoChannel { router: 0, terminal: 1, port: 9 };
        assert_eq!(flaw(&|table| table.set(0, 1, Some(9))), port);
        // Back by -x to node 3, whose own port leads forth again.
        let circle = |table: &mut ForwardingTable| {
            table.set(0, 1, Some(1));
            table.set(3, 1, Some(0));
        };
        assert_eq!(flaw(&circle), ForwardingFlaw::Loop { terminal: 1, routers: vec![0, 3] });
    }
}
