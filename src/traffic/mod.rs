//! Who sends what to whom, and when.

mod script;
mod spec;

pub use script::Script;
pub use spec::*;

use crate::units::Picoseconds;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Its bytes travel from source to destination, on the request channel.
    Data,
    /// A request of `request` bytes goes to the destination, which answers with the message's bytes
    /// on the response channel.
    Read { request: u32 },
}

/// A message that a terminal creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// Creation time at the source, before the send overhead.
    pub time: Picoseconds,
    pub source: u32,
    pub destination: u32,
    /// Payload bytes; of the response for a read.
    pub bytes: u64,
    pub kind: Kind,
}
