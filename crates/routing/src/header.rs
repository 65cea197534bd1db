//! The route in Angara's packet header: first step, direction bits, last step.

use std::num::NonZeroU32;

use super::Route;
use super::offsets::Place;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{MAXIMUM_DIMENSIONS, Torus};

const STEP_BITS: u32 = 4;
const FIRST: u32 = 0;
const BITS: u32 = FIRST + STEP_BITS;
const LAST: u32 = BITS + 12;
/// Set in every header, so that an optional header takes no more room.
const EXISTS: u32 = 1 << 31;

/// A packed header (\[angara-routing\], section 2.1). It has an optional first step in a positive
/// direction, for each dimension plus, minus or no movement, and an optional last step in a
/// negative direction.
///
/// Hop counts are not part of it: a router leaves a dimension when the coordinate fits. With a
/// first or last step, the coordinates refer to the node after the first and before the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header(NonZeroU32);

impl Default for Header {
    fn default() -> Self {
        Self(NonZeroU32::new(EXISTS).expect("a bit is set"))
    }
}

impl Header {
    /// The header with the bits of a field replaced.
    fn with(self, mask: u32, field: u32) -> Self {
        Self(NonZeroU32::new(self.0.get() & !mask | field).unwrap_or(self.0))
    }

    /// The header with the direction of `dimension` set: plus if `positive`, minus otherwise.
    #[must_use]
    pub fn with_direction(self, dimension: usize, positive: bool) -> Self {
        let shift = BITS + 2 * narrow::<u32>(dimension);
        self.with(3 << shift, (if positive { 1 } else { 2 }) << shift)
    }

    /// The header with a first step in the positive direction of `dimension`.
    #[must_use]
    pub fn with_first_step(self, dimension: usize) -> Self {
        self.with(15 << FIRST, narrow::<u32>(dimension + 1) << FIRST)
    }

    /// The header with a last step in the negative direction of `dimension`.
    #[must_use]
    pub fn with_last_step(self, dimension: usize) -> Self {
        self.with(15 << LAST, narrow::<u32>(dimension + 1) << LAST)
    }

    /// Whether the packet goes plus in this dimension; `None` if it does not move in it.
    pub fn direction(self, dimension: usize) -> Option<bool> {
        match self.0.get() >> (BITS + 2 * narrow::<u32>(dimension)) & 3 {
            0 => None,
            bits => Some(bits == 1),
        }
    }

    /// The dimension of the first step; `None` if there is none.
    pub fn first_step(self) -> Option<usize> {
        (self.0.get() >> FIRST & 15).checked_sub(1).map(|dimension| dimension as usize)
    }

    /// The dimension of the last step; `None` if there is none.
    pub fn last_step(self) -> Option<usize> {
        (self.0.get() >> LAST & 15).checked_sub(1).map(|dimension| dimension as usize)
    }

    /// The directions between the first and the last step, in their order, such as `+x-y`.
    pub fn directions_text(self, torus: &Torus) -> String {
        let (dimensions, directions) = (torus.dimensions(), torus.directions() as usize);
        let among = |&direction: &usize| {
            self.direction(direction % dimensions) == Some(direction < dimensions)
        };
        let names = (0..directions).filter(among);
        names.map(|direction| torus.direction_name(narrow(direction))).collect()
    }

    /// The hops that a packet with this header makes from `source` to reach `destination`: first
    /// step, positive directions in order, negative ones in order, last step. `None` if the header
    /// does not lead there.
    pub fn route(self, torus: &Torus, source: u32, destination: u32) -> Option<Route> {
        let at = |node| {
            let mut coordinates = [0; MAXIMUM_DIMENSIONS];
            for (dimension, at) in coordinates.iter_mut().enumerate().take(torus.dimensions()) {
                *at = torus.coordinate(node, dimension);
            }
            coordinates
        };
        self.route_between(torus, at(source), at(destination))
    }

    /// The [route](Self::route) between nodes by their coordinates.
    pub fn route_between(self, torus: &Torus, mut start: Place, mut end: Place) -> Option<Route> {
        let mut route = Route::default();
        let dimensions = torus.dimensions();
        // The coordinate one step ahead; none at a mesh's edge.
        let step = |at: u32, dimension: usize| match at + 1 < torus.sizes()[dimension] {
            true => Some(at + 1),
            false => torus.closed(dimension).then_some(0),
        };
        if let Some(dimension) = self.first_step() {
            start[dimension] = step(start[dimension], dimension)?;
            route.push(narrow(dimension), 1);
        }
        if let Some(dimension) = self.last_step() {
            end[dimension] = step(end[dimension], dimension)?;
        }
        let mut negative = Route::default();
        for dimension in 0..dimensions {
            let (from, to) = (start[dimension], end[dimension]);
            let Some(plus) = self.direction(dimension) else {
                if from == to {
                    continue;
                }
                return None;
            };
            let size = torus.sizes()[dimension];
            let (ahead, crosses_edge) =
                if plus { (to + size - from, to < from) } else { (from + size - to, to > from) };
            let ahead = if ahead < size { ahead } else { ahead - size };
            if ahead == 0 || crosses_edge && !torus.closed(dimension) {
                return None;
            }
            if plus {
                route.push(narrow(dimension), narrow(ahead));
            } else {
                negative.push(narrow(dimension + dimensions), narrow(ahead));
            }
        }
        for run in negative.runs() {
            route.push(run.port, run.hops);
        }
        if let Some(dimension) = self.last_step() {
            route.push(narrow(dimension + dimensions), 1);
        }
        Some(route)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_keeps_its_fields_apart() {
        let header = Header::default()
            .with_direction(0, true)
            .with_direction(5, false)
            .with_first_step(3)
            .with_last_step(5);
        assert_eq!(header.direction(0), Some(true));
        assert_eq!(header.direction(1), None);
        assert_eq!(header.direction(5), Some(false));
        assert_eq!((header.first_step(), header.last_step()), (Some(3), Some(5)));
        assert_eq!(header.with_direction(0, false).direction(0), Some(false));
    }

    #[test]
    fn a_route_takes_positive_directions_before_negative_ones() {
        let torus = Torus::new(&[5, 5, 5], &[]).unwrap();
        let header = Header::default()
            .with_direction(0, false)
            .with_direction(1, true)
            .with_direction(2, true);
        let route = header.route(&torus, 0, torus.node(&[3, 2, 1]).unwrap()).unwrap();
        assert_eq!(route.ports().collect::<Vec<_>>(), [1, 1, 2, 3, 3]);
    }

    #[test]
    fn first_and_last_steps_may_break_the_order() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let header = Header::default().with_first_step(1).with_direction(0, true).with_last_step(1);
        let route = header.route(&torus, 0, 1).unwrap();
        assert_eq!(route.ports().collect::<Vec<_>>(), [1, 0, 3]);
    }

    #[test]
    fn a_header_that_leads_elsewhere_has_no_route() {
        let torus = Torus::new(&[4, 4], &[1]).unwrap();
        assert_eq!(Header::default().route(&torus, 0, 1), None);
        assert_eq!(Header::default().with_direction(0, true).route(&torus, 0, 4), None);
        assert_eq!(Header::default().with_direction(1, false).route(&torus, 0, 4), None);
        assert_eq!(Header::default().with_direction(1, true).route(&torus, 0, 0), None);
    }
}
