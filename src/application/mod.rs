//! Applications: what ranks send, receive and compute.
//!
//! | module | what it is for |
//! |---|---|
//! | [`goal`] | GOAL files, in and out |
//! | `schedule` | operations of ranks and their dependencies |

pub mod goal;
mod schedule;

pub use schedule::{
    ANY, Action, MOST_OPERATIONS, Operation, Schedule, ScheduleBuilder, ScheduleError, Until,
};
