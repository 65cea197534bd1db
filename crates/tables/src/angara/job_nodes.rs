//! Nodes for a job: of the free nodes of a torus those whose table loads its fullest channel least.
//!
//! Routes stay among the nodes of a job ([`Faults::outside`]), so a set of nodes is rated by a table
//! of its own: by the load of the fullest channel, then by the hops of all routes, then by the
//! longest route. Candidates are boxes of N to 2 N nodes at each place, round the rings as well, of
//! which the first N free nodes are taken, and N free nodes in ascending order from each one on.
//! Those of least distance in the torus are rated with SSSP's tables, and the best of them is
//! improved by swaps of a node for a free neighbour of the set. The last few are rated with the
//! algorithm that is asked for. It is a search: it proves nothing about other sets.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{Algorithm, Choices, NoTable, Parameters, sssp};
use crate::{Quality, Region};
use flitlab_fabric::{Fabric, Faults, Torus};

/// Candidates of one shape that are rated.
const OF_A_SHAPE: usize = 4;

/// Candidates that are rated by SSSP, and then by the algorithm that is asked for.
const RATED: usize = 64;
const LAST: usize = 4;

/// Swaps that are tried on the best set.
const SWAPS: u32 = 100;

/// Random sets that are drawn until one can be routed.
const DRAWS: u32 = 100;

/// A set of nodes and what its table is like.
#[derive(Clone, Debug, PartialEq)]
pub struct RatedNodes {
    /// In ascending order.
    pub nodes: Vec<u32>,
    /// The load of the fullest channel, in routes.
    pub maximum_load: f64,
    /// Mean hops of a route.
    pub hops_mean: f64,
    /// Hops of the longest route: the diameter.
    pub hops_maximum: u32,
}

impl RatedNodes {
    /// Smaller is better.
    fn cost(&self) -> [f64; 3] {
        [self.maximum_load, self.hops_mean, self.hops_maximum.into()]
    }
}

/// The nodes that were found for a job, beside usual choices.
#[derive(Clone, Debug, PartialEq)]
pub struct JobNodes {
    /// Never worse than the two others.
    pub best: RatedNodes,
    /// The first free nodes; `None` if they can't be routed among themselves.
    pub linear: Option<RatedNodes>,
    /// The first of 100 random sets that can be routed among themselves; `None` if none can.
    pub random: Option<RatedNodes>,
}

/// The system and the job.
#[derive(Clone, Copy, Debug)]
pub struct Job<'j> {
    /// The coordinates.
    pub torus: &'j Torus,
    /// What has failed.
    pub faults: &'j Faults,
    /// The free nodes, in ascending order, none of which has failed.
    pub free: &'j [u32],
    /// How many nodes the job takes, at least 2.
    pub count: usize,
    /// Of swaps and of the random set.
    pub seed: u64,
}

/// Chooses the nodes; `None` if no candidate can be routed among its own nodes.
///
/// # Errors
/// If the algorithm has no table for one of the best sets.
pub fn job_nodes(
    job: &Job<'_>,
    algorithm: &Algorithm,
    parameters: &Parameters,
) -> Result<Option<JobNodes>, NoTable> {
    if job.free.len() < job.count {
        return Ok(None);
    }
    let mut random = ChaCha8Rng::seed_from_u64(job.seed);
    let rate = |nodes: &[u32]| job.rated(nodes, algorithm, parameters);
    let linear = job.free[..job.count].to_vec();
    let drawn = (0..DRAWS).find_map(|_| {
        let mut nodes = job.free.to_vec();
        let mut drawn = nodes.partial_shuffle(&mut random, job.count).0.to_vec();
        drawn.sort_unstable();
        job.score(&drawn, parameters).map(|_| drawn)
    });
    let mut scored: Vec<(Score, Vec<u32>)> = job
        .candidates()
        .into_par_iter()
        .filter_map(|nodes| Some((job.score(&nodes, parameters)?, nodes)))
        .collect();
    scored.extend(drawn.iter().filter_map(|it| Some((job.score(it, parameters)?, it.clone()))));
    scored.sort();
    let improved = scored.first().map(|best| job.swapped(best.clone(), parameters, &mut random));
    // Sets of one shape are equally good, wherever they are.
    scored.dedup_by_key(|it| it.0);
    scored.truncate(LAST);
    let (linear, random) = (rate(&linear)?, drawn.map(|it| rate(&it)).transpose()?.flatten());
    let mut last = vec![linear.clone(), random.clone()];
    for (_, nodes) in improved.iter().chain(&scored) {
        last.push(rate(nodes)?);
    }
    let best = last.into_iter().flatten().min_by(|one, other| {
        let order = |pair: (f64, f64)| pair.0.total_cmp(&pair.1);
        let pairs = one.cost().into_iter().zip(other.cost());
        pairs.map(order).find(|order| order.is_ne()).unwrap_or(one.nodes.cmp(&other.nodes))
    });
    Ok(best.map(|best| JobNodes { best, linear, random }))
}

/// Of SSSP's table: the load of the fullest channel, the hops of all routes, those of the longest.
type Score = (u32, u64, u16);

impl Job<'_> {
    /// The torus with these nodes alone; `None` if they do not hang together.
    fn fabric(&self, nodes: &[u32]) -> Option<Fabric> {
        let mut faults = self.faults.clone();
        let is_outside =
            |node: &u32| nodes.binary_search(node).is_err() && !self.faults.nodes.contains(node);
        faults.outside = (0..self.torus.nodes()).filter(is_outside).collect();
        self.torus.fabric(&faults).ok()
    }

    /// `None` if a pair of the nodes, which are in ascending order, has no route among them.
    fn score(&self, nodes: &[u32], parameters: &Parameters) -> Option<Score> {
        let fabric = self.fabric(nodes)?;
        let choices = Choices::new(Region::new(&fabric), parameters.freedoms);
        if !choices.unroutable.is_empty() {
            return None;
        }
        let hops = choices.hops();
        let most = choices.pairs().map(|pair| pair.hops).max()?;
        Some((sssp(&choices).selection.maximum(), hops, most))
    }

    fn rated(
        &self,
        nodes: &[u32],
        algorithm: &Algorithm,
        parameters: &Parameters,
    ) -> Result<Option<RatedNodes>, NoTable> {
        let Some(fabric) = self.fabric(nodes) else { return Ok(None) };
        let choices = Choices::new(Region::new(&fabric), parameters.freedoms);
        if !choices.unroutable.is_empty() {
            return Ok(None);
        }
        let made = (algorithm.table)(&choices, parameters, self.seed)?;
        let quality = Quality::new(choices.region(), &made.table);
        Ok(Some(RatedNodes {
            nodes: nodes.to_vec(),
            maximum_load: quality.load.maximum,
            hops_mean: quality.hops_mean,
            hops_maximum: quality.hops_maximum,
        }))
    }

    /// Boxes and stretches of free nodes, those of least distance in the torus first.
    fn candidates(&self) -> Vec<Vec<u32>> {
        let (free, count) = (self.free, self.count);
        let mut is_free = vec![false; self.torus.nodes() as usize];
        free.iter().for_each(|&node| is_free[node as usize] = true);
        let from = |start: usize| {
            let mut nodes: Vec<u32> =
                free[start..].iter().chain(&free[..start]).copied().take(count).collect();
            nodes.sort_unstable();
            (self.distance(&nodes), nodes)
        };
        let of_shape = |sizes: &Vec<u32>| {
            let place = |&corner: &u32| {
                let mut nodes = self.torus.part(corner, sizes)?;
                nodes.retain(|&node| is_free[node as usize]);
                nodes.truncate(count);
                (nodes.len() == count).then(|| (self.distance(&nodes), nodes))
            };
            let corners: Vec<u32> = (0..self.torus.nodes()).collect();
            best(corners.iter().filter_map(place).collect(), OF_A_SHAPE)
        };
        let mut all: Vec<(u64, Vec<u32>)> =
            self.shapes().par_iter().flat_map_iter(of_shape).collect();
        all.extend((0..free.len()).map(from));
        best(all, RATED).into_iter().map(|(_, nodes)| nodes).collect()
    }

    /// Sizes of boxes of `count` to twice as many nodes.
    fn shapes(&self) -> Vec<Vec<u32>> {
        let volume = |sizes: &[u32]| sizes.iter().map(|&size| size as usize).product::<usize>();
        let mut shapes = vec![Vec::new()];
        for &whole in self.torus.sizes() {
            let longer = |shape: &Vec<u32>| {
                let shape = shape.clone();
                (1..=whole).map(move |size| [&shape[..], &[size]].concat())
            };
            shapes = shapes.iter().flat_map(longer).collect();
            shapes.retain(|sizes| volume(sizes) <= 2 * self.count);
        }
        shapes.retain(|sizes| volume(sizes) >= self.count);
        shapes
    }

    /// The sum of the distances of all ordered pairs in the torus without failures.
    fn distance(&self, nodes: &[u32]) -> u64 {
        let of_dimension = |dimension: usize| {
            let size = self.torus.sizes()[dimension];
            let mut counts = vec![0_u64; size as usize];
            for &node in nodes {
                counts[self.torus.coordinate(node, dimension) as usize] += 1;
            }
            let steps = |one: u32, other: u32| {
                let straight = one.abs_diff(other);
                let round = if self.torus.closed(dimension) { size - straight } else { straight };
                u64::from(straight.min(round))
            };
            let pairs = (0..size).flat_map(|one| (0..size).map(move |other| (one, other)));
            pairs
                .map(|(one, other)| {
                    counts[one as usize] * counts[other as usize] * steps(one, other)
                })
                .sum::<u64>()
        };
        (0..self.torus.dimensions()).map(of_dimension).sum()
    }

    /// A set after swaps of which none made it worse.
    fn swapped(
        &self,
        (mut score, mut nodes): (Score, Vec<u32>),
        parameters: &Parameters,
        random: &mut ChaCha8Rng,
    ) -> (Score, Vec<u32>) {
        for _ in 0..SWAPS {
            let is_beside = |&&node: &&u32| {
                let neighbor = |direction| self.torus.neighbor(node, direction);
                let mut neighbors = (0..self.torus.directions()).filter_map(neighbor);
                nodes.binary_search(&node).is_err()
                    && neighbors.any(|it| nodes.binary_search(&it).is_ok())
            };
            let beside: Vec<u32> = self.free.iter().filter(is_beside).copied().collect();
            let Some(&other) = beside.choose(random) else { break };
            let mut swapped = nodes.clone();
            let place = random.random_range(0..swapped.len());
            swapped[place] = other;
            swapped.sort_unstable();
            if let Some(found) = self.score(&swapped, parameters).filter(|found| *found <= score) {
                (score, nodes) = (found, swapped);
            }
        }
        (score, nodes)
    }
}

/// The first of different sets, in the order of their distances.
fn best(mut sets: Vec<(u64, Vec<u32>)>, most: usize) -> Vec<(u64, Vec<u32>)> {
    sets.sort_unstable();
    sets.dedup();
    sets.truncate(most);
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: &[u32], open: &[usize], busy: &[u32], count: usize) -> Option<JobNodes> {
        let torus = Torus::new(sizes, open).unwrap();
        let free: Vec<u32> = (0..torus.nodes()).filter(|node| !busy.contains(node)).collect();
        let faults = Faults::default();
        let job = Job { torus: &torus, faults: &faults, free: &free, count, seed: 1 };
        let found = job_nodes(&job, &Algorithm::BALANCED, &Parameters::default()).unwrap();
        for it in
            found.iter().flat_map(|it| [Some(&it.best), it.linear.as_ref(), it.random.as_ref()])
        {
            let Some(it) = it else { continue };
            assert!(it.nodes.len() == count && it.nodes.is_sorted_by(|one, other| one < other));
            assert!(it.nodes.iter().all(|node| free.contains(node)), "{it:?}");
            assert!(found.as_ref().unwrap().best.cost() <= it.cost(), "{found:?}");
        }
        found
    }

    /// Rings of four are squares, so this torus is a cube of six dimensions. Of its sets of eight
    /// nodes a cube of three dimensions has the most channels, 24 (Harper 1964); the other 32 of 56
    /// pairs are two hops apart or more. So the fullest channel carries at least (24 + 64) / 24,
    /// which is 4 routes.
    #[test]
    fn eight_nodes_of_an_empty_torus_are_a_cube_or_as_good() {
        let found = of(&[4, 4, 4], &[], &[], 8).unwrap();
        assert_eq!((found.best.maximum_load, found.best.hops_maximum), (4.0, 3));
        assert!((found.best.hops_mean - 12.0 / 7.0).abs() < 1e-12, "{found:?}");
    }

    /// Packets go all positive directions before the negative ones, which fills the edges of a cube
    /// of lines with up to 196 routes, though its routes are shorter than those of a plane of rings.
    #[test]
    fn a_plane_of_rings_is_better_than_a_cube_of_lines() {
        let found = of(&[8, 8, 8], &[], &[], 64).unwrap();
        assert_eq!((found.best.maximum_load, found.best.hops_maximum), (64.0, 8));
        let (torus, faults) = (Torus::new(&[8, 8, 8], &[]).unwrap(), Faults::default());
        let job = Job { torus: &torus, faults: &faults, free: &[], count: 64, seed: 1 };
        let cube = torus.part(0, &[4, 4, 4]).unwrap();
        let rated = job.rated(&cube, &Algorithm::BALANCED, &Parameters::default()).unwrap();
        let rated = rated.unwrap();
        assert!(rated.maximum_load == 196.0 && rated.hops_mean < found.best.hops_mean, "{rated:?}");
    }

    /// All sets of so many free nodes of small tori, by the same algorithm.
    #[test]
    fn no_set_of_a_small_torus_is_better() {
        for (sizes, open, busy, count) in [
            (&[4, 3][..], &[][..], &[][..], 4),
            (&[4, 3], &[0], &[5], 5),
            (&[5, 2], &[], &[2, 7], 4),
            (&[3, 2, 2], &[], &[0, 4, 11], 6),
        ] {
            let torus = Torus::new(sizes, open).unwrap();
            let free: Vec<u32> = (0..torus.nodes()).filter(|node| !busy.contains(node)).collect();
            let faults = Faults::default();
            let job = Job { torus: &torus, faults: &faults, free: &free, count, seed: 1 };
            let sets = (0_u32..1 << free.len()).filter(|set| set.count_ones() as usize == count);
            let rated = sets.filter_map(|set| {
                let nodes: Vec<u32> =
                    (0..free.len()).filter(|at| set >> at & 1 == 1).map(|at| free[at]).collect();
                job.rated(&nodes, &Algorithm::BALANCED, &Parameters::default()).unwrap()
            });
            let least = rated.map(|it| it.maximum_load).fold(f64::INFINITY, f64::min);
            let found = of(sizes, open, busy, count).unwrap();
            assert_eq!(found.best.maximum_load, least, "{sizes:?} {found:?}");
        }
    }

    #[test]
    fn free_nodes_that_do_not_hang_together_are_none() {
        assert_eq!(of(&[6], &[0], &[1, 3], 2).unwrap().best.nodes, [4, 5]);
        assert_eq!(of(&[6], &[0], &[1, 3, 4], 2), None);
        assert_eq!(of(&[4], &[], &[1], 4), None);
    }
}
