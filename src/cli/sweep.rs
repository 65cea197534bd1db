//! `flitlab sweep`: the points of a grid, in parallel, rows on disk as they come.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, mpsc};

use clap::Args;

use super::folder::Output;
use super::input::{Input, reject};
use super::progress::Bar;
use super::summary::{Expectation, Printed, SaturationNote, Summary, print_text};
use super::threads::Threads;
use super::{Failure, folder, text};
use crate::report::figure::draw_all;
use crate::report::{ChannelRow, DeadlockNote, PointRow, Row, RowWriter, Status};
use crate::scenario::{self, Point};
use crate::sweep::{CRITERION, Outcome, SetupError, Simulation, find_saturation, in_parallel};

/// Run a scenario at every point of its [sweep], in parallel
///
/// Rows are in points.csv as soon as they are known. At the end there are figures of latency and
/// throughput, one curve a series, in results/NAME.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab sweep scenarios/angara/desmos-uniform.toml\n  \
                        flitlab sweep scenarios/angara/torus-8x8x8-patterns.toml --threads 2 --out curves")]
pub(super) struct Sweep {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    output: Output,
}

/// What has been found so far.
struct Found {
    points: RowWriter<PointRow>,
    channels: RowWriter<ChannelRow>,
    /// By point, so that the order in which points end doesn't show.
    outcomes: BTreeMap<(String, u32), Outcome>,
    order: Vec<String>,
}

impl Sweep {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let document = self.input.document()?;
        let sweep = scenario::Sweep::read(&document).map_err(|found| reject(&found))?;
        let first = &sweep.points.first().expect("a sweep has a point").scenario;
        let title = first.title.clone().unwrap_or_else(|| first.name.clone());
        let results = folder::prepare(&first.name, self.output.out.as_deref())?;
        folder::write(&results.join("scenario.toml"), &resolved(&sweep)?)?;
        let simulation = Simulation::new(first)?;
        if !self.output.json {
            let headline = text::headline(&simulation);
            print_text(&format!("{headline}: {} points\n", sweep.points.len()))?;
        }
        let mut order: Vec<String> = Vec::new();
        for series in sweep.points.iter().map(series) {
            if !order.contains(&series) {
                order.push(series);
            }
        }
        let mut found = Found {
            points: RowWriter::create(results.join("points.csv"))?,
            channels: RowWriter::create(results.join("channels.csv"))?,
            outcomes: BTreeMap::new(),
            order,
        };
        let saturation = match sweep.saturation {
            None => self.run_grid(&sweep, &mut found).map(|()| Vec::new())?,
            Some(wanted) => self.run_searches(&sweep, wanted.tolerance, &mut found)?,
        };
        self.conclude(found, saturation, &simulation, &results, &title)
    }

    fn run_grid(&self, sweep: &scenario::Sweep, found: &mut Found) -> Result<(), Failure> {
        let numbered: Vec<(u32, &Point)> = (0..).zip(&sweep.points).collect();
        let bar = Bar::of_sweep(sweep.points.len() as u64);
        let run = |(number, point): &(u32, &Point)| -> Result<Outcome, SetupError> {
            let simulation = Simulation::new(&point.scenario)?;
            Ok(in_figure(sweep, point, simulation.run(&series(point), *number, &mut |_| {})))
        };
        in_parallel(&numbered, self.threads.count(), run, |outcome| {
            found.take(outcome?, self.output.json)?;
            bar.point_done();
            Ok::<(), Failure>(())
        })?;
        bar.finish();
        Ok(())
    }

    fn run_searches(
        &self,
        sweep: &scenario::Sweep,
        tolerance: f64,
        found: &mut Found,
    ) -> Result<Vec<SaturationNote>, Failure> {
        let bar = Bar::of_sweep(sweep.points.len() as u64);
        let (sender, outcomes) = mpsc::channel::<Outcome>();
        let sender: Mutex<Sender<Outcome>> = Mutex::new(sender);
        let search = |point: &Point| {
            let sender = sender.lock().expect("no panic while held").clone();
            let each = |outcome| {
                let outcome = in_figure(sweep, point, outcome);
                sender.send(outcome).expect("the receiver waits for all");
            };
            let series = series(point);
            find_saturation(&point.scenario, &series, tolerance, each).map(|found| SaturationNote {
                series,
                criterion: CRITERION.into(),
                tolerance,
                sustained_load: found.sustained,
                lowest_load_not_sustained: found.failed,
            })
        };
        let mut notes = Vec::new();
        in_parallel(&sweep.points, self.threads.count(), search, |note| {
            notes.push(note?);
            bar.point_done();
            outcomes.try_iter().try_for_each(|outcome| found.take(outcome, self.output.json))
        })?;
        bar.finish();
        notes.sort_by_key(|note| found.order.iter().position(|series| *series == note.series));
        Ok(notes)
    }

    /// Puts the files in the grid's order, draws, sums up.
    fn conclude(
        &self,
        found: Found,
        saturation: Vec<SaturationNote>,
        simulation: &Simulation,
        results: &Path,
        title: &str,
    ) -> Result<(), Failure> {
        let mut outcomes: Vec<Outcome> = found.outcomes.into_values().collect();
        let order = |series: &str| found.order.iter().position(|other| other == series);
        outcomes.sort_by_key(|outcome| (order(&outcome.row.series), outcome.row.point));
        let points: Vec<PointRow> = outcomes.iter().map(|outcome| outcome.row.clone()).collect();
        let channels: Vec<ChannelRow> =
            outcomes.iter().flat_map(|outcome| outcome.channels.clone()).collect();
        rewrite(&results.join("points.csv"), &points)?;
        rewrite(&results.join("channels.csv"), &channels)?;
        draw_all(&points, &channels, results, title)?;
        let warnings: Vec<String> = outcomes
            .iter()
            .flat_map(|outcome| {
                let place = point_name(&outcome.row);
                outcome.warnings.iter().map(move |warning| format!("{place}: {warning}"))
            })
            .collect();
        let deadlocks: Vec<_> = outcomes
            .iter()
            .filter_map(|outcome| Some((outcome.row.point, outcome.deadlock.clone()?)))
            .collect();
        let summary = Summary {
            flitlab: env!("CARGO_PKG_VERSION"),
            title: simulation.scenario().title.clone(),
            scenario: Expectation::new(simulation),
            points,
            saturation,
            busiest_channels: Vec::new(),
            warnings,
            deadlocks: deadlocks
                .iter()
                .map(|(point, found)| DeadlockNote::new(*point, found.time, &found.to_string()))
                .collect(),
        };
        summary.write(results)?;
        let place = results.display().to_string();
        if self.output.json {
            Printed { summary: &summary, results: place, cost: None }.print()?;
        } else {
            let notes: String = summary.saturation.iter().map(saturation_text).collect();
            print_text(&format!("{notes}results in {place}\n"))?;
            let unsteady =
                summary.points.iter().filter(|row| row.status == Status::NotSteady).count();
            if unsteady > 0 {
                eprintln!("note: {unsteady} points are past saturation (summary.json says more)");
            }
        }
        match deadlocks.into_iter().next() {
            Some((_, first)) => Err(Failure::Deadlocks(summary.deadlocks.len(), Box::new(first))),
            None => Ok(()),
        }
    }
}

impl Found {
    /// Writes an outcome's rows at once.
    fn take(&mut self, outcome: Outcome, quiet: bool) -> Result<(), Failure> {
        self.points.write(&outcome.row)?;
        outcome.channels.iter().try_for_each(|channel| self.channels.write(channel))?;
        if !quiet {
            print_text(&format!("{}\n", point_text(&outcome.row)))?;
        }
        self.outcomes.insert((outcome.row.series.clone(), outcome.row.point), outcome);
        Ok(())
    }
}

/// The name of a point's curve: the values of all its keys but the load.
fn series(point: &Point) -> String {
    let parts: Vec<String> = point
        .assignments
        .iter()
        .filter(|(key, _)| key != "traffic.load")
        .map(|(key, value)| series_part(key, value))
        .collect();
    parts.join(", ")
}

/// A key's value as it is named in a legend.
fn series_part(key: &str, value: &str) -> String {
    if value.starts_with('{') {
        // A choice with its keys: the words say it all.
        let words = value.replace(['{', '}', '=', '"', '\''], " ").replace('_', " ");
        return words.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    let says_it_all =
        value.starts_with(|c: char| c.is_alphabetic()) && !matches!(value, "true" | "false");
    let name = key.rsplit('.').next().unwrap_or(key).replace('_', " ");
    if says_it_all { value.to_owned() } else { format!("{name} {value}") }
}

/// Notes in which figure an outcome belongs.
fn in_figure(sweep: &scenario::Sweep, point: &Point, mut outcome: Outcome) -> Outcome {
    let of_figure = |(key, _): &&(String, String)| sweep.figures.as_deref() == Some(key.as_str());
    if let Some((key, value)) = point.assignments.iter().find(of_figure) {
        outcome.row.figure = series_part(key, value);
    }
    outcome
}

fn point_name(row: &PointRow) -> String {
    let load = row.offered_load.map(|load| format!("load {load:.4}"));
    let parts: Vec<String> = [Some(row.series.clone()), load]
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() { format!("point {}", row.point) } else { parts.join(", ") }
}

/// One line a point.
fn point_text(row: &PointRow) -> String {
    let name = point_name(row);
    let latency = row.packet_latency_mean.map_or("-".into(), text::nanoseconds);
    match (row.status, row.accepted_load, row.completion_time) {
        (Status::Completed, _, Some(time)) => format!(
            "  {name}: {:.3} us, {:.3} GB/s a node",
            time as f64 / 1e6,
            row.bandwidth.unwrap_or(0.0)
        ),
        (Status::Steady, Some(accepted), _) => {
            format!("  {name}: accepted {accepted:.4}, mean packet latency {latency} ns")
        }
        (Status::NotSteady, Some(accepted), _) => {
            format!("  {name}: accepted {accepted:.4}, not steady")
        }
        _ => format!("  {name}: deadlock"),
    }
}

fn saturation_text(note: &SaturationNote) -> String {
    let series = if note.series.is_empty() { "saturation" } else { &note.series };
    match note.lowest_load_not_sustained {
        Some(failed) => {
            format!("  {series}: sustains load {:.4}, not {failed:.4}\n", note.sustained_load)
        }
        None => format!("  {series}: sustains load {:.4}, the bound\n", note.sustained_load),
    }
}

/// The first point's scenario, every value written out, and the grid.
fn resolved(sweep: &scenario::Sweep) -> Result<String, Failure> {
    let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
    for (key, value) in sweep.points.iter().flat_map(|point| &point.assignments) {
        match axes.iter_mut().find(|(other, _)| other == key) {
            Some((_, values)) if values.contains(&value.as_str()) => {}
            Some((_, values)) => values.push(value),
            None => axes.push((key, vec![value])),
        }
    }
    let mut text = folder::resolved(&sweep.points[0].document)?;
    text.push_str("\n[sweep]\n");
    if let Some(saturation) = sweep.saturation {
        text.push_str(&format!("saturation = {{ tolerance = {} }}\n", saturation.tolerance));
    }
    for (key, values) in axes {
        let values: Vec<String> = values.into_iter().map(literal).collect();
        text.push_str(&format!("grid.{key} = [{}]\n", values.join(", ")));
    }
    Ok(text)
}

/// A value as TOML: as it is if it is TOML, else as a text.
fn literal(value: &str) -> String {
    match toml::de::DeTable::parse(&format!("value = {value}")) {
        Ok(_) => value.to_owned(),
        Err(_) => format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

/// Replaces a file of rows by the same rows in order.
fn rewrite<R: Row>(path: &Path, rows: &[R]) -> Result<(), Failure> {
    let ordered = path.with_extension("partial");
    let cannot = |cause| Failure::Run(format!("cannot write {}: {cause}", ordered.display()));
    if ordered.exists() {
        fs::remove_file(&ordered).map_err(cannot)?;
    }
    let mut writer = RowWriter::create(&ordered)?;
    rows.iter().try_for_each(|row| writer.write(row))?;
    fs::rename(&ordered, path).map_err(cannot)
}
