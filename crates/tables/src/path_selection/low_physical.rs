//! Low physical channel first (\[path-selection\], section 3): as low virtual channel first, but
//! across the physical channel with the lowest sum, and there across its emptiest virtual channel.

use super::{PathSelection, SelectionTask};
use flitlab_base::registry::Row;

impl PathSelection {
    /// `low-physical`.
    pub const LOW_PHYSICAL: Row<Self> = Row::new(
        "low-physical",
        "fixes paths across the emptiest physical channel, there across its emptiest virtual one.",
        Self { select: |task: &SelectionTask<'_>| task.counted(|counters| counters.fix(true)) },
    );
}
