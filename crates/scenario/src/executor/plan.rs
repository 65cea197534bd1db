//! What a sweep would do, and for how long, before it does it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::ends::{Ends, Place};
use super::estimate::Pace;
use super::grid::places;
use super::points::PointError;
use super::store::StoreError;
use crate::{Identity, Point, Sweep};
use flitlab_base::narrow::narrow;
use flitlab_report::PointResult;
use flitlab_report::Status;

/// For all moments that are simulated to see what points cost, together, and for each at most.
const ALL_REHEARSALS: Duration = Duration::from_secs(3);
const REHEARSAL: Duration = Duration::from_millis(200);

/// The most series that are rehearsed.
const MOST_REHEARSED: usize = 64;

/// What becomes of a point, or of the search for a series' saturation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// It is in the store.
    Finished,
    /// Its series will likely have ended before it.
    LeftOut,
    /// It will take about so long on one thread.
    Run(Duration),
}

/// What is expected of a point that is not in the store.
#[derive(Clone, Copy, Debug)]
struct Expected {
    time: Duration,
    past_saturation: bool,
}

/// What becomes of each point of a sweep. `find` looks up what is finished. Of many series some are rehearsed, as
/// far as the time for it reaches, and the others are taken to be like the nearest of those.
///
/// # Errors
/// If a point can't be simulated, or looked up.
pub fn plan(
    sweep: &Sweep,
    find: impl Fn(&Identity) -> Result<Option<PointResult>, StoreError>,
) -> Result<Vec<Plan>, PointError> {
    let places = places(&sweep.points);
    let expected = expected(sweep, &places)?;
    if sweep.saturation.is_some() {
        // Which loads it tries, a search finds out as it goes.
        return Ok(expected.iter().map(|it| Plan::Run(it.time)).collect());
    }
    let mut ends = Ends::new(sweep.past_saturation, places.iter().copied());
    let mut plans = Vec::new();
    for ((Point { identity, .. }, expected), &place) in
        sweep.points.iter().zip(&expected).zip(&places)
    {
        let (plan, status) = match find(identity)? {
            Some(point) => (Plan::Finished, point.measured.status),
            None if expected.past_saturation => (Plan::Run(expected.time), Status::NotSteady),
            None => (Plan::Run(expected.time), Status::Steady),
        };
        ends.done(place, status);
        plans.push(plan);
    }
    for (plan, place) in plans.iter_mut().zip(&places) {
        if !ends.holds(*place) {
            *plan = Plan::LeftOut;
        }
    }
    Ok(plans)
}

/// What is expected of each point.
fn expected(sweep: &Sweep, places: &[Place]) -> Result<Vec<Expected>, PointError> {
    let mut series: Vec<Vec<(usize, usize)>> = Vec::new();
    for (number, &(at, rank)) in places.iter().enumerate() {
        if at == series.len() {
            series.push(Vec::new());
        }
        series[at].push((rank, number));
    }
    let begun = Instant::now();
    let limit =
        (ALL_REHEARSALS / narrow::<u32>(2 * series.len().clamp(1, MOST_REHEARSED))).min(REHEARSAL);
    // By series that was rehearsed, then rank.
    let mut known: BTreeMap<usize, BTreeMap<usize, Expected>> = BTreeMap::new();
    for at in spread(series.len()) {
        let enough = known.len() >= MOST_REHEARSED || begun.elapsed() > ALL_REHEARSALS;
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
        *expected
    };
    Ok(places.iter().map(of_point).collect())
}

/// What is expected of the points of a series, by rank, from what the beginnings of two of them cost. `members`
/// are rank and number.
fn rehearse(
    sweep: &Sweep,
    members: &[(usize, usize)],
    limit: Duration,
) -> Result<BTreeMap<usize, Expected>, PointError> {
    let scenario = |number: usize| &sweep.points[number].scenario;
    let lowest = members.iter().min().map_or(0, |member| member.1);
    let highest = members.iter().max_by_key(|(rank, _)| *rank).map_or(0, |member| member.1);
    let highest = sweep.saturation.is_none().then(|| scenario(highest));
    let pace = Pace::measure(scenario(lowest), highest, limit)?;
    let mut by_rank = BTreeMap::new();
    for &(rank, number) in members {
        if by_rank.contains_key(&rank) {
            // Another seed of the same load.
            continue;
        }
        let expected = match sweep.saturation {
            Some(wanted) => Expected {
                time: pace.of_search(scenario(number), wanted.tolerance)?,
                past_saturation: false,
            },
            None => Expected {
                time: pace.of_point(scenario(number))?,
                past_saturation: pace.is_past_saturation(scenario(number))?,
            },
        };
        by_rank.insert(rank, expected);
    }
    Ok(by_rank)
}

/// All numbers below `count` in an order of which every beginning lies evenly spread: bit by bit from the
/// lowest.
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
    use crate::Document;
    use crate::executor::{SetupError, Simulation, search_saturation};
    use cpu_time::ThreadTime;
    use flitlab_report::Status;

    fn sweep(more: &str) -> Sweep {
        let text = format!(
            "[topology.torus]\ndimensions = [8]\n[traffic]\npattern = \"uniform\"\n[sweep.grid]\n\
             traffic.pattern = [\"uniform\", \"tornado\"]\n\
             traffic.load = {{ from = 0.1, to = 1.2, step = 0.1 }}\n[sweep]\n{more}"
        );
        Sweep::read(&Document::parse("a.toml", &text)).unwrap()
    }

    #[test]
    fn the_estimate_is_near_what_the_points_take() {
        let sweep = sweep("past_saturation = \"all\"\n");
        let time = |plan| if let Plan::Run(time) = plan { time } else { Duration::ZERO };
        let estimate: Duration = plan(&sweep, |_| Ok(None)).unwrap().into_iter().map(time).sum();
        let begun = ThreadTime::now();
        for point in &sweep.points {
            Simulation::new(&point.scenario).unwrap().run(&mut |_| {});
        }
        let ratio = estimate.as_secs_f64() / begun.elapsed().as_secs_f64();
        // Twice is promised; a machine with other work may well differ by half as much again.
        assert!((1.0 / 3.0..3.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_search_takes_about_as_long_as_the_loads_that_it_tries() {
        let text = "[topology.torus]\ndimensions = [8]\n[traffic]\npattern = \"tornado\"\n[sweep]\n\
                    saturation = { tolerance = 0.02 }\n";
        let sweep = Sweep::read(&Document::parse("a.toml", text)).unwrap();
        let Plan::Run(estimate) = plan(&sweep, |_| Ok(None)).unwrap()[0] else { panic!() };
        let begun = ThreadTime::now();
        let scenario = &sweep.points[0].scenario;
        let is_sustained = |load| -> Result<bool, SetupError> {
            let found = Simulation::new(&scenario.at_load(load))?.run(&mut |_| {}).found;
            Ok(found.measured.status == Status::Steady)
        };
        search_saturation(scenario, 0.02, is_sustained).unwrap();
        let ratio = estimate.as_secs_f64() / begun.elapsed().as_secs_f64();
        assert!((1.0 / 3.0..3.0).contains(&ratio), "{ratio}");
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
        let plans = plan(&sweep("past_saturation = 1\n"), |_| Ok(None)).unwrap();
        let left_out = |series: usize| {
            plans[12 * series..][..12].iter().filter(|plan| **plan == Plan::LeftOut).count()
        };
        // Tornado saturates before uniform traffic does, and no load of 0.2 saturates anything.
        assert!(left_out(1) > left_out(0) && left_out(0) > 0, "{plans:?}");
        assert!(left_out(1) <= 9, "{plans:?}");
    }
}
