//! `flitlab sweep --executor slurm` and `flitlab sweep resubmit`: what is missing, as a job array.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::super::summary::{print_json, print_text};
use super::super::{Failure, folder, text};
use super::survey::{self, Begun};
use super::{Sweep, place};
use crate::scenario::{self, SlurmSettings, check_sbatch_option, check_slurm_name};
use crate::sweep::slurm::{self, JobArray, Standings, Submission};
use crate::sweep::{Progress, Simulation, Store, low_loads_first};
use crate::units::{Bytes, ClockTime, clock_time_text, memory_text, parse_bytes, parse_clock_time};

/// What computes the points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Executor {
    /// this machine's cores
    #[default]
    Local,
    /// a job array of Slurm; see `flitlab sweep status --help` for what comes after
    Slurm,
}

/// What a job array is asked to have.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "With --executor slurm, over the scenario's [sweep.slurm]")]
pub(super) struct SlurmOptions {
    /// Partition
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    partition: Option<String>,
    /// Most time of a task, such as 2h, 90min or 02:00:00
    #[arg(long, value_name = "TIME", value_parser = parse_clock_time)]
    time: Option<ClockTime>,
    /// Most memory of a task, such as 4GB
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    memory: Option<Bytes>,
    /// Points, or searches for saturation, that a task computes one after the other [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    points_per_task: Option<u32>,
    /// Account that is charged
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    account: Option<String>,
    /// Quality of service
    #[arg(long, value_name = "NAME", value_parser = slurm_name)]
    qos: Option<String>,
    /// Another option of sbatch, such as --option=--exclusive; may be given several times
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true, value_parser = sbatch_option)]
    options: Vec<String>,
}

fn slurm_name(text: &str) -> Result<String, String> {
    check_slurm_name(text).map(|()| text.to_owned())
}

fn sbatch_option(text: &str) -> Result<String, String> {
    check_sbatch_option(text).map(|()| text.to_owned())
}

impl SlurmOptions {
    fn settings(self) -> SlurmSettings {
        let Self { partition, time, memory, points_per_task, account, qos, options } = self;
        let points_per_task = points_per_task.map(|points| points as usize);
        let options = (!options.is_empty()).then_some(options);
        SlurmSettings { partition, time, memory, points_per_task, account, qos, options }
    }

    /// # Errors
    /// If any is given, though the sweep runs on this machine.
    pub(super) fn refuse(&self) -> Result<(), Failure> {
        if self.clone().settings() == SlurmSettings::default() {
            return Ok(());
        }
        Err(Failure::Input(
            "error: partition, time, memory and the like are for Slurm: add --executor slurm"
                .into(),
        ))
    }
}

/// Submit what is missing of a sweep that Slurm computes, as another job array
///
/// Points that are finished, waiting or running are not submitted again. Options that are not given are as
/// they were the last time.
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
        let most_tasks = slurm::most_tasks()?;
        submit(&self.folder, &sweep, &resolved, self.slurm.settings(), most_tasks, self.json)
    }
}

/// Begins a sweep, or goes on with it, as a job array.
pub(super) fn execute(
    call: &Sweep,
    sweep: &scenario::Sweep,
    resolved: &str,
) -> Result<(), Failure> {
    // Before anything is written.
    let most_tasks = slurm::most_tasks()?;
    let name = &sweep.points[0].scenario.name;
    let out = call.output.out.as_deref();
    let begun = if call.resume { place::begun(name, out, &sweep.points)? } else { None };
    let folder = match begun {
        Some(folder) => folder,
        // Its store is closed again, or the tasks could not share it.
        None => place::Place::begin(name, out)?.results,
    };
    let settings = call.slurm.clone().settings().or(sweep.slurm.clone());
    submit(&folder, sweep, resolved, settings, most_tasks, call.output.json)
}

/// What was submitted.
#[derive(Debug, Serialize)]
struct Submitted<'a> {
    results: &'a Path,
    /// None if there was nothing to submit.
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
    most_tasks: Option<usize>,
    json: bool,
) -> Result<(), Failure> {
    let simulation = Simulation::new(&sweep.points[0].scenario)?;
    // No sweep of this machine is at work here.
    let _store = Store::share(results)?;
    folder::write(&results.join("scenario.toml"), resolved)?;
    let (progress, _) = survey::look(results, sweep, |_, _| Ok(()))?;
    let missing: Vec<usize> = survey::missing(&progress);
    let standings = Standings::of(results, &sweep.points, &missing)?;
    if let Some(silence) = standings.silence {
        return Err(Failure::Run(format!(
            "can't tell which points are still being computed: {silence}"
        )));
    }
    let under_way: HashSet<usize> = standings
        .tasks
        .iter()
        .filter(|task| task.standing.is_under_way())
        .flat_map(|task| task.points.iter().copied())
        .collect();
    let latest = Submission::all(results)?.pop();
    let settings = match latest {
        Some(latest) => settings.or(latest.settings().clone()),
        None => settings,
    };
    let order =
        if sweep.saturation.is_some() { missing.clone() } else { low_loads_first(&sweep.points) };
    let mut seen = HashSet::new();
    let places: Vec<usize> = order
        .into_iter()
        .filter(|place| progress[*place] == Progress::Missing && !under_way.contains(place))
        .filter(|&place| seen.insert(sweep.points[place].identity.to_string()))
        .collect();
    let per_task = settings.points_per_task.unwrap_or(1);
    let tasks: Vec<Vec<usize>> = places.chunks(per_task).map(<[usize]>::to_vec).collect();
    let mut submitted = Submitted {
        results,
        job: None,
        tasks: tasks.len(),
        points: places.len(),
        finished: progress.iter().filter(|progress| **progress == Progress::Finished).count(),
        under_way: under_way.len(),
        script: None,
        settings: &settings,
    };
    let what = survey::what(sweep);
    if !json {
        let headline = text::headline(&simulation);
        let count = progress.len();
        let known = match (submitted.finished, submitted.under_way) {
            (0, 0) => String::new(),
            (finished, 0) => format!(", {finished} finished"),
            (finished, under_way) => {
                format!(", {finished} finished, {under_way} waiting or running")
            }
        };
        print_text(&format!("{headline}: {count} {what}{known}\n"))?;
    }
    let place = survey::word(results);
    if places.is_empty() {
        if json {
            return print_json(&submitted);
        }
        let next = if under_way.is_empty() { "collect" } else { "status" };
        return print_text(&format!("nothing to submit; next:\n  flitlab sweep {next} {place}\n"));
    }
    if let Some(most) = most_tasks.filter(|&most| tasks.len() > most) {
        return Err(Failure::Input(format!(
            "error: these are {} tasks, and this Slurm takes at most {most} in a job array: add \
             --points-per-task {}",
            tasks.len(),
            places.len().div_ceil(most)
        )));
    }
    let array = JobArray {
        name: &simulation.scenario().name,
        scenario: resolved,
        points: &sweep.points,
        tasks,
        settings: settings.clone(),
    };
    let submission = Submission::prepare(results, &array)?;
    let job = submission.submit().map_err(|error| {
        Failure::Run(format!(
            "{error}\nNothing is lost: the job script is {}; try again with other options, as in\n  \
             flitlab sweep resubmit {place} --partition NAME",
            submission.script().display()
        ))
    })?;
    submitted.job = Some(job.to_string());
    submitted.script = Some(submission.script());
    if json {
        return print_json(&submitted);
    }
    let limits = limits(&settings);
    let each = if per_task == 1 { String::new() } else { format!(" of {per_task} {what} each") };
    print_text(&format!(
        "submitted job {job}: {} tasks{each}{limits}\n  \
         flitlab sweep status {place}     how far it is\n  \
         flitlab sweep collect {place}    the results, when all is finished\n",
        submitted.tasks
    ))
}

/// What tasks may use, for people.
fn limits(settings: &SlurmSettings) -> String {
    let parts = [
        settings.partition.as_ref().map(|partition| format!("partition {partition}")),
        settings.time.map(|time| format!("{} each", clock_time_text(time))),
        settings.memory.map(|memory| format!("{} each", memory_text(memory.0))),
    ];
    parts.into_iter().flatten().map(|part| format!(", {part}")).collect()
}
