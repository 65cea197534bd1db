//! The event calendar: a timing wheel of narrow buckets, each sorted when its time comes.
//!
//! Nearly all delays in a network are bounded by a channel's latency and a packet's length, so a ring
//! of buckets over the next horizon takes an event in constant time. A bucket is so narrow that it
//! holds a handful of events, which are sorted when the bucket is opened. What lies beyond the
//! horizon (the next message of an idle node) waits in a heap. Events that come soon are at the end of one
//! vector, from which they are taken one by one.
//!
//! **Order.** Instants come in ascending order. Events of one instant come in no defined order:
//! whoever handles them must not depend on it (docs/model.md: a router first takes in all that
//! happens at an instant, and allocates once after that).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::units::Picoseconds;

const NONE: u32 = u32::MAX;

/// The most buckets: four bytes each, so that the ring takes no more than half of a core's first cache (a
/// quarter of the time of 512 busy nodes among 3,584 idle ones, against 65536 narrower buckets).
const MOST_BUCKETS: u64 = 1 << 13;

/// An event in a bucket's chain. All chains share one arena, so that nothing is allocated while it runs,
/// and a slot that was freed last, which is in the cache, is used next.
#[derive(Clone, Copy, Debug)]
struct Link<E> {
    event: E,
    /// Time since the bucket's start.
    offset: u32,
    next: u32,
}

/// Future events by instant.
#[derive(Debug)]
pub(super) struct Calendar<E> {
    /// Buckets are 2^shift picoseconds wide.
    shift: u32,
    /// Number of the open bucket since time 0: its events are in `open`.
    opened: u64,
    /// What is left of the open bucket, and what was added before it since it was opened; latest first.
    open: Vec<(Picoseconds, E)>,
    /// First link of each later bucket's chain, by number modulo their count.
    buckets: Vec<u32>,
    occupied: Bitmap,
    links: Vec<Link<E>>,
    free: u32,
    far: BinaryHeap<Reverse<(Picoseconds, E)>>,
}

impl<E: Copy + Ord> Calendar<E> {
    /// A calendar at time 0 with buckets of about `width`, or so wide that 8192 of them cover delays up
    /// to `horizon`; a longer delay costs a heap operation.
    pub(super) fn new(width: Picoseconds, horizon: Picoseconds) -> Self {
        let least = (horizon / (MOST_BUCKETS - 2)).max(1).next_power_of_two();
        let shift = width.max(least).ilog2().min(31);
        let buckets = ((horizon >> shift) + 2).next_power_of_two().clamp(64, MOST_BUCKETS) as usize;
        Self {
            shift,
            opened: 0,
            open: Vec::new(),
            buckets: vec![NONE; buckets],
            occupied: Bitmap::new(buckets),
            links: Vec::new(),
            free: NONE,
            far: BinaryHeap::new(),
        }
    }

    /// Whether no event is left.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.far.is_empty() && self.occupied.next(0).is_none()
    }

    /// A time before which nothing happens: the next event's, or the start of its bucket. The latest of
    /// all times if no event is left.
    pub(super) fn earliest(&self) -> Picoseconds {
        if let Some(next) = self.open.last() {
            return next.0;
        }
        let near = self.next_bucket().map_or(Picoseconds::MAX, |number| number << self.shift);
        self.far.peek().map_or(near, |entry| near.min(entry.0.0))
    }

    /// Number of the next bucket that has events, but for those that lie far ahead.
    fn next_bucket(&self) -> Option<u64> {
        let mask = self.buckets.len() - 1;
        let start = (self.opened + 1) as usize & mask;
        let bucket = self.occupied.next(start)?;
        Some(self.opened + 1 + (bucket.wrapping_sub(start) & mask) as u64)
    }

    /// Adds an event at a time after that of the events taken last.
    #[inline]
    pub(super) fn add(&mut self, time: Picoseconds, event: E) {
        let number = time >> self.shift;
        if number <= self.opened {
            let place = self.open.partition_point(|entry| entry.0 > time);
            self.open.insert(place, (time, event));
        } else if number - self.opened >= self.buckets.len() as u64 {
            self.far.push(Reverse((time, event)));
        } else {
            self.chain(number, time, event);
        }
    }

    #[inline]
    fn chain(&mut self, number: u64, time: Picoseconds, event: E) {
        let bucket = number as usize & (self.buckets.len() - 1);
        let first = &mut self.buckets[bucket];
        let link = Link { event, offset: (time - (number << self.shift)) as u32, next: *first };
        if *first == NONE {
            self.occupied.set(bucket);
        }
        if let Some(slot) = self.links.get_mut(self.free as usize) {
            *first = std::mem::replace(&mut self.free, slot.next);
            *slot = link;
        } else {
            *first = self.links.len() as u32;
            self.links.push(link);
        }
    }

    /// Opens the next bucket that has events if nothing is left of the open one. False if there are none by
    /// `limit`.
    #[inline]
    pub(super) fn open(&mut self, limit: Picoseconds) -> bool {
        (!self.open.is_empty() || self.open_next(limit)) && self.instant(limit).is_some()
    }

    /// The next instant of the open bucket, if that is not after `limit`; [`next_at`](Self::next_at) gives
    /// its events.
    #[inline]
    pub(super) fn instant(&self, limit: Picoseconds) -> Option<Picoseconds> {
        self.open.last().map(|entry| entry.0).filter(|&time| time <= limit)
    }

    /// The events that come next: all that are left of the open bucket.
    #[inline]
    pub(super) fn next_few(&self) -> &[(Picoseconds, E)] {
        &self.open
    }

    /// Takes one of the events of the instant `time`, the earliest that has any.
    #[inline]
    pub(super) fn next_at(&mut self, time: Picoseconds) -> Option<E> {
        let due = self.open.last().is_some_and(|entry| entry.0 == time);
        if due { self.open.pop().map(|entry| entry.1) } else { None }
    }

    /// Opens the next bucket that has events, if it starts by `limit`.
    fn open_next(&mut self, limit: Picoseconds) -> bool {
        let mask = self.buckets.len() - 1;
        let near = self.next_bucket();
        let far = self.far.peek().map(|entry| entry.0.0 >> self.shift);
        // Far events are later than all buckets were when they were added, but the wheel has turned.
        let Some(number) = near.into_iter().chain(far).min() else { return false };
        if number << self.shift > limit {
            return false;
        }
        self.opened = number;
        if near == Some(number) {
            self.unchain(number as usize & mask);
        }
        let horizon = number + self.buckets.len() as u64;
        while self.far.peek().is_some_and(|entry| entry.0.0 >> self.shift < horizon) {
            let (time, event) = self.far.pop().expect("just seen").0;
            if time >> self.shift == number {
                self.open.push((time, event));
            } else {
                self.chain(time >> self.shift, time, event);
            }
        }
        if self.open.iter().any(|entry| entry.0 != self.open[0].0) {
            self.open.sort_unstable_by_key(|entry| Reverse(entry.0));
        }
        true
    }

    fn unchain(&mut self, bucket: usize) {
        let first = std::mem::replace(&mut self.buckets[bucket], NONE);
        self.occupied.clear(bucket);
        let start = self.opened << self.shift;
        let mut last = first;
        loop {
            let link = &mut self.links[last as usize];
            self.open.push((start + u64::from(link.offset), link.event));
            if link.next == NONE {
                link.next = std::mem::replace(&mut self.free, first);
                return;
            }
            last = link.next;
        }
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
    fn agrees_with_a_sorted_list(seed: u64, width: u64, horizon: u64, delay: u64) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut calendar = Calendar::new(width, horizon);
        let mut list: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for number in 0..4_000u64 {
            for part in 0..random.random_range(0..4u64) {
                let time = now + random.random_range(1..=delay);
                calendar.add(time, number * 4 + part);
                list.push((time, number * 4 + part));
            }
            list.sort_unstable();
            let limit = now + random.random_range(0..2 * delay);
            let taken = if calendar.open(limit) { calendar.instant(limit) } else { None };
            let first = list.first().map(|entry| entry.0).filter(|&time| time <= limit);
            assert_eq!(taken, first);
            if let Some(time) = first {
                now = time;
                let mut expected: Vec<u64> = Vec::new();
                list.retain(|entry| {
                    if entry.0 == time {
                        expected.push(entry.1);
                    }
                    entry.0 != time
                });
                let mut batch: Vec<u64> = std::iter::from_fn(|| calendar.next_at(time)).collect();
                batch.sort_unstable();
                assert_eq!(batch, expected);
            }
            assert_eq!(calendar.is_empty(), list.is_empty());
        }
    }

    #[test]
    fn instants_ascend_and_lose_nothing() {
        for seed in 0..10 {
            agrees_with_a_sorted_list(seed, 1, 50, 40);
            agrees_with_a_sorted_list(seed, 1, 50, 5_000);
            agrees_with_a_sorted_list(seed, 8, 200, 30);
            agrees_with_a_sorted_list(seed, 64, 200_000, 190_000);
            agrees_with_a_sorted_list(seed, 1024, 2_500, 300_000);
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
