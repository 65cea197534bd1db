//! When the warm-up is over: the rule MSER-5 on what is under way.
//!
//! The marginal standard error rule cuts off the beginning of a series where the mean of the rest
//! is known best. The cut minimises the sum of squared deviations over the square of the number of
//! values left (\[mser\]; on means of five: \[mser-5\]). A cut in the second half says that the
//! series is too short to tell. While something grows steadily, the best cut is as late as can be.

/// Samples whose mean is one value.
const BATCH: usize = 5;

/// Fewest values of which a cut is looked for.
const FEWEST: usize = 6;

/// Whether the beginning that spoils the mean of the samples lies in their first half.
pub fn has_settled(samples: &[f64]) -> bool {
    let values: Vec<f64> =
        samples.chunks_exact(BATCH).map(|batch| batch.iter().sum::<f64>() / BATCH as f64).collect();
    values.len() >= FEWEST && cut(&values) < values.len() / 2
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

    fn noise(place: usize) -> f64 {
        f64::from((place as u32).wrapping_mul(2_654_435_761) >> 24)
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
}
