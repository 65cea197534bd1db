//! D-mod-K (\[d-mod-k\]; OpenSM's `ftree`): up a fat tree by the destination's number, then down.
//!
//! A router's level is its distance from the nearest router with terminals. In a fat tree every
//! cable joins two neighboring levels. Packets go up until the destination lies below, on shortest
//! ways. A router of level `l` has channels up to `w` others, `p` to each. With `q` the
//! destination's number divided by the `w` of all levels below, packets go up to the `(q mod w)`-th
//! of them, by its parallel cable `floor(q / w) mod p`. (PGFT in \[d-mod-k\], equation 1: the
//! parallel cables of the levels below do not count, for the destinations that share a router do
//! not depend on them.) The way down is the one that the destination's router would take up: by the
//! parallel cable of number `q mod p`, divided by the `w` of the level that it leads to as well. So
//! in a k-ary n-tree with k terminals at each router of level 0 no channel carries two pairs of a
//! shift, in which every terminal sends to the one so many places further on, and parallel cables
//! carry equally many destinations in both directions.
//!
//! Nothing goes up after it went down, so no cycle can close.

use super::graph::Graph;
use super::{Algorithm, Applies, NoTable};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric, NONE};
use flitlab_routing::ForwardingTable;

impl Algorithm {
    /// `d-mod-k`.
    pub const D_MOD_K: Row<Self> = Row::new(
        "d-mod-k",
        "the published way through a fat tree, by the destination's number.",
        Self {
            avoids_deadlock: true,
            applies: Applies::SomeShapes,
            ..Self::plain(|task| d_mod_k(&task.graph, task.fabric, &mut task.table))
        },
    )
    .known_as(&["ftree", "fattree", "fat-tree"]);
}

const NAME: &str = "d-mod-k";

/// Fills in the table.
///
/// # Errors
/// If the fabric is no fat tree, or some pair has no way up and down.
fn d_mod_k(graph: &Graph, fabric: &Fabric, table: &mut ForwardingTable) -> Result<(), NoTable> {
    let tree = Levels::new(graph, fabric)?;
    let mut destinations = graph.destinations.clone();
    destinations.sort_unstable_by_key(|at| (at.router, at.terminal));
    let mut ways = Ways { down: vec![NONE; graph.routers()], up: vec![NONE; graph.routers()] };
    let (outputs, mut leading) = (in_turn(graph), Vec::new());
    for (place, destination) in destinations.iter().enumerate() {
        if place == 0 || destinations[place - 1].router != destination.router {
            ways.find(graph, &tree, destination.router);
        }
        let row = table.row(destination.terminal);
        for &router in tree.order.iter().filter(|&&router| router != destination.router) {
            leading.clear();
            let channels = outputs[router as usize].iter().copied();
            leading.extend(channels.filter(|&at| ways.leads(graph, &tree, at)));
            if leading.is_empty() && graph.hosts(router) > 0 {
                return Err(NoTable::NoWay {
                    algorithm: NAME,
                    from: fabric.router_name(router),
                    to: fabric.router_name(destination.router),
                    reason: "none leads up the tree and then down",
                });
            }
            let level = tree.level[router as usize] as usize;
            let choice = place as u64 / tree.below[level] % leading.len().max(1) as u64;
            if let Some(&channel) = leading.get(narrow::<usize>(choice)) {
                row[router as usize] = graph.port(channel);
            }
        }
    }
    Ok(())
}

/// By router, its channels in an order in which those to different routers take turns: in the order
/// of ports first one to each, then the second of those that are parallel, and so on.
fn in_turn(graph: &Graph) -> Vec<Vec<Channel>> {
    let of_router = |router: u32| {
        let mut channels: Vec<(usize, Channel)> = graph.outputs(router).map(|at| (0, at)).collect();
        for place in 0..channels.len() {
            let target = graph.target(channels[place].1);
            let parallel = channels[..place].iter().rev().find(|at| graph.target(at.1) == target);
            channels[place].0 = parallel.map_or(0, |&(turn, _)| turn + 1);
        }
        channels.sort_unstable();
        channels.into_iter().map(|(_, channel)| channel).collect()
    };
    (0..narrow(graph.routers())).map(of_router).collect()
}

/// The levels of a fat tree.
struct Levels {
    /// By router, [`NONE`] for those that are not connected.
    level: Vec<u32>,
    /// The connected routers by ascending level.
    order: Vec<u32>,
    /// By level, the product over all levels below of how many routers the channels up of one lead
    /// to.
    below: Vec<u64>,
}

impl Levels {
    fn new(graph: &Graph, fabric: &Fabric) -> Result<Self, NoTable> {
        let mut level = vec![NONE; graph.routers()];
        let mut order: Vec<u32> =
            graph.all_routers().filter(|&router| graph.hosts(router) > 0).collect();
        for &router in &order {
            level[router as usize] = 0;
        }
        let (mut ups, mut above): (Vec<u64>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut place = 0;
        while let Some(&router) = order.get(place) {
            place += 1;
            let own = level[router as usize];
            for next in graph.outputs(router).map(|channel| graph.target(channel)) {
                if level[next as usize] == NONE {
                    level[next as usize] = own + 1;
                    order.push(next);
                } else if level[next as usize] == own {
                    let [one, other] = [router, next].map(|router| fabric.router_name(router));
                    return Err(NoTable::NoTree { algorithm: NAME, one, other, level: own });
                }
            }
            let up = |&at: &u32| level[at as usize] == own + 1;
            above.clear();
            above.extend(graph.outputs(router).map(|at| graph.target(at)).filter(up));
            above.sort_unstable();
            above.dedup();
            ups.resize(own as usize + 1, 1);
            let most = &mut ups[own as usize];
            *most = (*most).max(above.len() as u64);
        }
        let products = ups.iter().scan(1u64, |product, &ups| {
            let below = *product;
            *product = product.saturating_mul(ups);
            Some(below)
        });
        Ok(Self { below: products.collect(), level, order })
    }
}

/// Hops from all routers to one.
struct Ways {
    /// By router, going down only.
    down: Vec<u32>,
    /// By router, going up first where it must.
    up: Vec<u32>,
}

impl Ways {
    fn find(&mut self, graph: &Graph, tree: &Levels, end: u32) {
        self.down.fill(NONE);
        self.up.fill(NONE);
        self.down[end as usize] = 0;
        self.up[end as usize] = 0;
        let level = |router: u32| tree.level[router as usize];
        let neighbors = |router: u32| graph.outputs(router).map(|channel| graph.target(channel));
        for &router in &tree.order {
            let below = neighbors(router).filter(|&next| level(next) < level(router));
            if let Some(hops) = below.map(|next| self.down[next as usize]).min() {
                let hops = hops.saturating_add(1).min(self.down[router as usize]);
                self.down[router as usize] = hops;
                self.up[router as usize] = hops;
            }
        }
        for &router in tree.order.iter().rev() {
            if self.down[router as usize] == NONE {
                let above = neighbors(router).filter(|&next| level(next) > level(router));
                let hops = above.map(|next| self.up[next as usize]).min().unwrap_or(NONE);
                self.up[router as usize] = hops.saturating_add(1);
            }
        }
    }

    /// Whether a channel is the start of its router's best way.
    fn leads(&self, graph: &Graph, tree: &Levels, channel: Channel) -> bool {
        let (at, next) = (graph.source(channel) as usize, graph.target(channel) as usize);
        let upwards = self.down[at] == NONE;
        let hops = if upwards { &self.up } else { &self.down };
        let nearer = hops[at] != NONE && hops[next].checked_add(1) == Some(hops[at]);
        nearer && (tree.level[next] > tree.level[at]) == upwards
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{generate, proved, torus};
    use super::super::{Algorithm, Parameters};
    use super::*;
    use crate::ForwardingQuality;
    use flitlab_fabric::Cabling;
    use flitlab_fabric::builders::{DirectorTree, Tree, Xgft};
    use flitlab_fabric::netlist::Netlist;

    fn shortest(fabric: &Fabric) -> ForwardingQuality {
        let table = generate(Algorithm::D_MOD_K, fabric, 1);
        proved(fabric, &table);
        let quality = ForwardingQuality::new(fabric, &table);
        assert_eq!(quality.hops_mean, quality.least_hops_mean);
        quality
    }

    #[test]
    fn trees_are_routed_by_shortest_paths_and_evenly() {
        for (arity, levels) in [(4, 2), (2, 4), (4, 3)] {
            let tree = Tree { arity, levels, terminals: arity };
            let quality = shortest(&tree.cabling().unwrap().fabric().unwrap());
            // The channels to a router of level 0 carry one destination each.
            let terminals = u64::from(arity.pow(levels));
            assert_eq!(quality.load.maximum, (terminals - u64::from(arity)) as f64);
        }
        shortest(&DirectorTree::default().cabling().unwrap().fabric().unwrap());
    }

    /// Between two levels m_1 ... m_l terminals send to all others by w_1 ... w_(l + 1) cables.
    #[test]
    fn slimmed_trees_are_routed_evenly() {
        for (down, up) in [
            (&[4, 4][..], &[1, 2][..]),
            (&[2, 2, 4], &[1, 2, 1]),
            (&[6, 4, 3], &[1, 3, 2]),
            (&[4, 2, 2], &[1, 4, 2]),
        ] {
            let tree = Xgft { down: down.to_vec(), up: up.to_vec() };
            let load = shortest(&tree.cabling().unwrap().fabric().unwrap()).load;
            let all: u32 = down.iter().product();
            let of_level = (1..down.len()).map(|level| {
                let below: u32 = down[..level].iter().product();
                let cables: u32 = up[..=level].iter().product();
                f64::from(below * (all - below)) / f64::from(cables)
            });
            let loads: Vec<f64> = of_level.collect();
            assert_eq!(load.maximum, loads.iter().copied().fold(0.0, f64::max), "{down:?} {up:?}");
            assert_eq!(load.minimum, loads.iter().copied().fold(f64::MAX, f64::min));
        }
    }

    /// The theorem of \[d-mod-k\].
    #[test]
    fn no_channel_carries_two_pairs_of_a_shift() {
        let tree = Tree { arity: 3, levels: 3, terminals: 3 };
        let fabric = tree.cabling().unwrap().fabric().unwrap();
        let table = generate(Algorithm::D_MOD_K, &fabric, 1);
        let terminals = fabric.terminals();
        for shift in 1..terminals {
            let mut taken = vec![false; fabric.channel_slots() as usize];
            for source in 0..terminals {
                let destination = (source + shift) % terminals;
                let mut at = fabric.terminal_router(source).unwrap();
                while let Some(channel) = table.channel(&fabric, at, destination) {
                    assert!(!std::mem::replace(&mut taken[channel as usize], true), "{shift}");
                    at = fabric.target(channel).unwrap();
                }
            }
        }
    }

    /// Two leaves of `terminals` terminals under `cores` switches, `parallel` cables to each.
    fn trunks(leaves: u32, terminals: u32, cores: u32, parallel: u32) -> Fabric {
        let mut cabling = Cabling::default();
        let cores: Vec<u32> = (0..cores).map(|core| cabling.router(format!("C{core}"))).collect();
        for leaf in 0..leaves {
            let leaf = cabling.router(format!("L{leaf}"));
            for &core in &cores {
                (0..parallel).for_each(|_| cabling.cable(leaf, core));
            }
            for number in 0..terminals {
                cabling.terminal(format!("H{leaf}.{number}"), leaf);
            }
        }
        cabling.fabric().unwrap()
    }

    #[test]
    fn parallel_cables_carry_equally_many_destinations_up_and_down() {
        for (leaves, terminals, cores, parallel) in
            [(2, 4, 1, 4), (3, 8, 2, 4), (4, 6, 3, 2), (2, 8, 4, 2), (5, 12, 2, 3)]
        {
            let fabric = trunks(leaves, terminals, cores, parallel);
            let load = shortest(&fabric).load;
            let others = u64::from((leaves - 1) * terminals);
            let own = u64::from(terminals / (cores * parallel)).max(1);
            assert_eq!(
                load.maximum,
                (others * own) as f64,
                "{leaves} {terminals} {cores} {parallel}"
            );
            assert_eq!(load.minimum, load.maximum, "{leaves} {terminals} {cores} {parallel}");
        }
    }

    #[test]
    fn failed_cables_leave_ways_or_a_reason() {
        let tree = Tree { arity: 4, levels: 3, terminals: 4 };
        for cable in 0..128 {
            let mut cabling = tree.cabling().unwrap();
            cabling.remove(&[cable, (37 * cable + 11) % 128]);
            let fabric = cabling.fabric().unwrap();
            proved(&fabric, &generate(Algorithm::D_MOD_K, &fabric, 1));
        }
        // From A to C there is a way through B only.
        let mut cabling = Cabling::default();
        let [a, b, c, one, other] = ["A", "B", "C", "D", "E"].map(|name| cabling.router(name));
        for (lower, upper) in [(a, one), (b, one), (b, other), (c, other)] {
            cabling.cable(lower, upper);
        }
        for router in [a, b, c] {
            cabling.terminal("H", router);
        }
        let refused =
            Algorithm::D_MOD_K.generate(&cabling.fabric().unwrap(), &Parameters::default());
        assert_eq!(
            refused.unwrap_err().to_string(),
            "d-mod-k has no way from C to A: none leads up the tree and then down"
        );
    }

    #[test]
    fn what_is_no_tree_is_refused_with_the_cable() {
        let refused = |fabric: &Fabric| {
            Algorithm::D_MOD_K.generate(fabric, &Parameters::default()).unwrap_err().to_string()
        };
        assert_eq!(
            refused(&torus(&[4, 4], 1, 1)),
            "d-mod-k is for fat trees; here a cable joins S0 and S1, which are both 0 hops from the \
             nearest router with terminals"
        );
        let text = include_str!("../../../../tests/fabrics/updn24.net");
        assert!(refused(&Netlist::read(text).unwrap().fabric).contains("both 0 hops"));
    }
}
