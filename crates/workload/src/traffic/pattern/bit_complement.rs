//! d_i = not s_i on bits.

use super::{Partners, PatternKind, no_keys};

pub(super) static BIT_COMPLEMENT: PatternKind = PatternKind {
    name: "bit-complement",
    doc: "every bit inverted.",
    known_as: &[],
    partners: Partners::Fixed,
    read: |_, _| {
        no_keys(|nodes| {
            let bits = nodes.bits()?;
            Ok(Box::new(move |node| node ^ ((1 << bits) - 1)))
        })
    },
};
