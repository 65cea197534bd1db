//! Which rows are computed again.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// A row that can be computed again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The number of its result.
    pub result: usize,
    /// Its place in that.
    pub at: usize,
    /// What tells it from others, and from itself with another content.
    pub key: String,
    /// CPU time that it takes, about.
    pub seconds: f64,
}

/// Draws at most so many rows, in turn from each result, so that all of them take at most `budget`
/// seconds of CPU together: a row that no longer fits is passed over, which leaves the cheap ones
/// when time is short.
pub(super) fn chosen(mut rows: Vec<Row>, most: usize, budget: Option<f64>, seed: u64) -> Vec<Row> {
    rows.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    // Each row's turn among those of its own result.
    let results = rows.iter().map(|row| row.result + 1).max().unwrap_or(0);
    let mut seen = vec![0u32; results];
    let mut in_turn: Vec<(u32, Row)> = Vec::with_capacity(rows.len());
    for row in rows {
        in_turn.push((seen[row.result], row.clone()));
        seen[row.result] += 1;
    }
    in_turn.sort_by_key(|(turn, _)| *turn);
    let mut left = budget.unwrap_or(f64::INFINITY);
    let fits = |(_, row): (u32, Row)| {
        let fits = row.seconds <= left;
        if fits {
            left -= row.seconds;
        }
        fits.then_some(row)
    };
    in_turn.into_iter().filter_map(fits).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let row = |result, at| {
            let seconds = if at == 0 { 100.0 } else { 1.0 };
            Row { result, at, key: format!("{result} {at}"), seconds }
        };
        (0..4).flat_map(|result| (0..5 + 10 * result).map(move |at| row(result, at))).collect()
    }

    #[test]
    fn a_sample_is_spread_over_all_results_and_another_seed_draws_another() {
        let one = chosen(rows(), 8, None, 1);
        for result in 0..4 {
            assert_eq!(one.iter().filter(|row| row.result == result).count(), 2, "{one:?}");
        }
        assert_eq!(one, chosen(rows(), 8, None, 1));
        assert_ne!(one, chosen(rows(), 8, None, 2));
        assert_eq!(chosen(rows(), usize::MAX, None, 1).len(), rows().len());
    }

    #[test]
    fn when_time_is_short_the_cheap_ones_are_drawn() {
        let few = chosen(rows(), usize::MAX, Some(20.0), 1);
        assert_eq!(few.len(), 20);
        assert!(few.iter().all(|row| row.at > 0), "{few:?}");
        let more = chosen(rows(), usize::MAX, Some(150.0), 1);
        assert!(more.iter().map(|row| row.seconds).sum::<f64>() <= 150.0);
        assert!(chosen(rows(), 3, Some(0.5), 1).is_empty());
    }
}
