//! The files of a trace: what a path stands for, and which files there are of one a rank.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::Beginning;
use crate::complaints::of_file;
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::memory::claim;
use flitlab_base::text_file::MOST;

/// The most ranks of a trace.
pub(super) const MAX_RANKS: u32 = 1 << 20;

/// How much of a file is held while it is read.
const BUFFER: usize = 1 << 18;

/// A file that a reader gets, and those that it reads besides.
pub struct Input<'b> {
    path: PathBuf,
    /// The content in place of the file's, which then needs not be there.
    content: Option<&'b [u8]>,
    opened: RefCell<Vec<PathBuf>>,
}

impl<'b> Input<'b> {
    pub(crate) fn of_file(path: PathBuf) -> Self {
        Self { path, content: None, opened: RefCell::default() }
    }

    pub(super) fn of_bytes(name: &str, content: &'b [u8]) -> Self {
        Self { path: name.into(), content: Some(content), opened: RefCell::default() }
    }

    /// The file that was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a file begins with.
    pub(super) fn beginning(&self, path: &Path) -> Option<Beginning> {
        match self.content {
            Some(content) => Some(Beginning::new(path, content)),
            None => Beginning::of_file(path),
        }
    }

    /// Opens a file that belongs to it.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn open(&self, path: &Path) -> Result<Box<dyn BufRead + 'b>, Diagnostics> {
        if let Some(content) = self.content {
            return Ok(Box::new(content));
        }
        let file = File::open(path).map_err(|error| unreadable(path, &error))?;
        if file.metadata().is_ok_and(|it| it.is_dir()) {
            return Err(unreadable(path, &io::Error::other("it is a folder")));
        }
        // Some are looked through before they are read.
        let mut opened = self.opened.borrow_mut();
        let known = [opened.first(), opened.last()].into_iter().flatten().any(|it| it == path);
        if !known {
            opened.push(path.to_owned());
        }
        Ok(Box::new(BufReader::with_capacity(BUFFER, file)))
    }

    /// The files that were opened, in order.
    pub(super) fn into_opened(self) -> Vec<PathBuf> {
        self.opened.into_inner()
    }

    /// The content of a file that belongs to it.
    ///
    /// # Errors
    /// If it can't be read.
    pub(super) fn content(&self, path: &Path) -> Result<Vec<u8>, Diagnostics> {
        let length = path.metadata().map_or(0, |file| file.len());
        claim(path.display().to_string(), length).map_err(|shortage| {
            let problem = Diagnostic::unplaced(shortage.to_string());
            of_file(problem.help(shortage.help()))
        })?;
        let mut bytes = Vec::new();
        // What has no length, such as a device, may have no end.
        let most = length.max(MOST);
        let read = self.open(path)?.take(most + 1).read_to_end(&mut bytes);
        read.map_err(|error| unreadable(path, &error))?;
        match bytes.len() as u64 > most {
            true => {
                let message = format!("it has more than {} MiB, though it said less", most >> 20);
                Err(unreadable(path, &io::Error::other(message)))
            }
            false => Ok(bytes),
        }
    }

    /// The files that are called like the one that was named but for the last number in the name,
    /// by that number from 0 on; the file alone if its name has no number.
    ///
    /// # Errors
    /// If one is missing between others.
    pub(super) fn ranks(&self) -> Result<Vec<PathBuf>, Diagnostics> {
        self.ranks_of(&self.path)
    }

    /// The files of ranks of which one is at a path, as [`ranks`](Self::ranks).
    ///
    /// # Errors
    /// If one is missing between others.
    pub(super) fn ranks_of(&self, path: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
        let alone = || Ok(vec![path.to_owned()]);
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let Some(range) = rank_in(name).filter(|_| self.content.is_none()) else {
            return alone();
        };
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let (before, behind) = (&name[..range.start], &name[range.end..]);
        let entries = folder.read_dir().map_err(|error| unreadable(folder, &error))?;
        let mut ranks: Vec<(u32, String)> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter_map(|name| {
                let digits = name.strip_prefix(before)?.strip_suffix(behind)?;
                let is_number = digits.bytes().all(|it| it.is_ascii_digit());
                Some((digits.parse().ok().filter(|_| is_number)?, name.clone()))
            })
            .collect();
        ranks.sort_unstable();
        let named = |rank: u32| {
            let width = if name[range.clone()].starts_with('0') { range.len() } else { 1 };
            format!("{before}{rank:0width$}{behind}")
        };
        for (expected, (rank, file)) in (0..).zip(&ranks) {
            if *rank < expected {
                let problem = format!("{} is there twice, as {file}, too", named(*rank));
                let problem = Diagnostic::unplaced(problem);
                return Err(of_file(problem.help("a rank has one file: take one of them away")));
            }
            if *rank != expected {
                let last = ranks.last().map_or(0, |it| it.0);
                let missing = named(expected);
                let problem = format!("the file of rank {expected} is missing: {missing}");
                let help = format!(
                    "files of ranks differ in the last number of their names, here 0 to {last}; {file} is there"
                );
                return Err(of_file(Diagnostic::unplaced(problem).help(help)));
            }
        }
        let most = MAX_RANKS as usize;
        if ranks.len() > most {
            let problem = format!("{} files of ranks are too many", ranks.len());
            return Err(of_file(Diagnostic::unplaced(problem).help(format!("{most} at the most"))));
        }
        Ok(ranks.into_iter().map(|(_, name)| path.with_file_name(name)).collect())
    }
}

/// Where the number of a rank stands in a file's name: the last digits before the ending, or in it
/// if it consists of digits.
fn rank_in(name: &str) -> Option<Range<usize>> {
    let stem = match name.rfind('.') {
        Some(dot) if !name[dot + 1..].bytes().all(|it| it.is_ascii_digit()) => &name[..dot],
        _ => name,
    };
    let end = stem.rfind(|it: char| it.is_ascii_digit())? + 1;
    let start = stem[..end].rfind(|it: char| !it.is_ascii_digit());
    let start =
        start.map_or(0, |before| before + stem[before..].chars().next().map_or(1, char::len_utf8));
    Some(start..end)
}

/// The file that a path stands for: itself; in a folder, the first file of a trace; of a path such
/// as `folder/run` the file of its rank 0, `folder/run.0.et`.
///
/// # Errors
/// If it stands for none, or a folder has several traces.
pub(super) fn file_of(path: &Path) -> Result<PathBuf, Diagnostics> {
    if path.is_dir() {
        return file_in(path);
    }
    let mut of_first = path.as_os_str().to_owned();
    of_first.push(".0.et");
    if !path.exists() && Path::new(&of_first).exists() {
        return Ok(of_first.into());
    }
    Ok(path.to_owned())
}

fn file_in(folder: &Path) -> Result<PathBuf, Diagnostics> {
    let entries = folder.read_dir().map_err(|error| unreadable(folder, &error))?;
    let mut files: Vec<(String, String, PathBuf)> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.to_owned();
            let range = rank_in(&name).unwrap_or(name.len()..name.len());
            let trace = format!("{}N{}", &name[..range.start], &name[range.end..]);
            Some((trace, name, path))
        })
        .collect();
    // Files of a trace beside each other, the shortest number first.
    files.sort_by(|a, b| (&a.0, a.1.len(), &a.1).cmp(&(&b.0, b.1.len(), &b.1)));
    files.dedup_by(|next, first| next.0 == first.0);
    let is_trace = |path: &PathBuf| Beginning::of_file(path)?.format();
    files.retain(|(_, _, path)| is_trace(path).is_some());
    // What a file .meta names is there besides.
    if files.len() > 1 {
        files.retain(|(_, name, _)| !name.ends_with(".meta"));
    }
    let name = folder.display();
    match files.as_slice() {
        [(_, _, path)] => Ok(path.clone()),
        [] => {
            let problem = format!("{name} is a folder, and in it is no trace or schedule");
            let help = "name a file, or a folder with the files of all ranks";
            Err(of_file(Diagnostic::unplaced(problem).help(help)))
        }
        [one, other, ..] => {
            let problem = format!("{name} has several traces, such as {} and {}", one.1, other.1);
            let help = format!("name a file of the one that is meant: {}", one.2.display());
            Err(of_file(Diagnostic::unplaced(problem).help(help)))
        }
    }
}

/// A file can't be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Diagnostics {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        _ => error.to_string(),
    };
    of_file(Diagnostic::unplaced(format!("can't read {}: {why}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rank_is_the_last_number_of_a_files_name() {
        for (name, rank) in [
            ("all_reduce.12.et", Some("12")),
            ("ti_trace7.txt", Some("7")),
            ("dumpi-2013.03.14-0004.bin", Some("0004")),
            ("pmpi-trace-rank-0.txt", Some("0")),
            ("trace.3", Some("3")),
            ("x2é", Some("2")),
            ("é31.et", Some("31")),
            ("perm.cm", None),
            ("", None),
        ] {
            assert_eq!(rank_in(name).map(|range| &name[range]), rank, "{name}");
        }
    }
}
