//! The folder that a sweep works in: a new one, or with --resume the one that it was begun in.

use std::path::{Path, PathBuf};

use super::super::{COMMIT, Failure, folder};
use crate::cli::say::say;
use flitlab::report::folder::SUMMARY;
use flitlab::scenario::Point;
use flitlab::sweep::Store;

/// Where a sweep works.
pub(super) struct SweepFolder {
    pub results: PathBuf,
    pub store: Store,
    /// Whether an earlier call began it.
    pub resumed: bool,
}

impl SweepFolder {
    /// A new folder: the one asked for, or `results/NAME`, or `results/NAME-2` and so on.
    ///
    /// # Errors
    /// If the folder asked for has something in it, or none can be written.
    pub fn begin(name: &str, asked: Option<&Path>) -> Result<Self, Failure> {
        if let Some(folder) = asked.filter(|folder| Store::is_in(folder)) {
            return Err(Failure::input(format!(
                "{} has a sweep's points already: go on with it by --resume, or name another \
                 folder with --out",
                folder.display()
            )));
        }
        let claim = folder::prepare(name, asked)?;
        // From here on the store's lock keeps others out, and what is in the folder does.
        let store = Store::open(&claim, COMMIT)?;
        Ok(Self { results: claim.to_path_buf(), store, resumed: false })
    }

    /// The folder in which this sweep was begun, or a new one if it was not.
    ///
    /// # Errors
    /// If that can't be told, the folder asked for has other results, or another process works in
    /// it.
    pub fn resume(name: &str, asked: Option<&Path>, points: &[Point]) -> Result<Self, Failure> {
        let Some(results) = begun(name, asked, points)? else {
            let place = Self::begin(name, asked)?;
            say(&format!(
                "note: nothing to resume, so this begins in {} (a sweep that was begun with --out goes on with \
                 the same --out)",
                place.results.display()
            ));
            return Ok(place);
        };
        let store = Store::open(&results, COMMIT)?;
        folder::remove_half_written(&results);
        Ok(Self { results, store, resumed: true })
    }
}

/// Says in which of the usual folders --resume would go on: who begins anew may have meant that.
pub(super) fn mention_unfinished(name: &str, points: &[Point]) {
    let unfinished = |folder: &PathBuf| !folder.join(SUMMARY).exists();
    if let Ok(Some(folder)) = begun(name, None, points).map(|found| found.filter(unfinished))
        && let Ok(names @ [_, ..]) = Store::names(&folder).as_deref()
    {
        say(&format!(
            "note: {} has {} finished points of this sweep: --resume goes on there",
            folder.display(),
            names.len()
        ));
    }
}

/// The folder in which this sweep was begun; `None` if there is none.
///
/// # Errors
/// If that can't be told, or the folder asked for has other results.
pub(super) fn begun(
    name: &str,
    asked: Option<&Path>,
    points: &[Point],
) -> Result<Option<PathBuf>, Failure> {
    match asked {
        Some(folder) if !folder::occupied(folder) => Ok(None),
        Some(folder) if !Store::is_in(folder) => Err(Failure::input(format!(
            "{} has no points of a sweep that could be resumed: name another folder with --out",
            folder.display()
        ))),
        Some(folder) if !belongs(folder, points)? => Err(foreign(&[folder.into()])),
        Some(folder) => Ok(Some(folder.into())),
        None => {
            let folders = folder::numbered(name).into_iter();
            choose(folders.filter(|folder| Store::is_in(folder)).collect(), points)
        }
    }
}

/// The folder that a sweep is resumed in: the only unfinished one, else the latest finished one.
fn choose(candidates: Vec<PathBuf>, points: &[Point]) -> Result<Option<PathBuf>, Failure> {
    let mut ours = Vec::new();
    for folder in &candidates {
        if belongs(folder, points)? {
            ours.push(folder.clone());
        }
    }
    if ours.is_empty() && !candidates.is_empty() {
        return Err(foreign(&candidates));
    }
    let unfinished: Vec<PathBuf> =
        ours.iter().filter(|folder| !folder.join(SUMMARY).exists()).cloned().collect();
    match unfinished.as_slice() {
        [] => Ok(ours.pop()),
        [one] => Ok(Some(one.clone())),
        several => Err(Failure::input(format!(
            "this sweep was begun in {}: say with --out which to resume",
            list(several)
        ))),
    }
}

/// Whether a folder has points of this sweep, or none at all.
fn belongs(folder: &Path, points: &[Point]) -> Result<bool, Failure> {
    let names = Store::names(folder)?;
    // A search for saturation finds its loads as it goes.
    let families: Vec<&str> =
        names.iter().filter_map(|name| Some(name.split_once('-')?.0)).collect();
    Ok(names.is_empty()
        || points.iter().any(|point| families.contains(&point.identity.family().as_str())))
}

fn foreign(folders: &[PathBuf]) -> Failure {
    let (has, their) = if folders.len() == 1 { ("has", "its") } else { ("have", "their") };
    Failure::input(format!(
        "{} {has} points already, and none of them is of this scenario: every point's values have \
         changed, or another version of flitlab computed them. Results never replace others: leave \
         --resume out to begin a new folder, or resume with {their} scenario.toml",
        list(folders)
    ))
}

fn list(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    names.join(" and ")
}
