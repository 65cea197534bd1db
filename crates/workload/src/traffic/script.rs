//! A given list of messages, for tests and small studies.

use super::{Message, MessageKind};
use flitlab_base::units::Picoseconds;

/// Messages in the order in which their terminals create them.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// By terminal, then time.
    pub(super) messages: Vec<Message>,
    /// For each terminal up to the last that sends, the place of its next message.
    next: Vec<usize>,
}

impl Script {
    /// Any order of times is allowed; messages of one terminal at one time keep the order given.
    pub fn new(mut messages: Vec<Message>) -> Self {
        messages.sort_by_key(|message| (message.source, message.time));
        let terminals = messages.last().map_or(0, |message| message.source + 1);
        let next = (0..terminals)
            .map(|terminal| messages.partition_point(|message| message.source < terminal))
            .collect();
        Self { messages, next }
    }

    /// Whether there are messages of data, and whether there are reads.
    pub(super) fn kinds(&self) -> (bool, bool) {
        let is_data = |message: &Message| message.kind == MessageKind::Data;
        (self.messages.iter().any(is_data), !self.messages.iter().all(is_data))
    }

    pub(super) fn first(&self, terminal: u32) -> Option<Picoseconds> {
        self.upcoming(terminal).map(|message| message.time)
    }

    pub(super) fn create(
        &mut self,
        terminal: u32,
        now: Picoseconds,
    ) -> (Option<Message>, Option<Picoseconds>) {
        let message = self.upcoming(terminal).filter(|message| message.time <= now).copied();
        self.next[terminal as usize] += usize::from(message.is_some());
        (message, self.first(terminal))
    }

    /// For each terminal, the place of its next message.
    pub(super) fn state(&self) -> &[usize] {
        &self.next
    }

    /// Goes on where a script of the same messages was; false if it had others.
    pub(super) fn resume(&mut self, next: Vec<usize>) -> bool {
        let fits = next.len() == self.next.len();
        if fits {
            self.next = next;
        }
        fits
    }

    /// The next message of a terminal.
    fn upcoming(&self, terminal: u32) -> Option<&Message> {
        let place = *self.next.get(terminal as usize)?;
        self.messages.get(place).filter(|message| message.source == terminal)
    }

    pub(super) fn memory(&self) -> usize {
        self.messages.len() * size_of::<Message>() + self.next.len() * size_of::<usize>()
    }
}
