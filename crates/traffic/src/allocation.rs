//! Which nodes workloads get that say only how many they take: the allocation of jobs.

use std::cmp::Reverse;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use flitlab_base::narrow::narrow;
use flitlab_fabric::{Fabric, Torus};

/// The rule by which nodes are allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocation {
    /// The first free nodes.
    #[default]
    Linear,
    /// Free nodes that are drawn.
    Random,
    /// The most compact box of a torus that is free.
    Boxes,
    /// As few groups as there can be, of a fabric without groups as few routers.
    Groups,
}

/// Why a workload gets no nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// Too few nodes are free.
    #[error("{wanted} nodes are wanted, and {free} are free")]
    TooFew {
        /// How many the workload takes.
        wanted: u32,
        /// How many live nodes no workload before has.
        free: u32,
    },
    /// The fabric is no torus.
    #[error("boxes are parts of a torus, and this fabric is none")]
    NoTorus,
    /// No free box is large enough.
    #[error("no box with {wanted} free nodes is left")]
    NoBox {
        /// How many the workload takes.
        wanted: u32,
    },
}

/// The nodes of a fabric that no workload has yet.
#[derive(Debug)]
pub struct Free {
    fabric: Fabric,
    /// By terminal.
    free: Vec<bool>,
    random: ChaCha8Rng,
}

impl Free {
    /// All live nodes of a fabric. What is drawn follows from the seed.
    pub fn of(fabric: Fabric, seed: u64) -> Self {
        let mut free = vec![false; fabric.terminals() as usize];
        fabric.live_terminals().for_each(|terminal| free[terminal as usize] = true);
        Self { fabric, free, random: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// A workload has these nodes.
    pub fn take(&mut self, nodes: &[u32]) {
        nodes.iter().for_each(|&node| self.free[node as usize] = false);
    }

    /// The free nodes, ascending.
    fn nodes(&self) -> Vec<u32> {
        (0..).zip(&self.free).filter(|it| *it.1).map(|it| it.0).collect()
    }

    /// Gives a workload so many nodes, ascending.
    ///
    /// # Errors
    /// If too few are free, or no box is.
    pub fn allocate(&mut self, rule: Allocation, count: u32) -> Result<Vec<u32>, AllocationError> {
        let mut nodes = self.nodes();
        if nodes.len() < count as usize {
            let free = narrow(nodes.len());
            return Err(AllocationError::TooFew { wanted: count, free });
        }
        match rule {
            Allocation::Linear => {}
            Allocation::Random => nodes.shuffle(&mut self.random),
            Allocation::Boxes => {
                let torus = self.fabric.grid();
                let torus = torus.ok_or(AllocationError::NoTorus)?;
                let found = self.smallest_box(torus, count);
                nodes = found.ok_or(AllocationError::NoBox { wanted: count })?;
            }
            Allocation::Groups => nodes = self.of_few_groups(count),
        }
        nodes.truncate(count as usize);
        nodes.sort_unstable();
        self.take(&nodes);
        Ok(nodes)
    }

    /// The nodes of the first box that is free as a whole, of the most compact shape that has one:
    /// with the least way from corner to corner, then the fewest routers.
    fn smallest_box(&self, torus: &Torus, count: u32) -> Option<Vec<u32>> {
        let terminals = self.fabric.terminals_by_router();
        let most = terminals.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let routers = count.div_ceil(narrow(most));
        let mut shapes = shapes(torus.sizes(), routers);
        let length = |shape: &[u32]| shape.iter().sum::<u32>();
        let volume = |shape: &[u32]| shape.iter().product::<u32>();
        // Of equal ones, a long side lies along the last dimension.
        shapes.sort_by_key(|shape| (length(shape), volume(shape), shape.clone()));
        shapes.iter().find_map(|shape| {
            (0..torus.nodes()).find_map(|corner| {
                let nodes = torus.part(corner, shape)?;
                let nodes = nodes.iter().flat_map(|&router| &terminals[router as usize]).copied();
                let nodes: Vec<u32> = nodes.collect();
                let fits = nodes.len() >= count as usize
                    && nodes.iter().all(|&node| self.free[node as usize]);
                fits.then_some(nodes)
            })
        })
    }

    /// Whole groups, the largest first, and what is left from the group that it fits best.
    fn of_few_groups(&self, count: u32) -> Vec<u32> {
        let of_router = |router: u32| match self.fabric.groups() {
            [] => router,
            groups => groups[router as usize],
        };
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for node in self.nodes() {
            let router = self.fabric.terminal_router(node).expect("it is live");
            let group = of_router(router) as usize;
            if groups.len() <= group {
                groups.resize_with(group + 1, Vec::new);
            }
            groups[group].push(node);
        }
        // Stable, so that of equal groups the first one comes first.
        groups.sort_by_key(|nodes| Reverse(nodes.len()));
        let mut nodes: Vec<u32> = Vec::new();
        for (place, group) in groups.iter().enumerate() {
            let left = count as usize - nodes.len();
            if group.len() >= left {
                let enough = groups[place..].iter().take_while(|group| group.len() >= left);
                let best = enough.map(Vec::len).min().unwrap_or(0);
                let fitting = groups[place..].iter().find(|group| group.len() == best);
                nodes.extend(fitting.into_iter().flatten());
                break;
            }
            nodes.extend(group);
        }
        nodes
    }
}

/// The shapes of boxes with so many routers, none of whose sides can be shorter.
fn shapes(sizes: &[u32], routers: u32) -> Vec<Vec<u32>> {
    let mut shapes = vec![(1u64, Vec::new())];
    for (dimension, &size) in sizes.iter().enumerate() {
        let is_last = dimension + 1 == sizes.len();
        let of_shape = |(volume, shape): &(u64, Vec<u32>)| {
            // The last side is as long as it has to be.
            let needed = u64::from(routers).div_ceil(*volume).max(1);
            let sides = if is_last { narrow::<u32>(needed)..=size } else { 1..=size };
            let longer = sides.take(if is_last { 1 } else { size as usize }).map(|side| {
                (
                    volume * u64::from(side),
                    shape.iter().copied().chain([side]).collect::<Vec<u32>>(),
                )
            });
            longer.collect::<Vec<_>>()
        };
        shapes = shapes.iter().flat_map(of_shape).collect();
    }
    let is_least = |(volume, shape): &(u64, Vec<u32>)| {
        let shorter = |side: u32| volume / u64::from(side) * u64::from(side - 1);
        shape.iter().all(|&side| shorter(side) < u64::from(routers))
    };
    shapes.into_iter().filter(is_least).map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::Faults;
    use flitlab_fabric::builders::{Dragonfly, GlobalCables};

    fn torus(sizes: &[u32]) -> Fabric {
        Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap()
    }

    #[test]
    fn jobs_get_nodes_of_their_own_by_each_rule() {
        let fabric = torus(&[4, 4, 4]);
        for rule in [Allocation::Linear, Allocation::Random, Allocation::Boxes, Allocation::Groups]
        {
            let mut free = Free::of(fabric.clone(), 7);
            let jobs = [8, 8, 16].map(|count| free.allocate(rule, count).unwrap());
            let mut all = jobs.concat();
            assert!(jobs.iter().all(|nodes| nodes.is_sorted()), "{rule:?}");
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 32, "{rule:?}");
        }
        let draw = |seed| Free::of(fabric.clone(), seed).allocate(Allocation::Random, 8).unwrap();
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_box_is_the_most_compact_one_that_is_free() {
        let fabric = torus(&[4, 4, 4]);
        let mut free = Free::of(fabric.clone(), 1);
        let hops = |nodes: &[u32]| {
            let torus = fabric.torus().unwrap();
            let of = |&one: &u32| nodes.iter().map(move |&other| torus.hops(one, other)).max();
            nodes.iter().filter_map(of).max().unwrap()
        };
        let cube = free.allocate(Allocation::Boxes, 8).unwrap();
        assert_eq!((cube.len(), hops(&cube)), (8, 3));
        // Seven of the eight nodes of a cube, and not seven in a row.
        let seven = free.allocate(Allocation::Boxes, 7).unwrap();
        assert_eq!((seven.len(), hops(&seven)), (7, 3));
        // Half of the torus is left, and no box of more than that.
        let half = Free::of(fabric.clone(), 1).allocate(Allocation::Boxes, 32).unwrap();
        assert_eq!(hops(&half), 5);
        let mut free = Free::of(fabric.clone(), 1);
        free.take(&[0, 21, 42, 63]);
        let error = free.allocate(Allocation::Boxes, 60).unwrap_err();
        assert_eq!(error, AllocationError::NoBox { wanted: 60 });
        let error = free.allocate(Allocation::Linear, 61).unwrap_err();
        assert_eq!(error.to_string(), "61 nodes are wanted, and 60 are free");
    }

    #[test]
    fn few_groups_are_taken_and_the_rest_where_least_is_left_over() {
        let cables = GlobalCables::default();
        let plan = Dragonfly { routers: 4, terminals: 2, global: 2, groups: 9, cables };
        let fabric = plan.cabling().unwrap().fabric().unwrap();
        let mut free = Free::of(fabric.clone(), 1);
        // Groups have eight nodes each.
        let mut groups = |count| {
            let nodes = free.allocate(Allocation::Groups, count).unwrap();
            let of = |&node: &u32| fabric.groups()[fabric.terminal_router(node).unwrap() as usize];
            let mut groups: Vec<u32> = nodes.iter().map(of).collect();
            groups.dedup();
            groups
        };
        assert_eq!(groups(12), [0, 1]);
        // Group 1 still has four free nodes.
        assert_eq!(groups(3), [1]);
        assert_eq!(groups(8), [2]);
        assert_eq!(groups(17), [1, 3, 4]);
        assert_eq!(groups(32), [5, 6, 7, 8]);
    }

    #[test]
    fn shapes_have_no_side_that_could_be_shorter() {
        assert_eq!(shapes(&[4, 2], 6), [[3, 2]]);
        assert_eq!(shapes(&[8, 8], 7), [[1, 7], [2, 4], [3, 3], [4, 2], [7, 1]]);
        assert_eq!(shapes(&[2, 2], 5), [[0u32; 2]; 0]);
    }
}
