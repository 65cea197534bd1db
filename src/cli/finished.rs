//! The whole result of a run or a sweep, and the files that it is kept in.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Failure, folder};
use flitlab::registry::Row;
use flitlab::report::figure::{Figure, FigureKind, FigureRequest, draw_all, figures_of};
use flitlab::report::folder::{SUMMARY, keys_of};
use flitlab::report::{Packing, ResultFolder, ResultRows, Table};

/// The file of the resolved scenario in the folder of its results.
pub(super) const SCENARIO: &str = "scenario.toml";

/// A result with all that its files hold.
#[derive(Clone, Debug)]
pub struct Finished {
    pub rows: ResultRows,
    pub(super) figures: FigureRequest,
    /// `summary.json`; `None` if points are missing.
    pub(super) summary: Option<String>,
    /// The scenario with every value written out.
    pub scenario: String,
    /// How its file of channels is written.
    pub(super) packing: Packing,
    /// The folder of its files, if it has one.
    pub folder: Option<PathBuf>,
}

impl Finished {
    /// Its result files as tables.
    pub fn tables(&self) -> Vec<Table> {
        self.rows.tables()
    }

    /// Its figures with their names.
    pub fn figures(&self) -> Vec<(String, Figure)> {
        figures_of(&self.rows, &self.figures)
    }

    /// Writes it into an empty folder, as `flitlab run` or `flitlab sweep` does.
    ///
    /// # Errors
    /// If the folder has something in it, or can't be written; the text is for people.
    pub fn save(&self, folder: &Path) -> Result<(), String> {
        let save = || {
            let claim = folder::prepare("", Some(folder))?;
            claim.fill(|| {
                folder::write(&claim.join(SCENARIO), &self.scenario)?;
                let keys = keys_of(self.rows.points.iter().map(|point| &point.label));
                self.write(ResultFolder::begin(&claim, keys, self.packing)?, &claim)
            })
        };
        save().map_err(|failure: Failure| failure.text())
    }

    /// Writes all but the scenario; the summary last, since it tells a finished result.
    pub(super) fn write(&self, rows: ResultFolder, folder: &Path) -> Result<(), Failure> {
        rows.finish(&self.rows.points, &self.rows.saturation)?;
        let drawn = draw_all(&self.rows, folder, &self.figures)?;
        remove_other_figures(folder, &drawn.written, &self.figures.own)?;
        self.summary.as_ref().map_or(Ok(()), |text| folder::write(&folder.join(SUMMARY), text))
    }
}

/// Removes the figures of an earlier state of a sweep that it has no more.
fn remove_other_figures(
    folder: &Path,
    drawn: &[PathBuf],
    own: &[Row<FigureKind>],
) -> Result<(), Failure> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.try_for_each(|path| {
        if FigureKind::names_file(&path, own) && !drawn.contains(&path) {
            remove(&path)
        } else {
            Ok(())
        }
    })
}

fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(folder::cannot_write(path, &cause))
        }
        _ => Ok(()),
    }
}
