//! What happens at a terminal, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::units::Picoseconds;

/// What comes of time at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Happening {
    /// A message of this tag is there.
    Arrive { tag: u64 },
    /// The last flit of a message of this tag has left.
    Left { tag: u64 },
    /// A stream is done with its job. The operation is said so that it can be fetched ahead; the stream knows it as well.
    End { stream: u32, operation: u32 },
    /// The adapter can take the message for which a stream waits.
    Resume { stream: u32 },
}

/// What happens at a terminal, and when. Of one instant messages come first, in the order of their operations, then the
/// rest in the order in which it was brought about: so nothing depends on which channel a message came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Event {
    time: Picoseconds,
    order: u64,
    happening: Happening,
}

/// The order of the first event that is no message.
const BEHIND_MESSAGES: u64 = 1 << 32;

/// All that is to happen at a terminal. Most of the time that is one event, which needs no heap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Agenda {
    first: Option<Event>,
    later: BinaryHeap<Reverse<Event>>,
    /// Events so far that were no messages.
    count: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, time: Picoseconds, happening: Happening) {
        let order = match happening {
            Happening::Arrive { tag } | Happening::Left { tag } => tag & u64::from(u32::MAX),
            Happening::End { .. } | Happening::Resume { .. } => {
                self.count += 1;
                BEHIND_MESSAGES + self.count
            }
        };
        let event = Event { time, order, happening };
        match &mut self.first {
            None => self.first = Some(event),
            Some(first) => {
                let later = if event < *first { std::mem::replace(first, event) } else { event };
                self.later.push(Reverse(later));
            }
        }
    }

    /// What happens first.
    #[inline]
    pub(super) fn first(&self) -> Option<Happening> {
        self.first.map(|event| event.happening)
    }

    /// When the first event is.
    pub(super) fn next(&self) -> Option<Picoseconds> {
        self.first.map(|event| event.time)
    }

    /// Takes the first event if it is due at `now`.
    pub(super) fn take_due(&mut self, now: Picoseconds) -> Option<Happening> {
        let event = self.first.filter(|event| event.time <= now)?;
        debug_assert_eq!(event.time, now, "an event was not seen to in its time");
        self.first = self.later.pop().map(|event| event.0);
        Some(event.happening)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_first_by_operation_then_the_rest_as_it_was_brought_about() {
        let mut agenda = Agenda::default();
        let end = |stream| Happening::End { stream, operation: 0 };
        let arrive = |tag| Happening::Arrive { tag };
        let added =
            [(5, end(2)), (3, end(1)), (5, arrive(9)), (5, end(0)), (5, arrive(4 | 7 << 32))];
        for (time, happening) in added {
            agenda.add(time, happening);
        }
        assert_eq!((agenda.next(), agenda.take_due(2)), (Some(3), None));
        assert_eq!(
            (agenda.take_due(3), agenda.take_due(3), agenda.next()),
            (Some(end(1)), None, Some(5))
        );
        agenda.add(5, arrive(6));
        let taken: Vec<_> = std::iter::from_fn(|| agenda.take_due(5)).collect();
        assert_eq!(taken, [arrive(4 | 7 << 32), arrive(6), arrive(9), end(2), end(0)]);
        assert_eq!(agenda.next(), None);
    }
}
