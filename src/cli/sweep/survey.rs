//! What of a sweep is finished, in a folder in which it was begun.

use std::path::Path;

use super::super::summary::SaturationNote;
use super::super::{Failure, components, folder};
use crate::cli::say::say;
use flitlab::report::PointResult;
use flitlab::scenario::{self, Loads};
use flitlab::sweep::slurm::{ArrayStatus, Submission};
use flitlab::sweep::{self, Place, Progress, Store};

/// A sweep as it was begun.
pub(super) struct Begun {
    pub sweep: scenario::Sweep,
    /// The text of its scenario.toml.
    pub resolved: String,
}

impl Begun {
    /// # Errors
    /// If no sweep was begun in the folder, or its scenario.toml is wrong.
    pub fn open(results: &Path) -> Result<Self, Failure> {
        let path = results.join("scenario.toml");
        if !results.is_dir() || !Store::is_in(results) || !path.is_file() {
            let why = if results.is_file() {
                "is a file: name the folder of the sweep's results"
            } else if results.is_dir() {
                "is not a folder in which a sweep was begun"
            } else {
                "does not exist"
            };
            return Err(Failure::input(format!("{} {why}", results.display())));
        }
        if let Some(latest) = Submission::all(results)?.pop()
            && let Some(other) = latest.other_version()
        {
            say(&format!(
                "note: flitlab {other} submitted this, and this is flitlab {}: what the other has computed may \
                 not count",
                env!("CARGO_PKG_VERSION")
            ));
        }
        let document = components::open(&path)?;
        let sweep = scenario::Sweep::read(&document)?;
        let resolved = folder::resolved_by(&sweep.resolved()?);
        Ok(Self { sweep, resolved })
    }
}

/// How far each point, or search for saturation, is, and what the finished searches found. Finished
/// points are handed to `each`, with their places in the order of the sweep.
pub(super) fn look(
    results: &Path,
    sweep: &scenario::Sweep,
    each: impl FnMut(Place, PointResult) -> Result<(), Failure>,
) -> Result<(Vec<Progress>, Vec<SaturationNote>), Failure> {
    let (progress, ends) = sweep::survey(sweep, results, each)?;
    let note = |(number, end): &(usize, _)| {
        let Loads::Saturation { tolerance } = sweep.loads else { return None };
        Some(SaturationNote::new(&sweep.points[*number], *number, tolerance, end))
    };
    Ok((progress, ends.iter().filter_map(note).collect()))
}

/// How far each point, or search, is, and where the tasks stand that have those which are missing.
pub(super) fn stand(
    results: &Path,
    sweep: &scenario::Sweep,
) -> Result<(Vec<Progress>, ArrayStatus), Failure> {
    let (progress, _) = look(results, sweep, |_, _| Ok(()))?;
    let missing = places(&progress, Progress::Missing);
    let mut array = ArrayStatus::of(results, &sweep.points, &missing)?;
    if array.tasks.is_empty() {
        return Ok((progress, array));
    }
    // A task may have written its points and ended since: what Slurm said is about the points as
    // they are now.
    let (progress, _) = look(results, sweep, |_, _| Ok(()))?;
    array.keep(&places(&progress, Progress::Missing));
    Ok((progress, array))
}

/// The places of the points, or searches, that are so far, in ascending order.
pub(super) fn places(progress: &[Progress], wanted: Progress) -> Vec<usize> {
    (0..progress.len()).filter(|&place| progress[place] == wanted).collect()
}

/// What a sweep consists of.
pub(super) fn what(sweep: &scenario::Sweep) -> &'static str {
    match sweep.loads {
        Loads::Written { .. } => "points",
        Loads::Curve(_) => "curves",
        Loads::Saturation { .. } => "searches",
    }
}

/// A folder as one word of the shell.
pub(super) fn word(folder: &Path) -> String {
    let text = folder.display().to_string();
    shlex::try_quote(&text).map_or_else(|_| text.clone(), |quoted| quoted.into_owned())
}
