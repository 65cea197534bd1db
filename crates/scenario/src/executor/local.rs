//! Does many independent jobs on this machine's cores.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use flitlab_base::stop::Stop;

/// Does all jobs, `threads` at a time, and hands each result to `each` on the calling thread as it
/// comes. All work under the stop of the calling thread. The order in which results come depends on
/// the machine, what they are doesn't.
///
/// # Errors
/// The first error of `each`; jobs that have not begun by then don't.
pub fn in_parallel<J: Sync, R: Send, E>(
    jobs: &[J],
    threads: usize,
    work: impl Fn(&J) -> R + Sync,
    mut each: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let (stop, from_outside) = (AtomicBool::new(false), Stop::current());
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.clamp(1, jobs.len().max(1)))
            .map(|_| {
                let sender = sender.clone();
                let (next, stop, work, from_outside) = (&next, &stop, &work, &from_outside);
                scope.spawn(move || {
                    from_outside.enter();
                    while !stop.load(Ordering::Relaxed)
                        && let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                        && sender.send(work(job)).is_ok()
                    {}
                })
            })
            .collect();
        drop(sender);
        let mut result = Ok(());
        for done in receiver {
            if result.is_ok() {
                result = each(done);
                stop.store(result.is_err(), Ordering::Relaxed);
            }
        }
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_done_once_on_any_number_of_threads() {
        let jobs: Vec<u32> = (0..100).collect();
        for threads in [1, 3, 200] {
            let mut seen = Vec::new();
            let each = |square| {
                seen.push(square);
                Ok::<(), ()>(())
            };
            in_parallel(&jobs, threads, |job| job * job, each).unwrap();
            seen.sort_unstable();
            assert_eq!(seen, jobs.iter().map(|job| job * job).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let jobs: Vec<u32> = (0..1_000).collect();
        let mut taken = 0;
        let each = |_| {
            taken += 1;
            if taken == 3 { Err("enough") } else { Ok(()) }
        };
        assert_eq!(in_parallel(&jobs, 2, |_| (), each), Err("enough"));
        assert_eq!(taken, 3);
    }
}
