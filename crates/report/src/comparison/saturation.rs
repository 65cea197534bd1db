//! Two searches for saturation, series by series.
//!
//! The loads that a search tries are steps on its way and differ with the smallest change; what it
//! found is compared: the highest sustained load, which lies between the last load that was
//! sustained and the first that was not, or the mean over searches with different seeds.

use super::{ComparedPoint, Comparison, Estimate, Measure, PointKey, Values};
use crate::saturation::SustainedLoads;
use crate::{Status, SustainedLoad};

impl SustainedLoads<'_> {
    fn estimate(&self) -> Estimate {
        // Up to the bound of the throughput it is known exactly.
        let exact = (!self.saturates).then_some((self.mean, self.mean));
        Estimate { value: self.mean, interval: self.interval.or(exact) }
    }

    fn place(&self) -> PointKey {
        PointKey { series: self.series.clone(), offered_load: None }
    }
}

impl Comparison {
    /// Compares what two searches, or two sets of them, found.
    pub fn of_saturation(a: &[SustainedLoad], b: &[SustainedLoad], tolerance: f64) -> Self {
        let (a, b) = (SustainedLoads::of(a), SustainedLoads::of(b));
        let lone = a.len() == 1 && b.len() == 1;
        let same = |one: &SustainedLoads<'_>, other: &SustainedLoads<'_>| {
            lone || other.series == one.series
        };
        let mut found = Self::default();
        for one in &a {
            let Some(other) = b.iter().find(|other| same(one, other)) else {
                found.only_in_a.push(one.place());
                continue;
            };
            let (in_a, in_b) = (Some(one.estimate()), Some(other.estimate()));
            let values = Values::new(Measure::sustained_load(), in_a, in_b, tolerance);
            found.points.push(ComparedPoint {
                place: one.place(),
                verdict: values.verdict,
                same_events: false,
                state_a: Status::Completed,
                state_b: Status::Completed,
                values: vec![values],
            });
        }
        let alone = b.iter().filter(|one| !a.iter().any(|other| same(one, other)));
        found.only_in_b = alone.map(SustainedLoads::place).collect();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;
    use crate::{Label, Sustained};

    #[test]
    fn loads_between_overlapping_bounds_can_not_be_told_apart() {
        let of = |low, high| SustainedLoad {
            label: Label { series: "uniform".into(), ..Label::default() },
            found: Sustained { sustained_load: low, lowest_load_not_sustained: Some(high) },
        };
        let verdict = |a, b| Comparison::of_saturation(&[a], &[b], 0.01).points[0].verdict;
        assert_eq!(verdict(of(0.40, 0.41), of(0.40, 0.42)), Verdict::Identical);
        assert_eq!(verdict(of(0.40, 0.45), of(0.42, 0.46)), Verdict::Unclear);
        assert_eq!(verdict(of(0.40, 0.41), of(0.42, 0.43)), Verdict::Differs);
    }
}
