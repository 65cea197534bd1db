//! Confidence intervals from batch means (\[law\], section 9.5).
//!
//! Only IEEE additions, products, quotients and square roots are used. So the results are equal on
//! every machine.

pub(crate) use super::student::quantile_975;
pub use super::student::upper_tail;

/// The values of a window of time: their number and sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Batch {
    /// Number of values, a whole number.
    pub count: f64,
    /// Sum of the values.
    pub sum: f64,
}

/// The confidence interval of a mean from windows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowInterval {
    /// Half width of the 95% confidence interval; `None` if the interval has no upper end.
    pub half_width: Option<f64>,
    /// Number of independent normal windows that would give the variance as exactly: its degrees of
    /// freedom plus one.
    pub effective_windows: f64,
}

/// Fewest effective windows for a reliable interval.
pub const ENOUGH_EFFECTIVE_WINDOWS: f64 = 10.0;

/// 95% confidence interval of the mean of all values, from windows of equal length that follow each
/// other. `None` if fewer than six windows have values.
///
/// The mean is a quotient of two random sums. So the deviations are those of a window's sum from
/// the product of mean and count (the ratio estimator; \[law\], section 9.5.3). Three properties
/// make the interval of a loaded queue longer than that of independent normal windows:
///
/// - *Neighbours are alike.* If neighbours have the correlation `r`, the variance is that of
///   independent windows times `(1 + r) / (1 - r)`, and the degrees of freedom are fewer by that
///   factor (as in \[skart\]). From `n` windows, `r` comes out too low by about `(1 + 3 r) / n`
///   (\[kendall\]), which is added. An `r` below its standard error, `1 / sqrt(n)`, counts as
///   chance.
/// - *Long tails.* Student's t assumes that the variance was estimated from normal values. With
///   kurtosis `k`, it is only as exact as an estimate from `2 / (k - 1)` times as many degrees of
///   freedom (the variance of a sample variance; \[law\], section 4.4).
/// - *Skewness.* A mean that is too low comes with a variance that is too low. Near saturation,
///   latency is proportional to `1 / (1 - rho)`, where `rho` is random: the reciprocal of the mean
///   is normal. So the interval is that of the reciprocal. Its upper end is farther from the mean,
///   and the half width reaches it.
pub fn interval_95_of_windows(windows: &[Batch]) -> Option<WindowInterval> {
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
    let independent = (with_values - 1) as f64;
    if squares == 0.0 {
        let effective_windows = independent + 1.0;
        return Some(WindowInterval { half_width: Some(0.0), effective_windows });
    }
    let inflation = inflation(&deviations, squares);
    let variance = squares / (length - 1.0) * inflation / length;
    let fourth_powers: f64 = deviations.iter().map(|it| it * it * (it * it)).sum();
    let kurtosis = fourth_powers * length / (squares * squares);
    let degrees = independent / inflation * (2.0 / (kurtosis - 1.0)).min(1.0);
    let relative = quantile_975(degrees) * variance.sqrt() / count / mean;
    let half_width = (relative < 1.0).then(|| mean * relative / (1.0 - relative));
    Some(WindowInterval { half_width, effective_windows: degrees + 1.0 })
}

/// The factor on the variance of a mean for the correlation of neighbours, from the deviations and
/// the sum of their squares.
fn inflation(deviations: &[f64], squares: f64) -> f64 {
    let length = deviations.len() as f64;
    let products: f64 = deviations.windows(2).map(|two| two[0] * two[1]).sum();
    let raw = products / squares;
    let correlation = (raw + (1.0 + 3.0 * raw) / length).min(MAX_CORRELATED);
    let correlation = if correlation > 1.0 / length.sqrt() { correlation } else { 0.0 };
    (1.0 + correlation) / (1.0 - correlation)
}

/// Fewest values for an interval. Fewer would have to be normal.
const FEWEST: usize = 6;

/// The highest correlation that is assumed. A series with a higher one is too short to tell.
const MAX_CORRELATED: f64 = 0.95;

/// Half width of the 95% confidence interval of a sample's mean. `None` for fewer than six values,
/// where the approximation of the quantile is too coarse.
pub fn half_width_95(sample: &[f64]) -> Option<f64> {
    if sample.len() < FEWEST { None } else { half_width_95_of_few(sample) }
}

/// Half width of the 95% confidence interval of the mean of normal values, such as the means of
/// repetitions. `None` for fewer than two values.
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

/// Jain's fairness index of the sources' shares: 1 if all are equal, 1/n if one source has
/// everything (\[jain\]). `None` if all shares are 0.
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

    /// Windows of ten values each, whose means are these.
    fn windows(means: impl IntoIterator<Item = f64>) -> Vec<Batch> {
        means.into_iter().map(|mean| Batch { count: 10.0, sum: 10.0 * mean }).collect()
    }

    /// Numbers in [0, 1) without order.
    fn noise(place: u32) -> f64 {
        f64::from(place.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24)
    }

    #[test]
    fn independent_windows_have_nearly_the_interval_of_their_means() {
        let means: Vec<f64> = (0..60).map(|place| 100.0 + noise(place)).collect();
        let found = interval_95_of_windows(&windows(means.clone())).unwrap();
        let plain = half_width_95(&means).unwrap();
        let ratio = found.half_width.unwrap() / plain;
        assert!((1.0..1.01).contains(&ratio), "{ratio}");
        assert!((found.effective_windows - 60.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn windows_that_resemble_their_neighbours_tell_less() {
        // Each level stays for six windows.
        let alike = (0..60).map(|place| 100.0 + noise(place / 6));
        let found = interval_95_of_windows(&windows(alike)).unwrap();
        assert!(found.effective_windows < ENOUGH_EFFECTIVE_WINDOWS, "{found:?}");
        let plain = half_width_95(&(0..60).map(|it| 100.0 + noise(it / 6)).collect::<Vec<_>>());
        assert!(found.half_width.unwrap() > 2.0 * plain.unwrap(), "{found:?} {plain:?}");
    }

    #[test]
    fn a_few_windows_with_much_tell_less_than_even_ones() {
        let uneven = (0..60).map(|place| if place % 20 == 7 { 200.0 } else { 100.0 });
        let found = interval_95_of_windows(&windows(uneven)).unwrap();
        assert!(found.effective_windows < 10.0, "{found:?}");
    }

    #[test]
    fn an_interval_that_would_have_no_upper_end_is_not_given() {
        let mut means = vec![1.0; 59];
        means.push(600.0);
        let found = interval_95_of_windows(&windows(means)).unwrap();
        assert_eq!(found.half_width, None);
        assert!(found.effective_windows < 10.0, "{found:?}");
    }

    #[test]
    fn equal_windows_have_an_interval_of_nothing_and_few_have_none() {
        let found = interval_95_of_windows(&windows([5.0; 8])).unwrap();
        assert_eq!(found, WindowInterval { half_width: Some(0.0), effective_windows: 8.0 });
        assert_eq!(interval_95_of_windows(&windows([5.0, 6.0, 7.0, 5.0, 6.0])), None);
    }

    #[test]
    fn fairness_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain_fairness([5, 5, 5].into_iter()), Some(1.0));
        assert_eq!(jain_fairness([7, 0, 0, 0].into_iter()), Some(0.25));
        assert_eq!(jain_fairness([0, 0].into_iter()), None);
    }
}
