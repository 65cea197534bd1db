//! Runs the points of a sweep on this machine's cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use super::simulation::{Outcome, SetupError, Simulation};
use crate::scenario::Scenario;

/// One point of a sweep.
#[derive(Clone, Debug)]
pub struct Job {
    /// The point's number in the sweep, from 0.
    pub number: u32,
    /// The name of the curve that it is on; may be empty.
    pub series: String,
    pub scenario: Scenario,
}

impl Job {
    fn run(&self) -> Result<Outcome, SetupError> {
        Ok(Simulation::new(&self.scenario)?.run(&self.series, self.number, &mut |_| {}))
    }
}

/// Runs all jobs, `threads` at a time, and hands each outcome to `each` on the calling thread as it
/// comes. The order in which they come depends on the machine, what they contain doesn't.
///
/// # Errors
/// The first error of a job or of `each`; jobs that have not begun by then don't.
pub fn run_jobs<E: From<SetupError>>(
    jobs: &[Job],
    threads: usize,
    mut each: impl FnMut(Outcome) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, jobs.len().max(1)))
            .map(|_| {
                let sender = sender.clone();
                let (next, stop) = (&next, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed)
                        && let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                        && sender.send(job.run()).is_ok()
                    {}
                })
            })
            .collect();
        drop(sender);
        let mut result = Ok(());
        for outcome in receiver {
            if result.is_ok() {
                result = outcome.map_err(E::from).and_then(&mut each);
                stop.store(result.is_err(), Ordering::Relaxed);
            }
        }
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        result
    })
}
