//! d_i = s_i + 1 mod k_i in every dimension.

use super::{Partners, PatternKind, coordinates::shifted, no_keys};

pub(super) static NEIGHBOR: PatternKind = PatternKind {
    name: "neighbor",
    doc: "x + 1 mod k, in every dimension.",
    known_as: &[],
    partners: Partners::Fixed,
    read: |_, _| no_keys(|nodes| Ok(shifted(nodes.torus()?, 0, |size| 1 % size))),
};
