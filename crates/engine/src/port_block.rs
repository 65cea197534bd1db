//! Ports in blocks of eight: a loop over eight ports needs no branches, and all that a grant needs
//! lies together.

use serde::{Deserialize, Serialize};

use super::ports::{Input, Output};
use super::tick::{NEVER, Tick};

/// How many ports there are in a block.
pub(super) const BLOCK_PORTS: usize = 8;

/// Eight of a router's outputs and eight of its input ports; places behind the last port are
/// vacant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(super) struct PortBlock {
    /// The earliest time at which each output can grant; [`NEVER`] for a vacant place.
    pub due: [Tick; BLOCK_PORTS],
    pub outputs: [Output; BLOCK_PORTS],
    pub inputs: [Input; BLOCK_PORTS],
}

impl PortBlock {
    pub(super) const VACANT: Self = Self {
        due: [NEVER; BLOCK_PORTS],
        outputs: [Output::VACANT; BLOCK_PORTS],
        inputs: [Input::VACANT; BLOCK_PORTS],
    };

    /// The outputs that are due at this time, a bit each.
    #[inline(always)]
    pub(super) fn due_at(&self, time: Tick) -> u64 {
        let mut outputs = 0;
        for (output, &due) in self.due.iter().enumerate() {
            outputs |= u64::from(due == time) << output;
        }
        outputs
    }
}

/// The earliest time of all outputs of a router.
#[inline(always)]
pub(super) fn least(blocks: &[PortBlock]) -> Tick {
    let mut least = NEVER;
    for PortBlock { due: [a, b, c, d, e, f, g, h], .. } in blocks {
        let quarters = [a.min(e), b.min(f), c.min(g), d.min(h)];
        least = least.min(*quarters[0].min(quarters[1]).min(quarters[2].min(quarters[3])));
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_is_found_wherever_it_is() {
        assert_eq!(least(&[]), NEVER);
        for output in 0..16 {
            let mut blocks = [PortBlock::VACANT, PortBlock::VACANT];
            blocks.iter_mut().for_each(|block| block.due = [9; BLOCK_PORTS]);
            blocks[output / BLOCK_PORTS].due[output % BLOCK_PORTS] = 3;
            assert_eq!(least(&blocks), 3);
            assert_eq!(blocks[output / BLOCK_PORTS].due_at(3), 1 << (output % BLOCK_PORTS));
            assert_eq!(blocks[1 - output / BLOCK_PORTS].due_at(3), 0);
        }
    }
}
