//! The event calendar: a timing wheel whose buckets are single instants.
//!
//! Nearly all delays in a network are bounded by a channel's latency and a packet's length, so a ring
//! of buckets, one for each tick of the next horizon, takes an event in constant time and needs no
//! sorting: every event of a bucket happens at the same instant. A tick is the greatest common divisor
//! of all delays. What lies beyond the horizon (the next message of an idle node) waits in a heap.
//!
//! **Order.** Instants come in ascending order. Events of one instant come in no defined order:
//! whoever handles them must not depend on it (docs/model.md: a router first takes in all that
//! happens at an instant, and allocates once after that).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Picoseconds;

const NONE: u32 = u32::MAX;

/// The most buckets: four bytes each, so that the ring fits a core's own cache.
const MOST_BUCKETS: u64 = 1 << 18;

/// A future event of the engine, packed; see [`super::event`].
pub(super) type Packed = u64;

/// A bucket is a chain of entries in one arena, so that nothing is allocated while it runs.
#[derive(Clone, Copy, Debug)]
struct Entry {
    event: Packed,
    next: u32,
}

/// Future events by instant.
#[derive(Debug)]
pub(super) struct Calendar {
    tick: Picoseconds,
    now: Picoseconds,
    /// The bucket of `now`.
    cursor: usize,
    /// First entry of each bucket's chain.
    buckets: Vec<u32>,
    occupied: Bitmap,
    entries: Vec<Entry>,
    free: u32,
    far: BinaryHeap<Reverse<(Picoseconds, Packed)>>,
}

impl Calendar {
    /// A calendar at time 0 for events at multiples of `tick`, with buckets for delays up to
    /// `horizon`, if that takes no more than 2^18 of them; longer delays cost a heap operation.
    pub(super) fn new(tick: Picoseconds, horizon: Picoseconds) -> Self {
        let buckets = (horizon / tick + 1).next_power_of_two().clamp(64, MOST_BUCKETS) as usize;
        Self {
            tick,
            now: 0,
            cursor: 0,
            buckets: vec![NONE; buckets],
            occupied: Bitmap::new(buckets),
            entries: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
        }
    }

    /// The instant whose events were taken last.
    pub(super) fn now(&self) -> Picoseconds {
        self.now
    }

    /// Whether no event is left.
    pub(super) fn is_empty(&self) -> bool {
        self.far.is_empty() && self.occupied.next(0).is_none()
    }

    /// Adds an event at a later time; also at the present one if its events have not been taken yet.
    #[inline]
    pub(super) fn add(&mut self, time: Picoseconds, event: Packed) {
        debug_assert!(time >= self.now && time.is_multiple_of(self.tick));
        let ahead = if self.tick == 1 { time - self.now } else { (time - self.now) / self.tick };
        if ahead >= self.buckets.len() as u64 {
            self.far.push(Reverse((time, event)));
            return;
        }
        let bucket = (self.cursor + ahead as usize) & (self.buckets.len() - 1);
        let next = self.buckets[bucket];
        if next == NONE {
            self.occupied.set(bucket);
        }
        self.buckets[bucket] = if self.free == NONE {
            self.entries.push(Entry { event, next });
            self.entries.len() as u32 - 1
        } else {
            let entry = self.free;
            self.free = self.entries[entry as usize].next;
            self.entries[entry as usize] = Entry { event, next };
            entry
        };
    }

    /// Moves on to the next instant that has events, if that is not after `limit`, and puts them all
    /// into `batch` (emptied first). Otherwise the calendar stays where it is.
    #[inline]
    pub(super) fn take(
        &mut self,
        limit: Picoseconds,
        batch: &mut Vec<Packed>,
    ) -> Option<Picoseconds> {
        batch.clear();
        let near = self.occupied.next(self.cursor).map(|bucket| {
            let ahead = bucket.wrapping_sub(self.cursor) & (self.buckets.len() - 1);
            (self.now + ahead as u64 * self.tick, bucket)
        });
        let far = self.far.peek().map(|entry| entry.0.0);
        let time = match (near, far) {
            (Some((near, _)), Some(far)) => near.min(far),
            (Some((near, _)), None) => near,
            (None, Some(far)) => far,
            (None, None) => return None,
        };
        if time > limit {
            return None;
        }
        self.cursor =
            (self.cursor + ((time - self.now) / self.tick) as usize) & (self.buckets.len() - 1);
        self.now = time;
        if let Some((near, bucket)) = near
            && near == time
        {
            self.empty(bucket, batch);
        }
        while self.far.peek().is_some_and(|entry| entry.0.0 == time) {
            batch.push(self.far.pop().expect("just seen").0.1);
        }
        Some(time)
    }

    fn empty(&mut self, bucket: usize, batch: &mut Vec<Packed>) {
        let first = self.buckets[bucket];
        self.buckets[bucket] = NONE;
        self.occupied.clear(bucket);
        let mut at = first;
        loop {
            let entry = self.entries[at as usize];
            batch.push(entry.event);
            if entry.next == NONE {
                break;
            }
            at = entry.next;
        }
        self.entries[at as usize].next = self.free;
        self.free = first;
    }
}

/// A set of bucket numbers with a fast search for the next member: three levels of words.
#[derive(Debug)]
struct Bitmap {
    levels: [Vec<u64>; 3],
}

impl Bitmap {
    fn new(bits: usize) -> Self {
        let words = |bits: usize| vec![0u64; bits.div_ceil(64)];
        let (low, middle) = (words(bits), words(bits.div_ceil(64)));
        let high = words(middle.len());
        Self { levels: [low, middle, high] }
    }

    #[inline]
    fn set(&mut self, mut bit: usize) {
        for level in &mut self.levels {
            let word = &mut level[bit / 64];
            let was_empty = *word == 0;
            *word |= 1 << (bit % 64);
            if !was_empty {
                break;
            }
            bit /= 64;
        }
    }

    #[inline]
    fn clear(&mut self, mut bit: usize) {
        for level in &mut self.levels {
            let word = &mut level[bit / 64];
            *word &= !(1 << (bit % 64));
            if *word != 0 {
                break;
            }
            bit /= 64;
        }
    }

    /// The first member at or after `from`, else the first of all.
    #[inline]
    fn next(&self, from: usize) -> Option<usize> {
        self.at_or_after(from).or_else(|| self.at_or_after(0))
    }

    #[inline]
    fn at_or_after(&self, from: usize) -> Option<usize> {
        let mut at = from;
        for (level, words) in self.levels.iter().enumerate() {
            let word = words.get(at / 64)? & (!0 << (at % 64));
            if word != 0 {
                let mut found = at / 64 * 64 + word.trailing_zeros() as usize;
                for lower in self.levels[..level].iter().rev() {
                    found = found * 64 + lower[found].trailing_zeros() as usize;
                }
                return Some(found);
            }
            at = at / 64 + 1;
        }
        let high = &self.levels[2];
        let word = (at..high.len()).find(|&word| high[word] != 0)?;
        let middle = word * 64 + high[word].trailing_zeros() as usize;
        let low = middle * 64 + self.levels[1][middle].trailing_zeros() as usize;
        Some(low * 64 + self.levels[0][low].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// A sorted list is the reference: same instants, same events at each.
    fn agrees_with_a_sorted_list(seed: u64, tick: u64, horizon: u64, delay: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut calendar = Calendar::new(tick, horizon);
        let mut list: Vec<(u64, u64)> = Vec::new();
        let mut batch = Vec::new();
        for number in 0..4_000u64 {
            for part in 0..random.random_range(0..4u64) {
                let time = calendar.now() + tick * random.random_range(1..=delay);
                calendar.add(time, number * 4 + part);
                list.push((time, number * 4 + part));
            }
            list.sort_unstable();
            let limit = calendar.now() + tick * random.random_range(0..2 * delay);
            let taken = calendar.take(limit, &mut batch);
            let first = list.first().map(|entry| entry.0).filter(|&time| time <= limit);
            assert_eq!(taken, first);
            if let Some(time) = first {
                let mut expected: Vec<u64> = Vec::new();
                list.retain(|entry| {
                    if entry.0 == time {
                        expected.push(entry.1);
                    }
                    entry.0 != time
                });
                batch.sort_unstable();
                assert_eq!(batch, expected);
            }
        }
    }

    #[test]
    fn instants_ascend_and_lose_nothing() {
        for seed in 0..10 {
            agrees_with_a_sorted_list(seed, 1, 50, 40);
            agrees_with_a_sorted_list(seed, 1, 50, 5_000);
            agrees_with_a_sorted_list(seed, 1, 200_000, 190_000);
            agrees_with_a_sorted_list(seed, 25, 2_500, 300);
        }
    }

    #[test]
    fn the_bitmap_finds_the_next_member_cyclically() {
        let mut bitmap = Bitmap::new(1 << 18);
        assert_eq!(bitmap.next(5), None);
        for bit in [3, 64, 70_000, 262_143] {
            bitmap.set(bit);
        }
        assert_eq!(bitmap.next(0), Some(3));
        assert_eq!(bitmap.next(4), Some(64));
        assert_eq!(bitmap.next(65), Some(70_000));
        assert_eq!(bitmap.next(70_001), Some(262_143));
        bitmap.clear(262_143);
        assert_eq!(bitmap.next(70_001), Some(3));
    }
}
