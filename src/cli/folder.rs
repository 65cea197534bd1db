//! Where results go: never over others.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};

use clap::Args;
use fs4::{FileExt, TryLockError};

use super::Failure;
use super::same_file::is_file_at;
use flitlab::report::figure::Medium;
use flitlab::scenario::{Document, Scenario};

/// The folder of everybody's results.
const RESULTS: &str = "results";

/// Where a command's results go.
#[derive(Clone, Debug, Args)]
pub(super) struct Output {
    /// Folder for the results [default: results/NAME, or NAME-2 and so on if that is taken]
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Print one JSON object on standard output
    #[arg(long)]
    pub(super) json: bool,
    /// Draw nothing; `flitlab plot` draws the figures later
    #[arg(long)]
    pub(super) no_figures: bool,
    /// Whether a run without a folder that was asked for writes no files.
    #[arg(skip)]
    pub(super) on_demand: bool,
}

impl Output {
    /// The usual formats of figures, or none if nothing is to be drawn.
    pub(super) fn medium(&self) -> Medium {
        let usual = Medium::default();
        if self.no_figures { Medium { formats: Vec::new(), ..usual } } else { usual }
    }
}

/// An empty folder for results: the one asked for, or `results/NAME`, or if that is taken
/// `results/NAME-2` and so on. No other flitlab begins in it as long as the claim lives.
///
/// # Errors
/// If the folder that was asked for has something in it, another flitlab is at work there, or none
/// can be made or written to.
pub(super) fn prepare(name: &str, asked: Option<&Path>) -> Result<Claim, Failure> {
    prepare_over(name, asked, |_| false)
}

/// Prepares a folder like [`prepare`], and takes also one that has nothing but `remains`, which may
/// be replaced.
///
/// # Errors
/// As [`prepare`].
pub(super) fn prepare_over(
    name: &str,
    asked: Option<&Path>,
    remains: impl Fn(&Path) -> bool,
) -> Result<Claim, Failure> {
    let free = |folder: &Path| !occupied(folder) || remains(folder);
    let Some(folder) = asked else {
        for number in 1.. {
            let folder = match number {
                1 => Path::new(RESULTS).join(name),
                _ => Path::new(RESULTS).join(format!("{name}-{number}")),
            };
            if !free(&folder) {
                continue;
            }
            // Another process may have found the same folder empty, and be done already.
            if let Some(claim) = Claim::take(&folder)?.filter(|_| free(&folder)) {
                return Ok(claim);
            }
        }
        unreachable!("numbers don't end")
    };
    let taken = || {
        Failure::input(format!(
            "{} has something in it, and results never replace others: name another folder \
             with --out, or remove it",
            folder.display()
        ))
    };
    if folder.is_file() {
        let name = folder.display();
        return Err(Failure::input(format!("{name} is a file: name a folder with --out")));
    }
    if !free(folder) {
        return Err(taken());
    }
    let claim = Claim::take(folder)?.ok_or_else(|| busy(folder))?;
    if free(folder) { Ok(claim) } else { Err(taken()) }
}

/// Why a folder can't be claimed.
pub(super) fn busy(folder: &Path) -> Failure {
    Failure::input(format!(
        "another flitlab is at work in {}: name another folder with --out, or wait until it is done",
        folder.display()
    ))
}

/// The name of the file in a folder that says that a process works in it, by a lock that the system
/// takes back when the process ends, however it ends.
pub(super) const LOCK: &str = ".lock";

/// A folder that no other process has claimed as long as this lives.
#[derive(Debug)]
pub(super) struct Claim {
    folder: PathBuf,
    /// What was there when it was claimed.
    before: BTreeSet<OsString>,
    _lock: File,
}

impl Claim {
    /// Claims a folder, which is made if it isn't there; `None` if another process has claimed it.
    ///
    /// # Errors
    /// If it can't be made or written to.
    pub(super) fn take(folder: &Path) -> Result<Option<Self>, Failure> {
        Self::acquire(folder, FileExt::try_lock).map_err(|cause| cannot_write(folder, &cause))
    }

    /// Claims a folder as soon as no other process has claimed it.
    ///
    /// # Errors
    /// If it can't be made or written to.
    pub(super) fn wait(folder: &Path) -> Result<Self, Failure> {
        let acquired = Self::acquire(folder, |lock| Ok(FileExt::lock(lock)?));
        let acquired = acquired.map_err(|cause| cannot_write(folder, &cause))?;
        Ok(acquired.expect("it waits"))
    }

    fn acquire(
        folder: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> io::Result<Option<Self>> {
        let path = folder.join(LOCK);
        loop {
            fs::create_dir_all(folder)?;
            let file = OpenOptions::new().read(true).append(true).create(true).open(&path)?;
            match lock(&file) {
                Err(TryLockError::WouldBlock) => return Ok(None),
                // Some network file systems have no locks; they are no worse off than without.
                Err(TryLockError::Error(cause)) if cause.kind() != ErrorKind::Unsupported => {
                    return Err(cause);
                }
                _ => {}
            }
            // An earlier owner may have removed the file meanwhile: then a new one counts.
            if is_file_at(&file, &path) {
                let before = names_in(folder).collect();
                return Ok(Some(Self { folder: folder.into(), before, _lock: file }));
            }
        }
    }

    /// Does work that writes files into the folder. If it fails, as on a full disk, the files that
    /// were not there before are taken away: the next try finds the folder as this one did.
    ///
    /// # Errors
    /// As the work.
    pub(super) fn fill<R>(&self, work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
        work().inspect_err(|_| {
            for name in names_in(&self.folder).filter(|name| !self.before.contains(name)) {
                let path = self.folder.join(name);
                if path.is_file() {
                    let _ = fs::remove_file(path);
                }
            }
        })
    }

    /// Takes away what a claim left in a folder whose process is about to end.
    pub(super) fn release(folder: &Path) {
        let _ = fs::remove_file(folder.join(LOCK));
    }
}

impl Deref for Claim {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        Self::release(&self.folder);
    }
}

/// The names of what is in a folder, but for a claim's lock.
fn names_in(folder: &Path) -> impl Iterator<Item = OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).filter(|name| name != LOCK)
}

pub(super) fn cannot_write(path: &Path, cause: &io::Error) -> Failure {
    Failure::Run(format!("can't write {}: {cause}", path.display()))
}

/// `results/NAME`, `results/NAME-2` and so on, as far as they are there, in this order.
pub(super) fn numbered(name: &str) -> Vec<PathBuf> {
    let number = |folder: &str| match folder.strip_prefix(name)? {
        "" => Some(1),
        rest => rest.strip_prefix('-')?.parse::<u32>().ok(),
    };
    let entries = fs::read_dir(RESULTS).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| Some((number(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    found.sort();
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// Whether something is there that is not an empty folder, or one that a process has claimed and no
/// more.
pub(super) fn occupied(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != LOCK)),
        Err(_) => folder.exists(),
    }
}

/// The end of the names of files that are being written.
const PARTIAL: &str = "partial";

/// Writes a whole file at once: beside its place, then moved there.
pub(super) fn write(path: &Path, contents: &str) -> Result<(), Failure> {
    write_by(path, |file| file.write_all(contents.as_bytes()))
}

/// Has a whole file written at once: beside its place, then moved there. What fails leaves nothing.
pub(super) fn write_by(
    path: &Path,
    contents: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), Failure> {
    // Another process may be writing the same file.
    let mut partial = path.as_os_str().to_owned();
    partial.push(format!(".{}.{PARTIAL}", std::process::id()));
    let write = || {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(&partial)?);
        contents(&mut file)?;
        file.flush()?;
        fs::rename(&partial, path)
    };
    write().map_err(|cause| {
        let _ = fs::remove_file(&partial);
        cannot_write(path, &cause)
    })
}

/// Removes files of [`write_by`] that a kill left half written, in a folder in which no other process
/// works.
pub(super) fn remove_half_written(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    for path in paths.filter(|path| path.extension().is_some_and(|it| it == PARTIAL)) {
        // What can't be removed harms nobody.
        let _ = fs::remove_file(path);
    }
}

/// A scenario with every value written out, so that anyone can run it again.
///
/// # Errors
/// If the scenario is wrong.
pub(super) fn resolved(document: &Document) -> Result<String, Failure> {
    let (_, text) = Scenario::read_resolved(document)?;
    Ok(resolved_by(&text))
}

/// Says above a resolved scenario where it comes from.
pub(super) fn resolved_by(text: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("# Resolved by flitlab {version}: every key, given or default.\n{text}")
}
