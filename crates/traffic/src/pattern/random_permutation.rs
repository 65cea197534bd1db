//! One permutation of the live nodes without fixed points, drawn from the seed.

use flitlab_base::registry::Row;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Live, Partners, PatternKind, PatternRule, no_keys};

pub(super) const RANDOM_PERMUTATION: Row<PatternKind> = Row::new(
    "random-permutation",
    "every node to one partner, drawn at random.",
    PatternKind {
        partners: Partners::FixedBySeed,
        read: |_, _| {
            no_keys(|nodes| Ok(Box::new(Derangement(derangement(nodes.live.count(), nodes.seed)))))
        },
    },
);

/// By rank, the rank of the partner.
struct Derangement(Vec<u32>);

impl PatternRule for Derangement {
    fn partner(&self, source: u32, _: u32, live: &Live) -> u32 {
        live.at(self.0[live.rank(source) as usize])
    }

    fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }
}

/// The random stream of the permutation; terminals have the streams of their numbers, below it.
const PERMUTATION_STREAM: u64 = 1 << 32;

/// A permutation of the numbers below `count`, at least 2, without fixed points, each such one
/// equally likely. Fisher and Yates' shuffle, begun anew when it fixes a point (2.7 times in the
/// mean).
fn derangement(count: u32, seed: u64) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(PERMUTATION_STREAM);
    let mut images: Vec<u32> = (0..count).collect();
    'shuffle: loop {
        for place in (0..count).rev() {
            let other = random.random_range(0..=place);
            images.swap(place as usize, other as usize);
            if images[place as usize] == place {
                continue 'shuffle;
            }
        }
        return images;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn all_permutations_without_fixed_points_are_alike() {
        // The nine permutations of four without fixed points, all alike.
        let mut found: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
        (0..9_000).for_each(|seed| *found.entry(derangement(4, seed)).or_default() += 1);
        assert_eq!(found.len(), 9);
        assert!(found.values().all(|count| count.abs_diff(1_000) < 150), "{found:?}");
    }
}
