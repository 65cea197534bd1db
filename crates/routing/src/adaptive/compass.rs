//! The directions that lead a packet on, from router to router.

use flitlab_base::narrow::narrow;
use flitlab_fabric::{MAXIMUM_DIMENSIONS, Torus};

/// The directions that a packet is bound to. The default is bound to none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// Bit i set: dimension i goes in the negative direction, wherever that is not decided by
    /// distance.
    pub negative: u8,
    /// Bit i set: dimension i goes in that direction however long the route is.
    pub bound: u8,
}

/// The way from one coordinate to another in a dimension.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// The ports that reduce the distance by a shortest route.
    ports: u16,
    /// The hops of a shortest route.
    hops: u16,
}

/// The nodes of a torus, and for each pair of them the ports that lead from one towards the other.
#[derive(Clone, Debug)]
pub struct Compass {
    coordinates: Box<[u16]>,
    sizes: Box<[u16]>,
    closed: Box<[bool]>,
    both_halves: bool,
    /// By dimension, then the distance of the second coordinate ahead of the first, plus the size.
    ways: Box<[Way]>,
    /// By the same places: the terms whose sum is the number of an offset.
    offset_terms: Box<[usize]>,
    /// By dimension: the place of equal coordinates.
    level: [u32; MAXIMUM_DIMENSIONS],
}

impl Compass {
    /// With `both_halves`, both directions round a ring lead on where they are equally long; else
    /// only the one in a packet's heading.
    pub fn new(torus: &Torus, both_halves: bool) -> Self {
        let coordinates = (0..torus.nodes()).flat_map(|node| torus.coordinates(node));
        let dimensions = torus.dimensions();
        let (mut ways, mut offset_terms) = (Vec::new(), Vec::new());
        let (mut level, mut stride) = ([0; MAXIMUM_DIMENSIONS], 1);
        for (dimension, &size) in torus.sizes().iter().enumerate() {
            level[dimension] = narrow::<u32>(ways.len()) + size;
            for place in 0..2 * size {
                let (ahead, behind) = if torus.closed(dimension) {
                    (place % size, (2 * size - place) % size)
                } else {
                    (
                        place.checked_sub(size).unwrap_or(u32::MAX),
                        size.checked_sub(place).unwrap_or(u32::MAX),
                    )
                };
                let (plus, minus) = (ahead <= behind, behind <= ahead);
                let ports =
                    u16::from(plus) << dimension | u16::from(minus) << (dimension + dimensions);
                let is_level = place % size == 0;
                ways.push(Way {
                    ports: if is_level { 0 } else { ports },
                    hops: if is_level { 0 } else { narrow(ahead.min(behind)) },
                });
                let number = if torus.closed(dimension) { ahead } else { place.max(1) - 1 };
                offset_terms.push(number as usize * stride);
            }
            stride *= Self::offsets_in(size, torus.closed(dimension)) as usize;
        }
        Self {
            coordinates: coordinates.map(narrow::<u16>).collect(),
            sizes: torus.sizes().iter().map(|&size| narrow(size)).collect(),
            closed: (0..dimensions).map(|dimension| torus.closed(dimension)).collect(),
            both_halves,
            ways: ways.into(),
            offset_terms: offset_terms.into(),
            level,
        }
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        narrow(self.coordinates.len() / self.sizes.len())
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.sizes.len()
    }

    fn at(&self, node: u32) -> &[u16] {
        &self.coordinates[node as usize * self.sizes.len()..][..self.sizes.len()]
    }

    /// Whether two nodes have the same coordinate in a dimension.
    #[inline]
    pub fn level(&self, one: u32, other: u32, dimension: u32) -> bool {
        self.at(one)[dimension as usize] == self.at(other)[dimension as usize]
    }

    /// Whether the way from one node to another in the direction of a port passes the cable between
    /// the last coordinate and the first.
    #[inline]
    pub fn wraps(&self, from: u32, to: u32, port: u16) -> bool {
        let (port, dimensions) = (usize::from(port), self.dimensions());
        let is_negative = port >= dimensions;
        let dimension = if is_negative { port - dimensions } else { port };
        let (from, to) = (self.at(from)[dimension], self.at(to)[dimension]);
        if is_negative { from < to } else { from > to }
    }

    /// Hops from one node to another in each dimension, in the positive and in the negative
    /// direction. `None` if that direction does not lead there.
    #[inline]
    pub fn hops(
        &self,
        from: u32,
        to: u32,
    ) -> impl Iterator<Item = (Option<u16>, Option<u16>)> + '_ {
        self.at(from).iter().zip(self.at(to)).enumerate().map(|(dimension, (&from, &to))| {
            let ring = self.closed[dimension].then_some(self.sizes[dimension]);
            let ahead = if to > from { Some(to - from) } else { ring.map(|ring| to + ring - from) };
            let behind =
                if from > to { Some(from - to) } else { ring.map(|ring| from + ring - to) };
            if from == to { (None, None) } else { (ahead, behind) }
        })
    }

    /// The ports, a bit each, that bring a packet nearer to another router: all those of shortest
    /// routes, except where its heading binds it. Positive directions are the low ones.
    #[inline]
    pub fn ports(&self, router: u32, to: u32, heading: Heading) -> u16 {
        if heading.bound != 0 {
            return self.bound_ports(router, to, heading);
        }
        self.of_both_halves(self.shortest(router, to).0, heading.negative)
    }

    /// The ports of all shortest routes between two nodes, with both halves of a ring, and their
    /// hops.
    #[inline]
    pub(crate) fn shortest(&self, from: u32, to: u32) -> (u16, u16) {
        let (mut ports, mut hops) = (0, 0);
        self.for_each_place(from, to, |place| {
            let way = self.ways[place];
            ports |= way.ports;
            hops += way.hops;
        });
        (ports, hops)
    }

    /// Calls `each` with the place of two nodes' distance in each dimension.
    #[inline(always)]
    fn for_each_place(&self, from: u32, to: u32, each: impl FnMut(usize)) {
        match self.sizes.len() {
            1 => self.for_each_place_of::<1>(from, to, each),
            2 => self.for_each_place_of::<2>(from, to, each),
            3 => self.for_each_place_of::<3>(from, to, each),
            4 => self.for_each_place_of::<4>(from, to, each),
            5 => self.for_each_place_of::<5>(from, to, each),
            _ => self.for_each_place_of::<MAXIMUM_DIMENSIONS>(from, to, each),
        }
    }

    #[inline(always)]
    fn for_each_place_of<const D: usize>(&self, from: u32, to: u32, mut each: impl FnMut(usize)) {
        let at = |node: u32| -> &[u16; D] {
            let coordinates = &self.coordinates[node as usize * D..];
            coordinates.first_chunk().expect("one in each dimension")
        };
        let (from, to) = (at(from), at(to));
        for dimension in 0..D {
            let level = self.level[dimension] as usize;
            each(level + usize::from(to[dimension]) - usize::from(from[dimension]));
        }
    }

    fn bound_ports(&self, router: u32, to: u32, heading: Heading) -> u16 {
        let dimensions = self.sizes.len();
        let mut nearer = 0;
        for (dimension, (&from, &to)) in self.at(router).iter().zip(self.at(to)).enumerate() {
            if from == to {
                continue;
            }
            let (mut plus, mut minus) = (to > from, to < from);
            if self.closed[dimension] {
                let size = self.sizes[dimension];
                let ahead = if plus { to - from } else { to + size - from };
                let behind = size - ahead;
                let (negative, bound) =
                    (heading.negative >> dimension & 1 == 1, heading.bound >> dimension & 1 == 1);
                let told = bound || ahead == behind && !self.both_halves;
                (plus, minus) =
                    if told { (!negative, negative) } else { (ahead <= behind, behind <= ahead) };
            }
            nearer |= u16::from(plus) << dimension | u16::from(minus) << (dimension + dimensions);
        }
        nearer
    }

    /// Restricts a set of directions that has both where the halves of a ring are equally long. If
    /// only one is to be taken, it is the one that `negative` of the heading says.
    #[inline]
    pub(crate) fn of_both_halves(&self, directions: u16, negative: u8) -> u16 {
        if self.both_halves {
            return directions;
        }
        let dimensions = self.sizes.len();
        let both = directions & directions >> dimensions;
        let negative = u16::from(negative);
        directions & !(both & negative | (both & !negative) << dimensions)
    }

    /// Hops from one node to another by the ports of [`ports`](Self::ports).
    #[inline]
    pub fn distance(&self, from: u32, to: u32, heading: Heading) -> u16 {
        if heading.bound != 0 {
            return self.bound_distance(from, to, heading);
        }
        self.shortest(from, to).1
    }

    fn bound_distance(&self, from: u32, to: u32, heading: Heading) -> u16 {
        let bound = |dimension: usize, ahead, behind| {
            let (negative, bound) =
                (heading.negative >> dimension & 1, heading.bound >> dimension & 1);
            if bound == 0 || !self.closed[dimension] {
                None
            } else if negative == 1 {
                behind
            } else {
                ahead
            }
        };
        let hops = self.hops(from, to).enumerate();
        hops.filter_map(|(dimension, (ahead, behind))| {
            bound(dimension, ahead, behind).or_else(|| ahead.into_iter().chain(behind).min())
        })
        .sum()
    }

    /// Whether these steps from a node leave no open dimension.
    pub fn stays(&self, node: u32, steps: &[i16]) -> bool {
        let places = self.at(node).iter().zip(&self.sizes).zip(steps).zip(&self.closed);
        places.into_iter().all(|(((&from, &size), &step), &closed)| {
            closed || (0..i32::from(size)).contains(&(i32::from(from) + i32::from(step)))
        })
    }

    /// The node at an offset from another: steps in each dimension, round the rings. It must not
    /// leave an open dimension.
    pub fn away(&self, node: u32, steps: &[i16]) -> u32 {
        let mut stride = 1;
        let mut result = 0;
        for ((&from, &size), &step) in self.at(node).iter().zip(&self.sizes).zip(steps) {
            result +=
                (i32::from(from) + i32::from(step)).rem_euclid(i32::from(size)) as u32 * stride;
            stride *= u32::from(size);
        }
        result
    }

    /// A number for each offset between two nodes, below `offsets`. Pairs with equal hops have
    /// equal numbers.
    #[inline]
    pub fn offset(&self, from: u32, to: u32) -> usize {
        let mut offset = 0;
        self.for_each_place(from, to, |place| offset += self.offset_terms[place]);
        offset
    }

    /// Number of offsets.
    pub(crate) fn offsets(&self) -> usize {
        let count = |(&size, &closed)| Self::offsets_in(u32::from(size), closed) as usize;
        self.sizes.iter().zip(&self.closed).map(count).product()
    }

    /// Number of offsets between the nodes of a torus.
    pub(crate) fn offsets_of(torus: &Torus) -> u64 {
        let count = |dimension| Self::offsets_in(torus.sizes()[dimension], torus.closed(dimension));
        (0..torus.dimensions()).map(|dimension| u64::from(count(dimension))).product()
    }

    /// Number of offsets in a dimension.
    fn offsets_in(size: u32, closed: bool) -> u32 {
        if closed { size } else { 2 * size - 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_brings_a_packet_one_hop_nearer() {
        let torus = Torus::new(&[4, 2, 5, 3], &[2]).unwrap();
        for both_halves in [false, true] {
            let compass = Compass::new(&torus, both_halves);
            for bits in 0..=255u8 {
                let heading = Heading { negative: bits & 15, bound: bits >> 4 & 0b1001 };
                for to in (0..torus.nodes()).step_by(7) {
                    for from in (0..torus.nodes()).filter(|&from| from != to) {
                        let ports = compass.ports(from, to, heading);
                        assert_ne!(ports, 0);
                        let distance = compass.distance(from, to, heading);
                        for port in (0..8).filter(|port| ports >> port & 1 == 1) {
                            let next = torus.neighbor(from, port).expect("there is a channel");
                            assert_eq!(compass.distance(next, to, heading), distance - 1);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_of_one_offset_have_equal_ports() {
        let torus = Torus::new(&[4, 2, 3], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        let mut ports = vec![None; compass.offsets()];
        for from in 0..torus.nodes() {
            for to in 0..torus.nodes() {
                let own = compass.ports(from, to, Heading::default());
                assert_eq!(*ports[compass.offset(from, to)].get_or_insert(own), own);
            }
        }
        assert!(ports.iter().all(Option::is_some));
    }

    #[test]
    fn steps_go_round_rings() {
        let torus = Torus::new(&[4, 5], &[]).unwrap();
        let compass = Compass::new(&torus, true);
        let node = |at: [u32; 2]| torus.node(&at).unwrap();
        assert_eq!(compass.away(node([3, 1]), &[2, -3]), node([1, 3]));
    }
}
