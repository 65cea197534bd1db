//! The selection among several outputs with room.

/// The selection function: how a packet chooses among the outputs that lead on and have room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The output with the most room; among equals the first in direction order.
    #[default]
    MostRoom,
    /// The first in direction order.
    First,
    /// The direction in which the packet has come, then as [`First`](Self::First).
    Straight,
    /// One drawn at random.
    Random,
}

impl Selection {
    /// All functions, each with its name in scenarios and a sentence.
    pub const ALL: [(&str, Self, &str); 4] = [
        ("most-room", Self::MostRoom, "the one with the most room behind it."),
        ("first", Self::First, "the first in direction order."),
        ("straight", Self::Straight, "the direction in which it has come."),
        ("random", Self::Random, "one at random."),
    ];

    /// Whether it needs a random number for each packet.
    pub fn draws(self) -> bool {
        self == Self::Random
    }

    /// The port preferred among `open`, a bit each, of which there is at least one. `straight` is
    /// the direction in which the packet has come, `drawn` its random number, and `room` gives the
    /// room behind a port.
    #[inline]
    pub fn prefers(
        self,
        open: u16,
        straight: u32,
        drawn: u32,
        mut room: impl FnMut(u32) -> u32,
    ) -> u32 {
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
                let mut left = open;
                while left != 0 {
                    let port = left.trailing_zeros();
                    left &= left - 1;
                    let room = room(port);
                    if room > most {
                        (best, most) = (port, room);
                    }
                }
                best
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
        let open = 0b1_0110;
        let room = |port: u32| [0, 3, 5, 9, 5][port as usize];
        let prefers =
            |selection: Selection, straight, drawn| selection.prefers(open, straight, drawn, room);
        assert_eq!(prefers(Selection::MostRoom, 4, 0), 2, "the first of two with the most room");
        assert_eq!(prefers(Selection::First, 4, 0), 1);
        assert_eq!(prefers(Selection::Straight, 4, 0), 4);
        assert_eq!(prefers(Selection::Straight, 3, 0), 1, "it can't go straight on");
        assert_eq!(prefers(Selection::Straight, u32::MAX, 0), 1, "it is new");
        let drawn = [0, 1, 2, 3].map(|drawn| prefers(Selection::Random, 4, drawn));
        assert_eq!(drawn, [1, 2, 4, 1]);
    }
}
