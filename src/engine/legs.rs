//! Direction order's ways, written leg by leg: a new packet's way is put together from a small table.

use super::way::{Code, Way};
use crate::narrow::narrow;
use crate::routing::DirectionOrder;

/// A packet's way in one dimension as a run, in the positive or in the negative direction; the other one is 0.
#[derive(Clone, Copy, Debug)]
struct Leg {
    positive: u16,
    negative: u16,
}

/// The legs of a torus without failures, where each way is a shortest one.
#[derive(Debug)]
pub(super) struct Legs<'f> {
    order: &'f DirectionOrder,
    code: Code,
    /// By parity of the source (two to a dimension), then how far the destination is ahead, plus the size.
    legs: Vec<Leg>,
}

impl<'f> Legs<'f> {
    /// `None` if ways depend on failures, or don't fit into eight bytes.
    pub(super) fn new(order: &'f DirectionOrder, code: Code, rest: usize) -> Option<Self> {
        if rest > 0 || !order.is_shortest() {
            return None;
        }
        let dimensions = order.sizes().len();
        let mut legs = Vec::new();
        for (dimension, &size) in order.sizes().iter().enumerate() {
            for odd in [false, true] {
                legs.extend((0..2 * usize::from(size)).map(|place| {
                    let (positive, negative) = order.hops(dimension, odd, place);
                    let run = |port, hops| if hops == 0 { 0 } else { code.run(port, hops) };
                    Leg {
                        positive: run(narrow::<u16>(dimension), positive),
                        negative: run(narrow::<u16>(dimension + dimensions), negative),
                    }
                }));
            }
        }
        Some(Self { order, code, legs })
    }

    /// The way between two routers, and its hops. What it is is as good as random, so nothing branches on it.
    #[inline]
    pub(super) fn way(&self, source: u32, destination: u32, ejection: u16) -> (Way, u16) {
        let (from, to) = (self.order.at(source), self.order.at(destination));
        let odd = usize::from(self.order.is_odd(source));
        let (mut positive, mut negative) = (0, 0);
        let (mut first, mut ahead, mut behind, mut hops) = (0, 0, 0, 0);
        for ((&from, &to), &size) in from.iter().zip(to).zip(self.order.sizes()) {
            let size = usize::from(size);
            let place = first + odd * 2 * size + usize::from(to) + size - usize::from(from);
            let leg = self.legs[place];
            first += 4 * size;
            positive |= u64::from(leg.positive) << ahead;
            negative |= u64::from(leg.negative) << behind;
            ahead += self.code.bits() * u32::from(leg.positive != 0);
            behind += self.code.bits() * u32::from(leg.negative != 0);
            hops += self.code.hops(leg.positive | leg.negative);
        }
        let last = u64::from(self.code.run(ejection, 1));
        (Way(positive | negative << ahead | last << (ahead + behind)), hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{HalfRing, Routes};
    use crate::topology::{Faults, Torus};

    #[test]
    fn ways_are_those_of_the_routes() {
        for (sizes, open) in
            [(&[5, 4][..], &[][..]), (&[4, 2, 3], &[0]), (&[7], &[]), (&[3, 3, 2, 4], &[])]
        {
            let fabric = Torus::new(sizes, open).unwrap().fabric(&Faults::default()).unwrap();
            for half_ring in [HalfRing::Plus, HalfRing::Balanced] {
                let order = DirectionOrder::new(&fabric, half_ring).unwrap();
                let routes = Routes::DirectionOrder(order.clone());
                let code = Code::new(2 * sizes.len() as u32 + 2, 7);
                let legs = Legs::new(&order, code, 0).unwrap();
                let ejection = 2 * sizes.len() as u16 + 1;
                for pair in 0..fabric.routers() * fabric.routers() {
                    let (source, destination) = (pair / fabric.routers(), pair % fabric.routers());
                    let route = routes.source_route(&fabric, source, destination).unwrap();
                    let way = code.write(&route, ejection, &mut []);
                    let expected = (way, route.hops() as u16);
                    assert_eq!(legs.way(source, destination, ejection), expected);
                }
            }
        }
    }

    #[test]
    fn where_something_failed_there_are_no_legs() {
        let torus = Torus::new(&[5, 3], &[]).unwrap();
        let fabric = torus.fabric(&Faults { cables: vec![(0, 0)], ..Faults::default() }).unwrap();
        let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
        assert!(Legs::new(&order, Code::new(6, 5), 0).is_none());
    }
}
