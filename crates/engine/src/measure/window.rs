//! The history of a measurement window by window, from the first of the warm-up on.

use serde::{Deserialize, Serialize};

use super::Phase;
use super::collector::Delivered;
use flitlab_base::units::Picoseconds;

/// One window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The phase of the measurement that it belongs to.
    pub phase: Phase,
    /// Simulated time of its start.
    pub start: Picoseconds,
    /// Simulated time of its end.
    pub end: Picoseconds,
    /// Deliveries in the window.
    pub delivered: Delivered,
    /// Fraction of it in which a channel between routers carried a flit, mean over the channels.
    pub mean_utilisation: f64,
    /// Flits created and not yet delivered at its end, source queues included.
    pub under_way: u64,
    /// Utilisation of the busiest channel of all kinds since the warm-up, or the measurement,
    /// began.
    pub busiest_channel: f64,
}

impl Window {
    /// At least 1 ps.
    pub fn length(&self) -> Picoseconds {
        (self.end - self.start).max(Picoseconds(1))
    }
}
