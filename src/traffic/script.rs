//! A given list of messages, for tests and small studies.

use super::Message;
use crate::units::Picoseconds;

/// Messages in the order in which their terminals create them.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// By terminal, then time.
    messages: Vec<Message>,
}

impl Script {
    /// Any order of times is allowed; messages of one terminal at one time keep the order given.
    #[must_use]
    pub fn new(mut messages: Vec<Message>) -> Self {
        messages.sort_by_key(|message| (message.source, message.time));
        Self { messages }
    }

    pub(super) fn first(&self, terminal: u32) -> Option<Picoseconds> {
        let start = self.messages.partition_point(|message| message.source < terminal);
        self.messages.get(start).filter(|message| message.source == terminal).map(|m| m.time)
    }

    pub(super) fn create(
        &self,
        terminal: u32,
        now: Picoseconds,
        messages: &mut Vec<Message>,
    ) -> Option<Picoseconds> {
        let key = |message: &Message| (message.source, message.time);
        let start = self.messages.partition_point(|message| key(message) < (terminal, now));
        let end = self.messages.partition_point(|message| key(message) <= (terminal, now));
        messages.extend_from_slice(&self.messages[start..end]);
        self.messages.get(end).filter(|message| message.source == terminal).map(|m| m.time)
    }

    pub(super) fn memory(&self) -> usize {
        self.messages.len() * size_of::<Message>()
    }
}
