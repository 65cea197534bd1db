//! The history of a measurement window by window, from the first of the warm-up on.

use serde::{Deserialize, Serialize};

use super::Phase;
use super::collector::Delivered;
use flitlab_base::units::Picoseconds;

/// Fewest packets of which a 99th percentile is told: of fewer it would be the longest latency.
pub const ENOUGH_PACKETS: u64 = 100;

/// One window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// The phase of the measurement that it belongs to.
    pub phase: Phase,
    /// Simulated time of its start.
    pub start: Picoseconds,
    /// Simulated time of its end.
    pub end: Picoseconds,
    /// Deliveries in the window.
    pub delivered: Delivered,
    /// The 99th percentile of the latencies of packets. `None` of fewer than [`ENOUGH_PACKETS`],
    /// and in the warm-up of a load, where latencies are not recorded.
    pub latency_p99: Option<Picoseconds>,
    /// Fraction of it in which a channel between routers carried a flit, mean over the channels.
    pub mean_utilisation: f64,
    /// The channel of all kinds that carried flits for the longest time in the window.
    pub fullest: Option<FullestChannel>,
    /// Flits created and not yet delivered at its end, source queues included.
    pub under_way: u64,
    /// Packets injected and not yet delivered at its end.
    pub packets_under_way: u64,
    /// Utilisation of the busiest channel of all kinds since the warm-up, or the measurement,
    /// began.
    pub busiest_channel: f64,
    /// By class, if there are several workloads; empty in the warm-up of a load.
    pub classes: Vec<ClassWindow>,
}

/// The fullest channel of a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FullestChannel {
    /// Its place in the order of [`Engine::channels`](flitlab_engine::Engine::channels); the first one of
    /// equally full ones.
    pub place: u32,
    /// Fraction of the window in which it carried a flit.
    pub utilisation: f64,
}

/// One class of traffic in a window.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassWindow {
    /// Deliveries in the window.
    pub delivered: Delivered,
    /// The 99th percentile of the latencies of packets; `None` of fewer than [`ENOUGH_PACKETS`].
    pub latency_p99: Option<Picoseconds>,
    /// Flits created and not yet delivered at its end, source queues included; `None` for
    /// collective operations, whose packets routers copy and combine.
    pub under_way: Option<u64>,
}

impl Window {
    /// At least 1 ps.
    pub fn length(&self) -> Picoseconds {
        (self.end - self.start).max(Picoseconds(1))
    }
}
