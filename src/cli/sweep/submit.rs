//! `flitlab sweep --executor slurm` and `flitlab sweep resubmit`: what is missing, as a job array.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::super::summary::{print_json, print_text};
use super::super::{COMMIT, Failure, folder, text};
use super::options::SlurmOptions;
use super::survey::{self, Begun};
use super::{Sweep, sweep_folder};
use flitlab::scenario::{self, SlurmSettings};
use flitlab::simulation::Simulation;
use flitlab::sweep::slurm::{self, ArrayStatus, JobArray, SlurmError, Submission};
use flitlab::sweep::{Progress, Store, low_loads_first};
use flitlab::units::{clock_time_text, memory_text};

/// Submit what is missing of a sweep on Slurm
///
/// Points that are finished, waiting or running are not submitted again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab sweep resubmit results/torus-8x8x8-patterns\n  \
                        flitlab sweep resubmit results/torus-8x8x8-patterns --time 4h --memory 8GB")]
pub(super) struct Resubmit {
    /// The folder of the sweep's results
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    slurm: SlurmOptions,
}

impl Resubmit {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let Begun { sweep, resolved } = Begun::open(&self.folder)?;
        let most_tasks = most_tasks(&self.slurm)?;
        let how = (most_tasks, self.slurm.no_submit, self.json);
        submit(&self.folder, &sweep, &resolved, self.slurm.settings(), how)
    }
}

/// Begins a sweep, or goes on with it, as a job array.
pub(super) fn execute(
    call: &Sweep,
    sweep: &scenario::Sweep,
    resolved: &str,
) -> Result<(), Failure> {
    if call.threads.are_given() {
        return Err(Failure::input(
            "--threads is for this machine: a task has the cores that Slurm gives it, one, or for example \
             four with --option=--cpus-per-task=4",
        ));
    }
    // Before anything is written.
    let most_tasks = most_tasks(&call.slurm)?;
    let name = &sweep.points[0].scenario.name;
    let out = call.output.out.as_deref();
    let settings = call.slurm.settings().or(sweep.slurm.clone());
    let begun = if call.resume { sweep_folder::begun(name, out, &sweep.points)? } else { None };
    let folder = match begun {
        Some(folder) => folder,
        None => {
            check_size(&shares(sweep, |_| true, &settings), most_tasks)?;
            // Its store is closed again, or the tasks could not share it.
            sweep_folder::SweepFolder::begin(name, out)?.results
        }
    };
    let how = (most_tasks, call.slurm.no_submit, call.output.json);
    submit(&folder, sweep, resolved, settings, how)
}

/// The most tasks of a job array, if this machine knows: where nothing is submitted, it needs no
/// Slurm.
fn most_tasks(options: &SlurmOptions) -> Result<Option<usize>, Failure> {
    match slurm::most_tasks() {
        Err(SlurmError::NoCommand { .. }) if options.no_submit => Ok(None),
        found => Ok(found?),
    }
}

/// The result of a submission, or of a job array that was only written.
#[derive(Debug, Serialize)]
struct Submitted<'a> {
    results: &'a Path,
    /// None if there was nothing to submit, or nothing was to be submitted.
    job: Option<String>,
    tasks: usize,
    /// Points, or searches for saturation, in these tasks.
    points: usize,
    finished: usize,
    /// Waiting or running in earlier jobs.
    under_way: usize,
    script: Option<PathBuf>,
    settings: &'a SlurmSettings,
}

fn submit(
    results: &Path,
    sweep: &scenario::Sweep,
    resolved: &str,
    settings: SlurmSettings,
    (most_tasks, no_submit, json): (Option<usize>, bool, bool),
) -> Result<(), Failure> {
    let simulation = Simulation::new(&sweep.points[0].scenario)?;
    // No sweep of this machine is at work here.
    let _store = Store::share(results, COMMIT)?;
    folder::write(&results.join("scenario.toml"), resolved)?;
    let (progress, array) = survey::stand(results, sweep)?;
    let under_way = under_way(array)?;
    let settings = match Submission::all(results)?.pop() {
        Some(latest) => settings.or(latest.settings().clone()),
        None => settings,
    };
    let wanted = |place: usize| progress[place] == Progress::Missing && !under_way.contains(&place);
    let tasks = shares(sweep, wanted, &settings);
    check_size(&tasks, most_tasks)?;
    let mut submitted = Submitted {
        results,
        job: None,
        tasks: tasks.len(),
        points: tasks.iter().map(Vec::len).sum(),
        finished: progress.iter().filter(|progress| **progress == Progress::Finished).count(),
        under_way: under_way.len(),
        script: None,
        settings: &settings,
    };
    let what = survey::what(sweep);
    if !json {
        let headline = text::headline(&simulation);
        print_text(&format!("{headline}: {} {what}{}\n", progress.len(), submitted.known()))?;
    }
    if !tasks.is_empty() {
        let array = JobArray {
            name: &simulation.scenario().name,
            scenario: resolved,
            sweep,
            tasks,
            settings: settings.clone(),
        };
        let submission = Submission::prepare(results, &array)?;
        if !no_submit {
            let job =
                submission.submit().map_err(|error| not_submitted(&error, &submission, results))?;
            submitted.job = Some(job.to_string());
        }
        submitted.script = Some(submission.script());
    }
    if json { print_json(&submitted) } else { print_text(&submitted.text(what)) }
}

/// The places of the points that tasks of earlier jobs will compute, or do.
fn under_way(array: ArrayStatus) -> Result<HashSet<usize>, Failure> {
    if let Some(silence) = array.silence {
        return Err(Failure::Run(format!(
            "can't tell which points are still being computed: {silence}"
        )));
    }
    let tasks = array.tasks.into_iter().filter(|task| task.status.is_under_way());
    Ok(tasks.flat_map(|task| task.points).collect())
}

fn check_size(tasks: &[Vec<usize>], most: Option<usize>) -> Result<(), Failure> {
    let Some(most) = most.filter(|&most| tasks.len() > most) else { return Ok(()) };
    let points: usize = tasks.iter().map(Vec::len).sum();
    Err(Failure::input(format!(
        "these are {} tasks, and this Slurm takes at most {most} in a job array: add \
         --points-per-task {}",
        tasks.len(),
        points.div_ceil(most)
    )))
}

fn not_submitted(error: &SlurmError, submission: &Submission, results: &Path) -> Failure {
    Failure::Run(format!(
        "{error}\nNothing is lost: the job script is {}; try again with other options, as in\n  \
         flitlab sweep resubmit {} --partition NAME",
        submission.script().display(),
        survey::word(results)
    ))
}

impl Submitted<'_> {
    /// Describes the points that are no part of it.
    fn known(&self) -> String {
        match (self.finished, self.under_way) {
            (0, 0) => String::new(),
            (finished, 0) => format!(", {finished} finished"),
            (finished, under_way) => {
                format!(", {finished} finished, {under_way} waiting or running")
            }
        }
    }

    fn text(&self, what: &str) -> String {
        let place = survey::word(self.results);
        if let (None, Some(script)) = (&self.job, &self.script) {
            let folder = script.parent().map_or_else(String::new, survey::word);
            return format!(
                "nothing is submitted yet: {} tasks{}; where Slurm is:\n  \
                 (cd {folder} && sbatch --parsable job.sh >job)\n  \
                 flitlab sweep status {place}     how far it is\n",
                self.tasks,
                limits(self.settings)
            );
        }
        let Some(job) = &self.job else {
            let next = if self.under_way == 0 { "collect" } else { "status" };
            return format!("nothing to submit; next:\n  flitlab sweep {next} {place}\n");
        };
        let each = match self.settings.points_per_task {
            None | Some(1) => String::new(),
            Some(points) => format!(" of {points} {what} each"),
        };
        format!(
            "submitted job {job}: {} tasks{each}{}\n  \
             flitlab sweep status {place}     how far it is\n  \
             flitlab sweep collect {place}    the results, when all is finished\n",
            self.tasks,
            limits(self.settings)
        )
    }
}

/// The places of the points that are wanted, as tasks of at most so many, or of at most so many
/// curves with all their repetitions: low loads first, and each result once.
pub(super) fn shares(
    sweep: &scenario::Sweep,
    wanted: impl Fn(usize) -> bool,
    settings: &SlurmSettings,
) -> Vec<Vec<usize>> {
    let mut seen = HashSet::new();
    // What is found together is a task's together.
    let together = sweep.points_of_a_search();
    let places: Vec<usize> = low_loads_first(&sweep.points)
        .into_iter()
        .filter(|place| place % together == 0)
        .filter(|&place| wanted(place) && seen.insert(sweep.points[place].identity.to_string()))
        .collect();
    let tasks = places.chunks(settings.points_per_task.unwrap_or(1));
    tasks.map(|task| task.iter().flat_map(|&first| first..first + together).collect()).collect()
}

/// Describes the limits of tasks, for people.
fn limits(settings: &SlurmSettings) -> String {
    let parts = [
        settings.partition.as_ref().map(|partition| format!("in partition {partition}")),
        settings.time.map(|time| format!("at most {} each", clock_time_text(time))),
        settings.memory.map(|memory| format!("{} of memory each", memory_text(memory.0))),
    ];
    parts.into_iter().flatten().map(|part| format!(", {part}")).collect()
}
