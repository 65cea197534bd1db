//! Traces of a task: its record, which the job script writes, and its log.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::command::JobId;
use super::state::End;
use flitlab_base::text_file::read_text;

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
        Some(Self::parse(&read_text(path).ok()?))
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
    let said = |what: &[&str]| {
        log.lines().filter(slurm).any(|line| what.iter().any(|what| line.contains(what)))
    };
    // Whatever the reason, a line says that the job was cancelled.
    if said(&["oom_kill event", "oom-kill event", "exceeded memory limit"]) {
        Some(End::OutOfMemory)
    } else if said(&["DUE TO TIME LIMIT"]) {
        Some(End::TimedOut)
    } else if said(&["DUE TO PREEMPTION"]) {
        Some(End::Preempted)
    } else if said(&["DUE TO NODE FAILURE"]) {
        Some(End::NodeFailed)
    } else {
        said(&["CANCELLED AT"]).then_some(End::Cancelled)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_which_job_it_was_and_how_it_ended() {
        let began = "began 42 node7 2026-11-22T00:04:46\n";
        let trace = Trace::parse(began);
        assert_eq!(trace, Trace { job: Some(JobId("42".into())), code: None });
        assert_eq!(Trace::parse(&format!("{began}ended 137\n")).code, Some(137));
        assert_eq!(Trace::parse("beg"), Trace::default());
    }

    // The lines are those of Slurm 22.05, but for those of control groups, which are from its
    // source.
    #[test]
    fn logs_say_how_slurm_ended_a_task() {
        let cancelled =
            "slurmstepd-vm: error: *** JOB 5 ON vm CANCELLED AT 2026-11-21T23:18:47 ***\n";
        let time = "  uniform, load 0.1000: accepted 0.1001, mean packet latency 324.3 ns\n\
                    slurmstepd-vm: error: *** JOB 1 ON vm CANCELLED AT 2026-11-21T23:27:27 DUE TO TIME LIMIT ***\n";
        let memory = "slurmstepd-vm: error: StepId=13.batch exceeded memory limit (498561024 > 104857600), \
                      being killed\nslurmstepd-vm: error: Exceeded job memory limit\n";
        let group = "slurmstepd: error: Detected 1 oom_kill event in StepId=5.batch. Some of the step tasks \
                     have been OOM Killed.\n";
        assert_eq!(end_in_log(cancelled), Some(End::Cancelled));
        assert_eq!(end_in_log(time), Some(End::TimedOut));
        assert_eq!(end_in_log(&format!("{memory}{cancelled}")), Some(End::OutOfMemory));
        assert_eq!(end_in_log(group), Some(End::OutOfMemory));
        assert_eq!(end_in_log("error: can't write a.point: No space left on device\n"), None);
        assert_eq!(end_in_log(""), None);
    }

    #[test]
    fn the_line_that_says_why_is_flitlabs_own() {
        let log = "  load 0.1: steady\nerror: can't write a.point: No space left on device\nbye\n";
        assert_eq!(complaint(log).unwrap(), "can't write a.point: No space left on device");
        let killed =
            "/x/job.sh: line 17:  2153 Killed   flitlab sweep task\nslurmstepd: error: x\n";
        assert_eq!(complaint(killed).unwrap(), killed.lines().next().unwrap());
        assert_eq!(complaint("\n"), None);
    }
}
