//! Direction-order routing: the shortest way round in every dimension, one direction after the
//! other.
//!
//! Routes are computed when a packet is injected, so a large torus needs no table. If the shortest
//! way has failed, a packet goes the long way round a ring. Of all choices of directions that avoid
//! the failures, it takes the one with the fewest hops. First and last steps are not used here.

use super::{DirectionRules, HalfRing, OrderError, Route, Unroutable, drawn};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::{Fabric, MAXIMUM_DIMENSIONS};

/// Hops in a dimension, in the positive and in the negative direction; one of the two is 0.
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

/// Direction order on a torus: +x +y +z +k -x -y -z -k, or the order of its [`DirectionRules`].
#[derive(Clone, Debug)]
pub struct DirectionOrder {
    rules: DirectionRules,
    /// All ports between routers, in the order of their directions.
    pub order: Vec<u16>,
    /// Seed of half rings that are drawn.
    seed: u64,
    /// Whether some channel belongs to a ring.
    pub has_rings: bool,
    /// The dimensions in which half rings are drawn, a bit each.
    drawn_dimensions: u32,
    /// Whether routes have to avoid failures.
    failures: bool,
    /// Coordinates of all nodes, dimension by dimension, since routes are computed for every
    /// packet.
    coordinates: Vec<u16>,
    /// Whether the sum of a node's coordinates is odd.
    odd: Vec<bool>,
    /// The sizes of the dimensions.
    pub sizes: Vec<u16>,
    /// Ways by dimension, by the direction in which half rings are gone (positive, negative), and
    /// by the destination's distance ahead plus the size.
    ways: Vec<[Vec<Way>; 2]>,
}

impl DirectionOrder {
    /// Bytes that its construction takes, estimated.
    pub fn memory_needed(fabric: &Fabric) -> u64 {
        let torus = fabric.coordinates();
        // Coordinates are gathered in a list that doubles; and whether their sum is odd.
        u64::from(torus.nodes()) * (torus.dimensions() as u64 * 6 + 1)
    }

    /// Makes the routing. Half rings that are drawn have seed 0; see [`Self::with_seed`].
    ///
    /// # Errors
    /// If failures leave a pair of live nodes without a route in direction order, or with one that
    /// goes more than half round a ring with a dateline. Pairs are tried only if the fabric has
    /// failures.
    pub fn new(fabric: &Fabric, rules: impl Into<DirectionRules>) -> Result<Self, OrderError> {
        let rules = rules.into();
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
            [true, false].map(|plus_at_half| {
                let way = |ahead| Way::shortest(size, closed, ahead, plus_at_half);
                (-size..size).map(way).collect()
            })
        };
        let ties = |dimension: &usize| {
            torus.closed(*dimension) && torus.sizes()[*dimension].is_multiple_of(2)
        };
        let tied =
            (0..torus.dimensions()).filter(ties).fold(0, |set, dimension| set | 1 << dimension);
        let order = Self {
            order: rules.ports(torus.dimensions()),
            drawn_dimensions: if rules.half_ring == HalfRing::Random { tied } else { 0 },
            has_rings: (0..fabric.channel_slots()).any(|channel| fabric.ring(channel).is_some()),
            rules,
            seed: 0,
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

    /// Sets the seed of half rings that are drawn.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The rules that it was made by.
    pub fn rules(&self) -> &DirectionRules {
        &self.rules
    }

    /// The seed of half rings that are drawn.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether packets on each ring are in two classes, instead of keeping a bubble.
    #[inline]
    pub fn has_dateline(&self) -> bool {
        self.rules.dateline
    }

    /// Whether packets between the same nodes may go different ways at random.
    pub fn draws(&self) -> bool {
        self.drawn_dimensions != 0
    }

    /// The dimensions in whose rings a route passes the dateline, a bit each. The dateline is the
    /// cable between the last coordinate and the first, in either direction.
    pub fn datelines(&self, source: u32, route: &Route) -> u16 {
        let dimensions = self.sizes.len();
        route.runs().iter().fold(0, |set, run| {
            let port = usize::from(run.port);
            let dimension = port % dimensions;
            let (from, size) = (self.at(source)[dimension], self.sizes[dimension]);
            let last = if port < dimensions { size - 1 - from } else { from };
            set | u16::from(run.hops > last) << dimension
        })
    }

    fn check(&self, fabric: &Fabric) -> Result<(), OrderError> {
        let (mut unroutable, mut long) = (Pairs::default(), Pairs::default());
        for source in fabric.live_terminals() {
            for destination in fabric.live_terminals() {
                let Some(route) = self.find(fabric, source, destination, 0) else {
                    unroutable.add(source, destination);
                    continue;
                };
                if !self.has_dateline() {
                    continue;
                }
                let mut is_long = self.goes_past_half(fabric, source, &route);
                self.for_each_way(fabric, source, destination, |route, _| {
                    is_long |= self.goes_past_half(fabric, source, route);
                });
                if is_long {
                    long.add(source, destination);
                }
            }
        }
        let name = |(one, other)| (fabric.router_name(one), fabric.router_name(other));
        match (unroutable.first.map(name), long.first.map(name)) {
            (Some(first), _) => Err(OrderError::Unroutable(Unroutable {
                routing: "direction order",
                first,
                pairs: unroutable.count,
            })),
            (None, Some(first)) => Err(OrderError::PastHalf { first, pairs: long.count }),
            (None, None) => Ok(()),
        }
    }

    /// Whether a route goes more than half round a ring.
    fn goes_past_half(&self, fabric: &Fabric, source: u32, route: &Route) -> bool {
        let mut at = source;
        route.runs().iter().any(|run| {
            let mut in_ring = false;
            for _ in 0..run.hops {
                let channel = fabric.outputs(at).start + u32::from(run.port);
                in_ring = fabric.ring(channel).is_some();
                at = fabric.target(channel).expect("routes avoid failures");
            }
            in_ring && 2 * run.hops > self.sizes[usize::from(run.port) % self.sizes.len()]
        })
    }

    /// The direction in each dimension whose two ways round are equally long: a bit each, set for
    /// the negative direction. `sequence` is the packet's number at its source.
    #[inline]
    pub fn ties(&self, source: u32, sequence: u32) -> u32 {
        match self.rules.half_ring {
            HalfRing::Plus => 0,
            HalfRing::Balanced => 0u32.wrapping_sub(u32::from(self.odd[source as usize])),
            HalfRing::Random => fitted!(drawn(self.seed, source, sequence) >> 32, u32),
        }
    }

    /// The route of a packet, by its number at its source. If half rings are not drawn, all packets
    /// have the same route.
    ///
    /// # Panics
    /// If there is no route between the routers.
    #[inline]
    pub fn packet_route(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        sequence: u32,
    ) -> Route {
        let ties = self.ties(source, sequence);
        self.find(fabric, source, destination, ties).expect("every pair was tried at construction")
    }

    /// The route between two routers. Half rings that are drawn are gone in the positive direction.
    ///
    /// # Panics
    /// If there is no route between the routers.
    #[inline]
    pub fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        let ties = if self.draws() { 0 } else { self.ties(source, 0) };
        self.find(fabric, source, destination, ties).expect("every pair was tried at construction")
    }

    /// Calls `each` with every route that packets may take, and with the share of the packets on
    /// it. All have equally many hops. There are several only if half rings are drawn.
    ///
    /// # Panics
    /// If there is no route between the routers.
    pub fn for_each_way(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        mut each: impl FnMut(&Route, f64),
    ) {
        let tied = self.tied(source, destination);
        if tied == 0 {
            return each(&self.route(fabric, source, destination), 1.0);
        }
        let share = 1.0 / f64::from(1u32 << tied.count_ones());
        let mut ties = 0;
        loop {
            let route = self.find(fabric, source, destination, ties);
            each(&route.expect("every pair was tried at construction"), share);
            // The next set of these dimensions, in the order of numbers.
            ties = ties.wrapping_sub(tied) & tied;
            if ties == 0 {
                return;
            }
        }
    }

    /// The dimensions in which a half ring is drawn between two nodes, a bit each.
    pub(super) fn tied(&self, source: u32, destination: u32) -> u32 {
        let nodes = self.at(source).iter().zip(self.at(destination)).zip(&self.sizes);
        let half = |((&from, &to), &size): ((&u16, &u16), &u16)| 2 * from.abs_diff(to) == size;
        let set =
            (0..).zip(nodes).fold(0, |set, (dimension, it)| set | u32::from(half(it)) << dimension);
        set & self.drawn_dimensions
    }

    fn find(&self, fabric: &Fabric, source: u32, destination: u32, ties: u32) -> Option<Route> {
        let route = self.shortest(source, destination, ties);
        if !self.failures || alive(fabric, source, &route) {
            return Some(route);
        }
        self.detour(fabric, source, destination, &route)
    }

    /// Whether each route is a shortest one, since the fabric has no failures.
    pub fn is_shortest(&self) -> bool {
        !self.failures
    }

    /// Hops of a dimension in the positive and in the negative direction. `ahead` is the distance
    /// of the destination's coordinate ahead of the source's, plus the size. If `tie` is 1, half a
    /// ring is gone in the negative direction.
    pub fn hops(&self, dimension: usize, tie: usize, ahead: usize) -> (u16, u16) {
        let way = self.ways[dimension][tie][ahead];
        (way.positive, way.negative)
    }

    /// The coordinates of a node.
    #[inline]
    pub fn at(&self, node: u32) -> &[u16] {
        let dimensions = self.sizes.len();
        &self.coordinates[node as usize * dimensions..][..dimensions]
    }

    /// The shortest way without regard to failures. It is computed for every packet. The direction
    /// of a packet is as good as random, so no instruction branches on it.
    fn shortest(&self, source: u32, destination: u32, ties: u32) -> Route {
        let (from, to) = (self.at(source), self.at(destination));
        let mut hops = [0; 2 * MAXIMUM_DIMENSIONS];
        let coordinates = from.iter().zip(to).zip(&self.sizes);
        for (dimension, (ways, ((&from, &to), &size))) in
            self.ways.iter().zip(coordinates).enumerate()
        {
            let tie = (ties >> dimension & 1) as usize;
            let way = ways[tie][usize::from(to + size - from)];
            hops[dimension] = way.positive;
            hops[dimension + self.sizes.len()] = way.negative;
        }
        self.in_order(&hops)
    }

    /// The route with these hops by each port.
    fn in_order(&self, hops: &[u16; 2 * MAXIMUM_DIMENSIONS]) -> Route {
        let mut route = Route::default();
        for &port in &self.order {
            route.append(port, hops[usize::from(port)]);
        }
        route
    }

    /// The shortest live route over all choices of directions. Of equal ones it goes the long way
    /// round in the fewest dimensions, and then in the lowest.
    fn detour(
        &self,
        fabric: &Fabric,
        source: u32,
        destination: u32,
        shortest: &Route,
    ) -> Option<Route> {
        let torus = fabric.coordinates();
        let dimensions = self.sizes.len();
        let (mut moving, mut positive) = (0u32, 0u32);
        for port in shortest.runs().iter().map(|run| usize::from(run.port)) {
            moving |= 1 << (port % dimensions);
            positive |= u32::from(port < dimensions) << (port % dimensions);
        }
        let (from, to) = (self.at(source), self.at(destination));
        let way = |positive: u32| {
            let mut hops = [0; 2 * MAXIMUM_DIMENSIONS];
            for (dimension, &size) in self.sizes.iter().enumerate() {
                let (from, to) = (from[dimension], to[dimension]);
                let plus = positive >> dimension & 1 == 1;
                let passes_edge = if plus { to < from } else { to > from };
                if passes_edge && !torus.closed(dimension) {
                    return None;
                }
                let ahead = if plus { to + size - from } else { from + size - to };
                hops[dimension + if plus { 0 } else { dimensions }] = ahead % size;
            }
            Some(self.in_order(&hops))
        };
        (1u32..1 << dimensions)
            .filter(|turned| turned & !moving == 0)
            .filter_map(|turned| {
                let route = way(positive ^ turned)?;
                let key = (route.hops(), turned.count_ones(), turned);
                alive(fabric, source, &route).then_some((key, route))
            })
            .min_by_key(|&(key, _)| key)
            .map(|(_, route)| route)
    }
}

/// Pairs of nodes that share a fault.
#[derive(Default)]
struct Pairs {
    first: Option<(u32, u32)>,
    count: u64,
}

impl Pairs {
    fn add(&mut self, source: u32, destination: u32) {
        self.first.get_or_insert((source, destination));
        self.count += 1;
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
    use flitlab_fabric::{Faults, Torus};

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
        let OrderError::Unroutable(error) = error else { panic!("{error}") };
        assert_eq!(error.first, ("(0,0)".into(), "(1,0)".into()));
        assert!(error.pairs > 2);
    }

    fn ruled(
        sizes: &[u32],
        faults: &Faults,
        rules: DirectionRules,
    ) -> Result<(Fabric, DirectionOrder), OrderError> {
        let fabric = Torus::new(sizes, &[]).unwrap().fabric(faults).unwrap();
        DirectionOrder::new(&fabric, rules).map(|order| (fabric, order))
    }

    #[test]
    fn routes_and_detours_follow_the_order_that_is_given() {
        let order = vec![4, 2, 5, 0, 3, 1];
        let rules = DirectionRules { order: order.clone(), ..DirectionRules::default() };
        for faults in
            [Faults::default(), Faults { cables: vec![(0, 0), (7, 1)], ..Faults::default() }]
        {
            let (fabric, routes) = ruled(&[4, 3, 5], &faults, rules.clone()).unwrap();
            for pair in 0..60 * 60 {
                let route = routes.route(&fabric, pair / 60, pair % 60);
                assert_eq!(end(&fabric, pair / 60, &route), pair % 60);
                let place = |port: u16| order.iter().position(|&other| other == port);
                assert!(route.runs().is_sorted_by(|a, b| place(a.port) < place(b.port)));
            }
        }
    }

    #[test]
    fn half_rings_are_drawn_evenly_and_one_by_one() {
        let rules = DirectionRules { half_ring: HalfRing::Random, ..DirectionRules::default() };
        let (fabric, order) = ruled(&[4, 6, 3], &Faults::default(), rules).unwrap();
        let order = order.with_seed(9);
        let destination = fabric.coordinates().node(&[2, 3, 1]).unwrap();
        let mut counts = [0; 4];
        for sequence in 0..4_000 {
            let route = order.packet_route(&fabric, 0, destination, sequence);
            assert_eq!((end(&fabric, 0, &route), route.hops()), (destination, 6));
            let negative = |port| usize::from(route.runs().iter().any(|run| run.port == port));
            counts[negative(3) + 2 * negative(4)] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
        let mut shares = Vec::new();
        order.for_each_way(&fabric, 0, destination, |route, share| shares.push((*route, share)));
        assert_eq!(shares.iter().map(|way| way.1).collect::<Vec<_>>(), [0.25; 4]);
        assert!(
            order.draws()
                && (1..4).all(|place| shares[..place].iter().all(|way| way.0 != shares[place].0))
        );
    }

    #[test]
    fn a_route_passes_the_dateline_between_the_last_coordinate_and_the_first() {
        let (fabric, order) = routed(&[5, 4], &[], &Faults::default());
        let torus = fabric.coordinates();
        for (from, to, passed) in [
            ([3, 1], [0, 1], 1),
            ([0, 1], [3, 1], 1),
            ([2, 1], [4, 1], 0),
            ([4, 0], [0, 3], 3),
            ([1, 2], [1, 0], 2),
            ([2, 0], [0, 2], 0),
        ] {
            let (from, to) = (torus.node(&from).unwrap(), torus.node(&to).unwrap());
            assert_eq!(order.datelines(from, &order.route(&fabric, from, to)), passed);
        }
    }

    #[test]
    fn a_dateline_refuses_ways_past_half_a_ring() {
        let rules = DirectionRules { dateline: true, ..DirectionRules::default() };
        // The row of a failed cable is no ring any more, so its long way is not one either.
        let one = Faults { cables: vec![(0, 0)], ..Faults::default() };
        assert!(ruled(&[5], &one, rules.clone()).is_ok());
        // In two dimensions some packets go round a whole ring to pass it.
        let error = ruled(&[5, 5], &one, rules).unwrap_err();
        assert!(matches!(error, OrderError::PastHalf { .. }), "{error}");
    }
}
