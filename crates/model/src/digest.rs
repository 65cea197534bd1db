//! A fingerprint of a run. Equal runs have equal digests, whatever the number of threads, and
//! whatever the order in which routers are served within an instant.

use serde::{Deserialize, Serialize};

use std::fmt;

use flitlab_base::units::Picoseconds;

/// The sum of a hash of every grant (time, channel, packet). A sum doesn't depend on order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Digest(pub u64);

impl Digest {
    /// Adds the grant of `channel` at `time` to packet number `sequence` of terminal `source`. With
    /// links shared flit by flit each flit is added. Channels are numbered by router, network
    /// channels in port order (vacant ones included) before ejection channels; then come the
    /// injection channels, by terminal.
    #[inline]
    pub fn add(&mut self, time: Picoseconds, channel: u32, source: u32, sequence: u32) {
        self.add_marked(time, Self::mark(channel, source, sequence));
    }

    /// The mark of a packet on a channel, which does not depend on time.
    #[inline]
    pub fn mark(channel: u32, source: u32, sequence: u32) -> u64 {
        let packet = u64::from(source) << 32 | u64::from(sequence);
        packet.wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(25)
            ^ u64::from(channel).wrapping_mul(0x1656_67b1_9e37_79f9).rotate_left(47)
    }

    /// Adds a grant at a time, given the mark of its packet and channel.
    #[inline]
    pub fn add_marked(&mut self, time: Picoseconds, mark: u64) {
        let mut hash = time.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ mark;
        hash = (hash ^ hash >> 31).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = self.0.wrapping_add(hash ^ hash >> 29);
    }

    /// The digest of the grants of two digests together.
    pub fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}
