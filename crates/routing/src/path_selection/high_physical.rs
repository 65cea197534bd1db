//! High physical channel first (\[path-selection\], section 3): as traffic balancing, but of the
//! physical channel with the highest sum, and there of its fullest virtual channel.

use super::{PathSelection, SelectionTask};

impl PathSelection {
    /// `high-physical`.
    pub const HIGH_PHYSICAL: Self = Self {
        name: "high-physical",
        doc: "takes paths away from the fullest physical channel, there from its fullest virtual one.",
        select: |task: &SelectionTask<'_>| task.counted(|counters| counters.thin(true)),
    };
}
