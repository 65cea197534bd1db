//! The rows of a run or a sweep.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use super::super::results::Results;
use super::super::{Failure, program};
use super::{Bar, Difference, Outcome, Row, again, of_another_version};
use flitlab::report::folder::{POINTS, SUMMARY};
use flitlab::report::{self, PointRow, Row as _, Status};
use flitlab::scenario::{Loads, RESULTS_VERSION, Scenario, Sweep};
use flitlab::sweep::{
    SetupError, compute, in_parallel, label_at_load, label_of, search_saturation,
};
use flitlab::text_file::read_text;

/// CPU time of an event, about, in seconds. What rows really take is in verified.csv.
const SECONDS_AN_EVENT: f64 = 5e-7;

/// The key of a load in labels.
const LOAD: &str = "traffic.load";

/// The points of a result, each with the scenario that it is said to be of.
pub(super) struct Points {
    folder: PathBuf,
    results: Results,
    scenarios: Vec<Result<Scenario, String>>,
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
            of_sweep(&Sweep::read(document).map_err(unreadable)?, points)?
        } else {
            let scenario = Scenario::read(document).map_err(unreadable)?;
            points.iter().map(|_| Ok(scenario.clone())).collect()
        };
        Ok(Self { folder: folder.into(), same_version: version.is_some(), results, scenarios })
    }

    fn points(&self) -> &[report::Point] {
        &self.results.rows.points
    }

    /// What tells each row, and CPU time that it takes, about.
    pub(super) fn rows(&self) -> Vec<(String, f64)> {
        let row = |(line, point): (usize, &report::Point)| {
            let digest = point.measured.digest.map_or_else(String::new, |it| format!(" {it:016x}"));
            let seconds = point.measured.events as f64 * SECONDS_AN_EVENT;
            (format!("line {}{digest}", line + 2), seconds)
        };
        self.points().iter().enumerate().map(row).collect()
    }

    /// Where the rows are others than those of summary.json, which was written with them.
    pub(super) fn edited(&self) -> Vec<Difference> {
        let summary = read_text(&self.folder.join(SUMMARY)).ok();
        let summary: Option<Value> = summary.and_then(|text| serde_json::from_str(&text).ok());
        let Some(Value::Array(told)) = summary.as_ref().and_then(|it| it.get("points")) else {
            return Vec::new();
        };
        let mut found = Vec::new();
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
                    found.push(Difference {
                        row: self.row_name(line),
                        column: column.name.into(),
                        was: shown(&own),
                        is: format!("{} by {SUMMARY}", shown(&told)),
                    });
                }
            }
        }
        found
    }

    /// Whether the file has this column.
    fn has(&self, column: &str) -> bool {
        !self.results.rows.absent.iter().any(|absent| absent == column)
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
        let mut all = self.results.rows.clone();
        if self.same_version && !rows.is_empty() {
            let folder = &self.folder;
            all.read_channels(folder, |_| ())?;
            all.read_figures(folder, |_| ())?;
            all.read_workloads(folder, |_| ())?;
            all.read_pairs(folder, |_| ())?;
            return Ok(all.points);
        }
        Ok(Vec::new())
    }

    /// Computes a row again. Returns where it differs, and the CPU time in seconds.
    fn differences(
        &self,
        at: usize,
        details: Option<&report::Point>,
    ) -> Result<(Vec<Difference>, f64), Failure> {
        let whole = |was: &str, is: String| {
            let (row, column) = (self.row_name(at), String::new());
            vec![Difference { row, column, was: was.into(), is }]
        };
        let scenario = match &self.scenarios[at] {
            Ok(scenario) => scenario,
            Err(problem) => return Ok((whole("there", problem.clone()), 0.0)),
        };
        let started = cpu_time::ThreadTime::now();
        let computed = compute(scenario)?;
        let seconds = started.elapsed().as_secs_f64();
        let point = &self.points()[at];
        let mut found = Vec::new();
        for column in PointRow::columns().iter().filter(|it| self.has(it.name)) {
            let (was, is) = ((column.cell)(&point.measured), (column.cell)(&computed.measured));
            if was != is {
                let cell = |cell| shown(&serde_json::to_value(cell).unwrap_or_default());
                found.push(Difference {
                    row: self.row_name(at),
                    column: column.name.into(),
                    was: cell(was),
                    is: cell(is),
                });
            }
        }
        let Some(details) = details else { return Ok((found, seconds)) };
        for (file, same) in [
            ("channels.csv", details.channels.is_empty() || details.channels == computed.channels),
            ("latencies.csv", details.latencies == computed.latencies),
            ("windows.csv", details.windows == computed.windows),
            ("workloads.csv", details.workloads == computed.workloads),
            ("pairs.csv", details.pairs == computed.pairs),
        ] {
            // A folder may have been passed on without them.
            if !same && self.folder.join(file).exists() {
                let is = format!("with other rows of this point in {file}");
                found.extend(whole(&format!("{file} as it is there"), is));
            }
        }
        Ok((found, seconds))
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".into(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The scenario of each row of a sweep's results, or why there is none.
fn of_sweep(
    sweep: &Sweep,
    rows: &[report::Point],
) -> Result<Vec<Result<Scenario, String>>, String> {
    let no_point = || Err("is no point of scenario.toml".to_owned());
    // By series and repetition, where loads are found.
    let mut starts: HashMap<(&str, u32, u64), &flitlab::scenario::Point> = HashMap::new();
    for point in &sweep.points {
        starts.insert((&point.series, point.repetition, point.scenario.seed), point);
    }
    let start = |row: &report::Point| {
        let label = &row.label;
        starts.get(&(label.series.as_str(), label.repetition, label.seed)).copied()
    };
    Ok(match sweep.loads {
        Loads::Written { .. } => {
            let of = |row: &report::Point| {
                let number = row.label.point;
                let point = sweep.points.get(number as usize);
                let point = point.filter(|point| label_of(point, number) == row.label);
                point.map_or_else(no_point, |point| Ok(point.scenario.clone()))
            };
            rows.iter().map(of).collect()
        }
        Loads::Curve(_) => {
            let of = |row: &report::Point| {
                let load = row.label.setting(LOAD).and_then(|load| load.parse::<f64>().ok());
                let of_load = start(row).zip(load);
                let of_load = of_load.filter(|(point, load)| {
                    label_at_load(point, row.label.point, *load) == row.label
                });
                of_load.map_or_else(no_point, |(point, load)| Ok(point.scenario.at_load(load)))
            };
            rows.iter().map(of).collect()
        }
        Loads::Saturation { tolerance } => {
            let mut scenarios: Vec<Result<Scenario, String>> =
                rows.iter().map(|_| no_point()).collect();
            for point in &sweep.points {
                // The loads that a search tries follow from what it found, row by row.
                let own = rows
                    .iter()
                    .enumerate()
                    .filter(|(_, row)| start(row).is_some_and(|it| std::ptr::eq(it, point)));
                let mut own: Vec<(usize, &report::Point)> = own.collect();
                own.sort_by_key(|(_, row)| row.label.point);
                let mut own = own.into_iter();
                let searched = search_saturation(&point.scenario, tolerance, |load| {
                    let Some((at, row)) = own.next() else { return Err(None) };
                    scenarios[at] = Ok(point.scenario.at_load(load));
                    Ok(row.measured.status == Status::Steady)
                });
                if let Err(Some(error)) = searched.map_err(|error: Option<SetupError>| error) {
                    return Err(error.to_string());
                }
            }
            scenarios
        }
    })
}
