//! What a sweep would do, and for how long, before it does it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ends::Ends;
use super::estimate::Pace;
use super::grid::places;
use super::points::PointError;
use super::store::{StoreError, StoredPoint};
use crate::report::Status;
use crate::scenario::{Identity, Point, Sweep};

/// For all moments that are simulated to see what points cost, together, and for each at most.
const ALL_REHEARSALS: Duration = Duration::from_secs(3);
const REHEARSAL: Duration = Duration::from_millis(200);

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

/// What becomes of each point of a sweep. `find` looks up what is finished.
///
/// # Errors
/// If a point can't be simulated, or looked up.
pub fn plan(
    sweep: &Sweep,
    find: impl Fn(&Identity) -> Result<Option<StoredPoint>, StoreError>,
) -> Result<Vec<Plan>, PointError> {
    let places = places(&sweep.points);
    let paces = paces(sweep, &places)?;
    let pace = |number: usize| &paces[&places[number].0];
    let numbered = || sweep.points.iter().enumerate();
    if let Some(wanted) = sweep.saturation {
        // Which loads it tries, a search finds out as it goes.
        let search = |(number, point): (usize, &Point)| {
            Ok(Plan::Run(pace(number).of_search(&point.scenario, wanted.tolerance)?))
        };
        return numbered().map(search).collect();
    }
    let mut ends = Ends::new(sweep.past_saturation, places.iter().copied());
    let mut plans = Vec::new();
    for (number, Point { scenario, identity, .. }) in numbered() {
        let (plan, status) = match find(identity)? {
            Some(point) => (Plan::Finished, point.row.status),
            None if pace(number).is_past_saturation(scenario)? => {
                (Plan::Run(pace(number).of_point(scenario)?), Status::NotSteady)
            }
            None => (Plan::Run(pace(number).of_point(scenario)?), Status::Steady),
        };
        ends.done(places[number], status);
        plans.push(plan);
    }
    for (plan, place) in plans.iter_mut().zip(&places) {
        if !ends.holds(*place) {
            *plan = Plan::LeftOut;
        }
    }
    Ok(plans)
}

/// What the points of each series cost.
fn paces(sweep: &Sweep, places: &[(usize, usize)]) -> Result<BTreeMap<usize, Pace>, PointError> {
    let mut series: BTreeMap<usize, Vec<(usize, &Point)>> = BTreeMap::new();
    for (&(at, rank), point) in places.iter().zip(&sweep.points) {
        series.entry(at).or_default().push((rank, point));
    }
    let limit = (ALL_REHEARSALS / (2 * series.len().max(1) as u32)).min(REHEARSAL);
    let pace = |(at, mut members): (usize, Vec<(usize, &Point)>)| {
        members.sort_by_key(|(rank, _)| *rank);
        let lowest = &members[0].1.scenario;
        let highest = &members[members.len() - 1].1.scenario;
        let highest = sweep.saturation.is_none().then_some(highest);
        Ok((at, Pace::measure(lowest, highest, limit)?))
    };
    series.into_iter().map(pace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Document;
    use crate::sweep::{Simulation, find_saturation};
    use cpu_time::ThreadTime;

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
            Simulation::new(&point.scenario).unwrap().run("", 0, &mut |_| {});
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
        find_saturation(&sweep.points[0].scenario, "", 0.02, |_| {}).unwrap();
        let ratio = estimate.as_secs_f64() / begun.elapsed().as_secs_f64();
        assert!((1.0 / 3.0..3.0).contains(&ratio), "{ratio}");
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
