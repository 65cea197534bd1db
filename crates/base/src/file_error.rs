//! Errors of reading and writing files, whatever their content.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file or folder could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file or folder is missing, locked, or not what was expected.
    #[error("can't read {path}: {cause}")]
    Read {
        /// The path as it was given.
        path: PathBuf,
        /// The operating system's reason.
        #[source]
        cause: io::Error,
    },
    /// The file could not be written, for example because the disk is full. Its earlier content is
    /// still there.
    #[error("can't write {path}: {cause}")]
    Write {
        /// The path as it was given.
        path: PathBuf,
        /// The operating system's reason.
        #[source]
        cause: io::Error,
    },
}

impl FileError {
    /// Makes the error of a file or folder that could not be read, for `map_err`.
    pub fn read(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Read { path: path.as_ref().into(), cause }
    }

    /// Makes the error of a file or folder that could not be written, for `map_err`.
    pub fn write(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Write { path: path.as_ref().into(), cause }
    }
}
