//! Which points of two results belong together.
//!
//! Points of one series and one offered load do. Runs that differ in the seed alone are one point:
//! a sweep over seeds has the seed in its series, and it is taken out. Where both results have one
//! series only, the two belong together whatever they are called.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::Point;

/// Decimals of a load that tell points apart.
const SCALE: f64 = 1e6;

/// A point's series, without the seed, and its offered load, if it has one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointKey {
    pub series: String,
    pub offered_load: Option<f64>,
}

/// The runs of a point on either side; not both are empty.
#[derive(Clone, Debug)]
pub(super) struct Pair<'r> {
    pub place: PointKey,
    pub a: Vec<&'r Point>,
    pub b: Vec<&'r Point>,
}

/// All points of both, in the order of `a`, then those of `b` alone in theirs.
pub(super) fn pairs<'r>(a: &'r [Point], b: &'r [Point]) -> Vec<Pair<'r>> {
    let by_load = paired(a, b, |row| row.measured.offered_load);
    let met =
        |pairs: &[Pair<'_>]| pairs.iter().any(|pair| !pair.a.is_empty() && !pair.b.is_empty());
    if met(&by_load) {
        return by_load;
    }
    // Loads given as a rate are other fractions of another fabric's capacity.
    let by_payload = paired(a, b, |row| row.measured.offered_payload);
    if met(&by_payload) { by_payload } else { by_load }
}

fn paired<'r>(
    a: &'r [Point],
    b: &'r [Point],
    load: impl Fn(&Point) -> Option<f64>,
) -> Vec<Pair<'r>> {
    let lone = single_series(a) && single_series(b);
    let mut places: BTreeMap<(String, Option<i128>), usize> = BTreeMap::new();
    let mut pairs: Vec<Pair<'_>> = Vec::new();
    for (row, in_a) in a.iter().map(|row| (row, true)).chain(b.iter().map(|row| (row, false))) {
        let series = row.label.series_without_seed();
        let named = if lone { String::new() } else { series.clone() };
        let key = (named, load(row).map(load_key));
        let at = *places.entry(key).or_insert(pairs.len());
        if at == pairs.len() {
            let place = PointKey { series, offered_load: row.measured.offered_load };
            pairs.push(Pair { place, a: Vec::new(), b: Vec::new() });
        }
        if in_a { pairs[at].a.push(row) } else { pairs[at].b.push(row) }
    }
    pairs
}

/// Returns a key that tells offered loads apart: their value in millionths.
pub fn load_key(load: f64) -> i128 {
    #[expect(clippy::cast_possible_truncation, reason = "whole; all loads beyond i128 are one")]
    let millionths = (load * SCALE).round() as i128;
    millionths
}

fn single_series(rows: &[Point]) -> bool {
    let mut series = rows.iter().map(|row| row.label.series_without_seed());
    let first = series.next();
    series.all(|other| Some(&other) == first.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_that_differ_in_a_millionth_are_apart_however_high_they_are() {
        assert_ne!(load_key(0.25), load_key(0.250_001));
        assert_eq!(load_key(0.25), load_key(0.250_000_1));
        // Bytes a second.
        assert_ne!(load_key(1e13), load_key(2e13));
    }
}
