//! Rings of times in the order of insertion: flits that wait or are under way, and credits under
//! way.

use serde::{Deserialize, Serialize};

use crate::frame::tick::{Tick, rebased};
use flitlab_base::narrow::narrow;
use flitlab_base::prefetch::prefetch;

/// The times of all rings of a part.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Times(Vec<Tick>);

/// The place of a ring's times. One place more than there are times tells a full ring from an empty
/// one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct TimeRing {
    base: u32,
    places: u32,
    /// The places of the first time and behind the last one, counted from the base.
    first: u32,
    end: u32,
}

impl TimeRing {
    /// An empty ring for up to `size` times.
    pub(super) fn new(size: u32, times: &mut Times) -> Self {
        let (base, places) = (narrow::<u32>(times.0.len()), size + 1);
        times.0.resize(times.0.len() + places as usize, 0);
        Self { base, places, first: 0, end: 0 }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> u32 {
        let wrapped = if self.end < self.first { self.places } else { 0 };
        self.end + wrapped - self.first
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// Prefetches the first times.
    #[inline(always)]
    pub(super) fn prefetch(&self, times: &Times) {
        times.0.get((self.base + self.first) as usize).into_iter().for_each(prefetch);
    }

    /// The time at this position, counted from the first; it exists.
    #[inline(always)]
    pub(super) fn at(&self, position: u32, times: &Times) -> Tick {
        debug_assert!(position < self.len());
        let place = self.first + position;
        let place = if place < self.places { place } else { place - self.places };
        times.0[(self.base + place) as usize]
    }

    /// The first time; it exists.
    #[inline(always)]
    pub(super) fn front(&self, times: &Times) -> Tick {
        debug_assert!(!self.is_empty());
        times.0[(self.base + self.first) as usize]
    }

    #[inline(always)]
    pub(super) fn push(&mut self, time: Tick, times: &mut Times) {
        debug_assert!(self.len() + 1 < self.places, "credits keep it from overflowing");
        times.0[(self.base + self.end) as usize] = time;
        self.end = if self.end + 1 == self.places { 0 } else { self.end + 1 };
    }

    /// Removes the first time.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        let first = if self.first + 1 == self.places { 0 } else { self.first + 1 };
        // An empty ring starts anew where its memory was used last.
        let is_over = first == self.end;
        (self.first, self.end) = if is_over { (0, 0) } else { (first, self.end) };
    }
}

impl Times {
    pub(super) fn rebase(&mut self, by: Tick) {
        self.0.iter_mut().for_each(|time| *time = rebased(*time, by));
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::collections::VecDeque;

    #[test]
    fn a_ring_is_a_queue_of_times() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut times = Times::default();
        let mut rings: Vec<_> = [3, 1, 7]
            .map(|size| (TimeRing::new(size, &mut times), VecDeque::new(), size))
            .into_iter()
            .collect();
        for step in 0..5_000 {
            let (ring, list, size) = &mut rings[random.random_range(0..3)];
            if list.len() < *size as usize && random.random_bool(0.6) {
                ring.push(step, &mut times);
                list.push_back(step);
            } else if list.pop_front().is_some() {
                ring.pop();
            }
            assert_eq!(ring.len() as usize, list.len());
            assert_eq!(ring.is_empty(), list.is_empty());
            for (number, &time) in (0..).zip(list.iter()) {
                assert_eq!(ring.at(number, &times), time);
            }
            if let Some(&front) = list.front() {
                assert_eq!(ring.front(&times), front);
            }
        }
    }
}
