//! Packets of the output-queued network.

use flitlab_routing::adaptive::{Bearing, Misroute};

/// A packet: 16 bytes, as what a run waits for is reading them from memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packet {
    /// Its number among the packets of all nodes ([`Numbers`](super::traffic::Numbers)).
    pub(super) number: u32,
    pub(super) destination: u32,
    /// The intermediate node, and once that is reached the destination.
    pub(super) target: u32,
    /// The direction to the target.
    pub(super) bearing: Bearing,
    pub(super) negative_ties: u8,
    pub(super) derouting: Option<Misroute>,
}

impl Packet {
    pub(super) fn is_on_detour(&self) -> bool {
        self.target != self.destination
    }
}

/// The facts about a packet that its sink needs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Its number among the packets of all nodes ([`Numbers`](super::traffic::Numbers)).
    pub(super) number: u32,
    pub(super) derouting: Option<Misroute>,
}
