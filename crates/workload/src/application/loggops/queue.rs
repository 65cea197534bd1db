//! A queue in which the order of equal times is that of a particular binary heap.
//!
//! The version of LogGOPSim in ATLAHS orders events by their times alone; which of those of one
//! time comes first follows from how `std::push_heap` and `std::pop_heap` of the GNU C++ library
//! move elements. To give its times to the nanosecond, so does this queue: a new element rises past
//! parents that are later; the last one takes the place of the first by sinking to a leaf, always
//! to the child that is not later, the right one of equal ones, and rising from there.

use flitlab_base::units::Picoseconds;

/// Elements by time, the earliest first.
pub(super) struct TimeHeap<T> {
    elements: Vec<(Picoseconds, T)>,
}

impl<T: Copy> TimeHeap<T> {
    pub(super) fn new() -> Self {
        Self { elements: Vec::new() }
    }

    pub(super) fn push(&mut self, time: Picoseconds, element: T) {
        self.elements.push((time, element));
        self.rise(self.elements.len() - 1, (time, element));
    }

    /// An earliest element and its time.
    pub(super) fn pop(&mut self) -> Option<(Picoseconds, T)> {
        let last = self.elements.pop()?;
        let Some(&first) = self.elements.first() else { return Some(last) };
        let elements = &mut self.elements;
        let length = elements.len();
        let mut hole = 0;
        while 2 * hole + 2 < length {
            let right = 2 * hole + 2;
            let child = if elements[right].0 > elements[right - 1].0 { right - 1 } else { right };
            elements[hole] = elements[child];
            hole = child;
        }
        if 2 * hole + 1 < length {
            elements[hole] = elements[2 * hole + 1];
            hole = 2 * hole + 1;
        }
        self.rise(hole, last);
        Some(first)
    }

    /// Puts an element into a hole, or as far above it as it belongs.
    fn rise(&mut self, mut hole: usize, element: (Picoseconds, T)) {
        while hole > 0 && self.elements[(hole - 1) / 2].0 > element.0 {
            self.elements[hole] = self.elements[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        self.elements[hole] = element;
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
}
