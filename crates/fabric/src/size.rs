//! Sizes of fabrics before they are built.

use super::TopologyError;
use flitlab_base::memory::claim;

/// The most routers or terminals that a builder makes.
const MOST: u64 = 1 << 20;

/// Port numbers have 16 bits, start at 1, and one of them stands for no port.
const MAX_PORTS: u64 = u16::MAX as u64 - 1;

/// Channel numbers have 32 bits, each cable has two channels, and one number stands for no channel.
const MAX_CABLES: u64 = u32::MAX as u64 / 2;

/// Bytes of a router at the peak of construction, which holds names and two copies: one as
/// described and one without the failed parts. A fabric of 200,000 switches with a terminal and two
/// cables each takes 133 MB.
const A_ROUTER: u64 = 144;
const A_TERMINAL: u64 = 144;
const A_CABLE: u64 = 192;

/// The size of a fabric of switches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub routers: u64,
    /// Terminals of all routers together.
    pub terminals: u64,
    /// Cables between routers; an upper bound.
    pub cables: u64,
    /// Ports of the router that has most, those of terminals included; an upper bound.
    pub ports: u64,
}

impl Size {
    /// Bytes that the construction takes, estimated.
    pub fn memory(&self) -> u64 {
        let parts =
            [(self.routers, A_ROUTER), (self.terminals, A_TERMINAL), (self.cables, A_CABLE)];
        parts
            .iter()
            .fold(0, |sum: u64, (count, each)| sum.saturating_add(count.saturating_mul(*each)))
    }

    /// Refuses a fabric that exceeds the ranges of its parts' numbers, or the free memory.
    ///
    /// # Errors
    /// Names the limit that is exceeded.
    pub fn check(&self) -> Result<(), TopologyError> {
        let most = [
            (self.routers, MOST, "routers"),
            (self.terminals, MOST, "terminals"),
            (self.ports, MAX_PORTS, "ports a router"),
            (self.cables, MAX_CABLES, "cables"),
        ];
        for (count, most, what) in most {
            if count > most {
                let count = match count {
                    u64::MAX => "far more".into(),
                    count => count.to_string(),
                };
                let text =
                    format!("a fabric has at most {most} {what}, and this one would have {count}");
                return Err(TopologyError::Sizes(text));
            }
        }
        claim("this fabric", self.memory()).map_err(TopologyError::Memory)
    }
}

/// Number of pairs among `of` things.
pub(super) fn pairs(of: u64) -> u64 {
    of.saturating_mul(of.saturating_sub(1)) / 2
}

/// The product; the largest number if it overflows.
pub(super) fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}
