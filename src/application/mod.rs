//! Applications: what ranks send, receive and compute.
//!
//! | module | what it is for |
//! |---|---|
//! | [`goal`] | GOAL files, in and out |
//! | `schedule` | operations of ranks and their dependencies |
//! | `stuck` | operations that can't go on |
//! | `matching` | messages and receipts that wait for each other |
//! | [`loggops`] | a schedule's time without a network: the LogGOPS model |

pub mod goal;
pub mod loggops;
mod matching;
mod schedule;
mod stuck;

pub(crate) use matching::{Matching, Mix};

pub use schedule::{
    ANY, Action, MOST_OPERATIONS, Operation, Schedule, ScheduleBuilder, ScheduleError, Until,
};
pub use stuck::Stuck;
