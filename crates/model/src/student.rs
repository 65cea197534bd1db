//! Student's t distribution in IEEE arithmetic only, so that verdicts are equal on every machine.

use flitlab_base::narrow::rounded_down;

/// The probability of a value above `t` (at least 0) with this number of degrees of freedom.
///
/// An even number of degrees has a finite series (Abramowitz and Stegun, "Handbook of Mathematical
/// Functions", 26.7.4). An odd number is rounded down, and a number above 1000 is taken for 1000.
/// Both make the probability larger, never smaller. With one degree or none it is a half: nothing
/// can be concluded.
pub fn upper_tail(t: f64, degrees: usize) -> f64 {
    let degrees = degrees.min(1000) / 2 * 2;
    if degrees == 0 {
        return 0.5;
    }
    let count = degrees as f64;
    let cosine_squared = count / (count + t * t);
    // The series' difference from its limit: its terms up to infinity add up to 1 over the sine.
    let sine = (1.0 - cosine_squared).sqrt();
    let (mut term, mut sum) = (1.0, 1.0);
    for step in 1..degrees / 2 {
        let step = step as f64;
        term *= (2.0 * step - 1.0) / (2.0 * step) * cosine_squared;
        sum += term;
    }
    ((1.0 - sine * sum) / 2.0).max(0.0)
}

/// The 97.5% quantile. Up to four degrees of freedom these are published values. From there on it
/// is the expansion of Cornish and Fisher in one over the degrees of freedom (Abramowitz and
/// Stegun, 26.7.5), with an error below 0.001 from five degrees on.
pub(crate) fn quantile_975(degrees: f64) -> f64 {
    const FEW: [f64; 5] = [f64::INFINITY, 12.706_205, 4.302_653, 3.182_446, 2.776_445];
    if let Some(quantile) = FEW.get(rounded_down::<usize>(degrees)) {
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
            assert!((quantile_975(degrees) - expected).abs() < 1e-3, "{degrees}");
        }
    }

    #[test]
    fn tails_agree_with_the_published_table() {
        for (t, degrees, expected) in [
            (4.302_653, 2, 0.025),
            (2.764, 10, 0.01),
            (4.587, 10, 0.0005),
            (3.551, 20, 0.001),
            (1.658, 120, 0.05),
            (0.0, 8, 0.5),
        ] {
            let tail = upper_tail(t, degrees);
            assert!((tail / expected - 1.0).abs() < 2e-3, "{t} {degrees}: {tail}");
        }
    }

    #[test]
    fn a_tail_is_never_said_to_be_smaller_than_it_is() {
        assert_eq!(upper_tail(2.0, 9), upper_tail(2.0, 8));
        assert_eq!(upper_tail(5.0, 1), 0.5);
        assert!(upper_tail(1e9, 60) >= 0.0);
        assert!(upper_tail(6.0, 1_000_000) > 1e-9);
    }
}
