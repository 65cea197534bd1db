//! The size of routers: visits of small ones are compiled for their size, with a third fewer
//! instructions.

use serde::{Deserialize, Serialize};

use crate::network::port_block::{BLOCK_PORTS, PortBlock};

/// The size of a network's routers.
pub(crate) trait Size: Copy {
    type PortBlocks: ?Sized;

    /// A router's blocks, as many as it has.
    fn blocks(blocks: &mut [PortBlock]) -> &mut Self::PortBlocks;

    /// All ports of a router.
    fn all(blocks: &Self::PortBlocks) -> &[PortBlock];

    /// The block in which a port is.
    fn block(blocks: &mut Self::PortBlocks, port: usize) -> &mut PortBlock;

    /// Words of a set of input virtual channels.
    fn words(self) -> usize;

    /// Number of bits by which the input port is shifted in the number of an input virtual channel;
    /// the lower bits hold the virtual channel.
    fn shift(self) -> u32;
}

/// At most `N` blocks of outputs and input ports, and at most 64 input virtual channels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Small<const N: usize> {
    pub shift: u32,
}

impl<const N: usize> Size for Small<N> {
    type PortBlocks = [PortBlock; N];

    #[inline(always)]
    fn blocks(blocks: &mut [PortBlock]) -> &mut [PortBlock; N] {
        blocks.try_into().expect("each router has as many")
    }

    #[inline(always)]
    fn all(blocks: &[PortBlock; N]) -> &[PortBlock] {
        blocks
    }

    #[inline(always)]
    fn block(blocks: &mut [PortBlock; N], port: usize) -> &mut PortBlock {
        &mut blocks[port / BLOCK_PORTS % N]
    }

    #[inline(always)]
    fn words(self) -> usize {
        1
    }

    #[inline(always)]
    fn shift(self) -> u32 {
        self.shift
    }
}

/// Any size.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Any {
    pub words: usize,
    pub shift: u32,
}

impl Size for Any {
    type PortBlocks = [PortBlock];

    #[inline(always)]
    fn blocks(blocks: &mut [PortBlock]) -> &mut [PortBlock] {
        blocks
    }

    #[inline(always)]
    fn all(blocks: &[PortBlock]) -> &[PortBlock] {
        blocks
    }

    #[inline(always)]
    fn block(blocks: &mut [PortBlock], port: usize) -> &mut PortBlock {
        &mut blocks[port / BLOCK_PORTS]
    }

    #[inline(always)]
    fn words(self) -> usize {
        self.words
    }

    #[inline(always)]
    fn shift(self) -> u32 {
        self.shift
    }
}
