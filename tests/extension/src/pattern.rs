//! A permutation with a key.

use std::sync::Arc;

use flitlab::document::Count;
use flitlab::registry::Row;
use flitlab::traffic::{Partners, PatternKind};

/// Each node sends to the one that is `by` nodes further on.
pub static STRIDE: Row<PatternKind> = Row::new(
    "stride",
    "to the node whose number is larger by `by`, mod the number of nodes.",
    PatternKind {
        partners: Partners::Fixed,
        read: |reader, _| {
            let by = reader.required("by", &Count { example: 4 }, "How much larger.")?;
            Some(Arc::new(move |nodes| {
                let count = nodes.count();
                Ok(Box::new(move |source| (source + by) % count))
            }))
        },
    },
);
