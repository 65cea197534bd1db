//! The streams of all ranks and what they have to do.

use serde::{Deserialize, Serialize};

use super::record::JobKind;
use flitlab_application::{Line, Lines};
use flitlab_base::prefetch::prefetch;
use flitlab_base::units::Picoseconds;

/// A task of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Task {
    pub kind: JobKind,
    /// Whether the message to be taken lies in memory already.
    pub is_copy: bool,
    /// How many entries of a queue were examined until the message and its receipt were matched.
    pub examined: u32,
    pub operation: u32,
    /// See [`Job::cause`](super::Job::cause).
    pub cause: u32,
    pub ready: Picoseconds,
}

impl Task {
    /// Returns the task of beginning an operation.
    #[inline]
    pub(super) fn begin(operation: u32, cause: u32, ready: Picoseconds) -> Self {
        Self::of(JobKind::Begin, operation, cause, ready)
    }

    /// Returns a task for which nothing is examined or copied.
    #[inline]
    pub(super) fn of(kind: JobKind, operation: u32, cause: u32, ready: Picoseconds) -> Self {
        Self { kind, is_copy: false, examined: 0, operation, cause, ready }
    }
}

/// A stream of a rank: it does one thing at a time, first come first served.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Stream {
    pub rank: u32,
    /// Whether it waits for its terminal's adapter.
    pub is_held: bool,
    tasks: Line,
    /// The current task, and since when it runs.
    pub running: Option<(Task, Picoseconds)>,
}

/// All streams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    tasks: Lines<Task>,
    /// Streams that may have something to do, in the order in which they are looked at. Empty
    /// between events.
    #[serde(skip)]
    runnable: Vec<u32>,
    #[serde(skip)]
    looked_at: usize,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self { streams: Vec::new(), tasks: Lines::default(), runnable: Vec::new(), looked_at: 0 }
    }

    /// A rank gets so many idle streams.
    pub(super) fn grow(&mut self, rank: u32, by: usize) {
        let stream = Stream { rank, is_held: false, tasks: Line::EMPTY, running: None };
        self.streams.resize(self.streams.len() + by, stream);
    }

    pub(super) fn count(&self) -> usize {
        self.streams.len()
    }

    #[inline]
    pub(super) fn at(&mut self, stream: u32) -> &mut Stream {
        &mut self.streams[stream as usize]
    }

    /// Has a stream's memory fetched.
    #[inline]
    pub(super) fn prefetch(&self, stream: u32) {
        prefetch(&self.streams[stream as usize]);
    }

    /// Gives a stream something to do when it is done with all else.
    #[inline]
    pub(super) fn add(&mut self, stream: u32, task: Task) {
        self.tasks.push_back(&mut self.streams[stream as usize].tasks, task);
        self.runnable.push(stream);
    }

    /// A stream may go on.
    #[inline]
    pub(super) fn go_on(&mut self, stream: u32) {
        self.runnable.push(stream);
    }

    /// The next stream that may go on.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u32> {
        let next = self.runnable.get(self.looked_at).copied();
        self.looked_at += 1;
        if next.is_none() {
            self.runnable.clear();
            self.looked_at = 0;
        }
        next
    }

    /// Returns the next task of a stream if it is idle; the task stays in its queue.
    #[inline]
    pub(super) fn first_task(&self, stream: u32) -> Option<Task> {
        let stream = &self.streams[stream as usize];
        let is_idle = stream.running.is_none() && !stream.is_held;
        if is_idle { self.tasks.first(stream.tasks) } else { None }
    }

    /// Whether a stream has anything to do behind what it is busy with.
    #[inline]
    pub(super) fn has_task(&self, stream: u32) -> bool {
        !self.streams[stream as usize].tasks.is_empty()
    }

    /// Takes off its line what a stream is to do next.
    #[inline]
    pub(super) fn take_task(&mut self, stream: u32) {
        self.tasks.pop_front(&mut self.streams[stream as usize].tasks);
    }

    pub(super) fn memory(&self) -> usize {
        self.streams.len() * size_of::<Stream>() + self.tasks.memory()
    }
}
