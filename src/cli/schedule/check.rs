//! `flitlab schedule check`: a GOAL file, counted and looked at.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::super::Failure;
use super::super::interrupt::Interrupt;
use super::super::progress::Bar;
use super::super::summary::{print_json, print_text};
use super::text;
use flitlab::application::{Action, Schedule, Tally, Unmatched, check, goal};

/// How many unmatched messages are listed.
const LISTED: usize = 10;

/// Read a GOAL file and say what is in it
///
/// Reports every mistake of the file up to twenty, and sends and receives that can't match in any
/// order (exit code 4). Whether it is text or binary is told by its first bytes.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab schedule check lu.goal")]
pub(super) struct Check {
    /// The schedule, GOAL text or binary
    file: PathBuf,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

/// The JSON object that `--json` prints.
#[derive(Serialize)]
struct Checked<'t> {
    #[serde(flatten)]
    tally: &'t Tally,
    /// Sends and receives that can't match.
    unmatched: u64,
    /// The first of them, in words.
    examples: Vec<String>,
}

impl Check {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let bar = Bar::of_work("reading the schedule");
        let _interrupt = Interrupt::clear(&bar)?;
        let schedule = goal::read(&self.file);
        bar.doing("matching messages");
        let schedule = schedule.inspect_err(|_| bar.finish())?;
        let (tally, unmatched) = (Tally::new(&schedule), check(&schedule));
        bar.finish();
        let examples: Vec<String> =
            unmatched.iter().take(LISTED).map(|it| line(&schedule, it)).collect();
        let count: u64 = unmatched.iter().map(|it| it.count).sum();
        if self.json {
            print_json(&Checked { tally: &tally, unmatched: count, examples })?;
        } else {
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
