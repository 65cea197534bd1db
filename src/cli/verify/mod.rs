//! `flitlab verify`: rows of finished results are computed again and compared.

mod choice;
mod points;
mod reproduced;
mod verified;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use super::interrupt::Interrupt;
use super::progress::Bar;
use super::say::say;
use super::summary::{mention, print_json, print_text};
use super::text::{counted, duration};
use super::threads::Threads;
use super::{Failure, components};
use choice::{Row, chosen};
use flitlab::report::folder::POINTS;
use flitlab::reproduce::Record;
use flitlab::scenario::RESULTS_VERSION;
use flitlab::units::{ClockTime, parse_clock_time};
use points::Points;
use reproduced::Reproduced;
use verified::Verified;

/// Rows that are computed again if nothing is said.
const SAMPLE: usize = 10;

/// Compute rows of results again and compare them with what is there
///
/// Takes what `run`, `sweep` and `reproduce` left, in the folder and in folders within it. All rows
/// are compared with summary.json, or with what the record of a reproduction gives; those that are
/// drawn are computed again, and compared with all that is known of them. What was found equal stands
/// in FOLDER/verified.csv, and the next call goes on with other rows.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab verify results/first\n  \
                        flitlab verify results --within 3min\n  flitlab verify results --all")]
pub(super) struct Verify {
    /// A folder of results, or of such folders
    folder: PathBuf,
    /// How many rows are computed again, spread over the results [default: 10, or as many as fit
    /// into --within]
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Compute all rows again that were not found equal by an earlier call
    #[arg(long, conflicts_with = "sample")]
    all: bool,
    /// Begin with no row after this time, such as 3min; no row is drawn that would take longer
    #[arg(long, value_name = "TIME", value_parser = parse_clock_time)]
    within: Option<ClockTime>,
    /// Draws the rows; another seed draws others
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Take no notice of FOLDER/verified.csv, and leave it as it is
    #[arg(long)]
    no_record: bool,
    #[command(flatten)]
    threads: Threads,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// A result that can be computed again.
enum Found {
    Points(Box<Points>),
    Reproduced(Reproduced),
}

/// What was found of a result.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    /// The folder, from the one that was named.
    result: String,
    /// All that can be computed again.
    rows: usize,
    /// What was computed again by this call and is equal.
    equal: usize,
    /// What earlier calls of this version found equal.
    known: usize,
    differences: Vec<Difference>,
    /// Why it can't be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// CPU time of all rows, about.
    seconds: f64,
    /// Whether there was time to look at it.
    reached: bool,
}

/// A value that is not what is computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Difference {
    /// The file and line, or the simulation.
    row: String,
    /// Empty if it is the whole row.
    column: String,
    was: String,
    is: String,
}

impl Difference {
    fn text(&self) -> String {
        let Self { row, column, was, is } = self;
        let column = if column.is_empty() { String::new() } else { format!("{column}: ") };
        format!("  {row}: {column}{was}, computed again {is}\n")
    }
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Printed<'o> {
    verified: String,
    flitlab: &'static str,
    results_version: u32,
    commit: &'static str,
    results: &'o [Outcome],
    /// What has files of results, and nothing that tells how they were made.
    unknown: &'o [String],
}

impl Verify {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let begun = Instant::now();
        let (mut results, mut unknown) = (Vec::new(), Vec::new());
        look(&self.folder, &self.folder, &mut results, &mut unknown)?;
        if results.is_empty() {
            let name = self.folder.display();
            return Err(Failure::input(format!(
                "{name} has no results in it: name a folder that flitlab run, sweep or reproduce left, \
                 or one of such folders"
            )));
        }
        let mut verified = Verified::open(&self.folder, !self.no_record)?;
        let mut outcomes = Vec::new();
        let (mut opened, mut rows) = (Vec::new(), Vec::new());
        for (place, folder) in results {
            let found = if Record::is_in(&folder) {
                Reproduced::open(&folder).map(Found::Reproduced)
            } else {
                Points::open(&folder).map(|found| Found::Points(Box::new(found)))
            };
            let number = outcomes.len();
            let mut outcome =
                Outcome { result: place.clone(), reached: true, ..Outcome::default() };
            match found {
                Ok(found) => {
                    let (all, differences) = match &found {
                        Found::Points(points) => (points.rows(), points.edited()),
                        Found::Reproduced(found) => (found.rows(), Vec::new()),
                    };
                    outcome.rows = all.len();
                    outcome.seconds = all.iter().map(|(.., seconds)| seconds).sum();
                    outcome.differences = differences;
                    for (at, key, seconds) in all {
                        if verified.knows(&place, &key) {
                            outcome.known += 1;
                        } else {
                            rows.push(Row { result: number, at, key, seconds });
                        }
                    }
                    opened.push((number, found));
                }
                Err(problem) => outcome.problem = Some(problem),
            }
            outcomes.push(outcome);
        }
        let threads = self.threads.count();
        let within = self.within.map(|ClockTime(seconds)| Duration::from_secs(seconds));
        let most = match (self.all, self.sample, within) {
            (true, ..) | (false, None, Some(_)) => usize::MAX,
            (false, Some(sample), _) => sample,
            (false, None, None) => SAMPLE,
        };
        let budget = within.map(|within| within.as_secs_f64() * threads as f64);
        let rows = chosen(rows, most, budget, self.seed);
        let bar = Bar::of_sweep(rows.len() as u64);
        let _interrupt = Interrupt::watch({
            let bar = bar.clone();
            let kept = match self.no_record {
                true => "interrupted",
                false => {
                    "interrupted; what was found equal is kept, and the next call goes on from there"
                }
            };
            move || {
                bar.finish();
                say(kept);
            }
        })?;
        let deadline = within.map(|within| begun + within);
        for (number, found) in opened {
            let own: Vec<&Row> = rows.iter().filter(|row| row.result == number).collect();
            let outcome = &mut outcomes[number];
            let result = outcome.result.clone();
            let mut equal = |row, seconds| verified.add(&result, row, seconds);
            match found {
                Found::Points(points) => {
                    points.verify(&own, threads, deadline, &bar, outcome, &mut equal)?;
                }
                Found::Reproduced(found) => {
                    // Its tables are made of all simulations, so it begins as a whole.
                    if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                        outcome.reached = false;
                        mention_above(&bar, outcome, self.json);
                        continue;
                    }
                    found.verify(&own, threads, &bar, outcome, &mut equal)?;
                }
            }
            mention_above(&bar, outcome, self.json);
        }
        bar.finish();
        self.conclude(&outcomes, &unknown)
    }

    fn conclude(&self, outcomes: &[Outcome], unknown: &[String]) -> Result<(), Failure> {
        let sum = |of: fn(&Outcome) -> usize| outcomes.iter().map(of).sum::<usize>();
        let (rows, equal, known) = (sum(|it| it.rows), sum(|it| it.equal), sum(|it| it.known));
        let different = sum(|it| it.differences.len());
        let problems = outcomes.iter().filter(|it| it.problem.is_some()).count();
        if self.json {
            print_json(&Printed {
                verified: self.folder.display().to_string(),
                flitlab: env!("CARGO_PKG_VERSION"),
                results_version: RESULTS_VERSION,
                commit: super::COMMIT,
                results: outcomes,
                unknown,
            })?;
        } else {
            let mut text = String::new();
            for outcome in outcomes.iter().filter(|it| it.problem.is_some()) {
                text += &line(outcome);
            }
            if !unknown.is_empty() {
                text += &format!(
                    "not verified, since nothing tells how they were made: {}\n",
                    unknown.join(", ")
                );
            }
            let seconds: f64 = outcomes.iter().map(|it| it.seconds).sum();
            let before =
                if known > 0 { format!(", {known} by earlier calls") } else { String::new() };
            text += &format!(
                "{} of {rows} computed again and equal{before}; all would take about {} of CPU\n",
                counted(equal, "row"),
                duration(seconds)
            );
            print_text(&text)?;
        }
        let mut wrong = Vec::new();
        match different {
            0 => {}
            1 => wrong.push("1 value differs".into()),
            _ => wrong.push(format!("{different} values differ")),
        }
        if problems > 0 {
            wrong.push(counted(problems, "result") + " can't be compared");
        }
        if wrong.is_empty() {
            return Ok(());
        }
        Err(Failure::Check(format!("error: {}", wrong.join(", and "))))
    }
}

fn mention_above(bar: &Bar, outcome: &Outcome, json: bool) {
    if !json {
        bar.above(|| mention(&line(outcome)));
    }
}

/// What is told of a result.
fn line(outcome: &Outcome) -> String {
    let Outcome { result, rows, equal, known, differences, problem, reached, .. } = outcome;
    let name = if result.is_empty() { "." } else { result };
    if let Some(problem) = problem {
        return format!("{name}: {problem}\n");
    }
    if !reached {
        return format!("{name}: not reached in the time\n");
    }
    let before = if *known > 0 { format!(", {known} by earlier calls") } else { String::new() };
    let mut text = match rows {
        // A reproduction that keeps no simulations is computed whole.
        0 if differences.is_empty() => format!("{name}: its tables are computed again and equal\n"),
        _ => format!("{name}: {equal} of {rows} computed again and equal{before}\n"),
    };
    text.extend(differences.iter().map(Difference::text));
    text
}

/// Finds the results in a folder and below it, in the order of their names, each with its place from
/// the folder that was named; and what has tables, and nothing that tells how they were made.
fn look(
    from: &Path,
    folder: &Path,
    results: &mut Vec<(String, PathBuf)>,
    unknown: &mut Vec<String>,
) -> Result<(), Failure> {
    let cannot = |cause| Failure::input(format!("can't read {}: {cause}", folder.display()));
    let entries = fs::read_dir(folder).map_err(cannot)?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let place = folder.strip_prefix(from).unwrap_or(folder).display().to_string();
    let scenario = folder.join("scenario.toml").is_file();
    let is_csv = |path: &PathBuf| path.extension().is_some_and(|it| it == "csv");
    let has_tables = || paths.iter().any(|it| is_csv(it) && !it.ends_with(verified::FILE));
    if Record::is_in(folder) || scenario && folder.join(POINTS).is_file() {
        results.push((place, folder.into()));
        return Ok(());
    }
    if has_tables() {
        unknown.push(if place.is_empty() { ".".into() } else { place });
    }
    paths
        .iter()
        .filter(|it| it.is_dir() && !it.is_symlink())
        .try_for_each(|path| look(from, path, results, unknown))
}

/// The command by its own name.
fn again(words: &[&str]) -> String {
    let own = components::name();
    let words = std::iter::once(own.as_str()).chain(words.iter().copied());
    shlex::try_join(words).expect("arguments have no zero bytes")
}

/// Why results of another version can't be compared.
fn of_another_version(version: u32, rows: usize, anew: &str) -> String {
    format!(
        "its {} were computed by version {version} of what flitlab computes, and this one is version \
         {RESULTS_VERSION}: they can't be compared; {anew} makes them anew",
        counted(rows, "row")
    )
}
