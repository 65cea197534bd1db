//! What a file begins with, by which its format is known.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

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

    /// The lines that were looked at, without blanks around them and without empty ones; none if
    /// it is no text. The last one may be cut off.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let valid = match std::str::from_utf8(&self.bytes) {
            Ok(text) => text,
            Err(error) if self.is_text => {
                std::str::from_utf8(&self.bytes[..error.valid_up_to()]).unwrap_or_default()
            }
            Err(_) => "",
        };
        valid.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty())
    }

    /// Whether a line that was looked at begins with these words.
    pub fn has_line(&self, start: &str) -> bool {
        self.lines().any(|line| line.starts_with(start))
    }

    /// Whether it begins as an object or a list of JSON does.
    pub fn is_json(&self) -> bool {
        let mut letters = self.lines().flat_map(str::chars).filter(|it| !it.is_whitespace());
        matches!(
            (letters.next(), letters.next()),
            (Some('{'), Some('"' | '}')) | (Some('['), Some('{' | '"' | ']'))
        )
    }

    /// The names in the header of a CSV file.
    pub fn columns(&self) -> Vec<&str> {
        let mut lines = self.lines().filter(|line| !line.starts_with('#'));
        lines.next().unwrap_or_default().split(',').map(str::trim).collect()
    }

    /// Whether all of the file was looked at.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() < LOOKED_AT
    }
}
