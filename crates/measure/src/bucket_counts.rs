//! Counts of values in the buckets of a histogram.

use flitlab_base::narrow::narrow;
use hdrhistogram::Histogram;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The logarithm to base 2 of the number of buckets for each power of two.
const PRECISION: u32 = 10;

/// How many values were recorded in each bucket of a [`Histogram`] of three digits. Recording takes
/// a few instructions; whoever reads makes [the histogram](Self::histogram) of it.
#[derive(Clone, Debug, Default)]
pub(super) struct BucketCounts {
    /// By bucket, up to the end of a power of two; 0 beyond.
    counts: Vec<u64>,
    total: u64,
}

impl BucketCounts {
    #[inline]
    pub(super) fn record(&mut self, value: u64) {
        self.add(value, 1);
    }

    /// Records a value so many times.
    #[inline]
    fn add(&mut self, value: u64, times: u64) {
        let bucket = bucket(value);
        self.total += times;
        match self.counts.get_mut(bucket) {
            Some(count) => *count += times,
            None => self.lengthen(bucket)[bucket] = times,
        }
    }

    /// Makes room up to a bucket.
    #[cold]
    fn lengthen(&mut self, bucket: usize) -> &mut [u64] {
        self.counts.resize((bucket + 1).next_multiple_of(1 << PRECISION), 0);
        &mut self.counts
    }

    /// Adds the counts of others, and clears those.
    pub(super) fn gather(&mut self, others: &mut Self) {
        if others.total == 0 {
            return;
        }
        if self.counts.len() < others.counts.len() {
            self.lengthen(others.counts.len() - 1);
        }
        for (count, more) in self.counts.iter_mut().zip(&mut others.counts) {
            *count += std::mem::take(more);
        }
        self.total += std::mem::take(&mut others.total);
    }

    /// Number of values.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn histogram(&self) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).expect("three digits are allowed");
        for (value, count) in self.recorded() {
            histogram.record_n(value, count).expect("the histogram resizes itself");
        }
        histogram
    }

    /// The number of each bucket with values, ascending, and its count.
    pub(super) fn buckets(&self) -> Vec<(u32, u64)> {
        let counts = (0..).zip(&self.counts).filter(|&(_, &count)| count > 0);
        counts.map(|(bucket, &count)| (bucket, count)).collect()
    }

    /// The lowest value of each bucket with values, and its count.
    fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        let counts = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counts.map(|(bucket, &count)| (lowest(bucket), count))
    }
}

/// A value's bucket. Each value below 2^11 has its own; beyond, each power of two has 2^10.
#[inline]
fn bucket(value: u64) -> usize {
    let shift = (value | ((2 << PRECISION) - 1)).ilog2() - PRECISION;
    narrow((u64::from(shift) << PRECISION) + (value >> shift))
}

/// The lowest value of a bucket.
fn lowest(bucket: usize) -> u64 {
    let shift = (bucket >> PRECISION).saturating_sub(1);
    ((bucket - (shift << PRECISION)) as u64) << shift
}

/// The highest value that is as good as a bucket's.
pub(super) fn highest(bucket: u32) -> u64 {
    lowest(bucket as usize + 1) - 1
}

/// Values and how often each was recorded.
impl Serialize for BucketCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.recorded().collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for BucketCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (value, count) in Vec::<(u64, u64)>::deserialize(deserializer)? {
            counts.add(value, count);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_traffic::{restored, saved};
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Values at the boundaries of buckets, and random ones of all magnitudes.
    fn values() -> Vec<u64> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut values: Vec<u64> = (0..3000).chain([u64::MAX >> 1, u64::MAX >> 2]).collect();
        for power in 0..63 {
            let power = 1u64 << power;
            values.extend([power - 1, power, power + 1]);
            values.extend((0..20).map(|_| power + random.random_range(0..power)));
        }
        values
    }

    #[test]
    fn the_histogram_is_the_one_that_records_each_value() {
        let (mut counts, mut histogram) =
            (BucketCounts::default(), Histogram::<u64>::new(3).unwrap());
        assert_eq!(counts.histogram(), histogram);
        for value in values() {
            counts.record(value);
            histogram.record(value).unwrap();
            assert_eq!(lowest(bucket(value)), histogram.lowest_equivalent(value));
        }
        assert_eq!(counts.histogram(), histogram);
        assert_eq!(counts.total(), histogram.len());
        let restored: BucketCounts = restored(&saved(&counts)).unwrap();
        assert_eq!(restored.histogram(), histogram);
    }

    #[test]
    fn parts_are_gathered_once() {
        let (mut all, mut one, mut other) = Default::default();
        for (place, value) in values().into_iter().enumerate() {
            BucketCounts::record(&mut all, value);
            BucketCounts::record(if place % 3 == 0 { &mut one } else { &mut other }, value);
        }
        one.gather(&mut other);
        one.gather(&mut other);
        assert_eq!((one.histogram(), one.total()), (all.histogram(), all.total()));
        assert_eq!(other.total(), 0);
    }
}
