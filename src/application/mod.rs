//! Applications: what ranks send, receive and compute.
//!
//! | module | what it is for |
//! |---|---|
//! | `schedule` | operations of ranks and their dependencies |

mod schedule;

pub use schedule::{
    ANY, Action, MOST_OPERATIONS, Operation, Schedule, ScheduleBuilder, ScheduleError, Until,
};
