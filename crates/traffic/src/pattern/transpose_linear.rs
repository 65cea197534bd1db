//! With N = m * m nodes, node i * m + j sends to node j * m + i (\[outflank\]).
//!
//! For b even this is the transpose of \[dally-towles\], d_i = s_(i + b/2 mod b) on bits.

use super::{Partners, PatternKind, no_keys, sizes};
use flitlab_base::registry::Row;

pub(super) const TRANSPOSE_LINEAR: Row<PatternKind> = Row::new(
    "transpose-linear",
    "the node number's row and column in a square swapped: i m + j to j m + i.",
    PatternKind {
        partners: Partners::Fixed,
        read: |_, _| {
            no_keys(|nodes| {
                let side = nodes.count().isqrt();
                if side * side != nodes.count() {
                    return Err(nodes.refuse_count("a square number of nodes", sizes::squares));
                }
                Ok(Box::new(move |node| node % side * side + node / side))
            })
        },
    },
);
