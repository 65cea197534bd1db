//! The search for the shortest legal routes of a pair.
//!
//! Headers are tried: an optional first step, a direction for each dimension that is left to go, an
//! optional last step.

use super::{Freedoms, Turns};
use crate::Region;
use flitlab_base::narrow::narrow;
use flitlab_fabric::{MAXIMUM_DIMENSIONS, Torus};
use flitlab_routing::Offsets;
use flitlab_routing::{Header, Route};

/// Data that the searches from all sources share.
pub(super) struct Finder<'r, 'f> {
    region: &'r Region<'f>,
    turns: Turns,
    steps: bool,
    whole: bool,
    pub offsets: Offsets,
}

impl<'r, 'f> Finder<'r, 'f> {
    pub fn new(region: &'r Region<'f>, freedoms: Freedoms) -> Self {
        Self {
            region,
            turns: freedoms.turns(region),
            steps: freedoms.first_and_last_steps,
            whole: region.is_whole_torus(),
            offsets: Offsets::new(region.torus()),
        }
    }

    /// Whether the routes from one node serve all the others of its rings, moved: in a whole torus
    /// whose rings allow the same turns all along.
    pub fn is_even(&self) -> bool {
        let torus = self.region.torus();
        let closed: Vec<usize> = (0..torus.dimensions()).filter(|&at| torus.closed(at)).collect();
        let is_even_along = |&dimension: &usize| self.turns.are_even_along(torus, dimension);
        self.whole && !closed.is_empty() && closed.iter().all(is_even_along)
    }

    fn coordinates(&self, node: u32) -> &[u16] {
        self.offsets.coordinates(node)
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
        let distance = self.finder.offsets.hops(source, destination);
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
