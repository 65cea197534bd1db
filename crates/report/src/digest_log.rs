//! The digest in the course of a simulation, a row a window of the engine.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::csv::{RowWriter, read};
use super::table::{Count, Given, Hexadecimal, table};
use super::{Label, Labels, ReportError};
use flitlab_base::FileError;
use flitlab_base::units::Picoseconds;
use flitlab_model::Digest;

table! {
    /// How far a simulation had come.
    pub struct DigestRow {
        /// When, in picoseconds.
        time: u64 as Given<Count<u64>>, "time_ps", "time", Label, usual;
        /// Channels granted to packets up to and including that time.
        grants: u64 as Given<Count<u64>>, "events", "events", Count, usual;
        /// The fingerprint of all of them, 16 hexadecimal digits.
        digest: u64 as Given<Hexadecimal>, "digest", "digest", Count, usual;
    }
}

/// Writes the digest in the course of a simulation to a file. Rows in which nothing has happened
/// are left out.
#[derive(Clone, Debug)]
pub struct DigestLog(Arc<Mutex<Writing>>);

#[derive(Debug)]
struct Writing {
    rows: RowWriter<DigestRow>,
    grants: u64,
    failed: Option<ReportError>,
}

impl DigestLog {
    /// Begins a new file.
    ///
    /// # Errors
    /// If the file is there, or can't be written.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, ReportError> {
        RowWriter::create(path, Labels::None).map(|rows| Self::new(rows, 0))
    }

    /// Goes on with a file in which a simulation had come at least to `time`, or begins it. What
    /// came later is removed: it comes again.
    ///
    /// # Errors
    /// If the file can't be read or written, or is no such log.
    pub fn resume(path: impl Into<PathBuf>, time: Picoseconds) -> Result<Self, ReportError> {
        let path = path.into();
        if !path.exists() {
            return Self::create(path);
        }
        let mut kept = read::<DigestRow>(&path, &Labels::None)?.rows;
        kept.retain(|(_, row)| row.time <= time.0);
        let grants = kept.last().map_or(0, |(_, row)| row.grants);
        std::fs::remove_file(&path).map_err(FileError::write(&path))?;
        let mut rows = RowWriter::create(path, Labels::None)?;
        kept.iter().try_for_each(|(label, row)| rows.write(label, row))?;
        Ok(Self::new(rows, grants))
    }

    fn new(rows: RowWriter<DigestRow>, grants: u64) -> Self {
        Self(Arc::new(Mutex::new(Writing { rows, grants, failed: None })))
    }

    /// Adds a row, unless nothing has happened since the last one. What can't be written is told at
    /// the end.
    pub fn add(&self, time: Picoseconds, grants: u64, digest: Digest) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.failed.is_none() && std::mem::replace(&mut log.grants, grants) != grants {
            let row = DigestRow { time: time.0, grants, digest: digest.0 };
            log.failed = log.rows.write(&Label::default(), &row).err();
        }
    }

    /// Whether all rows have been written.
    ///
    /// # Errors
    /// What kept the first row from being written that could not be.
    pub fn finish(&self) -> Result<(), ReportError> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.failed.take().map_or(Ok(()), Err)
    }
}
