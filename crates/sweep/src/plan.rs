//! How far the points of a sweep are, seen from those that are kept, and how long the others will
//! take.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::curve::Tried;
use crate::curves;
use crate::ends::{Ends, Place};
use crate::grid::places;
use crate::points::{self, PointError};
use crate::saturation::search_saturation;
use crate::store::Store;
use flitlab_base::narrow::narrow;
use flitlab_measure::{Saturation, bisect};
use flitlab_report::PointResult;
use flitlab_report::Status;
use flitlab_scenario::simulation::{Pace, SetupError};
use flitlab_scenario::{CurvePrecision, Loads, Point, Scenario, Sweep};

/// For all moments that are simulated to see what points cost, together, and for each at most.
const ALL_REHEARSALS: Duration = Duration::from_secs(3);
const REHEARSAL: Duration = Duration::from_millis(200);

/// The most series that are rehearsed.
const MAX_REHEARSED: usize = 64;

/// How far a point of a sweep, or a search for saturation, is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Missing,
    /// It is kept.
    Finished,
    /// Its series has ended before it.
    LeftOut,
}

/// What is expected of a point that is not in the store.
#[derive(Clone, Debug)]
struct Expected {
    /// Those of the loads that are tried for it, in their order.
    times: Vec<Duration>,
    past_saturation: bool,
}

/// How far each point, or search, of a sweep is, and the ends of finished searches with their
/// places.
pub type Survey = (Vec<Progress>, Vec<(usize, Saturation)>);

/// How far each point, or search, of a sweep is, from the points in a folder of results, and the
/// ends of searches that are finished, with their places. Nothing is computed.
///
/// Points that are there are handed to `each` with their places, also if they turn out to be left
/// out.
///
/// # Errors
/// If a point can't be read, a scenario of a search can't be simulated, and those of `each`.
pub fn survey<E: From<PointError>>(
    sweep: &Sweep,
    results: &Path,
    mut each: impl FnMut(points::Place, PointResult) -> Result<(), E>,
) -> Result<Survey, E> {
    let is_finished = |is: bool| if is { Progress::Finished } else { Progress::Missing };
    let (mut progress, mut ends) = (Vec::new(), Vec::new());
    match sweep.loads {
        Loads::Written { past_saturation } => {
            progress = of_grid(&sweep.points, past_saturation, |number| {
                let stored = Store::look_up(results, &sweep.points[number].identity);
                let Some(stored) = stored.map_err(PointError::from)? else {
                    return Ok((Progress::Missing, None));
                };
                let status = stored.measured.status;
                each(points::Place::of_point(number), stored)?;
                Ok::<_, E>((Progress::Finished, Some(status)))
            })?;
        }
        Loads::Curve(precision) => {
            for repetitions in sweep.searches() {
                let first = progress.len();
                let is_whole =
                    curves::look_up(repetitions, precision, results, |(number, load), stored| {
                        let place = points::Place {
                            load: Some(load),
                            ..points::Place::of_point(first + number)
                        };
                        each(place, stored)
                    })?;
                progress.extend(repetitions.iter().map(|_| is_finished(is_whole)));
            }
        }
        Loads::Saturation { tolerance } => {
            for (number, point) in sweep.points.iter().enumerate() {
                let mut tried = 0;
                let end = of_search(point, tolerance, results, |stored| {
                    tried += 1;
                    each(
                        points::Place { tried: tried - 1, ..points::Place::of_point(number) },
                        stored,
                    )
                })?;
                progress.push(is_finished(end.is_some()));
                ends.extend(end.map(|end| (number, end)));
            }
        }
    }
    Ok((progress, ends))
}

/// How far each point of a sweep will be: those in a folder of results are finished, a series
/// likely ends at its saturation. Also, how long each load that is tried for one that is missing
/// will take on one thread, in their order: for a point of a grid it is its own load alone.
///
/// Of many series some are rehearsed, as far as the time for it reaches, and the others are taken
/// to be like the nearest of those.
///
/// # Errors
/// If a point can't be simulated, or read.
pub fn plan(
    sweep: &Sweep,
    results: Option<&Path>,
) -> Result<Vec<(Progress, Vec<Duration>)>, PointError> {
    plan_within(sweep, results, ALL_REHEARSALS, REHEARSAL)
}

fn plan_within(
    sweep: &Sweep,
    results: Option<&Path>,
    all: Duration,
    each: Duration,
) -> Result<Vec<(Progress, Vec<Duration>)>, PointError> {
    let expected = expected(sweep, &places(&sweep.points), all, each)?;
    let progress = match sweep.loads {
        // Which loads it tries, a search finds out as it goes.
        Loads::Curve(_) | Loads::Saturation { .. } => vec![Progress::Missing; expected.len()],
        Loads::Written { past_saturation } => of_grid(&sweep.points, past_saturation, |number| {
            let look_up = |folder| Store::look_up(folder, &sweep.points[number].identity);
            Ok::<_, PointError>(match results.map(look_up).transpose()?.flatten() {
                Some(point) => (Progress::Finished, Some(point.measured.status)),
                None if expected[number].past_saturation => {
                    (Progress::Missing, Some(Status::NotSteady))
                }
                None => (Progress::Missing, Some(Status::Steady)),
            })
        })?,
    };
    let time = |(progress, expected): (Progress, Expected)| match progress {
        Progress::Missing => (progress, expected.times),
        Progress::Finished | Progress::LeftOut => (progress, Vec::new()),
    };
    Ok(progress.into_iter().zip(expected).map(time).collect())
}

/// How far each point of a grid is. `look` says it of one, without the ends of series, and how the
/// point ended or is expected to end.
fn of_grid<E>(
    points: &[Point],
    past_saturation: Option<usize>,
    look: impl FnMut(usize) -> Result<(Progress, Option<Status>), E>,
) -> Result<Vec<Progress>, E> {
    let places = places(points);
    let mut ends = Ends::new(past_saturation, places.iter().copied());
    let looked = (0..places.len()).map(look).collect::<Result<Vec<_>, E>>()?;
    for (&place, &(_, status)) in places.iter().zip(&looked) {
        if let Some(status) = status {
            ends.done(place, status);
        }
    }
    let progress = |(&(progress, _), &place)| {
        if ends.holds(place) { progress } else { Progress::LeftOut }
    };
    Ok(looked.iter().zip(&places).map(progress).collect())
}

/// The end of a search for saturation, if all loads on its way are among the points in a folder of
/// results. Those that are there are handed to `each` in their order.
///
/// # Errors
/// If a point can't be read, the scenario can't be simulated, and those of `each`.
fn of_search<E: From<PointError>>(
    point: &Point,
    tolerance: f64,
    results: &Path,
    mut each: impl FnMut(PointResult) -> Result<(), E>,
) -> Result<Option<Saturation>, E> {
    let found = search_saturation(&point.scenario, tolerance, |load| {
        let stored = Store::look_up(results, &point.identity.at_load(load));
        let stored = stored.map_err(|error| Stop::Failed(PointError::from(error).into()))?;
        let stored = stored.ok_or(Stop::Missing)?;
        let sustained = stored.measured.status == Status::Steady;
        each(stored).map_err(Stop::Failed)?;
        Ok(sustained)
    });
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Stop::Missing) => Ok(None),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Why a search does not come to its end.
enum Stop<E> {
    Missing,
    Failed(E),
}

impl<E: From<PointError>> From<SetupError> for Stop<E> {
    fn from(error: SetupError) -> Self {
        Self::Failed(PointError::from(error).into())
    }
}

/// What is expected of each point.
fn expected(
    sweep: &Sweep,
    places: &[Place],
    all: Duration,
    each: Duration,
) -> Result<Vec<Expected>, PointError> {
    let mut series: Vec<Vec<(usize, usize)>> = Vec::new();
    for (number, &(at, rank)) in places.iter().enumerate() {
        if at == series.len() {
            series.push(Vec::new());
        }
        series[at].push((rank, number));
    }
    // Not the clock, which other work on the machine makes go on.
    let begun = ThreadTime::now();
    let limit = (all / narrow::<u32>(2 * series.len().clamp(1, MAX_REHEARSED))).min(each);
    // By series that was rehearsed, then rank.
    let mut known: BTreeMap<usize, BTreeMap<usize, Expected>> = BTreeMap::new();
    for at in spread(series.len()) {
        let enough = known.len() >= MAX_REHEARSED || begun.elapsed() > all;
        if enough && !known.is_empty() {
            break;
        }
        known.insert(at, rehearse(sweep, &series[at], limit)?);
    }
    let of_point = |&(at, rank): &Place| {
        let below = known.range(..=at).next_back();
        let above = known.range(at..).next();
        let near = match (below, above) {
            (Some(one), Some(other)) if at - one.0 > other.0 - at => other,
            (Some(one), _) => one,
            (None, Some(other)) => other,
            (None, None) => unreachable!("a sweep has a series, and one is rehearsed"),
        };
        // A series that has fewer loads than this one goes on as it ends.
        let (_, expected) =
            near.1.range(..=rank).next_back().or(near.1.first_key_value()).expect("it has a point");
        expected.clone()
    };
    Ok(places.iter().map(of_point).collect())
}

/// What is expected of the points of a series, by rank, from what the beginnings of two of them
/// cost. `members` are rank and number.
fn rehearse(
    sweep: &Sweep,
    members: &[(usize, usize)],
    limit: Duration,
) -> Result<BTreeMap<usize, Expected>, PointError> {
    let scenario = |number: usize| &sweep.points[number].scenario;
    let lowest = members.iter().min().map_or(0, |member| member.1);
    let highest = members.iter().max_by_key(|(rank, _)| *rank).map_or(0, |member| member.1);
    let written = matches!(sweep.loads, Loads::Written { .. });
    let highest = written.then(|| scenario(highest));
    let pace = Pace::measure(scenario(lowest), highest, limit)?;
    let mut by_rank = BTreeMap::new();
    for &(rank, number) in members {
        if by_rank.contains_key(&rank) {
            // Another seed of the same load.
            continue;
        }
        let times = match sweep.loads {
            Loads::Written { .. } => vec![pace.of_point(scenario(number))?],
            Loads::Curve(precision) => times_of_curve(&pace, scenario(number), precision)?,
            Loads::Saturation { tolerance } => times_of_search(&pace, scenario(number), tolerance)?,
        };
        let past_saturation = written && pace.is_past_saturation(scenario(number))?;
        by_rank.insert(rank, Expected { times, past_saturation });
    }
    Ok(by_rank)
}

/// The times of the loads that a curve finds, in their order, on one thread.
fn times_of_curve(
    pace: &Pace,
    scenario: &Scenario,
    precision: CurvePrecision,
) -> Result<Vec<Duration>, SetupError> {
    let mut curve = curves::begin(scenario, precision)?;
    let mut times = Vec::new();
    while let Some(&load) = curve.wanted().front() {
        times.push(pace.of_point(&scenario.at_load(load))?);
        let share = pace.share_of_saturation(load);
        // As in one queue, by packets of one size.
        let latency = 1.0 + share / (2.0 * (1.0 - share).max(1e-3));
        curve.tell(Tried { sustained: share <= 1.0, latency });
    }
    Ok(times)
}

/// The times of the loads that a search for saturation tries, in their order, on one thread.
fn times_of_search(
    pace: &Pace,
    scenario: &Scenario,
    tolerance: f64,
) -> Result<Vec<Duration>, SetupError> {
    let mut times = Vec::new();
    let _: Saturation = bisect(pace.simulation(scenario)?.highest_load(), tolerance, |load| {
        times.push(pace.of_point(&scenario.at_load(load))?);
        Ok::<bool, SetupError>(pace.share_of_saturation(load) <= 1.0)
    })?;
    Ok(times)
}

/// All numbers below `count` in an order of which every beginning lies evenly spread: bit by bit
/// from the lowest.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let bits = count.next_power_of_two().trailing_zeros();
    let reversed = move |number: usize| match bits {
        0 => number,
        _ => number.reverse_bits() >> (usize::BITS - bits),
    };
    (0..1usize << bits).map(reversed).filter(move |&number| number < count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_scenario::Document;
    use flitlab_scenario::simulation::Simulation;

    fn sweep(more: &str) -> Sweep {
        let text = format!(
            "[topology.torus]\ndimensions = [8]\n[traffic]\npattern = \"uniform\"\n[sweep.grid]\n\
             traffic.pattern = [\"uniform\", \"tornado\"]\n\
             traffic.load = {{ from = 0.1, to = 1.2, step = 0.1 }}\n[sweep]\n{more}"
        );
        Sweep::read(&Document::parse("a.toml", &text)).unwrap()
    }

    #[test]
    fn the_series_that_are_rehearsed_lie_evenly_spread() {
        assert_eq!(spread(6).collect::<Vec<_>>(), [0, 4, 2, 1, 5, 3]);
        assert_eq!(spread(1).collect::<Vec<_>>(), [0]);
        let mut all: Vec<usize> = spread(100).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100));
    }

    #[test]
    fn what_lies_far_past_saturation_will_be_left_out() {
        let sweep = sweep("past_saturation = 1\n");
        let plans = plan_within(&sweep, None, Duration::MAX, Duration::MAX).unwrap();
        let left_out = |series: usize| {
            let own = plans[12 * series..][..12].iter();
            own.filter(|plan| **plan == (Progress::LeftOut, Vec::new())).count()
        };
        // Tornado saturates before uniform traffic does, and no load of 0.2 saturates anything.
        assert!(left_out(1) > left_out(0) && left_out(0) > 0, "{plans:?}");
        assert!(left_out(1) <= 9, "{plans:?}");
    }

    #[test]
    fn a_search_takes_as_long_as_the_loads_that_it_tries() {
        let text =
            "[topology.torus]\ndimensions = [8]\n[traffic]\npattern = \"tornado\"\nload = 0.1\n";
        let scenario = Scenario::read(&Document::parse("a.toml", text)).unwrap();
        let pace = Pace::measure(&scenario, None, Duration::MAX).unwrap();
        let expected: Duration = times_of_search(&pace, &scenario, 0.02).unwrap().iter().sum();
        let mut tried = Duration::ZERO;
        let is_sustained = |load| -> Result<bool, SetupError> {
            let scenario = scenario.at_load(load);
            tried += pace.of_point(&scenario)?;
            let found = Simulation::new(&scenario)?.run(&mut |_| {}).found;
            Ok(found.measured.status == Status::Steady)
        };
        search_saturation(&scenario, 0.02, is_sustained).unwrap();
        let ratio = expected.as_secs_f64() / tried.as_secs_f64();
        assert!(
            (0.5..2.0).contains(&ratio),
            "{expected:?}, and the loads that were tried {tried:?}"
        );
    }
}
