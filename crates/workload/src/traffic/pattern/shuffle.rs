//! d_i = s_(i - 1 mod b) on bits: rotated left by one.

use super::{Partners, PatternKind, no_keys};

pub(super) static SHUFFLE: PatternKind = PatternKind {
    name: "shuffle",
    doc: "the bits rotated left by one.",
    known_as: &[],
    partners: Partners::Fixed,
    read: |_, _| {
        no_keys(|nodes| {
            let bits = nodes.bits()?;
            Ok(Box::new(move |node: u32| (node << 1) & ((1 << bits) - 1) | node >> (bits - 1)))
        })
    },
};
