//! Files that a document names: netlists, routing tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::printable::without_error_numbers;
use crate::text_file::read_text;

use super::{Diagnostic, Kind, Location, Reader, Source, Text};

/// A text file that a key names, its path taken from the scenario's own folder.
pub(crate) struct InputFile {
    path: PathBuf,
    pub text: String,
    /// Of its content.
    pub hash: String,
    key: &'static str,
}

impl InputFile {
    /// Reads the file of a key that must be there; `None` if it isn't, or can't be read.
    pub fn required(
        reader: &mut Reader<'_>,
        key: &'static str,
        kind: &Text,
        doc: &'static str,
    ) -> Option<Self> {
        let path = reader.required(key, kind, doc)?;
        Self::open(reader, key, kind, &path)
    }

    /// As [`Self::required`], of a key that may be absent.
    pub fn optional(
        reader: &mut Reader<'_>,
        key: &'static str,
        kind: &Text,
        doc: &'static str,
    ) -> Option<Self> {
        let path = reader.optional(key, kind, doc)?;
        Self::open(reader, key, kind, &path)
    }

    fn open(reader: &mut Reader<'_>, key: &'static str, kind: &Text, path: &str) -> Option<Self> {
        let scenario = reader.document().map_or("", |document| document.file.name.as_str());
        let path = Path::new(scenario).parent().unwrap_or(Path::new("")).join(path);
        let read = read_text(&path)
            .and_then(|text| Ok((text, path.canonicalize()?.display().to_string())));
        match read {
            Ok((text, whole)) => {
                // A resolved scenario may go anywhere.
                reader.resolved.pop();
                reader.record(key, kind.show(&whole));
                // What the file says decides results, not where it is.
                let hash = hexadecimal(&Sha256::digest(&text));
                let place = reader.path(key);
                reader.contents.insert(place, hash.clone());
                Some(Self { path, text, hash, key })
            }
            Err(error) => {
                let why = without_error_numbers(&error.to_string());
                let message = format!("can't read {}: {why}", path.display());
                let problem = Diagnostic::new(&reader.place(key)?, message)
                    .help("the path is taken from the scenario's own folder");
                reader.problems.push(problem);
                reader.mark_broken(key);
                None
            }
        }
    }

    /// What was read of the file; a mistake, with its line (from 1), is reported there.
    pub fn take<T>(&self, reader: &mut Reader<'_>, read: Result<T, (usize, String)>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err((line, message)) => {
                reader.problems.push(Diagnostic::new(&self.line(line), message));
                reader.mark_broken(self.key);
                None
            }
        }
    }

    /// Without folders.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn line(&self, number: usize) -> Location {
        let mut lines = self.text.split_inclusive('\n');
        let start = lines.by_ref().take(number - 1).map(str::len).sum();
        let length = lines.next().map_or(0, |line| line.trim_end().len());
        let (name, text) = (self.path.display().to_string(), self.text.clone());
        let source = Arc::new(Source { name, text, order: usize::MAX, typed: false });
        Location { source, span: start..start + length }
    }
}

/// Bytes as text, two digits each.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
