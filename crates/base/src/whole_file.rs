//! Files that are there as a whole or not at all, and that show when the disk has damaged them.
//!
//! A file is written beside its place, brought to the disk, and moved there, so a kill at any moment leaves the one
//! before or none. Its first line says what it is and has a checksum of the rest.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use crate::document::hexadecimal;

/// The extension of a file that is being written; a kill leaves it.
pub const PARTIAL: &str = "partial";

/// What there is of a file.
pub enum Content {
    /// The text behind its first line.
    Whole(String),
    /// There is no file of this name.
    Missing,
    /// It is something else than was written, or was named otherwise.
    Damaged,
}

fn first_line(name: &str, text: &str) -> String {
    format!("{name} sha256 {}\n", hexadecimal(&Sha256::digest(text)))
}

/// Reads a file of this name, which is a line.
///
/// # Errors
/// If it is there and can't be read.
pub fn read(path: &Path, name: &str) -> io::Result<Content> {
    let content = match fs::read_to_string(path) {
        Ok(content) => content,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Content::Missing),
        Err(cause) if cause.kind() == ErrorKind::InvalidData => return Ok(Content::Damaged),
        Err(cause) => return Err(cause),
    };
    let text = content.split_once('\n').map(|(_, text)| text);
    let whole = text.filter(|text| content.starts_with(&first_line(name, text)));
    Ok(whole.map_or(Content::Damaged, |text| Content::Whole(text.to_owned())))
}

/// Writes a file of this name. When this returns, it is on the disk.
///
/// # Errors
/// If it can't be written; what was there before is there still.
pub fn write(path: &Path, name: &str, text: &str) -> io::Result<()> {
    // Another process, even on another machine, may be writing the same file.
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let partial = path.with_extension(format!("{}-{moment}.{PARTIAL}", std::process::id()));
    let written = write_whole(&partial, &[&first_line(name, text), text])
        .and_then(|()| fs::rename(&partial, path))
        .and_then(|()| path.parent().map_or(Ok(()), sync_folder));
    if written.is_err() {
        // A full disk has better use for it.
        let _ = fs::remove_file(&partial);
    }
    written
}

fn write_whole(path: &Path, parts: &[&str]) -> io::Result<()> {
    let mut file = File::create(path)?;
    parts.iter().try_for_each(|part| file.write_all(part.as_bytes()))?;
    file.sync_all()
}

/// Brings a folder's names to the disk, where that is possible.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
