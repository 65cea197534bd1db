//! The two classes of packets on rings with a dateline (docs/model.md, "Order of directions").

use flitlab_base::narrow::{fitted, narrow};
use flitlab_routing::Routes;

/// The virtual channel of data and requests (0) or responses (1). In rings it is that of class 0;
/// class 1 has the next one.
pub(super) fn base(traffic: u8) -> u8 {
    2 * traffic
}

/// The rule by which a packet's virtual channel follows from the rings of its route. Where there is
/// a ring all virtual channels are in use, so that indices equal numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dateline {
    dimensions: u16,
}

impl Dateline {
    /// `None` if the routes have no dateline, or the fabric no ring.
    pub(super) fn of(routes: &Routes) -> Option<Self> {
        let Routes::DirectionOrder(order) = routes else { return None };
        let both = order.has_dateline() && order.has_rings;
        both.then(|| Self { dimensions: narrow(order.sizes.len()) })
    }

    /// The class of a packet behind an output, by the dimensions in which its route passes the
    /// dateline; 0 outside of rings.
    #[inline]
    pub(super) fn class(self, passed: u16, output: u16, in_ring: bool) -> u8 {
        let negative = u16::from(output >= self.dimensions);
        // Ejection channels, which are in no ring, come behind the ports of all directions.
        let dimension = (output - negative * self.dimensions).min(15);
        fitted!(passed >> dimension & u16::from(in_ring), u8)
    }

    /// The virtual channel behind an output of a packet that arrives on `vc`.
    #[inline]
    pub(super) fn vc(self, vc: u8, passed: u16, output: u16, in_ring: bool) -> u8 {
        vc & !1 | self.class(passed, output, in_ring)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_is_that_of_the_rings_dimension() {
        let dateline = Dateline { dimensions: 3 };
        let vc = |vc, output| dateline.vc(vc, 0b010, output, output < 6);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 40].map(|output| vc(2, output)), [2, 3, 2, 2, 3, 2, 2, 2]);
        assert_eq!((vc(3, 0), vc(1, 4), vc(0, 1)), (2, 1, 1));
        assert_eq!(dateline.vc(1, 0b010, 1, false), 0);
    }
}
