//! Errors of result files.

use std::path::{Path, PathBuf};

use flitlab_base::FileError;

/// Why a result file or a figure could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The file or folder could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is no result file of this kind and version: columns are missing, or (when rows are
    /// to be added) they are not the ones that would be written.
    #[error("{path}: {}", missing_text(missing))]
    Columns { path: PathBuf, missing: Vec<String> },
    /// A line can't be understood; `column` is the header of the cell at fault, if it is one cell.
    #[error("{path}:{line}: {}{problem}", column_text(column.as_deref()))]
    Line { path: PathBuf, line: u64, column: Option<String>, problem: String },
    /// A row holds what can't be written, for example a share that is not a number.
    #[error("can't write a row of {path}: {problem}")]
    Row { path: PathBuf, problem: String },
    /// The figure could not be drawn.
    #[error("can't draw {path}: {problem}")]
    Draw { path: PathBuf, problem: String },
}

impl ReportError {
    /// Makes it of what is wrong with a row of the file.
    pub(super) fn row<E: ToString>(path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::Row { path: path.into(), problem: error.to_string() }
    }
}

fn missing_text(missing: &[String]) -> String {
    match missing {
        [] => "the columns are not those of this version".into(),
        [only] => format!("no column {only}"),
        several => format!("no columns {}", several.join(", ")),
    }
}

fn column_text(column: Option<&str>) -> String {
    column.map_or_else(String::new, |column| format!("column {column}: "))
}
