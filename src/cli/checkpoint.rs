//! Runs that can be stopped and go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;

use super::Failure;
use super::interrupt::{INTERRUPTED, Interrupt};
use super::progress::Bar;
use super::say::say;
use crate::measure::Snapshot;
use crate::scenario::Identity;
use crate::sweep::Checkpoint;
use crate::units::time_text;

/// Whether and when a run keeps its state.
#[derive(Debug, Args)]
pub(super) struct Keeping {
    /// Keep the run's state in FILE on Ctrl-C or SIGTERM; the same command then goes on from there
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
    /// Whether a signal asked for an end.
    asked: Arc<AtomicBool>,
}

impl Keeping {
    /// Who keeps the run's state, if it is to be kept, and what it goes on from, if it was.
    ///
    /// # Errors
    /// If there is a file that it can't go on from.
    pub(super) fn begin(
        &self,
        identity: impl FnOnce() -> Result<Identity, Failure>,
    ) -> Result<Option<(Keeper, Option<Checkpoint>)>, Failure> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        let identity = identity()?;
        let from = Checkpoint::read(path, &identity)
            .map_err(|error| Failure::Input(format!("error: {error}")))?;
        let every =
            self.checkpoint_every.map(|minutes| Duration::from_secs(60 * u64::from(minutes)));
        let asked = Interrupt::note()?;
        let path = path.clone();
        Ok(Some((Keeper { path, identity, every, latest: Instant::now(), asked }, from)))
    }
}

impl Keeper {
    /// Keeps the state if it is time to. Ends the command if a signal asked for it.
    pub(super) fn look(&mut self, snapshot: Snapshot<'_>, bar: &Bar, results: &Path) {
        let asked = self.asked.load(Ordering::Relaxed);
        if !asked && self.every.is_none_or(|every| self.latest.elapsed() < every) {
            return;
        }
        let kept = Checkpoint::write(&self.path, &self.identity, snapshot);
        self.latest = Instant::now();
        let path = self.path.display();
        if let Err(cause) = &kept {
            bar.above(|| say(&format!("warning: can't write the checkpoint {path}: {cause}")));
        }
        if asked {
            bar.finish();
            // The next run finds the folder free.
            let _ = fs::remove_file(results.join("scenario.toml"));
            let _ = fs::remove_dir(results);
            let time = time_text(snapshot.now());
            say(&match kept {
                Ok(()) => format!("interrupted at {time}; the same command goes on from {path}"),
                Err(_) => format!("interrupted at {time}, and nothing of it is kept"),
            });
            std::process::exit(INTERRUPTED);
        }
    }

    /// The run is over, and its results are written: the next one begins anew.
    pub(super) fn forget(&self) {
        let _ = fs::remove_file(&self.path);
    }
}
