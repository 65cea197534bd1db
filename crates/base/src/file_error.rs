//! What can go wrong with a file, whatever is in it.

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
    /// For example because the disk is full. What was in the file before is still there.
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
    /// What it means that this could not be read.
    pub fn read(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Read { path: path.as_ref().into(), cause }
    }

    /// What it means that this could not be written.
    pub fn write(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Write { path: path.as_ref().into(), cause }
    }
}
