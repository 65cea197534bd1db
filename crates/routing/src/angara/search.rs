//! The search for the shortest legal routes of a pair, and for all from a source.
//!
//! Headers are tried: an optional first step, a direction for each dimension that is left to go, an
//! optional last step. In a whole torus whose rings allow the same turns all along, the routes from
//! one node serve all the others of its rings, moved.

use rayon::prelude::*;

use super::{Freedoms, Pair, Turns};
use crate::{Header, Region, Route};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Channel, MAXIMUM_DIMENSIONS, Torus};

/// The routes from one source, pair after pair.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    pub headers: Vec<Header>,
    pub channels: Vec<Channel>,
}

/// The routes from one source, and its pairs without a route.
#[derive(Default)]
pub(super) struct Found {
    pub pairs: Vec<Pair>,
    pub routes: Routes,
    pub unroutable: Vec<(u32, u32)>,
}

/// Data that the searches from all sources share.
pub(super) struct Finder<'r, 'f> {
    region: &'r Region<'f>,
    turns: Turns,
    steps: bool,
    whole: bool,
    coordinates: Vec<u16>,
    /// In a whole torus, if turns are the same all along its rings: the routes from the nodes whose
    /// coordinates in the closed dimensions are 0, by node. Those from other nodes are the same,
    /// moved.
    pub patterns: Vec<Option<Found>>,
}

impl<'r, 'f> Finder<'r, 'f> {
    pub fn new(region: &'r Region<'f>, freedoms: Freedoms) -> Self {
        let torus = region.torus();
        let coordinates = (0..torus.nodes())
            .flat_map(|node| torus.coordinates(node))
            .map(narrow::<u16>)
            .collect();
        let whole = region.is_whole_torus();
        let mut finder = Self {
            region,
            turns: freedoms.turns(region),
            steps: freedoms.first_and_last_steps,
            whole,
            coordinates,
            patterns: Vec::new(),
        };
        let mut closed = (0..torus.dimensions()).filter(|&at| torus.closed(at));
        if whole && closed.all(|dimension| finder.turns.are_even_along(torus, dimension)) {
            let pattern = |node| (finder.model(node) == node).then(|| finder.search_from(node));
            finder.patterns = (0..torus.nodes()).into_par_iter().map(pattern).collect();
        }
        finder
    }

    /// The node with the same coordinates but 0 in the closed dimensions.
    fn model(&self, node: u32) -> u32 {
        let torus = self.region.torus();
        let (mut model, mut stride) = (0, 1);
        for (dimension, &at) in self.coordinates(node).iter().enumerate() {
            model += if torus.closed(dimension) { 0 } else { stride * u32::from(at) };
            stride *= torus.sizes()[dimension];
        }
        model
    }

    fn coordinates(&self, node: u32) -> &[u16] {
        let dimensions = self.region.torus().dimensions();
        &self.coordinates[node as usize * dimensions..][..dimensions]
    }

    pub(crate) fn routes_from(&self, source: u32) -> Found {
        match self.patterns.get(self.model(source) as usize) {
            Some(Some(pattern)) => self.moved(pattern, source),
            _ => self.search_from(source),
        }
    }

    fn search_from(&self, source: u32) -> Found {
        let mut search = Search::new(self);
        let mut all = Found::default();
        for &destination in self.region.nodes().iter().filter(|&&node| node != source) {
            search.find(source, destination);
            let Some((_, route)) = search.found.first() else {
                all.unroutable.push((source, destination));
                continue;
            };
            all.pairs.push(Pair {
                source,
                destination,
                headers: narrow(all.routes.headers.len()),
                channels: narrow(all.routes.channels.len()),
                hops: narrow(route.hops()),
                routes: narrow(search.found.len()),
                turns: narrow(route.runs().len() - 1),
                weight: 1,
            });
            for (header, route) in &search.found {
                all.routes.headers.push(*header);
                search.walk(source, route, &mut all.routes.channels);
            }
        }
        all
    }

    /// The routes from a node's model, as routes from the node.
    fn moved(&self, pattern: &Found, source: u32) -> Found {
        let torus = self.region.torus();
        let (nodes, directions) = (torus.nodes(), torus.directions());
        let model = self.model(source);
        let from = self.coordinates(source);
        // Where each node comes to lie, and what comes to lie on each.
        let mut place = vec![0u32; nodes as usize];
        let mut origin = vec![0u32; nodes as usize];
        for node in 0..nodes {
            let mut moved = 0;
            let mut stride = 1;
            for (dimension, (&at, &by)) in self.coordinates(node).iter().zip(from).enumerate() {
                let size = torus.sizes()[dimension];
                let by = if torus.closed(dimension) { by } else { 0 };
                let sum = u32::from(at) + u32::from(by);
                moved += stride * if sum >= size { sum - size } else { sum };
                stride *= size;
            }
            place[node as usize] = moved;
            origin[moved as usize] = node;
        }
        let channel_place: Vec<Channel> = (0..nodes)
            .flat_map(|node| (0..directions).map(move |direction| (node, direction)))
            .map(|(node, direction)| place[node as usize] * directions + direction)
            .collect();
        let mut all = Found {
            pairs: Vec::with_capacity(pattern.pairs.len()),
            routes: Routes {
                headers: Vec::with_capacity(pattern.routes.headers.len()),
                channels: Vec::with_capacity(pattern.routes.channels.len()),
            },
            unroutable: Vec::new(),
        };
        for destination in (0..nodes).filter(|&node| node != source) {
            // The pattern has a pair for every node but its own.
            let origin = origin[destination as usize];
            let pair = &pattern.pairs[(origin - u32::from(origin > model)) as usize];
            let (headers, channels) = (pair.headers as usize, pair.channels as usize);
            let length = pair.routes() * usize::from(pair.hops);
            all.pairs.push(Pair {
                source,
                destination,
                headers: narrow(all.routes.headers.len()),
                channels: narrow(all.routes.channels.len()),
                ..*pair
            });
            all.routes.headers.extend(&pattern.routes.headers[headers..headers + pair.routes()]);
            let channels = &pattern.routes.channels[channels..channels + length];
            let moved = channels.iter().map(|&channel| channel_place[channel as usize]);
            all.routes.channels.extend(moved);
        }
        all
    }
}

/// Finds the routes of one pair at a time.
pub(super) struct Search<'s, 'r, 'f> {
    finder: &'s Finder<'r, 'f>,
    torus: &'f Torus,
    /// The headers that have been tried, with their hops and routes.
    tried: Vec<(u32, Header, Route)>,
    pub found: Vec<(Header, Route)>,
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

impl<'s, 'r, 'f> Search<'s, 'r, 'f> {
    pub fn new(finder: &'s Finder<'r, 'f>) -> Self {
        let torus = finder.region.torus();
        Self { finder, torus, tried: Vec::new(), found: Vec::new() }
    }

    /// The channels of a route, which stays inside.
    fn walk(&self, source: u32, route: &Route, channels: &mut Vec<Channel>) {
        let mut at = source;
        channels.extend(route.ports().map(|port| {
            let channel = self.finder.region.channel(at, u32::from(port));
            at = self.finder.region.fabric().target(channel).expect("the route stays inside");
            channel
        }));
    }

    fn stays_inside(&self, source: u32, route: &Route) -> bool {
        let mut at = Some(source);
        for port in route.ports() {
            at = at.and_then(|node| self.finder.region.step(node, u32::from(port)));
        }
        at.is_some()
    }

    /// Fills `found` with the pair's shortest legal routes.
    pub fn find(&mut self, source: u32, destination: u32) {
        self.found.clear();
        let distance = self.distance(source, destination);
        let (firsts, lasts) = self.useful_steps(source, destination);
        self.try_headers(source, destination, (firsts, lasts), distance);
        self.keep_shortest(source);
        if self.found.is_empty() && !self.finder.whole {
            let all = if self.finder.steps { (1 << self.torus.dimensions()) - 1 } else { 0 };
            self.try_headers(source, destination, (all, all), u32::MAX);
            self.keep_shortest(source);
        }
    }

    /// The dimensions, a bit each, in which a first and a last step can be part of a route of the
    /// torus' distance that goes against the direction order. Without that, it would be a route
    /// without steps.
    fn useful_steps(&self, source: u32, destination: u32) -> (u32, u32) {
        if !self.finder.steps || !self.finder.turns.any {
            return (0, 0);
        }
        let dimensions = self.torus.dimensions();
        let coordinates = (self.finder.coordinates(source), self.finder.coordinates(destination));
        let turns = &self.finder.turns;
        let (mut firsts, mut lasts) = (0, 0);
        for dimension in 0..dimensions {
            let (from, to) = (coordinates.0[dimension], coordinates.1[dimension]);
            if from == to {
                continue;
            }
            let positive: u32 = narrow(dimension);
            let negative: u32 = narrow(dimension + dimensions);
            let size = self.torus.sizes()[dimension];
            let apart = u32::from(from.abs_diff(to));
            let (ahead, behind) =
                if to > from { (apart, size - apart) } else { (size - apart, apart) };
            let closed = self.torus.closed(dimension);
            if (ahead <= behind || !closed) && (closed || to > from) {
                let start = self.finder.region.step(source, positive);
                if start.is_some_and(|start| turns.after(start, positive) != 0) {
                    firsts |= 1 << dimension;
                }
            }
            if (behind <= ahead || !closed) && (closed || to < from) {
                let end = self.torus.neighbor(destination, positive);
                if end.is_some_and(|end| turns.before(end) >> negative & 1 == 1) {
                    lasts |= 1 << dimension;
                }
            }
        }
        (firsts, lasts)
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
            if (self.finder.whole || self.stays_inside(source, &route))
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
        let coordinates =
            self.finder.coordinates(source).iter().zip(self.finder.coordinates(destination));
        coordinates
            .zip(self.torus.sizes())
            .enumerate()
            .map(|(dimension, ((&from, &to), &size))| {
                let apart = u32::from(from.abs_diff(to));
                if self.torus.closed(dimension) { apart.min(size - apart) } else { apart }
            })
            .sum()
    }

    /// Tries headers of at most `longest` hops, with a first and a last step in some of these
    /// dimensions, or none.
    fn try_headers(
        &mut self,
        source: u32,
        destination: u32,
        (firsts, lasts): (u32, u32),
        longest: u32,
    ) {
        let dimensions: u32 = narrow(self.torus.dimensions());
        let options = |set: u32| {
            let some = (0..dimensions).filter(move |dimension| set >> dimension & 1 == 1);
            std::iter::once(None).chain(some.map(Some))
        };
        let both = options(firsts).flat_map(|first| options(lasts).map(move |last| (first, last)));
        for (first, last) in both {
            let start = match first {
                Some(direction) => self.finder.region.step(source, direction),
                None => Some(source),
            };
            let end = match last {
                Some(dimension) => self.torus.neighbor(destination, dimension).filter(|&end| {
                    self.finder.region.step(end, dimension + dimensions) == Some(destination)
                }),
                None => Some(destination),
            };
            if let (Some(start), Some(end)) = (start, end) {
                self.try_directions(&Ends { first, start, last, end }, longest);
            }
        }
    }

    /// Tries all directions between the first and the last step.
    fn try_directions(&mut self, ends: &Ends, longest: u32) {
        let torus = self.torus;
        let mut ways: [[Option<Way>; 2]; MAXIMUM_DIMENSIONS] = Default::default();
        let mut least = ends.steps();
        let coordinates =
            self.finder.coordinates(ends.start).iter().zip(self.finder.coordinates(ends.end));
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
            route.push(narrow(first), 1);
        }
        let (mut earliest, mut latest) = (None, None);
        for positive in [true, false] {
            for dimension in 0..dimensions {
                if let Some((way, sign)) = way(dimension)
                    && sign == positive
                {
                    let direction: u32 = narrow(dimension + if positive { 0 } else { dimensions });
                    header = header.with_direction(dimension, positive);
                    route.push(narrow(direction), narrow(way));
                    hops += way;
                    earliest = earliest.or(Some(direction));
                    latest = Some(direction);
                }
            }
        }
        if let Some(last) = ends.last {
            header = header.with_last_step(last as usize);
            route.push(narrow(last as usize + dimensions), 1);
        }
        if hops <= longest && self.steps_fit(ends, earliest, latest) {
            self.tried.push((hops, header, route));
        }
    }

    /// Whether first and last step go with the directions between them, of which the earliest and
    /// the latest are given. Steps that could as well be part of the directions are left out.
    fn steps_fit(&self, ends: &Ends, earliest: Option<u32>, latest: Option<u32>) -> bool {
        let (Some(earliest), Some(latest)) = (earliest, latest) else { return ends.steps() == 0 };
        let dimensions: u32 = narrow(self.torus.dimensions());
        let turn = |node, arrival: u32, departure: u32| {
            arrival.abs_diff(departure) != dimensions
                && arrival != departure
                && (arrival < departure || self.finder.turns.allows(node, arrival, departure))
        };
        ends.first.is_none_or(|first| turn(ends.start, first, earliest))
            && ends.last.is_none_or(|last| turn(ends.end, latest, last + dimensions))
    }
}
