//! Text files of users, read with a limit: a path can name a device that never ends.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::memory::claim;

/// The most that is read of a scenario, and of anything that is no ordinary file.
pub const MOST: u64 = 64 << 20;

/// The whole text of a file with data (a netlist, tables, a matrix): ordinary files of any size for which there is
/// memory.
///
/// # Errors
/// If it can't be read, is no UTF-8, or is larger than that.
pub fn read_text(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return read_limited(file, MOST);
    }
    // What is made of a text's lines takes some times as much as the text.
    let needed = metadata.len().saturating_mul(4);
    claim("this file", needed)
        .map_err(|shortage| io::Error::other(format!("{shortage}: {}", shortage.help())))?;
    read_limited(file, metadata.len().max(MOST))
}

/// The whole text of a small file, such as a scenario.
///
/// # Errors
/// If it can't be read, is no UTF-8, or is larger than [`MOST`].
pub(crate) fn read_small_text(path: &Path) -> io::Result<String> {
    read_limited(File::open(path)?, MOST)
}

fn read_limited(file: File, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it is larger than {} MiB", most >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8")
    })
}
