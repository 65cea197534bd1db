//! At each router the last hop that the relation offers.

use flitlab::registry::Row;
use flitlab::tables::path_selection::PathSelection;

/// The selection.
pub static LAST_OFFERED: Row<PathSelection> = Row::new(
    "last-offered",
    "the highest port at each router, there the highest virtual channel.",
    PathSelection { select: |task| task.walk(|_, hops, _| hops.len() - 1) },
);
