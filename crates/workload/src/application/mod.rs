//! Applications: what ranks send, receive and compute.
//!
//! | module | what it is for |
//! |---|---|
//! | `check` | messages that nobody receives, found without carrying a schedule out |
//! | `complaints` | mistakes in lines of files |
//! | [`generate`] | schedules made in: collective operations, benchmarks, motifs |
//! | [`goal`] | GOAL files, in and out |
//! | `lines` | many short queues in one array |
//! | `schedule` | operations of ranks and their dependencies |
//! | `stuck` | operations that can't go on |
//! | `matching` | messages and receipts that wait for each other |
//! | `remote` | operations upon the memory of other nodes |
//! | [`read`] | files of other programs, by format |
//! | [`loggops`] | a schedule's time without a network: the LogGOPS model |
//! | `tally` | a schedule, counted |

mod check;
mod complaints;
pub mod generate;
pub mod goal;
mod lines;
pub mod loggops;
mod matching;
pub mod read;
mod remote;
mod schedule;
mod stuck;
mod tally;

pub(crate) use lines::{Line, Lines};
pub(crate) use matching::{Found, Matching};

pub use check::{Unmatched, check};
pub use remote::RemoteOperation;
pub use schedule::{
    ANY, Action, MAX_NANOSECONDS, MAX_OPERATIONS, Operation, Schedule, ScheduleBuilder,
    ScheduleError, Until,
};
pub use stuck::Stuck;
pub use tally::{Share, SizeClass, Tally};
