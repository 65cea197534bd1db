//! Two searches for saturation, series by series.
//!
//! The loads that a search tries are steps on its way and differ with the smallest change; what it found is
//! compared: the highest sustained load, which lies between the last load that was sustained and the first
//! that was not.

use serde::{Deserialize, Serialize};

use super::{ComparedPoint, Comparison, Estimate, Measure, Place, Values};
use crate::report::Status;

/// What a search found for a series, as in summary.json.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SustainedLoad {
    pub series: String,
    pub sustained_load: f64,
    /// `None` if the search came up to the bound.
    pub lowest_load_not_sustained: Option<f64>,
}

impl SustainedLoad {
    fn estimate(&self) -> Estimate {
        let value = self.sustained_load;
        let highest = self.lowest_load_not_sustained.unwrap_or(value);
        Estimate { value, interval: Some((value, highest)) }
    }

    fn place(&self) -> Place {
        Place { series: self.series.clone(), offered_load: None }
    }
}

impl Comparison {
    /// Compares what two searches found.
    #[must_use]
    pub fn of_saturation(a: &[SustainedLoad], b: &[SustainedLoad], tolerance: f64) -> Self {
        let lone = a.len() == 1 && b.len() == 1;
        let partner = |one: &SustainedLoad, others: &[SustainedLoad]| {
            let same = |other: &&SustainedLoad| lone || other.series == one.series;
            others.iter().find(same).cloned()
        };
        let mut found = Self::default();
        for one in a {
            let Some(other) = partner(one, b) else {
                found.only_in_a.push(one.place());
                continue;
            };
            let (in_a, in_b) = (Some(one.estimate()), Some(other.estimate()));
            let values = Values::new(Measure::sustained_load(), in_a, in_b, tolerance);
            found.points.push(ComparedPoint {
                place: one.place(),
                state: (Status::Completed, Status::Completed),
                same_events: false,
                verdict: values.verdict,
                values: vec![values],
            });
        }
        found.only_in_b =
            b.iter().filter(|one| partner(one, a).is_none()).map(SustainedLoad::place).collect();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    #[test]
    fn loads_between_overlapping_bounds_can_not_be_told_apart() {
        let of = |low, high| SustainedLoad {
            series: "uniform".into(),
            sustained_load: low,
            lowest_load_not_sustained: Some(high),
        };
        let verdict = |a, b| Comparison::of_saturation(&[a], &[b], 0.01).points[0].verdict;
        assert_eq!(verdict(of(0.40, 0.41), of(0.40, 0.42)), Verdict::Identical);
        assert_eq!(verdict(of(0.40, 0.45), of(0.42, 0.46)), Verdict::Unclear);
        assert_eq!(verdict(of(0.40, 0.41), of(0.42, 0.43)), Verdict::Differs);
    }
}
