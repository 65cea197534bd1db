//! `flitlab schedule check`: a schedule or a trace, counted and looked at.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::super::Failure;
use super::super::interrupt::Interrupt;
use super::super::progress::Bar;
use super::super::say::say;
use super::super::summary::{print_json, print_text};
use super::read::Beside;
use super::text;
use flitlab::application::{Action, Schedule, Tally, Unmatched, check};
use flitlab::traces::read::read;

/// How many unmatched messages are listed.
const LISTED: usize = 10;

/// Read a schedule or a trace and say what is in it
///
/// Reports every mistake of the file up to twenty, and sends and receives that can't match in any
/// order (exit code 4). The format is told by the first bytes: GOAL, text or binary, or a trace of
/// another program (docs/schedules.md).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab schedule check lu.goal\n  \
    flitlab schedule check traces/ti_trace0.txt --flops-per-second 5e9")]
pub(super) struct Check {
    /// The schedule or trace: a file, one of the files of all ranks, or their folder
    file: PathBuf,
    #[command(flatten)]
    beside: Beside,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Checked<'t> {
    #[serde(flatten)]
    tally: &'t Tally,
    /// The name of the file's format.
    format: &'t str,
    /// How often each kind of call is in a trace.
    calls: BTreeMap<&'t str, u64>,
    /// What is in a trace and means nothing here, or looks wrong.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    notes: &'t [String],
    /// Sends and receives that can't match.
    unmatched: u64,
    /// The first of them, in words.
    examples: Vec<String>,
}

impl Check {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let options = self.beside.options()?;
        let bar = Bar::of_work("reading the schedule");
        let _interrupt = Interrupt::clear(&bar)?;
        let reading = read(&self.file, &options);
        bar.doing("matching messages");
        let reading = reading.inspect_err(|_| bar.finish())?;
        let schedule = &reading.schedule;
        let (tally, unmatched) = (Tally::new(schedule), check(schedule));
        bar.finish();
        let examples: Vec<String> =
            unmatched.iter().take(LISTED).map(|it| line(schedule, it)).collect();
        let count: u64 = unmatched.iter().map(|it| it.count).sum();
        if self.json {
            let calls = reading.calls.iter().copied().collect();
            let (tally, format) = (&tally, reading.format.name);
            let notes = &reading.notes;
            print_json(&Checked { tally, format, calls, notes, unmatched: count, examples })?;
        } else {
            print_text(&text::read(&reading))?;
            print_text(&text::tally(&tally))?;
            let mut text = String::new();
            for example in &examples {
                text += &format!("  {example}\n");
            }
            let more = unmatched.len() - examples.len();
            if more > 0 {
                text += &format!("  and {more} more of this kind\n");
            }
            print_text(&text)?;
        }
        text::notes(&reading).iter().for_each(|note| say(&format!("note: {note}")));
        match count {
            0 => Ok(()),
            1 => Err(Failure::Check("error: one send or receive can't match".into())),
            _ => Err(Failure::Check(format!("error: {count} sends and receives can't match"))),
        }
    }
}

fn line(schedule: &Schedule, unmatched: &Unmatched) -> String {
    let operation = schedule.describe(unmatched.example);
    let what = match unmatched.action {
        Action::Send => "is never received",
        _ => "receives nothing",
    };
    match unmatched.count - 1 {
        0 => format!("{operation} {what}"),
        more => format!("{operation} {what}, like {more} before it"),
    }
}
