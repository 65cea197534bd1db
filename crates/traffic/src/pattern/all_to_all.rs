//! Every other live node in turn: rank XOR i if the live nodes are a power of two, as in MPICH's
//! pairwise exchange, else rank + i, for i = 1, 2, ...

use flitlab_base::registry::Row;
use rand_chacha::ChaCha8Rng;

use super::{Live, Partners, PatternKind, PatternRule, no_keys};
use flitlab_base::narrow::narrow;

pub(super) const ALL_TO_ALL: Row<PatternKind> = Row::new(
    "all-to-all",
    "every node to every other in turn.",
    PatternKind { partners: Partners::Fixed, read: |_, _| no_keys(|_| Ok(Box::new(AllToAll))) },
);

struct AllToAll;

impl PatternRule for AllToAll {
    fn steps(&self, live: &Live) -> Option<u32> {
        Some(live.count() - 1)
    }

    fn partner(&self, source: u32, step: u32, live: &Live) -> u32 {
        let (rank, count) = (live.rank(source), live.count());
        live.at(match count.is_power_of_two() {
            true => rank ^ (step + 1),
            false => (rank + step + 1) % count,
        })
    }

    /// Every step has a partner, so that none has to be looked for.
    fn destination(&self, source: u32, index: u64, live: &Live, _: &mut ChaCha8Rng) -> Option<u32> {
        Some(self.partner(source, narrow(index % u64::from(live.count() - 1)), live))
    }

    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        live.others(source).for_each(|node| each(node, live.share_of_others()));
    }
}
