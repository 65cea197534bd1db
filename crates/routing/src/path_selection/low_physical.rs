//! Low physical channel first (\[path-selection\], section 3): as low virtual channel first, but
//! across the physical channel with the lowest sum, and there across its emptiest virtual channel.

use super::{PathSelection, SelectionTask};

impl PathSelection {
    /// `low-physical`.
    pub const LOW_PHYSICAL: Self = Self {
        name: "low-physical",
        doc: "fixes paths across the emptiest physical channel, there across its emptiest virtual one.",
        select: |task: &SelectionTask<'_>| task.counted(|counters| counters.fix(true)),
    };
}
