//! Curves that find their loads, computed many at a time.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::curve::{Curve, Tried};
use super::local::in_parallel_with_more;
use super::points::{Obtained, Place, PointError, obtain};
use super::saturation::bound_and_most;
use super::simulation::{SetupError, Simulation};
use super::store::Store;
use crate::{CurvePrecision, Point, Scenario, Sweep};
use flitlab_report::{PointResult, Status};

/// What happens while curves are drawn.
#[derive(Debug)]
pub enum CurveEvent {
    /// So many points are wanted and not done yet; there may be more later.
    Open(usize),
    Point(Place, Box<Obtained>),
    /// A curve is finished; the number is that of the first of its points.
    Finished(usize),
}

/// Begins the curve of a scenario.
pub(super) fn begin(scenario: &Scenario, precision: CurvePrecision) -> Result<Curve, SetupError> {
    let simulation = Simulation::new(scenario)?;
    let (bound, most) = bound_and_most(&simulation);
    Ok(Curve::new(bound, most, precision))
}

/// What was measured at a load, from all repetitions.
pub(super) fn tried<'a>(points: impl ExactSizeIterator<Item = &'a PointResult>) -> Tried {
    let count = points.len().max(1) as f64;
    let mut tried = Tried { sustained: true, latency: 0.0 };
    for point in points {
        tried.sustained &= point.measured.status == Status::Steady;
        let latency = point.measured.packet_latency_mean.map_or(0.0, |latency| latency.0 as f64);
        tried.latency += latency / count;
    }
    tried
}

/// Draws the curves that begin at these places of the sweep's points. Points are taken from the
/// store, or computed and kept, `threads` at a time, each on one thread; a curve hands its points to
/// `each` with ascending loads, as far as they are asked for together. What was computed and turned
/// out to be no part of a curve is forgotten.
///
/// # Errors
/// The first error of a point or of `each`.
pub fn run_curves<E: From<PointError>>(
    sweep: &Sweep,
    precision: CurvePrecision,
    searches: &[usize],
    store: &Store,
    threads: usize,
    mut each: impl FnMut(CurveEvent) -> Result<(), E>,
) -> Result<(), E> {
    let repetitions = sweep.points_of_a_search();
    let mut curves = Vec::new();
    for &first in searches {
        let points = &sweep.points[first..first + repetitions];
        let curve = begin(&points[0].scenario, precision).map_err(PointError::from)?;
        curves.push(Drawing {
            first,
            points,
            curve,
            found: BTreeMap::new(),
            asked: HashSet::new(),
        });
    }
    // By curve: the bits of the lowest load at which a repetition was not steady.
    let failed: Vec<AtomicU64> = curves.iter().map(|_| AtomicU64::new(u64::MAX)).collect();
    let mut first_jobs = Vec::new();
    for (number, curve) in curves.iter_mut().enumerate() {
        first_jobs.extend(curve.jobs(number));
    }
    let mut open = first_jobs.len();
    each(CurveEvent::Open(open))?;
    let all = sweep.points.as_slice();
    let work = |job: Job| {
        if job.climbs && job.load.to_bits() > failed[job.curve].load(Ordering::Relaxed) {
            return (job, None);
        }
        let Point { identity, scenario, .. } = &all[job.point];
        let obtained = obtain(store, &identity.at_load(job.load), &scenario.at_load(job.load));
        if job.climbs
            && let Ok(obtained) = &obtained
            && obtained.point.measured.status != Status::Steady
        {
            failed[job.curve].fetch_min(job.load.to_bits(), Ordering::Relaxed);
        }
        (job, Some(obtained))
    };
    let each_done = |(job, obtained): (Job, Option<Result<Obtained, PointError>>)| {
        let curve = &mut curves[job.curve];
        if let Some(obtained) = obtained {
            let of_load = curve.found.entry(job.load.to_bits()).or_default();
            of_load.push((job.point, obtained?));
            curve.take(&mut each)?;
        }
        let more: Vec<Job> = curve.jobs(job.curve).collect();
        open = open - 1 + more.len();
        each(CurveEvent::Open(open))?;
        Ok::<_, E>(more)
    };
    in_parallel_with_more(first_jobs, threads, work, each_done)?;
    forget_others(&curves, store)?;
    Ok(())
}

/// A load of a curve's point.
#[derive(Clone, Copy, Debug)]
struct Job {
    curve: usize,
    point: usize,
    load: f64,
    /// Whether it is not needed once a lower load is not sustained.
    climbs: bool,
}

/// A curve while it is drawn.
struct Drawing<'p> {
    /// The place of its first point.
    first: usize,
    /// Its repetitions.
    points: &'p [Point],
    curve: Curve,
    /// By the bits of the load: what is there and not told, with the places of the points.
    found: BTreeMap<u64, Vec<(usize, Obtained)>>,
    /// The bits of the loads that are computed.
    asked: HashSet<u64>,
}

impl Drawing<'_> {
    /// The points that its curve wants and that are not asked for, low loads first.
    fn jobs(&mut self, number: usize) -> impl Iterator<Item = Job> {
        let (first, count, climbs) = (self.first, self.points.len(), self.curve.climbs());
        let wanted = self.curve.wanted().iter().copied();
        let new: Vec<f64> = wanted.filter(|load| self.asked.insert(load.to_bits())).collect();
        new.into_iter().flat_map(move |load| {
            (first..first + count).map(move |point| Job { curve: number, point, load, climbs })
        })
    }

    /// Tells the curve what is there of what it waits for, and hands it on.
    fn take<E>(&mut self, each: &mut impl FnMut(CurveEvent) -> Result<(), E>) -> Result<(), E> {
        while let Some(load) = self.curve.wanted().front().map(|load| load.to_bits()) {
            if self.found.get(&load).is_none_or(|found| found.len() < self.points.len()) {
                return Ok(());
            }
            let mut found = self.found.remove(&load).unwrap_or_default();
            found.sort_by_key(|(point, _)| *point);
            self.curve.tell(tried(found.iter().map(|(_, obtained)| &obtained.point)));
            for (point, obtained) in found {
                let place = Place { load: Some(f64::from_bits(load)), ..Place::of_point(point) };
                each(CurveEvent::Point(place, Box::new(obtained)))?;
            }
            if self.curve.wanted().is_empty() {
                each(CurveEvent::Finished(self.first))?;
            }
        }
        Ok(())
    }
}

/// Removes points from the store that are no part of the curves, and of no other one.
fn forget_others(curves: &[Drawing<'_>], store: &Store) -> Result<(), PointError> {
    let identities = |curve: &Drawing<'_>, loads: &[f64]| {
        let of_load = |&load: &f64| curve.points.iter().map(move |it| it.identity.at_load(load));
        loads.iter().flat_map(of_load).collect::<Vec<_>>()
    };
    let needed: HashSet<String> = curves
        .iter()
        .flat_map(|curve| identities(curve, &curve.curve.loads()))
        .map(|identity| identity.to_string())
        .collect();
    for curve in curves {
        let others: Vec<f64> = curve.found.keys().map(|&load| f64::from_bits(load)).collect();
        for identity in identities(curve, &others) {
            if !needed.contains(&identity.to_string()) {
                store.forget(&identity)?;
            }
        }
    }
    Ok(())
}

/// Goes through a curve as far as its points are in a folder of results, and hands these to `each`,
/// with the number of the repetition and the load. Returns whether all are there.
///
/// # Errors
/// If a point can't be read, the scenario can't be simulated, and those of `each`.
pub(super) fn look_up<E: From<PointError>>(
    points: &[Point],
    precision: CurvePrecision,
    results: &Path,
    mut each: impl FnMut((usize, f64), PointResult) -> Result<(), E>,
) -> Result<bool, E> {
    let mut curve = begin(&points[0].scenario, precision).map_err(PointError::from)?;
    while let Some(&load) = curve.wanted().front() {
        let mut found = Vec::new();
        for (repetition, point) in points.iter().enumerate() {
            let stored = Store::look_up(results, &point.identity.at_load(load));
            found.extend(stored.map_err(PointError::from)?.map(|stored| (repetition, stored)));
        }
        let is_whole = found.len() == points.len();
        if is_whole {
            curve.tell(tried(found.iter().map(|(_, stored)| stored)));
        }
        for (repetition, stored) in found {
            each((repetition, load), stored)?;
        }
        if !is_whole {
            return Ok(false);
        }
    }
    Ok(true)
}
