//! A given list of messages, for tests and small studies.

use super::{Created, Message, MessageKind, Workload, restored, saved};
use flitlab_base::units::Picoseconds;

/// Messages in the order in which their terminals create them.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// By terminal, then time.
    messages: Vec<Message>,
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

    /// The next message of a terminal.
    fn upcoming(&self, terminal: u32) -> Option<&Message> {
        let place = *self.next.get(terminal as usize)?;
        self.messages.get(place).filter(|message| message.source == terminal)
    }
}

impl Workload for Script {
    fn is_open(&self) -> bool {
        true
    }

    fn first(&mut self, terminal: u32) -> Option<Picoseconds> {
        self.upcoming(terminal).map(|message| message.time)
    }

    fn create(&mut self, terminal: u32, now: Picoseconds) -> Created {
        let message = self.upcoming(terminal).filter(|message| message.time <= now).copied();
        self.next[terminal as usize] += usize::from(message.is_some());
        (message, self.first(terminal))
    }

    fn for_each_size(&self, each: &mut dyn FnMut(MessageKind, u64)) {
        self.messages.iter().for_each(|message| each(message.kind, message.bytes));
    }

    fn kinds_of(&self, class: u8) -> (bool, bool) {
        let own = self.messages.iter().filter(|message| message.class == class);
        own.fold((false, false), |kinds, message| message.kind.and_in(kinds))
    }

    /// For each terminal, the place of its next message.
    fn state(&self) -> Vec<u8> {
        saved(&self.next)
    }

    fn resume(&mut self, state: &[u8]) -> bool {
        let next = restored(state).filter(|next: &Vec<_>| next.len() == self.next.len());
        next.map(|next| self.next = next).is_some()
    }

    fn memory(&self) -> usize {
        self.messages.len() * size_of::<Message>() + self.next.len() * size_of::<usize>()
    }
}
