//! `flitlab sweep collect`: the results of a sweep that Slurm has computed.

use std::path::{Path, PathBuf};

use clap::Args;

use super::super::interrupt::Interrupt;
use super::super::progress::Bar;
use super::super::summary::mention;
use super::super::{COMMIT, Failure, text};
use super::results::Results;
use super::survey::{self, Begun};
use crate::cli::say::say;
use flitlab::simulation::Simulation;
use flitlab::sweep::{Obtained, Progress, Store, StoreError, forget};

/// Write the results of a sweep that Slurm has computed
///
/// points.csv, channels.csv, summary.json and figures, byte for byte those of a sweep on this
/// machine.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab sweep collect results/torus-8x8x8-patterns\n  \
                        flitlab sweep collect results/torus-8x8x8-patterns --partial")]
pub(super) struct Collect {
    /// The folder of the sweep's results
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Write rows and figures of what is there, though some points are missing; no summary.json
    #[arg(long)]
    partial: bool,
    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
    /// Draw nothing; `flitlab plot` draws the figures later
    #[arg(long)]
    no_figures: bool,
}

impl Collect {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let Begun { mut sweep, resolved } = Begun::open(&self.folder)?;
        if self.no_figures {
            sweep.figures.formats = Some(Vec::new());
        }
        let mut found = Vec::new();
        let (progress, saturation) = survey::look(&self.folder, &sweep, |place, point| {
            found.push((place, point));
            Ok(())
        })?;
        let missing = survey::places(&progress, Progress::Missing).len();
        let (what, place) = (survey::what(&sweep), survey::word(&self.folder));
        if missing > 0 && !self.partial {
            return Err(Failure::Run(format!(
                "{missing} of {} {what} are missing:\n  \
                 flitlab sweep status {place}{:14}where they are\n  \
                 flitlab sweep collect {place} --partial    results of what is there",
                progress.len(),
                ""
            )));
        }
        if found.is_empty() {
            return Err(Failure::Run(format!(
                "none of the {} {what} is there yet",
                progress.len()
            )));
        }
        let store =
            if missing > 0 { Store::share(&self.folder, COMMIT) } else { alone(&self.folder) }?;
        let simulation = Simulation::new(&sweep.points[0].scenario)?;
        if !self.json {
            let headline = text::headline(&simulation);
            mention(&format!("{headline}: {} {what}\n", progress.len()));
        }
        let interrupt = Interrupt::watch(|| say("interrupted; finished points are kept"))?;
        let bar = Bar::of_sweep(found.len() as u64);
        let (folder, json) = (&self.folder, self.json);
        let mut results = Results::begin(folder, resolved, json, &sweep, bar.clone(), interrupt)?;
        for (place, stored) in found {
            if progress[place.point] != Progress::LeftOut {
                let obtained = Obtained { point: stored, computed: None };
                results.take(place, &sweep.points[place.point], obtained)?;
            }
        }
        bar.finish();
        if missing == 0 {
            forget(&sweep.points, &survey::places(&progress, Progress::LeftOut), &store)?;
        } else {
            results.leave_unfinished();
            say(&format!(
                "note: {missing} of {} {what} are missing, so there is no summary.json",
                progress.len()
            ));
        }
        results.conclude(saturation, &simulation)
    }
}

/// The store of a sweep of which nothing is missing, put in order if that is possible: tasks may
/// still be at work on points that are no longer wanted.
fn alone(results: &Path) -> Result<Store, StoreError> {
    match Store::open(results, COMMIT) {
        Err(StoreError::Busy { .. }) => Store::share(results, COMMIT),
        store => store,
    }
}
