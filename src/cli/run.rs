//! `flitlab run`: one simulation, from a scenario to a folder of results.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::checkpoint::Keeping;
use super::folder::Output;
use super::input::{Input, reject};
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::summary::{Cost, Expectation, Printed, Summary, mention, print_text};
use super::threads::Threads;
use super::{Failure, folder, text};
use crate::cli::say::say;
use flitlab::report::figure::{Wish, draw_all};
use flitlab::report::{DeadlockNote, DigestLog, Label, Point, ResultFolder, ResultRows};
use flitlab::scenario::Scenario;
use flitlab::sweep::{Checkpoint, Outcome, Simulation};
use flitlab::units::time_text;

/// Simulate a scenario once
///
/// Prints latency, throughput, the busiest channels and why packets waited, and leaves summary.json,
/// points.csv, channels.csv, figures and the fully resolved scenario.toml in results/NAME.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab run scenarios/angara/desmos-alltoall.toml\n  \
                        flitlab run scenarios/angara/desmos-uniform.toml --set traffic.load=0.5 --json")]
pub(super) struct Run {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    keeping: Keeping,
    /// Write the digest of all that has happened so far to a CSV file, a row for each 100 ns or so: where two
    /// machines' files part, their simulations do
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Simulate an application twice, and say which channels its critical path waited for (path_channels.csv)
    #[arg(long)]
    trace_path: bool,
}

impl Run {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let bar = Bar::of_run();
        let (document, scenario) = self.input.scenario()?;
        let identity = || Scenario::identity(&document).map_err(|found| reject(&found));
        let (mut keeper, from) = self.keeping.begin(identity)?.unzip();
        let from = from.flatten();
        let threads = self.threads.of_simulation(scenario.network.fabric.routers());
        // The network stays cut as it was.
        let threads = from.as_ref().map_or(threads, Checkpoint::threads);
        let mut simulation = Simulation::new(&scenario)?.on_threads(threads);
        let results = folder::prepare(&scenario.name, self.output.out.as_deref())?;
        let digests = self.log.as_deref().map(|path| open_log(path, from.as_ref())).transpose()?;
        if let Some(digests) = &digests {
            simulation = simulation.logging(digests.clone());
        }
        if self.trace_path {
            simulation = simulation.tracing_path();
        }
        folder::write(&results.join("scenario.toml"), &folder::resolved(&document)?)?;
        if document.has_sweep() {
            bar.above(|| say("note: [sweep] is left out by run; flitlab sweep runs its points"));
        }
        let headline = text::headline(&simulation);
        if !self.output.json {
            bar.above(|| mention(&format!("{headline}\n")));
        }
        if let Some(cycle) = scenario.network.cycle() {
            bar.above(|| say(&format!("warning: the forwarding table is not safe: {cycle}")));
        }

        if let Some(checkpoint) = &from {
            let time = time_text(checkpoint.now());
            bar.above(|| say(&format!("note: goes on from the checkpoint, at {time}")));
        }

        bar.doing("the first window");
        let interrupt = match keeper {
            Some(_) => None,
            None => Some(Interrupt::watch({
                let (bar, results, log) = (bar.clone(), results.clone(), self.log.clone());
                move || give_up(&bar, &results, log.as_deref())
            })?),
        };
        let outcome =
            simulation.run_from(from, &mut |progress| bar.simulated(progress), &mut |snapshot| {
                if let Some(keeper) = &mut keeper {
                    keeper.look(snapshot, &bar, &results);
                }
            });
        let _results_are_written = interrupt.as_ref().map(Interrupt::hold);
        bar.finish();
        digests.map_or(Ok(()), |digests| digests.finish())?;

        let Outcome { found, deadlock, stuck, work } = outcome;
        let warnings = found.warnings.clone();
        let note = found.deadlock.as_ref().map(|found| DeadlockNote::new(0, found));
        let label = Label { seed: scenario.seed, ..Label::default() };
        let rows = ResultRows { points: vec![Point::new(label, found)], ..ResultRows::default() };
        ResultFolder::begin(&results, Vec::new())?.finish(&rows.points, &[])?;
        let title = scenario.title.clone().unwrap_or_else(|| scenario.name.clone());
        draw_all(&rows, &results, &Wish::titled(&title))?;
        let Point { measured, channels, .. } = &rows.points[0];
        let summary = Summary {
            flitlab: env!("CARGO_PKG_VERSION"),
            title: scenario.title.clone(),
            scenario: Expectation::new(&simulation),
            points: &rows.points,
            saturation: Vec::new(),
            busiest_channels: text::busiest(channels),
            warnings,
            deadlocks: note.into_iter().collect(),
        };
        summary.write(&results)?;
        if let Some(keeper) = &keeper {
            keeper.forget();
        }

        let place = results.display().to_string();
        if self.output.json {
            let cost = Some(Cost::new(&work));
            Printed { summary: &summary, results: place, cost }.print()?;
        } else {
            let facts = text::outcome(measured, channels, &work);
            let waits = text::path_channels(&rows.points[0].explained.channels);
            print_text(&format!("{facts}{waits}results in {place}\n"))?;
        }
        for warning in &summary.warnings {
            say(&format!("warning: {warning}"));
        }
        match (deadlock, stuck) {
            (Some(deadlock), _) => Err(Failure::Deadlock(Box::new(deadlock))),
            (None, Some(stuck)) => Err(Failure::Stuck(stuck)),
            (None, None) => Ok(()),
        }
    }
}

/// Begins the log of the digest, or goes on with it.
fn open_log(path: &Path, from: Option<&Checkpoint>) -> Result<DigestLog, Failure> {
    match from {
        Some(checkpoint) => Ok(DigestLog::resume(path, checkpoint.now())?),
        None if path.exists() => Err(Failure::input(format!(
            "{} is there, and logs never replace others: name another file with --log, or remove it",
            path.display()
        ))),
        None => Ok(DigestLog::create(path)?),
    }
}

/// Leaves nothing of a run that is interrupted, so that the next one finds folder and log free.
fn give_up(bar: &Bar, results: &Path, log: Option<&Path>) {
    bar.finish();
    let _ = fs::remove_file(results.join("scenario.toml"));
    if let Some(log) = log {
        let _ = fs::remove_file(log);
    }
    say("interrupted: nothing of the run is kept; one that is given --checkpoint FILE can go on");
}
