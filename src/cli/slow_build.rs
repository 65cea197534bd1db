//! What is said of a build without optimisation: cargo makes one unless it is told otherwise.

use super::say::say;
use flitlab::engine::IS_OPTIMISED;

/// Says it, before something is simulated.
pub(super) fn mention() {
    note(IS_OPTIMISED).into_iter().for_each(say);
}

fn note(is_optimised: bool) -> Option<&'static str> {
    let note = "note: this build is not optimised, and simulates some eight times as slowly; \
                `cargo build --release` makes one that is";
    (!is_optimised).then_some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_optimisation_is_told_and_flitlabs_own_are_none() {
        assert!(note(false).is_some_and(|note| note.contains("cargo build --release")));
        // Its own profiles optimise what simulates, that of tests too.
        assert_eq!(note(IS_OPTIMISED), None);
    }
}
