//! What whole packets are while they go from the routers of one part to those of another.

use crate::packet::PacketCrossing;

/// A packet on a cable between two parts. All numbers are the receiver's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BetweenParts {
    /// The router that it goes to, and the input port and the virtual channel there.
    pub router: u32,
    pub input: u16,
    pub vc: u8,
    pub packet: PacketCrossing,
}
