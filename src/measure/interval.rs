//! Confidence intervals from batch means (A. Law, "Simulation Modeling and Analysis", section 9.5).
//!
//! Only IEEE additions, products, quotients and square roots are used: the result is the same on every
//! machine.

use super::student::quantile_975;

/// The values of a stretch of time: how many, and their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    pub count: f64,
    pub sum: f64,
}

/// Half width of the 95% confidence interval of the mean of all values, from windows of equal length that
/// follow each other; `None` for fewer than six that have values.
///
/// The mean is a quotient of two sums that vary, so that the deviations are those of a window's sum from what
/// the mean gives for its count (the ratio estimator; Law, section 9.5.3). Windows near saturation resemble
/// their neighbours: their variance is that of independent ones times `(1 + r) / (1 - r)` for a correlation
/// `r` of neighbours (as in Skart: A. Tafazzoli, J. Wilson, "Skart: a skewness- and autoregression-adjusted
/// batch-means procedure", IIE Transactions 43, 2011). Of `n` windows `r` comes out too low by about `1 / n`,
/// which is added; below its standard error, `1 / sqrt(n)`, it is taken for chance.
pub fn half_width_95_of_windows(windows: &[Batch]) -> Option<f64> {
    let with_values = windows.iter().filter(|window| window.count > 0.0).count();
    if with_values < FEWEST {
        return None;
    }
    let length = windows.len() as f64;
    let count = windows.iter().map(|window| window.count).sum::<f64>() / length;
    let mean = windows.iter().map(|window| window.sum).sum::<f64>() / length / count;
    let deviations: Vec<f64> =
        windows.iter().map(|window| window.sum - mean * window.count).collect();
    let squares: f64 = deviations.iter().map(|it| it * it).sum();
    if squares == 0.0 {
        return Some(0.0);
    }
    let products: f64 = deviations.windows(2).map(|two| two[0] * two[1]).sum();
    let correlation = (products / squares + 1.0 / length).min(MOST_CORRELATED);
    let correlation = if correlation > 1.0 / length.sqrt() { correlation } else { 0.0 };
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let variance = squares / (length - 1.0) * inflation / length;
    Some(quantile_975((with_values - 1) as f64) * variance.sqrt() / count)
}

/// Fewest values of which an interval is taken: of fewer they would have to be normal.
const FEWEST: usize = 6;

/// The highest correlation that is reckoned with; a series with more is too short to tell.
const MOST_CORRELATED: f64 = 0.95;

/// Half width of the 95% confidence interval of the mean of a sample; `None` for fewer than six
/// values, where the approximation of the quantile is not good enough.
pub fn half_width_95(sample: &[f64]) -> Option<f64> {
    if sample.len() < FEWEST { None } else { half_width_95_of_few(sample) }
}

/// The same for samples that are normal however few they are, such as the means of repetitions;
/// `None` for fewer than two values.
pub fn half_width_95_of_few(sample: &[f64]) -> Option<f64> {
    let count = sample.len();
    if count < 2 {
        return None;
    }
    let mean = sample.iter().sum::<f64>() / count as f64;
    let squares: f64 = sample.iter().map(|value| (value - mean) * (value - mean)).sum();
    let variance = squares / (count - 1) as f64;
    Some(quantile_975(count as f64 - 1.0) * (variance / count as f64).sqrt())
}

/// Jain's fairness index of what each source got: 1 if all got the same, 1/n if one got all
/// (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984). `None` if nobody got anything.
pub fn jain_fairness(shares: impl Iterator<Item = u64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0u64, 0.0, 0.0);
    for share in shares {
        let share = share as f64;
        count += 1;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_known_sample() {
        let sample = [10.0, 12.0, 9.0, 11.0, 13.0, 11.0, 10.0, 12.0, 11.0, 11.0];
        // Standard deviation 1.1547, 9 degrees of freedom: 2.2622 * 1.1547 / sqrt(10).
        let half = half_width_95(&sample).unwrap();
        assert!((half - 0.8260).abs() < 1e-3, "{half}");
        assert_eq!(half_width_95(&sample[..5]), None);
    }

    #[test]
    fn fairness_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain_fairness([5, 5, 5].into_iter()), Some(1.0));
        assert_eq!(jain_fairness([7, 0, 0, 0].into_iter()), Some(0.25));
        assert_eq!(jain_fairness([0, 0].into_iter()), None);
    }
}
