//! When everything was done, for explanations.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// The kind of a stream's job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum JobKind {
    /// An operation itself: a computation, the sending of a message or of a request, the beginning
    /// of a receipt.
    Begin,
    /// Taking a message for a receipt.
    Take,
    /// Saying that a large message may come, or having the adapter fetch it.
    Answer,
    /// Sending a large message that may come.
    Go,
}

/// A job of a stream, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The operation: of the receiver for [`JobKind::Take`] and [`JobKind::Answer`].
    pub operation: u32,
    /// For [`JobKind::Begin`] the operation whose beginning or end freed it last,
    /// [`ANY`](flitlab_application::ANY) if it waited for none; otherwise the sender's operation.
    pub cause: u32,
    /// The kind of job.
    pub kind: JobKind,
    /// When all that it waits for had happened.
    pub ready: Picoseconds,
    /// When the stream began it.
    pub start: Picoseconds,
    /// When the stream was done with it.
    pub end: Picoseconds,
}

/// Which of a message's ways over the network it is, or of a one-sided operation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LegKind {
    /// A message that is sent without asking.
    Eager,
    /// Asking whether a large message may come.
    Ask,
    /// Saying so, or asking the sender's adapter for it.
    Answer,
    /// The large message.
    Data,
    /// Telling the sender that the receiver has fetched the large message.
    Finish,
    /// A one-sided operation on its way to its target.
    Request,
    /// What comes back of one: the acknowledgement, the data or the old value. Through a node's
    /// memory it is all that there is.
    Response,
}

/// A message's way through the network, or a node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leg {
    /// The sender's operation, whichever way the leg goes.
    pub operation: u32,
    /// The part of the message's exchange that it belongs to.
    pub kind: LegKind,
    /// Channels between routers that its last packet crossed.
    pub hops: u8,
    /// Number of its last packet among those of its source; 0 in memory.
    pub sequence: u32,
    /// The injection channel that it took; 0 in memory.
    pub channel: u8,
    /// Whether both ranks are on one node.
    pub in_memory: bool,
    /// When it was given to the adapter.
    pub entered: Picoseconds,
    /// When its last packet started on the injection channel.
    pub injected: Picoseconds,
    /// When its last packet was delivered.
    pub delivered: Picoseconds,
}

/// For how long a message's packets were kept in its adapter since the first router had no room,
/// while the injection channel was free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomWait {
    /// The sender's operation, as in [`Leg`].
    pub operation: u32,
    /// The kind of the leg, as in [`Leg`].
    pub kind: LegKind,
    /// How long it waited.
    pub time: Picoseconds,
}

/// The records of all jobs and messages, in no particular order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// Jobs of all streams.
    pub jobs: Vec<Job>,
    /// Legs of all messages.
    pub legs: Vec<Leg>,
    /// Of legs that waited for room in their adapters.
    pub waits: Vec<RoomWait>,
}
