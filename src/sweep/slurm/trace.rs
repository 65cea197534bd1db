//! What a task has left: its record, which the job script writes, and its log.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::command::JobId;
use super::state::End;

/// As much of a log's end is looked at.
const LOOKED_AT: u64 = 64 << 10;

/// A task's record: a line when it begins, a line when it ends by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    pub job: Option<JobId>,
    /// The exit code of flitlab; `None` if the task runs, or something ended it.
    pub code: Option<i32>,
}

impl Trace {
    /// `None` if the task has never begun.
    pub fn read(path: &Path) -> Option<Self> {
        Some(Self::parse(&std::fs::read_to_string(path).ok()?))
    }

    fn parse(text: &str) -> Self {
        let mut trace = Self::default();
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["began", job, ..] => trace.job = Some(JobId((*job).into())),
                ["ended", code] => trace.code = code.parse().ok(),
                _ => {}
            }
        }
        trace
    }
}

/// How a task was ended by Slurm, as its log says. Slurm itself forgets that after minutes.
pub(super) fn end_in_log(log: &str) -> Option<End> {
    let slurm = |line: &&str| line.starts_with("slurmstepd") && line.contains("error:");
    let of_line = |line: &str| {
        let has = |what: &str| line.contains(what);
        if has("DUE TO TIME LIMIT") {
            Some(End::TimedOut)
        } else if has("oom_kill event") || has("oom-kill event") || has("exceeded memory limit") {
            Some(End::OutOfMemory)
        } else if has("DUE TO PREEMPTION") {
            Some(End::Preempted)
        } else if has("DUE TO NODE FAILURE") {
            Some(End::NodeFailed)
        } else if has("CANCELLED AT") {
            Some(End::Cancelled)
        } else {
            None
        }
    };
    log.lines().rev().filter(slurm).find_map(of_line)
}

/// The line of a log that most likely says why the task failed: flitlab's error, else the last one.
pub(super) fn complaint(log: &str) -> Option<String> {
    let own = |line: &&str| !line.trim().is_empty() && !line.starts_with("slurmstepd");
    let error = |line: &&str| line.starts_with("error:") || line.contains("panicked at");
    let line = log.lines().rev().find(error).or_else(|| log.lines().rev().find(own))?;
    Some(line.trim().trim_start_matches("error: ").chars().take(200).collect())
}

/// The end of a log; empty if there is none.
pub(super) fn read_log(path: &Path) -> String {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&end).into_owned())
    };
    read().unwrap_or_default()
}
