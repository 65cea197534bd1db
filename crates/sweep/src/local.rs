//! Does many independent jobs on this machine's cores.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
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
    let threads = threads.clamp(1, jobs.len().max(1));
    in_parallel_with_more(jobs.iter().collect(), threads, work, |done| {
        each(done).map(|()| Vec::new())
    })
}

/// Like [`in_parallel`], and `each` adds jobs, which are begun after those that are there.
pub(crate) fn in_parallel_with_more<J: Send, R: Send, E>(
    jobs: Vec<J>,
    threads: usize,
    work: impl Fn(J) -> R + Sync,
    mut each: impl FnMut(R) -> Result<Vec<J>, E>,
) -> Result<(), E> {
    let mut open = jobs.len();
    let queue = Queue { jobs: Mutex::new(Some(jobs.into())), more: Condvar::new() };
    let from_outside = Stop::current();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1))
            .map(|_| {
                let sender = sender.clone();
                let (queue, work, from_outside) = (&queue, &work, &from_outside);
                scope.spawn(move || {
                    // A job that panics ends all.
                    let _end = EndOnDrop(queue);
                    from_outside.enter();
                    while let Some(job) = queue.take()
                        && sender.send(work(job)).is_ok()
                    {}
                })
            })
            .collect();
        drop(sender);
        if open == 0 {
            queue.end();
        }
        let mut result = Ok(());
        for done in receiver {
            if result.is_err() {
                continue;
            }
            match each(done) {
                Ok(more) => {
                    open = open - 1 + more.len();
                    queue.add(more);
                }
                Err(error) => result = Err(error),
            }
            if open == 0 || result.is_err() {
                queue.end();
            }
        }
        for worker in workers {
            worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        result
    })
}

/// Jobs that nobody has begun; none any more once it has ended.
struct Queue<J> {
    jobs: Mutex<Option<VecDeque<J>>>,
    more: Condvar,
}

impl<J> Queue<J> {
    fn jobs(&self) -> MutexGuard<'_, Option<VecDeque<J>>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job, as soon as there is one; `None` at the end.
    fn take(&self) -> Option<J> {
        let mut jobs = self.jobs();
        loop {
            if let Some(job) = jobs.as_mut()?.pop_front() {
                return Some(job);
            }
            jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn add(&self, more: Vec<J>) {
        if let Some(jobs) = self.jobs().as_mut() {
            jobs.extend(more);
        }
        self.more.notify_all();
    }

    fn end(&self) {
        *self.jobs() = None;
        self.more.notify_all();
    }
}

struct EndOnDrop<'q, J>(&'q Queue<J>);

impl<J> Drop for EndOnDrop<'_, J> {
    fn drop(&mut self) {
        self.0.end();
    }
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

    #[test]
    fn jobs_that_come_from_results_are_done_too() {
        for threads in [1, 2, 7] {
            let mut seen = Vec::new();
            let each = |number: u32| {
                seen.push(number);
                Ok::<_, ()>((2 * number..2 * number + 2).filter(|&more| more < 100).collect())
            };
            in_parallel_with_more(vec![1], threads, |number| number, each).unwrap();
            seen.sort_unstable();
            assert_eq!(seen, (1..100).collect::<Vec<u32>>());
        }
        assert_eq!(in_parallel_with_more(Vec::<u32>::new(), 3, |_| (), |()| Err("never")), Ok(()));
    }

    #[test]
    #[should_panic(expected = "the seventh")]
    fn a_job_that_panics_ends_all() {
        let work = |number: u32| assert!(number != 7, "the seventh");
        let _ = in_parallel_with_more((0..100).collect(), 3, work, |()| Ok::<_, ()>(Vec::new()));
    }
}
