//! Whether anything grows without bound: each terminal's source queue, and all that is under way.
//!
//! Buffers bound what is in the network, so what a network can't carry piles up in source queues,
//! and perhaps in a few of thousands. Each queue is looked at by itself, at the end of every
//! window.
//!
//! **It grows** if the mean of its increments from window to window is above 0 by Student's t test,
//! at a level that keeps the error over all queues of a network together below [`ERROR`]
//! (Bonferroni's inequality). The test is made for a queue at its very capacity, whose length is a
//! random walk. A queue with room to spare returns again and again, so that its increments cancel:
//! it fails the test far more seldom.
//!
//! **It is level** if the longest time for which it had something waiting, without a break, is at
//! most a share of the time measured ([`MAX_STRETCH`]). A queue that gets more than it can send
//! doesn't run empty any more after its first while; one at its very capacity does, at ever longer
//! intervals, of which the longest takes most of the time.
//!
//! A queue that fits neither is **open**: its load is nearer to capacity than the time measured can
//! resolve.

use serde::{Deserialize, Serialize};

use crate::Backlog;
use flitlab_base::units::Picoseconds;
use flitlab_model::interval::upper_tail;

/// The probability with which one of a network's queues is said to grow, all of which are at
/// capacity and none above it.
pub const ERROR: f64 = 0.01;

/// A level queue runs empty so often that no stretch without takes more than this share of the time
/// measured.
pub const MAX_STRETCH: f64 = 0.2;

/// Whether source queues grow, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueVerdict {
    /// One grows, by so many flits a picosecond: that of a terminal or, without one, all together.
    Grows { terminal: Option<u32>, rate: f64 },
    /// All are level.
    Level,
    /// The queue of this terminal neither grows nor runs empty often enough; in so many others it
    /// is the same.
    Open { terminal: u32, others: usize },
}

/// A queue since the measurement began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Queue {
    first: u64,
    latest: u64,
    /// Sum of the increments' squares.
    squares: f64,
    /// The longest stretch seen without running empty.
    longest: Picoseconds,
}

impl Queue {
    fn note(&mut self, flits: u64) {
        let increment = flits as f64 - self.latest as f64;
        self.squares += increment * increment;
        self.latest = flits;
    }

    fn grown(&self) -> f64 {
        self.latest as f64 - self.first as f64
    }

    /// Returns the probability of this much growth at capacity, after this many windows.
    fn chance(&self, windows: u32) -> f64 {
        let (grown, count) = (self.grown(), f64::from(windows));
        if grown <= 0.0 || windows < 2 {
            return 1.0;
        }
        let variance = (self.squares - grown * grown / count) / (count - 1.0);
        let deviation = variance.max(0.0).sqrt() * count.sqrt();
        let t = if deviation > 0.0 { grown / deviation } else { f64::INFINITY };
        upper_tail(t, windows as usize - 1)
    }
}

/// The source queues of all terminals, and all that is under way, while it is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Growth {
    queues: Vec<Queue>,
    all: Queue,
    start: Picoseconds,
    now: Picoseconds,
    windows: u32,
}

impl Growth {
    /// From `now` on, when this waits at each terminal and so many flits are under way in all.
    pub fn new(
        now: Picoseconds,
        under_way: u64,
        backlogs: impl IntoIterator<Item = Backlog>,
    ) -> Self {
        let queue = |flits| Queue { first: flits, latest: flits, ..Queue::default() };
        Self {
            queues: backlogs.into_iter().map(|backlog| queue(backlog.flits)).collect(),
            all: queue(under_way),
            start: now,
            now,
            windows: 0,
        }
    }

    /// Notes the state of the queues at the end of a window.
    pub fn note(
        &mut self,
        now: Picoseconds,
        under_way: u64,
        backlogs: impl IntoIterator<Item = Backlog>,
    ) {
        self.now = now;
        self.windows += 1;
        self.all.note(under_way);
        for (queue, Backlog { flits, since }) in self.queues.iter_mut().zip(backlogs) {
            queue.note(flits);
            if flits > 0 {
                queue.longest = queue.longest.max(now - since);
            }
        }
    }

    /// Growth of all that is under way, in flits a picosecond.
    pub fn rate(&self) -> f64 {
        self.all.grown() / self.time()
    }

    /// Returns the verdict so far. The sum of all queues counts as growing only above `tolerated`
    /// flits a picosecond.
    pub fn verdict(&self, tolerated: f64) -> QueueVerdict {
        let level = ERROR / (self.queues.len() as f64 + 1.0);
        let grows = |queue: &Queue| queue.chance(self.windows) <= level;
        if self.rate() > tolerated && grows(&self.all) {
            return QueueVerdict::Grows { terminal: None, rate: self.rate() };
        }
        let steepest = (0..)
            .zip(&self.queues)
            .filter(|(_, queue)| grows(queue))
            .max_by(|(_, one), (_, other)| one.grown().total_cmp(&other.grown()));
        if let Some((terminal, queue)) = steepest {
            let rate = queue.grown() / self.time();
            return QueueVerdict::Grows { terminal: Some(terminal), rate };
        }
        let allowed = (self.now - self.start).0 as f64 * MAX_STRETCH;
        let open = (0..).zip(&self.queues).filter(|(_, queue)| queue.longest.0 as f64 > allowed);
        let others = open.clone().count().saturating_sub(1);
        open.max_by_key(|(_, queue)| queue.longest)
            .map_or(QueueVerdict::Level, |(terminal, _)| QueueVerdict::Open { terminal, others })
    }

    fn time(&self) -> f64 {
        (self.now - self.start).max(Picoseconds(1)).0 as f64
    }
}

#[cfg(test)]
mod tests;
