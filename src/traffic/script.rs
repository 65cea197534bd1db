//! A given list of messages, for tests and small studies.

use super::Message;

/// Messages in the order in which their terminals create them.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) messages: Vec<Message>,
}

impl Script {
    /// Any order of times is allowed; messages of one terminal at one time keep the order given.
    #[must_use]
    pub fn new(mut messages: Vec<Message>) -> Self {
        messages.sort_by_key(|message| (message.source, message.time));
        Self { messages }
    }
}
