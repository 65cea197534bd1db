//! A folder of results, read back: rows, scenario, what the summary says.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::cli::say::say;
use crate::cli::summary::{Expectation, Made};
use crate::cli::{Failure, components};
use flitlab::page::{Blocks, points_linked};
use flitlab::report::folder::{POINTS, SUMMARY};
use flitlab::report::{
    DeadlockNote, PathChannelRow, Point, ReportError, ResultRows, SustainedLoad,
};
use flitlab::scenario::Document;
use flitlab::sweep::Store;
use flitlab::text_file::{read_bytes, read_text};
use flitlab::topology::Torus;

/// How the first line of a resolved scenario begins.
const RESOLVED_BY: &str = "# Resolved by flitlab ";

/// If more of the columns that every version writes are missing, it is another kind of file.
const MAX_MISSING: usize = 2;

/// The results of a run or a sweep.
pub(super) struct Results {
    pub folder: PathBuf,
    pub rows: ResultRows,
    /// Empty as far as there is no summary.json.
    pub summary: Summary,
    /// Whether there is a summary.json: a run or a sweep writes it last.
    pub finished: bool,
    /// `None` if it isn't there.
    pub scenario: Option<Document>,
    /// The version that made them, if they say.
    pub version: Option<String>,
    /// Notes on how the results differ from those of a finished run.
    pub notes: Vec<String>,
}

/// The needed part of summary.json.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Summary {
    #[serde(flatten)]
    pub made: Made,
    pub title: Option<String>,
    /// Facts about the scenario (of a sweep, about its first point) before it ran.
    pub scenario: Option<Expectation>,
    pub warnings: Vec<String>,
    pub deadlocks: Vec<DeadlockNote>,
    /// Of a run whose critical path was looked at: what held it up.
    pub path_channels: Vec<PathChannelRow>,
}

impl Results {
    /// Reads a folder.
    ///
    /// # Errors
    /// If it is no folder of results, or of another version, or broken.
    pub(super) fn open(folder: &Path) -> Result<Self, Failure> {
        let name = folder.display();
        let file = folder.join(POINTS);
        if !file.is_file() {
            return Err(Failure::Input(no_results(folder)));
        }
        let mut notes = Vec::new();
        let scenario = folder.join("scenario.toml");
        let scenario = if scenario.exists() {
            let document = components::open(&scenario)?;
            document.syntax()?;
            Some(document)
        } else {
            notes.push(format!(
                "{name} has no scenario.toml, so what was simulated is not known in full"
            ));
            None
        };
        let summary = summary(&folder.join(SUMMARY))?;
        let finished = summary.is_some();
        if !finished {
            notes.push(format!(
                "{name} has no summary.json: it was stopped or goes on, and points may be missing{}",
                resume(folder)
            ));
        }
        let summary = summary.unwrap_or_default();
        let written_by = || written_by(&folder.join("scenario.toml"));
        let version = summary.made.flitlab.clone().or_else(written_by);
        let no_points = || {
            Failure::input(format!(
                "{} has no points yet: it was stopped or goes on{}",
                file.display(),
                resume(folder)
            ))
        };
        if read_bytes(&file).is_ok_and(|content| !content.contains(&b'\n')) {
            return Err(no_points());
        }
        let rows = ResultRows::read_points(folder, |note| notes.push(note));
        let rows = rows.map_err(|error| Failure::Input(unreadable(&error)))?;
        if rows.points.is_empty() {
            return Err(no_points());
        }
        Ok(Self { folder: folder.into(), rows, summary, finished, scenario, version, notes })
    }

    /// What made them in words, if they say.
    pub(super) fn made(&self) -> Option<String> {
        self.summary.made.text().or_else(|| self.version.clone())
    }

    pub(super) fn name(&self) -> String {
        self.folder.display().to_string()
    }

    /// The loads that searches for saturation found.
    pub(super) fn saturation(&self) -> &[SustainedLoad] {
        &self.rows.saturation
    }

    /// Returns its points with what the ranks of applications did and the rows of their workloads and
    /// failures, as far as there are files. Those that a page shows the channels of have these, too.
    /// Also, how many points have channels. The page is of so many results, which are drawn as this
    /// torus or in these blocks.
    pub(super) fn with_details(
        &self,
        results: usize,
        drawn: (Option<&Torus>, Option<&Blocks>),
    ) -> Result<(Vec<Point>, usize), Failure> {
        let mut rows = self.rows.clone();
        let note = |note: String| say(&format!("note: {note}"));
        let have = rows.have_channels(&self.folder)?;
        let shown = points_linked(&rows.points, &have, results, drawn);
        rows.read_channels_of(&self.folder, &shown, note)?;
        rows.read_details(&self.folder, note)?;
        // A run has no curves; the page shows these figures of it.
        if rows.points.len() == 1 {
            rows.read_figures(&self.folder, note)?;
        }
        Ok((rows.points, have.into_iter().filter(|have| *have).count()))
    }
}

/// `None` if there is none.
fn summary(path: &Path) -> Result<Option<Summary>, Failure> {
    let wrong = |cause: &dyn std::fmt::Display| {
        Failure::input(format!("can't read {}: {cause}", path.display()))
    };
    match read_text(path) {
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(wrong(&cause)),
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|cause| wrong(&cause)),
    }
}

fn written_by(scenario: &Path) -> Option<String> {
    let text = read_text(scenario).ok()?;
    let version = text.lines().next()?.strip_prefix(RESOLVED_BY)?.split(':').next()?;
    Some(version.to_owned())
}

/// Returns the command that finishes a sweep that left this folder.
fn resume(folder: &Path) -> String {
    if !Store::is_in(folder) {
        return String::new();
    }
    let (scenario, out) = (folder.join("scenario.toml"), folder.to_string_lossy());
    let own = components::name();
    let words = [&own, "sweep", &scenario.to_string_lossy(), "--out", &out, "--resume"];
    let command = shlex::try_join(words).expect("paths have no zero bytes");
    format!("; {command} finishes it")
}

/// A folder's own name, if it has one.
pub(super) fn own_name(folder: &Path) -> Option<String> {
    let canonical = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
    canonical.file_name().map(|name| name.to_string_lossy().into_owned())
}

/// The first name that is there twice.
pub(super) fn repeated(names: &[String]) -> Option<&String> {
    names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| name)
}

/// Why a path has no results, and what may have been meant.
pub(super) fn no_results(path: &Path) -> String {
    let name = path.display();
    let among_results = Path::new("results").join(path);
    if among_results.join("points.csv").is_file() {
        return format!(
            "error: {name} is no folder of results: did you mean {}?",
            among_results.display()
        );
    }
    if Store::is_in(path) {
        return format!(
            "error: {name} has no points.csv: its sweep was stopped before its first point, or goes on{}",
            resume(path)
        );
    }
    if path.is_dir() {
        return format!(
            "error: {name} has no points.csv: name a folder that flitlab run or flitlab sweep left"
        );
    }
    if !path.exists() {
        return format!(
            "error: {name} does not exist: name a folder that flitlab run or flitlab sweep left"
        );
    }
    let inside = path.parent().filter(|folder| folder.join(POINTS).is_file());
    match inside {
        Some(folder) => format!(
            "error: {name} is a file: name its folder, {}",
            if folder.as_os_str().is_empty() { ".".into() } else { folder.display().to_string() }
        ),
        None if path.extension().is_some_and(|it| it == "toml") => format!(
            "error: {name} is a file, not a folder of results: flitlab run {name} makes them"
        ),
        None => format!("error: {name} is a file, not a folder of results"),
    }
}

/// Why rows can't be read.
pub(super) fn unreadable(error: &ReportError) -> String {
    match error {
        ReportError::Columns { path, missing } if missing.len() > MAX_MISSING => format!(
            "error: {}: these are not the rows of a run or sweep, which have columns {}",
            path.display(),
            missing.join(", ")
        ),
        ReportError::Columns { .. } => {
            format!("error: {error}: rows of a run or sweep of any version of flitlab have it")
        }
        error => format!("error: {error}"),
    }
}
