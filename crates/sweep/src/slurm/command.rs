//! Slurm's commands.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::state::{ArrayTask, Reported, State, parse};
use flitlab_base::FileError;
use flitlab_scenario::SlurmSettings;

/// The number of a job, as Slurm prints it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(pub String);

impl fmt::Display for JobId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Errors of a job array.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SlurmError {
    /// There is no such command here.
    #[error(
        "there is no {command} here: type this on a login node of the cluster, or set up a Slurm of \
         one node with scripts/slurm-local.sh; --no-submit writes the job script all the same"
    )]
    NoCommand { command: &'static str },
    /// A command said no, and why.
    #[error("{command} failed:\n    {}", message.replace('\n', "\n    "))]
    Refused { command: &'static str, message: String },
    /// Files of a submission could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file is not as it was written.
    #[error("{path} is not as flitlab wrote it: {what}")]
    Damaged { path: PathBuf, what: String },
    /// Slurm can't have its logs in a folder with such a name.
    #[error(
        "sbatch takes no log in {path}: its name has a quote, a backslash, a line break, or is no text"
    )]
    Folder { path: PathBuf },
}

/// The most tasks that a job array may have here; `None` if Slurm does not say.
///
/// # Errors
/// If no jobs can be submitted here.
pub fn most_tasks() -> Result<Option<usize>, SlurmError> {
    call("sbatch", Command::new("sbatch").arg("--version"))?;
    let settings = call("scontrol", Command::new("scontrol").args(["show", "config"]));
    let settings = settings.unwrap_or_default();
    let line = settings.lines().find(|line| line.starts_with("MaxArraySize"));
    Ok(line.and_then(|line| line.split_once('=')?.1.trim().parse().ok()))
}

/// Submits a job script.
pub(super) fn sbatch(script: &Path, settings: &SlurmSettings) -> Result<JobId, SlurmError> {
    let mut command = Command::new("sbatch");
    command.arg("--parsable").arg(script);
    // These go before what the script says.
    let unwanted = [
        ("SBATCH_PARTITION", settings.partition.is_some()),
        ("SBATCH_TIMELIMIT", settings.time.is_some()),
        ("SBATCH_MEM_PER_NODE", settings.memory.is_some()),
        ("SBATCH_MEM_PER_CPU", settings.memory.is_some()),
        ("SBATCH_MEM_PER_GPU", settings.memory.is_some()),
        ("SBATCH_ACCOUNT", settings.account.is_some()),
        ("SBATCH_QOS", settings.qos.is_some()),
        ("SBATCH_ARRAY_INX", true),
        ("SBATCH_OUTPUT", true),
        ("SBATCH_ERROR", true),
        ("SBATCH_OPEN_MODE", true),
        ("SBATCH_JOB_NAME", true),
        ("SBATCH_WAIT", true),
        ("SBATCH_CLUSTERS", true),
    ];
    for (variable, _) in unwanted.iter().filter(|(_, unwanted)| *unwanted) {
        command.env_remove(variable);
    }
    let printed = call("sbatch", &mut command)?;
    // A cluster's name may follow.
    let id = printed.trim().split(';').next().unwrap_or_default();
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("it printed `{}`, which is no job's number", printed.trim());
        return Err(SlurmError::Refused { command: "sbatch", message });
    }
    Ok(JobId(id.into()))
}

/// Returns the states of the tasks of some jobs: those in the queue, those that have just ended,
/// and with accounting those that ended long ago.
pub(super) fn task_states(jobs: &[JobId]) -> Result<BTreeMap<ArrayTask, Reported>, SlurmError> {
    if jobs.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<&str> = jobs.iter().map(|job| job.0.as_str()).collect();
    let ids = format!("--jobs={}", ids.join(","));
    let mut squeue = Command::new("squeue");
    squeue.args(["--noheader", "--array", "--states=all", "--format=%i|%T|%r"]).arg(&ids);
    let mut states = match call("squeue", &mut squeue) {
        Ok(lines) => parse(&lines),
        // It was there, but has been forgotten.
        Err(SlurmError::Refused { message, .. }) if message.contains("Invalid job id") => {
            BTreeMap::new()
        }
        Err(error) => return Err(error),
    };
    let mut sacct = Command::new("sacct");
    sacct.args(["--noheader", "--parsable2", "--allocations", "--format=JobID,State"]);
    // Without accounting it fails.
    if let Ok(lines) = call("sacct", sacct.arg(&ids)) {
        for (task, reported) in parse(&lines) {
            // Accounting may be late: what is no longer in the queue does not wait.
            if matches!(reported.state, State::Ended(_)) {
                states.entry(task).or_insert(reported);
            }
        }
    }
    Ok(states)
}

fn call(name: &'static str, command: &mut Command) -> Result<String, SlurmError> {
    let output = command.output().map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => SlurmError::NoCommand { command: name },
        _ => SlurmError::Refused { command: name, message: cause.to_string() },
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said
        .lines()
        .map(|line| line.trim_start_matches(name).trim_start_matches(": "))
        .map(|line| line.trim_start_matches("error: ").trim_start_matches("fatal: ").trim())
        .filter(|line| !line.is_empty())
        .collect();
    let message = if lines.is_empty() { output.status.to_string() } else { lines.join("\n") };
    Err(SlurmError::Refused { command: name, message })
}
