//! Where the tasks stand that have points which are not finished.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use super::command::{JobId, SlurmError, task_states};
use super::state::{ArrayTask, End, Reported, State};
use super::submission::Submission;
use super::trace::{complaint, end_in_log, read_log};
use flitlab_base::units::{clock_time_text, memory_text};
use flitlab_scenario::Point;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus {
    Waiting,
    Running,
    Ended(End),
    /// Something has ended it, and left no word.
    Vanished,
    NotSubmitted,
    /// Slurm does not answer.
    Unknown,
}

impl TaskStatus {
    /// Whether its points may still come.
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting => formatter.write_str("waiting"),
            Self::Running => formatter.write_str("running"),
            Self::Ended(end) => end.fmt(formatter),
            Self::Vanished => formatter.write_str("vanished"),
            Self::NotSubmitted => formatter.write_str("not submitted"),
            Self::Unknown => formatter.write_str("unknown"),
        }
    }
}

/// A task, or points that belong to none.
#[derive(Clone, Debug)]
pub struct TaskReport {
    /// As Slurm writes it, `JOB_TASK`; `None` if there is no job.
    pub task: Option<String>,
    pub status: TaskStatus,
    /// Why it waits or failed, as far as is known.
    pub reason: Option<String>,
    /// The file of its output; `None` if there is none.
    pub log: Option<PathBuf>,
    /// The places of its points that are not finished.
    pub points: Vec<usize>,
}

/// Where all tasks stand that matter.
#[derive(Debug)]
pub struct ArrayStatus {
    pub tasks: Vec<TaskReport>,
    /// Why Slurm could not be asked.
    pub silence: Option<SlurmError>,
}

impl ArrayStatus {
    /// Of the tasks that have points which are `missing`, places in `points`. A point that was
    /// submitted several times stands where it is waiting or running, or else where it was
    /// submitted last.
    ///
    /// # Errors
    /// If a submission can't be read.
    pub fn of(results: &Path, points: &[Point], missing: &[usize]) -> Result<Self, SlurmError> {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for &place in missing {
            places.entry(points[place].identity.to_string()).or_default().push(place);
        }
        let submissions = Submission::all(results)?;
        let concerns =
            |task: &&Task<'_>| task.identities.iter().any(|identity| places.contains_key(identity));
        let tasks: Vec<Task<'_>> = submissions.iter().flat_map(Task::of).collect();
        let tasks: Vec<&Task<'_>> = tasks.iter().filter(concerns).collect();
        let mut jobs: Vec<JobId> = tasks.iter().filter_map(|task| task.job.clone()).collect();
        jobs.dedup();
        let (reported, silence) = match task_states(&jobs) {
            Ok(reported) => (Some(reported), None),
            Err(error) => (None, Some(error)),
        };
        let mut status: Vec<(&Task<'_>, TaskStatus, Option<String>)> = Vec::new();
        for task in tasks {
            let (stands, reason) = task.stand(reported.as_ref());
            status.push((task, stands, reason));
        }
        // Tasks under way come first, then the latest submissions: a point stands with the first
        // task that has it.
        status.sort_by_key(|(task, stands, _)| {
            (!stands.is_under_way(), Reverse(task.submission.number), task.number)
        });
        let mut tasks = Vec::new();
        for (task, status, reason) in status {
            let own = task.identities.iter().filter_map(|identity| places.remove(identity));
            let points: Vec<usize> = own.flatten().collect();
            if !points.is_empty() {
                tasks.push(task.report(status, reason, points));
            }
        }
        tasks.sort_by_key(|(order, _)| *order);
        let mut tasks: Vec<TaskReport> = tasks.into_iter().map(|(_, task)| task).collect();
        let mut rest: Vec<usize> = places.into_values().flatten().collect();
        if !rest.is_empty() {
            rest.sort_unstable();
            tasks.push(TaskReport {
                task: None,
                status: TaskStatus::NotSubmitted,
                reason: None,
                log: None,
                points: rest,
            });
        }
        Ok(Self { tasks, silence })
    }

    /// Without the points that are there by now, and the tasks of which none are `missing`: places
    /// in ascending order.
    pub fn keep(&mut self, missing: &[usize]) {
        for task in &mut self.tasks {
            task.points.retain(|place| missing.binary_search(place).is_ok());
        }
        self.tasks.retain(|task| !task.points.is_empty());
    }
}

/// A task of a submission.
struct Task<'s> {
    submission: &'s Submission,
    number: u32,
    job: Option<JobId>,
    identities: &'s [String],
}

impl<'s> Task<'s> {
    fn of(submission: &'s Submission) -> Vec<Self> {
        let job = submission.job();
        let task = |(identities, number): (&'s Vec<String>, u32)| Self {
            submission,
            number,
            job: job.clone(),
            identities,
        };
        submission.tasks.iter().zip(0..).map(task).collect()
    }

    /// With its place among all tasks.
    fn report(
        &self,
        status: TaskStatus,
        reason: Option<String>,
        points: Vec<usize>,
    ) -> ((u32, u32), TaskReport) {
        let log = self.submission.log(self.number);
        let task = TaskReport {
            task: self.job.as_ref().map(|job| format!("{job}_{}", self.number)),
            status,
            reason,
            log: log.exists().then_some(log),
            points,
        };
        ((self.submission.number, self.number), task)
    }

    /// Returns its status and the reason, from Slurm's report, or else from what the task has left.
    fn stand(
        &self,
        reported: Option<&BTreeMap<ArrayTask, Reported>>,
    ) -> (TaskStatus, Option<String>) {
        let Some(job) = &self.job else { return (TaskStatus::NotSubmitted, None) };
        let known = reported.and_then(|reported| reported.get(&(job.0.clone(), self.number)));
        let end = match known {
            Some(Reported { state: State::Waiting, reason }) => {
                return (TaskStatus::Waiting, reason.clone());
            }
            Some(Reported { state: State::Running, .. }) => return (TaskStatus::Running, None),
            Some(Reported { state: State::Ended(end), .. }) => Some(*end),
            None => None,
        };
        let trace = self.submission.trace(self.number);
        let log = read_log(&self.submission.log(self.number));
        let code = trace.as_ref().and_then(|trace| trace.code);
        let status = match (end, code, end_in_log(&log)) {
            // Slurm may have killed flitlab alone, and then the task has ended by itself.
            (None | Some(End::Failed), _, Some(end @ End::OutOfMemory)) => TaskStatus::Ended(end),
            (Some(end), ..) => TaskStatus::Ended(end),
            (None, Some(0), _) => TaskStatus::Ended(End::Completed),
            (None, Some(_), _) => TaskStatus::Ended(End::Failed),
            (None, None, Some(end)) => TaskStatus::Ended(end),
            (None, None, None) if reported.is_none() => TaskStatus::Unknown,
            // Slurm has forgotten the job, and so it is over.
            (None, None, None) if trace.is_none() => TaskStatus::Ended(End::Cancelled),
            (None, None, None) => TaskStatus::Vanished,
        };
        let reason = match status {
            TaskStatus::Ended(End::TimedOut) => {
                let time = self.submission.settings().time;
                time.map(|time| format!("after {}", clock_time_text(time)))
            }
            TaskStatus::Ended(End::OutOfMemory) => {
                let memory = self.submission.settings().memory;
                memory.map(|memory| format!("over {}", memory_text(memory.0)))
            }
            TaskStatus::Ended(End::Completed) => {
                let why =
                    "its points are not there; a network file system may show them a minute late";
                Some(why.into())
            }
            TaskStatus::Vanished => Some("neither Slurm nor its log says why".into()),
            TaskStatus::Ended(End::Failed) => {
                let code = code.map(|code| format!("exit code {code}"));
                let parts: Vec<String> = [code, complaint(&log)].into_iter().flatten().collect();
                Some(parts.join(": ")).filter(|text| !text.is_empty())
            }
            _ => None,
        };
        (status, reason)
    }
}
