//! Files that a document names: netlists, routing tables.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::printable::without_error_numbers;
use crate::text_file::read_text;

use super::{Diagnostic, Diagnostics, Kind, Location, Reader, Source, Text};

/// A text file that a key names, its path taken from the scenario's own folder.
pub struct InputFile {
    path: PathBuf,
    /// The file's content, whole.
    pub text: String,
    /// SHA-256 of the content, in hexadecimal.
    pub hash: String,
    key: &'static str,
}

impl InputFile {
    /// Reads the file of a required key; `None` if the key is missing or the file can't be read,
    /// which is reported.
    pub fn required(
        reader: &mut Reader<'_>,
        key: &'static str,
        kind: &Text,
        doc: &'static str,
    ) -> Option<Self> {
        let path = reader.required(key, kind, doc)?;
        Self::open(reader, key, kind, &path)
    }

    /// Reads the file of a key that may be absent; `None` if it is absent, or if the file can't be
    /// read, which is reported.
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
        let path = beside(reader, path);
        let read = read_text(&path)
            .and_then(|text| Ok((text, path.canonicalize()?.display().to_string())));
        match read {
            Ok((text, whole)) => {
                let hash = hexadecimal(&Sha256::digest(&text));
                record(reader, key, kind, &whole, hash.clone());
                Some(Self { path, text, hash, key })
            }
            Err(error) => {
                let why = without_error_numbers(&error.to_string());
                let message = format!("can't read {}: {why}", path.display());
                let problem = Diagnostic::new(&reader.place(key)?, message).help(BESIDE);
                reader.problems.push(problem);
                reader.mark_broken(key);
                None
            }
        }
    }

    /// Takes the value that was read from the file. A mistake, with its line (from 1), is reported
    /// at that line.
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

    /// Reports, at the key, that the file as a whole is not what the key takes.
    pub fn refuse(&self, reader: &mut Reader<'_>, message: &str, help: &str) {
        if let Some(place) = reader.place(self.key) {
            reader.problems.push(Diagnostic::new(&place, message).help(help));
        }
        reader.mark_broken(self.key);
    }

    /// The file's name without folders.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn line(&self, number: usize) -> Location {
        let mut lines = self.text.split_inclusive('\n');
        let start = lines.by_ref().take(number - 1).map(str::len).sum();
        let length = lines.next().map_or(0, |line| line.trim_end().len());
        let (name, text) = (self.path.display().to_string(), self.text.clone());
        let source =
            Arc::new(Source { name, text, first_line: 1, order: usize::MAX, typed: false });
        Location { source, span: start..start + length }
    }
}

/// Reads a file that a key names by other means: `read` gets the path, and a list to which it adds
/// the files that it read if they are others. A file that can't be read is reported at the key, a
/// mistake in it at its own place.
pub fn read_other<T>(
    reader: &mut Reader<'_>,
    key: &'static str,
    kind: &Text,
    doc: &'static str,
    read: impl FnOnce(&Path, &mut Vec<PathBuf>) -> Result<T, Diagnostics>,
) -> Option<T> {
    let path = reader.required(key, kind, doc)?;
    let path = beside(reader, &path);
    let place = reader.place(key)?;
    let mut files = Vec::new();
    let problems = match read(&path, &mut files) {
        Ok(value) => match content_of(&path, &files) {
            Ok((whole, hash)) => {
                record(reader, key, kind, &whole, hash);
                return Some(value);
            }
            Err(error) => {
                let message = format!("can't read {}: {error}", path.display());
                vec![Diagnostic::new(&place, message)]
            }
        },
        Err(problems) => problems.into_list(),
    };
    reader.problems.extend(problems.into_iter().map(|problem| match problem.place {
        Some(_) => problem,
        None => {
            let help = problem.help.unwrap_or_else(|| BESIDE.into());
            Diagnostic { place: Some(place.clone()), help: Some(help), ..problem }
        }
    }));
    reader.mark_broken(key);
    None
}

/// The way out where a file isn't found.
const BESIDE: &str = "the path is taken from the scenario's own folder";

/// The path of a file as the scenario means it: from its own folder.
pub fn beside(reader: &Reader<'_>, path: &str) -> PathBuf {
    let scenario = reader.document.map_or("", |document| document.file.name.as_str());
    Path::new(scenario).parent().unwrap_or(Path::new("")).join(path)
}

/// Records the file that a key names: by its whole path, since a resolved scenario may be moved,
/// and by its content, which determines the results.
fn record(reader: &mut Reader<'_>, key: &'static str, kind: &Text, whole: &str, hash: String) {
    reader.resolved.pop();
    reader.record(key, kind.show(&whole.to_owned()));
    let place = reader.path(key);
    reader.contents.insert(place, hash);
}

/// The whole path that a key names, or of the first file that was read if there is none of that
/// name, and the hash of what is in the files that were read.
fn content_of(path: &Path, files: &[PathBuf]) -> io::Result<(String, String)> {
    let named = if path.exists() { path } else { files.first().map_or(path, PathBuf::as_path) };
    let hash = match files {
        [] => content_hash(path)?,
        [file] => content_hash(file)?,
        files => {
            let mut all = Sha256::new();
            for file in files {
                all.update(content_hash(file)?);
            }
            hexadecimal(&all.finalize())
        }
    };
    Ok((named.canonicalize()?.display().to_string(), hash))
}

/// The hash of what is in a file.
fn content_hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut hash, mut block) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut block)? {
            0 => break,
            read => hash.update(&block[..read]),
        }
    }
    Ok(hexadecimal(&hash.finalize()))
}

/// Bytes as text, two hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
