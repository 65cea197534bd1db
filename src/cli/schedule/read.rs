//! `flitlab schedule read`: a trace of another program as a GOAL file.

use std::path::PathBuf;

use clap::Args;

use super::super::Failure;
use super::super::interrupt::Interrupt;
use super::super::progress::Bar;
use super::super::say::say;
use super::{Out, text};
use flitlab::application::{Action, Tally};
use flitlab::text_file::read_text;
use flitlab::traces::read::{Options, Reading, read};
use flitlab::units::{Bytes, bytes_text};

/// Read a trace of another program and write what it does as a GOAL file
///
/// The format is told by the first bytes; `flitlab schedule --list` names all, and
/// docs/schedules.md says what becomes of each. A count goes to standard error.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    flitlab schedule read traces/ti_trace0.txt --flops-per-second 5e9 --out x.goal")]
pub(super) struct Read {
    /// The trace: a file, one of the files of all ranks, or their folder
    file: PathBuf,
    #[command(flatten)]
    beside: Beside,
    #[command(flatten)]
    out: Out,
}

/// What a trace does not say.
#[derive(Debug, Args)]
pub(super) struct Beside {
    /// Of a trace that counts operations: how many of them a rank computes a second, such as 5e9
    #[arg(long, value_name = "RATE")]
    flops_per_second: Option<f64>,
    /// Of a trace with collective operations: by which algorithms, such as open-mpi-4.1
    #[arg(long)]
    algorithm: Option<String>,
    /// Of a trace of Chakra: a JSON file with the members of process groups
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
}

impl Beside {
    pub(super) fn options(&self) -> Result<Options, Failure> {
        let groups = self.groups.as_ref().map(|path| {
            let name = path.display().to_string();
            match read_text(path) {
                Ok(text) => Ok((name, text)),
                Err(error) => Err(Failure::input(format!("can't read {name}: {error}"))),
            }
        });
        Ok(Options {
            flops_per_second: self.flops_per_second,
            algorithm: self.algorithm.clone(),
            groups: groups.transpose()?,
        })
    }
}

/// The bytes of the largest message, as a scenario has them; `None` if there are no messages.
fn largest(reading: &Reading) -> Option<String> {
    let sends = reading.schedule.operations().filter(|it| it.action == Action::Send);
    sends.map(|it| it.amount).max().map(|bytes| bytes_text(Bytes(bytes)))
}

impl Read {
    pub(super) fn execute(self) -> Result<(), Failure> {
        self.out.check()?;
        let options = self.beside.options()?;
        let bar = Bar::of_work("reading the trace");
        let _interrupt = Interrupt::clear(&bar)?;
        let reading = read(&self.file, &options).inspect_err(|_| bar.finish())?;
        bar.doing("writing it");
        let written = self.out.write(&reading.schedule);
        bar.finish();
        written?;
        say(text::read(&reading).trim_end());
        say(text::tally(&Tally::new(&reading.schedule)).trim_end());
        text::notes(&reading).iter().for_each(|note| say(&format!("note: {note}")));
        if let Some(limit) = largest(&reading).filter(|_| !reading.sends_wait) {
            say(&format!(
                "note: the sends of {} wait for no receipt, which GOAL can't say: simulate what was written with \
                 `eager_limit = \"{limit}\"` in [application]",
                reading.format.what
            ));
        }
        Ok(())
    }
}
