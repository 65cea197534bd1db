//! d_i = not s_i on bits.

use super::{Partners, PatternKind, no_keys};
use flitlab_base::registry::Row;

pub(super) const BIT_COMPLEMENT: Row<PatternKind> = Row::new(
    "bit-complement",
    "every bit inverted.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            no_keys(|nodes| {
                let bits = nodes.bits()?;
                Ok(Box::new(move |node| node ^ ((1 << bits) - 1)))
            })
        },
    },
);
