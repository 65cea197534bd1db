//! Direction-order routing: the shortest way round in every dimension, positive directions first.
//!
//! Routes are computed when a packet is injected, so that a large torus needs no table. Where the
//! shortest way has failed, a ring's long way is taken: of all choices of directions that avoid the
//! failures, the one with the fewest hops. First and last steps are not used here.

use super::{Header, Route, Unroutable};
use crate::narrow::narrow;
use crate::topology::{Fabric, MAXIMUM_DIMENSIONS};

/// Which way round a packet goes when both halves of a ring are as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfRing {
    /// Always in the positive direction.
    Plus,
    /// From nodes with an even coordinate sum in the positive direction, from the others in the
    /// negative one, so that both directions carry the same load under uniform traffic.
    Balanced,
}

/// Hops in a dimension, of which one kind is zero.
#[derive(Clone, Copy, Debug)]
struct Way {
    positive: u16,
    negative: u16,
}

impl Way {
    /// The shortest way to a coordinate that is `ahead` of this one, -size < ahead < size.
    #[inline]
    fn shortest(size: i32, closed: bool, ahead: i32, plus_at_half: bool) -> Self {
        let round = ahead.rem_euclid(size);
        let signed = if !closed {
            ahead
        } else if 2 * round < size || 2 * round == size && plus_at_half {
            round
        } else {
            round - size
        };
        Self { positive: narrow(signed.max(0)), negative: narrow((-signed).max(0)) }
    }
}

/// Direction order +x +y +z +k -x -y -z -k on a torus.
#[derive(Clone, Debug)]
pub struct DirectionOrder {
    /// Whether routes have to look for failures.
    failures: bool,
    /// Coordinates of all nodes, dimension by dimension: routes are computed for every packet.
    coordinates: Vec<u16>,
    /// Whether the sum of a node's coordinates is odd.
    odd: Vec<bool>,
    sizes: Vec<u16>,
    /// For each dimension: from nodes with an even, with an odd coordinate sum, by how far the
    /// destination is ahead, plus the size.
    ways: Vec<[Vec<Way>; 2]>,
}

impl DirectionOrder {
    /// Bytes that it takes while it is made, about.
    pub(crate) fn memory_needed(fabric: &Fabric) -> u64 {
        let torus = fabric.coordinates();
        // Coordinates are gathered in a list that doubles; and whether their sum is odd.
        u64::from(torus.nodes()) * (torus.dimensions() as u64 * 6 + 1)
    }

    /// # Errors
    /// If failures leave a pair of live nodes without a route in direction order; all pairs are
    /// tried only if the fabric has failures.
    pub fn new(fabric: &Fabric, half_ring: HalfRing) -> Result<Self, Unroutable> {
        let torus = fabric.coordinates();
        let (nodes, directions) = (torus.nodes(), torus.directions());
        let whole = (0..nodes * directions)
            .filter(|slot| torus.neighbor(slot / directions, slot % directions).is_some())
            .count();
        let coordinates: Vec<u16> =
            (0..nodes).flat_map(|node| torus.coordinates(node)).map(narrow).collect();
        let sums = coordinates.chunks(torus.dimensions()).map(|node| node.iter().sum::<u16>());
        let ways = |dimension| {
            let (size, closed) = (narrow(torus.sizes()[dimension]), torus.closed(dimension));
            [false, true].map(|odd| {
                let plus_at_half = half_ring == HalfRing::Plus || !odd;
                let way = |ahead| Way::shortest(size, closed, ahead, plus_at_half);
                (-size..size).map(way).collect()
            })
        };
        let order = Self {
            failures: fabric.channels() != whole,
            odd: sums.map(|sum| sum % 2 == 1).collect(),
            sizes: torus.sizes().iter().map(|&size| narrow(size)).collect(),
            ways: (0..torus.dimensions()).map(ways).collect(),
            coordinates,
        };
        if order.failures {
            order.check(fabric)?;
        }
        Ok(order)
    }

    fn check(&self, fabric: &Fabric) -> Result<(), Unroutable> {
        let mut unroutable: Option<Unroutable> = None;
        for source in fabric.live_terminals() {
            for destination in fabric.live_terminals() {
                if self.find(fabric, source, destination).is_none() {
                    let name = |node| fabric.router_name(node);
                    unroutable
                        .get_or_insert_with(|| Unroutable {
                            routing: "direction order",
                            first: (name(source), name(destination)),
                            pairs: 0,
                        })
                        .pairs += 1;
                }
            }
        }
        unroutable.map_or(Ok(()), Err)
    }

    /// # Panics
    /// If there is no route between the routers.
    #[inline]
    pub(super) fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        self.find(fabric, source, destination).expect("every pair was tried at construction")
    }

    fn find(&self, fabric: &Fabric, source: u32, destination: u32) -> Option<Route> {
        let route = self.shortest(source, destination);
        if !self.failures || alive(fabric, source, &route) {
            return Some(route);
        }
        self.detour(fabric, source, destination)
    }

    /// Whether each route is a shortest one, since nothing has failed.
    pub(crate) fn is_shortest(&self) -> bool {
        !self.failures
    }

    /// The sizes of the dimensions.
    #[inline]
    pub(crate) fn sizes(&self) -> &[u16] {
        &self.sizes
    }

    /// Whether the sum of a node's coordinates is odd, which decides its half rings.
    #[inline]
    pub(crate) fn is_odd(&self, node: u32) -> bool {
        self.odd[node as usize]
    }

    /// Hops in the positive and in the negative direction of a dimension from such a node to one whose coordinate is
    /// ahead by so many, which `ahead` tells plus the size.
    pub(crate) fn hops(&self, dimension: usize, odd: bool, ahead: usize) -> (u16, u16) {
        let way = self.ways[dimension][usize::from(odd)][ahead];
        (way.positive, way.negative)
    }

    /// A node's coordinates.
    #[inline]
    pub(crate) fn at(&self, node: u32) -> &[u16] {
        let dimensions = self.sizes.len();
        &self.coordinates[node as usize * dimensions..][..dimensions]
    }

    /// The shortest way, failures aside. It is computed for every packet, and which way a packet goes is
    /// as good as random, so nothing in it branches on that.
    fn shortest(&self, source: u32, destination: u32) -> Route {
        let (from, to) = (self.at(source), self.at(destination));
        let odd = usize::from(self.odd[source as usize]);
        let mut negative = [0; MAXIMUM_DIMENSIONS];
        let mut route = Route::default();
        let coordinates = from.iter().zip(to).zip(&self.sizes);
        for (dimension, (ways, ((&from, &to), &size))) in
            (0..).zip(self.ways.iter().zip(coordinates))
        {
            let way = ways[odd][usize::from(to + size - from)];
            route.append(dimension, way.positive);
            negative[usize::from(dimension)] = way.negative;
        }
        for (port, &hops) in (narrow(from.len())..).zip(&negative[..from.len()]) {
            route.append(port, hops);
        }
        route
    }

    /// The shortest live route over all choices of directions; of equal ones, the one that turns the
    /// fewest, then the lowest, dimensions of the shortest way round.
    fn detour(&self, fabric: &Fabric, source: u32, destination: u32) -> Option<Route> {
        let torus = fabric.coordinates();
        let dimensions = torus.dimensions();
        let header = self.shortest(source, destination).runs().iter().fold(
            Header::default(),
            |header, run| {
                let port = usize::from(run.port);
                header.with_direction(port % dimensions, port < dimensions)
            },
        );
        (1u32..1 << dimensions)
            .filter_map(|turned| {
                let mut other = header;
                for dimension in (0..dimensions).filter(|d| turned >> d & 1 == 1) {
                    other = other.with_direction(dimension, !header.direction(dimension)?);
                }
                let route = other.route(torus, source, destination)?;
                let key = (route.hops(), turned.count_ones(), turned);
                alive(fabric, source, &route).then_some((key, route))
            })
            .min_by_key(|&(key, _)| key)
            .map(|(_, route)| route)
    }
}

/// Whether every channel of the route exists.
fn alive(fabric: &Fabric, source: u32, route: &Route) -> bool {
    let mut at = source;
    route.ports().all(|port| {
        let next = fabric.target(fabric.outputs(at).start + u32::from(port));
        at = next.unwrap_or(at);
        next.is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Faults, Torus};

    fn routed(sizes: &[u32], open: &[usize], faults: &Faults) -> (Fabric, DirectionOrder) {
        let fabric = Torus::new(sizes, open).unwrap().fabric(faults).unwrap();
        let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
        (fabric, order)
    }

    fn end(fabric: &Fabric, source: u32, route: &Route) -> u32 {
        assert!(alive(fabric, source, route));
        route.ports().fold(source, |at, port| {
            fabric.target(fabric.outputs(at).start + u32::from(port)).unwrap()
        })
    }

    #[test]
    fn every_route_ends_at_its_destination_by_the_shortest_way() {
        for (sizes, open) in
            [(&[5, 4][..], &[][..]), (&[4, 2, 3], &[0]), (&[7], &[]), (&[3, 3, 2, 2], &[])]
        {
            let (fabric, order) = routed(sizes, open, &Faults::default());
            let torus = fabric.coordinates();
            for source in 0..fabric.routers() {
                for destination in 0..fabric.routers() {
                    let route = order.route(&fabric, source, destination);
                    assert_eq!(end(&fabric, source, &route), destination);
                    let shortest: u32 = (0..torus.dimensions())
                        .map(|d| {
                            let apart = torus
                                .coordinate(source, d)
                                .abs_diff(torus.coordinate(destination, d));
                            if torus.closed(d) {
                                apart.min(torus.sizes()[d] - apart)
                            } else {
                                apart
                            }
                        })
                        .sum();
                    assert_eq!(route.hops(), shortest);
                }
            }
        }
    }

    #[test]
    fn ports_of_a_route_never_descend() {
        let (fabric, order) = routed(&[4, 3, 5], &[], &Faults::default());
        for pair in 0..60 * 60 {
            let route = order.route(&fabric, pair / 60, pair % 60);
            assert!(route.runs().is_sorted_by(|a, b| a.port < b.port));
        }
    }

    #[test]
    fn half_ring_ties_follow_the_rule() {
        let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&Faults::default()).unwrap();
        let balanced = DirectionOrder::new(&fabric, HalfRing::Balanced).unwrap();
        let first =
            |source, destination| balanced.route(&fabric, source, destination).runs()[0].port;
        assert_eq!((first(0, 2), first(1, 3), first(4, 6)), (0, 2, 2));
        let (fabric, plus) = routed(&[4, 4], &[], &Faults::default());
        assert_eq!(plus.route(&fabric, 1, 3).runs()[0].port, 0);
    }

    #[test]
    fn a_failed_cable_is_passed_the_long_way_round() {
        let (fabric, order) =
            routed(&[5, 3], &[], &Faults { cables: vec![(0, 0)], ..Faults::default() });
        let route = order.route(&fabric, 0, 1);
        assert_eq!(route.ports().collect::<Vec<_>>(), [2, 2, 2, 2]);
        for pair in 0..15 * 15 {
            assert_eq!(
                end(&fabric, pair / 15, &order.route(&fabric, pair / 15, pair % 15)),
                pair % 15
            );
        }
    }

    #[test]
    fn pairs_that_direction_order_cannot_route_are_named() {
        let torus = Torus::new(&[4, 4], &[]).unwrap();
        let faults = Faults { cables: vec![(0, 0), (0, 2)], ..Faults::default() };
        let fabric = torus.fabric(&faults).unwrap();
        let error = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap_err();
        assert_eq!(error.first, ("(0,0)".into(), "(1,0)".into()));
        assert!(error.pairs > 2);
    }
}
