//! d_i = s_(b - 1 - i) on bits.

use super::{Partners, PatternKind, no_keys};

pub(super) static BIT_REVERSE: PatternKind = PatternKind {
    name: "bit-reverse",
    doc: "the bits in reverse order.",
    known_as: &[],
    partners: Partners::Fixed,
    read: |_, _| {
        no_keys(|nodes| {
            let bits = nodes.bits()?;
            Ok(Box::new(move |node: u32| node.reverse_bits() >> (u32::BITS - bits)))
        })
    },
};
