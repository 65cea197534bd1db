//! The selection among several outputs with room.

use std::fmt;

use flitlab_base::registry::{Component, Row};
use flitlab_base::units::Picoseconds;

/// The most directions of a torus, and so the most outputs among which a packet selects.
const PORTS: usize = u16::BITS as usize;

/// The outputs among which a packet selects.
#[derive(Clone, Copy, Debug)]
pub struct Outputs<'a> {
    /// The ports that lead on, are free and have room, a bit each; at least one.
    pub open: u16,
    /// The port of the direction in which the packet has come; another number if it is new.
    pub straight: u32,
    /// The packet's random number at this router, if the function
    /// [draws](SelectionRule::draws) one.
    pub drawn: u32,
    /// By port: the free flits behind it on the adaptive channel; 0 for those that are not open.
    pub room: &'a [u32; PORTS],
    /// By port: the time at which the adaptive channel was granted last, 0 if it never was. Empty
    /// if the function does not [ask](SelectionRule::asks_for_grants) for it.
    pub granted: &'a [Picoseconds],
}

impl Outputs<'_> {
    /// The open ports, the lowest first.
    #[inline]
    pub fn ports(&self) -> impl Iterator<Item = u32> + use<> {
        let mut left = self.open;
        std::iter::from_fn(move || {
            let port = (left != 0).then(|| left.trailing_zeros());
            left &= left.wrapping_sub(1);
            port
        })
    }
}

/// A selection function of another crate.
///
/// ```
/// use flitlab_base::registry::Row;
/// use flitlab_routing::adaptive::{Outputs, Selection, SelectionRule};
///
/// #[derive(Debug)]
/// struct Last;
///
/// impl SelectionRule for Last {
///     fn prefers(&self, outputs: &Outputs<'_>) -> u32 {
///         outputs.open.ilog2()
///     }
/// }
///
/// static LAST: Row<Selection> =
///     Row::new("last", "the last in direction order.", Selection::Outside(&Last));
/// ```
pub trait SelectionRule: fmt::Debug + Send + Sync {
    /// Whether it needs a random number for each packet.
    fn draws(&self) -> bool {
        false
    }

    /// Whether it needs the times of the latest grants ([`Outputs::granted`]).
    fn asks_for_grants(&self) -> bool {
        false
    }

    /// Returns one of the open ports, the one that the packet prefers.
    fn prefers(&self, outputs: &Outputs<'_>) -> u32;
}

/// The selection function: how a packet chooses among the outputs that lead on and have room.
///
/// Routers call it for each output that a packet might get, so those that are built in are no
/// trait objects.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// The output with the most room; among equals the first in direction order.
    MostRoom,
    /// The first in direction order.
    First,
    /// The direction in which the packet has come, then as [`First`](Self::First).
    Straight,
    /// One drawn at random.
    Random,
    /// The output whose adaptive channel was granted longest ago; among equals the first in
    /// direction order.
    LeastRecent,
    /// A function of another crate.
    Outside(&'static dyn SelectionRule),
}

impl Component for Selection {
    const NOUN: &'static str = "selection function";

    fn built_in() -> &'static [Row<Self>] {
        static FUNCTIONS: [Row<Selection>; 5] = [
            Row::new("most-room", "the one with the most room behind it.", Selection::MostRoom),
            Row::new("first", "the first in direction order.", Selection::First),
            Row::new("straight", "the direction in which it has come.", Selection::Straight),
            Row::new("random", "one at random.", Selection::Random),
            Row::new(
                "lru",
                "the least recently used, that whose adaptive channel was granted longest ago.",
                Selection::LeastRecent,
            ),
        ];
        &FUNCTIONS
    }
}

impl Selection {
    /// Whether it needs a random number for each packet.
    pub fn draws(self) -> bool {
        match self {
            Self::Random => true,
            Self::Outside(rule) => rule.draws(),
            Self::MostRoom | Self::First | Self::Straight | Self::LeastRecent => false,
        }
    }

    /// Whether it needs the times of the latest grants.
    pub fn asks_for_grants(self) -> bool {
        match self {
            Self::LeastRecent => true,
            Self::Outside(rule) => rule.asks_for_grants(),
            Self::MostRoom | Self::First | Self::Straight | Self::Random => false,
        }
    }

    /// The port that a packet prefers.
    ///
    /// # Panics
    /// If a function of another crate returns a port that is not open.
    #[inline]
    pub fn prefers(self, outputs: &Outputs<'_>) -> u32 {
        let &Outputs { open, straight, drawn, room, granted } = outputs;
        let first = open.trailing_zeros();
        match self {
            Self::First => first,
            Self::Straight if straight < u16::BITS && open >> straight & 1 == 1 => straight,
            Self::Straight => first,
            Self::Random => {
                let place = drawn % open.count_ones();
                (0..place).fold(open, |left, _| left & (left - 1)).trailing_zeros()
            }
            Self::MostRoom => {
                let (mut best, mut most) = (first, 0);
                for port in outputs.ports() {
                    let room = room[port as usize];
                    if room > most {
                        (best, most) = (port, room);
                    }
                }
                best
            }
            Self::LeastRecent => {
                let longest_ago = outputs.ports().min_by_key(|&port| granted[port as usize]);
                longest_ago.unwrap_or(first)
            }
            Self::Outside(rule) => {
                let port = rule.prefers(outputs);
                let is_open = port < u16::BITS && open >> port & 1 == 1;
                assert!(is_open, "{rule:?} prefers port {port}, which is none of {open:#b}");
                port
            }
        }
    }
}

/// A packet's random number at a router, derived from the packet's own.
#[inline]
pub fn drawn_at(router: u32, drawn: u16) -> u32 {
    // Multiplicative hashing: the upper half depends on all bits.
    (u32::from(drawn) << 16 ^ router).wrapping_mul(0x9E37_79B1) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_selects_as_it_says() {
        let mut room = [0; PORTS];
        room[..5].copy_from_slice(&[0, 3, 5, 9, 5]);
        let granted = [0, 7, 4, 0, 4].map(Picoseconds);
        let prefers = |selection: Selection, straight, drawn| {
            let open = 0b1_0110;
            selection.prefers(&Outputs { open, straight, drawn, room: &room, granted: &granted })
        };
        assert_eq!(prefers(Selection::MostRoom, 4, 0), 2, "the first of two with the most room");
        assert_eq!(prefers(Selection::First, 4, 0), 1);
        assert_eq!(prefers(Selection::Straight, 4, 0), 4);
        assert_eq!(prefers(Selection::Straight, 3, 0), 1, "it can't go straight on");
        assert_eq!(prefers(Selection::Straight, u32::MAX, 0), 1, "it is new");
        assert_eq!(prefers(Selection::LeastRecent, 4, 0), 2, "the first of two that waited most");
        let drawn = [0, 1, 2, 3].map(|drawn| prefers(Selection::Random, 4, drawn));
        assert_eq!(drawn, [1, 2, 4, 1]);
    }
}
