//! Applications: what ranks send, receive and compute.
//!
//! | module | what it is for |
//! |---|---|
//! | `check` | messages that nobody receives, found without carrying a schedule out |
//! | [`generate`] | schedules made in: collective operations, benchmarks, motifs |
//! | [`goal`] | GOAL files, in and out |
//! | `schedule` | operations of ranks and their dependencies |
//! | `tally` | a schedule, counted |

mod check;
pub mod generate;
pub mod goal;
mod schedule;
mod tally;

pub use check::{Unmatched, check};
pub use schedule::{
    ANY, Action, MOST_OPERATIONS, Operation, Schedule, ScheduleBuilder, ScheduleError, Until,
};
pub use tally::{Share, SizeClass, Tally};
