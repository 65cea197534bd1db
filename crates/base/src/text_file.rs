//! Files of users, read with a limit, since a path can name a device that never ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::memory::claim;

/// Most bytes that are read of a scenario, and of anything that is not an ordinary file.
pub const MOST: u64 = 64 << 20;

/// Reads the whole text of a data file (a netlist, a table, a matrix, results). Ordinary files may
/// have any size for which there is memory.
///
/// # Errors
/// If the file can't be read, is not UTF-8, or is too large.
pub fn read_text(path: &Path) -> io::Result<String> {
    text_of(read_bytes(path)?)
}

/// Reads a whole file, as [`read_text`].
///
/// # Errors
/// If the file can't be read, or is too large.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return read_limited(file, MOST);
    }
    // What is made of the content takes several times its memory.
    let needed = metadata.len().saturating_mul(4);
    claim("this file", needed)
        .map_err(|shortage| io::Error::other(format!("{shortage}: {}", shortage.help())))?;
    read_limited(file, metadata.len().max(MOST))
}

/// Reads the whole text of a small file, such as a scenario.
///
/// # Errors
/// If the file can't be read, is not UTF-8, or is larger than [`MOST`].
pub(crate) fn read_small_text(path: &Path) -> io::Result<String> {
    text_of(read_limited(File::open(path)?, MOST)?)
}

fn read_limited(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}
