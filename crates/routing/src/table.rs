//! A table of headers for every pair of a fabric's routers.

use super::offsets::Offsets;
use super::{Header, Route};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Fabric, NONE};

/// A header for each source and destination. Some pairs may have none, and some several, which
/// their source takes in turn.
#[derive(Clone, Debug)]
pub struct RouteTable {
    routers: u32,
    /// Of several routes the first.
    headers: Headers,
    /// By source, then destination: the place in `several`, or [`NONE`]; empty if no pair has
    /// several.
    places: Vec<u32>,
    several: Vec<Several>,
}

/// The headers of all pairs.
#[derive(Clone, Debug)]
enum Headers {
    /// By source, then destination: four bytes a pair.
    ByPair(Vec<Option<Header>>),
    /// By row of the source, then where the destination lies from it ([`Offsets::offset`]).
    ByOffset {
        offsets: Offsets,
        /// By source.
        row: Vec<u32>,
        rows: Vec<Option<Header>>,
    },
}

impl PartialEq for RouteTable {
    /// Compares the routes, however they are kept.
    fn eq(&self, other: &Self) -> bool {
        self.routers == other.routers
            && self.places == other.places
            && self.several == other.several
            && (0..self.routers).all(|source| {
                (0..self.routers).all(|to| self.header(source, to) == other.header(source, to))
            })
    }
}

impl Eq for RouteTable {}

/// The routes of a pair that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Several {
    /// Different headers, each with how many packets of a round take it.
    routes: Vec<(Header, u8)>,
    /// The packets of a round in turn: the number of the route of each.
    round: Vec<u8>,
}

/// Most packets of a round, and so the most routes of a pair.
pub const MAX_ROUND: usize = u8::MAX as usize;

impl Several {
    /// Each packet takes the route that is farthest behind its count, the first of equal ones: so
    /// at no time has any route had a packet more than its share, or lacked one.
    fn new(routes: Vec<(Header, u8)>) -> Self {
        let total = routes.iter().map(|it| i32::from(it.1)).sum();
        let mut behind = vec![0; routes.len()];
        let round = (0..total).map(|_| {
            for (behind, route) in behind.iter_mut().zip(&routes) {
                *behind += i32::from(route.1);
            }
            let most = behind.iter().copied().max().expect("a pair has routes");
            let next = behind.iter().position(|&it| it == most).expect("it is one of them");
            behind[next] -= total;
            narrow(next)
        });
        Self { round: round.collect(), routes }
    }
}

impl RouteTable {
    /// A table without any route.
    pub fn empty(fabric: &Fabric) -> Self {
        let routers = fabric.routers();
        let headers = vec![None; routers as usize * routers as usize];
        Self::of_headers(routers, Headers::ByPair(headers))
    }

    /// A table whose routes follow from where a destination lies from its source, in the row that
    /// `row` names for the source: a header for each offset, row after row.
    pub fn by_offset(
        fabric: &Fabric,
        offsets: Offsets,
        row: Vec<u32>,
        rows: Vec<Option<Header>>,
    ) -> Self {
        Self::of_headers(fabric.routers(), Headers::ByOffset { offsets, row, rows })
    }

    fn of_headers(routers: u32, headers: Headers) -> Self {
        Self { routers, headers, places: Vec::new(), several: Vec::new() }
    }

    /// A table in which `header` gives the header from one router to another.
    pub fn new(fabric: &Fabric, mut header: impl FnMut(u32, u32) -> Header) -> Self {
        let mut table = Self::empty(fabric);
        for source in 0..table.routers {
            for destination in 0..table.routers {
                table.set(source, destination, header(source, destination));
            }
        }
        table
    }

    /// This table for what is left of a fabric, with the routes that `old` has for all pairs between
    /// which each of them is still there.
    ///
    /// # Panics
    /// If `old` has a header that does not lead to its destination.
    pub fn keeping(&self, left: &Fabric, old: &Self) -> Self {
        let mut kept = Self::empty(left);
        let live = |route: &Route, source: u32| {
            let mut at = Some(source);
            for port in route.ports() {
                at = at.and_then(|at| left.target(left.outputs(at).start + u32::from(port)));
            }
            at.is_some()
        };
        for source in 0..self.routers {
            for destination in 0..self.routers {
                let is_whole =
                    |header: &Header| live(&leading(*header, left, (source, destination)), source);
                let was = old.headers(source, destination);
                let stays = !was.is_empty() && was.iter().all(|(header, _)| is_whole(header));
                let new = self.headers(source, destination);
                // Nodes that have failed have no routes any more.
                let routes = if stays && !new.is_empty() { was } else { new };
                if !routes.is_empty() {
                    kept.set_several(source, destination, &routes);
                }
            }
        }
        kept
    }

    /// Sets the header of a pair that has not several.
    ///
    /// # Panics
    /// If the pair has several.
    pub fn set(&mut self, source: u32, destination: u32, header: Header) {
        assert!(self.several(source, destination).is_none(), "one of several is not replaced");
        let place = self.place(source, destination);
        self.by_pair()[place] = Some(header);
    }

    /// The headers by source, then destination, from now on.
    fn by_pair(&mut self) -> &mut Vec<Option<Header>> {
        if let Headers::ByOffset { .. } = self.headers {
            let pairs =
                (0..self.routers).flat_map(|from| (0..self.routers).map(move |to| (from, to)));
            self.headers = Headers::ByPair(pairs.map(|(from, to)| self.header(from, to)).collect());
        }
        match &mut self.headers {
            Headers::ByPair(headers) => headers,
            Headers::ByOffset { .. } => unreachable!("just replaced"),
        }
    }

    /// Sets the routes of a pair, each with how many packets of a round take it: the source sends
    /// the pair's packets in rounds, as evenly mixed as can be.
    ///
    /// # Panics
    /// If there is no route, a count is 0, two routes are equal, the counts add up to more than
    /// [`MAX_ROUND`], or the pair has several already.
    pub fn set_several(&mut self, source: u32, destination: u32, routes: &[(Header, u8)]) {
        let total: usize = routes.iter().map(|it| usize::from(it.1)).sum();
        assert!(total <= MAX_ROUND && routes.iter().all(|it| it.1 > 0), "{routes:?}");
        let is_new = |(number, route): (usize, &(Header, u8))| {
            routes[..number].iter().all(|other| other.0 != route.0)
        };
        assert!(routes.iter().enumerate().all(is_new), "a route twice: {routes:?}");
        self.set(source, destination, routes[0].0);
        if routes.len() > 1 {
            let place = self.place(source, destination);
            if self.places.is_empty() {
                self.places = vec![NONE; self.by_pair().len()];
            }
            self.places[place] = narrow(self.several.len());
            self.several.push(Several::new(routes.to_vec()));
        }
    }

    /// The header that the source writes for this destination, of several the first; `None` if the
    /// pair has none.
    pub fn header(&self, source: u32, destination: u32) -> Option<Header> {
        match &self.headers {
            Headers::ByPair(headers) => headers[self.place(source, destination)],
            Headers::ByOffset { offsets, row, rows } => {
                let first = row[source as usize] as usize * self.routers as usize;
                rows[first + offsets.offset(source, destination) as usize]
            }
        }
    }

    /// The headers of a pair, each with how many packets of a round take it; none if the pair has
    /// none.
    pub fn headers(&self, source: u32, destination: u32) -> Vec<(Header, u8)> {
        match self.several(source, destination) {
            Some(several) => several.routes.clone(),
            None => {
                self.header(source, destination).map(|header| (header, 1)).into_iter().collect()
            }
        }
    }

    /// Whether some pair has several routes.
    pub fn has_several(&self) -> bool {
        !self.several.is_empty()
    }

    /// How many pairs have several routes.
    pub fn pairs_with_several(&self) -> usize {
        self.several.len()
    }

    /// Whether this pair has several routes.
    pub fn has_several_between(&self, source: u32, destination: u32) -> bool {
        self.several(source, destination).is_some()
    }

    fn several(&self, source: u32, destination: u32) -> Option<&Several> {
        let place = *self.places.get(self.place(source, destination))?;
        (place != NONE).then(|| &self.several[place as usize])
    }

    fn place(&self, source: u32, destination: u32) -> usize {
        source as usize * self.routers as usize + destination as usize
    }

    /// The route of a pair, of several the first.
    ///
    /// # Panics
    /// If the table has no header for the pair, or one that does not lead there.
    pub fn route(&self, fabric: &Fabric, source: u32, destination: u32) -> Route {
        let header = self.header(source, destination).filter(|_| source != destination);
        leading(header.unwrap_or_default(), fabric, (source, destination))
    }

    /// The route of a pair's next packet. `turn` is its place in the round; it is set to that of the
    /// packet behind it, and stays 0 where there is one route only.
    ///
    /// # Panics
    /// As [`Routes::source_route`](crate::Routes::source_route).
    pub fn route_in_turn(
        &self,
        fabric: &Fabric,
        (source, destination): (u32, u32),
        turn: &mut u8,
    ) -> Route {
        let Some(Several { routes, round }) = self.several(source, destination) else {
            return self.route(fabric, source, destination);
        };
        let number = round[usize::from(*turn)];
        *turn = if usize::from(*turn) + 1 == round.len() { 0 } else { *turn + 1 };
        leading(routes[usize::from(number)].0, fabric, (source, destination))
    }

    /// Calls `each` with every route of a pair, and with the share of its packets that take it.
    ///
    /// # Panics
    /// If the table has no header for the pair, or one that does not lead there.
    pub fn for_each_route(
        &self,
        fabric: &Fabric,
        (source, destination): (u32, u32),
        mut each: impl FnMut(&Route, f64),
    ) {
        let Some(Several { routes, round }) = self.several(source, destination) else {
            return each(&self.route(fabric, source, destination), 1.0);
        };
        for &(header, count) in routes {
            let share = f64::from(count) / round.len() as f64;
            each(&leading(header, fabric, (source, destination)), share);
        }
    }
}

fn leading(header: Header, fabric: &Fabric, (source, destination): (u32, u32)) -> Route {
    let route = header.route(fabric.coordinates(), source, destination);
    route.expect("a table that is used has been checked")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_fabric as fabric;

    /// After any number of packets each route has had its share of them, but for less than one.
    #[test]
    fn routes_are_taken_in_turn_by_their_counts() {
        let fabric = fabric(&[4, 4], &[]);
        let way = |x, y| Header::default().with_direction(0, x).with_direction(1, y);
        for counts in [[1, 1, 1, 1], [7, 1, 3, 1], [60, 40, 19, 1], [1, 200, 1, 53]] {
            let headers = [way(true, true), way(true, false), way(false, true), way(false, false)];
            let routes: Vec<_> = headers.into_iter().zip(counts).collect();
            let mut table = RouteTable::empty(&fabric);
            table.set_several(0, 10, &routes);
            let total: i32 = counts.iter().map(|&count| i32::from(count)).sum();
            let (mut turn, mut taken) = (0, [0; 4]);
            for packet in 1..=2 * total {
                let route = table.route_in_turn(&fabric, (0, 10), &mut turn);
                let leads = |it: &Header| it.route(fabric.coordinates(), 0, 10).unwrap() == route;
                taken[headers.iter().position(leads).unwrap()] += 1;
                for (taken, count) in taken.iter().zip(counts) {
                    let share = f64::from(packet) * f64::from(count) / f64::from(total);
                    assert!((f64::from(*taken) - share).abs() < 1.0, "{counts:?} {packet}");
                }
            }
            assert_eq!(taken.map(i32::from), counts.map(|it| 2 * i32::from(it)));
        }
    }

    #[test]
    fn a_single_route_among_several_is_no_choice() {
        let fabric = fabric(&[4, 4], &[]);
        let header = Header::default().with_direction(0, true);
        let mut table = RouteTable::empty(&fabric);
        table.set_several(0, 1, &[(header, 3)]);
        assert!(!table.has_several() && table.headers(0, 1) == [(header, 1)]);
        assert!(table.headers(0, 2).is_empty());
        let mut turn = 0;
        let route = table.route_in_turn(&fabric, (0, 1), &mut turn);
        assert_eq!((route.hops(), turn), (1, 0));
    }
}
