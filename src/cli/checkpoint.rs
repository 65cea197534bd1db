//! Runs that can be stopped and go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use super::finished::SCENARIO;
use super::folder::Claim;
use super::interrupt::{INTERRUPTED, Interrupt};
use super::progress::Bar;
use super::say::say;
use super::{Failure, program};
use flitlab::measure::Snapshot;
use flitlab::scenario::Identity;
use flitlab::simulation::Checkpoint;
use flitlab::units::{Picoseconds, time_text};

/// Whether and when a run keeps its state.
#[derive(Debug, Args)]
pub(super) struct Keeping {
    /// Keep the run's state in FILE on Ctrl-C, SIGTERM or SIGHUP; the same command then goes on from there
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Keep it every so many minutes, too
    #[arg(long, value_name = "MINUTES", requires = "checkpoint")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    checkpoint_every: Option<u32>,
}

/// Keeps a run's state in a file.
pub(super) struct Keeper {
    path: PathBuf,
    identity: Identity,
    every: Option<Duration>,
    latest: Instant,
    /// Simulated time of what the file holds, if it holds anything.
    kept: Option<Picoseconds>,
    /// Whether a signal asked for an end.
    asked: Arc<AtomicBool>,
}

impl Keeping {
    /// The file, if there is to be one.
    pub(super) fn path(&self) -> Option<&Path> {
        self.checkpoint.as_deref()
    }

    /// Returns the keeper of the run's state, if it is to be kept, and the checkpoint to resume
    /// from, if there is one.
    ///
    /// # Errors
    /// If there is a file that it can't go on from, or none can be written there.
    pub(super) fn begin(
        &self,
        identity: impl FnOnce() -> Result<Identity, Failure>,
    ) -> Result<Option<(Keeper, Option<Checkpoint>)>, Failure> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let identity = identity()?;
        let from = Checkpoint::read(path, &identity).map_err(Failure::input)?;
        Checkpoint::try_place(path).map_err(|cause| {
            let path = path.display();
            Failure::input(format!("can't write the checkpoint {path}: {cause}"))
        })?;
        let every =
            self.checkpoint_every.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
        let asked = Interrupt::note()?;
        let kept = from.as_ref().map(Checkpoint::now);
        let (path, latest) = (path.clone(), Instant::now());
        Ok(Some((Keeper { path, identity, every, latest, kept, asked }, from)))
    }
}

impl Keeper {
    /// Keeps the state if it is time to. Ends the command if a signal asked for it.
    pub(super) fn look(&mut self, snapshot: Snapshot<'_>, bar: &Bar, results: Option<&Path>) {
        let asked = self.asked.load(Ordering::Relaxed);
        if !asked && self.every.is_none_or(|every| self.latest.elapsed() < every) {
            return;
        }
        let path = self.path.display();
        match Checkpoint::write(&self.path, &self.identity, snapshot) {
            Ok(()) => self.kept = Some(snapshot.now()),
            Err(cause) => {
                bar.above(|| say(&format!("warning: can't write the checkpoint {path}: {cause}")));
            }
        }
        self.latest = Instant::now();
        if asked {
            bar.finish();
            if let Some(results) = results {
                // The next run finds the folder free.
                let _ = fs::remove_file(results.join(SCENARIO));
                Claim::release(results);
                let _ = fs::remove_dir(results);
            }
            say(&match self.kept.map(time_text) {
                Some(time) => {
                    format!("interrupted: the same command goes on from {path}, at {time}")
                }
                None => "interrupted: nothing of the run is kept".into(),
            });
            program::end(INTERRUPTED);
        }
    }

    /// The run is over, and its results are written: the next one begins anew.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}
