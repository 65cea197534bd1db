//! `flitlab sweep --dry-run`: what would be run, and for how long.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use super::super::Failure;
use super::super::summary::{print_json, print_text};
use super::{Sweep, place};
use crate::scenario::{self, Point};
use crate::sweep::{Pace, SetupError, Store};

/// For all moments that are simulated to see what points cost, together, and for each at most.
const ALL_REHEARSALS: Duration = Duration::from_secs(3);
const REHEARSAL: Duration = Duration::from_millis(100);

/// A point, or the search for a series' saturation.
#[derive(Debug, Serialize)]
struct Planned {
    point: usize,
    /// The beginning of its file's name in points/; of a search, of all its files' names.
    identity: String,
    series: String,
    /// As written; none for a search.
    load: Option<String>,
    seed: u64,
    /// Whether --resume would find it.
    finished: bool,
    /// Whether its series will have ended before it: its load lies far past saturation.
    left_out: bool,
    /// Of one thread.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Plan {
    /// What --resume would go on in.
    folder: Option<PathBuf>,
    points: Vec<Planned>,
    finished: usize,
    /// Of one thread, for what is not finished.
    seconds: f64,
    threads: usize,
    seconds_on_threads: f64,
}

pub(super) fn execute(call: &Sweep, sweep: &scenario::Sweep) -> Result<(), Failure> {
    let plan = plan(call, sweep)?;
    if call.output.json { print_json(&plan) } else { print_text(&text(&plan)) }
}

fn plan(call: &Sweep, sweep: &scenario::Sweep) -> Result<Plan, Failure> {
    let name = &sweep.points[0].scenario.name;
    let folder = if call.resume {
        place::begun(name, call.output.out.as_deref(), &sweep.points)?
    } else {
        None
    };
    let mut known = HashSet::new();
    if let Some(folder) = &folder {
        known.extend(Store::names(folder)?);
    }
    let paces = paces(&sweep.points)?;
    let mut points = Vec::new();
    let mut past: HashMap<(&str, u64), usize> = HashMap::new();
    for (number, point) in sweep.points.iter().enumerate() {
        let pace = &paces[point.series.as_str()];
        let identity = point.identity.to_string();
        let (identity, finished, time) = match sweep.saturation {
            // Which loads it tries, a search finds out as it goes.
            Some(wanted) => {
                let time = pace.of_search(&point.scenario, wanted.tolerance)?;
                (point.identity.family(), false, time)
            }
            None if known.contains(&identity) => (identity, true, Duration::ZERO),
            None => (identity, false, pace.of_point(&point.scenario)?),
        };
        // The loads of a series mostly ascend; of each seed so many are past the bound and still run.
        let left_out = sweep.saturation.is_none()
            && !finished
            && pace.is_past_saturation(&point.scenario)
            && {
                let earlier = past.entry((&point.series, point.scenario.seed)).or_default();
                *earlier += 1;
                sweep.past_saturation.is_some_and(|most| *earlier > most)
            };
        let time = if left_out { Duration::ZERO } else { time };
        points.push(Planned {
            point: number,
            identity,
            series: point.series.clone(),
            load: point.load().map(str::to_owned),
            seed: point.scenario.seed,
            finished,
            left_out,
            seconds: time.as_secs_f64(),
        });
    }
    let threads = call.threads.count();
    let seconds: f64 = points.iter().map(|point| point.seconds).sum();
    let longest = points.iter().map(|point| point.seconds).fold(0.0, f64::max);
    Ok(Plan {
        folder,
        finished: points.iter().filter(|point| point.finished).count(),
        points,
        seconds,
        threads,
        seconds_on_threads: (seconds / threads as f64).max(longest),
    })
}

/// What the points of each series cost, measured at a load in the middle.
fn paces(points: &[Point]) -> Result<HashMap<&str, Pace>, SetupError> {
    let mut series: HashMap<&str, Vec<&Point>> = HashMap::new();
    for point in points {
        series.entry(&point.series).or_default().push(point);
    }
    let limit = (ALL_REHEARSALS / series.len() as u32).min(REHEARSAL);
    series
        .into_iter()
        .map(|(name, points)| Ok((name, Pace::measure(&points[points.len() / 2].scenario, limit)?)))
        .collect()
}

fn text(plan: &Plan) -> String {
    let mut text = String::new();
    for point in &plan.points {
        let load = point.load.as_ref().map(|load| format!("load {load}"));
        let parts: Vec<String> = [Some(point.series.clone()), load]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .chain([format!("seed {}", point.seed)])
            .collect();
        let time = match (point.finished, point.left_out) {
            (true, _) => "finished".into(),
            (_, true) => "left out".into(),
            _ => seconds(point.seconds),
        };
        text += &format!("  {time:>12}  {}  {}\n", point.identity, parts.join(", "));
    }
    let finished = match (plan.finished, &plan.folder) {
        (0, _) | (_, None) => String::new(),
        (count, Some(folder)) => format!(", {count} of them finished in {}", folder.display()),
    };
    text + &format!(
        "{} points{finished}: about {} of computing, {} on {} threads\n",
        plan.points.len(),
        seconds(plan.seconds),
        seconds(plan.seconds_on_threads),
        plan.threads
    )
}

/// About so long, for people.
fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".into(),
        ..0.095 => format!("{:.0} ms", (seconds * 1e3).max(1.0)),
        ..10.0 => format!("{seconds:.1} s"),
        ..90.0 => format!("{seconds:.0} s"),
        ..5_400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3_600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}
