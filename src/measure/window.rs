//! What a measurement saw window by window, from the first of the warm-up on.

use super::Phase;
use super::collector::Delivered;
use crate::units::Picoseconds;

/// One window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    pub phase: Phase,
    pub start: Picoseconds,
    pub end: Picoseconds,
    pub delivered: Delivered,
    /// Channels between routers that the delivered flits have crossed, in sum.
    pub flit_hops: u64,
    /// Flits created and not yet delivered at its end, source queues included.
    pub under_way: u64,
    /// Utilisation of the busiest channel of all kinds since the warm-up, or the measurement, began; `None`
    /// if there are more than [`MOST_CHANNELS`](super::MOST_CHANNELS).
    pub busiest_channel: Option<f64>,
}

impl Window {
    /// At least 1 ps.
    #[must_use]
    pub fn length(&self) -> Picoseconds {
        (self.end - self.start).max(1)
    }
}
