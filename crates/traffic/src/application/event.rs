//! Events at a terminal, in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// An event at a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Happening {
    /// A message of this tag is there.
    Arrive { tag: u64 },
    /// The last flit of a message of this tag has left, or the one-sided operation of this tag has
    /// ended.
    Left { tag: u64 },
    /// A stream is done with its job, which may give a message to the adapter. The operation is
    /// said so that it can be fetched ahead; the stream knows it as well.
    End { stream: u32, operation: u32, gives: bool },
    /// The adapter can take the message for which a stream waits.
    Resume { stream: u32 },
    /// A message of this tag has passed from the host through its adapter.
    Depart { tag: u64 },
}

/// Something that happens at a terminal, and when. Of one instant messages are in the order of
/// their operations, the rest is in the order in which it was brought about: so nothing depends on
/// which channel a message came by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Event {
    time: Picoseconds,
    order: u64,
    happening: Happening,
}

/// Events of one sort. Most of the time that is one, which needs no heap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Events {
    first: Option<Event>,
    later: BinaryHeap<Reverse<Event>>,
}

impl Events {
    #[inline]
    fn add(&mut self, event: Event) {
        match &mut self.first {
            None => self.first = Some(event),
            Some(first) => {
                let later = if event < *first { std::mem::replace(first, event) } else { event };
                self.later.push(Reverse(later));
            }
        }
    }

    /// When the first event is; the latest of all times if there is none.
    #[inline]
    fn next(&self) -> Picoseconds {
        self.first.map_or(Picoseconds::NEVER, |event| event.time)
    }

    /// Takes the first event if it is due at `now`.
    #[inline]
    fn take_due(&mut self, now: Picoseconds) -> Option<(Picoseconds, Happening)> {
        let Event { time, happening, .. } = self.first.filter(|event| event.time <= now)?;
        self.first = None;
        if !self.later.is_empty() {
            self.first = self.later.pop().map(|event| event.0);
        }
        Some((time, happening))
    }
}

/// The pending events at a terminal. Messages come first among events of one instant.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Agenda {
    /// Messages that come or have left: the network brings them about.
    messages: Events,
    /// Events of streams.
    ends: Events,
    /// How many events were of streams so far.
    count: u64,
}

impl Agenda {
    #[inline]
    pub(super) fn add(&mut self, time: Picoseconds, happening: Happening) {
        match happening {
            Happening::Arrive { tag } | Happening::Left { tag } => {
                let order = tag & u64::from(u32::MAX);
                self.messages.add(Event { time, order, happening });
            }
            Happening::End { .. } | Happening::Resume { .. } | Happening::Depart { .. } => {
                self.count += 1;
                self.ends.add(Event { time, order: self.count, happening });
            }
        }
    }

    /// Returns the first event of a stream, and its time.
    #[inline]
    pub(super) fn first_end(&self) -> Option<(Picoseconds, Happening)> {
        self.ends.first.map(|event| (event.time, event.happening))
    }

    /// Returns the first event of a message.
    #[inline]
    pub(super) fn first_message(&self) -> Option<Happening> {
        self.messages.first.map(|event| event.happening)
    }

    /// When the first event is; the latest of all times if there is none.
    #[inline]
    pub(super) fn next(&self) -> Picoseconds {
        self.ends.next().min(self.messages.next())
    }

    /// Returns a time before which the streams give the adapter nothing, if beginning a message
    /// keeps a stream busy for `lead`. With `any_idle` some stream is idle and may begin a message
    /// when one comes.
    #[inline]
    pub(super) fn next_given(&self, lead: Picoseconds, any_idle: bool) -> Picoseconds {
        let of_messages = if any_idle { self.messages.next() + lead } else { Picoseconds::NEVER };
        let Some(first) = self.ends.first else { return of_messages };
        let gives = matches!(
            first.happening,
            Happening::End { gives: true, .. } | Happening::Depart { .. }
        );
        let of_first = if gives { first.time } else { first.time + lead };
        let second = self.ends.later.peek().map_or(Picoseconds::NEVER, |event| event.0.time);
        of_messages.min(of_first).min(second)
    }

    /// Takes the first event, and when it is, if it is due at `now`.
    #[inline]
    pub(super) fn take_due(&mut self, now: Picoseconds) -> Option<(Picoseconds, Happening)> {
        if self.messages.next() <= self.ends.next() {
            self.messages.take_due(now)
        } else {
            self.ends.take_due(now)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(stream: u32) -> Happening {
        Happening::End { stream, operation: 0, gives: false }
    }

    fn arrive(tag: u64) -> Happening {
        Happening::Arrive { tag }
    }

    #[test]
    fn messages_come_first_by_operation_then_the_rest_as_it_was_brought_about() {
        let mut agenda = Agenda::default();
        let added =
            [(5, end(2)), (3, end(1)), (5, arrive(9)), (5, end(0)), (5, arrive(4 | 7 << 32))];
        for (time, happening) in added {
            agenda.add(Picoseconds(time), happening);
        }
        assert_eq!((agenda.next(), agenda.take_due(Picoseconds(2))), (Picoseconds(3), None));
        assert_eq!(
            (agenda.take_due(Picoseconds(3)), agenda.take_due(Picoseconds(3)), agenda.next()),
            (Some((Picoseconds(3), end(1))), None, Picoseconds(5))
        );
        agenda.add(Picoseconds(5), arrive(6));
        let taken: Vec<_> = std::iter::from_fn(|| agenda.take_due(Picoseconds(9))).collect();
        let expected = [arrive(4 | 7 << 32), arrive(6), arrive(9), end(2), end(0)];
        assert_eq!(taken, expected.map(|happening| (Picoseconds(5), happening)));
        assert_eq!(agenda.next(), Picoseconds::NEVER);
    }

    #[test]
    fn a_message_is_given_no_sooner_than_a_stream_can_have_worked_on_it() {
        let mut agenda = Agenda::default();
        assert_eq!(agenda.next_given(Picoseconds(10), true), Picoseconds::NEVER);
        agenda.add(Picoseconds(50), arrive(1));
        assert_eq!(
            [true, false].map(|idle| agenda.next_given(Picoseconds(10), idle)),
            [Picoseconds(60), Picoseconds::NEVER]
        );
        agenda.add(Picoseconds(100), end(0));
        assert_eq!(
            [true, false].map(|idle| agenda.next_given(Picoseconds(10), idle)),
            [Picoseconds(60), Picoseconds(110)]
        );
        agenda.add(Picoseconds(105), end(1));
        assert_eq!(
            agenda.next_given(Picoseconds(10), false),
            Picoseconds(105),
            "it may be one that gives something"
        );
        agenda.add(Picoseconds(90), Happening::End { stream: 2, operation: 0, gives: true });
        assert_eq!(agenda.next_given(Picoseconds(10), false), Picoseconds(90));
    }
}
