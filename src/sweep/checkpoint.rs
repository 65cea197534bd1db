//! A run's state in a file, from which the same command goes on: with the same results as if it had never ended.
//!
//! The file begins with a line of text, then the header, then the state of engine and measurement, and ends with the
//! SHA-256 of all before it: a file that was cut short or changed is refused.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::engine::EngineState;
use crate::measure::{Collector, Snapshot, Standing};
use crate::scenario::Identity;

const MAGIC: &[u8] = b"flitlab checkpoint\n";
const CHECKSUM: usize = 32;

/// What a checkpoint is of.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    /// The version of the program: another one may lay out its state in another way.
    flitlab: String,
    /// The identity of the scenario.
    identity: String,
}

impl Header {
    fn new(identity: &Identity) -> Self {
        Self { flitlab: env!("CARGO_PKG_VERSION").into(), identity: identity.to_string() }
    }
}

/// The state of a run, from which it can go on.
pub struct Checkpoint {
    pub(super) engine: EngineState<Collector>,
    pub(super) standing: Standing,
}

/// Why a run can't go on from a file.
#[derive(Debug)]
pub enum CheckpointError {
    Read(PathBuf, io::Error),
    /// It is no checkpoint, or was cut short or changed.
    Damaged(PathBuf),
    /// It is of another version of flitlab.
    Version(PathBuf, String),
    /// It is of another scenario.
    Scenario(PathBuf),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path, cause) => write!(formatter, "can't read {}: {cause}", path.display()),
            Self::Damaged(path) => write!(
                formatter,
                "{} is no checkpoint, or was cut short: remove it to begin anew, or name another file",
                path.display()
            ),
            Self::Version(path, version) => write!(
                formatter,
                "{} was written by flitlab {version}, and this is {}: go on with that one, or remove the file to \
                 begin anew",
                path.display(),
                env!("CARGO_PKG_VERSION")
            ),
            Self::Scenario(path) => write!(
                formatter,
                "{} is the checkpoint of another scenario, or this one has changed since: name another file, or \
                 remove it to begin anew",
                path.display()
            ),
        }
    }
}

impl std::error::Error for CheckpointError {}

impl Checkpoint {
    /// Reads the checkpoint of a scenario; `None` if there is no such file.
    ///
    /// # Errors
    /// If the file can't be read, is damaged, or is of another version or scenario.
    pub fn read(path: &Path, identity: &Identity) -> Result<Option<Self>, CheckpointError> {
        let contents = match fs::read(path) {
            Ok(contents) => contents,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(CheckpointError::Read(path.into(), cause)),
        };
        let damaged = || CheckpointError::Damaged(path.into());
        let end = contents.len().checked_sub(CHECKSUM).ok_or_else(damaged)?;
        let (contents, checksum) = contents.split_at(end);
        let contents = contents.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let sum = Sha256::new().chain_update(MAGIC).chain_update(contents).finalize();
        if sum[..] != *checksum {
            return Err(damaged());
        }
        let (header, state) =
            postcard::take_from_bytes::<Header>(contents).map_err(|_| damaged())?;
        let own = Header::new(identity);
        if header.flitlab != own.flitlab {
            return Err(CheckpointError::Version(path.into(), header.flitlab));
        }
        if header != own {
            return Err(CheckpointError::Scenario(path.into()));
        }
        let (engine, standing) = postcard::from_bytes(state).map_err(|_| damaged())?;
        Ok(Some(Self { engine, standing }))
    }

    /// Writes a checkpoint beside its place, then moves it there: the file is always a whole one.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(path: &Path, identity: &Identity, snapshot: Snapshot<'_>) -> io::Result<()> {
        let partial = path.with_extension("partial");
        let mut file = Summed { file: BufWriter::new(File::create(&partial)?), sum: Sha256::new() };
        file.write_all(MAGIC)?;
        let written = postcard::to_io(&Header::new(identity), &mut file)
            .and_then(|file| postcard::to_io(&snapshot, file));
        written.map_err(io::Error::other)?;
        let Summed { mut file, sum } = file;
        file.write_all(&sum.finalize())?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&partial, path)
    }

    /// How many threads have to go on with it.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.engine.threads()
    }

    /// How far the run had come, in picoseconds of simulated time.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.engine.now()
    }
}

/// A file and the hash of what was written to it.
struct Summed<W> {
    file: W,
    sum: Sha256,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
