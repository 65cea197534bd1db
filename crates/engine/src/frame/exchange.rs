//! The exchange of data between the parts of a network, and thus between threads.
//!
//! A thread exchanges its part's outgoing data once a window. The two sets of boxes alternate:
//! while a slow thread still empties the boxes of the last window, a fast one may fill those of the
//! next. The frame owns the [`Exchange`]; a part's hosts and its routers own their outgoing data.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::frame::tick::Tick;

/// Data of which the frame knows when its first effect happens.
pub(crate) trait HasEarliest: Default + Send {
    /// A lower bound of the times at which it has an effect.
    fn earliest(&self) -> Tick;
}

/// Boxes for outgoing data from each part to each other part, in two sets.
#[derive(Debug)]
pub(crate) struct Exchange<L> {
    parts: usize,
    boxes: Vec<Mutex<L>>,
}

impl<L: HasEarliest> Exchange<L> {
    pub(crate) fn new(parts: usize) -> Self {
        Self { parts, boxes: (0..2 * parts * parts).map(|_| Mutex::default()).collect() }
    }

    /// The box for what a part sends another one in a window.
    pub(crate) fn open(&self, window: usize, from: usize, to: usize) -> MutexGuard<'_, L> {
        let place = (window % 2 * self.parts + from) * self.parts + to;
        // Only a thread that has panicked leaves a lock poisoned, and then all threads stop.
        self.boxes[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
