//! Sweeps as job arrays of Slurm.
//!
//! A [`Submission`] is a job array: each of its tasks computes some points into the store of the
//! sweep's folder, which all of them share, and leaves the others alone. So a task that is killed
//! loses only what is in flight, one that is started again skips what is there, and all that counts
//! in the end is which points are in the store: results are a local sweep's. What is missing can be
//! submitted again, as another job.
//!
//! Where a task stands ([`ArrayStatus`]) is asked of `squeue`, then of `sacct`, and where neither
//! knows (there is no accounting, and Slurm has forgotten the job) seen from what the task itself
//! has left: its record and its log.

mod command;
mod script;
mod state;
mod submission;
mod task_status;
mod trace;

pub use command::{JobId, SlurmError, most_tasks};
pub use state::End;
pub use submission::{JobArray, Submission};
pub use task_status::{ArrayStatus, TaskReport, TaskStatus};
