//! What a format of files is, what its reader may be told, and what it makes of a file.

use std::fmt;

use super::files::Input;
use crate::formats::Beginning;
use flitlab_application::Schedule;
use flitlab_base::document::Diagnostics;

/// A format of files.
#[derive(Clone, Copy)]
pub struct Format {
    /// A name in small letters.
    pub name: &'static str,
    /// What a file of it is, with an article.
    pub what: &'static str,
    /// A sentence without its begin, such as "a connection a line."
    pub doc: &'static str,
    /// Whether a file that begins like this is one.
    pub(crate) is: fn(&Beginning) -> bool,
    /// The names of the [`Options`] that mean something.
    pub(crate) takes: &'static [&'static str],
    pub(crate) read: fn(&Input<'_>, &Options) -> Result<Content, Diagnostics>,
}

impl fmt::Debug for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// What a trace does not say, and is to be given beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Operations that a rank computes a second, of a trace that counts operations.
    pub flops_per_second: Option<f64>,
    /// The library, or the kind of algorithm, of collective operations.
    pub algorithm: Option<String>,
    /// Who is in which process group: a JSON file's name, and its text.
    pub groups: Option<(String, String)>,
}

/// The names of all [`Options`].
pub const OPTIONS: [&str; 3] = ["flops_per_second", "algorithm", "groups"];

impl Options {
    /// The names of those that are given.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> {
        let given =
            [self.flops_per_second.is_some(), self.algorithm.is_some(), self.groups.is_some()];
        OPTIONS.into_iter().zip(given).filter_map(|(name, given)| given.then_some(name))
    }
}

/// What a reader makes of a file.
#[derive(Debug)]
pub struct Content {
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
}

impl Content {
    /// A schedule of which there is nothing else to say.
    pub(crate) const fn of(schedule: Schedule) -> Self {
        Self { schedule, calls: Vec::new(), notes: Vec::new(), sends_wait: true }
    }
}
