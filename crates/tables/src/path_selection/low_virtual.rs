//! Low virtual channel first (\[path-selection\], section 3): as long as pairs have several paths,
//! one is fixed that crosses the virtual channel with the fewest, of several there the one that
//! crosses the emptiest other channel.

use super::{PathSelection, SelectionTask};
use flitlab_base::registry::Row;

impl PathSelection {
    /// `low-virtual`.
    pub const LOW_VIRTUAL: Row<Self> = Row::new(
        "low-virtual",
        "fixes paths across the emptiest virtual channel.",
        Self { select: |task: &SelectionTask<'_>| task.counted(|counters| counters.fix(false)) },
    );
}
