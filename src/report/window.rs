//! One window of a load point as a row of `windows.csv`.

use serde::{Deserialize, Serialize};

use super::columns::{nanoseconds, optional, time};
use crate::units::Picoseconds;

/// What a window was for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WindowPhase {
    #[serde(rename = "warm-up")]
    WarmUp,
    #[default]
    #[serde(rename = "measured")]
    Measured,
}

/// What happened in a window, from the first of the warm-up on. `None` is an empty cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowRow {
    /// As in the point's row.
    pub series: String,
    /// The point's number, as in its row.
    pub point: u32,
    pub phase: WindowPhase,
    #[serde(rename = "start_us", with = "time::microseconds")]
    pub start: Picoseconds,
    #[serde(rename = "end_us", with = "time::microseconds")]
    pub end: Picoseconds,
    /// Delivered flits, as a fraction of the fabric's capacity.
    #[serde(with = "optional")]
    pub accepted_load: Option<f64>,
    /// Of the packets delivered in the window.
    #[serde(rename = "packet_latency_mean_ns", with = "nanoseconds")]
    pub packet_latency_mean: Option<Picoseconds>,
    /// Flits created and not yet delivered at the window's end, source queues included.
    pub flits_under_way: u64,
    /// Mean over the channels between routers, from what the packets delivered in the window have crossed.
    #[serde(with = "optional")]
    pub utilisation_mean: Option<f64>,
    /// Of the busiest channel, injection and ejection channels included, since the warm-up or the
    /// measurement began.
    #[serde(with = "optional")]
    pub utilisation_busiest: Option<f64>,
}
