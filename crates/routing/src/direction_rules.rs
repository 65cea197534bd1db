//! Rules of direction order: the order, half rings, and the method that keeps rings free of
//! deadlock.

use flitlab_base::mix::mixed;
use flitlab_base::narrow::narrow;

/// Pairs of live nodes between which a routing has no legal route.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{routing} has no way around the failures from node {} to node {} ({pairs} ordered pairs have none)", .first.0, .first.1)]
pub struct Unroutable {
    /// The routing, as the subject of the message.
    pub routing: &'static str,
    /// The first such pair, source and destination.
    pub first: (String, String),
    /// Number of such ordered pairs.
    pub pairs: u64,
}

/// The way round a ring if both halves are equally long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfRing {
    /// Always in the positive direction.
    Plus,
    /// From nodes with an even coordinate sum in the positive direction, from the others in the
    /// negative one, so that both directions carry the same load under uniform traffic.
    Balanced,
    /// A random direction, drawn for each packet and dimension.
    Random,
}

/// The rules of [`DirectionOrder`](super::DirectionOrder).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectionRules {
    /// Ports of the routers in the order in which packets take them: `d` is the positive direction
    /// of dimension `d`, and `dimensions + d` the negative one. Missing ports follow in ascending
    /// order. So an empty order means all positive directions, then all negative ones.
    pub order: Vec<u16>,
    /// The way round a ring where both halves are equally long.
    pub half_ring: HalfRing,
    /// Whether packets on a ring are in two classes of virtual channels: those whose way passes the
    /// cable between the last coordinate and the first, and the others (docs/model.md, "Order of
    /// directions").
    pub dateline: bool,
}

impl Default for DirectionRules {
    fn default() -> Self {
        Self { order: Vec::new(), half_ring: HalfRing::Balanced, dateline: false }
    }
}

impl From<HalfRing> for DirectionRules {
    fn from(half_ring: HalfRing) -> Self {
        Self { half_ring, ..Self::default() }
    }
}

impl DirectionRules {
    /// All ports of a torus with this number of dimensions, in order.
    ///
    /// # Panics
    /// If a port is named twice, or does not exist on that torus.
    pub fn ports(&self, dimensions: usize) -> Vec<u16> {
        let all = 0..narrow::<u16>(2 * dimensions);
        let rest = all.filter(|port| !self.order.contains(port));
        let ports: Vec<u16> = self.order.iter().copied().chain(rest).collect();
        assert_eq!(
            ports.len(),
            2 * dimensions,
            "a direction is named twice, or is none: {:?}",
            self.order
        );
        ports
    }
}

/// Why there are no routes in direction order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// Some pairs have no route.
    #[error("{0}")]
    Unroutable(Unroutable),
    /// Some routes go more than half round a ring, where a dateline does not prevent deadlock.
    #[error(
        "round the failures packets would go more than half round a ring, from node {} to node {} for one ({pairs} \
         ordered pairs), and a dateline keeps no such packets from deadlock", .first.0, .first.1
    )]
    PastHalf {
        /// The first such pair, source and destination.
        first: (String, String),
        /// Number of such ordered pairs.
        pairs: u64,
    },
}

/// A pseudo-random number for each packet of each node. It is output number `source * 2^32 +
/// sequence`, counted from 0, of the generator SplitMix64 that starts with the mixed seed.
pub(super) fn drawn(seed: u64, source: u32, sequence: u32) -> u64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    let number = u64::from(source) << 32 | u64::from(sequence);
    let steps = number.wrapping_add(1);
    mixed(mixed(seed).wrapping_add(steps.wrapping_mul(STEP)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_splitmix64() {
        // The first outputs of the published generator with seed 0. Mixing leaves 0 unchanged.
        assert_eq!(drawn(0, 0, 0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(drawn(0, 0, 1), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn directions_that_are_left_out_come_last() {
        let rules = DirectionRules { order: vec![3, 0], ..DirectionRules::default() };
        assert_eq!(rules.ports(2), [3, 0, 1, 2]);
        assert_eq!(DirectionRules::default().ports(3), [0, 1, 2, 3, 4, 5]);
    }
}
