//! A measured value, and the interval in which the true one lies.

use serde::Serialize;

use flitlab_model::interval::half_width_95;

/// A value and, if it is known, its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
}

impl Estimate {
    /// The mean of independent runs, each a value and, if it is known, the half width of its
    /// interval.
    ///
    /// The half width of a mean is the root of the sum of squares over the number, since the
    /// variances of independent runs add up. Where runs have no interval of their own, six of them
    /// make one.
    pub fn of_runs(runs: &[(f64, Option<f64>)]) -> Option<Self> {
        if runs.is_empty() {
            return None;
        }
        let count = runs.len() as f64;
        let value = runs.iter().map(|(value, _)| value).sum::<f64>() / count;
        let squares: Option<f64> = runs.iter().map(|(_, half)| half.map(|half| half * half)).sum();
        let half = match squares {
            Some(squares) => Some(squares.sqrt() / count),
            None => half_width_95(&runs.iter().map(|(value, _)| *value).collect::<Vec<_>>()),
        };
        Some(Self { value, interval: half.map(|half| (value - half, value + half)) })
    }

    /// Whether the intervals have no value in common; `None` if one isn't known.
    pub fn apart(&self, other: &Self) -> Option<bool> {
        let ((low, high), (other_low, other_high)) = (self.interval?, other.interval?);
        Some(high < other_low || other_high < low)
    }

    /// Half width of the interval.
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_four_runs_is_half_that_of_one() {
        let one = Estimate::of_runs(&[(10.0, Some(1.0))]).unwrap();
        let four = Estimate::of_runs(&[(10.0, Some(1.0)); 4]).unwrap();
        assert_eq!((one.half_width(), four.half_width()), (Some(1.0), Some(0.5)));
    }

    #[test]
    fn six_runs_without_intervals_make_one() {
        let runs = [9.0, 10.0, 11.0, 9.0, 10.0, 11.0].map(|value| (value, None));
        assert!(Estimate::of_runs(&runs).unwrap().half_width().is_some());
        assert_eq!(Estimate::of_runs(&runs[..5]).unwrap().interval, None);
        assert_eq!(Estimate::of_runs(&[]), None);
    }

    #[test]
    fn intervals_that_touch_are_not_apart() {
        let of = |low, high| Estimate { value: (low + high) / 2.0, interval: Some((low, high)) };
        assert_eq!(of(1.0, 2.0).apart(&of(2.0, 3.0)), Some(false));
        assert_eq!(of(2.5, 3.0).apart(&of(1.0, 2.0)), Some(true));
        assert_eq!(of(1.0, 2.0).apart(&Estimate { value: 1.0, interval: None }), None);
    }
}
