//! The run of several threads: windows in which the parts of a network do not reach each other.

use std::sync::atomic::{AtomicU64, Ordering};

use super::mail::Post;
use super::observer::Observer;
use super::part::Part;
use super::rendezvous::Rendezvous;
use crate::units::Picoseconds;

/// What the threads of a simulation share while it runs.
pub(super) struct Together {
    post: Post,
    rendezvous: Rendezvous,
    /// Before which time nothing happens in a part or by its mail, by window's parity and part.
    earliest: Vec<AtomicU64>,
    reach: Picoseconds,
    limit: Picoseconds,
}

impl Together {
    /// For so many parts, none of which reaches another one before `reach` has passed, up to and including
    /// `limit`.
    pub(super) fn new(parts: usize, reach: Picoseconds, limit: Picoseconds) -> Self {
        Self {
            post: Post::new(parts),
            rendezvous: Rendezvous::new(parts),
            earliest: (0..2 * parts).map(|_| AtomicU64::new(0)).collect(),
            reach,
            limit,
        }
    }

    /// Simulates a part, window by window, each as long as nothing sent in it can arrive in it. False if
    /// nothing is left in the part.
    pub(super) fn run<O: Observer>(&self, part: &mut Part<'_, O>) -> bool {
        let _attendance = self.rendezvous.attend();
        let parts = self.earliest.len() / 2;
        for window in 0.. {
            let earliest = &self.earliest[window % 2 * parts..][..parts];
            earliest[part.number].store(part.post(window, &self.post), Ordering::Relaxed);
            self.rendezvous.meet();
            part.collect(window, &self.post);
            let start = earliest.iter().map(|time| time.load(Ordering::Relaxed)).min();
            let start = start.expect("there is a part");
            if start > self.limit || start == Picoseconds::MAX {
                break;
            }
            part.run_until(self.limit.min(start.saturating_add(self.reach - 1)));
        }
        !part.calendar.is_empty()
    }
}
