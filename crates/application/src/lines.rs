//! Many short queues in one array: most are empty most of the time, so an allocation each would
//! cost more than what they hold.

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::narrow;

/// No such place.
const NONE: u32 = u32::MAX;

/// A queue of [`Lines`], first come first served: where its first and its last item are.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Line {
    head: u32,
    /// Means nothing in an empty line.
    tail: u32,
}

impl Line {
    /// A queue of nothing.
    pub const EMPTY: Self = Self { head: NONE, tail: NONE };

    #[inline]
    /// Whether nothing is in it.
    pub fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// An item and the place of the one behind it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Link<T> {
    item: T,
    next: u32,
}

/// Items in many queues. The place that became free last is used first: it is in the processor's
/// cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lines<T> {
    links: Vec<Link<T>>,
    /// The first of the free places, which are a line as well.
    free: u32,
}

impl<T> Default for Lines<T> {
    fn default() -> Self {
        Self { links: Vec::new(), free: NONE }
    }
}

impl<T: Copy> Lines<T> {
    fn insert(&mut self, item: T, next: u32) -> u32 {
        let link = Link { item, next };
        let place = self.free;
        if place == NONE {
            self.links.push(link);
            return narrow(self.links.len() - 1);
        }
        self.free = std::mem::replace(&mut self.links[place as usize], link).next;
        place
    }

    /// An item joins a line at its end.
    #[inline]
    pub fn push_back(&mut self, line: &mut Line, item: T) {
        let place = self.insert(item, NONE);
        if line.is_empty() {
            line.head = place;
        } else {
            self.links[line.tail as usize].next = place;
        }
        line.tail = place;
    }

    /// The first item of a line.
    #[inline]
    pub fn first(&self, line: Line) -> Option<T> {
        self.links.get(line.head as usize).map(|link| link.item)
    }

    /// Takes the first item of a line.
    #[inline]
    pub fn pop_front(&mut self, line: &mut Line) -> Option<T> {
        let place = line.head;
        let link = self.links.get_mut(place as usize)?;
        line.head = std::mem::replace(&mut link.next, self.free);
        self.free = place;
        Some(link.item)
    }

    /// Takes the first item of a line of which something holds.
    #[inline]
    pub fn take_first(&mut self, line: &mut Line, holds: impl Fn(&T) -> bool) -> Option<T> {
        let (mut before, mut place) = (NONE, line.head);
        while let Some(link) = self.links.get(place as usize) {
            if !holds(&link.item) {
                (before, place) = (place, link.next);
                continue;
            }
            if before == NONE {
                return self.pop_front(line);
            }
            let Link { item, next } = *link;
            self.links[before as usize].next = next;
            if next == NONE {
                line.tail = before;
            }
            self.links[place as usize].next = self.free;
            self.free = place;
            return Some(item);
        }
        None
    }

    /// The items of a line, the first one first.
    pub fn of(&self, line: Line) -> impl Iterator<Item = T> + '_ {
        let link = |place: u32| self.links.get(place as usize);
        std::iter::successors(link(line.head), move |it| link(it.next)).map(|it| it.item)
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        self.links.capacity() * size_of::<Link<T>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_served_each_in_its_own_order_and_share_places() {
        let mut lines = Lines::default();
        let (mut one, mut other) = (Line::EMPTY, Line::EMPTY);
        for item in 0..3 {
            lines.push_back(&mut one, item);
            lines.push_back(&mut other, 10 + item);
        }
        assert_eq!(lines.of(one).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!([(); 4].map(|()| lines.pop_front(&mut one)), [Some(0), Some(1), Some(2), None]);
        assert!(one.is_empty() && !other.is_empty());
        let memory = lines.memory();
        for item in 20..23 {
            lines.push_back(&mut one, item);
        }
        assert_eq!(lines.memory(), memory, "places are used again");
        assert_eq!(lines.of(one).collect::<Vec<_>>(), [20, 21, 22]);
        assert_eq!(lines.of(other).collect::<Vec<_>>(), [10, 11, 12]);
    }

    #[test]
    fn an_item_is_taken_from_any_place_of_its_line() {
        let mut lines = Lines::default();
        let mut line = Line::EMPTY;
        (0..6).for_each(|item| lines.push_back(&mut line, item));
        let memory = lines.memory();
        let taken = [5, 0, 3, 9].map(|wanted| lines.take_first(&mut line, |&it| it >= wanted));
        assert_eq!(taken, [Some(5), Some(0), Some(3), None]);
        (6..9).for_each(|item| lines.push_back(&mut line, item));
        assert_eq!(lines.of(line).collect::<Vec<_>>(), [1, 2, 4, 6, 7, 8]);
        assert_eq!(lines.memory(), memory, "places are used again");
        while lines.take_first(&mut line, |_| true).is_some() {}
        assert!(line.is_empty());
        lines.push_back(&mut line, 10);
        assert_eq!(lines.of(line).collect::<Vec<_>>(), [10]);
    }
}
