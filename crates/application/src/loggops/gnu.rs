//! A queue and a sort that leave elements of equal keys in the order in which the GNU C++ library
//! does.
//!
//! LogGOPSim sorts operations that come up together by their kinds alone, and its version in ATLAHS
//! orders events by their times alone. Which of equal ones comes first follows from how `std::sort`,
//! `std::push_heap` and `std::pop_heap` move elements, and their times to the nanosecond from that.

use flitlab_base::units::Picoseconds;

/// Elements by time, the earliest first.
pub(super) struct TimeHeap<T> {
    elements: Vec<(Picoseconds, T)>,
}

/// The heap has the latest of its order on top: the earliest time.
fn is_later<T>(one: &(Picoseconds, T), other: &(Picoseconds, T)) -> bool {
    one.0 > other.0
}

impl<T: Copy> TimeHeap<T> {
    pub(super) fn new() -> Self {
        Self { elements: Vec::new() }
    }

    pub(super) fn push(&mut self, time: Picoseconds, element: T) {
        self.elements.push((time, element));
        let hole = self.elements.len() - 1;
        rise(&mut self.elements, hole, 0, (time, element), &is_later);
    }

    /// An earliest element and its time.
    pub(super) fn pop(&mut self) -> Option<(Picoseconds, T)> {
        let last = self.elements.pop()?;
        let Some(&first) = self.elements.first() else { return Some(last) };
        sink(&mut self.elements, 0, last, &is_later);
        Some(first)
    }
}

/// Puts an element into a hole of a heap, or as far above it, up to `top`, as it belongs.
fn rise<T: Copy>(
    heap: &mut [T],
    mut hole: usize,
    top: usize,
    element: T,
    less: &impl Fn(&T, &T) -> bool,
) {
    while hole > top && less(&heap[(hole - 1) / 2], &element) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = element;
}

/// Fills the hole `top` of a heap: it sinks to a leaf, always to the child that is not less, the
/// right one of equal ones, and the element rises from there.
fn sink<T: Copy>(heap: &mut [T], top: usize, element: T, less: &impl Fn(&T, &T) -> bool) {
    let length = heap.len();
    let mut hole = top;
    while 2 * hole + 2 < length {
        let right = 2 * hole + 2;
        let child = if less(&heap[right], &heap[right - 1]) { right - 1 } else { right };
        heap[hole] = heap[child];
        hole = child;
    }
    if 2 * hole + 1 < length {
        heap[hole] = heap[2 * hole + 1];
        hole = 2 * hole + 1;
    }
    rise(heap, hole, top, element, less);
}

/// So many elements, or fewer, are not divided any more.
const FEW: usize = 16;

/// Sorts by a key; of more than [`FEW`] elements equal ones don't keep their order.
pub(super) fn sort_by_key<T: Copy, K: Ord>(elements: &mut [T], key: impl Fn(&T) -> K) {
    let less = |one: &T, other: &T| key(one) < key(other);
    if let Some(depth) = elements.len().checked_ilog2() {
        divide(elements, 2 * depth, &less);
    }
    // Insertion sorts the rest, and keeps the order of equal elements.
    elements.sort_by_key(|element| key(element));
}

/// Divides elements at medians of three until few are left between two divisions; if that takes too
/// many of them, sorts what is left by a heap.
fn divide<T: Copy>(mut elements: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) {
    while elements.len() > FEW {
        if depth == 0 {
            return heap_sort(elements, less);
        }
        depth -= 1;
        let cut = partition(elements, less);
        let (low, high) = elements.split_at_mut(cut);
        divide(high, depth, less);
        elements = low;
    }
}

/// Brings what is not above a median before what is not below it; where the second part begins.
fn partition<T: Copy>(elements: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, elements.len() / 2, elements.len() - 1);
    let less_at = |one: usize, other: usize| less(&elements[one], &elements[other]);
    let median = match (less_at(a, b), less_at(b, c), less_at(a, c)) {
        (true, true, _) | (false, false, false) => b,
        (true, false, true) | (false, true, false) => c,
        _ => a,
    };
    elements.swap(0, median);
    let (mut low, mut high) = (1, elements.len());
    loop {
        while less(&elements[low], &elements[0]) {
            low += 1;
        }
        high -= 1;
        while less(&elements[0], &elements[high]) {
            high -= 1;
        }
        if low >= high {
            return low;
        }
        elements.swap(low, high);
        low += 1;
    }
}

fn heap_sort<T: Copy>(elements: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for top in (0..elements.len() / 2).rev() {
        sink(elements, top, elements[top], less);
    }
    for end in (1..elements.len()).rev() {
        let last = elements[end];
        elements[end] = elements[0];
        sink(&mut elements[..end], 0, last, less);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_in_order_and_equal_ones_as_in_the_gnu_library() {
        let mut heap = TimeHeap::new();
        // The output of a program of `std::priority_queue` with the same comparison for these.
        for (element, time) in ('a'..).zip([5, 5, 3, 5, 3, 8, 3, 5]) {
            heap.push(Picoseconds(time), element);
        }
        let popped: String = std::iter::from_fn(|| heap.pop()).map(|it| it.1).collect();
        assert_eq!(popped, "cgeabdhf");
        let mut heap = TimeHeap::new();
        for time in (0..1000u64).map(|number| number * 7919 % 101) {
            heap.push(Picoseconds(time), time);
        }
        let times: Vec<Picoseconds> = std::iter::from_fn(|| heap.pop()).map(|it| it.0).collect();
        assert!(times.len() == 1000 && times.is_sorted());
    }

    /// The numbers of elements in their order, sorted by their keys.
    fn sorted(keys: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut elements: Vec<(u64, u64)> = keys.zip(0..).collect();
        sort_by_key(&mut elements, |it| it.0);
        assert!(elements.is_sorted_by_key(|it| it.0));
        elements.into_iter().map(|it| it.1).collect()
    }

    /// The expected orders are the output of a program of `std::sort` (GCC 12.2) with the same keys.
    #[test]
    fn equal_keys_come_in_the_order_of_the_gnu_library() {
        let three_kinds = |count: u64| sorted((0..count).map(|it| (it * it + it / 3) % 3));
        assert_eq!(three_kinds(16), [0, 7, 8, 9, 1, 2, 3, 10, 11, 12, 4, 5, 6, 13, 14, 15]);
        assert_eq!(three_kinds(17), [8, 16, 9, 0, 7, 3, 2, 10, 11, 12, 1, 5, 6, 4, 13, 14, 15]);
        assert_eq!(
            three_kinds(20),
            [18, 17, 16, 7, 8, 9, 0, 10, 19, 12, 11, 3, 2, 1, 6, 5, 13, 14, 15, 4]
        );
        let fold =
            |order: Vec<u64>| order.iter().fold(0, |sum, it| (sum * 31 + it) % 1_000_000_007);
        for (count, expected) in [(100, 625_354_923), (1000, 963_736_277), (5000, 208_753_752)] {
            let keys = (0..count).map(|it: u64| it * 7919 % 101 % 3);
            assert_eq!(fold(sorted(keys)), expected, "{count}");
        }
        for (count, expected) in [(20, 786_437_452), (1000, 490_815_851)] {
            assert_eq!(fold(sorted((0..count).map(|_| 1))), expected, "{count}");
        }
        assert_eq!(sorted([].into_iter()), [0; 0]);
    }

    #[test]
    fn what_can_not_be_divided_is_sorted_as_by_the_heap_of_the_gnu_library() {
        // Each division of these takes off two; in pairs that have one key.
        let keys = [
            46, 1, 53, 3, 61, 5, 51, 7, 57, 9, 49, 11, 63, 13, 47, 15, 55, 17, 45, 19, 59, 21, 24,
            23, 62, 60, 58, 56, 54, 52, 50, 48, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 44, 41,
            42, 39, 40, 37, 38, 35, 36, 33, 34, 31, 32, 29, 30, 27, 28, 25, 26, 43,
        ];
        let expected = [
            1, 32, 3, 33, 5, 34, 7, 35, 9, 36, 11, 37, 13, 38, 15, 39, 17, 40, 19, 41, 21, 42, 23,
            43, 22, 61, 59, 62, 57, 60, 58, 55, 56, 53, 51, 54, 49, 52, 47, 50, 45, 48, 63, 46, 18,
            44, 14, 0, 31, 10, 6, 30, 2, 29, 16, 28, 27, 8, 20, 26, 25, 4, 24, 12,
        ];
        assert_eq!(sorted(keys.into_iter().map(|key| key / 2)), expected);
    }
}
