//! d_i = s_i + ceil(k_i / 2) - 1 mod k_i in every dimension.

use super::{Partners, PatternKind, coordinates::shifted, no_keys};
use flitlab_base::registry::Row;

pub(super) const TORNADO: Row<PatternKind> = Row::new(
    "tornado",
    "x + ceil(k/2) - 1 mod k, in every dimension.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| no_keys(|nodes| Ok(shifted(nodes.torus()?, 0, |size| size.div_ceil(2) - 1))),
    },
);
