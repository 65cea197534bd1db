//! How large a fabric will be, known before any of it is made.

use super::TopologyError;
use flitlab_base::memory::claim;

/// The most routers or terminals that a builder makes.
const MOST: u64 = 1 << 20;

/// Ports have numbers of 16 bits, from 1, and one is kept to mark what has none.
const MOST_PORTS: u64 = u16::MAX as u64 - 1;

/// Channels have numbers of 32 bits, two a cable, and one is kept to mark what is none.
const MOST_CABLES: u64 = u32::MAX as u64 / 2;

/// Bytes at the peak of putting a fabric together, names and two copies included: one as it is described and one
/// without what has failed. 200,000 switches with a terminal and two cables each take 133 MB.
const A_ROUTER: u64 = 144;
const A_TERMINAL: u64 = 144;
const A_CABLE: u64 = 192;

/// What a fabric of switches will consist of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub routers: u64,
    /// All together.
    pub terminals: u64,
    /// Between routers, at most.
    pub cables: u64,
    /// Of the router that has most, at most; those of terminals included.
    pub ports: u64,
}

impl Size {
    /// Bytes that the fabric takes while it is put together, about.
    pub fn memory(&self) -> u64 {
        let parts =
            [(self.routers, A_ROUTER), (self.terminals, A_TERMINAL), (self.cables, A_CABLE)];
        parts
            .iter()
            .fold(0, |sum: u64, (count, each)| sum.saturating_add(count.saturating_mul(*each)))
    }

    /// Refuses what is too large for the numbers that parts get, or for the memory that there is.
    ///
    /// # Errors
    /// Says what it is that there are too many of.
    pub fn check(&self) -> Result<(), TopologyError> {
        let most = [
            (self.routers, MOST, "routers"),
            (self.terminals, MOST, "terminals"),
            (self.ports, MOST_PORTS, "ports a router"),
            (self.cables, MOST_CABLES, "cables"),
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

/// The pairs among so many.
pub(super) fn pairs(of: u64) -> u64 {
    of.saturating_mul(of.saturating_sub(1)) / 2
}

/// The product, or the largest number if that is less.
pub(super) fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}
