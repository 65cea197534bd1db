//! The longest tests of the long tier are taken by slices: a quarter of what they try in a run, the
//! next one in the next (scripts/long-tier.sh).

use std::env;

const SLICES: usize = 4;

/// Whether number `at` of what a test tries is tried in this run: all of it unless `FLITLAB_SLICE`
/// names a slice.
pub fn is_in_slice(at: usize) -> bool {
    let slice = env::var("FLITLAB_SLICE").ok();
    slice.is_none_or(|slice| at % SLICES == slice.parse::<usize>().expect("a number") % SLICES)
}

/// Whether all is tried.
pub fn is_whole() -> bool {
    env::var("FLITLAB_SLICE").is_err()
}

/// How much a test has to try at least in this run, if it has to try so much in all.
pub fn at_least(count: usize) -> usize {
    if is_whole() { count } else { count / (2 * SLICES) }
}
