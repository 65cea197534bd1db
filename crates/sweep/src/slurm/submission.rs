//! A job array that was submitted for a sweep: its folder, `slurm/N` in that of the sweep's
//! results.
//!
//! | file | what it has |
//! |---|---|
//! | `job.sh` | the job script |
//! | `scenario.toml` | the resolved sweep, so that a later change of the sweep can't confuse waiting tasks |
//! | `tasks.csv` | each task's points |
//! | `submission.json` | the version that submitted it, and what the tasks are asked to have |
//! | `job` | the job's number, once it is submitted |
//! | `records/TASK` | that a task began, where, and how it ended |
//! | `logs/TASK.log` | what a task printed |

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::command::{JobId, SlurmError, sbatch};
use super::script::Script;
use super::trace::Trace;
use flitlab_base::FileError;
use flitlab_base::narrow::narrow;
use flitlab_base::text_file::read_text;
use flitlab_report::{rows_of_text, rows_text};
use flitlab_scenario::{RESULTS_VERSION, SlurmSettings, Sweep};

/// The folder of all submissions in that of the results.
const FOLDER: &str = "slurm";

const SCRIPT: &str = "job.sh";
const SCENARIO: &str = "scenario.toml";
const TASKS: &str = "tasks.csv";
const SUBMISSION: &str = "submission.json";
const JOB: &str = "job";
const RECORDS: &str = "records";
const LOGS: &str = "logs";

/// A job array to be submitted.
#[derive(Clone, Debug)]
pub struct JobArray<'a> {
    /// The sweep's name, which is the job's.
    pub name: &'a str,
    /// The resolved sweep.
    pub scenario: &'a str,
    pub sweep: &'a Sweep,
    /// For each task the places of its points, or searches for saturation.
    pub tasks: Vec<Vec<usize>>,
    pub settings: SlurmSettings,
}

/// A job array.
#[derive(Clone, Debug)]
pub struct Submission {
    folder: PathBuf,
    pub number: u32,
    notes: Notes,
    /// For each task the texts of its points' identities.
    pub tasks: Vec<Vec<String>>,
}

/// `submission.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Notes {
    flitlab: String,
    results_version: u32,
    program: PathBuf,
    settings: SlurmSettings,
}

/// A row of `tasks.csv`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TaskRow {
    task: u32,
    identity: String,
    /// For people.
    point: String,
}

impl Submission {
    /// Writes the folder of a new submission. The latest one goes if it came to nothing: it was
    /// never submitted, not by hand either.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn prepare(results: &Path, array: &JobArray<'_>) -> Result<Self, SlurmError> {
        let results = results.canonicalize().map_err(FileError::read(results))?;
        let all = results.join(FOLDER);
        fs::create_dir_all(&all).map_err(FileError::write(&all))?;
        let mut number = numbers(&all)?.pop().unwrap_or(0) + 1;
        if number > 1 {
            let latest = Self::open(&all.join((number - 1).to_string()))?;
            if latest.job().is_none() {
                fs::remove_dir_all(&latest.folder).map_err(FileError::write(&latest.folder))?;
                number -= 1;
            }
        }
        let folder = all.join(number.to_string());
        let notes = Notes {
            flitlab: env!("CARGO_PKG_VERSION").into(),
            results_version: RESULTS_VERSION,
            program: std::env::current_exe()
                .map_err(FileError::read(Path::new("/proc/self/exe")))?,
            settings: array.settings.clone(),
        };
        let script = Script {
            name: array.name,
            folder: &folder,
            program: &notes.program,
            tasks: array.tasks.len(),
            settings: &array.settings,
        };
        let script = script.text()?;
        let rows: Vec<TaskRow> = array
            .tasks
            .iter()
            .zip(0..)
            .flat_map(|(places, task)| places.iter().map(move |&place| (task, place)))
            .map(|(task, place)| TaskRow {
                task,
                identity: array.sweep.points[place].identity.to_string(),
                point: array.sweep.label(place),
            })
            .collect();
        // It is there as a whole or not at all.
        let partial = all.join(format!(".{number}-{}", std::process::id()));
        for folder in [partial.join(RECORDS), partial.join(LOGS)] {
            fs::create_dir_all(&folder).map_err(FileError::write(&folder))?;
        }
        let write = |name: &str, text: &str| {
            let path = partial.join(name);
            fs::write(&path, text).map_err(FileError::write(&path))
        };
        write(SCRIPT, &script)?;
        write(SCENARIO, array.scenario)?;
        write(TASKS, &rows_text(&rows))?;
        let json = serde_json::to_string_pretty(&notes).expect("plain data");
        write(SUBMISSION, &(json + "\n"))?;
        fs::rename(&partial, &folder).map_err(FileError::write(&folder))?;
        Ok(Self { folder, number, notes, tasks: tasks_of(rows) })
    }

    /// Hands the job script to sbatch.
    ///
    /// # Errors
    /// If there is no sbatch, it refuses, or the job's number can't be written down.
    pub fn submit(&self) -> Result<JobId, SlurmError> {
        let job = sbatch(&self.script(), &self.notes.settings)?;
        let path = self.folder.join(JOB);
        fs::write(&path, format!("{job}\n")).map_err(FileError::write(&path))?;
        Ok(job)
    }

    /// The submissions of a folder of results, in their order.
    ///
    /// # Errors
    /// If one can't be read.
    pub fn all(results: &Path) -> Result<Vec<Self>, SlurmError> {
        let all = results.join(FOLDER);
        numbers(&all)?.iter().map(|number| Self::open(&all.join(number.to_string()))).collect()
    }

    /// The submission in a folder.
    ///
    /// # Errors
    /// If there is none, or it can't be read.
    pub fn open(folder: &Path) -> Result<Self, SlurmError> {
        let read = |name: &str| {
            let path = folder.join(name);
            read_text(&path).map_err(FileError::read(&path))
        };
        let damaged = |name: &str, what: String| {
            let path = folder.join(name);
            SlurmError::Damaged { path, what }
        };
        let notes = serde_json::from_str(&read(SUBMISSION)?)
            .map_err(|error| damaged(SUBMISSION, error.to_string()))?;
        let rows: Vec<TaskRow> =
            rows_of_text(&read(TASKS)?).map_err(|error| damaged(TASKS, error.to_string()))?;
        let number = folder.file_name().and_then(|name| name.to_str()?.parse().ok());
        let number =
            number.ok_or_else(|| damaged("", "its name is no submission's number".into()))?;
        Ok(Self { folder: folder.into(), number, notes, tasks: tasks_of(rows) })
    }

    pub fn settings(&self) -> &SlurmSettings {
        &self.notes.settings
    }

    /// The folder of the results.
    pub fn results(&self) -> &Path {
        self.folder.ancestors().nth(2).unwrap_or(&self.folder)
    }

    pub fn script(&self) -> PathBuf {
        self.folder.join(SCRIPT)
    }

    /// The resolved sweep.
    pub fn scenario(&self) -> PathBuf {
        self.folder.join(SCENARIO)
    }

    /// The log of a task.
    pub fn log(&self, task: u32) -> PathBuf {
        self.folder.join(LOGS).join(format!("{task}.log"))
    }

    /// The version of flitlab that submitted it, if it is not this one.
    pub fn other_version(&self) -> Option<&str> {
        let same = self.notes.flitlab == env!("CARGO_PKG_VERSION")
            && self.notes.results_version == RESULTS_VERSION;
        (!same).then_some(self.notes.flitlab.as_str())
    }

    /// The number that it has; `None` if it was not submitted, as far as can be seen.
    pub(super) fn job(&self) -> Option<JobId> {
        let noted = read_text(&self.folder.join(JOB)).ok();
        let noted = noted.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        // A kill may have come between, or the script may have been submitted by hand.
        let recorded = || {
            (0..narrow(self.tasks.len())).find_map(|task| self.trace(task).and_then(|it| it.job))
        };
        noted.map(JobId).or_else(recorded)
    }

    /// Returns the record that a task has written; `None` if it has not begun.
    pub(super) fn trace(&self, task: u32) -> Option<Trace> {
        Trace::read(&self.folder.join(RECORDS).join(task.to_string()))
    }
}

/// The numbers of the submissions in a folder, ascending.
fn numbers(all: &Path) -> Result<Vec<u32>, SlurmError> {
    let entries = match fs::read_dir(all) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(FileError::read(all))?,
    };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let mut numbers: Vec<u32> = entries.flatten().filter_map(number).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn tasks_of(rows: Vec<TaskRow>) -> Vec<Vec<String>> {
    let mut tasks: Vec<Vec<String>> = Vec::new();
    for row in rows {
        let task = row.task as usize;
        if tasks.len() <= task {
            tasks.resize_with(task + 1, Vec::new);
        }
        tasks[task].push(row.identity);
    }
    tasks
}
