//! The highest load that a network sustains, by bisection.

use flitlab_base::narrow::rounded_down;

/// The result of a search for saturation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// The highest load tried that was sustained; 0 if none was.
    pub sustained: f64,
    /// The lowest load tried that was not; `None` if all were.
    pub failed: Option<f64>,
}

/// Halves the interval between 0 and `highest`, or `tolerance` if that is more, until it is at most
/// `tolerance` wide. `sustained` runs a load and says whether the network sustains it; the
/// criterion is the caller's. Loads tried are multiples of `tolerance`, so that searches of
/// different series try the same ones.
pub fn bisect<E>(
    highest: f64,
    tolerance: f64,
    mut sustained: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Saturation, E> {
    let steps = rounded_down::<u64>(highest / tolerance).max(1);
    if sustained(steps as f64 * tolerance)? {
        return Ok(Saturation { sustained: steps as f64 * tolerance, failed: None });
    }
    let (mut good, mut bad) = (0, steps);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if sustained(middle as f64 * tolerance)? {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Ok(Saturation { sustained: good as f64 * tolerance, failed: Some(bad as f64 * tolerance) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn search(threshold: f64) -> (Saturation, usize) {
        let mut tried = 0;
        let found = bisect::<Infallible>(1.0, 0.01, |load| {
            tried += 1;
            Ok(load <= threshold)
        });
        (found.unwrap(), tried)
    }

    #[test]
    fn bisection_brackets_the_threshold_within_the_tolerance() {
        for threshold in [0.0, 0.013, 0.5, 0.777, 0.999] {
            let (found, tried) = search(threshold);
            assert!(found.sustained <= threshold && threshold < found.failed.unwrap());
            assert!(found.failed.unwrap() - found.sustained < 0.01 + 1e-9);
            assert!(tried <= 9, "{tried}");
        }
    }

    #[test]
    fn a_tolerance_wider_than_the_interval_is_the_one_load_tried() {
        let mut tried = Vec::new();
        let found = bisect::<Infallible>(0.5, 0.9, |load| {
            tried.push(load);
            Ok(false)
        });
        assert_eq!(found, Ok(Saturation { sustained: 0.0, failed: Some(0.9) }));
        assert_eq!(tried, [0.9]);
    }

    #[test]
    fn a_network_that_never_saturates_is_tried_once() {
        assert_eq!(search(2.0), (Saturation { sustained: 1.0, failed: None }, 1));
    }
}
