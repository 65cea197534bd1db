//! Random regular graphs, the fabric of Jellyfish (\[jellyfish\]).

use flitlab_base::registry::Row;
use std::collections::HashMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{
    ANY_TABLE, BuilderKind, Built, Cabling, Size, Sizes, TopologyError, begin, populate, product,
    refuse,
};
use flitlab_base::narrow::narrow;

pub(super) const RANDOM_REGULAR: Row<BuilderKind> = Row::new(
    "random_regular",
    "A random graph in which every switch has as many cables (Jellyfish).",
    BuilderKind { usual_table: ANY_TABLE, read },
)
.known_as(&["jellyfish"]);

fn read(sizes: &mut Sizes<'_, '_>) -> Option<Built> {
    let routers = sizes.switches();
    let degree = sizes.required("degree", 6, "Cables of each switch to others.");
    let terminals = sizes.terminals(1);
    let seed = sizes.seed();
    let (routers, degree) = (routers?, degree?);
    let graph = RandomRegular { routers, degree, terminals, seed };
    let name = format!("random graph of {routers} switches of degree {degree} (seed {seed})");
    Some(Built { name, cabling: graph.cabling() })
}

/// Routers of equal degree that are joined at random, with at most one cable between two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomRegular {
    /// Number of routers.
    pub routers: u32,
    /// Cables of each router.
    pub degree: u32,
    /// Terminals of each router.
    pub terminals: u32,
    /// Seed of the random cables: equal seeds give equal fabrics.
    pub seed: u64,
}

impl RandomRegular {
    /// The cables of the fabric. Ends are paired at random. A pair that joins a router with itself,
    /// or two routers that are joined already, swaps an end with a random pair, until no such pair
    /// is left. That is \[random-regular\] without its last correction to exact uniformity.
    ///
    /// # Errors
    /// If there is no such graph: the number of ends is odd, or the degree is not below the number
    /// of routers.
    pub fn cabling(&self) -> Result<Cabling, TopologyError> {
        let (count, degree) = (self.routers, self.degree);
        if degree == 0
            || degree >= count
            || !(u64::from(count) * u64::from(degree)).is_multiple_of(2)
        {
            return refuse(format!(
                "there is no graph of {count} routers with {degree} cables each: the degree is between 1 and \
                 the routers less one, and routers times degree is even"
            ));
        }
        let mut cabling = begin(&Size {
            routers: count.into(),
            terminals: product([count.into(), self.terminals.into()]),
            cables: product([count.into(), degree.into()]) / 2,
            ports: u64::from(degree) + u64::from(self.terminals),
        })?;
        let mut pairs = self.pairs();
        pairs.sort_unstable();
        for (one, other) in pairs {
            cabling.cable(one, other);
        }
        populate(&mut cabling, |_| self.terminals);
        Ok(cabling)
    }

    /// The ends of the cables, the lower one first.
    fn pairs(&self) -> Vec<(u32, u32)> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        loop {
            let mut ends: Vec<u32> =
                (0..self.routers).flat_map(|router| vec![router; self.degree as usize]).collect();
            ends.shuffle(&mut random);
            let mut pairs: Vec<(u32, u32)> =
                ends.chunks(2).map(|pair| ordered(pair[0], pair[1])).collect();
            if repair(&mut pairs, &mut random) {
                return pairs;
            }
        }
    }
}

pub(super) fn ordered(one: u32, other: u32) -> (u32, u32) {
    (one.min(other), one.max(other))
}

/// Swaps ends until no pair is bad: a pair is bad if its ends are one router, or if another pair
/// joins them too. False if the swaps don't come to an end.
pub(super) fn repair(pairs: &mut [(u32, u32)], random: &mut ChaCha8Rng) -> bool {
    // Number of cables by pair of routers. A matrix would exceed the memory. The order of the map
    // is never used.
    let mut joined: HashMap<(u32, u32), u32> = HashMap::with_capacity(pairs.len());
    for &pair in pairs.iter() {
        *joined.entry(pair).or_default() += 1;
    }
    // No swap makes a pair that is there already, so all pairs before this position stay good.
    let mut at = 0;
    for _ in 0..100 * pairs.len() {
        let bad = |pair: &(u32, u32)| pair.0 == pair.1 || joined[pair] > 1;
        let Some(ahead) = pairs[at..].iter().position(bad) else { return true };
        at += ahead;
        let with: usize = narrow(random.random_range(0..pairs.len() as u64));
        let ((a, b), (c, d)) = (pairs[at], pairs[with]);
        let (first, second) = (ordered(a, c), ordered(b, d));
        let fine = |pair: &(u32, u32)| {
            pair.0 != pair.1 && joined.get(pair).is_none_or(|&times| times == 0)
        };
        if at != with && first != second && fine(&first) && fine(&second) {
            for pair in [pairs[at], pairs[with]] {
                joined.entry(pair).and_modify(|times| *times -= 1);
            }
            for pair in [first, second] {
                *joined.entry(pair).or_default() += 1;
            }
            (pairs[at], pairs[with]) = (first, second);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_router_has_its_degree_and_no_pair_two_cables() {
        for (routers, degree, seed) in [(125, 16, 1), (10, 9, 2), (6, 3, 3), (200, 4, 4)] {
            let graph = RandomRegular { routers, degree, terminals: 1, seed };
            let pairs = graph.pairs();
            let mut seen = std::collections::BTreeSet::new();
            let mut degrees = vec![0; routers as usize];
            for (one, other) in pairs {
                assert!(one < other && seen.insert((one, other)));
                degrees[one as usize] += 1;
                degrees[other as usize] += 1;
            }
            assert!(degrees.iter().all(|&found| found == degree));
        }
    }

    #[test]
    fn the_seed_decides() {
        let of = |seed| RandomRegular { routers: 50, degree: 6, terminals: 1, seed }.pairs();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn impossible_degrees_are_refused() {
        for (routers, degree) in [(5, 3), (4, 4), (4, 0)] {
            assert!(RandomRegular { routers, degree, terminals: 1, seed: 1 }.cabling().is_err());
        }
    }
}
