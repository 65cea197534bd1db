//! A barrier for the threads of a simulation.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of spins before a waiting thread yields its core. A thread alone on its core is back
/// within a microsecond. With more threads than cores, those that are waited for come sooner.
const SPINS: u32 = 50;

/// How long it yields before it sleeps. Others that want its core then have it, and being woken
/// takes about as long.
const AWAKE: Duration = Duration::from_micros(50);

/// A barrier at which threads stay awake for a while: a window lasts some 100 microseconds, about
/// as long as waking a thread may take.
#[derive(Debug, Default)]
pub(crate) struct ThreadBarrier {
    threads: usize,
    arrived: AtomicUsize,
    generations: AtomicUsize,
    failed: AtomicBool,
    /// Those that sleep; held while `generations` or `failed` changes, so that nobody falls asleep
    /// behind it.
    asleep: Mutex<()>,
    woken: Condvar,
}

/// Tells the other threads if its own panics.
pub(crate) struct ThreadGuard<'r>(&'r ThreadBarrier);

impl ThreadBarrier {
    pub(crate) fn new(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }

    /// Enters a thread, which keeps the guard while it takes part.
    pub(crate) fn enter(&self) -> ThreadGuard<'_> {
        ThreadGuard(self)
    }

    /// Waits until all threads have come. What they wrote before, all can read after.
    ///
    /// # Panics
    /// If another thread has panicked.
    pub(crate) fn wait(&self) {
        let generation = self.generations.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.wake(|| {
                self.generations.store(generation.wrapping_add(1), Ordering::Release);
            });
            return;
        }
        let waits = || {
            assert!(
                !self.failed.load(Ordering::Relaxed),
                "another thread of the simulation failed"
            );
            self.generations.load(Ordering::Acquire) == generation
        };
        for _ in 0..SPINS {
            if !waits() {
                return;
            }
            std::hint::spin_loop();
        }
        let begin = Instant::now();
        while begin.elapsed() < AWAKE {
            std::thread::yield_now();
            if !waits() {
                return;
            }
        }
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        while waits() {
            asleep = self.woken.wait(asleep).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes those that sleep after a change that they wait for.
    fn wake(&self, change: impl FnOnce()) {
        let asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        change();
        drop(asleep);
        self.woken.notify_all();
    }
}

impl Drop for ThreadGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.wake(|| self.0.failed.store(true, Ordering::Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_thread_goes_on_before_all_have_come() {
        let barrier = ThreadBarrier::new(3);
        let counts: Vec<AtomicUsize> = (0..3).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for own in 0..3 {
                let (barrier, counts) = (&barrier, &counts);
                scope.spawn(move || {
                    let _guard = barrier.enter();
                    for round in 1..=1_000 {
                        // The others are asleep by then.
                        if round % 250 == 0 && own == round / 250 % 3 {
                            std::thread::sleep(20 * AWAKE);
                        }
                        counts[own].store(round, Ordering::Relaxed);
                        barrier.wait();
                        for count in counts {
                            let count = count.load(Ordering::Relaxed);
                            assert!((round..=round + 1).contains(&count), "{count} in {round}");
                        }
                    }
                });
            }
        });
    }

    #[test]
    fn a_thread_that_panics_takes_the_others_along() {
        let barrier = ThreadBarrier::new(2);
        let outcome = std::thread::scope(|scope| {
            let failing = scope.spawn(|| {
                let _guard = barrier.enter();
                // The other one is asleep by then.
                std::thread::sleep(20 * AWAKE);
                panic!("on purpose");
            });
            let waiting = scope.spawn(|| barrier.wait());
            (failing.join().is_err(), waiting.join().is_err())
        });
        assert_eq!(outcome, (true, true));
    }
}
