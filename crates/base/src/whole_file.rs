//! Files that are either complete or absent, and that show damage by the disk.
//!
//! A file is written under another name, flushed to the disk, and then renamed. So a kill at any
//! moment leaves the earlier file or none. The first line says what the file is and holds a
//! checksum of the text that follows, compressed (gzip). Files of earlier versions have it as it is.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

use crate::document::hexadecimal;
use crate::text_file::read_bytes;

/// The extension of a file that is being written. A kill leaves such a file behind.
pub const PARTIAL: &str = "partial";

/// The state of a file that was looked for.
pub enum Content {
    /// The file is intact: its text, without the first line.
    Whole(String),
    /// There is no file of this name.
    Missing,
    /// The checksum or the name in the first line does not match.
    Damaged,
}

fn first_line(name: &str, text: &str) -> String {
    format!("{name} sha256 {}\n", hexadecimal(&Sha256::digest(text)))
}

/// Reads a file and checks it against its name, which is one line of text.
///
/// # Errors
/// If the file exists and can't be read.
pub fn read(path: &Path, name: &str) -> io::Result<Content> {
    let content = match read_bytes(path) {
        Ok(content) => content,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Content::Missing),
        Err(cause) => return Err(cause),
    };
    let text = content.iter().position(|&byte| byte == b'\n').and_then(|end| {
        let (line, rest) = (&content[..=end], &content[end + 1..]);
        text_of(rest).filter(|text| line == first_line(name, text).as_bytes())
    });
    Ok(text.map_or(Content::Damaged, Content::Whole))
}

/// The text in these bytes, which may be compressed; `None` if there is none.
fn text_of(bytes: &[u8]) -> Option<String> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    if !bytes.starts_with(&GZIP) {
        return String::from_utf8(bytes.to_vec()).ok();
    }
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).ok().map(|_| text)
}

/// Writes a file of this name. When this returns, the file is on the disk.
///
/// # Errors
/// If it can't be written. The earlier file is then still there.
pub fn write(path: &Path, name: &str, text: &str) -> io::Result<()> {
    // Another process, even on another machine, may be writing the same file.
    let moment = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let partial = path.with_extension(format!("{}-{moment}.{PARTIAL}", std::process::id()));
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(text.as_bytes())?;
    let packed = packed.finish()?;
    let written = write_whole(&partial, &[first_line(name, text).as_bytes(), &packed])
        .and_then(|()| fs::rename(&partial, path))
        .and_then(|()| path.parent().map_or(Ok(()), sync_folder));
    if written.is_err() {
        // On a full disk the space is needed.
        let _ = fs::remove_file(&partial);
    }
    written
}

fn write_whole(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = File::create(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.sync_all()
}

/// Flushes a folder's entries to the disk, where that is possible.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
