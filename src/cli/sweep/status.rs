//! `flitlab sweep status`: how far a submitted sweep is, and what went wrong with which task.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::super::Failure;
use super::super::summary::{print_json, print_text};
use super::survey::{self, Begun};
use flitlab::scenario::{self, SlurmSettings};
use flitlab::sweep::Progress;
use flitlab::sweep::slurm::{ArrayStatus, End, Submission, TaskReport, TaskStatus};
use flitlab::units::{Bytes, ClockTime, clock_time_text};

/// Tasks that are listed for people, and points of a task.
const TASKS_LISTED: usize = 10;
const POINTS_NAMED: usize = 3;

/// Say how far a sweep on Slurm is, and which of its tasks failed, and why
///
/// What counts is which points are there; where the others are is asked of squeue, then of sacct,
/// and seen from what the tasks have left.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab sweep status results/torus-8x8x8-patterns\n  \
                        flitlab sweep status results/torus-8x8x8-patterns --json")]
pub(super) struct Status {
    /// The folder of the sweep's results
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The progress of a sweep.
#[derive(Debug, Serialize)]
struct State {
    results: PathBuf,
    /// Points, or searches for saturation.
    points: usize,
    finished: usize,
    /// Their series had ended before them.
    left_out: usize,
    /// How many others are where.
    others: BTreeMap<String, usize>,
    /// Whether there is nothing to wait for.
    complete: bool,
    /// Tasks with points that are not finished.
    tasks: Vec<TaskState>,
    /// Why Slurm could not be asked.
    slurm: Option<String>,
    /// The command to type next.
    next: String,
}

/// A task.
#[derive(Debug, Serialize)]
struct TaskState {
    /// JOB_TASK; none if there is no job.
    task: Option<String>,
    state: String,
    reason: Option<String>,
    log: Option<PathBuf>,
    /// The points that are not finished.
    points: Vec<PointState>,
}

#[derive(Debug, Serialize)]
struct PointState {
    point: usize,
    label: String,
}

impl Status {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let Begun { sweep, .. } = Begun::open(&self.folder)?;
        let (progress, array) = survey::stand(&self.folder, &sweep)?;
        let latest = Submission::all(&self.folder)?.pop();
        let settings = latest.map(|latest| latest.settings().clone()).unwrap_or_default();
        let state = state(&self.folder, &sweep, &progress, &array, &settings);
        if self.json {
            return print_json(&state);
        }
        print_text(&text(&state, &array, survey::what(&sweep)))
    }
}

fn state(
    results: &Path,
    sweep: &scenario::Sweep,
    progress: &[Progress],
    array: &ArrayStatus,
    settings: &SlurmSettings,
) -> State {
    let count = |wanted| progress.iter().filter(|progress| **progress == wanted).count();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for task in &array.tasks {
        *others.entry(task.status.to_string()).or_default() += task.points.len();
    }
    let point = |place: usize| PointState { point: place, label: sweep.label(place) };
    let task = |task: &TaskReport| TaskState {
        task: task.task.clone(),
        state: task.status.to_string(),
        reason: task.reason.clone(),
        log: task.log.clone(),
        points: task.points.iter().map(|&place| point(place)).collect(),
    };
    State {
        results: results.into(),
        points: progress.len(),
        finished: count(Progress::Finished),
        left_out: count(Progress::LeftOut),
        others,
        complete: count(Progress::Missing) == 0,
        tasks: array.tasks.iter().map(task).collect(),
        slurm: array.silence.as_ref().map(ToString::to_string),
        next: next(results, array, settings),
    }
}

/// Returns the command to type next.
fn next(results: &Path, array: &ArrayStatus, settings: &SlurmSettings) -> String {
    let folder = survey::word(results);
    let any =
        |wanted: &dyn Fn(TaskStatus) -> bool| array.tasks.iter().any(|task| wanted(task.status));
    if array.tasks.is_empty() {
        return format!("flitlab sweep collect {folder}");
    }
    if !any(&|status| !status.is_under_way() && status != TaskStatus::Unknown) {
        return format!("flitlab sweep status {folder}");
    }
    let mut command = format!("flitlab sweep resubmit {folder}");
    // Twice what was not enough.
    if any(&|status| status == TaskStatus::Ended(End::TimedOut))
        && let Some(ClockTime(seconds)) = settings.time
    {
        let time = clock_time_text(ClockTime(2 * seconds));
        command += &format!(" --time {}", time.replace(' ', ""));
    }
    if any(&|status| status == TaskStatus::Ended(End::OutOfMemory))
        && let Some(Bytes(bytes)) = settings.memory
    {
        command += &format!(" --memory {}MB", (2 * bytes).div_ceil(1_000_000));
    }
    command
}

fn text(state: &State, array: &ArrayStatus, what: &str) -> String {
    let mut parts = vec![format!("{} finished", state.finished)];
    if state.left_out > 0 {
        parts.push(format!("{} left out past saturation", state.left_out));
    }
    parts.extend(state.others.iter().map(|(name, count)| format!("{count} {name}")));
    let mut text =
        format!("{}: {} {what}: {}\n", state.results.display(), state.points, parts.join(", "));
    if let Some(silence) = &state.slurm {
        text += &format!("  Slurm does not answer: {silence}\n");
    }
    text += &waiting(array);
    let failed: Vec<&TaskState> = state
        .tasks
        .iter()
        .zip(&array.tasks)
        .filter(|(_, task)| !task.status.is_under_way() && task.task.is_some())
        .map(|(task, _)| task)
        .collect();
    for task in failed.iter().take(TASKS_LISTED) {
        text += &task_text(task);
    }
    if failed.len() > TASKS_LISTED {
        text += &format!("  and {} tasks more (--json lists all)\n", failed.len() - TASKS_LISTED);
    }
    text + &format!("next:\n  {}\n", state.next)
}

/// Slurm's reasons for tasks to wait.
fn waiting(array: &ArrayStatus) -> String {
    let mut reasons: Vec<&str> = array
        .tasks
        .iter()
        .filter(|task| task.status == TaskStatus::Waiting)
        .filter_map(|task| task.reason.as_deref())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    if reasons.is_empty() {
        String::new()
    } else {
        format!("  waiting for: {}\n", reasons.join(", "))
    }
}

fn task_text(task: &TaskState) -> String {
    let name = task.task.as_deref().unwrap_or("-");
    let named: Vec<&str> =
        task.points.iter().take(POINTS_NAMED).map(|point| point.label.as_str()).collect();
    let more = match task.points.len().saturating_sub(POINTS_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let reason = task.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let mut text = format!("  task {name} {}{reason}\n", task.state);
    text += &format!("    {}{more}\n", named.join("; "));
    if let Some(log) = &task.log {
        text += &format!("    log: {}\n", log.display());
    }
    text
}
