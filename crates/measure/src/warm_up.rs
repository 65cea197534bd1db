//! When a network has filled: rules on what is under way, sampled from the first instant on.
//!
//! **MSER-5.** The marginal standard error rule cuts off the beginning of a series where the mean of
//! the rest is known best. The cut minimises the sum of squared deviations over the square of the
//! number of values left (\[mser\]; on means of five: \[mser-5\]). A cut in the second half says that
//! the series is too short to tell. While something grows steadily, the best cut is as late as can
//! be.
//!
//! **The level was reached in time.** MSER-5 alone is deceived where a network fills at two speeds:
//! in a moment with what crosses it unhindered, and then slowly, as an adaptive rule fills the
//! buffers by which it sees. The cut between the two is the best for a while. So the level that is
//! seen late must have been reached, but for the scatter of single values, in the first half of the
//! time before. Whatever decays exponentially is then as small a part of that scatter as the scatter
//! was of the whole.
//!
//! **There is no drift.** What is measured must have no slope that chance does not explain.

use flitlab_model::interval::slope_is_significant;

/// Samples whose mean is one value.
const BATCH: usize = 5;

/// Fewest values of which a cut is looked for.
const FEWEST: usize = 6;

/// The probability with which a level series is said to drift.
const DRIFT_ERROR: f64 = 0.01;

/// The means of each five samples that follow each other.
fn values(samples: &[f64]) -> Vec<f64> {
    let mean = |batch: &[f64]| batch.iter().sum::<f64>() / BATCH as f64;
    samples.chunks_exact(BATCH).map(mean).collect()
}

/// Whether the beginning that spoils the mean of the samples lies in their first half.
pub fn has_settled(samples: &[f64]) -> bool {
    let values = values(samples);
    values.len() >= FEWEST
        && cut(&values) < values.len() / 2
        && 2 * reached(&values, values.len() / 2) <= values.len()
}

/// How many samples passed before what was under way first reached the level that it has from the
/// sample `from` on, but for its scatter there.
///
/// # Panics
/// If fewer than two values of five samples are left.
pub fn samples_to_level(samples: &[f64], from: usize) -> usize {
    BATCH * reached(&values(samples), from.div_ceil(BATCH))
}

/// Whether the samples rise or fall by more than chance explains.
pub fn drifts(samples: &[f64]) -> bool {
    slope_is_significant(&values(samples), DRIFT_ERROR)
}

/// How many values lie before the first that is as high as the level of those from `from` on, but
/// for their standard deviation.
fn reached(values: &[f64], from: usize) -> usize {
    let late = &values[from..];
    let count = late.len() as f64;
    let level = late.iter().sum::<f64>() / count;
    let squares: f64 = late.iter().map(|value| (value - level) * (value - level)).sum();
    let scatter = (squares / (count - 1.0).max(1.0)).sqrt();
    values.iter().position(|value| *value >= level - scatter).unwrap_or(values.len())
}

/// How many values to leave out at the beginning, at most half of them and one.
fn cut(values: &[f64]) -> usize {
    let mut best = (f64::INFINITY, 0);
    // Welford's sums, from the end.
    let (mut mean, mut squares) = (0.0, 0.0);
    for (place, value) in values.iter().enumerate().rev() {
        let count = (values.len() - place) as f64;
        let offset = value - mean;
        mean += offset / count;
        squares += offset * (value - mean);
        let error = squares / (count * count);
        if place <= values.len() / 2 && error <= best.0 {
            best = (error, place);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::narrow::narrow;

    fn noise(place: usize) -> f64 {
        f64::from(narrow::<u32>(place).wrapping_mul(2_654_435_761) >> 24)
    }

    #[test]
    fn a_level_series_has_settled_and_a_growing_one_never() {
        let level: Vec<f64> = (0..60).map(noise).collect();
        assert!(has_settled(&level));
        let growing: Vec<f64> = (0..400).map(|place| 20.0 * place as f64 + noise(place)).collect();
        for end in 30..400 {
            assert!(!has_settled(&growing[..end]), "{end}");
        }
    }

    #[test]
    fn a_ramp_has_to_be_followed_by_as_much_again() {
        let series: Vec<f64> =
            (0..200).map(|place| 100.0 * place.min(50) as f64 + noise(place)).collect();
        assert!(!has_settled(&series[..80]));
        assert!(has_settled(&series[..130]));
    }

    #[test]
    fn few_samples_tell_nothing_and_equal_ones_are_level() {
        assert!(!has_settled(&[]));
        assert!(!has_settled(&[7.0; 29]));
        assert!(has_settled(&[7.0; 30]));
    }

    /// In a moment to two fifths, then slowly, over 160 samples, to the rest.
    fn at_two_speeds(place: usize) -> f64 {
        let fast = 900.0 * (place + 1).min(5) as f64;
        fast + 6000.0 * (1.0 - (-(place as f64) / 160.0).exp()) + 4.0 * noise(place)
    }

    #[test]
    fn a_network_that_fills_at_two_speeds_has_not_filled_after_the_first() {
        let series: Vec<f64> = (0..2000).map(at_two_speeds).collect();
        let early = values(&series[..50]);
        assert!(cut(&early) < early.len() / 2, "MSER-5 alone is deceived");
        for end in (30..800).step_by(10) {
            assert!(!has_settled(&series[..end]), "{end}");
        }
        assert!(has_settled(&series));
    }

    #[test]
    fn a_level_that_was_reached_late_and_a_drift_show_in_what_follows() {
        let series: Vec<f64> = (0..2000).map(at_two_speeds).collect();
        assert!(2 * samples_to_level(&series[..140], 40) > 40);
        assert!(2 * samples_to_level(&series, 1500) < 1500);
        assert!(!drifts(&series[1500..]));
        let rises: Vec<f64> = (0..100).map(|it| 4.0 * noise(it) + 10.0 * it as f64).collect();
        assert!(drifts(&rises));
    }
}
