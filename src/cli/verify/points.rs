//! The rows of a run or a sweep.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::super::results::Results;
use super::super::{Failure, program};
use super::{Bar, Difference, Outcome, Row, again, of_another_version};
use crate::cli::say::say;
use flitlab::report::folder::{
    ACTIVITY, CHANNELS, FAILURES, FLOWS, LATENCIES, PACKED_CHANNELS, PAIRS, PATH, PHASES, POINTS,
    RANK_PHASES, RANKS, SLOWDOWNS, SUMMARY, WINDOWS, WORKLOADS,
};
use flitlab::report::{self, PointResult, PointRow, ResultRows, Row as _};
use flitlab::scenario::{RESULTS_VERSION, Scenario, Sweep};
use flitlab::sweep::{compute, in_parallel, scenarios_of_rows};
use flitlab::text_file::read_text;

/// CPU time of an event, about, in seconds. What rows really take is in verified.csv.
const SECONDS_AN_EVENT: f64 = 5e-7;

/// The points of a result, each with the scenario that it is said to be of.
pub(super) struct Points {
    folder: PathBuf,
    results: Results,
    /// `None` for a row that is none of the sweep's.
    scenarios: Vec<Option<Scenario>>,
    /// Whether all files are of this version, so that every column and every file can be compared.
    same_version: bool,
}

impl Points {
    /// Reads them.
    ///
    /// # Errors
    /// Why they can't be compared.
    pub(super) fn open(folder: &Path) -> Result<Self, String> {
        let results = Results::open(folder).map_err(|failure| failure.text())?;
        results.notes.iter().for_each(|note| say(&format!("note: {note}")));
        let version = results.summary.made.results_version;
        if let Some(version) = version.filter(|version| *version != RESULTS_VERSION) {
            let scenario = folder.join("scenario.toml").display().to_string();
            let command = if results.rows.points.len() > 1 { "sweep" } else { "run" };
            let command = again(&[command, &scenario]);
            return Err(of_another_version(version, results.rows.points.len(), &command));
        }
        let document = results.scenario.as_ref().ok_or("it has no scenario.toml")?;
        let unreadable = |cause: flitlab::scenario::Diagnostics| {
            format!("its scenario.toml is none of this version:\n{cause}")
        };
        let points = &results.rows.points;
        let scenarios = if document.has_sweep() {
            let sweep = Sweep::read(document).map_err(unreadable)?;
            scenarios_of_rows(&sweep, points).map_err(|error| error.to_string())?
        } else {
            let scenario = Scenario::read(document).map_err(unreadable)?;
            points.iter().map(|_| Some(scenario.clone())).collect()
        };
        Ok(Self { folder: folder.into(), same_version: version.is_some(), results, scenarios })
    }

    fn points(&self) -> &[report::Point] {
        &self.results.rows.points
    }

    /// The rows that can be computed again: their places, what tells each of them, and the CPU time that
    /// it takes, about.
    pub(super) fn rows(&self) -> Vec<(usize, String, f64)> {
        let row = |(at, point): (usize, &report::Point)| {
            let digest = point.measured.digest.map_or_else(String::new, |it| format!(" {it:016x}"));
            let seconds = point.measured.events as f64 * SECONDS_AN_EVENT;
            self.scenarios[at].as_ref().map(|_| (at, format!("line {}{digest}", at + 2), seconds))
        };
        self.points().iter().enumerate().filter_map(row).collect()
    }

    /// Where the rows are none of the sweep's, or others than those of summary.json, which was written
    /// with them.
    pub(super) fn edited(&self) -> Vec<Difference> {
        let mut found: Vec<Difference> = (0..self.scenarios.len())
            .filter(|&at| self.scenarios[at].is_none())
            .map(|at| self.of_row(at, "", "there".into(), "no point of scenario.toml".into()))
            .collect();
        let summary = read_text(&self.folder.join(SUMMARY)).ok();
        let summary: Option<Value> = summary.and_then(|text| serde_json::from_str(&text).ok());
        let Some(Value::Array(told)) = summary.as_ref().and_then(|it| it.get("points")) else {
            return found;
        };
        if told.len() != self.points().len() {
            found.push(Difference {
                row: POINTS.into(),
                column: String::new(),
                was: format!("{} rows", self.points().len()),
                is: format!("{} in {SUMMARY}", told.len()),
            });
            return found;
        }
        for (line, (point, told)) in self.points().iter().zip(told).enumerate() {
            for column in PointRow::columns().iter().filter(|it| self.has(it.name)) {
                let own = serde_json::to_value((column.cell)(&point.measured)).unwrap_or_default();
                let told = told.get(column.name).cloned().unwrap_or_default();
                if own != told {
                    let is = format!("{} by {SUMMARY}", shown(&told));
                    found.push(self.of_row(line, column.name, shown(&own), is));
                }
            }
        }
        found
    }

    /// Whether the file has this column.
    fn has(&self, column: &str) -> bool {
        !self.results.rows.absent.iter().any(|absent| absent == column)
    }

    fn of_row(&self, at: usize, column: &str, was: String, is: String) -> Difference {
        Difference { row: self.row_name(at), column: column.into(), was, is }
    }

    /// The place of a row for people.
    fn row_name(&self, at: usize) -> String {
        let label = &self.points()[at].label;
        let series =
            if label.series.is_empty() { String::new() } else { format!("{}, ", label.series) };
        format!("{POINTS}, line {} ({series}point {}, seed {})", at + 2, label.point, label.seed)
    }

    /// Computes rows again, many at a time, until the deadline.
    pub(super) fn verify(
        self,
        rows: &[&Row],
        threads: usize,
        deadline: Option<Instant>,
        bar: &Bar,
        outcome: &mut Outcome,
        equal: &mut dyn FnMut(String, f64) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let details = self.details(rows)?;
        let enter = program::for_threads();
        let work = |row: &&Row| {
            enter(0);
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return None;
            }
            Some((row.key.clone(), self.differences(row.at, details.get(row.at))))
        };
        in_parallel(rows, threads, work, |done| {
            bar.one_done();
            let Some((key, found)) = done else { return Ok(()) };
            let (differences, seconds) = found?;
            if differences.is_empty() {
                outcome.equal += 1;
                equal(key, seconds)
            } else {
                outcome.differences.extend(differences);
                Ok(())
            }
        })
    }

    /// The points with the rows of their other files, if these are of this version and some are asked
    /// for.
    fn details(&self, rows: &[&Row]) -> Result<Vec<report::Point>, Failure> {
        if !self.same_version || rows.is_empty() {
            return Ok(Vec::new());
        }
        let note = |note: String| say(&format!("note: {note}"));
        Ok(ResultRows::read(&self.folder, note)?.points)
    }

    /// Computes a row again. Returns where it differs, and the CPU time in seconds.
    fn differences(
        &self,
        at: usize,
        details: Option<&report::Point>,
    ) -> Result<(Vec<Difference>, f64), Failure> {
        let scenario = self.scenarios[at].as_ref().expect("only rows that have one are drawn");
        let started = cpu_time::ThreadTime::now();
        let computed = compute(scenario)?;
        let seconds = started.elapsed().as_secs_f64();
        let point = &self.points()[at];
        let mut found = Vec::new();
        for column in PointRow::columns().iter().filter(|it| self.has(it.name)) {
            let (was, is) = ((column.cell)(&point.measured), (column.cell)(&computed.measured));
            if was != is {
                let cell = |cell| shown(&serde_json::to_value(cell).unwrap_or_default());
                found.push(self.of_row(at, column.name, cell(was), cell(is)));
            }
        }
        let Some(details) = details else { return Ok((found, seconds)) };
        for file in unlike_files(details, &computed) {
            // A folder may have been passed on without them.
            let packed = file == CHANNELS && self.folder.join(PACKED_CHANNELS).exists();
            if packed || self.folder.join(file).exists() {
                let (was, is) = (format!("{file} as it is there"), "with other rows of it".into());
                found.push(self.of_row(at, "", was, is));
            }
        }
        Ok((found, seconds))
    }
}

/// The files in which a point has other rows than were computed. What a run keeps beside a sweep, the
/// stretches of ranks and the channels of a path, is left out.
fn unlike_files(point: &report::Point, computed: &PointResult) -> Vec<&'static str> {
    let (own, other) = (&point.explained, &computed.explained);
    let files = [
        (CHANNELS, point.channels == computed.channels),
        (LATENCIES, point.latencies == computed.latencies),
        (WINDOWS, point.windows == computed.windows),
        (WORKLOADS, point.workloads == computed.workloads),
        (PAIRS, point.pairs == computed.pairs),
        (SLOWDOWNS, point.slowdowns == computed.slowdowns),
        (FAILURES, point.failures == computed.failures),
        (FLOWS, own.flows == other.flows),
        (RANKS, own.ranks == other.ranks),
        (ACTIVITY, own.activity == other.activity),
        (PATH, own.path == other.path),
        (PHASES, own.phases == other.phases),
        (RANK_PHASES, own.rank_phases == other.rank_phases),
    ];
    files.into_iter().filter(|(_, same)| !same).map(|(file, _)| file).collect()
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
