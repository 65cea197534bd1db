//! Failures while a load is simulated, and the time at which new tables are there.

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Failures;

/// A failure during operation.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptionSpec {
    pub time: Picoseconds,
    /// From the failure until the new tables are ready. Given rather than measured, so that equal
    /// scenarios have equal results.
    pub new_tables_after: Picoseconds,
    pub failures: Failures,
}
