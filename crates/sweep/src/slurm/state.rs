//! The states of array tasks, as Slurm's commands print them.

use std::collections::BTreeMap;
use std::fmt;

/// How a task that is over has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    /// By itself, with exit code 0.
    Completed,
    /// By itself, with another code, or its machine could not start it.
    Failed,
    TimedOut,
    OutOfMemory,
    Cancelled,
    Preempted,
    NodeFailed,
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::OutOfMemory => "out of memory",
            Self::Cancelled => "cancelled",
            Self::Preempted => "preempted",
            Self::NodeFailed => "node failed",
        })
    }
}

/// Where Slurm has a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Running,
    Ended(End),
}

impl State {
    /// From its long name, `CANCELLED by 1000` too; `None` if there is no such state.
    fn parse(name: &str) -> Option<Self> {
        Some(match name.split(' ').next()? {
            "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT"
            | "RESV_DEL_HOLD" => Self::Waiting,
            "RUNNING" | "COMPLETING" | "CONFIGURING" | "SUSPENDED" | "STOPPED" | "SIGNALING"
            | "STAGE_OUT" | "RESIZING" => Self::Running,
            "COMPLETED" => Self::Ended(End::Completed),
            "FAILED" | "REVOKED" => Self::Ended(End::Failed),
            "TIMEOUT" | "DEADLINE" => Self::Ended(End::TimedOut),
            "OUT_OF_MEMORY" => Self::Ended(End::OutOfMemory),
            "CANCELLED" => Self::Ended(End::Cancelled),
            "PREEMPTED" => Self::Ended(End::Preempted),
            "NODE_FAIL" | "BOOT_FAIL" | "LAUNCH_FAILED" | "RECONFIG_FAIL" => {
                Self::Ended(End::NodeFailed)
            }
            _ => return None,
        })
    }
}

/// Slurm's report on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reported {
    pub state: State,
    /// Why it waits, in Slurm's word; `None` if there is no reason.
    pub reason: Option<String>,
}

/// A task of an array: the job's number and the task's.
pub(super) type ArrayTask = (String, u32);

/// Reads lines `JOB_TASK|STATE` or `JOB_TASK|STATE|REASON`, as squeue and sacct print them. Other
/// lines are left out: those of other jobs, of steps, and of tasks that are not listed one by one.
pub(super) fn parse(lines: &str) -> BTreeMap<ArrayTask, Reported> {
    lines.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<(ArrayTask, Reported)> {
    let mut fields = line.split('|').map(str::trim);
    let (job, task) = fields.next()?.split_once('_')?;
    let state = State::parse(fields.next()?)?;
    let reason = fields.next().filter(|reason| !["", "None"].contains(reason)).map(str::to_owned);
    Some(((job.to_owned(), task.parse().ok()?), Reported { state, reason }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(states: &BTreeMap<ArrayTask, Reported>, job: &str, task: u32) -> Option<State> {
        states.get(&(job.to_owned(), task)).map(|reported| reported.state)
    }

    /// Of Slurm 22.05: `squeue --noheader --array --states=all --format=%i|%T|%r`.
    const SQUEUE: &str = "\
10_5|CANCELLED|Resources
1_0|COMPLETED|None
10_3|FAILED|JobLaunchFailure
10_1|FAILED|NonZeroExitCode
8_3|COMPLETING|None
14_0|PENDING|JobHeldUser
9|RUNNING|None
1_[0-5]|PENDING|None
10_2|RUNNING|None
1_4|TIMEOUT|TimeLimit
";

    /// Of the same: `sacct --noheader --parsable2 --allocations --format=JobID,State`.
    const SACCT: &str = "\
1_0|COMPLETED
1_2|TIMEOUT
10_2|RUNNING
10_3|FAILED
10_4|CANCELLED by 0
10_[1-3,5]|CANCELLED by 0
";

    #[test]
    fn what_squeue_prints_is_read() {
        let states = parse(SQUEUE);
        assert_eq!(states.len(), 8);
        assert_eq!(of(&states, "10", 5), Some(State::Ended(End::Cancelled)));
        assert_eq!(of(&states, "10", 3), Some(State::Ended(End::Failed)));
        assert_eq!(of(&states, "8", 3), Some(State::Running));
        assert_eq!(of(&states, "1", 4), Some(State::Ended(End::TimedOut)));
        let held = &states[&("14".to_owned(), 0)];
        assert_eq!(held.state, State::Waiting);
        assert_eq!(held.reason.as_deref(), Some("JobHeldUser"));
        assert_eq!(states[&("10".to_owned(), 2)].reason, None);
    }

    #[test]
    fn what_sacct_prints_is_read() {
        let states = parse(SACCT);
        assert_eq!(states.len(), 5);
        assert_eq!(of(&states, "1", 0), Some(State::Ended(End::Completed)));
        assert_eq!(of(&states, "10", 4), Some(State::Ended(End::Cancelled)));
        assert_eq!(of(&states, "10", 2), Some(State::Running));
    }

    #[test]
    fn what_is_no_state_of_a_task_is_left_out() {
        for line in ["", "42", "42_1", "42_1|", "42_1|GONE", "42_x|RUNNING", "CLUSTER: a"] {
            assert!(parse(line).is_empty(), "{line}");
        }
    }
}
