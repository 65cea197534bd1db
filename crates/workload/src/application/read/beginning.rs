//! What a file begins with, by which its format is known.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{FORMATS, Format};

/// How many bytes of a file are looked at.
const LOOKED_AT: usize = 4096;

/// The first bytes of a file, and its name.
pub struct Beginning {
    /// The path of the file.
    pub path: PathBuf,
    /// Its name without folders.
    pub name: String,
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// The first line that is neither empty nor a comment, without blanks around it; empty if the
    /// file is no text.
    pub line: String,
    /// Whether the file begins with text.
    pub is_text: bool,
}

impl Beginning {
    /// Of a file with this content.
    pub fn new(path: &Path, content: &[u8]) -> Self {
        let bytes = &content[..content.len().min(LOOKED_AT)];
        let text = std::str::from_utf8(bytes).or_else(|error| match error.error_len() {
            // The last letter may be cut off.
            None => std::str::from_utf8(&bytes[..error.valid_up_to()]),
            Some(_) => Err(error),
        });
        let is_comment = |line: &&str| {
            line.is_empty() || ["//", "/*", "*", "#"].iter().any(|it| line.starts_with(it))
        };
        let mut lines = text.unwrap_or_default().lines().map(str::trim);
        Self {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            line: lines.find(|line| !is_comment(line)).unwrap_or_default().to_owned(),
            is_text: text.is_ok(),
            bytes: bytes.to_owned(),
            path: path.to_owned(),
        }
    }

    /// Of a file; `None` if it can't be read. What can be read once only, such as a pipe, is not
    /// looked at.
    pub fn of_file(path: &Path) -> Option<Self> {
        let mut start = Vec::new();
        let file = if path.is_file() { File::open(path).ok()? } else { return None };
        file.take(LOOKED_AT as u64).read_to_end(&mut start).ok()?;
        Some(Self::new(path, &start))
    }

    /// The first two words of the first line; empty ones where there are none.
    pub fn words(&self) -> (&str, &str) {
        let mut words = self.line.split_ascii_whitespace();
        (words.next().unwrap_or(""), words.next().unwrap_or(""))
    }

    /// Whether these words are in the text that was looked at.
    pub fn has(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|it| it == text.as_bytes())
    }

    /// The format that it is; `None` if none of [`FORMATS`].
    pub fn format(&self) -> Option<&'static Format> {
        FORMATS.iter().find(|format| (format.is)(self))
    }
}
