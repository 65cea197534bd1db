//! Messages: what the source needs of one that waits, and what the sink needs of one that is on its way.
//!
//! A message's two ends share nothing but its packets: most messages are one packet, which carries all that
//! its sink needs. Of the others the sink keeps an [`Arrival`].

use serde::{Deserialize, Serialize};

use crate::narrow::{fitted, narrow};
use crate::units::Picoseconds;
use flitlab_model::{DOWN_CHANNEL, Parameters, REQUEST_CHANNEL, RESPONSE_CHANNEL, UP_CHANNEL};

/// What a message's last packet brings about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    Data,
    /// A read request, which asks for so many bytes.
    Request(u64),
    /// A put, which is acknowledged.
    Put,
    /// The request of an atomic operation, which is answered with so many bytes.
    Atomic(u64),
    /// The response to the request of a read or of an atomic operation.
    Response,
    /// The response to a put of so many bytes.
    Acknowledgement(u64),
    /// Part of a collective operation, on its way up the tree or down.
    Operand,
    Broadcast,
}

impl Role {
    /// Whether its last flit's leaving the adapter may be told.
    #[inline]
    pub(super) fn departs(self) -> bool {
        matches!(self, Self::Data | Self::Operand | Self::Broadcast)
    }

    /// Whether it goes back to whoever asked for it.
    #[inline]
    pub(super) fn is_response(self) -> bool {
        matches!(self, Self::Response | Self::Acknowledgement(_))
    }

    pub(super) fn virtual_channel(self) -> u8 {
        match self {
            Self::Data | Self::Request(_) | Self::Put | Self::Atomic(_) => REQUEST_CHANNEL,
            Self::Response | Self::Acknowledgement(_) => RESPONSE_CHANNEL,
            Self::Operand => UP_CHANNEL,
            Self::Broadcast => DOWN_CHANNEL,
        }
    }
}

/// A message that waits in a source queue, or whose packets are being injected: half a cache line, since a long
/// queue's messages are far from any cache.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(super) struct Queued {
    /// When its packets were created: behind the send overhead.
    pub created: Picoseconds,
    /// Payload that is still to be injected; what fits into one packet goes with the last.
    pub bytes_left: u64,
    pub destination: u32,
    /// The message behind it in its source queue.
    pub next: u32,
    /// Its [`Note`]; [`NONE`](crate::topology::NONE) of data without a tag of which nothing has been injected.
    pub note: u32,
}

/// What else there is to know of some messages that wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Note {
    /// When the message, for a response what it answers, was created.
    pub started: Picoseconds,
    pub role: Role,
    pub tag: u64,
    /// The number under which it was announced to its sink's part; [`NONE`](crate::topology::NONE) before its first
    /// packet, and if that is the only one and says all.
    pub arrival: u32,
    /// For how long its injection channel had waited for room before it came; 0 if nobody asks ([`RoomWaits`]).
    pub waited_before: Picoseconds,
}

/// For how long an injection channel that was free had packets, but no room for any of them in its router.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct RoomWaits {
    /// In all, but for what goes on.
    ended: Picoseconds,
    /// Since when it waits; the latest of all times if it does not.
    since: Picoseconds,
}

impl RoomWaits {
    pub(super) const NONE: Self = Self { ended: Picoseconds::ZERO, since: Picoseconds::NEVER };

    /// It waits from now on, if it does not already.
    pub(super) fn begin(&mut self, now: Picoseconds) {
        self.since = self.since.min(now);
    }

    pub(super) fn end(&mut self, now: Picoseconds) {
        self.ended = self.until(now);
        self.since = Picoseconds::NEVER;
    }

    /// All until now.
    pub(super) fn until(&self, now: Picoseconds) -> Picoseconds {
        self.ended + now.saturating_sub(self.since)
    }

    /// Whether it waits.
    pub(super) fn is_on(&self) -> bool {
        self.since != Picoseconds::NEVER
    }
}

/// How a message is cut into packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Packing {
    pub bytes: u64,
    /// Flits of all its packets.
    pub flits: u64,
    /// Payload in bytes and flits of its first packet.
    pub payload: u32,
    pub packet_flits: u16,
}

impl Packing {
    pub(super) fn new(bytes: u64, parameters: &Parameters) -> Self {
        let payload = bytes.min(parameters.maximum_payload.0);
        Self {
            bytes,
            flits: parameters.message_flits(bytes),
            payload: narrow(payload),
            packet_flits: narrow(parameters.packet_flits(payload)),
        }
    }
}

/// A message of several packets, or one that is answered or acknowledged, as its sink knows it from its
/// first packet's injection on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Arrival {
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
pub(super) struct Slots<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slots<T> {
    pub(super) fn new() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }

    #[inline]
    pub(super) fn insert(&mut self, item: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = item;
            return slot;
        }
        self.items.push(item);
        fitted!(self.items.len(), u32) - 1
    }

    #[inline]
    pub(super) fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.items[slot as usize]
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&T> {
        self.items.get(slot as usize)
    }

    #[inline]
    pub(super) fn at(&mut self, slot: u32) -> &mut T {
        &mut self.items[slot as usize]
    }

    pub(super) fn memory(&self) -> usize {
        self.items.capacity() * size_of::<T>() + self.free.capacity() * size_of::<u32>()
    }
}

/// Numbers that are given out and come back.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Numbers {
    next: u32,
    free: Vec<u32>,
}

impl Numbers {
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }

    pub(super) fn give_back(&mut self, number: u32) {
        self.free.push(number);
    }
}
