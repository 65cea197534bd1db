//! Whether anything grows without bound: each terminal's source queue, and all of them together.
//!
//! Buffers bound what is in the network, so what a network can't carry piles up in source queues,
//! and perhaps in a few of thousands. What is in the network itself may grow for long while buffers
//! fill, and says nothing of the load. Each queue is looked at by itself, at the end of every
//! window.
//!
//! **It grows** if both hold:
//!
//! - The mean of its increments from window to window is above 0 by Student's t test, at a level
//!   that keeps the error over all queues of a network together below [`ERROR`] (Bonferroni's
//!   inequality). The test is made for a queue at its very capacity, whose length is a random walk.
//!   A queue with room to spare returns again and again, so that its increments cancel: it fails the
//!   test far more seldom. Increments that resemble their neighbours tell less, as means of windows
//!   do.
//! - It grew in the later half of the time at [`LASTING`] times its earlier rate, or more. A queue
//!   that gets more than it can send grows for ever at one rate. One that fills up to its level
//!   grows less and less: with the square root of time at the very most.
//!
//! **It is level** if the longest time for which it had something waiting, without a break, is at
//! most a share of the time measured ([`MAX_STRETCH`]). A queue that gets more than it can send
//! doesn't run empty any more after its first while; one at its very capacity does, at ever longer
//! intervals, of which the longest takes most of the time.
//!
//! A queue that fits neither is **open**: its load is nearer to capacity than the time measured can
//! resolve.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;
use flitlab_engine::Backlog;
use flitlab_model::interval::{correlation_factor, upper_tail};

/// The probability with which one of a network's queues is said to grow, all of which are at
/// capacity and none above it.
pub const ERROR: f64 = 0.01;

/// A level queue runs empty so often that no stretch without takes more than this share of the time
/// measured.
pub const MAX_STRETCH: f64 = 0.2;

/// A queue that grows for ever does so in the later half of a time at this share of its rate in the
/// earlier half, or more. A square root's share is 0.41.
pub const LASTING: f64 = 0.7;

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
    /// All queues together have grown, but less and less.
    Filling,
}

/// A queue since the measurement began.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Queue {
    first: u64,
    latest: u64,
    /// Its length at the two marks.
    marks: [u64; 2],
    /// The latest increment.
    increment: f64,
    /// Sum of the increments' squares, and of the products of neighbours.
    squares: f64,
    products: f64,
    /// The longest stretch seen without running empty.
    longest: Picoseconds,
}

impl Queue {
    fn new(flits: u64) -> Self {
        Self { first: flits, latest: flits, marks: [flits; 2], ..Self::default() }
    }

    fn note(&mut self, flits: u64) {
        let increment = flits as f64 - self.latest as f64;
        self.squares += increment * increment;
        self.products += increment * self.increment;
        self.increment = increment;
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
        let mean = grown / count;
        let squares = (self.squares - grown * mean).max(0.0);
        let products = self.products - (count - 1.0) * mean * mean;
        let factor =
            if squares > 0.0 { correlation_factor(products / squares, count) } else { 1.0 };
        let deviation = (squares / (count - 1.0) * factor * count).sqrt();
        let t = if deviation > 0.0 { grown / deviation } else { f64::INFINITY };
        upper_tail(t, windows as usize - 1)
    }

    /// Whether it grew after a mark, `early` windows from the first and `late` from the last, nearly
    /// as fast as before.
    fn lasts(&self, mark: usize, early: u32, late: u32) -> bool {
        let middle = self.marks[mark] as f64;
        let before = (middle - self.first as f64) / f64::from(early.max(1));
        let after = (self.latest as f64 - middle) / f64::from(late.max(1));
        after > 0.0 && after >= LASTING * before
    }
}

/// The source queues of all terminals, while it is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Growth {
    queues: Vec<Queue>,
    all: Queue,
    start: Picoseconds,
    now: Picoseconds,
    windows: u32,
    /// After how many windows the queues were marked: of two times, the nearer to the middle counts.
    marks: [u32; 2],
}

impl Growth {
    /// From `now` on, when this waits at each terminal.
    pub fn new(now: Picoseconds, backlogs: impl IntoIterator<Item = Backlog>) -> Self {
        let queues: Vec<Queue> =
            backlogs.into_iter().map(|backlog| Queue::new(backlog.flits)).collect();
        let all = Queue::new(queues.iter().map(|queue| queue.first).sum());
        Self { queues, all, start: now, now, windows: 0, marks: [0; 2] }
    }

    /// Notes the state of the queues at the end of a window.
    pub fn note(&mut self, now: Picoseconds, backlogs: impl IntoIterator<Item = Backlog>) {
        self.now = now;
        self.windows += 1;
        let mut all = 0;
        for (queue, Backlog { flits, since }) in self.queues.iter_mut().zip(backlogs) {
            all += flits;
            queue.note(flits);
            if flits > 0 {
                queue.longest = queue.longest.max(now - since);
            }
        }
        self.all.note(all);
        // One of the two latest powers of two is near the middle.
        if self.windows.is_power_of_two() {
            self.marks = [self.marks[1], self.windows];
            for queue in self.queues.iter_mut().chain([&mut self.all]) {
                queue.marks = [queue.marks[1], queue.latest];
            }
        }
    }

    /// Growth of all queues, in flits a picosecond.
    pub fn rate(&self) -> f64 {
        self.all.grown() / self.time()
    }

    /// Returns the verdict so far. The sum of all queues counts as growing only above `tolerated`
    /// flits a picosecond.
    pub fn verdict(&self, tolerated: f64) -> QueueVerdict {
        let level = ERROR / (self.queues.len() as f64 + 1.0);
        let off_middle = |mark: &u32| (2 * mark).abs_diff(self.windows);
        let (mark, at) = if off_middle(&self.marks[0]) < off_middle(&self.marks[1]) {
            (0, self.marks[0])
        } else {
            (1, self.marks[1])
        };
        let grows = |queue: &Queue| queue.chance(self.windows) <= level;
        let lasts = |queue: &Queue| queue.lasts(mark, at, self.windows - at);
        let all = self.rate() > tolerated && grows(&self.all);
        if all && lasts(&self.all) {
            return QueueVerdict::Grows { terminal: None, rate: self.rate() };
        }
        let steepest = (0..)
            .zip(&self.queues)
            .filter(|(_, queue)| grows(queue) && lasts(queue))
            .max_by(|(_, one), (_, other)| one.grown().total_cmp(&other.grown()));
        if let Some((terminal, queue)) = steepest {
            let rate = queue.grown() / self.time();
            return QueueVerdict::Grows { terminal: Some(terminal), rate };
        }
        if all {
            return QueueVerdict::Filling;
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
