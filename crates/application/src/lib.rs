//! Applications: what ranks send, receive and compute, and what each waits for.
//!
//! | module | what it is for |
//! |---|---|
//! | `check` | messages that nobody receives, found without carrying a schedule out |
//! | [`generate`] | schedules made in: collective operations, benchmarks, motifs |
//! | `lines` | many short queues in one array |
//! | [`loggops`] | a schedule's time without a network: the LogGOPS model |
//! | `matching` | messages and receipts that wait for each other |
//! | `remote` | operations upon the memory of other nodes |
//! | `schedule` | operations of ranks and their dependencies |
//! | `stuck` | operations that can't go on |
//! | `tally` | a schedule, counted |
//!
//! # Example
//!
//! Two ranks, of which one computes for 2 us and then sends 4 KiB to the other.
//!
//! ```
//! use flitlab_application::loggops::{LogGops, simulate};
//! use flitlab_application::{Operation, ScheduleBuilder, Until};
//! use flitlab_base::units::Picoseconds;
//!
//! let mut builder = ScheduleBuilder::new();
//! let compute = builder.add(Operation::compute(2000)).unwrap();
//! let send = builder.add(Operation::send(4096, 1, 0)).unwrap();
//! builder.wait(send, Until::Done, compute);
//! builder.end_rank().unwrap();
//! builder.add(Operation::receive(4096, 0, 0)).unwrap();
//! builder.end_rank().unwrap();
//! let finished = simulate(&builder.finish(), &LogGops::CLASSIC).unwrap();
//! assert!(finished.time() > Picoseconds(2_000_000));
//! ```

#![warn(missing_docs)]

mod check;
pub mod generate;
mod lines;
pub mod loggops;
mod matching;
mod remote;
mod schedule;
mod stuck;
mod tally;

// What carries schedules out in tests is a part of those of flitlab-traces, too.
#[cfg(test)]
extern crate self as flitlab_application;

pub use check::{Unmatched, check};
pub use lines::{Line, Lines};
pub use matching::{Found, Matching};
pub use remote::RemoteOperation;
pub use schedule::{
    ANY, Action, MAX_NANOSECONDS, MAX_OPERATIONS, Operation, Schedule, ScheduleBuilder,
    ScheduleError, Until,
};
pub use stuck::Stuck;
pub use tally::{Share, SizeClass, Tally};
