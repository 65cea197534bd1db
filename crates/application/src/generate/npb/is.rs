//! IS: integers sorted by buckets (`IS/is.c`: `rank`).
//!
//! An iteration counts keys, adds up the counts of all ranks, tells each other rank how many keys
//! it gets, and sends those. How many they are depends on the keys; here each pair exchanges the
//! mean.

use super::{Benchmark, Class, Rank, check_ranks};
use crate::generate::program::Blocks;

/// Bytes of a key and of a count.
const INTEGER: u64 = 4;

/// Counts besides those of buckets: keys with which results are tested.
const TESTED: u64 = 5;

struct Is {
    keys: u64,
    buckets: u64,
    ranks: u32,
}

pub(super) fn read(class: Class, ranks: u32) -> Result<Box<dyn Benchmark>, String> {
    let keys = 1 << class.of([16, 20, 23, 25, 27, 29]);
    let buckets: u32 = 1 << class.of([9, 10, 10, 10, 10, 10]);
    check_ranks(
        "IS",
        ranks,
        buckets,
        u32::is_power_of_two,
        "runs on powers of two up to the number of buckets",
    )?;
    Ok(Box::new(Is { keys, buckets: buckets.into(), ranks }))
}

impl Benchmark for Is {
    fn iterations(&self) -> u32 {
        10
    }

    fn rank(&self, at: &mut Rank<'_>, iterations: u32) {
        // Keys of a rank for the others, as equal as whole keys are.
        let keys = Blocks::of(self.keys / u64::from(self.ranks), self.ranks);
        let bytes = |_: u32, to: u32| INTEGER * keys.at(to);
        let half = self.keys as f64 / f64::from(self.ranks) / 2.0;
        for _ in 0..iterations {
            at.compute(half);
            at.call("all-reduce", INTEGER * (self.buckets + TESTED));
            at.call("all-to-all", INTEGER);
            at.library.all_to_all_v(at.program, &mut at.world, &bytes);
            at.compute(half);
        }
    }
}
