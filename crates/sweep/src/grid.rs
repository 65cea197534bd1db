//! All points of a sweep's grid, low loads first.

use std::collections::{HashMap, HashSet};
use std::mem::replace;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ends::{Ends, Place};
use crate::local::in_parallel;
use crate::points::{Obtained, PointError, obtain};
use crate::store::Store;
use flitlab_report::Status;
use flitlab_scenario::Point;
use flitlab_traffic::OfferedLoad;

/// What happens while the points of a grid are computed.
#[derive(Debug)]
pub enum GridEvent {
    /// A point, with its place.
    Point(usize, Box<Obtained>),
    /// So many points are left out by now, since their series have ended before them.
    LeftOut(usize),
}

/// Takes the points from the store or computes them, `threads` at a time, and hands each to `each` as
/// it comes. A series ends after so many loads in a row that do not
/// reach a steady state, if `ends_after` says so; returns the places of the points that are left
/// out by that, in ascending order. Some of them may have been computed and handed over before that
/// was known; they are forgotten.
///
/// # Errors
/// The first error of a point or of `each`.
pub fn run_grid<E: From<PointError>>(
    points: &[Point],
    ends_after: Option<usize>,
    store: &Store,
    threads: usize,
    mut each: impl FnMut(GridEvent) -> Result<(), E>,
) -> Result<Vec<usize>, E> {
    let front = Front::new(points, ends_after, store);
    let mut left_out = 0;
    let take = |number, obtained| {
        each(GridEvent::Point(number, Box::new(obtained)))?;
        let by_now = front.known().ends.left_out();
        if replace(&mut left_out, by_now) != by_now {
            each(GridEvent::LeftOut(by_now))?;
        }
        Ok::<(), E>(())
    };
    front.run(&low_loads_first(points), threads, |_| Ok(()), take)?;
    let left_out: Vec<usize> = (0..points.len()).filter(|&number| !front.holds(number)).collect();
    forget(points, &left_out, store)?;
    Ok(left_out)
}

/// Runs some points of a grid, `share`, in this order, like [`run_grid`], while other processes
/// compute the others. The points that others have kept tell whether a series has ended. Points
/// that turn out to be left out stay in the store.
///
/// # Errors
/// As [`run_grid`].
pub fn run_share<E: From<PointError>>(
    points: &[Point],
    share: &[usize],
    ends_after: Option<usize>,
    store: &Store,
    threads: usize,
    each: impl FnMut(usize, Obtained) -> Result<(), E>,
) -> Result<(), E> {
    let front = Front::new(points, ends_after, store);
    front.run(share, threads, |number| front.look_below(number), each)
}

/// The places of all points in the order in which they are computed: a series that ends costs least
/// if its low loads come first.
pub fn low_loads_first(points: &[Point]) -> Vec<usize> {
    let places = places(points);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&number| places[number].1);
    order
}

/// Forgets points that are left out, unless another series has the same. Their places ascend.
///
/// # Errors
/// If a file can't be removed.
pub fn forget(points: &[Point], left_out: &[usize], store: &Store) -> Result<(), PointError> {
    let name = |number: usize| points[number].identity.to_string();
    let others = (0..points.len()).filter(|number| left_out.binary_search(number).is_err());
    let needed: HashSet<String> = others.map(name).collect();
    for &number in left_out.iter().filter(|&&number| !needed.contains(&name(number))) {
        store.forget(&points[number].identity)?;
    }
    Ok(())
}

/// Facts about the series while their points are computed.
struct Front<'a> {
    points: &'a [Point],
    places: Vec<Place>,
    ends_after: Option<usize>,
    store: &'a Store,
    known: Mutex<Known>,
}

struct Known {
    ends: Ends,
    done: Vec<bool>,
}

impl<'a> Front<'a> {
    fn new(points: &'a [Point], ends_after: Option<usize>, store: &'a Store) -> Self {
        let places = places(points);
        let ends = Ends::new(ends_after, places.iter().copied());
        let known = Mutex::new(Known { ends, done: vec![false; points.len()] });
        Self { points, places, ends_after, store, known }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn done(&self, number: usize, status: Status) {
        let mut known = self.known();
        if !replace(&mut known.done[number], true) {
            known.ends.done(self.places[number], status);
        }
    }

    fn holds(&self, number: usize) -> bool {
        self.known().ends.holds(self.places[number])
    }

    /// Sees what others have kept of the lower loads of a point's series.
    fn look_below(&self, number: usize) -> Result<(), PointError> {
        let (series, rank) = self.places[number];
        let below = |&other: &usize| {
            let place = self.places[other];
            self.ends_after.is_some() && place.0 == series && place.1 < rank
        };
        for other in (0..self.points.len()).filter(below) {
            let done = self.known().done[other];
            if !done && let Some(point) = self.store.find(&self.points[other].identity)? {
                self.done(other, point.measured.status);
            }
        }
        Ok(())
    }

    fn run<E: From<PointError>>(
        &self,
        order: &[usize],
        threads: usize,
        look: impl Fn(usize) -> Result<(), PointError> + Sync,
        mut each: impl FnMut(usize, Obtained) -> Result<(), E>,
    ) -> Result<(), E> {
        let work = |&number: &usize| {
            let looked = look(number);
            if !self.holds(number) {
                return None;
            }
            let Point { identity, scenario, .. } = &self.points[number];
            let obtained = looked.and_then(|()| obtain(self.store, identity, scenario));
            if let Ok(obtained) = &obtained {
                self.done(number, obtained.point.measured.status);
            }
            Some((number, obtained))
        };
        in_parallel(order, threads, work, |done| match done {
            Some((number, obtained)) => each(number, obtained?),
            None => Ok(()),
        })
    }
}

/// Each point's series and the rank of its load in it. Fractions can't be compared with rates: a
/// series that has both has one rank only, and so does not end.
pub(crate) fn places(points: &[Point]) -> Vec<Place> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut series: Vec<Vec<usize>> = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let at = *numbers.entry(&point.series).or_insert(series.len());
        if at == series.len() {
            series.push(Vec::new());
        }
        series[at].push(number);
    }
    let mut places = vec![(0, 0); points.len()];
    for (at, members) in series.iter().enumerate() {
        let loads = comparable(points, members).unwrap_or_else(|| vec![0.0; members.len()]);
        let mut loads: Vec<(usize, f64)> = members.iter().copied().zip(loads).collect();
        loads.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (rank, same) in loads.chunk_by(|a, b| a.1 == b.1).enumerate() {
            for &(number, _) in same {
                places[number] = (at, rank);
            }
        }
    }
    places
}

/// The loads of a series' points if all are given the same way.
fn comparable(points: &[Point], members: &[usize]) -> Option<Vec<f64>> {
    let load = |number: &usize| {
        let workload = &points[*number].scenario.workload;
        match workload.load().filter(|_| !workload.is_finite())?.load {
            OfferedLoad::Fraction(fraction) => Some((true, fraction)),
            OfferedLoad::Payload(rate) => Some((false, rate.0 as f64)),
        }
    };
    let loads: Option<Vec<(bool, f64)>> = members.iter().map(load).collect();
    let loads = loads?;
    let same = loads.iter().all(|load| load.0 == loads[0].0);
    same.then(|| loads.into_iter().map(|load| load.1).collect())
}
