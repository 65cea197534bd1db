//! All points of a sweep's grid, low loads first.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use super::ends::{Ends, Place};
use super::local::in_parallel;
use super::points::{Obtained, PointError, obtain};
use super::store::Store;
use crate::scenario::{Point, WorkloadSpec};
use crate::traffic::OfferedLoad;

/// Takes the points from the store or computes them, `threads` at a time, and hands each, with its place
/// in `points`, to `each` as it comes. A series ends after so many loads in a row that do not reach a
/// steady state, if `ends_after` says so; returns the places of the points that are left out by that,
/// in ascending order. Some of them may have been computed and handed over before that was known; they are
/// forgotten.
///
/// # Errors
/// The first error of a point or of `each`.
pub fn run_grid<E: From<PointError>>(
    points: &[Point],
    ends_after: Option<usize>,
    store: &Store,
    threads: usize,
    mut each: impl FnMut(usize, Obtained) -> Result<(), E>,
) -> Result<Vec<usize>, E> {
    let places = places(points);
    let ends = Mutex::new(Ends::new(ends_after, places.iter().copied()));
    let locked = || ends.lock().unwrap_or_else(PoisonError::into_inner);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&number| places[number].1);
    let work = |&number: &usize| {
        if !locked().holds(places[number]) {
            return None;
        }
        let point = &points[number];
        let obtained = obtain(store, &point.identity, &point.scenario);
        if let Ok(obtained) = &obtained {
            locked().done(places[number], obtained.point.row.status);
        }
        Some((number, obtained))
    };
    in_parallel(&order, threads, work, |done| match done {
        Some((number, obtained)) => each(number, obtained?),
        None => Ok(()),
    })?;
    let ends = locked();
    let left_out: Vec<usize> =
        (0..points.len()).filter(|&number| !ends.holds(places[number])).collect();
    forget(points, &left_out, store)?;
    Ok(left_out)
}

/// Forgets points that are left out, unless another series has the same.
fn forget(points: &[Point], left_out: &[usize], store: &Store) -> Result<(), PointError> {
    let name = |number: usize| points[number].identity.to_string();
    let others = (0..points.len()).filter(|number| left_out.binary_search(number).is_err());
    let needed: HashSet<String> = others.map(name).collect();
    for &number in left_out.iter().filter(|&&number| !needed.contains(&name(number))) {
        store.forget(&points[number].identity)?;
    }
    Ok(())
}

/// Each point's series and the rank of its load in it. Fractions can't be compared with rates: a series
/// that has both has one rank only, and so does not end.
pub(super) fn places(points: &[Point]) -> Vec<Place> {
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
    let load = |number: &usize| match &points[*number].scenario.workload {
        WorkloadSpec::Load(spec) => match spec.load {
            OfferedLoad::Fraction(fraction) => Some((true, fraction)),
            OfferedLoad::Payload(rate) => Some((false, rate.0 as f64)),
        },
        WorkloadSpec::Exchange(_) => None,
    };
    let loads: Option<Vec<(bool, f64)>> = members.iter().map(load).collect();
    let loads = loads?;
    let same = loads.iter().all(|load| load.0 == loads[0].0);
    same.then(|| loads.into_iter().map(|load| load.1).collect())
}
