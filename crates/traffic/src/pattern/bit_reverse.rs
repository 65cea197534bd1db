//! d_i = s_(b - 1 - i) on bits.

use super::{Partners, PatternKind, no_keys};
use flitlab_base::registry::Row;

pub(super) const BIT_REVERSE: Row<PatternKind> = Row::new(
    "bit-reverse",
    "the bits in reverse order.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            no_keys(|nodes| {
                let bits = nodes.bits()?;
                Ok(Box::new(move |node: u32| node.reverse_bits() >> (u32::BITS - bits)))
            })
        },
    },
);
