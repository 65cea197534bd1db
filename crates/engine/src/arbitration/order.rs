//! The order in which an output of a router that grants whole packets tries its requests.

use crate::network::vc_map::VcMap;
use flitlab_base::units::Picoseconds;

/// The requests for an output, and what their order may depend on.
pub(crate) struct PacketRequests<'a> {
    /// The input virtual channels that ask, a bit each, in words.
    pub set: &'a [u64],
    /// The input virtual channel behind that of the latest grant.
    pub pointer: u32,
    /// The first input virtual channel of the router's injection channels.
    pub first_injected: u32,
    /// The number of bits by which the input port is shifted in the number of an input virtual
    /// channel.
    pub shift: u32,
    pub vc_map: &'a VcMap,
    pub time: Picoseconds,
    /// The router and its output.
    pub output: (u32, usize),
}

/// Input virtual channels or ports that are next to each other in an order: members of one word,
/// cyclic from a bit on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The number of the word's first bit, and the bit at which the cyclic order starts.
    base: u32,
    turn: u32,
    /// The members that are left, rotated by `turn`.
    left: u64,
}

impl Span {
    /// The members `set` of a word whose first bit has the number `base`, from bit `turn` on.
    #[inline(always)]
    pub(crate) fn new(base: u32, turn: u32, set: u64) -> Self {
        Self { base, turn, left: set.rotate_right(turn) }
    }

    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }
}

impl Iterator for Span {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.left == 0 {
            return None;
        }
        let member = self.base + (self.left.trailing_zeros() + self.turn) % 64;
        self.left &= self.left - 1;
        Some(member)
    }
}
