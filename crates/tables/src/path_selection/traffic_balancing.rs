//! Traffic balancing (\[traffic-balancing\]; \[path-selection\], section 2): as long as pairs have
//! several paths, one is taken away that crosses the (virtual) channel with the most, of the pair
//! with the most.

use super::{PathSelection, SelectionTask};
use flitlab_base::registry::Row;

impl PathSelection {
    /// `traffic-balancing`.
    pub const TRAFFIC_BALANCING: Row<Self> = Row::new(
        "traffic-balancing",
        "takes paths away from the fullest virtual channel (Sancho and Robles).",
        Self { select: |task: &SelectionTask<'_>| task.counted(|counters| counters.thin(false)) },
    );
}
