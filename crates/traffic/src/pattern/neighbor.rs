//! d_i = s_i + 1 mod k_i in every dimension.

use super::{Partners, PatternKind, coordinates::shifted, no_keys};
use flitlab_base::registry::Row;

pub(super) const NEIGHBOR: Row<PatternKind> = Row::new(
    "neighbor",
    "x + 1 mod k, in every dimension.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| no_keys(|nodes| Ok(shifted(nodes.torus()?, 0, |size| 1 % size))),
    },
);
