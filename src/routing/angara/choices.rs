//! The shortest legal routes of every pair of a region's nodes.
//!
//! A route is a header: an optional first step, a direction for each dimension that is left to go, an
//! optional last step. Headers that lead through the same channels are one route, the one with the fewest
//! steps. Where failures or the region's edges forbid all routes of the torus' distance, the shortest
//! of the longer ones are taken.

use super::{Freedoms, Selection, Turns};
use crate::routing::{Header, Region, Route, RouteTable};
use crate::topology::{Channel, MAXIMUM_DIMENSIONS, Torus};

/// A pair of nodes with its routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub source: u32,
    pub destination: u32,
    /// Hops of each of its routes.
    pub hops: u16,
    /// Its routes among all, first and behind the last.
    first: u32,
    end: u32,
    /// Their channels among all: `hops` for each route.
    channels: u64,
}

impl Pair {
    /// How many routes it has.
    #[must_use]
    pub fn routes(&self) -> usize {
        (self.end - self.first) as usize
    }
}

/// All pairs of a region and their shortest legal routes.
#[derive(Clone, Debug)]
pub struct Choices<'f> {
    region: Region<'f>,
    pairs: Vec<Pair>,
    headers: Vec<Header>,
    channels: Vec<Channel>,
    unroutable: Vec<(u32, u32)>,
}

impl<'f> Choices<'f> {
    /// Lists the routes of all ordered pairs of different nodes, by source, then destination.
    #[must_use]
    pub fn new(region: Region<'f>, freedoms: Freedoms) -> Self {
        let turns = freedoms.turns(&region);
        let mut search = Search::new(&region, &turns, freedoms.first_and_last_steps);
        let (mut pairs, mut headers, mut channels) = (Vec::new(), Vec::new(), Vec::new());
        let mut unroutable = Vec::new();
        for &source in region.nodes() {
            for &destination in region.nodes().iter().filter(|&&node| node != source) {
                search.find(source, destination);
                let Some((_, route)) = search.found.first() else {
                    unroutable.push((source, destination));
                    continue;
                };
                let first = headers.len() as u32;
                let hops = route.hops() as u16;
                let start = channels.len() as u64;
                for (header, route) in &search.found {
                    headers.push(*header);
                    search.walk(source, route, &mut channels);
                }
                let end = headers.len() as u32;
                pairs.push(Pair { source, destination, hops, first, end, channels: start });
            }
        }
        Self { region, pairs, headers, channels, unroutable }
    }

    #[must_use]
    pub fn region(&self) -> &Region<'f> {
        &self.region
    }

    /// The pairs that have a route, by source, then destination.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// How many routes a look at every pair that has a choice compares; at least 1.
    pub(super) fn evaluations(&self) -> u64 {
        let routes = self.pairs.iter().map(Pair::routes).filter(|&routes| routes > 1);
        routes.map(|routes| routes as u64).sum::<u64>().max(1)
    }

    /// The pairs that have none, source and destination.
    #[must_use]
    pub fn unroutable(&self) -> &[(u32, u32)] {
        &self.unroutable
    }

    /// The header of a pair's route `number`.
    ///
    /// # Panics
    /// If the pair has not so many.
    #[must_use]
    pub fn header(&self, pair: &Pair, number: usize) -> Header {
        self.headers[pair.first as usize..pair.end as usize][number]
    }

    /// The table that a selection stands for.
    #[must_use]
    pub fn table(&self, selection: &Selection) -> RouteTable {
        let mut table = RouteTable::empty(self.region.fabric());
        for (place, pair) in self.pairs.iter().enumerate() {
            let header = self.header(pair, selection.chosen(place));
            table.set(pair.source, pair.destination, header);
        }
        table
    }

    /// The channels of a pair's route `number`, from the source on.
    #[must_use]
    pub fn channels(&self, pair: &Pair, number: usize) -> &[Channel] {
        let hops = usize::from(pair.hops);
        &self.channels[pair.channels as usize + number * hops..][..hops]
    }
}

/// Finds the routes of one pair at a time.
struct Search<'r, 'f> {
    region: &'r Region<'f>,
    turns: &'r Turns,
    torus: &'f Torus,
    coordinates: Vec<u16>,
    steps: bool,
    whole: bool,
    /// What has been tried, with the hops.
    tried: Vec<(u32, Header, Route)>,
    found: Vec<(Header, Route)>,
}

/// The hops and the sign of a dimension's way.
type Way = (u32, bool);

/// Where the directions of a header start and end: behind its first and before its last step, which
/// are dimensions.
struct Ends {
    first: Option<u32>,
    start: u32,
    last: Option<u32>,
    end: u32,
}

impl Ends {
    fn steps(&self) -> u32 {
        u32::from(self.first.is_some()) + u32::from(self.last.is_some())
    }
}

impl<'r, 'f> Search<'r, 'f> {
    fn new(region: &'r Region<'f>, turns: &'r Turns, steps: bool) -> Self {
        let whole = region.is_whole_torus();
        let torus = region.fabric().torus();
        let coordinates = (0..torus.nodes())
            .flat_map(|node| torus.coordinates(node))
            .map(|coordinate| coordinate as u16)
            .collect();
        Self {
            region,
            turns,
            torus,
            coordinates,
            steps,
            whole,
            tried: Vec::new(),
            found: Vec::new(),
        }
    }

    fn coordinates(&self, node: u32) -> &[u16] {
        let dimensions = self.torus.dimensions();
        &self.coordinates[node as usize * dimensions..][..dimensions]
    }

    /// The channels of a route, which stays inside.
    fn walk(&self, source: u32, route: &Route, channels: &mut Vec<Channel>) {
        let mut at = source;
        channels.extend(route.ports().map(|port| {
            let channel = self.region.channel(at, u32::from(port));
            at = self.region.fabric().target(channel).expect("the route stays inside");
            channel
        }));
    }

    fn stays_inside(&self, source: u32, route: &Route) -> bool {
        let mut at = Some(source);
        for port in route.ports() {
            at = at.and_then(|node| self.region.step(node, u32::from(port)));
        }
        at.is_some()
    }

    /// Fills `found` with the pair's shortest legal routes.
    fn find(&mut self, source: u32, destination: u32) {
        self.found.clear();
        let distance = self.distance(source, destination);
        // Without turns against the order, steps add nothing to the routes of the torus' distance.
        self.try_headers(source, destination, self.steps && self.turns.any(), distance);
        self.keep_shortest(source);
        if self.found.is_empty() && !self.whole {
            self.try_headers(source, destination, self.steps, u32::MAX);
            self.keep_shortest(source);
        }
    }

    /// Moves the shortest of what was tried to `found`, as far as it stays inside.
    fn keep_shortest(&mut self, source: u32) {
        if self.tried.len() > 1 {
            self.tried.sort_by_key(|tried| tried.0);
        }
        let mut shortest = u32::MAX;
        for &(hops, header, route) in &self.tried {
            if hops > shortest {
                break;
            }
            if (self.whole || self.stays_inside(source, &route))
                && self.found.iter().all(|(_, other)| *other != route)
            {
                shortest = hops;
                self.found.push((header, route));
            }
        }
        self.tried.clear();
    }

    /// Hops between two nodes if nothing had failed.
    fn distance(&self, source: u32, destination: u32) -> u32 {
        let coordinates = self.coordinates(source).iter().zip(self.coordinates(destination));
        coordinates
            .zip(self.torus.sizes())
            .enumerate()
            .map(|(dimension, ((&from, &to), &size))| {
                let apart = u32::from(from.abs_diff(to));
                if self.torus.closed(dimension) { apart.min(size - apart) } else { apart }
            })
            .sum()
    }

    /// Tries headers of at most `longest` hops.
    fn try_headers(&mut self, source: u32, destination: u32, steps: bool, longest: u32) {
        let ends = Ends { first: None, start: source, last: None, end: destination };
        self.try_directions(&ends, longest);
        if !steps {
            return;
        }
        let dimensions = self.torus.dimensions() as u32;
        let options = || std::iter::once(None).chain((0..dimensions).map(Some));
        for (first, last) in options().flat_map(|first| options().map(move |last| (first, last))) {
            let start = match first {
                Some(direction) => self.region.step(source, direction),
                None => Some(source),
            };
            let end = match last {
                Some(dimension) => self.torus.neighbor(destination, dimension).filter(|&end| {
                    self.region.step(end, dimension + dimensions) == Some(destination)
                }),
                None => Some(destination),
            };
            if let (Some(start), Some(end)) = (start, end)
                && (first.is_some() || last.is_some())
            {
                self.try_directions(&Ends { first, start, last, end }, longest);
            }
        }
    }

    /// Tries all directions between the first and the last step.
    fn try_directions(&mut self, ends: &Ends, longest: u32) {
        let torus = self.torus;
        let mut ways: [[Option<Way>; 2]; MAXIMUM_DIMENSIONS] = Default::default();
        let mut least = ends.steps();
        let coordinates = self.coordinates(ends.start).iter().zip(self.coordinates(ends.end));
        for (dimension, (&from, &to)) in coordinates.enumerate() {
            if from == to {
                continue;
            }
            let (from, to) = (u32::from(from), u32::from(to));
            let (size, closed) = (torus.sizes()[dimension], torus.closed(dimension));
            let ahead = if to > from { to - from } else { to + size - from };
            let plus = (closed || to > from).then_some((ahead, true));
            let minus = (closed || to < from).then_some((size - ahead, false));
            ways[dimension] = match (plus, minus) {
                (Some(plus), Some(minus)) if minus.0 < plus.0 => [Some(minus), Some(plus)],
                (Some(_), _) => [plus, minus],
                _ => [minus, None],
            };
            least += ways[dimension][0].map_or(0, |way| way.0);
        }
        if least > longest {
            return;
        }
        // A longer way is a choice only if the hops left over allow it.
        for [shorter, longer] in &mut ways {
            if let (Some(shorter), Some(other)) = (shorter, *longer)
                && other.0 - shorter.0 > longest - least
            {
                *longer = None;
            }
        }
        let both = (0..torus.dimensions())
            .filter(|&dimension| ways[dimension][1].is_some())
            .fold(0u32, |set, dimension| set | 1 << dimension);
        let mut longer = 0u32;
        loop {
            self.try_ways(ends, &ways, longer, longest);
            longer = longer.wrapping_sub(both) & both;
            if longer == 0 {
                break;
            }
        }
    }

    /// Tries one way a dimension: the longer one in the dimensions that are set in `longer`.
    fn try_ways(
        &mut self,
        ends: &Ends,
        ways: &[[Option<Way>; 2]; MAXIMUM_DIMENSIONS],
        longer: u32,
        longest: u32,
    ) {
        let dimensions = self.torus.dimensions();
        let way = |dimension: usize| ways[dimension][(longer >> dimension & 1) as usize];
        let mut header = Header::default();
        let mut route = Route::default();
        let mut hops = ends.steps();
        if let Some(first) = ends.first {
            header = header.with_first_step(first as usize);
            route.push(first as u16, 1);
        }
        let (mut earliest, mut latest) = (None, None);
        for positive in [true, false] {
            for dimension in 0..dimensions {
                if let Some((way, sign)) = way(dimension)
                    && sign == positive
                {
                    let direction = dimension + if positive { 0 } else { dimensions };
                    header = header.with_direction(dimension, positive);
                    route.push(direction as u16, way as u16);
                    hops += way;
                    earliest = earliest.or(Some(direction as u32));
                    latest = Some(direction as u32);
                }
            }
        }
        if let Some(last) = ends.last {
            header = header.with_last_step(last as usize);
            route.push(last as u16 + dimensions as u16, 1);
        }
        if hops <= longest && self.steps_fit(ends, earliest, latest) {
            self.tried.push((hops, header, route));
        }
    }

    /// Whether first and last step go with the directions between them, of which the earliest and the
    /// latest are given. Steps that could as well be part of the directions are left out.
    fn steps_fit(&self, ends: &Ends, earliest: Option<u32>, latest: Option<u32>) -> bool {
        let (Some(earliest), Some(latest)) = (earliest, latest) else { return ends.steps() == 0 };
        let dimensions = self.torus.dimensions() as u32;
        let turn = |node, arrival: u32, departure: u32| {
            arrival.abs_diff(departure) != dimensions
                && arrival != departure
                && (arrival < departure || self.turns.allows(node, arrival, departure))
        };
        ends.first.is_none_or(|first| turn(ends.start, first, earliest))
            && ends.last.is_none_or(|last| turn(ends.end, latest, last + dimensions))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::test_fabric as fabric;

    #[test]
    fn half_rings_can_be_gone_both_ways() {
        let fabric = fabric(&[4, 4], &[]);
        let choices = Choices::new(Region::whole(&fabric), Freedoms::default());
        assert_eq!(choices.pairs().len(), 16 * 15);
        let routes = |source, destination| {
            let of = |pair: &&Pair| (pair.source, pair.destination) == (source, destination);
            choices.pairs().iter().find(of).unwrap().routes()
        };
        assert_eq!((routes(0, 1), routes(0, 2), routes(0, 10), routes(0, 6)), (1, 2, 4, 2));
    }

    #[test]
    fn a_route_of_each_choice_leads_from_source_to_destination_by_live_channels() {
        for (sizes, cables) in [
            (&[4, 2, 2, 2][..], &[][..]),
            (&[4, 4, 4], &[(0, 0), (17, 1), (40, 2)]),
            (&[2, 2], &[]),
        ] {
            let fabric = fabric(sizes, cables);
            let choices = Choices::new(Region::whole(&fabric), Freedoms::default());
            for pair in choices.pairs() {
                for number in 0..pair.routes() {
                    let mut at = pair.source;
                    for &channel in choices.channels(pair, number) {
                        assert_eq!(fabric.source(channel), at);
                        at = fabric.target(channel).unwrap();
                    }
                    assert_eq!(at, pair.destination);
                }
            }
        }
    }

    #[test]
    fn first_and_last_steps_route_pairs_that_direction_order_cannot() {
        let fabric = fabric(&[4, 4, 4], &[(0, 0), (0, 1), (0, 3)]);
        let unroutable = |first_and_last_steps, relaxation| {
            let freedoms = Freedoms { first_and_last_steps, relaxation };
            Choices::new(Region::whole(&fabric), freedoms).unroutable().len()
        };
        let (plain, steps, relaxed) =
            (unroutable(false, false), unroutable(true, false), unroutable(true, true));
        assert!(plain > steps && steps >= relaxed, "{plain} {steps} {relaxed}");
    }

    #[test]
    fn routes_stay_inside_the_region() {
        let fabric = fabric(&[4, 4], &[]);
        let box_of_six = [0, 1, 2, 4, 5, 6];
        let choices = Choices::new(Region::of(&fabric, &box_of_six), Freedoms::default());
        assert_eq!(choices.pairs().len(), 6 * 5);
        for pair in choices.pairs() {
            for number in 0..pair.routes() {
                for &channel in choices.channels(pair, number) {
                    assert!(box_of_six.contains(&fabric.target(channel).unwrap()));
                }
            }
        }
    }
}
