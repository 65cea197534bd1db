//! A run's state in a file, from which the same command goes on: with the same results as if it had
//! never ended.
//!
//! The file begins with a line of text, then the header, then the state of engine and measurement,
//! and ends with the SHA-256 of all before it: a file that was cut short or changed is refused.

use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Identity;
use flitlab_base::FileError;
use flitlab_base::text_file::read_bytes;
use flitlab_base::units::Picoseconds;
use flitlab_engine::EngineState;
use flitlab_measure::{Collector, MeasurementState, Snapshot};

const MAGIC: &[u8] = b"flitlab checkpoint\n";
const CHECKSUM: usize = 32;

/// The identity of a checkpoint.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    /// The version of the program and the hash of its file: another build may lay out its state in
    /// another way.
    flitlab: String,
    /// The identity of the scenario.
    identity: String,
}

impl Header {
    fn new(identity: &Identity) -> Self {
        Self { flitlab: build().into(), identity: identity.to_string() }
    }
}

/// Returns a text that tells this build of the program from all others. It is looked up once,
/// before the file may be replaced.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let version = env!("CARGO_PKG_VERSION");
        let program = std::env::current_exe().and_then(fs::read);
        program.map_or(version.into(), |program| {
            let hash = Sha256::digest(program);
            let digits: String = hash[..6].iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{version} (build {digits})")
        })
    })
}

/// The state of a run, from which it can go on.
pub struct Checkpoint {
    pub(super) engine: EngineState<Collector>,
    pub(super) standing: MeasurementState,
}

/// Why a run can't go on from a file.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error(transparent)]
    File(#[from] FileError),
    /// It is a folder, a device or a pipe.
    #[error("{0} is no ordinary file, and a checkpoint needs one")]
    NoFile(PathBuf),
    /// It is no checkpoint, or was cut short or changed.
    #[error(
        "{0} is no checkpoint, or was cut short: remove it to begin anew, or name another file"
    )]
    Damaged(PathBuf),
    /// It is of another build of flitlab.
    #[error(
        "{0} was written by flitlab {1}, and this is {this}: go on with that program, or remove the file to begin \
         anew",
        this = build()
    )]
    Build(PathBuf, String),
    /// It is of another scenario.
    #[error(
        "{0} is the checkpoint of another scenario, or this one has changed since: name another file, or \
         remove it to begin anew"
    )]
    Scenario(PathBuf),
}

impl Checkpoint {
    /// Reads the checkpoint of a scenario; `None` if there is no such file.
    ///
    /// # Errors
    /// If the file can't be read, is damaged, or is of another build or scenario.
    pub fn read(path: &Path, identity: &Identity) -> Result<Option<Self>, CheckpointError> {
        if path.exists() && !path.is_file() {
            return Err(CheckpointError::NoFile(path.into()));
        }
        let contents = match read_bytes(path) {
            Ok(contents) => contents,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(FileError::read(path)(cause).into()),
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
            return Err(CheckpointError::Build(path.into(), header.flitlab));
        }
        if header != own {
            return Err(CheckpointError::Scenario(path.into()));
        }
        let (engine, standing) = postcard::from_bytes(state).map_err(|_| damaged())?;
        Ok(Some(Self { engine, standing }))
    }

    /// Whether a checkpoint could be written there, tried beside its place.
    ///
    /// # Errors
    /// If it could not.
    pub fn try_place(path: &Path) -> io::Result<()> {
        File::create(partial(path))?;
        fs::remove_file(partial(path))
    }

    /// Writes a checkpoint beside its place, then moves it there: the file is always a whole one.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn write(path: &Path, identity: &Identity, snapshot: Snapshot<'_>) -> io::Result<()> {
        let partial = partial(path);
        let written = write(&partial, identity, snapshot).and_then(|()| fs::rename(&partial, path));
        if written.is_err() {
            // A full disk has better use for it.
            let _ = fs::remove_file(&partial);
        }
        written
    }

    /// How many threads have to go on with it.
    pub fn threads(&self) -> usize {
        self.engine.threads()
    }

    /// How far the run had come.
    pub fn now(&self) -> Picoseconds {
        self.engine.now()
    }
}

/// Where a checkpoint is written before it is whole.
fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

fn write(path: &Path, identity: &Identity, snapshot: Snapshot<'_>) -> io::Result<()> {
    let file = BufWriter::new(File::create(path)?);
    let mut file = Summed { file, sum: Sha256::new(), failed: None };
    file.write_all(MAGIC)?;
    let written = postcard::to_io(&Header::new(identity), &mut file)
        .and_then(|file| postcard::to_io(&snapshot, file))
        .map(|_| ());
    // The writer says why it can't be written; the format says only that it can't.
    written.map_err(|error| file.failed.take().unwrap_or_else(|| io::Error::other(error)))?;
    let Summed { mut file, sum, .. } = file;
    file.write_all(&sum.finalize())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

/// A file, the hash of what was written to it, and why something could not be.
struct Summed<W> {
    file: W,
    sum: Sha256,
    failed: Option<io::Error>,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.write(bytes) {
            Ok(written) => {
                self.sum.update(&bytes[..written]);
                Ok(written)
            }
            Err(cause) => {
                self.failed = Some(io::Error::new(cause.kind(), cause.to_string()));
                Err(cause)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Document, Scenario};

    #[test]
    fn what_another_build_has_written_is_refused() {
        let document = Document::parse(
            "a",
            "[topology.torus]\ndimensions = [2]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n",
        );
        let identity = Scenario::identity(&document).unwrap();
        let header = Header { flitlab: "0.0.9 (build 0)".into(), ..Header::new(&identity) };
        let header = postcard::to_stdvec(&header).unwrap();
        let mut contents = [MAGIC, &header, b"another state"].concat();
        contents.extend_from_slice(&Sha256::digest(&contents));
        let path = std::env::temp_dir().join(format!("flitlab-{}.checkpoint", std::process::id()));
        fs::write(&path, contents).unwrap();
        let error = Checkpoint::read(&path, &identity).err().unwrap();
        fs::remove_file(&path).unwrap();
        assert!(matches!(&error, CheckpointError::Build(_, build) if build == "0.0.9 (build 0)"));
        assert!(build().contains("(build "), "{}", build());
    }
}
