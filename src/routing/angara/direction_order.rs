//! Balanced direction order (after J. M. Montañana and others, "Balanced dimension-order routing for k-ary n-cubes",
//! 2009; reference 17 of papers/angara-routing): the route of each pair follows from where its nodes lie.
//!
//! Direction order leaves a choice only where half a ring is to be gone. Routers whose coordinates have an even sum go
//! such halves by the first of a pair's routes, the others by the last: on a whole torus plus and minus in turn, which
//! loads all channels of even rings alike. It does not look at loads, so it suits neither meshes nor failures.

use super::{Algorithm, Choices, Generated, Selection};

impl Algorithm {
    /// `direction-order`.
    pub const DIRECTION_ORDER: Self = Self {
        name: "direction-order",
        doc: "direction order with half rings gone both ways in turn.",
        is_random: false,
        table: |choices, _, _| Ok(Generated::new(choices.table(&alternating(choices)))),
    };
}

/// The first route from nodes with an even coordinate sum, the last from the others.
pub(super) fn alternating(choices: &Choices<'_>) -> Selection {
    let torus = choices.region().torus();
    Selection::new(choices, |place| {
        let pair = &choices.pairs()[place];
        let odd = torus.coordinates(pair.source).iter().sum::<u32>() % 2 == 1;
        if odd { pair.routes - 1 } else { 0 }
    })
}
