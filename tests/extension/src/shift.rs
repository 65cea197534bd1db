//! Every node sends to the one whose number is larger by a constant.

use std::sync::Arc;

use flitlab::document::{Count, Reader};
use flitlab::topology::Places;
use flitlab::traffic::{Bind, Partners, PatternError, PatternKind};

pub static SHIFT: PatternKind = PatternKind {
    name: "shift",
    doc: "to the node whose number is larger by `by`, mod the number of nodes.",
    known_as: &[],
    partners: Partners::Fixed,
    read,
};

fn read(reader: &mut Reader<'_>, _: Option<Places<'_>>) -> Option<Bind> {
    let by = reader.value("by", &Count { example: 2 }, 1, "How much larger.");
    Some(Arc::new(move |nodes| {
        let count = nodes.count();
        if by >= count {
            let reason = format!("shift goes {by} nodes further on, and there are {count}");
            return Err(PatternError::Refused(reason));
        }
        Ok(Box::new(move |source| (source + by) % count))
    }))
}
