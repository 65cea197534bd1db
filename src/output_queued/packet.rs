//! What goes through the network.

use super::link::Slot;
use crate::adaptive::{Derouting, Leg};

/// A packet. Small, as each router keeps a copy until the next one has taken it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// Number of its message at its source: all nodes create their messages at the same instants.
    pub(super) message: u32,
    pub(super) destination: u32,
    /// What is left of the way to the intermediate node or the destination.
    pub(super) leg: Leg,
    pub(super) derouting: Option<Derouting>,
    pub(super) to_intermediate: bool,
    /// The slot of the link that it is sent over.
    pub(super) slot: Slot,
    pub(super) negative_ties: u8,
}

/// What a sink needs to know of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Number of its message at its source: all nodes create their messages at the same instants.
    pub(super) message: u32,
    pub(super) derouting: Option<Derouting>,
}
