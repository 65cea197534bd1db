//! Whether two paths lead to one file.

use std::fs::{File, Metadata};
use std::path::Path;

/// What tells a file from all others, whatever its names: device and number. `None` where the system has no such.
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

/// Whether an open file is the one at a path.
pub(super) fn is_file_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(there)) => key(&open) == key(&there),
        _ => false,
    }
}
