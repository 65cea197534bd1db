//! Copies of a table in virtual channels that it has no need of.
//!
//! Most tables need few virtual channels to be free of deadlock, many of them one. So packets of a
//! table may have far fewer buffers than packets that choose, which take any virtual channel. Here
//! the virtual channels that are left get copies of the table, and each packet keeps to one copy
//! from its source to its destination. Packets of two copies never wait for each other in a
//! channel. So where the table has no cycle of dependencies, its copies have none.
//!
//! The copy follows from a hash, since a number modulo the copies would go with the ports that
//! algorithms choose by number: of a channel, all packets would be in one virtual channel.

use super::NoTable;
use flitlab_base::mix::mixed;
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;
use flitlab_routing::{ForwardingTable, VcAssignment};

/// What decides on the copy of the table that a packet keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Its destination terminal.
    ByDestination,
    /// The router of its source, and its destination terminal.
    ByPair,
}

impl Spread {
    /// Bytes that the virtual channels of the copies take.
    pub(super) fn memory(self, fabric: &Fabric) -> u64 {
        let terminals = u64::from(fabric.terminals());
        match self {
            Self::ByDestination => terminals,
            Self::ByPair => terminals * u64::from(fabric.routers()),
        }
    }

    /// Makes as many copies of a table as there is room for in `vcs` virtual channels.
    ///
    /// # Errors
    /// If packets of the table can't be told apart so.
    pub(super) fn copy(
        self,
        fabric: &Fabric,
        table: &mut ForwardingTable,
        vcs: u8,
    ) -> Result<(), NoTable> {
        let (width, routers) = (table.vc_count(), fabric.routers());
        let copies = vcs / width;
        if copies < 2 {
            return Ok(());
        }
        let first = |terminal: u32, router: u32| -> u8 {
            let number = match self {
                Self::ByDestination => u64::from(terminal),
                Self::ByPair => u64::from(router) << 32 | u64::from(terminal),
            };
            let drawn = mixed(number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 32;
            width * narrow::<u8>((drawn * u64::from(copies)) >> 32)
        };
        let terminals = || 0..fabric.terminals();
        let pairs = || terminals().flat_map(|terminal| (0..routers).map(move |at| (terminal, at)));
        let assignment = match (table.vc_assignment(), self) {
            (VcAssignment::ByServiceLevel(_), _) => {
                return Err(NoTable::Spread(
                    "over more virtual channels: each router has a map of its service levels",
                ));
            }
            (VcAssignment::ByHop(_), Self::ByPair) => {
                return Err(NoTable::Spread(
                    "by pair: its packets change virtual channels by their destination alone",
                ));
            }
            (VcAssignment::One, Self::ByDestination) => {
                let of_terminal = |terminal| first(terminal, 0);
                VcAssignment::ByDestination(terminals().map(of_terminal).collect())
            }
            (VcAssignment::ByDestination(own), Self::ByDestination) => {
                let of_terminal = |(terminal, own): (u32, &u8)| first(terminal, 0) + own;
                VcAssignment::ByDestination(terminals().zip(own).map(of_terminal).collect())
            }
            (VcAssignment::ByHop(own), Self::ByDestination) => {
                let of_hop = |((terminal, _), own): ((u32, u32), &u8)| first(terminal, 0) + own;
                VcAssignment::ByHop(pairs().zip(own).map(of_hop).collect())
            }
            (VcAssignment::ByPair(own), _) => {
                let of_pair = |((terminal, at), own): ((u32, u32), &u8)| first(terminal, at) + own;
                VcAssignment::ByPair(pairs().zip(own).map(of_pair).collect())
            }
            (VcAssignment::One, Self::ByPair) => {
                let of_pair = |(terminal, at)| first(terminal, at);
                VcAssignment::ByPair(pairs().map(of_pair).collect())
            }
            (VcAssignment::ByDestination(own), Self::ByPair) => {
                let of_pair = |(terminal, at)| first(terminal, at) + own[terminal as usize];
                VcAssignment::ByPair(pairs().map(of_pair).collect())
            }
        };
        table.set_vc_assignment(assignment);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{proved, random_fabric, torus};
    use super::super::{ALGORITHMS, Algorithm, Applies, Parameters};
    use super::*;
    use crate::forwarding_path;
    use crate::prove_forwarding;
    use flitlab_base::registry::Row;
    use flitlab_fabric::builders::Tree;

    const SPREADS: [Spread; 2] = [Spread::ByDestination, Spread::ByPair];

    fn tables(
        algorithm: Row<Algorithm>,
        fabric: &Fabric,
        (vcs, spread): (u8, Spread),
    ) -> Result<[ForwardingTable; 2], NoTable> {
        let made = |spread| {
            let parameters = Parameters { vcs, spread, ..Parameters::default() };
            Ok(algorithm.generate(fabric, &parameters)?.table)
        };
        Ok([made(None)?, made(Some(spread))?])
    }

    fn tree() -> Fabric {
        Tree { arity: 4, levels: 3, terminals: 4 }.cabling().unwrap().fabric().unwrap()
    }

    #[test]
    fn each_channel_up_a_tree_has_packets_in_all_copies() {
        let fabric = tree();
        for spread in SPREADS {
            let [one, all] = tables(Algorithm::D_MOD_K, &fabric, (8, spread)).unwrap();
            assert_eq!([one.vc_count(), all.vc_count()], [1, 8]);
            assert_eq!(proved(&fabric, &all).vcs, [true; 8]);
            // By channel: the virtual channels in which packets of a pair take it.
            let mut taken = vec![0u16; fabric.channel_slots() as usize];
            for source in fabric.live_terminals() {
                for terminal in fabric.live_terminals() {
                    let path = forwarding_path(&fabric, &all, source, terminal).unwrap();
                    let ports = forwarding_path(&fabric, &one, source, terminal).unwrap();
                    let channels = |path: &[flitlab_routing::VirtualChannel]| {
                        path.iter().map(|at| at.channel).collect::<Vec<_>>()
                    };
                    assert_eq!(channels(&path), channels(&ports), "ways stay as they are");
                    assert!(path.iter().all(|at| at.vc == path[0].vc), "packets keep their copy");
                    path.iter().for_each(|at| taken[at.channel as usize] |= 1 << at.vc);
                }
            }
            let up = fabric.ends().into_iter().flat_map(|end| fabric.outputs(end));
            for channel in up.filter(|&at| fabric.target(at).is_some()) {
                let count = taken[channel as usize].count_ones();
                assert!(count >= 5, "{spread:?}: {count} of 8 on channel {channel}");
            }
        }
    }

    /// A table that needs several virtual channels has copies of them all, and a table that fills
    /// all has one.
    #[test]
    fn copies_of_every_algorithm_are_right_where_the_table_is() {
        let (mut copied, mut refused, mut cyclic) = (0, 0, 0);
        for seed in 0..12 {
            let fabrics = [random_fabric(seed), tree(), torus(&[4, 3], 1, 1)];
            let fabric = &fabrics[narrow::<usize>(seed) % 3];
            for algorithm in ALGORITHMS {
                for spread in SPREADS {
                    let made = match tables(algorithm, fabric, (8, spread)) {
                        Ok(made) => made,
                        Err(NoTable::Spread(_)) => {
                            refused += 1;
                            continue;
                        }
                        Err(error) => {
                            assert_ne!(algorithm.applies, Applies::Always, "{error}");
                            continue;
                        }
                    };
                    let [one, all] = made;
                    let [own, of_all] = [&one, &all].map(|table| prove_forwarding(fabric, table));
                    let name = algorithm.name;
                    let (width, copies) = (one.vc_count(), 8 / one.vc_count());
                    // A copy may be right where the table is not, since it has fewer pairs.
                    assert!(of_all.holds() || !own.holds(), "{name}");
                    assert_eq!(own.pairs, of_all.pairs, "{name}");
                    assert!(all.vc_count() <= width * copies, "{name}");
                    // Each copy has no more dependencies than the table.
                    for (vc, &count) in of_all.dependencies.iter().enumerate() {
                        assert!(count <= own.dependencies[vc % usize::from(width)], "{name}");
                    }
                    if copies == 1 {
                        assert_eq!(one, all, "{name}");
                    } else if of_all.vcs_used() > own.vcs_used() {
                        copied += 1;
                    }
                    cyclic += usize::from(own.cycle().is_some());
                }
            }
        }
        assert!(copied > 60 && refused >= 4 && cyclic >= 4, "{copied} {refused} {cyclic}");
    }
}
