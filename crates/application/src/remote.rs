//! Operations upon the memory of another node, which its adapter carries out by itself: of
//! schedules, and of processes that do nothing else.

use std::ops::RangeInclusive;

/// The effect of an operation on the memory of its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RemoteOperation {
    /// Writes; the target acknowledges it.
    Put,
    /// Reads.
    Get,
    /// Adds to what is there, and returns what was there before.
    Add,
    /// Combines the value there with an operand by exclusive or, and returns the old value.
    Xor,
    /// Replaces what is there if it equals another operand, and returns what was there before. Not
    /// Angara's.
    CompareAndSwap,
}

impl RemoteOperation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Put, Self::Get, Self::Add, Self::Xor, Self::CompareAndSwap];

    /// Its name in scenarios and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Add => "add",
            Self::Xor => "xor",
            Self::CompareAndSwap => "compare-and-swap",
        }
    }

    /// Whether the target performs one after the other.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::Add | Self::Xor | Self::CompareAndSwap)
    }

    /// The bytes that one may put, get or change. Requests are counted in 32 bits.
    pub const fn sizes(self) -> RangeInclusive<u64> {
        if self.is_atomic() { 1..=64 } else { 0..=1 << 30 }
    }

    /// How many values of its size a request brings to the target.
    const fn operands(self) -> u64 {
        match self {
            Self::Get => 0,
            Self::Put | Self::Add | Self::Xor => 1,
            Self::CompareAndSwap => 2,
        }
    }

    /// The payload of the request and of the response of an operation upon so many bytes. A request
    /// of `request` bytes asks for it; a put needs none.
    pub const fn payloads(self, bytes: u64, request: u64) -> (u64, u64) {
        let operands = self.operands() * bytes;
        match self {
            Self::Put => (operands, 0),
            _ => (request + operands, bytes),
        }
    }
}
