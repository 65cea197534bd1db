//! A leg of a route through a torus: hops in each dimension, and their direction.

use flitlab_base::narrow::narrow;
use flitlab_fabric::{MAXIMUM_DIMENSIONS, Torus};

/// The direction round a ring when both are equally long, in a ring of an even number of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// Always the positive direction. Links of the negative direction then carry less: minimal
    /// routing of uniform traffic ends at k / (k + 2) of the bisection's bound, 0.80 for k = 8.
    Plus,
    /// Drawn for each packet and dimension.
    Random,
}

/// The directions that lead to the end of a leg, one in each dimension that has hops left.
///
/// A minimal router never changes the directions of a leg, so they are decided once at its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bearing {
    /// Bit i set: dimension i goes in the negative direction.
    negative: u8,
    /// Bit i set: dimension i has hops left.
    open: u8,
}

impl Bearing {
    /// Whether no hops are left.
    #[inline]
    pub fn is_done(self) -> bool {
        self.open == 0
    }

    /// Notes that no hops are left in `dimension`.
    #[inline]
    pub fn reach(&mut self, dimension: u32) {
        self.open &= !(1 << dimension);
    }

    /// The directions that lead on, lowest dimension first, numbered as [`Torus`] does: positive
    /// ones first.
    #[inline]
    pub fn directions(self, dimensions: u32) -> impl Iterator<Item = u32> {
        let (mut open, negative) = (u32::from(self.open), u32::from(self.negative));
        std::iter::from_fn(move || {
            let dimension = open.trailing_zeros();
            open &= open.wrapping_sub(1);
            (dimension < 32).then(|| dimension + dimensions * (negative >> dimension & 1))
        })
    }
}

/// Hops in each dimension with one direction each: an orthant, and how far it is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leg {
    /// Hops in each dimension.
    hops: [u16; MAXIMUM_DIMENSIONS],
    /// The directions that lead to its end.
    pub bearing: Bearing,
}

impl Leg {
    /// The shortest leg between two nodes of a torus. Where both ways round a ring are equally
    /// long, it goes in the negative direction if the dimension's bit in `negative_ties` is set.
    pub fn minimal(torus: &Torus, from: u32, to: u32, negative_ties: u32) -> Self {
        let mut leg = Self::default();
        for (dimension, &size) in torus.sizes().iter().enumerate() {
            let (from, to) = (torus.coordinate(from, dimension), torus.coordinate(to, dimension));
            let positive = (to + size - from) % size;
            let tie_goes_back = 2 * positive == size && negative_ties >> dimension & 1 == 1;
            let negative = if torus.closed(dimension) {
                2 * positive > size || tie_goes_back
            } else {
                to < from
            };
            leg.set(dimension, if negative { size - positive } else { positive }, negative);
        }
        leg
    }

    /// The leg between the same ends in the other direction round, in the dimensions whose bit in
    /// `flipped` is set. A dimension without hops stays without.
    #[must_use]
    pub fn flipped(self, torus: &Torus, flipped: u32) -> Self {
        let mut leg = self;
        for (dimension, &size) in torus.sizes().iter().enumerate() {
            if flipped >> dimension & 1 == 1 && self.hops[dimension] > 0 {
                let hops = size - u32::from(self.hops[dimension]);
                leg.set(dimension, hops, self.bearing.negative >> dimension & 1 == 0);
            }
        }
        leg
    }

    fn set(&mut self, dimension: usize, hops: u32, negative: bool) {
        let bit = 1 << dimension;
        self.hops[dimension] = narrow(hops);
        let Bearing { negative: old, open } = self.bearing;
        self.bearing.negative = if negative { old | bit } else { old & !bit };
        self.bearing.open = if hops > 0 { open | bit } else { open & !bit };
    }

    /// Hops in all.
    pub fn distance(&self) -> u32 {
        self.hops.iter().map(|&hops| u32::from(hops)).sum()
    }

    /// The directions that lead on as a set of bits, numbered as [`Torus`] does.
    #[inline]
    pub(crate) fn direction_set(&self, dimensions: u32) -> u32 {
        let Bearing { negative, open } = self.bearing;
        let (open, negative) = (u32::from(open), u32::from(negative));
        open & !negative | (open & negative) << dimensions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leg_follows_the_shorter_way_round() {
        let torus = Torus::new(&[8, 5, 4], &[]).unwrap();
        let at = |x, y, z| torus.node(&[x, y, z]).unwrap();
        let leg = Leg::minimal(&torus, at(1, 1, 0), at(7, 3, 0), 0);
        assert_eq!(leg.distance(), 4);
        assert_eq!(leg.bearing.directions(3).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(leg.direction_set(3), 0b1010);
        assert_eq!(leg.flipped(&torus, 0b111).distance(), 6 + 3);
        assert_eq!(leg.flipped(&torus, 0b111).direction_set(3), 0b1_0001);
    }

    #[test]
    fn a_half_ring_goes_as_told() {
        let torus = Torus::new(&[8, 4], &[]).unwrap();
        assert_eq!(Leg::minimal(&torus, 0, 4 + 16, 0).direction_set(2), 0b0011);
        assert_eq!(Leg::minimal(&torus, 0, 4 + 16, 0b10).direction_set(2), 0b1001);
        assert_eq!(Leg::minimal(&torus, 0, 3 + 8, 0b11).direction_set(2), 0b0011, "no ties");
    }

    #[test]
    fn a_dimension_that_is_reached_leads_on_no_more() {
        let torus = Torus::new(&[8, 8, 8], &[]).unwrap();
        let mut bearing = Leg::minimal(&torus, 0, 2 + 7 * 64, 0).bearing;
        assert_eq!(bearing.directions(3).collect::<Vec<_>>(), [0, 5]);
        bearing.reach(0);
        assert_eq!(bearing.directions(3).collect::<Vec<_>>(), [5]);
        assert!(!bearing.is_done());
        bearing.reach(2);
        assert!(bearing.is_done());
    }
}
