//! Whether two paths lead to one file.

use std::fs::{File, Metadata};
use std::path::{Component, Path, PathBuf, absolute};

use super::Failure;

/// Returns a key that tells a file from all others, whatever its names: device and number. `None`
/// where the system has no such key.
fn key(metadata: &Metadata) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// A path without links and detours, whether there is something or not.
fn resolved(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in absolute(path).unwrap_or_else(|_| path.to_path_buf()).components() {
        match part {
            Component::ParentDir => _ = whole.pop(),
            part => whole.push(part),
        }
        if let Ok(there) = whole.canonicalize() {
            whole = there;
        }
    }
    whole
}

/// Whether two paths lead to one file, by any names, whether it is there yet or not.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let there = |path: &Path| path.metadata().ok().and_then(|metadata| key(&metadata));
    resolved(one) == resolved(other) || there(one).is_some_and(|key| there(other) == Some(key))
}

/// Refuses options by which a command would write one file in two ways, or write a file into a
/// folder whose files are written by names of their own. Each path comes with the option that gives
/// it.
pub(super) fn refuse_same(
    files: &[(&str, Option<&Path>)],
    folder: (&str, Option<&Path>),
) -> Result<(), Failure> {
    let files: Vec<(&str, &Path)> =
        files.iter().filter_map(|(option, path)| Some((*option, (*path)?))).collect();
    for (at, (option, path)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..at].iter().find(|(_, earlier)| is_same(earlier, path)) {
            return Err(Failure::input(format!(
                "{other} and {option} name one file, {}: give each its own",
                path.display()
            )));
        }
        let inside = |folder: &Path| resolved(path).starts_with(resolved(folder));
        if let (name, Some(folder)) = folder
            && inside(folder)
        {
            return Err(Failure::input(format!(
                "{option} names {}, which lies in the folder of {name}, {}: results have that for themselves",
                path.display(),
                folder.display()
            )));
        }
    }
    Ok(())
}

/// Whether an open file is the one at a path.
pub(super) fn is_file_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(there)) => key(&open) == key(&there),
        _ => false,
    }
}
