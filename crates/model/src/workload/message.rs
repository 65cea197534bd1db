//! Messages, and what their workloads are told of them.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// The kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MessageKind {
    /// Its bytes travel from source to destination, on the request channel.
    Data,
    /// A request of `request` bytes goes to the destination, which answers with the message's bytes
    /// on the response channel.
    Read {
        /// Payload of the request, in bytes.
        request: u32,
    },
    /// Its bytes travel from source to destination on the request channel; the destination
    /// acknowledges them with a response without payload.
    Put,
    /// A request of `request` bytes goes to the destination, whose adapter performs one such
    /// operation after the other and answers with the message's bytes, the old value.
    Atomic {
        /// Payload of the request, in bytes.
        request: u32,
    },
    /// Its bytes are combined with those of others on the way up the tree of its collective
    /// operation.
    Operand,
    /// Its bytes go down that tree.
    Broadcast,
}

impl MessageKind {
    /// Whether it or an earlier one is data, and whether one of them is answered.
    pub fn and_in(self, (data, answered): (bool, bool)) -> (bool, bool) {
        match self {
            Self::Data => (true, answered),
            Self::Read { .. } | Self::Put | Self::Atomic { .. } => (data, true),
            Self::Operand | Self::Broadcast => (data, answered),
        }
    }
}

/// A message that a terminal creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Message {
    /// Creation time at the source, before the send overhead.
    pub time: Picoseconds,
    /// The terminal that sends it, or asks for it.
    pub source: u32,
    /// The terminal that receives it, or answers.
    pub destination: u32,
    /// Payload bytes; of the response for a read or an atomic operation.
    pub bytes: u64,
    /// The kind of message.
    pub kind: MessageKind,
    /// Given back to the workload when the message is done; of no meaning to the engine. At most
    /// [`LARGEST_TAG`](super::LARGEST_TAG).
    pub tag: u64,
    /// Its class of traffic: of several workloads the number of its own, and 0 of one that is alone.
    pub class: u8,
}

/// The facts about a received message that its workload is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The tag of the [`Message`].
    pub tag: u64,
    /// When it entered its source queue.
    pub created: Picoseconds,
    /// When the last of its packets to be delivered started on the injection channel.
    pub injected: Picoseconds,
    /// Channels between routers that this packet crossed.
    pub hops: u32,
    /// Its number among those of its source.
    pub sequence: u32,
    /// The injection channel that it took.
    pub channel: u8,
    /// Time from this packet's first flit to its last one on the ejection channel.
    pub trailing: Picoseconds,
    /// The least time from the first flit of the message's first packet to that of this one: what
    /// the flits between them take on the ejection channel.
    pub leading: Picoseconds,
    /// When it was received, host overheads included.
    pub time: Picoseconds,
}
