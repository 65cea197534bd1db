//! Ranks folded to a power of two: where there are more, the first ones go in pairs.

use std::ops::Range;

/// `size` members as a power of two of newcomers: of the first pairs of neighbours, as many as
/// there are members too many, one stays and stands for both.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fold {
    /// How many stay.
    pub power: u32,
    /// How many pairs there are.
    pub pairs: u32,
    /// Which of a pair stays: 0 the even one, 1 the odd one.
    stays: u32,
}

/// The role of a member while others compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It gives its part to this place and gets the result from there.
    Leaves(u32),
    /// It has this number among those that stay, and stands for another place, too, if it is one of
    /// a pair.
    Stays(u32, Option<u32>),
}

impl Fold {
    pub(super) const fn new(size: u32, stays: u32) -> Self {
        let power = 1 << size.ilog2();
        Self { power, pairs: size - power, stays }
    }

    pub(super) const fn role(&self, place: u32) -> Role {
        if place >= 2 * self.pairs {
            Role::Stays(place - self.pairs, None)
        } else if place % 2 == self.stays {
            Role::Stays(place / 2, Some(place ^ 1))
        } else {
            Role::Leaves(place ^ 1)
        }
    }

    /// The place of one that stays.
    pub(super) const fn place(&self, number: u32) -> u32 {
        if number < self.pairs { 2 * number + self.stays } else { number + self.pairs }
    }

    /// The places that some of those that stay stand for: first and count.
    pub(super) fn places(&self, numbers: Range<u32>) -> (u32, u32) {
        let start = |number: u32| number + number.min(self.pairs);
        (start(numbers.start), start(numbers.end) - start(numbers.start))
    }
}

/// Distances 1, 2, 4 and so on below a number.
pub(super) fn doubling(below: u32) -> impl DoubleEndedIterator<Item = u32> {
    (0..below.next_power_of_two().ilog2()).map(|bit| 1 << bit)
}
