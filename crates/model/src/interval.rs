//! Confidence intervals from batch means (\[law\], section 9.5).
//!
//! Only IEEE additions, products, quotients and square roots are used. So the results are equal on
//! every machine.

use flitlab_base::narrow::rounded_down;

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

/// 95% confidence interval of the mean of all values, from equal parts of windows of equal length
/// that follow each other, of which `a_window` make a window. `None` if fewer than six windows have
/// values. What swings too slowly to show in the windows leaves no more than `pieces` of them that are
/// independent, or three.
///
/// The mean is a quotient of two random sums. So the deviations are those of a window's sum from
/// the product of mean and count (the ratio estimator; \[law\], section 9.5.3). Five properties
/// make the interval of a loaded queue longer than that of independent normal windows:
///
/// - *Neighbours are alike.* If neighbours have the correlation `r`, the variance is that of
///   independent windows times `(1 + r) / (1 - r)`, and the degrees of freedom are fewer by that
///   factor (as in \[skart\]). From `n` windows, `r` comes out too low by about `(1 + 3 r) / n`
///   (\[kendall\]), which is added. An `r` below 0 counts as 0.
/// - *The correlation itself is only estimated*, and a measurement that ends at the first interval
///   that is short enough ends where it came out too low. The parts show it better than the windows
///   do: from their autocorrelations follows how many independent parts would tell as much.
///   With `k` of them the interval is longer by the factor `1 + 6 / k`. The 6 was chosen by experiment: series of normal and of skewed values, whose correlation lasts for
///   0.1 to 3 windows, keep 92 to 97 of a hundred with it, where ten to sixty windows are looked at
///   until the interval is within 2% of the mean.
/// - *Slow swings below fast ones* hardly show in the correlation of neighbours, so that there are no
///   more degrees of freedom than `pieces` less one.
/// - *Long tails.* Student's t assumes that the variance was estimated from normal values. With
///   kurtosis `k`, it is only as exact as an estimate from `2 / (k - 1)` times as many degrees of
///   freedom (the variance of a sample variance; \[law\], section 4.4).
/// - *Skewness.* A mean that is too low comes with a variance that is too low. Near saturation,
///   latency is proportional to `1 / (1 - rho)`, where `rho` is random: the reciprocal of the mean
///   is normal. So the interval is that of the reciprocal. Its upper end is farther from the mean,
///   and the half width reaches it.
pub fn interval_95_of_windows(
    parts: &[Batch],
    a_window: usize,
    pieces: f64,
) -> Option<WindowInterval> {
    let error = MeanError::of(parts, a_window)?;
    let (mean, degrees, half_width) = (error.mean, error.degrees, error.half_width(pieces));
    let relative = if half_width > 0.0 { half_width / mean } else { 0.0 };
    let half_width = (relative < 1.0).then(|| mean * relative / (1.0 - relative));
    Some(WindowInterval { half_width, effective_windows: degrees + 1.0 })
}

/// Half width of the 95% confidence interval of what a part has in the mean, such as the flits
/// delivered in it, from equal parts of windows as [`interval_95_of_windows`] takes them. `None` if
/// fewer than six windows have values.
///
/// Skewness apart it follows the same rules: a throughput is no reciprocal.
pub fn half_width_95_of_windows(parts: &[f64], a_window: usize, pieces: f64) -> Option<f64> {
    let parts: Vec<Batch> = parts.iter().map(|&sum| Batch { count: 1.0, sum }).collect();
    Some(MeanError::of(&parts, a_window)?.half_width(pieces))
}

/// How well a mean is known.
struct MeanError {
    mean: f64,
    /// The standard deviation of the mean.
    deviation: f64,
    /// The degrees of freedom with which that is known.
    degrees: f64,
}

impl MeanError {
    /// Half width of its symmetric interval, of no more independent values than `pieces` or three.
    fn half_width(&self, pieces: f64) -> f64 {
        let degrees = self.degrees.min((pieces - 1.0).max(2.0));
        if self.deviation > 0.0 { quantile_975(degrees) * self.deviation } else { 0.0 }
    }

    fn of(parts: &[Batch], a_window: usize) -> Option<Self> {
        let sum = |parts: &[Batch]| {
            parts.iter().fold(Batch::default(), |all, part| Batch {
                count: all.count + part.count,
                sum: all.sum + part.sum,
            })
        };
        let windows: Vec<Batch> = parts.chunks_exact(a_window).map(sum).collect();
        let with_values = windows.iter().filter(|window| window.count > 0.0).count();
        if with_values < FEWEST {
            return None;
        }
        let length = windows.len() as f64;
        let all = sum(&windows);
        let (count, mean) = (all.count / length, all.sum / all.count);
        let deviations = |parts: &[Batch]| -> Vec<f64> {
            parts.iter().map(|part| part.sum - mean * part.count).collect()
        };
        let of_windows = deviations(&windows);
        let squares: f64 = of_windows.iter().map(|it| it * it).sum();
        let independent = (with_values - 1) as f64;
        if squares == 0.0 {
            return Some(Self { mean, deviation: 0.0, degrees: independent });
        }
        let inflation = inflation(&of_windows, squares);
        let variance = squares / (length - 1.0) * inflation / length;
        let fourth_powers: f64 = of_windows.iter().map(|it| it * it * (it * it)).sum();
        let kurtosis = fourth_powers * length / (squares * squares);
        let degrees = independent / inflation * (2.0 / (kurtosis - 1.0)).min(1.0);
        let unsure = 1.0 + UNSURE / independent_parts(&deviations(parts));
        Some(Self { mean, deviation: variance.sqrt() / count * unsure, degrees })
    }
}

/// By how much an interval is longer for what is not known of the correlation, over the number of
/// independent parts.
const UNSURE: f64 = 6.0;

/// How many independent values would have a mean as exact as that of these, whose deviations from
/// their mean are given: their number over one and twice the sum of their autocorrelations. The sum
/// ends where it is as long as five times its result (\[sokal\]); it is at least 1, and each
/// autocorrelation comes out too low by about the result over the number of values, which is added.
fn independent_parts(deviations: &[f64]) -> f64 {
    let count = deviations.len() as f64;
    let squares: f64 = deviations.iter().map(|it| it * it).sum();
    let mut time = 1.0;
    for lag in 1..deviations.len() / 2 {
        let later = &deviations[lag..];
        let products: f64 = later.iter().zip(deviations).map(|(one, other)| one * other).sum();
        time += 2.0 * (products / squares + time / count);
        if lag as f64 >= 5.0 * time {
            break;
        }
    }
    count / f64::max(time, 1.0)
}

/// The factor on the variance of a mean for the correlation of neighbours, from the deviations and
/// the sum of their squares.
fn inflation(deviations: &[f64], squares: f64) -> f64 {
    let products: f64 = deviations.windows(2).map(|two| two[0] * two[1]).sum();
    correlation_factor(products / squares, deviations.len() as f64)
}

/// The factor on the variance of the mean of `count` values whose neighbours have this correlation
/// as it came out. It comes out too low by about `(1 + 3 r) / count`; below 0 it counts as 0.
pub fn correlation_factor(raw: f64, count: f64) -> f64 {
    let correlation = (raw + (1.0 + 3.0 * raw) / count).clamp(0.0, MAX_CORRELATED);
    (1.0 + correlation) / (1.0 - correlation)
}

/// Whether values at equal distances lie on a slope that chance explains with no more than this
/// probability.
///
/// The slope is that of least squares. Its standard error is that of independent residuals, longer
/// by the correlation of neighbours, which takes degrees of freedom as well
/// ([`interval_95_of_windows`]).
pub fn slope_is_significant(values: &[f64], error: f64) -> bool {
    let count = values.len() as f64;
    if values.len() < FEWEST {
        return false;
    }
    let (middle, mean) = ((count - 1.0) / 2.0, values.iter().sum::<f64>() / count);
    let offset = |place: usize| place as f64 - middle;
    let spread = count * (count * count - 1.0) / 12.0;
    let slope = (0..).zip(values).map(|(place, value)| offset(place) * (value - mean)).sum::<f64>();
    let slope = slope / spread;
    let residuals: Vec<f64> =
        (0..).zip(values).map(|(place, value)| value - mean - slope * offset(place)).collect();
    let squares: f64 = residuals.iter().map(|it| it * it).sum();
    if squares == 0.0 {
        return slope != 0.0;
    }
    let factor = inflation(&residuals, squares);
    let deviation = (squares / (count - 2.0) * factor / spread).sqrt();
    let degrees = rounded_down((count / factor - 2.0).max(0.0));
    upper_tail(slope.abs() / deviation, degrees) <= error / 2.0
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
        let found = interval_95_of_windows(&windows(means.clone()), 1, f64::INFINITY).unwrap();
        let plain = half_width_95(&means).unwrap();
        let ratio = found.half_width.unwrap() / plain;
        assert!((1.1..1.3).contains(&ratio), "{ratio}");
        assert!(found.effective_windows > 50.0, "{found:?}");
    }

    #[test]
    fn windows_that_resemble_their_neighbours_tell_less() {
        // Each level stays for six windows.
        let alike = (0..60).map(|place| 100.0 + noise(place / 6));
        let found = interval_95_of_windows(&windows(alike), 1, f64::INFINITY).unwrap();
        assert!(found.effective_windows < ENOUGH_EFFECTIVE_WINDOWS, "{found:?}");
        let plain = half_width_95(&(0..60).map(|it| 100.0 + noise(it / 6)).collect::<Vec<_>>());
        assert!(found.half_width.unwrap() > 2.0 * plain.unwrap(), "{found:?} {plain:?}");
    }

    #[test]
    fn parts_show_a_correlation_that_few_windows_hide() {
        // Ten windows of ten parts: independent ones, and ones that stay for a window and a half.
        let part = |place: u32, every: u32| Batch { count: 1.0, sum: 100.0 + noise(place / every) };
        let apart: Vec<Batch> = (0..100).map(|place| part(place, 1)).collect();
        let alike: Vec<Batch> = (0..100).map(|place| part(place, 15)).collect();
        let independent = |parts: &[Batch]| {
            let mean = parts.iter().map(|part| part.sum).sum::<f64>() / 100.0;
            independent_parts(&parts.iter().map(|part| part.sum - mean).collect::<Vec<_>>())
        };
        assert!(independent(&apart) > 60.0, "{}", independent(&apart));
        assert!(independent(&alike) < 15.0, "{}", independent(&alike));
        let half = |parts: &[Batch]| {
            interval_95_of_windows(parts, 10, f64::INFINITY).unwrap().half_width.unwrap()
        };
        assert!(half(&alike) > 3.0 * half(&apart), "{} {}", half(&alike), half(&apart));
    }

    #[test]
    fn few_pieces_know_no_more_than_as_few_values() {
        let means: Vec<f64> = (0..60).map(|place| 100.0 + noise(place)).collect();
        let half = |pieces| {
            interval_95_of_windows(&windows(means.clone()), 1, pieces).unwrap().half_width.unwrap()
        };
        let ratio = |pieces| half(pieces) / half(f64::INFINITY);
        assert!((ratio(4.0) - 3.182 / 2.0).abs() < 0.02, "{}", ratio(4.0));
        assert!((ratio(0.0) - 4.303 / 2.0).abs() < 0.03, "{}", ratio(0.0));
        assert!((ratio(60.0) - 1.0).abs() < 0.01, "{}", ratio(60.0));
    }

    #[test]
    fn a_slope_is_told_from_chance() {
        let level: Vec<f64> = (0..40).map(noise).collect();
        assert!(!slope_is_significant(&level, 0.01));
        let tilted: Vec<f64> = (0..40).map(|it| noise(it) + 0.04 * f64::from(it)).collect();
        assert!(slope_is_significant(&tilted, 0.01));
        let falling: Vec<f64> = tilted.iter().map(|value| -value).collect();
        assert!(slope_is_significant(&falling, 0.01));
        // What stays for long drifts by chance.
        let slow: Vec<f64> = (0..40).map(|it| noise(it / 10)).collect();
        assert!(!slope_is_significant(&slow, 0.01));
        assert!(!slope_is_significant(&[1.0; 40], 0.01));
        assert!(slope_is_significant(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 0.01));
    }

    #[test]
    fn a_few_windows_with_much_tell_less_than_even_ones() {
        let uneven = (0..60).map(|place| if place % 20 == 7 { 200.0 } else { 100.0 });
        let found = interval_95_of_windows(&windows(uneven), 1, f64::INFINITY).unwrap();
        assert!(found.effective_windows < 10.0, "{found:?}");
    }

    #[test]
    fn an_interval_that_would_have_no_upper_end_is_not_given() {
        let mut means = vec![1.0; 59];
        means.push(600.0);
        let found = interval_95_of_windows(&windows(means), 1, f64::INFINITY).unwrap();
        assert_eq!(found.half_width, None);
        assert!(found.effective_windows < 10.0, "{found:?}");
    }

    #[test]
    fn equal_windows_have_an_interval_of_nothing_and_few_have_none() {
        let found = interval_95_of_windows(&windows([5.0; 8]), 1, f64::INFINITY).unwrap();
        assert_eq!(found, WindowInterval { half_width: Some(0.0), effective_windows: 8.0 });
        assert_eq!(
            interval_95_of_windows(&windows([5.0, 6.0, 7.0, 5.0, 6.0]), 1, f64::INFINITY),
            None
        );
    }

    #[test]
    fn fairness_is_one_for_equal_shares_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain_fairness([5, 5, 5].into_iter()), Some(1.0));
        assert_eq!(jain_fairness([7, 0, 0, 0].into_iter()), Some(0.25));
        assert_eq!(jain_fairness([0, 0].into_iter()), None);
    }
}
