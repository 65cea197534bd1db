//! The result files of a sweep: rows as they come, and all of it in order at the end.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::super::interrupt::Interrupt;
use super::super::progress::Bar;
use super::super::summary::{Expectation, Printed, SaturationNote, Summary, mention, print_text};
use super::super::{Failure, folder, text};
use super::place::LAST_FILE;
use crate::cli::say::say;
use flitlab::report::figure::{Kind, Wish, draw_all};
use flitlab::report::{
    ChannelRow, DeadlockNote, PointRow, ResultRows, Row, RowWriter, Status, means_text,
};
use flitlab::scenario::{Point, Sweep};
use flitlab::sweep::{Obtained, Simulation, StoredPoint};

const POINTS: &str = "points.csv";
const MEANS: &str = "means.csv";
const CHANNELS: &str = "channels.csv";
const LATENCIES: &str = "latencies.csv";
const WINDOWS: &str = "windows.csv";

/// What has been found so far.
pub(super) struct Results<'f> {
    folder: &'f Path,
    points: RowWriter<PointRow>,
    channels: RowWriter<ChannelRow>,
    /// Each with its place in the order of the sweep.
    found: Vec<((usize, u32), StoredPoint)>,
    json: bool,
    repetitions: u32,
    /// Whether the bar counts searches, not points.
    searches: bool,
    /// Points that were there already.
    known: usize,
    /// Whether all points of the sweep are found.
    whole: bool,
    bar: Bar,
    interrupt: Interrupt,
}

impl<'f> Results<'f> {
    /// Begins the files of rows. What a folder has of an earlier call is replaced, since all of its points
    /// that still belong to the sweep are found again.
    pub fn begin(
        folder: &'f Path,
        json: bool,
        sweep: &Sweep,
        bar: Bar,
        interrupt: Interrupt,
    ) -> Result<Self, Failure> {
        for file in [LAST_FILE, POINTS, CHANNELS, LATENCIES, WINDOWS] {
            remove(&folder.join(file))?;
        }
        Ok(Self {
            folder,
            points: RowWriter::create(folder.join(POINTS))?,
            channels: RowWriter::create(folder.join(CHANNELS))?,
            found: Vec::new(),
            json,
            repetitions: sweep.repetitions,
            searches: sweep.saturation.is_some(),
            known: 0,
            whole: true,
            bar,
            interrupt,
        })
    }

    /// Writes a point's rows at once, all of them even if a signal comes. `place` is its place in the order of
    /// the sweep: that of its series' first point, and its number.
    pub fn take(
        &mut self,
        place: (usize, u32),
        point: &Point,
        obtained: Obtained,
    ) -> Result<(), Failure> {
        let found = labelled(obtained.point, point, place.1);
        let rows = self.interrupt.hold();
        self.points.write(&found.row)?;
        found.channels.iter().try_for_each(|channel| self.channels.write(channel))?;
        if !self.searches {
            self.bar.point_done(place.1 as usize);
        }
        drop(rows);
        if !obtained.computed {
            self.known += 1;
        } else if !self.json {
            let line = point_text(&found.row, self.repetitions > 1);
            self.bar.above(|| mention(&format!("{line}\n")));
        }
        self.found.push((place, found));
        Ok(())
    }

    /// Points that were there already.
    pub fn known(&self) -> usize {
        self.known
    }

    /// Drops points that turned out to be no part of the sweep.
    pub fn leave_out(&mut self, left_out: impl Fn((usize, u32)) -> bool) {
        self.found.retain(|(place, _)| !left_out(*place));
    }

    /// Some points are missing: there will be no summary.json, which tells a finished sweep.
    pub fn leave_unfinished(&mut self) {
        self.whole = false;
    }

    /// Puts the files in the sweep's order, draws, sums up.
    pub fn conclude(
        mut self,
        saturation: Vec<SaturationNote>,
        simulation: &Simulation,
    ) -> Result<(), Failure> {
        self.found.sort_by_key(|(place, _)| *place);
        let found: Vec<StoredPoint> = self.found.into_iter().map(|(_, point)| point).collect();
        let rows = ResultRows {
            points: found.iter().map(|point| point.row.clone()).collect(),
            channels: found.iter().flat_map(|point| point.channels.clone()).collect(),
            latencies: found.iter().flat_map(|point| point.latencies.clone()).collect(),
            windows: found.iter().flat_map(|point| point.windows.clone()).collect(),
            saturation: saturation.iter().map(SaturationNote::sustained).collect(),
            title: None,
        };
        rewrite(&self.folder.join(POINTS), &rows.points)?;
        rewrite(&self.folder.join(CHANNELS), &rows.channels)?;
        rewrite(&self.folder.join(LATENCIES), &rows.latencies)?;
        if !rows.windows.is_empty() {
            rewrite(&self.folder.join(WINDOWS), &rows.windows)?;
        }
        let means = self.folder.join(MEANS);
        let repeated = self.repetitions > 1;
        if repeated {
            folder::write(&means, &means_text(&rows.points, self.repetitions))?;
        } else {
            remove(&means)?;
        }
        let scenario = simulation.scenario();
        let title = scenario.title.as_ref().unwrap_or(&scenario.name);
        let drawn = draw_all(&rows, self.folder, &Wish::titled(title))?;
        remove_other_figures(self.folder, &drawn.written)?;
        let warnings: Vec<String> = found
            .iter()
            .flat_map(|point| {
                let place = point_name(&point.row, repeated);
                point.warnings.iter().map(move |warning| format!("{place}: {warning}"))
            })
            .collect();
        let deadlocks: Vec<_> = found
            .iter()
            .filter_map(|point| Some((point.row.point, point.deadlock.as_ref()?)))
            .collect();
        let summary = Summary {
            flitlab: env!("CARGO_PKG_VERSION"),
            title: scenario.title.clone(),
            scenario: Expectation::new(simulation),
            points: rows.points,
            saturation,
            busiest_channels: Vec::new(),
            warnings,
            deadlocks: deadlocks
                .iter()
                .map(|(point, found)| DeadlockNote::new(*point, found.time, &found.text))
                .collect(),
        };
        if self.whole {
            summary.write(self.folder)?;
        }
        let place = self.folder.display().to_string();
        if self.json {
            Printed { summary: &summary, results: place, cost: None }.print()?;
        } else {
            let notes: String = summary.saturation.iter().map(saturation_text).collect();
            print_text(&format!("{notes}results in {place}\n"))?;
            let unsteady =
                summary.points.iter().filter(|row| row.status == Status::NotSteady).count();
            if unsteady > 0 {
                say(&format!(
                    "note: {unsteady} points are past saturation (summary.json says more)"
                ));
            }
        }
        match deadlocks.first() {
            Some((_, first)) => Err(Failure::Deadlocks(deadlocks.len(), first.text.clone())),
            None => Ok(()),
        }
    }
}

/// A stored point with what only its sweep knows.
fn labelled(mut found: StoredPoint, point: &Point, number: u32) -> StoredPoint {
    found.row.series.clone_from(&point.series);
    found.row.figure.clone_from(&point.figure);
    found.row.point = number;
    let setting = |(key, value): &(String, String)| format!("{key} = {value}");
    found.row.settings = point.of_grid.iter().map(setting).collect::<Vec<_>>().join("; ");
    for channel in &mut found.channels {
        channel.series.clone_from(&point.series);
        channel.point = number;
    }
    for latency in &mut found.latencies {
        latency.series.clone_from(&point.series);
        latency.point = number;
    }
    for window in &mut found.windows {
        window.series.clone_from(&point.series);
        window.point = number;
    }
    found
}

fn point_name(row: &PointRow, repeated: bool) -> String {
    let parts = [
        Some(row.series.clone()).filter(|series| !series.is_empty()),
        row.offered_load.map(|load| format!("load {load:.4}")),
        repeated.then(|| format!("seed {}", row.seed)),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { format!("point {}", row.point) } else { parts.join(", ") }
}

/// One line a point.
pub(super) fn point_text(row: &PointRow, repeated: bool) -> String {
    let name = point_name(row, repeated);
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
        (Status::Undecided, Some(accepted), _) => {
            format!("  {name}: accepted {accepted:.4}, undecided")
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

/// Replaces a file of rows by the same rows in order.
fn rewrite<R: Row>(path: &Path, rows: &[R]) -> Result<(), Failure> {
    let ordered = path.with_extension("partial");
    remove(&ordered)?;
    let mut writer = RowWriter::create(&ordered)?;
    rows.iter().try_for_each(|row| writer.write(row))?;
    fs::rename(&ordered, path).map_err(|cause| cannot_write(&ordered, &cause))
}

/// Removes the figures of an earlier state of the sweep that it has no more.
fn remove_other_figures(folder: &Path, drawn: &[PathBuf]) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.try_for_each(|path| {
        if Kind::names_file(&path) && !drawn.contains(&path) { remove(&path) } else { Ok(()) }
    })
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(cannot_write(path, &cause)),
        _ => Ok(()),
    }
}

fn cannot_write(path: &Path, cause: &std::io::Error) -> Failure {
    Failure::Run(format!("can't write {}: {cause}", path.display()))
}
