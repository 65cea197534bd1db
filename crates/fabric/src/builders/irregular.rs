//! Irregular networks of switches, like networks of workstations (\[path-selection\], section 4.1).
//! Hosts take some ports of each switch, and links to other switches some more. Links are drawn at
//! random such that each link of a switch leads to another neighbour, and all switches are
//! connected.
//!
//! They are random graphs like those of [`RandomRegular`](super::RandomRegular), with ports in the
//! order of the draw. So the neighbour at the lowest port is random too.

use flitlab_base::registry::Row;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::random_regular::{ordered, repair};
use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, populate, product,
    refuse,
};

pub(super) const IRREGULAR: Row<BuilderKind> = Row::new(
    "irregular",
    "An irregular network: switches joined at random, all connected.",
    BuilderKind { usual_table: ANY_TABLE, read },
)
.known_as(&["now", "network_of_workstations"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let switches = sizes.switches();
    let ports = sizes.value("ports", 8, "Ports of each switch.");
    let terminals = sizes.terminals(4);
    let links = sizes.value("links", 4, "Links of each switch, each to another neighbour.");
    let seed = sizes.seed();
    let graph = Irregular { switches: switches?, ports, terminals, links, seed };
    let name = format!("irregular network of {} switches (seed {seed})", graph.switches);
    Some(Built { name, cabling: graph.cabling() })
}

/// Switches that are joined at random.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Irregular {
    /// Number of switches.
    pub switches: u32,
    /// Ports of each switch.
    pub ports: u32,
    /// Hosts at each switch.
    pub terminals: u32,
    /// Links of each switch to others. If the ends of all links are an odd number, one switch has
    /// one less.
    pub links: u32,
    /// Seed of the random links: equal seeds give equal fabrics.
    pub seed: u64,
}

/// Most draws of a graph until all its switches are connected. With two links a switch, few draws
/// are.
const DRAWS: u32 = 1000;

impl Irregular {
    /// The cables of the fabric.
    ///
    /// # Errors
    /// If a switch has too few ports, if there are too few neighbours for its links, or too few
    /// links to connect all switches.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let Self { switches, ports, terminals, links, .. } = *self;
        let taken = u64::from(terminals) + u64::from(links);
        if taken > u64::from(ports) {
            return refuse(format!(
                "{terminals} terminals and {links} links take {taken} ports of a switch that has {ports}"
            ));
        }
        if links >= switches {
            return refuse(format!(
                "each of {links} links of a switch leads to another neighbour, and {switches} switches have no more \
                 than {}",
                switches.saturating_sub(1)
            ));
        }
        if links == 0 || links == 1 && switches > 2 {
            return refuse(format!("{links} links a switch don't connect {switches} switches"));
        }
        let ends = product([switches.into(), links.into()]);
        let mut cabling = begin(&Size {
            routers: switches.into(),
            terminals: product([switches.into(), terminals.into()]),
            cables: ends / 2,
            ports: taken,
        })?;
        let Some(pairs) = self.pairs() else {
            return refuse(format!(
                "in {DRAWS} draws no network of {switches} switches with {links} links each was connected"
            ));
        };
        for (one, other) in pairs {
            cabling.cable(one, other);
        }
        populate(&mut cabling, |_| terminals);
        Ok(cabling)
    }

    /// The ends of the links, in the order of their ports; `None` if no draw is connected.
    fn pairs(&self) -> Option<Vec<(u32, u32)>> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        for _ in 0..DRAWS {
            let mut ends: Vec<u32> =
                (0..self.switches).flat_map(|switch| vec![switch; self.links as usize]).collect();
            ends.shuffle(&mut random);
            let mut pairs: Vec<(u32, u32)> =
                ends.chunks_exact(2).map(|pair| ordered(pair[0], pair[1])).collect();
            if repair(&mut pairs, &mut random) && self.connected(&pairs) {
                return Some(pairs);
            }
        }
        None
    }

    fn connected(&self, pairs: &[(u32, u32)]) -> bool {
        let mut group: Vec<u32> = (0..self.switches).collect();
        let find = |group: &mut [u32], mut at: u32| {
            while group[at as usize] != at {
                group[at as usize] = group[group[at as usize] as usize];
                at = group[at as usize];
            }
            at
        };
        let mut groups = self.switches;
        for &(one, other) in pairs {
            let (one, other) = (find(&mut group, one), find(&mut group, other));
            if one != other {
                group[one as usize] = other;
                groups -= 1;
            }
        }
        groups == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_to_another_neighbour_and_all_are_connected() {
        for (switches, links, seed) in
            [(16, 4, 1), (16, 4, 2), (5, 3, 3), (12, 2, 4), (4, 3, 5), (2, 1, 6)]
        {
            let graph = Irregular { switches, ports: 8, terminals: 4, links, seed };
            let pairs = graph.pairs().unwrap();
            let mut seen = std::collections::BTreeSet::new();
            let mut degrees = vec![0; switches as usize];
            for &(one, other) in &pairs {
                assert!(one < other && seen.insert((one, other)));
                degrees[one as usize] += 1;
                degrees[other as usize] += 1;
            }
            let free: u32 = degrees.iter().map(|degree| links - degree).sum();
            assert_eq!(free, switches * links % 2);
            assert!(graph.connected(&pairs));
            // Every other switch has a way to the first.
            let fabric = graph.cabling().unwrap().fabric().unwrap();
            assert_eq!((fabric.routers(), fabric.terminals()), (switches, 4 * switches));
        }
        let apart = Irregular { switches: 4, ports: 8, terminals: 4, links: 1, seed: 1 };
        assert!(!apart.connected(&[(0, 1), (2, 3)]));
    }

    #[test]
    fn what_can_not_be_is_refused_with_the_reason() {
        let refused = |switches, ports, links| {
            let graph = Irregular { switches, ports, terminals: 4, links, seed: 1 };
            graph.cabling().unwrap_err().to_string()
        };
        assert!(refused(16, 7, 4).contains("take 8 ports of a switch that has 7"));
        assert!(refused(4, 8, 4).contains("have no more than 3"));
        assert!(refused(4, 8, 1).contains("don't connect 4 switches"));
    }
}
