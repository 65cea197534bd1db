//! Where threads wait for each other.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How often a thread looks before it lets others have its core. Where nobody else wants it a thread is back within a
/// microsecond, and where there are more threads than cores those that are waited for come sooner.
const LOOKS: u32 = 50;

/// A barrier at which threads stay awake: windows last some 100 microseconds, about as long as waking a thread may take.
#[derive(Debug)]
pub(super) struct Rendezvous {
    threads: usize,
    arrived: AtomicUsize,
    meetings: AtomicUsize,
    failed: AtomicBool,
}

/// Tells the others if its thread panics.
pub(super) struct Attendance<'r>(&'r Rendezvous);

impl Rendezvous {
    pub(super) fn new(threads: usize) -> Self {
        Self {
            threads,
            arrived: AtomicUsize::new(0),
            meetings: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
        }
    }

    /// To be kept by each thread while it takes part.
    pub(super) fn attend(&self) -> Attendance<'_> {
        Attendance(self)
    }

    /// Waits until all threads are here. What they wrote before, all can read after.
    ///
    /// # Panics
    /// If another thread has.
    pub(super) fn meet(&self) {
        let meeting = self.meetings.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.meetings.store(meeting.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while self.meetings.load(Ordering::Acquire) == meeting {
            assert!(
                !self.failed.load(Ordering::Relaxed),
                "another thread of the simulation failed"
            );
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

impl Drop for Attendance<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_leaves_a_meeting_before_all_have_come() {
        let rendezvous = Rendezvous::new(3);
        let counts: Vec<AtomicUsize> = (0..3).map(|_| AtomicUsize::new(0)).collect();
        std::thread::scope(|scope| {
            for own in 0..3 {
                let (rendezvous, counts) = (&rendezvous, &counts);
                scope.spawn(move || {
                    let _attendance = rendezvous.attend();
                    for round in 1..=1_000 {
                        counts[own].store(round, Ordering::Relaxed);
                        rendezvous.meet();
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
        let rendezvous = Rendezvous::new(2);
        let outcome = std::thread::scope(|scope| {
            let failing = scope.spawn(|| {
                let _attendance = rendezvous.attend();
                panic!("on purpose");
            });
            let waiting = scope.spawn(|| rendezvous.meet());
            (failing.join().is_err(), waiting.join().is_err())
        });
        assert_eq!(outcome, (true, true));
    }
}
