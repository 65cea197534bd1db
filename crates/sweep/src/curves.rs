//! Curves that find their loads, computed many at a time.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::curve::{Curve, Tried};
use crate::local::in_parallel_with_more;
use crate::points::{Obtained, Place, PointError, obtain};
use crate::store::Store;
use flitlab_report::{PointResult, Status};
use flitlab_scenario::simulation::{SetupError, Simulation};
use flitlab_scenario::{CurvePrecision, Point, Scenario, Sweep};

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
pub(crate) fn begin(scenario: &Scenario, precision: CurvePrecision) -> Result<Curve, SetupError> {
    let simulation = Simulation::new(scenario)?;
    let (bound, most) = simulation.bound_and_most();
    Ok(Curve::new(bound, most, precision))
}

/// How many repetitions a load has, if these are there: all, but where the highest load that is
/// sustained is looked for as far as the first of them that is not steady, which has decided.
fn repetitions(
    statuses: impl IntoIterator<Item = Option<Status>>,
    searches: bool,
) -> Option<usize> {
    let mut count = 0;
    for status in statuses {
        let is_steady = status? == Status::Steady;
        count += 1;
        if searches && !is_steady {
            break;
        }
    }
    Some(count)
}

/// What was measured at a load, from its repetitions.
pub(crate) fn tried<'a>(points: impl IntoIterator<Item = &'a PointResult>) -> Tried {
    let mut tried = Tried { sustained: true, latency: 0.0 };
    let mut count = 0.0;
    for point in points {
        tried.sustained &= point.measured.status == Status::Steady;
        tried.latency += point.measured.packet_latency_mean.map_or(0.0, |it| it.0 as f64);
        count += 1.0;
    }
    tried.latency /= f64::max(count, 1.0);
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
    let count = sweep.points_of_a_search();
    let mut curves = Vec::new();
    for &first in searches {
        let points = &sweep.points[first..first + count];
        let curve = begin(&points[0].scenario, precision).map_err(PointError::from)?;
        let (found, asked, told) = (BTreeMap::new(), HashSet::new(), HashSet::new());
        curves.push(Drawing { first, points, curve, found, asked, told });
    }
    // By curve: the lowest load and repetition that was not steady. None behind it is needed.
    let failed: Vec<Mutex<(u64, usize)>> =
        curves.iter().map(|_| Mutex::new((u64::MAX, usize::MAX))).collect();
    let mut first_jobs = Vec::new();
    for (number, curve) in curves.iter_mut().enumerate() {
        first_jobs.extend(curve.jobs(number));
    }
    let mut open = first_jobs.len();
    each(CurveEvent::Open(open))?;
    let all = sweep.points.as_slice();
    let work = |job: Job| {
        let (place, failed) = ((job.load.to_bits(), job.point), &failed[job.curve]);
        let failed = || failed.lock().unwrap_or_else(PoisonError::into_inner);
        if job.searches && place > *failed() {
            return (job, None);
        }
        let Point { identity, scenario, .. } = &all[job.point];
        let obtained = obtain(store, &identity.at_load(job.load), &scenario.at_load(job.load));
        if job.searches
            && let Ok(obtained) = &obtained
            && obtained.point.measured.status != Status::Steady
        {
            let mut failed = failed();
            *failed = place.min(*failed);
        }
        (job, Some(obtained))
    };
    let each_done = |(job, obtained): (Job, Option<Result<Obtained, PointError>>)| {
        let curve = &mut curves[job.curve];
        if let Some(obtained) = obtained {
            let of_load = curve.found.entry(job.load.to_bits()).or_default();
            of_load.insert(job.point, obtained?);
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
    /// Whether it is not needed once a lower load, or an earlier repetition, is not steady.
    searches: bool,
}

/// A curve while it is drawn.
struct Drawing<'p> {
    /// The place of its first point.
    first: usize,
    /// Its repetitions.
    points: &'p [Point],
    curve: Curve,
    /// By the bits of the load, then the place of the point: what is there and not told.
    found: BTreeMap<u64, BTreeMap<usize, Obtained>>,
    /// The bits of the loads that are computed.
    asked: HashSet<u64>,
    /// The points that are part of the curve: the bits of the load, and the place.
    told: HashSet<(u64, usize)>,
}

impl Drawing<'_> {
    /// The points that its curve wants and that are not asked for, low loads first.
    fn jobs(&mut self, number: usize) -> impl Iterator<Item = Job> {
        let (first, count, searches) = (self.first, self.points.len(), self.curve.searches());
        let wanted = self.curve.wanted().iter().copied();
        let new: Vec<f64> = wanted.filter(|load| self.asked.insert(load.to_bits())).collect();
        new.into_iter().flat_map(move |load| {
            (first..first + count).map(move |point| Job { curve: number, point, load, searches })
        })
    }

    /// Tells the curve what is there of what it waits for, and hands it on.
    fn take<E>(&mut self, each: &mut impl FnMut(CurveEvent) -> Result<(), E>) -> Result<(), E> {
        while let Some(load) = self.curve.wanted().front().map(|load| load.to_bits()) {
            let Some(found) = self.found.get_mut(&load) else { return Ok(()) };
            let status = |it: &Obtained| it.point.measured.status;
            let places = self.first..self.first + self.points.len();
            let statuses = places.map(|point| found.get(&point).map(status));
            let Some(count) = repetitions(statuses, self.curve.searches()) else { return Ok(()) };
            let _others = found.split_off(&(self.first + count));
            let found = self.found.remove(&load).unwrap_or_default();
            self.curve.tell(tried(found.values().map(|obtained| &obtained.point)));
            for (point, obtained) in found {
                self.told.insert((load, point));
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

/// Removes points from the store that were asked for, and are no part of the curves.
fn forget_others(curves: &[Drawing<'_>], store: &Store) -> Result<(), PointError> {
    // Two curves may have points in common.
    let (mut told, mut others) = (HashSet::new(), Vec::new());
    for curve in curves {
        for &load in &curve.asked {
            for (point, it) in (curve.first..).zip(curve.points) {
                let identity = it.identity.at_load(f64::from_bits(load));
                if curve.told.contains(&(load, point)) {
                    told.insert(identity.to_string());
                } else {
                    others.push(identity);
                }
            }
        }
    }
    for identity in others.iter().filter(|it| !told.contains(&it.to_string())) {
        store.forget(identity)?;
    }
    Ok(())
}

/// Goes through a curve as far as its points are in a folder of results, and hands these to `each`,
/// with the number of the repetition and the load. Returns whether all are there.
///
/// # Errors
/// If a point can't be read, the scenario can't be simulated, and those of `each`.
pub(crate) fn look_up<E: From<PointError>>(
    points: &[Point],
    precision: CurvePrecision,
    results: &Path,
    mut each: impl FnMut((usize, f64), PointResult) -> Result<(), E>,
) -> Result<bool, E> {
    let mut curve = begin(&points[0].scenario, precision).map_err(PointError::from)?;
    while let Some(&load) = curve.wanted().front() {
        let mut found = Vec::new();
        for point in points {
            let stored = Store::look_up(results, &point.identity.at_load(load));
            found.push(stored.map_err(PointError::from)?);
        }
        let statuses = found.iter().map(|it| it.as_ref().map(|it| it.measured.status));
        let count = repetitions(statuses, curve.searches());
        found.truncate(count.unwrap_or(found.len()));
        if count.is_some() {
            curve.tell(tried(found.iter().flatten()));
        }
        for (repetition, stored) in found.into_iter().enumerate() {
            stored.map_or(Ok(()), |stored| each((repetition, load), stored))?;
        }
        if count.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
