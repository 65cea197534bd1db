//! Left-right routing, in the manner of L-turn (\[l-turn\]): a spanning tree gives each router a
//! place from left to right, its number in preorder, and turns that lead left after a hop to the
//! right are prohibited.
//!
//! It is not called L-turn, since the paper was not at hand and its set of prohibited turns may be
//! another one. Of the ways to prohibit turns among left-up, left-down, right-up and right-down so
//! that all cycles are broken and all pairs stay connected, one is Up*/Down*'s. This one prohibits
//! the four from the right to the left. It keeps all pairs connected, since tree links lead left
//! towards the root and right away from it. So it differs from Up*/Down* in the links outside the
//! tree: down to the left, and up to the right, can go on where Up*/Down* ends.

use super::shortest::shortest;
use super::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::relation::{NoRelation, Relation};

impl RelationRule {
    /// `left-right`.
    pub const LEFT_RIGHT: Row<Self> = Row::new(
        "left-right",
        "all shortest ways that first go left in a tree's preorder, then right.",
        Self::usual(make),
    );
}

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let left = parameters.tree(fabric)?.left(fabric);
    let legal = |before: u32, next: u32| left[before as usize] || !left[next as usize];
    Ok(shortest(fabric, parameters.vcs, |before, next| legal(before.channel, next.channel))?)
}
