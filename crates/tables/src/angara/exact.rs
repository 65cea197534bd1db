//! A table whose maximum load is proved to be the lowest.
//!
//! It is the table of `balanced` if that meets its lower bound. Otherwise the bound is raised as
//! far as weights of channels can (the dual of the linear program), and further searches try to
//! reach it. If a gap is left there is no table.

use super::algorithm::NoTable;
use super::balanced::{Effort, balanced_with};
use super::linear::highest_bound;
use super::{Algorithm, Balanced, Choices, Generated};
use flitlab_base::registry::Row;

impl Algorithm {
    /// `exact`.
    pub const EXACT: Row<Self> = Row::new(
        "exact",
        "proves that no table has a lower maximum load, or gives none; for some 100 nodes.",
        Self { is_random: false, follows_rule: false, table: |choices, _, _| exact(choices) },
    );
}

/// Limits of the search if `balanced` has neither found a better table nor proved that there is
/// none.
const EFFORT: Effort = Effort { searches: 20, looks: 200_000_000 };

/// As [`EFFORT`], where pairs have weights, and each search for a lower maximum takes several steps.
const WEIGHTED_EFFORT: Effort = Effort { searches: 2, looks: 20_000_000 };

fn exact(choices: &Choices<'_>) -> Result<Generated, NoTable> {
    let name = Algorithm::EXACT.name;
    let mut found = super::balanced(choices);
    if !found.is_optimal() {
        let bound = highest_bound(choices, name)?;
        let is_higher = bound.value > found.bound.value;
        found.bound = if is_higher { bound } else { found.bound };
    }
    if !found.is_optimal() {
        let effort = if choices.is_weighted() { WEIGHTED_EFFORT } else { EFFORT };
        found = balanced_with(choices, found, effort);
    }
    let Balanced { selection, bound } = &found;
    if !found.is_optimal() {
        let (maximum, bound) = (selection.maximum(), bound.rounded());
        return Err(NoTable::Open { algorithm: name, maximum, bound });
    }
    let made = Generated::new(choices.table(selection));
    Ok(Generated { bound: Some(found.bound), ..made })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Region;
    use crate::angara::{Freedoms, Parameters, lower_bound};
    use crate::test_fabric as fabric;
    use flitlab_base::narrow::rounded;

    /// The exact maximum, what `balanced` has, and its bound before any linear program.
    fn of(sizes: &[u32], cables: &[(u32, u32)]) -> (u32, u32, u32) {
        let fabric = fabric(sizes, cables);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let made = (Algorithm::EXACT.table)(&choices, &Parameters::default(), 1).unwrap();
        let quality = crate::Quality::new(choices.region(), &made.table);
        let exact = rounded(quality.load.maximum);
        assert_eq!(made.bound.unwrap().rounded(), exact);
        let balanced = super::super::balanced(&choices);
        let bound = lower_bound(&choices, &balanced.selection.loads).rounded();
        (exact, balanced.selection.maximum(), bound)
    }

    /// 6x6 and 4x4x2 were open: one route more than the bound.
    #[test]
    fn systems_that_were_open_are_closed() {
        assert_eq!(of(&[6, 6], &[]), (27, 27, 27));
        assert_eq!(of(&[4, 4, 2], &[]), (16, 16, 16));
        assert_eq!(of(&[8, 6], &[]), (48, 48, 48));
    }

    /// The linear program proves what quick weights do not: its values are 13.09 and 17.07.
    #[test]
    fn where_a_cable_has_failed_the_linear_program_closes_the_gap() {
        assert_eq!(of(&[4, 3, 2], &[(5, 0)]), (14, 14, 13));
        assert_eq!(of(&[4, 4, 2], &[(9, 1)]), (18, 18, 17));
    }

    #[test]
    fn too_many_routes_are_refused() {
        let fabric = fabric(&[6, 6, 6], &[(0, 0)]);
        let choices = Choices::new(Region::new(&fabric), Freedoms::default());
        let error = highest_bound(&choices, "exact").unwrap_err();
        assert!(matches!(error, NoTable::TooLarge { .. }), "{error}");
    }
}
