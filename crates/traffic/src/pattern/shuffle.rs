//! d_i = s_(i - 1 mod b) on bits: rotated left by one.

use super::{Partners, PatternKind, no_keys};
use flitlab_base::registry::Row;

pub(super) const SHUFFLE: Row<PatternKind> = Row::new(
    "shuffle",
    "the bits rotated left by one.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            no_keys(|nodes| {
                let bits = nodes.bits()?;
                Ok(Box::new(move |node: u32| (node << 1) & ((1 << bits) - 1) | node >> (bits - 1)))
            })
        },
    },
);
