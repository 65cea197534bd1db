//! Two results, point by point: what differs, and whether that is more than chance and more than a
//! tolerance.
//!
//! Two values differ if they are further apart than the tolerance, relative to the first, and their
//! 95% confidence intervals have no value in common. Disjoint intervals are a stricter test than a
//! t test of the difference at 5% (about 0.6% for intervals of equal width), which is as it should
//! be where many points are looked at and one false alarm stops the work. Values without an
//! interval are judged by the tolerance alone.

mod estimate;
mod measure;
mod pairing;
mod saturation;

pub use estimate::Estimate;
pub use measure::{MEASURES, Measure};
pub use pairing::{PointKey, load_key};

use serde::Serialize;

use super::{Point, Status};
use pairing::{Pair, pairs};

/// How far apart two values, or the values of two points, are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Equal.
    Identical,
    /// Not further apart than the tolerance.
    Within,
    /// Further apart than the tolerance, but the confidence intervals overlap.
    Unclear,
    /// Further apart than the tolerance, and no confidence interval says that it may be chance.
    Differs,
}

/// One measure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Values {
    pub measure: Measure,
    /// `None` if this side has no such value.
    pub a: Option<Estimate>,
    pub b: Option<Estimate>,
    /// `b` against `a`, relative to `a`; `None` where that means nothing.
    pub change: Option<f64>,
    /// Whether the confidence intervals have no value in common; `None` if one isn't known.
    pub significant: Option<bool>,
    pub verdict: Verdict,
}

impl Values {
    /// Judges two values.
    pub fn new(measure: Measure, a: Option<Estimate>, b: Option<Estimate>, tolerance: f64) -> Self {
        let (change, significant, verdict) = match (a, b) {
            (Some(a), Some(b)) => (change(&a, &b), a.apart(&b), verdict(&a, &b, tolerance)),
            (None, None) => (None, None, Verdict::Identical),
            _ => (None, None, Verdict::Differs),
        };
        Self { measure, a, b, change, significant, verdict }
    }
}

fn change(
    Estimate { value: a, .. }: &Estimate,
    Estimate { value: b, .. }: &Estimate,
) -> Option<f64> {
    if a == b { Some(0.0) } else { (*a != 0.0).then(|| (b - a) / a.abs()) }
}

fn verdict(a: &Estimate, b: &Estimate, tolerance: f64) -> Verdict {
    let distance = (b.value - a.value).abs();
    if distance == 0.0 {
        Verdict::Identical
    } else if distance <= tolerance * a.value.abs() {
        Verdict::Within
    } else if a.apart(b) == Some(false) {
        Verdict::Unclear
    } else {
        Verdict::Differs
    }
}

/// A point that both results have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPoint {
    #[serde(flatten)]
    pub place: PointKey,
    /// The worst of its values; at least [`Verdict::Unclear`] if it did not end in the same state,
    /// and [`Verdict::Differs`] if that is a deadlock.
    pub verdict: Verdict,
    /// Whether the same happened in both, event by event.
    pub same_events: bool,
    /// How its runs in A ended, the worst of them.
    pub state_a: Status,
    pub state_b: Status,
    /// The measures that at least one side has.
    pub values: Vec<Values>,
}

impl ComparedPoint {
    fn new(pair: Pair<'_>, measures: &[Measure], tolerance: f64) -> Self {
        let (a, b) = (worst(&pair.a), worst(&pair.b));
        let values: Vec<Values> = measures
            .iter()
            .map(|&measure| (measure, measure.of(&pair.a), measure.of(&pair.b)))
            // The state tells of a point that ended in another state.
            .filter(|(_, in_a, in_b)| {
                if a == b { in_a.or(*in_b) } else { in_a.and(*in_b) }.is_some()
            })
            .map(|(measure, a, b)| Values::new(measure, a, b, tolerance))
            .collect();
        let worst_value = values.iter().map(|values| values.verdict).max();
        let same_events = digests(&pair.a).is_some_and(|a| digests(&pair.b) == Some(a));
        let at_least = match (a == b, same_events) {
            (true, true) => Verdict::Identical,
            (true, false) => Verdict::Within,
            // At the edge of saturation chance decides, if as much gets through.
            (false, _) if a != Status::Deadlock && b != Status::Deadlock => Verdict::Unclear,
            (false, _) => Verdict::Differs,
        };
        let verdict = worst_value.unwrap_or(Verdict::Identical).max(at_least);
        Self { place: pair.place, verdict, same_events, state_a: a, state_b: b, values }
    }
}

/// Two results, point by point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub points: Vec<ComparedPoint>,
    pub only_in_a: Vec<PointKey>,
    pub only_in_b: Vec<PointKey>,
}

impl Comparison {
    /// Compares the points of two results by these measures.
    pub fn new(a: &[Point], b: &[Point], measures: &[Measure], tolerance: f64) -> Self {
        let mut found = Self::default();
        for pair in pairs(a, b) {
            match (pair.a.is_empty(), pair.b.is_empty()) {
                (false, false) => {
                    found.points.push(ComparedPoint::new(pair, measures, tolerance));
                }
                (false, true) => found.only_in_a.push(pair.place),
                (true, _) => found.only_in_b.push(pair.place),
            }
        }
        found
    }

    /// How many points have this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.points.iter().filter(|point| point.verdict == verdict).count()
    }
}

/// The worst state of some runs; there is at least one.
pub fn worst(runs: &[&Point]) -> Status {
    let badness = |status: &Status| match status {
        Status::Steady | Status::Completed => 0,
        Status::Undecided => 1,
        Status::NotSteady => 2,
        Status::Deadlock | Status::Stuck | Status::Livelock | Status::TooLong => 3,
    };
    runs.iter().map(|run| run.measured.status).max_by_key(badness).unwrap_or_default()
}

/// Seeds and digests in order; `None` if a digest isn't known.
fn digests(runs: &[&Point]) -> Option<Vec<(u64, u64)>> {
    let digests: Option<Vec<_>> =
        runs.iter().map(|run| Some((run.label.seed, run.measured.digest?))).collect();
    digests.map(|mut digests| {
        digests.sort_unstable();
        digests
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Label, PointRow};
    use flitlab_base::units::Picoseconds;

    fn point(series: &str, load: f64, seed: u64, latency: u64) -> Point {
        Point {
            label: Label { series: series.into(), seed, ..Label::default() },
            measured: PointRow {
                offered_load: Some(load),
                accepted_load: Some(load),
                packet_latency_mean: Some(Picoseconds(latency)),
                packet_latency_mean_ci95: Some(Picoseconds(latency / 100)),
                digest: Some(latency + seed),
                ..PointRow::default()
            },
            ..Point::default()
        }
    }

    fn compared(a: &[Point], b: &[Point], tolerance: f64) -> Comparison {
        Comparison::new(a, b, &Measure::usual(), tolerance)
    }

    #[test]
    fn the_tolerance_and_the_intervals_both_have_a_say() {
        let of = |latency, tolerance| {
            let found =
                compared(&[point("", 0.1, 1, 100_000)], &[point("", 0.1, 1, latency)], tolerance);
            found.points[0].verdict
        };
        assert_eq!(of(100_000, 0.0), Verdict::Identical);
        assert_eq!(of(110_000, 0.05), Verdict::Differs);
        assert_eq!(of(110_000, 0.2), Verdict::Within);
        assert_eq!(of(101_000, 0.001), Verdict::Unclear);
    }

    #[test]
    fn seeds_of_a_point_are_one_point() {
        let runs = |latency| {
            [1, 2, 3, 4].map(|seed| point(&format!("uniform, seed {seed}"), 0.1, seed, latency))
        };
        let found = compared(&runs(100_000), &[point("uniform", 0.1, 9, 102_000)], 0.001);
        assert_eq!(found.points.len(), 1);
        let latency = &found.points[0].values[1];
        assert_eq!(latency.a.unwrap().half_width(), Some(0.5));
        // 100 +-0.5 against 102 +-1.02.
        assert_eq!(latency.verdict, Verdict::Differs);
    }

    #[test]
    fn lone_series_belong_together_and_others_by_name() {
        let a = [point("bfs", 0.1, 1, 100_000), point("bfs", 0.2, 1, 120_000)];
        let b = [point("sssp", 0.2, 1, 120_000), point("sssp", 0.3, 1, 150_000)];
        let found = compared(&a, &b, 0.0);
        let loads =
            |places: &[PointKey]| places.iter().map(|one| one.offered_load).collect::<Vec<_>>();
        assert_eq!(found.points[0].place.offered_load, Some(0.2));
        assert_eq!(loads(&found.only_in_a), [Some(0.1)]);
        assert_eq!(loads(&found.only_in_b), [Some(0.3)]);
        let more = [b[0].clone(), point("bfs", 0.2, 1, 120_000)];
        let found = compared(&a, &more, 0.0);
        assert_eq!(found.points[0].place.series, "bfs");
        assert_eq!(found.only_in_b[0].series, "sssp");
    }

    #[test]
    fn latencies_past_saturation_are_not_compared() {
        let mut unsteady = point("", 0.5, 1, 900_000);
        unsteady.measured.status = Status::NotSteady;
        let mut other = unsteady.clone();
        other.measured.packet_latency_mean = Some(Picoseconds(1));
        other.measured.digest = None;
        let found = compared(&[unsteady], &[other], 0.0);
        assert_eq!(found.points[0].verdict, Verdict::Within);
        assert_eq!(found.points[0].values.len(), 1);
    }

    #[test]
    fn another_state_is_judged_by_what_got_through_and_a_deadlock_always_differs() {
        let steady = point("", 0.5, 1, 100_000);
        let verdict = |status, accepted_load| {
            let mut other = point("", 0.5, 1, 900_000);
            other.measured.status = status;
            other.measured.accepted_load = accepted_load;
            compared(std::slice::from_ref(&steady), &[other], 0.05).points[0].verdict
        };
        assert_eq!(verdict(Status::NotSteady, Some(0.49)), Verdict::Unclear);
        assert_eq!(verdict(Status::NotSteady, Some(0.4)), Verdict::Differs);
        assert_eq!(verdict(Status::Deadlock, None), Verdict::Differs);
    }
}
