//! Messages: the state that a source keeps of a message that waits, and a sink of one that is under
//! way.
//!
//! The two ends of a message share nothing but its packets. Most messages are one packet, which
//! carries all that its sink needs. For the others the sink keeps an [`Arrival`].

use serde::{Deserialize, Serialize};

use flitlab_base::narrow::{fitted, narrow};
use flitlab_base::units::Picoseconds;
use flitlab_model::{DOWN_CHANNEL, Parameters, UP_CHANNEL};

/// The kind of a message: what its last packet's delivery causes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Role {
    Data,
    /// A read request for this many bytes.
    Request(u64),
    /// A put, which is acknowledged.
    Put,
    /// The request of an atomic operation, whose response has this many bytes.
    Atomic(u64),
    /// The response to a read or to an atomic operation.
    Response,
    /// The acknowledgement of a put of this many bytes.
    Acknowledgement(u64),
    /// An operand of a collective operation, on its way up the tree; or a packet on its way down.
    Operand,
    Broadcast,
}

impl Role {
    /// Whether the workload may be told when its last flit leaves the adapter.
    pub(crate) fn departs(self) -> bool {
        matches!(self, Self::Data | Self::Operand | Self::Broadcast)
    }

    /// Whether it goes back to the terminal that asked for it.
    pub(crate) fn is_response(self) -> bool {
        matches!(self, Self::Response | Self::Acknowledgement(_))
    }

    /// The purpose of its packets, or the virtual channel of a collective operation.
    #[inline]
    pub(crate) fn purpose(self) -> Result<Purpose, u8> {
        match self {
            Self::Data => Ok(Purpose::Data),
            Self::Request(_) | Self::Put | Self::Atomic(_) => Ok(Purpose::Request),
            Self::Response | Self::Acknowledgement(_) => Ok(Purpose::Response),
            Self::Operand => Err(UP_CHANNEL),
            Self::Broadcast => Err(DOWN_CHANNEL),
        }
    }
}

/// What packets are for, as far as their virtual channels depend on it. Puts are requests, and
/// acknowledgements responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Data,
    Request,
    Response,
}

impl Purpose {
    pub(crate) const COUNT: usize = 3;
    pub(crate) const ALL: [Self; Self::COUNT] = [Self::Data, Self::Request, Self::Response];
}

/// A message in a source queue, waiting or with packets being injected. It takes half a cache line,
/// since a long queue's messages lie outside any cache.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Queued {
    /// Time at which its packets were created, after the send overhead.
    pub created: Picoseconds,
    /// Payload that is still to be injected. The rest that fits into one packet goes with the last
    /// one.
    pub bytes_left: u64,
    pub destination: u32,
    /// The next message in its source queue.
    pub next: u32,
    /// Its [`Note`]; [`NONE`](flitlab_fabric::NONE) for data without a tag of which no packet has
    /// been injected.
    pub note: u32,
    /// Its class of traffic.
    pub class: u8,
}

/// Further data of some messages that wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    /// Time at which the message was created; for a response, the message that it answers.
    pub started: Picoseconds,
    pub role: Role,
    pub tag: u64,
    /// The number under which it was announced to its sink's part. [`NONE`](flitlab_fabric::NONE)
    /// before its first packet, and if its only packet carries all data.
    pub arrival: u32,
    /// Time for which its injection channel had waited for room before it came; 0 if the workload
    /// does not ask ([`RoomWaits`]).
    pub waited_before: Picoseconds,
}

/// Time for which an injection channel was free and had packets, but no room for any of them in its
/// router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RoomWaits {
    /// The sum of all waits that have ended.
    ended: Picoseconds,
    /// Time since which it waits; the latest of all times if it does not.
    since: Picoseconds,
}

impl RoomWaits {
    pub(crate) const NONE: Self = Self { ended: Picoseconds::ZERO, since: Picoseconds::NEVER };

    /// Begins a wait, if there is none.
    pub(crate) fn begin(&mut self, now: Picoseconds) {
        self.since = self.since.min(now);
    }

    pub(crate) fn end(&mut self, now: Picoseconds) {
        self.ended = self.until(now);
        self.since = Picoseconds::NEVER;
    }

    /// The sum of all waits until `now`.
    pub(crate) fn until(&self, now: Picoseconds) -> Picoseconds {
        self.ended + now.saturating_sub(self.since)
    }

    /// Whether it waits.
    pub(crate) fn is_on(&self) -> bool {
        self.since != Picoseconds::NEVER
    }
}

/// The cut of a message into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Packing {
    pub bytes: u64,
    /// Flits of all its packets.
    pub flits: u64,
    /// Payload in bytes, and flits, of its first packet.
    pub payload: u32,
    pub packet_flits: u16,
}

impl Packing {
    pub(crate) fn new(bytes: u64, parameters: &Parameters) -> Self {
        let payload = bytes.min(parameters.maximum_payload.0);
        Self {
            bytes,
            flits: parameters.message_flits(bytes),
            payload: narrow(payload),
            packet_flits: narrow(parameters.packet_flits(payload)),
        }
    }
}

/// A message of several packets, or one with a response or an acknowledgement. Its sink knows it
/// from the injection of its first packet on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Arrival {
    pub started: Picoseconds,
    pub bytes: u64,
    pub packets_left: u32,
    pub role: Role,
    pub tag: u64,
    /// Whether one of its packets is lost.
    pub lost: bool,
}

/// Records by slot. Slots are reused; their numbers have no meaning in the model.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Slots<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slots<T> {
    pub(crate) fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = item;
            return slot;
        }
        self.items.push(item);
        fitted!(self.items.len(), u32) - 1
    }

    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.items[slot as usize]
    }

    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.items.get(slot as usize)
    }

    pub(crate) fn at(&mut self, slot: u32) -> &mut T {
        &mut self.items[slot as usize]
    }

    pub(crate) fn memory(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

/// Numbers that are handed out and given back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbers {
    next: u32,
    free: Vec<u32>,
}

impl Numbers {
    pub(crate) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    pub(crate) fn give_back(&mut self, number: u32) {
        self.free.push(number);
    }
}
