//! L-turn routing (M. Koibuchi, A. Funahashi, A. Jouraku, H. Amano, "L-turn Routing: An Adaptive Routing in Irregular
//! Networks", ICPP 2001): an L-R tree gives each router a place from left to right, and turns that lead left after
//! a hop to the right are prohibited.
//!
//! The paper itself was not at hand. What is taken from it is what later papers say of it: a breadth-first spanning
//! tree whose routers are numbered in preorder from left to right, and a turn model on the directions that this
//! gives (J. Zhou, X. Lin, Y. Chung, "A Tree-Turn Model for Irregular Networks", 2006, compare with it). Of the
//! ways to prohibit as few turns as break all cycles among left-up, left-down, right-up and right-down, four of
//! twelve, one is Up*/Down*'s. This one prohibits those from the right to the left (right-up and right-down to
//! left-up and left-down). It keeps all pairs connected, since tree links lead left towards the root and right away
//! from it. So it differs from Up*/Down* in the links outside the tree: down to the left, and up to the right, can
//! go on where Up*/Down* ends.

use super::shortest::shortest;
use super::{NoRelation, Relation, RelationParameters, RelationRule};
use crate::topology::Fabric;

impl RelationRule {
    /// `l-turn`.
    pub const L_TURN: Self = Self {
        name: "l-turn",
        doc: "all shortest ways that first go left in a tree's preorder, then right.",
        avoids_deadlock: true,
        least_lanes: 1,
        make,
    };
}

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let left = parameters.tree(fabric)?.left(fabric);
    let legal = |before: u32, next: u32| left[before as usize] || !left[next as usize];
    Ok(shortest(fabric, parameters.lanes, |before, next| legal(before.channel, next.channel))?)
}
