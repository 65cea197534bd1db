//! Balanced direction order (after \[balanced-dimension-order\], reference 17 of
//! \[angara-routing\]): the route of each pair follows from where its nodes lie.
//!
//! Direction order leaves a choice only where half a ring is to be gone. Routers whose coordinates
//! have an even sum go such halves by the first of a pair's routes without first and last steps,
//! the others by the last: on a whole torus plus and minus in turn. It does not look at loads, so
//! it suits neither meshes nor failures.

use super::{Algorithm, Choices, Generated, Pair, Selection};
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_routing::RouteTable;

impl Algorithm {
    /// `direction-order`.
    pub const DIRECTION_ORDER: Row<Self> = Row::new(
        "direction-order",
        "direction order with half rings gone both ways in turn.",
        Self {
            is_random: false,
            follows_rule: true,
            table: |choices, _, _| Ok(Generated::new(direction_order(choices))),
        },
    );
}

/// The first plain route from nodes with an even coordinate sum, the last from the others; if a
/// pair has none, of all.
fn direction_order(choices: &Choices<'_>) -> RouteTable {
    choices.table_by_rule(|pair, is_odd| {
        let is_plain = |number: &usize| {
            let header = choices.header(pair, *number);
            header.first_step().is_none() && header.last_step().is_none()
        };
        let mut plain = (0..pair.routes()).filter(is_plain);
        let number = if is_odd { plain.next_back() } else { plain.next() };
        number.map_or_else(|| of_all(pair, is_odd), narrow)
    })
}

/// The first route from nodes with an even coordinate sum, the last from the others.
pub(super) fn alternating(choices: &Choices<'_>) -> Selection {
    Selection::new(choices, |_, pair| of_all(pair, choices.is_odd(pair.source)))
}

fn of_all(pair: &Pair, is_odd: bool) -> u16 {
    if is_odd { pair.routes - 1 } else { 0 }
}
