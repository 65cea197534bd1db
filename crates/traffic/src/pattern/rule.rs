//! The destinations of a pattern, once the fabric is known.

use rand_chacha::ChaCha8Rng;

use super::Live;
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;

/// A pattern bound to the nodes of a fabric.
///
/// A permutation is a closure that gives each node the one that it sends to. Patterns whose
/// partners are fixed give [`Self::partner`], and [`Self::steps`] if a node has several. Patterns
/// that draw the destination of each message give [`Self::steps`] as `None`, [`Self::destination`],
/// [`Self::sends`] and [`Self::for_each_share`].
///
/// Nodes have numbers from 0 on, failed ones included. `source` is always one that has not failed.
pub trait PatternRule: Send + Sync {
    /// In how many steps every source sends to each of its partners; `None` if destinations are
    /// drawn. 1 unless given otherwise.
    fn steps(&self, live: &Live) -> Option<u32> {
        let _ = live;
        Some(1)
    }

    /// To whom `source` sends in a step, which is below [`Self::steps`]. If that is the source
    /// itself or has failed, it sends nothing in this step.
    fn partner(&self, source: u32, step: u32, live: &Live) -> u32 {
        let _ = (step, live);
        source
    }

    /// The destination of the `index`-th message (from 0) of `source`, a node that has not failed;
    /// `None` if the source sends nothing, so as [`Self::sends`] says. Unless given otherwise, a
    /// source takes its partners in turn. What is drawn at random comes from `random`, the source's
    /// own generator, as whole numbers: then it is the same on every machine. A message may draw 64
    /// bytes.
    fn destination(
        &self,
        source: u32,
        index: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        let _ = random;
        in_turn(self, source, index, live)
    }

    /// Fills a block with the [destinations](Self::destination) of the messages of `source`, which
    /// sends, from the `first`-th on.
    fn destinations(
        &self,
        source: u32,
        first: u64,
        live: &Live,
        random: &mut ChaCha8Rng,
        block: &mut [u32],
    ) {
        for (index, destination) in (first..).zip(block) {
            let drawn = self.destination(source, index, live, random);
            *destination = drawn.expect("a source that sends has destinations");
        }
    }

    /// After how long the pattern has gone through all that it does, if destinations depend on the
    /// time: then [`Self::destination_at`] is asked instead. 0 unless given otherwise.
    fn cycle(&self) -> Picoseconds {
        Picoseconds::ZERO
    }

    /// The [destination](Self::destination) of a message that is created at this time from the
    /// beginning of the workload on.
    fn destination_at(
        &self,
        source: u32,
        index: u64,
        time: Picoseconds,
        live: &Live,
        random: &mut ChaCha8Rng,
    ) -> Option<u32> {
        let _ = time;
        self.destination(source, index, live, random)
    }

    /// Whether `source` sends anything. Unless given otherwise, it does if it has a partner, or if
    /// destinations are drawn.
    fn sends(&self, source: u32, live: &Live) -> bool {
        self.steps(live).is_none() || partners(self, source, live).next().is_some()
    }

    /// Calls `each` once for each destination of `source`, which sends, with the share of its
    /// messages that goes there in the mean of all time. The shares add up to 1. Unless given
    /// otherwise, all partners have the same share.
    fn for_each_share(&self, source: u32, live: &Live, each: &mut dyn FnMut(u32, f64)) {
        let mut all: Vec<u32> = partners(self, source, live).collect();
        all.sort_unstable();
        for same in all.chunk_by(u32::eq) {
            each(same[0], same.len() as f64 / all.len() as f64);
        }
    }

    /// How much `source`, which sends, sends relative to the mean of all that send. 1 unless given
    /// otherwise.
    fn rate(&self, source: u32) -> f64 {
        let _ = source;
        1.0
    }

    /// Bytes on the heap that grow with the number of nodes.
    fn memory(&self) -> usize {
        0
    }
}

/// A permutation.
impl<F: Fn(u32) -> u32 + Send + Sync> PatternRule for F {
    fn partner(&self, source: u32, _: u32, _: &Live) -> u32 {
        self(source)
    }
}

/// To whom a rule with steps lets `source` send, in the order of the steps.
fn partners<'r, R: PatternRule + ?Sized>(
    rule: &'r R,
    source: u32,
    live: &'r Live,
) -> impl Iterator<Item = u32> + 'r {
    let steps = 0..rule.steps(live).unwrap_or(0);
    steps.filter_map(move |step| partner(rule, source, step, live))
}

/// Returns the partner of `source` in a step of a rule with steps; `None` if it has none.
pub(super) fn partner<R: PatternRule + ?Sized>(
    rule: &R,
    source: u32,
    step: u32,
    live: &Live,
) -> Option<u32> {
    let partner = rule.partner(source, step, live);
    (partner != source && live.contains(partner)).then_some(partner)
}

/// The destination of the `index`-th message of a source that takes its partners in turn.
pub(super) fn in_turn<R: PatternRule + ?Sized>(
    rule: &R,
    source: u32,
    index: u64,
    live: &Live,
) -> Option<u32> {
    let place = index.checked_rem(partners(rule, source, live).count() as u64)?;
    partners(rule, source, live).nth(narrow(place))
}
