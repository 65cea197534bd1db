//! The queue of Dijkstra's algorithm: the nearest first, equally near ones in an order scattered by number.
//!
//! Ties are many, since all paths of a length weigh nearly the same. Ascending numbers would favour the same
//! routers of a level at each search, which costs 6% of the maximum load on a fat tree.

use std::cmp::Reverse;
use std::hash::{BuildHasherDefault, Hasher};

use priority_queue::PriorityQueue;

/// 2^32 over the golden ratio: multiplying by it permutes the numbers and scatters neighbors.
fn scatter(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b9)
}

/// The hash of a number is the number, scattered.
#[derive(Default)]
struct Scatter(u64);

impl Hasher for Scatter {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("the queue holds numbers only");
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = u64::from(scatter(number)) << 32 | u64::from(scatter(number));
    }
}

/// Vertices that have been reached and not yet left, with their distances.
#[derive(Default)]
pub(super) struct Frontier {
    queue: PriorityQueue<u32, Reverse<(u64, u32)>, BuildHasherDefault<Scatter>>,
}

impl Frontier {
    /// Adds a vertex or gives it another distance.
    #[inline]
    pub(super) fn set(&mut self, vertex: u32, distance: u64) {
        self.queue.push(vertex, Reverse((distance, scatter(vertex))));
    }

    #[inline]
    pub(super) fn remove(&mut self, vertex: u32) {
        self.queue.remove(&vertex);
    }

    /// Takes out the nearest vertex.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, u64)> {
        self.queue.pop().map(|(vertex, Reverse((distance, _)))| (vertex, distance))
    }
}
