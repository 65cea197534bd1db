//! A load that ends.

use std::ops::Range;

use super::{Created, MessageKind, Workload};
use flitlab_base::units::Picoseconds;
use flitlab_model::workload::boxed;

/// An open workload whose terminals create messages before a time only. What it creates until then
/// is what it creates without an end.
#[derive(Clone, Debug)]
pub struct Until {
    open: Box<dyn Workload>,
    end: Picoseconds,
    messages: u64,
}

impl Until {
    /// Ends a workload at a time of its own. About so many messages are created before.
    ///
    /// # Panics
    /// If the workload is not [open](Workload::is_open), or consists of several: others may wait for
    /// its messages.
    pub fn new(open: Box<dyn Workload>, end: Picoseconds, messages: u64) -> Self {
        assert!(open.is_open() && open.by_class().is_empty(), "one open workload ends");
        Self { open, end, messages }
    }

    fn before_end(&self, time: Option<Picoseconds>) -> Option<Picoseconds> {
        time.filter(|&time| time < self.end)
    }
}

impl Workload for Until {
    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        let first = self.open.first(terminal);
        self.before_end(first)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let (message, next) = self.open.create(terminal, now);
        (message, self.before_end(next))
    }

    fn is_open(&self) -> bool {
        true
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.open.for_each_size(each);
    }

    fn state(&self) -> Vec<u8> {
        self.open.state()
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        self.open.resume(state)
    }

    fn memory(&self) -> usize {
        self.open.memory()
    }

    fn split(self: Box<Self>, terminals: &[Range<u32>]) -> Vec<Box<dyn Workload>> {
        let Self { open, end, messages } = *self;
        boxed(open.split(terminals).into_iter().map(|open| Self { open, end, messages }))
    }

    fn messages(&self) -> u64 {
        self.messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, Script};

    /// The messages of a terminal.
    fn of_terminal(workload: &mut dyn Workload, terminal: u32) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut next = workload.first(terminal);
        while let Some(time) = next {
            let (message, later) = workload.create(terminal, time);
            messages.extend(message);
            next = later;
        }
        messages
    }

    #[test]
    fn what_is_created_before_the_end_is_the_same_as_without_one_and_the_rest_is_not() {
        let message = |source, time| Message {
            time: Picoseconds(time),
            source,
            destination: 3,
            bytes: 40,
            kind: MessageKind::Data,
            tag: 0,
            class: 0,
        };
        let times = [5, 10, 10, 19, 20, 21];
        let messages = (0..2).flat_map(|source| times.map(|time| message(source, time))).collect();
        let open = Script::new(messages);
        for (end, left) in [(1, 0), (5, 0), (6, 1), (20, 4), (21, 5), (22, 6)] {
            let until = Until::new(Box::new(open.clone()), Picoseconds(end), 7);
            assert_eq!(until.messages(), 7);
            let mut parts = Box::new(until.clone()).split(&[0..1, 1..2]);
            for terminal in 0..2 {
                let all = of_terminal(&mut open.clone(), terminal);
                assert_eq!(of_terminal(&mut until.clone(), terminal), all[..left], "until {end}");
                let part = &mut *parts[terminal as usize];
                assert_eq!(of_terminal(part, terminal), all[..left], "until {end}");
            }
        }
    }
}
