//! The opposite of `lru`: the output that was used last.

use flitlab::adaptive::{Outputs, Selection, SelectionRule};
use flitlab::registry::Row;

/// The selection function.
pub static MOST_RECENT: Row<Selection> =
    Row::new("mru", "the most recently used.", Selection::Outside(&MostRecent));

#[derive(Debug)]
struct MostRecent;

impl SelectionRule for MostRecent {
    fn asks_for_grants(&self) -> bool {
        true
    }

    fn prefers(&self, outputs: &Outputs<'_>) -> u32 {
        let granted = |&port: &u32| outputs.granted[port as usize];
        outputs.ports().max_by_key(granted).expect("a packet has an output to choose")
    }
}
