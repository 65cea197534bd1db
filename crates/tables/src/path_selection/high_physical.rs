//! High physical channel first (\[path-selection\], section 3): as traffic balancing, but of the
//! physical channel with the highest sum, and there of its fullest virtual channel.

use super::{PathSelection, SelectionTask};
use flitlab_base::registry::Row;

impl PathSelection {
    /// `high-physical`.
    pub const HIGH_PHYSICAL: Row<Self> = Row::new(
        "high-physical",
        "takes paths from the fullest physical channel, there its fullest virtual one.",
        Self { select: |task: &SelectionTask<'_>| task.counted(|counters| counters.thin(true)) },
    );
}
