//! The two classes of packets on rings with a dateline.

use flitlab_base::narrow::{fitted, narrow};
use flitlab_routing::DirectionOrder;

/// The rule by which a packet's virtual channel follows from the rings of its route (docs/model.md,
/// "Order of directions"). Where there is a ring all virtual channels are in use, so that indices
/// equal numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dateline {
    dimensions: u16,
}

impl Dateline {
    /// `None` if the order has no dateline, or its fabric no ring.
    pub(super) fn of(order: &DirectionOrder) -> Option<Self> {
        let both = order.has_dateline() && order.has_rings;
        both.then(|| Self { dimensions: narrow(order.sizes.len()) })
    }

    /// The class of a packet behind an output if that is in a ring, by the dimensions in which its
    /// route passes the dateline.
    #[inline]
    pub(super) fn class(self, passed: u16, output: u16) -> u8 {
        let negative = u16::from(output >= self.dimensions);
        // Ejection channels, which are in no ring, come behind the ports of all directions.
        let dimension = (output - negative * self.dimensions).min(15);
        fitted!(passed >> dimension & 1, u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next_hop::answer::OutVc;

    #[test]
    fn the_class_is_that_of_the_rings_dimension() {
        let dateline = Dateline { dimensions: 3 };
        let vc = |vc, output| OutVc::Class(dateline.class(0b010, output)).of_packet(vc, output < 6);
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 40].map(|output| vc(2, output)), [2, 3, 2, 2, 3, 2, 2, 2]);
        assert_eq!((vc(3, 0), vc(1, 4), vc(0, 1)), (2, 1, 1));
        assert_eq!(OutVc::Class(dateline.class(0b010, 1)).of_packet(1, false), 0);
    }
}
