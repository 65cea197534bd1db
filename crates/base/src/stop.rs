//! An end that is asked for from outside, of work that may take long.
//!
//! A program that has flitlab as a library can't end the process on Ctrl-C, as the command does. It
//! does work [under](Stop::over) a stop. All threads of that work [`look`] for it at places
//! where nothing is left half done, and unwind when it has been asked for. Unwinding drops what
//! they hold: locks, claims, partial files.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static CURRENT: RefCell<Stop> = RefCell::default();
}

/// Asks work to end. Its copies are one stop.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// What threads unwind with. It is no panic: nothing is said.
struct Stopped;

impl Stop {
    /// The stop that this thread works under. Where it works under none, one that nobody asks for.
    pub fn current() -> Self {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Makes it the stop of this thread, which was started for work under it.
    pub fn enter(&self) {
        CURRENT.set(self.clone());
    }

    /// Asks the work under it to end.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work under this stop; `None` if it ended the work.
    pub fn over<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let before = CURRENT.replace(self.clone());
        let done = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(before);
        match done {
            Ok(result) => Some(result),
            Err(cause) if cause.is::<Stopped>() => None,
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Ends the work of this thread if it was asked for.
    #[inline]
    pub fn look(&self) {
        if self.is_asked() {
            end();
        }
    }
}

/// Ends the work that this thread does under a stop, as if that had been asked for just now.
#[cold]
pub fn end() -> ! {
    let cause: Box<dyn Any + Send> = Box::new(Stopped);
    resume_unwind(cause)
}

/// Ends the work of this thread if its stop was asked for.
pub fn look() {
    Stop::current().look();
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn work_ends_on_all_its_threads_and_nothing_else_does() {
        let stop = Stop::default();
        assert_eq!(stop.over(|| (look(), 1).1), Some(1));
        let looks = stop.over(|| {
            thread::scope(|scope| {
                let worker = scope.spawn(|| {
                    stop.enter();
                    loop {
                        look();
                    }
                });
                stop.ask();
                worker.join().unwrap_or_else(|cause| resume_unwind(cause))
            })
        });
        assert_eq!(looks, None);
        // This thread is under it no longer.
        look();
        assert!(stop.over(look).is_none());
    }

    #[test]
    #[should_panic(expected = "a mistake")]
    fn a_panic_stays_one() {
        Stop::default().over(|| panic!("a mistake"));
    }
}
