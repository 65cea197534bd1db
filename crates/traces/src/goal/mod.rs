//! GOAL files: schedules as LogGOPSim and its relatives exchange them, as text and as binary.
//!
//! The grammar and the layout are those of LogGOPSim's converter (`txt2bin`) and reader, which
//! \[loggopsim\] describes. Both forms are read once from begin to end. Kept are the schedule
//! itself (36 bytes an operation, up to 6 a dependency, and with labels 8 more and their text) and,
//! of a text, the labels of one rank (4 bytes each if they are called `l1`, `l2` and so on, else
//! about 60).

mod binary;
mod labels;
mod line;
mod text;
mod write;

use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use crate::complaints;
use crate::formats::{self, Beginning, FileKind};
use crate::read::{Content, Format, Input};
use flitlab_application::Schedule;
use flitlab_base::document::{Diagnostic, Diagnostics};
use flitlab_base::memory::claim;

/// The first eight bytes of a binary file, as a number.
const COOKIE: u64 = 4223;

/// The value that LogGOPSim leaves in place of [`COOKIE`] after a run with `--save-mem`, which
/// overwrites the file.
const DESTROYED: u64 = 2342;

/// How much of a text is looked at to tell whether it is another program's.
const LOOKED_AT: u64 = 4096;

/// GOAL among the formats that are read.
pub(crate) const GOAL: Format = Format {
    name: "goal",
    what: "a GOAL schedule",
    doc: "a schedule of LogGOPSim and its relatives, text or binary.",
    is: |file| {
        let is_binary = |cookie: u64| file.bytes.starts_with(&cookie.to_le_bytes());
        file.words().0 == "num_ranks" || is_binary(COOKIE) || is_binary(DESTROYED)
    },
    takes: &[],
    read: |input, _| Ok(Content::of(read_input(input)?)),
};

/// Which form a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of text.
    Text,
    /// The binary form of LogGOPSim.
    Binary,
}

/// Whether a file of no known format is to be read as a GOAL text, so that the mistakes in it are
/// told: it is empty, is called one, or has a line of one.
pub(super) fn resembles(file: &Beginning) -> bool {
    let is_line = |line: &str| {
        let operation = match line.split_once(':') {
            Some((_, operation)) => operation,
            None => line,
        };
        let mut words = operation.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        matches!(first, "num_ranks" | "rank" | "send" | "recv" | "calc")
            || matches!(second, "requires" | "irequires")
    };
    file.bytes.is_empty()
        || file.name.ends_with(".goal")
        || file.bytes.starts_with(b"num_ranks")
        || file.lines().any(is_line)
}

/// Reads a GOAL file. Which form it has is told by its first bytes.
///
/// # Errors
/// If it can't be read, or for every mistake in it up to twenty, each with its line or its byte.
pub fn read(path: &Path) -> Result<Schedule, Diagnostics> {
    read_input(&Input::of_file(path.to_owned()))
}

/// Reads a GOAL file, as [`read`].
pub(super) fn read_input(input: &Input<'_>) -> Result<Schedule, Diagnostics> {
    let name = input.path().display().to_string();
    let mut content = input.open(input.path())?;
    // A statement of a text has ten to twenty bytes, and the operation made from it up to sixty.
    let length = input.path().metadata().map_or(0, |file| file.len());
    claim(&*name, length.saturating_mul(3)).map_err(|shortage| {
        let problem = Diagnostic::unplaced(shortage.to_string());
        complaints::of_file(problem.help(shortage.help()))
    })?;
    read_from(&name, &mut content)
}

/// Whether a file is empty or looks like GOAL, so that a new schedule may replace it.
pub fn is_goal(path: &Path) -> bool {
    let is_empty = path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0);
    is_empty || Format::of_file(path).is_some_and(|format| *format == GOAL)
}

/// Reads a GOAL file from anywhere, such as memory; `name` is what messages call it.
///
/// # Errors
/// As [`read`].
pub fn read_from(name: &str, input: &mut impl BufRead) -> Result<Schedule, Diagnostics> {
    let mut start = Vec::new();
    if let Err(error) = input.by_ref().take(8).read_to_end(&mut start) {
        let problem = Diagnostic::unplaced(format!("can't read {name}: {error}"));
        return Err(complaints::of_file(problem));
    }
    let cookie = <[u8; 8]>::try_from(start.as_slice()).map(u64::from_le_bytes);
    if cookie.is_err() || !matches!(cookie, Ok(COOKIE | DESTROYED)) {
        let mut more = Vec::new();
        // A failure to read is told where the file is read for good.
        let _ = input.by_ref().take(LOOKED_AT).read_to_end(&mut more);
        start.append(&mut more);
    }
    match cookie {
        Ok(COOKIE) => binary::read(input).map_err(|flaw| {
            let (problem, help) = if flaw.is_extended() {
                (
                    format!("{name} is a GOAL binary of LogGOPSim2, which says more of each operation"),
                    "give flitlab the text that it was made of, or what LogGOPSim's own txt2bin makes of that; put, get \
                     and append, which LogGOPSim2 adds, are in neither",
                )
            } else {
                (
                    format!("{name} is no GOAL binary: {flaw}"),
                    "a file that was cut off while it was copied or written ends early: make it again",
                )
            };
            complaints::of_file(Diagnostic::unplaced(problem).help(help))
        }),
        Ok(DESTROYED) => {
            let problem = format!("{name} was destroyed by a run of LogGOPSim with --save-mem");
            let help = "such a run overwrites its input: convert the text to binary once more";
            Err(complaints::of_file(Diagnostic::unplaced(problem).help(help)))
        }
        _ => {
            let beginning = Beginning::new(Path::new(name), &start);
            match not_goal(&beginning, name) {
                Some(problem) => Err(complaints::of_file(problem)),
                None => text::read(name, &mut start.as_slice().chain(input)),
            }
        }
    }
}

/// The mistake of a file that is of another format, or resembles GOAL in nothing.
fn not_goal(file: &Beginning, name: &str) -> Option<Diagnostic> {
    if let Some(format) = file.format().filter(|it| **it != GOAL) {
        let problem = format!("{name} is {}, no GOAL schedule", format.what);
        return Some(Diagnostic::unplaced(problem).help(format.way_out(name)));
    }
    let refusal = match formats::refusal(file, name, FileKind::Application) {
        Some(refusal) => refusal,
        None if (GOAL.is)(file) || resembles(file) => return None,
        None => formats::unknown(file, name, FileKind::Application),
    };
    Some(Diagnostic::unplaced(refusal.message).help(refusal.help))
}

/// Writes a schedule as a GOAL file. Text keeps labels; operations without one are named `l1`, `l2`
/// and so on by their place in the rank if another one waits for them or they for another. Binary
/// has no labels.
///
/// # Errors
/// If it can't be written; with [`InvalidInput`](io::ErrorKind::InvalidInput) if there is a
/// [`refusal`].
pub fn write(schedule: &Schedule, form: Form, output: &mut impl Write) -> io::Result<()> {
    match form {
        Form::Text => write::text(schedule, output),
        Form::Binary => binary::write(schedule, output),
    }
}

/// Why a schedule can't be written in a form, if it can't: what is in the way, and the way out.
pub fn refusal(schedule: &Schedule, form: Form) -> Option<String> {
    match form {
        Form::Text => None,
        Form::Binary => binary::refusal(schedule),
    }
}

#[cfg(test)]
mod tests;
