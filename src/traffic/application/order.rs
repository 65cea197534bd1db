//! Messages of a pair of ranks in the order in which they were sent: MPI promises that of two messages that both fit a
//! receipt the one that was sent first is taken, and networks of several ways don't keep to that by themselves.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use serde::{Deserialize, Serialize};

use crate::application::Mix;

type ByPair<T> = HashMap<(u32, u32), T, BuildHasherDefault<Mix>>;

/// How many messages each rank has sent each other one, and how many were let in.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Order {
    sent: ByPair<u32>,
    taken: ByPair<u32>,
    /// Messages that came before others which were sent before: by number, then what they are.
    early: ByPair<Vec<(u32, u32)>>,
}

impl Order {
    /// The number of the next message from one rank to another.
    pub(super) fn next(&mut self, from: u32, to: u32) -> u32 {
        let sent = self.sent.entry((from, to)).or_default();
        *sent += 1;
        *sent - 1
    }

    /// A message with this number has come; gives `take` those whose turn it is, in order.
    pub(super) fn come(
        &mut self,
        from: u32,
        to: u32,
        number: u32,
        message: u32,
        mut take: impl FnMut(u32),
    ) {
        let taken = self.taken.entry((from, to)).or_default();
        if *taken != number {
            self.early.entry((from, to)).or_default().push((number, message));
            return;
        }
        *taken += 1;
        take(message);
        if self.early.is_empty() {
            return;
        }
        let Some(early) = self.early.get_mut(&(from, to)) else { return };
        while let Some(place) = early.iter().position(|it| it.0 == *taken) {
            take(early.swap_remove(place).1);
            *taken += 1;
        }
        if early.is_empty() {
            self.early.remove(&(from, to));
        }
    }

    pub(super) fn memory(&self) -> usize {
        (self.sent.capacity() + self.taken.capacity()) * 13
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overtakes_waits_for_what_it_overtook() {
        let mut order = Order::default();
        assert_eq!([order.next(0, 1), order.next(0, 1), order.next(0, 2)], [0, 1, 0]);
        let mut taken = Vec::new();
        for (number, message) in [(2, 'c'), (1, 'b'), (0, 'a'), (4, 'e'), (3, 'd')] {
            order.come(0, 1, number, message.into(), |message| taken.push(message));
            order.come(2, 1, 9, 0, |_| panic!("of another pair"));
        }
        assert_eq!(taken, ['a', 'b', 'c', 'd', 'e'].map(u32::from));
    }
}
