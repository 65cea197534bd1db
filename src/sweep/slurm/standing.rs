//! Where the tasks stand that have points which are not finished.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use super::command::{SlurmError, task_states};
use super::state::{ArrayTask, End, Reported, State};
use super::submission::Submission;
use super::trace::{complaint, end_in_log, read_log};
use crate::scenario::Point;

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Waiting,
    Running,
    Ended(End),
    /// Something has ended it, and left no word.
    Vanished,
    NotSubmitted,
    /// Slurm does not answer.
    Unknown,
}

impl Standing {
    /// Whether its points may still come.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Waiting | Self::Running)
    }
}

impl fmt::Display for Standing {
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
pub struct TaskStanding {
    /// As Slurm writes it, `JOB_TASK`; `None` if there is no job.
    pub task: Option<String>,
    pub standing: Standing,
    /// Why it waits or failed, as far as is known.
    pub reason: Option<String>,
    /// What it printed; `None` if there is nothing.
    pub log: Option<PathBuf>,
    /// The places of its points that are not finished.
    pub points: Vec<usize>,
}

/// Where all tasks stand that matter.
#[derive(Debug)]
pub struct Standings {
    pub tasks: Vec<TaskStanding>,
    /// Why Slurm could not be asked.
    pub silence: Option<SlurmError>,
}

impl Standings {
    /// Of the tasks that have points which are `missing`, places in `points`. A point that was submitted
    /// several times stands where it is waiting or running, or else where it was submitted last.
    ///
    /// # Errors
    /// If a submission can't be read.
    pub fn of(results: &Path, points: &[Point], missing: &[usize]) -> Result<Self, SlurmError> {
        let submissions = Submission::all(results)?;
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for &place in missing {
            places.entry(points[place].identity.to_string()).or_default().push(place);
        }
        let jobs: Vec<_> = submissions.iter().map(Submission::job).collect();
        let concerned = |submission: &Submission| {
            submission.tasks().iter().flatten().any(|identity| places.contains_key(identity))
        };
        let asked = submissions.iter().zip(&jobs).filter(|(submission, _)| concerned(submission));
        let asked: Vec<_> = asked.filter_map(|(_, job)| job.clone()).collect();
        let (reported, silence) = match task_states(&asked) {
            Ok(reported) => (Some(reported), None),
            Err(error) => (None, Some(error)),
        };
        let mut tasks = Vec::new();
        // The latest first, and before it all that is under way.
        for under_way in [true, false] {
            for (submission, job) in submissions.iter().zip(&jobs).rev() {
                for (identities, task) in submission.tasks().iter().zip(0..) {
                    if !identities.iter().any(|identity| places.contains_key(identity)) {
                        continue;
                    }
                    let job = job.as_ref().map(|job| job.0.as_str());
                    let (standing, reason) = stand(submission, job, task, reported.as_ref());
                    if under_way && !standing.is_under_way() {
                        continue;
                    }
                    let log = submission.log(task);
                    tasks.push(TaskStanding {
                        task: job.map(|job| format!("{job}_{task}")),
                        standing,
                        reason,
                        log: log.exists().then_some(log),
                        points: identities
                            .iter()
                            .filter_map(|identity| places.remove(identity))
                            .flatten()
                            .collect(),
                    });
                }
            }
        }
        let mut rest: Vec<usize> = places.into_values().flatten().collect();
        if !rest.is_empty() {
            rest.sort_unstable();
            tasks.push(TaskStanding {
                task: None,
                standing: Standing::NotSubmitted,
                reason: None,
                log: None,
                points: rest,
            });
        }
        tasks.sort_by_key(|task| task.points.iter().min().copied());
        Ok(Self { tasks, silence })
    }
}

/// Where a task stands and why, from what Slurm reports, or else from what the task has left.
fn stand(
    submission: &Submission,
    job: Option<&str>,
    task: u32,
    reported: Option<&BTreeMap<ArrayTask, Reported>>,
) -> (Standing, Option<String>) {
    let Some(job) = job else { return (Standing::NotSubmitted, None) };
    let known = reported.and_then(|reported| reported.get(&(job.to_owned(), task)));
    let end = match known {
        Some(Reported { state: State::Waiting, reason }) => {
            return (Standing::Waiting, reason.clone());
        }
        Some(Reported { state: State::Running, .. }) => return (Standing::Running, None),
        Some(Reported { state: State::Ended(end), .. }) => Some(*end),
        None => None,
    };
    let trace = submission.trace(task);
    let log = read_log(&submission.log(task));
    let code = trace.as_ref().and_then(|trace| trace.code);
    let standing = match (end, code, end_in_log(&log)) {
        // Out of memory a task may end by itself, when Slurm has killed flitlab in it.
        (None | Some(End::Failed), _, Some(end @ End::OutOfMemory)) => Standing::Ended(end),
        (Some(end), ..) => Standing::Ended(end),
        (None, Some(0), _) => Standing::Ended(End::Completed),
        (None, Some(_), _) => Standing::Ended(End::Failed),
        (None, None, Some(end)) => Standing::Ended(end),
        // Slurm doesn't answer, or has forgotten a job that is long over.
        (None, None, None) if reported.is_none() => Standing::Unknown,
        (None, None, None) if trace.is_none() => Standing::Ended(End::Cancelled),
        (None, None, None) => Standing::Vanished,
    };
    let reason = match standing {
        Standing::Ended(End::Failed) => {
            let code = code.map(|code| format!("exit code {code}"));
            let parts: Vec<String> = [code, complaint(&log)].into_iter().flatten().collect();
            Some(parts.join(": ")).filter(|text| !text.is_empty())
        }
        _ => None,
    };
    (standing, reason)
}
