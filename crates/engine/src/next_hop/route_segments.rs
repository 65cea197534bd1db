//! Encoded routes of direction order, composed from a table of segments.
//!
//! A segment is the route in one dimension. A new packet's route is a few table lookups, without a
//! branch.

use crate::packet::encoded_route::{EncodedRoute, RouteCodec};
use flitlab_base::narrow::narrow;
use flitlab_fabric::MAXIMUM_DIMENSIONS;
use flitlab_routing::DirectionOrder;

/// The route in one dimension as an encoded run, in the positive or in the negative direction; the
/// fields of the other direction are 0.
#[derive(Clone, Copy, Debug)]
struct Segment {
    positive: u16,
    negative: u16,
    /// The number of bits of each run.
    positive_bits: u8,
    negative_bits: u8,
    hops: u16,
}

/// A position in the order of directions: one direction, or both of a dimension if one follows the
/// other.
#[derive(Clone, Copy, Debug)]
struct Turn {
    dimension: u32,
    size: u16,
    /// The index of its first run.
    first: u32,
}

/// The segments of a torus without failures, where each route is a shortest one.
#[derive(Debug)]
pub(super) struct RouteSegments<'f> {
    order: &'f DirectionOrder,
    codec: RouteCodec,
    /// For the order of all positive directions before all negative ones: by dimension, then tie of
    /// half rings, then the distance of the destination ahead plus the size. Empty for other
    /// orders.
    segments: Vec<Segment>,
    /// By dimension, then tie of half rings: the segment of equal coordinates.
    level: [[u32; 2]; MAXIMUM_DIMENSIONS],
    /// For other orders: the positions, and the runs of each position by the same indices.
    turns: Vec<Turn>,
    runs: Vec<u16>,
}

impl<'f> RouteSegments<'f> {
    /// `None` if routes depend on failures, or do not fit into eight bytes.
    pub(super) fn new(order: &'f DirectionOrder, codec: RouteCodec, rest: usize) -> Option<Self> {
        if rest > 0 || !order.is_shortest() {
            return None;
        }
        let dimensions = order.sizes.len();
        let segment = |dimension: usize, tie, place| {
            let (positive, negative) = order.hops(dimension, tie, place);
            let run = |port, hops| if hops == 0 { 0 } else { codec.run(port, hops) };
            let bits = |hops| if hops == 0 { 0 } else { narrow(codec.bits()) };
            Segment {
                positive: run(narrow::<u16>(dimension), positive),
                negative: run(narrow::<u16>(dimension + dimensions), negative),
                positive_bits: bits(positive),
                negative_bits: bits(negative),
                hops: positive + negative,
            }
        };
        let of_dimension = |dimension: usize| {
            let places = 0..2 * usize::from(order.sizes[dimension]);
            let ties = [0, 1].into_iter();
            ties.flat_map(move |tie| {
                places.clone().map(move |place| segment(dimension, tie, place))
            })
        };
        let mut segments = Self {
            order,
            codec,
            segments: Vec::new(),
            level: Default::default(),
            turns: Vec::new(),
            runs: Vec::new(),
        };
        if order.order.is_sorted() {
            for (dimension, &size) in order.sizes.iter().enumerate() {
                let (first, size) = (narrow::<u32>(segments.segments.len()), u32::from(size));
                segments.level[dimension] = [first + size, first + 3 * size];
                segments.segments.extend(of_dimension(dimension));
            }
            return Some(segments);
        }
        let mut ports = order.order.iter().map(|&port| usize::from(port)).peekable();
        while let Some(port) = ports.next() {
            let dimension = port % dimensions;
            let both = ports.next_if(|next| next % dimensions == dimension).is_some();
            segments.turns.push(Turn {
                dimension: narrow(dimension),
                size: order.sizes[dimension],
                first: narrow(segments.runs.len()),
            });
            segments.runs.extend(of_dimension(dimension).map(|segment| {
                match (both, port < dimensions) {
                    (true, _) => segment.positive | segment.negative,
                    (false, true) => segment.positive,
                    (false, false) => segment.negative,
                }
            }));
        }
        Some(segments)
    }

    /// The encoded route of a source's packet to another router, and its hops.
    #[inline]
    pub(super) fn encoded(
        &self,
        (source, sequence): (u32, u32),
        destination: u32,
        ejection: u16,
    ) -> (EncodedRoute, u16) {
        let (from, to) = (self.order.at(source), self.order.at(destination));
        let ties = self.order.ties(source, sequence);
        if self.segments.is_empty() {
            return self.in_turns(from, to, ties, ejection);
        }
        match from.len() {
            1 => self.composed::<1>(from, to, ties, ejection),
            2 => self.composed::<2>(from, to, ties, ejection),
            3 => self.composed::<3>(from, to, ties, ejection),
            4 => self.composed::<4>(from, to, ties, ejection),
            5 => self.composed::<5>(from, to, ties, ejection),
            _ => self.composed::<MAXIMUM_DIMENSIONS>(from, to, ties, ejection),
        }
    }

    /// The encoded route and its hops in so many dimensions, composed of their segments. The input
    /// is as good as random, so the code has no branches.
    #[inline]
    fn composed<const D: usize>(
        &self,
        from: &[u16],
        to: &[u16],
        ties: u32,
        ejection: u16,
    ) -> (EncodedRoute, u16) {
        let coordinates = |node: &[u16]| *node.first_chunk::<D>().expect("one in each dimension");
        let (from, to) = (coordinates(from), coordinates(to));
        let (mut positive, mut negative) = (0, 0);
        let (mut ahead, mut behind, mut hops) = (0, 0, 0);
        for dimension in 0..D {
            let level = self.level[dimension][(ties >> dimension & 1) as usize] as usize;
            let place = level + usize::from(to[dimension]) - usize::from(from[dimension]);
            let segment = self.segments[place];
            positive |= u64::from(segment.positive) << ahead;
            negative |= u64::from(segment.negative) << behind;
            ahead += u32::from(segment.positive_bits);
            behind += u32::from(segment.negative_bits);
            hops += segment.hops;
        }
        let last = u64::from(self.codec.run(ejection, 1));
        (EncodedRoute(positive | negative << ahead | last << (ahead + behind)), hops)
    }

    /// The encoded route and its hops for other orders of directions.
    fn in_turns(&self, from: &[u16], to: &[u16], ties: u32, ejection: u16) -> (EncodedRoute, u16) {
        let (mut encoded, mut ahead, mut hops) = (0, 0, 0);
        for &Turn { dimension, size, first } in &self.turns {
            let (from, to) = (from[dimension as usize], to[dimension as usize]);
            let tie = (ties >> dimension & 1) as usize;
            let place = usize::from(size) * (2 * tie + 1) + usize::from(to) - usize::from(from);
            let run = self.runs[first as usize + place];
            encoded |= u64::from(run) << ahead;
            ahead += self.codec.bits() * u32::from(run != 0);
            hops += self.codec.hops(run);
        }
        (EncodedRoute(encoded | u64::from(self.codec.run(ejection, 1)) << ahead), hops)
    }

    /// The dimensions in whose rings the route passes the dateline, a bit each.
    pub(super) fn datelines(&self, (source, sequence): (u32, u32), destination: u32) -> u16 {
        let (from, to) = (self.order.at(source), self.order.at(destination));
        let ties = self.order.ties(source, sequence);
        let mut set = 0;
        for (dimension, &size) in self.order.sizes.iter().enumerate() {
            let (from, to) = (from[dimension], to[dimension]);
            let tie = (ties >> dimension & 1) as usize;
            let ahead = usize::from(to + size - from);
            let (positive, negative) = self.order.hops(dimension, tie, ahead);
            let crosses = positive > 0 && to < from || negative > 0 && to > from;
            set |= u16::from(crosses) << dimension;
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_fabric::{Faults, Torus};
    use flitlab_routing::{DirectionRules, HalfRing, Routes};

    #[test]
    fn encoded_routes_are_the_routes() {
        for (sizes, open) in
            [(&[5, 4][..], &[][..]), (&[4, 2, 3], &[0]), (&[7], &[]), (&[3, 3, 2, 4], &[])]
        {
            let fabric = Torus::new(sizes, open).unwrap().fabric(&Faults::default()).unwrap();
            let dimensions = narrow::<u16>(sizes.len());
            let by_dimension = (0..dimensions).flat_map(|d| [d, dimensions + d]).collect();
            let backwards = (0..2 * dimensions).rev().collect();
            let orders: [Vec<u16>; 3] = [Vec::new(), by_dimension, backwards];
            let half_rings = [HalfRing::Plus, HalfRing::Balanced, HalfRing::Random];
            for (half_ring, order) in
                half_rings.iter().flat_map(|it| orders.iter().map(move |order| (*it, order)))
            {
                let rules = DirectionRules { order: order.clone(), half_ring, dateline: false };
                let order = DirectionOrder::new(&fabric, rules).unwrap().with_seed(3);
                let routes = Routes::DirectionOrder(order.clone());
                let codec = RouteCodec::new(2 * narrow::<u32>(sizes.len()) + 2, 7);
                let segments = RouteSegments::new(&order, codec, 0).unwrap();
                let ejection = 2 * narrow::<u16>(sizes.len()) + 1;
                for pair in 0..fabric.routers() * fabric.routers() {
                    let (source, destination) = (pair / fabric.routers(), pair % fabric.routers());
                    let route = routes.packet_route(&fabric, source, destination, pair).unwrap();
                    let encoded = codec.write(&route, ejection, &mut []);
                    let expected = (encoded, narrow::<u16>(route.hops()));
                    assert_eq!(segments.encoded((source, pair), destination, ejection), expected);
                    let datelines = order.datelines(source, &route);
                    assert_eq!(segments.datelines((source, pair), destination), datelines);
                }
            }
        }
    }

    #[test]
    fn where_something_failed_there_are_no_segments() {
        let torus = Torus::new(&[5, 3], &[]).unwrap();
        let fabric = torus.fabric(&Faults { cables: vec![(0, 0)], ..Faults::default() }).unwrap();
        let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
        assert!(RouteSegments::new(&order, RouteCodec::new(6, 5), 0).is_none());
    }
}
