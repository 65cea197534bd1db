//! `flitlab sweep --dry-run`: what would be run, and for how long.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::super::Failure;
use super::super::summary::{print_json, print_text};
use super::super::text::duration;
use super::options::Executor;
use super::submit::shares;
use super::{Sweep, sweep_folder};
use flitlab::scenario::{self, Loads, Point};
use flitlab::sweep::{Progress, plan};

/// A point, or the search for a series' saturation.
#[derive(Debug, Serialize)]
struct Planned {
    point: usize,
    /// The name of its file in points/; of a search, the beginning of all its files' names.
    identity: String,
    series: String,
    /// As written; none for a search.
    load: Option<String>,
    seed: u64,
    /// Whether --resume would find it.
    finished: bool,
    /// Whether its series will likely have ended before it: its load lies far past saturation.
    left_out: bool,
    /// Of one thread.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Listing {
    /// The folder that --resume would go on in.
    folder: Option<PathBuf>,
    points: Vec<Planned>,
    finished: usize,
    left_out: usize,
    /// Of one thread, for what is neither finished nor left out.
    seconds: f64,
    threads: usize,
    seconds_on_threads: f64,
    /// With --executor slurm.
    tasks: Option<Tasks>,
}

/// A job array for what is neither finished nor left out.
#[derive(Debug, Serialize)]
struct Tasks {
    tasks: usize,
    /// Of the task that takes longest, on a machine like this one.
    longest_seconds: f64,
}

pub(super) fn execute(call: &Sweep, sweep: &scenario::Sweep) -> Result<(), Failure> {
    let name = &sweep.points[0].scenario.name;
    let folder = if call.resume {
        sweep_folder::begun(name, call.output.out.as_deref(), &sweep.points)?
    } else {
        None
    };
    let plans = plan(sweep, folder.as_deref())?;
    let searches = !matches!(sweep.loads, Loads::Written { .. });
    let points: Vec<Planned> = sweep
        .points
        .iter()
        .zip(plans)
        .enumerate()
        .map(|(number, (point, plan))| planned(number, point, plan, searches))
        .collect();
    let threads = call.threads.count();
    let seconds: f64 = points.iter().map(|point| point.seconds).sum();
    let longest = points.iter().map(|point| point.seconds).fold(0.0, f64::max);
    let tasks = (call.executor == Executor::Slurm).then(|| tasks(call, sweep, &points));
    let listing = Listing {
        folder,
        finished: points.iter().filter(|point| point.finished).count(),
        left_out: points.iter().filter(|point| point.left_out).count(),
        points,
        seconds,
        threads,
        seconds_on_threads: (seconds / threads as f64).max(longest),
        tasks,
    };
    if call.output.json { print_json(&listing) } else { print_text(&text(&listing, sweep)) }
}

fn tasks(call: &Sweep, sweep: &scenario::Sweep, points: &[Planned]) -> Tasks {
    let wanted = |place: usize| !points[place].finished && !points[place].left_out;
    let shares = shares(sweep, wanted, &call.slurm.settings().or(sweep.slurm.clone()));
    let seconds = shares.iter().map(|share| share.iter().map(|&place| points[place].seconds).sum());
    Tasks { tasks: shares.len(), longest_seconds: seconds.fold(0.0, f64::max) }
}

fn planned(
    number: usize,
    point: &Point,
    (progress, times): (Progress, Vec<Duration>),
    search: bool,
) -> Planned {
    Planned {
        point: number,
        identity: if search { point.identity.family() } else { point.identity.to_string() },
        series: point.series.clone(),
        load: point.load().map(str::to_owned),
        seed: point.scenario.seed,
        finished: progress == Progress::Finished,
        left_out: progress == Progress::LeftOut,
        seconds: times.iter().sum::<Duration>().as_secs_f64(),
    }
}

fn text(listing: &Listing, sweep: &scenario::Sweep) -> String {
    let mut text = String::new();
    for point in &listing.points {
        let name = sweep.label(point.point);
        let time = match (point.finished, point.left_out) {
            (true, _) => "finished".into(),
            (_, true) => "left out".into(),
            _ => duration(point.seconds),
        };
        text += &format!("{time:>10}  {name}\n");
    }
    let count = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    text += &match sweep.loads {
        Loads::Written { .. } => count(listing.points.len(), "point", "points"),
        Loads::Curve(_) => count(listing.points.len(), "curve", "curves"),
        Loads::Saturation { .. } => count(listing.points.len(), "search", "searches"),
    };
    if let (1.., Some(folder)) = (listing.finished, &listing.folder) {
        text += &format!(", {} finished in {}", listing.finished, folder.display());
    }
    if listing.left_out > 0 {
        text += &format!(", about {} left out past saturation", listing.left_out);
    }
    text += &format!(": about {} of computing, ", duration(listing.seconds));
    text + &match &listing.tasks {
        None => format!(
            "{} on {}\n",
            duration(listing.seconds_on_threads),
            count(listing.threads, "thread", "threads")
        ),
        Some(tasks) => format!(
            "in {} of at most {}\n",
            count(tasks.tasks, "task", "tasks"),
            duration(tasks.longest_seconds)
        ),
    }
}
