//! Messages of a pair of ranks in the order in which they were sent: MPI promises that of two
//! messages that both fit a receipt the one that was sent first is taken, and networks of several
//! ways don't keep to that by themselves.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use serde::{Deserialize, Serialize};

use flitlab_application::{ANY, Action, Schedule};
use flitlab_base::mix::Mix;
use flitlab_base::prefetch::prefetch;

/// The pairs of ranks one of which sends the other something.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// By operation: the number of its pair; of operations that send nothing 0.
    of_operation: Vec<u32>,
    count: u32,
}

impl Pairs {
    pub(super) fn new(schedule: &Schedule) -> Self {
        let mut of_operation = vec![0; schedule.operations().len()];
        let mut count = 0;
        // By receiver: the sender that was looked at last, and the number of that pair.
        let mut latest = vec![(ANY, 0); schedule.ranks() as usize];
        for rank in 0..schedule.ranks() {
            for number in schedule.of_rank(rank) {
                let operation = schedule.operation(number);
                if operation.action != Action::Send {
                    continue;
                }
                let (sender, pair) = &mut latest[operation.peer as usize];
                if *sender != rank {
                    (*sender, *pair) = (rank, count);
                    count += 1;
                }
                of_operation[number as usize] = *pair;
            }
        }
        Self { of_operation, count }
    }

    /// The number of the pair that a message is of.
    #[inline]
    pub(super) fn of(&self, message: u32) -> u32 {
        self.of_operation[message as usize]
    }

    /// Has the memory of [`of`](Self::of) fetched.
    #[inline]
    pub(super) fn prefetch(&self, message: u32) {
        prefetch(&self.of_operation[message as usize]);
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.of_operation)
    }
}

/// How many messages each rank has sent each other one, and how many were let in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// Both by pair.
    sent: Vec<u32>,
    taken: Vec<u32>,
    /// By pair, messages that came before others which were sent before: by number, then what they
    /// are.
    early: HashMap<u32, Vec<(u32, u32)>, BuildHasherDefault<Mix>>,
}

impl Order {
    /// Nothing has been sent.
    pub(super) fn new(pairs: &Pairs) -> Self {
        let none = vec![0; pairs.count as usize];
        Self { sent: none.clone(), taken: none, early: HashMap::default() }
    }

    /// Whether it is of as many pairs as another one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.sent.len(), self.taken.len()) == (other.sent.len(), other.taken.len())
    }

    /// The number of a pair's next message.
    pub(super) fn next(&mut self, pair: u32) -> u32 {
        let sent = &mut self.sent[pair as usize];
        *sent += 1;
        *sent - 1
    }

    /// Whether it is the turn of a message with this number.
    pub(super) fn is_next(&self, pair: u32, number: u32) -> bool {
        self.taken[pair as usize] == number
    }

    /// A message with this number has come. Whether it is its turn; if not it waits.
    pub(super) fn come(&mut self, pair: u32, number: u32, message: u32) -> bool {
        let taken = &mut self.taken[pair as usize];
        if *taken != number {
            self.early.entry(pair).or_default().push((number, message));
            return false;
        }
        *taken += 1;
        true
    }

    /// The message that waited and whose turn it is, now that others were let in.
    pub(super) fn take_early(&mut self, pair: u32) -> Option<u32> {
        if self.early.is_empty() {
            return None;
        }
        let taken = &mut self.taken[pair as usize];
        let early = self.early.get_mut(&pair)?;
        let place = early.iter().position(|it| it.0 == *taken)?;
        let message = early.swap_remove(place).1;
        *taken += 1;
        if early.is_empty() {
            self.early.remove(&pair);
        }
        Some(message)
    }

    pub(super) fn memory(&self) -> usize {
        size_of_val(&*self.sent) + size_of_val(&*self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_application::{Operation, ScheduleBuilder};

    #[test]
    fn what_overtakes_waits_for_what_it_overtook() {
        let mut builder = ScheduleBuilder::new();
        builder.add(Operation::send(8, 1, 0)).unwrap();
        builder.add(Operation::receive(8, 1, 0)).unwrap();
        builder.add(Operation::send(8, 2, 0)).unwrap();
        builder.add(Operation::send(8, 1, 0)).unwrap();
        builder.end_rank().unwrap();
        builder.add(Operation::send(8, 2, 0)).unwrap();
        builder.end_rank().unwrap();
        builder.end_rank().unwrap();
        let pairs = Pairs::new(&builder.finish());
        assert_eq!([0, 2, 3, 4].map(|message| pairs.of(message)), [0, 1, 0, 2]);
        let mut order = Order::new(&pairs);
        assert_eq!([order.next(0), order.next(0), order.next(1)], [0, 1, 0]);
        let mut taken = Vec::new();
        for (number, message) in [(2, 'c'), (1, 'b'), (0, 'a'), (4, 'e'), (3, 'd')] {
            if order.come(0, number, message.into()) {
                taken.push(message.into());
                taken.extend(std::iter::from_fn(|| order.take_early(0)));
            }
            assert!(!order.come(2, 9, 0), "of another pair");
        }
        assert_eq!(taken, ['a', 'b', 'c', 'd', 'e'].map(u32::from));
    }
}
