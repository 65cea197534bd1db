//! Finished points, a file each, so that a kill at any moment loses none of them.
//!
//! A file's name is the hash of the resolved scenario ([`Identity`]), so a point whose scenario has
//! changed has another file. A file that the disk has damaged counts as missing, and its point is
//! computed again. [`Store::damaged`] names it.
//!
//! One process works with a store alone ([`Store::open`]), or any number do together, each on
//! points of its own ([`Store::share`]): the tasks of a job array. Both hold a lock that the system
//! takes back when the process ends, however it ends; it keeps the two kinds apart and is not
//! touched again.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use fs4::{FileExt, TryLockError};
use serde::{Deserialize, Serialize};

use crate::claims::{Claim, Claims};
use flitlab_base::FileError;
use flitlab_base::whole_file::{self, PARTIAL};
use flitlab_report::{
    DeadlockText, Explained, FailureRow, FlowRow, PairRow, PointResult, PointRow, Row, SlowdownRow,
    WorkloadRow,
};
use flitlab_scenario::Identity;

/// The folder of the points in the folder of their sweep's results.
const FOLDER: &str = "points";

const LOCK: &str = ".lock";
const EXTENSION: &str = "point";

/// The beginning of every file. Another layout gets another number.
const MAGIC: &str = "flitlab point 6";

/// An empty line; no row has one.
const BETWEEN: &str = "\n\n";

/// All but the channels, the latencies, the windows and an application's explanation, which follow
/// as CSV, each after an empty line.
#[derive(Serialize, Deserialize)]
struct Head<'f> {
    point: Cow<'f, PointRow>,
    warnings: Cow<'f, [String]>,
    deadlock: Cow<'f, Option<DeadlockText>>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    workloads: Cow<'f, [WorkloadRow]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    slowdowns: Cow<'f, [SlowdownRow]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    failures: Cow<'f, [FailureRow]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pairs: Cow<'f, [PairRow]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    flows: Cow<'f, [FlowRow]>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    commit: Cow<'f, str>,
}

/// A finding as it is read back: values are rounded as the result files have them, so that it makes
/// no difference to any output whether a point has just been computed or long ago.
fn parse(text: &str) -> Option<PointResult> {
    let mut parts = text.split(BETWEEN);
    let Head { point, warnings, deadlock, workloads, slowdowns, failures, pairs, flows, commit } =
        serde_json::from_str(parts.next()?).ok()?;
    Some(PointResult {
        measured: point.into_owned(),
        channels: Row::of_text(parts.next()?)?,
        latencies: Row::of_text(parts.next()?)?,
        windows: Row::of_text(parts.next()?)?,
        workloads: workloads.into_owned(),
        slowdowns: slowdowns.into_owned(),
        failures: failures.into_owned(),
        pairs: pairs.into_owned(),
        explained: Explained {
            ranks: Row::of_text(parts.next()?)?,
            activity: Row::of_text(parts.next()?)?,
            path: Row::of_text(parts.next()?)?,
            phases: Row::of_text(parts.next()?)?,
            rank_phases: Row::of_text(parts.next()?)?,
            bars: Row::of_text(parts.next()?)?,
            // Of single runs only.
            channels: Vec::new(),
            flows: flows.into_owned(),
        },
        warnings: warnings.into_owned(),
        deadlock: deadlock.into_owned(),
        commit: commit.into_owned(),
    })
}

/// A finding as a file would give it back.
pub(crate) fn as_read_back(found: &PointResult) -> PointResult {
    parse(&text(found, "")).expect("what was written can be read")
}

/// The content of a finding's file, without its first line. A commit computed it, if it is known.
fn text(found: &PointResult, commit: &str) -> String {
    let head = Head {
        point: Cow::Borrowed(&found.measured),
        warnings: Cow::Borrowed(&found.warnings),
        deadlock: Cow::Borrowed(&found.deadlock),
        workloads: Cow::Borrowed(&found.workloads),
        slowdowns: Cow::Borrowed(&found.slowdowns),
        failures: Cow::Borrowed(&found.failures),
        pairs: Cow::Borrowed(&found.pairs),
        flows: Cow::Borrowed(&found.explained.flows),
        commit: Cow::Borrowed(commit),
    };
    let head = serde_json::to_string(&head).expect("rows are plain data");
    let Explained { ranks, activity, path, phases, rank_phases, bars, .. } = &found.explained;
    let rows = [
        Row::text(&found.channels),
        Row::text(&found.latencies),
        Row::text(&found.windows),
        Row::text(ranks),
        Row::text(activity),
        Row::text(path),
        Row::text(phases),
        Row::text(rank_phases),
        Row::text(bars),
    ];
    [&[head], &rows[..]].concat().join(BETWEEN)
}

fn name(identity: &Identity) -> String {
    format!("{MAGIC} {identity}")
}

/// Why points can't be kept or looked up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process works with the store, and not together with others.
    #[error("another flitlab is at work in {folder}")]
    Busy { folder: PathBuf },
    /// A file or folder could not be read or written. Points kept before are still there.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The finished points in a folder of results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// Which commit of flitlab computes what is kept; empty if it is not known.
    commit: String,
    damaged: Mutex<Vec<PathBuf>>,
    claims: Claims,
    /// Held as long as the store is open.
    _lock: File,
}

impl Store {
    /// Opens the store of a folder of results, or makes it, and keeps other processes out. This commit of
    /// flitlab computes what is kept; an empty text if it is not known.
    ///
    /// # Errors
    /// If another process has it open, or it can't be read or written.
    pub fn open(results: &Path, commit: &str) -> Result<Self, StoreError> {
        let store = Self::locked_by(results, commit, |lock| match FileExt::try_lock(lock) {
            // Some network file systems have no locks; they are no worse off than without.
            Err(TryLockError::Error(cause)) if cause.kind() == ErrorKind::Unsupported => Ok(()),
            other => other,
        })?;
        // Files that a kill left half written.
        for path in list(&store.folder, PARTIAL)? {
            fs::remove_file(&path).map_err(FileError::write(path))?;
        }
        Ok(store)
    }

    /// Opens the store of a folder of results, or makes it, as [`Store::open`], but together with others
    /// that do the same.
    ///
    /// # Errors
    /// If a process has it for itself, or it can't be read or written.
    pub fn share(results: &Path, commit: &str) -> Result<Self, StoreError> {
        Self::locked_by(results, commit, |lock| match FileExt::try_lock_shared(lock) {
            // Without the lock a task works as well; it only isn't seen.
            Err(TryLockError::Error(_)) => Ok(()),
            other => other,
        })
    }

    fn locked_by(
        results: &Path,
        commit: &str,
        acquire: impl FnOnce(&File) -> Result<(), TryLockError>,
    ) -> Result<Self, StoreError> {
        let folder = results.join(FOLDER);
        fs::create_dir_all(&folder).map_err(FileError::write(&folder))?;
        let path = folder.join(LOCK);
        // NFS shares only what is open for reading.
        let lock = OpenOptions::new().read(true).append(true).create(true).open(&path);
        let lock = lock.map_err(FileError::write(&path))?;
        match acquire(&lock) {
            Ok(()) => Ok(Self {
                folder,
                commit: commit.into(),
                damaged: Mutex::default(),
                claims: Claims::default(),
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Busy { folder: results.into() }),
            Err(TryLockError::Error(cause)) => Err(FileError::write(path)(cause).into()),
        }
    }

    /// Whether a folder of results has a store.
    pub fn is_in(results: &Path) -> bool {
        results.join(FOLDER).join(LOCK).is_file()
    }

    /// The points in a folder of results, each by the text of its identity.
    ///
    /// # Errors
    /// If the folder is there and can't be read.
    pub fn names(results: &Path) -> Result<Vec<String>, StoreError> {
        let files = list(&results.join(FOLDER), EXTENSION)?;
        let name = |path: &PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
        Ok(files.iter().filter_map(name).collect())
    }

    /// A point that was kept; `None` if it wasn't, or its file is damaged.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn find(&self, identity: &Identity) -> Result<Option<PointResult>, StoreError> {
        Ok(match read(&self.folder, identity)? {
            Content::Whole(point) => Some(*point),
            Content::Missing => None,
            Content::Damaged(path) => {
                self.damaged.lock().unwrap_or_else(PoisonError::into_inner).push(path);
                None
            }
        })
    }

    /// The files that [`Store::find`] has found damaged so far.
    pub fn damaged(&self) -> Vec<PathBuf> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks up a point like [`Store::find`], in a folder of results that is not opened.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn look_up(results: &Path, identity: &Identity) -> Result<Option<PointResult>, StoreError> {
        Ok(match read(&results.join(FOLDER), identity)? {
            Content::Whole(point) => Some(*point),
            Content::Missing | Content::Damaged(_) => None,
        })
    }

    /// Keeps a finished point and returns it as it will be read back. When this returns, the file
    /// is on the disk.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn keep(
        &self,
        identity: &Identity,
        found: &PointResult,
    ) -> Result<PointResult, StoreError> {
        let text = text(found, &self.commit);
        let path = self.folder.join(file_name(identity));
        whole_file::write(&path, &name(identity), &text).map_err(FileError::write(path))?;
        Ok(parse(&text).expect("what was written can be read"))
    }

    /// Makes a point this thread's until the claim is dropped, so that no other computes it too.
    pub(crate) fn claim(&self, identity: &Identity) -> Claim<'_> {
        self.claims.claim(identity.to_string())
    }

    /// Forgets a point, if it was kept.
    ///
    /// # Errors
    /// If its file can't be removed.
    pub fn forget(&self, identity: &Identity) -> Result<(), StoreError> {
        let path = self.folder.join(file_name(identity));
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                Err(FileError::write(path)(cause).into())
            }
            _ => Ok(()),
        }
    }
}

/// The state of a point's file.
enum Content {
    Whole(Box<PointResult>),
    Missing,
    Damaged(PathBuf),
}

fn read(folder: &Path, identity: &Identity) -> Result<Content, StoreError> {
    let path = folder.join(file_name(identity));
    let content = whole_file::read(&path, &name(identity)).map_err(FileError::read(&path))?;
    Ok(match content {
        whole_file::Content::Missing => Content::Missing,
        whole_file::Content::Damaged => Content::Damaged(path),
        whole_file::Content::Whole(text) => match parse(&text) {
            Some(point) => Content::Whole(Box::new(point)),
            None => Content::Damaged(path),
        },
    })
}

fn list(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(FileError::read(folder))?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(FileError::read(folder))?.path();
        if path.extension().is_some_and(|it| it == extension) {
            files.push(path);
        }
    }
    Ok(files)
}

fn file_name(identity: &Identity) -> String {
    format!("{identity}.{EXTENSION}")
}

#[cfg(test)]
mod tests;
