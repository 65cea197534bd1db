//! Ctrl-C; SIGTERM, which Slurm sends before it kills; SIGHUP, which comes when a terminal or a
//! connection closes: the command keeps what it can, says how to go on, and ends.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use super::progress::Bar;
use super::{Failure, program};
use flitlab::text_file::read_text;

/// The exit code for each of these signals: that of SIGINT by the custom of shells.
pub(super) const INTERRUPTED: i32 = 130;

/// Makes a file that would grow beyond the system's limit (`ulimit -f`) an error of writing, as a
/// full disk is, in place of the end of the process.
pub(crate) fn outlive_file_limits() {
    // Where the signal can't be taken all is as it was.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// The time between two looks for a signal; a signal within this time after another counts as the
/// same.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ends the command when a signal asks for it, or the program that called it.
pub(super) struct Interrupt {
    /// Locked while the command must not end.
    unfinished: Arc<Mutex<()>>,
    /// Of a program's: said when the work unwinds.
    farewell: Option<Box<dyn FnOnce() + Send>>,
}

impl Interrupt {
    /// From now on the first signal ends the command with `farewell`; a second one, at once.
    ///
    /// # Errors
    /// If the system does not let it take signals.
    pub(super) fn watch(farewell: impl FnOnce() + Send + 'static) -> Result<Self, Failure> {
        let unfinished = Arc::new(Mutex::new(()));
        if program::current().is_some() {
            return Ok(Self { unfinished, farewell: Some(Box::new(farewell)) });
        }
        let interrupt = Self { unfinished: unfinished.clone(), farewell: None };
        at_signal(&Arc::default(), move || {
            let _finished = unfinished.lock().unwrap_or_else(PoisonError::into_inner);
            farewell();
            // Threads that simulate are given up where they are.
            std::process::exit(INTERRUPTED);
        })?;
        Ok(interrupt)
    }

    /// From now on the first signal ends the command, which leaves nothing, and takes a bar's line
    /// away.
    ///
    /// # Errors
    /// If the system does not let it take signals.
    pub(super) fn clear(bar: &Bar) -> Result<Self, Failure> {
        let bar = bar.clone();
        Self::watch(move || bar.finish())
    }

    /// Makes the first signal a note: a command that looks at it is to end soon. A second one ends
    /// the command at once.
    ///
    /// # Errors
    /// If the system does not let it take signals.
    pub(super) fn note() -> Result<Arc<AtomicBool>, Failure> {
        let asked = Arc::default();
        match program::current() {
            Some(program) => program.only_sets(&asked),
            None => at_signal(&asked, || {})?,
        }
        Ok(asked)
    }

    /// Until this is dropped the command goes on: for what must not be left half done.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Interrupt {
    /// Work that unwinds was told to stop by the program that called the command.
    fn drop(&mut self) {
        if let Some(farewell) = self.farewell.take().filter(|_| thread::panicking()) {
            farewell();
        }
    }
}

/// Whether the end of a terminal ends the command. It does not under `nohup`, which ignores the
/// signal; where that can't be told, the signal is left as it is.
fn may_hang_up() -> bool {
    let status = read_text(Path::new("/proc/self/status")).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (SIGHUP - 1) & 1 == 0)
}

/// Has the first signal set a flag and then do something; a second one ends the command at once.
fn at_signal(asked: &Arc<AtomicBool>, then: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    // A program that asks for an end once, as `timeout` does, may signal the process and then its
    // group.
    let asked_before = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM].into_iter().chain(may_hang_up().then_some(SIGHUP)) {
        flag::register_conditional_shutdown(signal, INTERRUPTED, asked_before.clone())
            .and_then(|_| flag::register(signal, asked.clone()))
            .map_err(|cause| Failure::Run(format!("can't watch for Ctrl-C: {cause}")))?;
    }
    let asked = asked.clone();
    thread::spawn(move || {
        while !asked.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
        }
        thread::sleep(LOOK_EVERY);
        asked_before.store(true, Ordering::Relaxed);
        then();
    });
    Ok(())
}
