//! The run of several threads: windows in which the parts of a network do not reach each other.

use std::sync::atomic::{AtomicU64, Ordering};

use super::mail::Post;
use super::observer::Observer;
use super::part::Part;
use super::rendezvous::Rendezvous;
use crate::units::Picoseconds;

/// What a part tells the others at the end of a window.
#[derive(Debug, Default)]
struct Report {
    /// Before which time nothing happens in it or by its mail.
    earliest: AtomicU64,
    /// When the last of its terminals came to the barrier; the latest of all times if not all have.
    at_barrier: AtomicU64,
}

/// What the threads of a simulation share while it runs.
pub(super) struct Together {
    post: Post,
    rendezvous: Rendezvous,
    /// By window's parity and part.
    reports: Vec<Report>,
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
            reports: (0..2 * parts).map(|_| Report::default()).collect(),
            reach,
            limit,
        }
    }

    /// Simulates a part, window by window, each as long as nothing sent in it can arrive in it. False if
    /// nothing is left in the part.
    pub(super) fn run<O: Observer, const LANES: usize>(
        &self,
        part: &mut Part<'_, O, LANES>,
    ) -> bool {
        let _attendance = self.rendezvous.attend();
        let parts = self.reports.len() / 2;
        for window in 0.. {
            let reports = &self.reports[window % 2 * parts..][..parts];
            let own = &reports[part.number];
            own.earliest.store(part.post(window, &self.post), Ordering::Relaxed);
            let at_barrier = part.workload.at_barrier().unwrap_or(Picoseconds::MAX);
            own.at_barrier.store(at_barrier, Ordering::Relaxed);
            self.rendezvous.meet();
            part.collect(window, &self.post);
            let times = |time: fn(&Report) -> &AtomicU64| {
                reports.iter().map(move |report| time(report).load(Ordering::Relaxed))
            };
            let mut start = times(|report| &report.earliest).min().expect("there is a part");
            let latest = times(|report| &report.at_barrier).max().expect("there is a part");
            if latest < Picoseconds::MAX {
                // All calendars may be empty: what is next comes of passing the barrier.
                start = start.min(part.pass_barrier(latest));
            }
            if start > self.limit || start == Picoseconds::MAX {
                break;
            }
            part.run_until(self.limit.min(start.saturating_add(self.reach - 1)));
        }
        !part.calendar.is_empty()
    }
}
