//! The queue of Dijkstra's algorithm: the nearest first, equally near ones in an order scattered by
//! number.
//!
//! Ties are many, since all paths of a length weigh nearly the same. Ascending numbers would favour
//! the same routers of a level at each search, which costs 6% of the maximum load on a fat tree.
//!
//! Vertices get nearer only a few times, so a heap that keeps outdated entries until they come up
//! is enough: with the queue of the crate priority-queue instead, SSSP took 1.7 times and Nue 1.2
//! times as long on a torus of 10x10x10.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No distance.
const FAR: u64 = u64::MAX;

/// 2^32 over the golden ratio: multiplying by it permutes the numbers and scatters neighbors.
pub(super) fn scatter(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b9)
}

/// Vertices that have been reached and not yet left, with their distances.
#[derive(Default)]
pub(super) struct Frontier {
    /// Distance, scattered number, number.
    heap: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// By vertex, its distance; [`FAR`] if it is not in the queue.
    distance: Vec<u64>,
}

impl Frontier {
    /// Adds a vertex or gives it another distance.
    #[inline]
    pub(super) fn set(&mut self, vertex: u32, distance: u64) {
        if self.distance.len() <= vertex as usize {
            self.distance.resize(vertex as usize + 1, FAR);
        }
        self.distance[vertex as usize] = distance;
        self.heap.push(Reverse((distance, scatter(vertex), vertex)));
    }

    #[inline]
    pub(super) fn remove(&mut self, vertex: u32) {
        self.distance[vertex as usize] = FAR;
    }

    /// Takes out the nearest vertex.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(u32, u64)> {
        while let Some(Reverse((distance, _, vertex))) = self.heap.pop() {
            if self.distance[vertex as usize] == distance {
                self.distance[vertex as usize] = FAR;
                return Some((vertex, distance));
            }
        }
        None
    }
}
