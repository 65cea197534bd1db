//! Failures while a load is simulated, and the times at which new tables are there.

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Failures;
use flitlab_tables::Changes;

/// Failures during operation, and what it takes to route round them.
#[derive(Clone, Debug, PartialEq)]
pub struct InterruptionSpec {
    /// In the order of time; there is one.
    pub failures: Vec<FailureSpec>,
    /// The time that it takes to route a destination anew.
    pub destination_time: Picoseconds,
    /// The time that it takes to send a block of a table to the switch, or to the node, that has it.
    pub block_time: Picoseconds,
    pub new_tables: NewTables,
}

/// A failure during operation.
#[derive(Clone, Debug, PartialEq)]
pub struct FailureSpec {
    pub time: Picoseconds,
    /// From the failure until new tables are ready, but for what they take by the two times of the
    /// [`InterruptionSpec`]. Given rather than measured, so that equal scenarios have equal results.
    pub new_tables_after: Picoseconds,
    /// What fails, of what earlier failures have left.
    pub failed: Failures,
}

/// The destinations that are routed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewTables {
    /// All, as if the fabric had always been what is left of it.
    All,
    /// Those to which something on the way has failed; the ways to others stay.
    Concerned,
}

impl InterruptionSpec {
    /// Whether it has to be known how much of the tables changes.
    pub fn counts_changes(&self) -> bool {
        self.new_tables == NewTables::Concerned
            || self.destination_time + self.block_time > Picoseconds::ZERO
    }

    /// Time of the first failure.
    pub fn time(&self) -> Picoseconds {
        self.failures[0].time
    }

    /// What it takes to make tables and to send them, beside the failure's own time, if so much of
    /// them changes and all have so many `destinations`.
    pub fn time_of(&self, changes: Changes, destinations: u32) -> Picoseconds {
        let routed = match self.new_tables {
            NewTables::All => destinations,
            NewTables::Concerned => changes.destinations,
        };
        self.destination_time * u64::from(routed) + self.block_time * changes.blocks
    }
}
