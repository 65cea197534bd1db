//! Files of other programs that say what an application does, read into schedules.
//!
//! A format is a row of [`FORMATS`]: how a file is recognised by what it begins with, what reads
//! it, and which [`Options`] that takes. A further format is a file here and a row. Formats that are
//! not read are rows of [`formats`], with the way out.
//!
//! Traces of MPI programs are read call by call into [`Program`](flitlab_application::generate::program::Program)s
//! by way of `Calls`, one rank after the other. Kept are the schedule, and of the traces what one
//! rank has open.

mod calls;
mod chakra;
mod contexts;
mod dumpi;
mod files;
mod format;
mod htsim;
mod liballprof;
mod lines;
mod mpi;
mod simgrid;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::complaints::of_file;
use crate::formats::{self, FileKind};
use crate::goal;
use flitlab_application::Schedule;
use flitlab_base::document::{Diagnostic, Diagnostics};

pub use crate::formats::Beginning;
pub use files::Input;
pub use format::{Content, Format, OPTIONS, Options};

pub(crate) use chakra::CHAKRA;
pub(crate) use dumpi::{BINARY as DUMPI_BINARY, DUMPI};
pub(crate) use htsim::HTSIM;
pub(crate) use liballprof::LIBALLPROF;
pub(crate) use simgrid::SIMGRID;

/// Every format that is read. The first that recognises a file has it. The other formats that are
/// known, and the way out for each, are in [`formats`].
pub static FORMATS: [Format; 7] =
    [goal::GOAL, SIMGRID, CHAKRA, HTSIM, DUMPI, DUMPI_BINARY, LIBALLPROF];

/// A file that was read.
#[derive(Debug)]
pub struct Reading {
    /// The format of the file.
    pub format: &'static Format,
    /// The operations of all ranks.
    pub schedule: Schedule,
    /// How often calls or nodes of a name are in the trace; empty of a schedule.
    pub calls: Vec<(&'static str, u64)>,
    /// What is in the trace and means nothing here, or looks wrong, with how often: clauses without
    /// a full stop.
    pub notes: Vec<String>,
    /// Whether large messages wait for their receipt, as in MPI. In a trace of a program in which
    /// none does they wait for none.
    pub sends_wait: bool,
    /// The files that were read, in order.
    pub files: Vec<PathBuf>,
}

impl Format {
    /// The format of the file that a path stands for, if it can be read and is one of these.
    pub fn of_file(path: &Path) -> Option<&'static Self> {
        let path = files::file_of(path).ok()?;
        Beginning::of_file(&path)?.format()
    }

    /// The names of the [`Options`] that mean something to it.
    pub const fn takes(&self) -> &'static [&'static str] {
        self.takes
    }

    /// Why an option means nothing to it, in words.
    pub fn refusal(&self, option: &str) -> (String, String) {
        let help = match self.takes() {
            [] => "leave it out: it takes no such key".into(),
            takes => format!("leave it out: it takes {}", takes.join(", ")),
        };
        (format!("`{option}` means nothing to {}", self.what), help)
    }

    /// The way to simulate what is in it; `name` is the file's.
    pub fn way_out(&self, name: &str) -> String {
        let beside = match self.takes {
            [] => String::new(),
            takes => format!(" and, as needed, {}", takes.join(", ")),
        };
        let goal = match *self == goal::GOAL {
            true => String::new(),
            false => {
                format!(", `flitlab schedule read {name} --out x.goal` makes a GOAL file of it")
            }
        };
        format!(
            "a scenario says what network it runs on: write a TOML file with a topology, and \
             `[application]` with `file = \"{name}\"`{beside} (`flitlab init` makes a scenario to begin \
             with; `flitlab schedule check {name}` says what is in the schedule{goal})"
        )
    }

    fn read(&'static self, input: Input<'_>, options: &Options) -> Result<Reading, Diagnostics> {
        if let Some(option) = options.given().find(|option| !self.takes.contains(option)) {
            let (problem, help) = self.refusal(option);
            return Err(of_file(Diagnostic::unplaced(problem).help(help)));
        }
        let Content { schedule, calls, notes, sends_wait } = (self.read)(&input, options)?;
        let files = input.into_opened();
        Ok(Reading { format: self, schedule, calls, notes, sends_wait, files })
    }
}

impl Beginning {
    /// The format of the schedule or trace that it is; `None` if none of [`FORMATS`].
    pub fn format(&self) -> Option<&'static Format> {
        FORMATS.iter().find(|format| (format.is)(self))
    }
}

/// Reads a file, or the files of all ranks of which it is one. A file of none of [`FORMATS`] is
/// taken for a GOAL text only if it resembles one; otherwise it is named, if that is possible.
///
/// # Errors
/// If it can't be read or is wrong, with the place, or if an option is given that means nothing to
/// its format, or one is missing.
pub fn read(path: &Path, options: &Options) -> Result<Reading, Diagnostics> {
    let path = files::file_of(path)?;
    // A file that can't be looked at, such as a pipe, is told apart by the reader of GOAL.
    let format = match Beginning::of_file(&path) {
        Some(file) => format_of(&file, &path)?,
        None => &FORMATS[0],
    };
    format.read(Input::of_file(path), options)
}

/// The format that a file is read in.
fn format_of(file: &Beginning, path: &Path) -> Result<&'static Format, Diagnostics> {
    if let Some(format) = file.format() {
        return Ok(format);
    }
    let name = path.display().to_string();
    let refusal = match formats::refusal(file, &name, FileKind::Application) {
        Some(refusal) => refusal,
        None if goal::resembles(file) => return Ok(&FORMATS[0]),
        None => formats::unknown(file, &name, FileKind::Application),
    };
    Err(of_file(Diagnostic::unplaced(refusal.message).help(refusal.help)))
}

/// Reads the content of a file; `name` is what messages call it. Files of other ranks are not
/// looked for.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(name: &str, content: &[u8], options: &Options) -> Result<Reading, Diagnostics> {
    let path = Path::new(name);
    let format = format_of(&Beginning::new(path, content), path)?;
    format.read(Input::of_bytes(name, content), options)
}
