//! Confidence intervals from batch means.
//!
//! Windows of many packet latencies are nearly independent, so the means of the windows are treated as
//! a sample from a normal distribution (the method of batch means; A. Law, "Simulation Modeling and
//! Analysis", section 9.5). Only IEEE additions, products, quotients and square roots are used:
//! the result is the same on every machine.

/// Half width of the 95% confidence interval of the mean of a sample; `None` for fewer than six
/// values, where the approximation of the quantile is not good enough.
#[must_use]
pub fn half_width_95(sample: &[f64]) -> Option<f64> {
    if sample.len() < 6 { None } else { half_width_95_of_few(sample) }
}

/// The same for samples that are normal however few they are, such as the means of repetitions;
/// `None` for fewer than two values.
#[must_use]
pub fn half_width_95_of_few(sample: &[f64]) -> Option<f64> {
    let count = sample.len();
    if count < 2 {
        return None;
    }
    let mean = sample.iter().sum::<f64>() / count as f64;
    let squares: f64 = sample.iter().map(|value| (value - mean) * (value - mean)).sum();
    let variance = squares / (count - 1) as f64;
    Some(student_975(count as f64 - 1.0) * (variance / count as f64).sqrt())
}

/// The 97.5% quantile of Student's t distribution: published values up to four degrees of freedom, then
/// the expansion of Cornish and Fisher in one over
/// the degrees of freedom (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5);
/// off by less than 0.001 from five degrees of freedom on.
fn student_975(degrees: f64) -> f64 {
    const FEW: [f64; 5] = [f64::INFINITY, 12.706_205, 4.302_653, 3.182_446, 2.776_445];
    if let Some(quantile) = FEW.get(degrees as usize) {
        return *quantile;
    }
    let z = 1.959_963_984_540_054_f64;
    let power = |exponent: usize| (0..exponent).fold(1.0, |product, _| product * z);
    let terms = [
        (power(3) + z) / 4.0,
        (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / 96.0,
        (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / 384.0,
        (79.0 * power(9) + 776.0 * power(7) + 1482.0 * power(5) - 1920.0 * power(3) - 945.0 * z)
            / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / degrees) + z
}

/// Jain's fairness index of what each source got: 1 if all got the same, 1/n if one got all
/// (R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984). `None` if nobody got anything.
#[must_use]
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
    fn quantiles_agree_with_the_published_table() {
        for (degrees, expected) in [
            (1.0, 12.7062),
            (4.0, 2.7764),
            (5.0, 2.5706),
            (9.0, 2.2622),
            (19.0, 2.0930),
            (59.0, 2.0010),
        ] {
            assert!((student_975(degrees) - expected).abs() < 1e-3, "{degrees}");
        }
    }

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
