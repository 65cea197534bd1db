//! What can go wrong with result files.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why a result file or a figure could not be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReportError {
    /// The file could not be read.
    Read { path: PathBuf, cause: io::Error },
    /// The file or folder could not be written. What was in the file before is still there.
    Write { path: PathBuf, cause: io::Error },
    /// The file is no result file of this kind and version: columns are missing, or (when rows are
    /// to be added) they are not the ones that would be written.
    Columns { path: PathBuf, missing: Vec<String> },
    /// A line can't be understood; `column` is the header of the cell at fault, if it is one cell.
    Line { path: PathBuf, line: u64, column: Option<String>, problem: String },
    /// A row holds what can't be written, for example a share that is not a number.
    Row { path: PathBuf, problem: String },
    /// The figure could not be drawn.
    Draw { path: PathBuf, problem: String },
}

impl fmt::Display for ReportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, cause } => {
                write!(formatter, "can't read {}: {cause}", path.display())
            }
            Self::Write { path, cause } => {
                write!(formatter, "can't write {}: {cause}", path.display())
            }
            Self::Columns { path, missing } if missing.is_empty() => {
                write!(formatter, "{}: the columns are not those of this version", path.display())
            }
            Self::Columns { path, missing } => {
                let noun = if missing.len() == 1 { "column" } else { "columns" };
                write!(formatter, "{}: no {noun} {}", path.display(), missing.join(", "))
            }
            Self::Line { path, line, column: Some(column), problem } => {
                write!(formatter, "{}:{line}: column {column}: {problem}", path.display())
            }
            Self::Line { path, line, column: None, problem } => {
                write!(formatter, "{}:{line}: {problem}", path.display())
            }
            Self::Row { path, problem } => {
                write!(formatter, "can't write a row of {}: {problem}", path.display())
            }
            Self::Draw { path, problem } => {
                write!(formatter, "can't draw {}: {problem}", path.display())
            }
        }
    }
}

impl std::error::Error for ReportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read { cause, .. } | Self::Write { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
