//! Failures during operation, as rows of `failures.csv`.

use super::table::{Count, Given, Microseconds, table};
use flitlab_base::units::Picoseconds;

table! {
    /// A failure of a point in which something fails several times.
    pub struct FailureRow {
        /// Time of the failure.
        time: Picoseconds as Given<Microseconds>, "time_us", "time of the failure", Label, usual;
        /// Packets in the network at the failure.
        packets_under_way: u64 as Given<Count<u64>>, "packets_under_way", "packets under way", Completion, usual;
        /// Packets that were lost from the failure until the next one, or until the end.
        packets_lost: u64 as Given<Count<u64>>, "packets_lost", "packets lost", Completion, usual;
        /// Messages that ended in that time and are not received because of a failure, those of
        /// failed nodes included.
        messages_lost: u64 as Given<Count<u64>>, "messages_lost", "messages lost", Completion, usual;
        /// From the failure until sources went on with new tables that know of it.
        interruption: Option<Picoseconds> as Microseconds, "interruption_us", "interruption", Completion, usual;
        /// From the failure until, after that, no more was under way than before the first failure.
        recovery: Option<Picoseconds> as Microseconds, "recovery_us", "recovery", Completion, usual;
    }
}
