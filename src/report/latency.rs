//! The distribution of a point's packet latencies as rows of `latencies.csv`.

use serde::{Deserialize, Serialize};

use super::columns::{fraction, time};
use crate::measure::Quantile;
use crate::units::Picoseconds;

/// A step of the distribution function: this share of the packets took at most this long. A point has at
/// most 137 of them, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyRow {
    /// As in the point's row.
    pub series: String,
    /// The point's number, as in its row.
    pub point: u32,
    /// From a packet's creation to its last flit at the sink.
    #[serde(rename = "packet_latency_ns", with = "time::nanoseconds")]
    pub packet_latency: Picoseconds,
    /// Share of the packets that took no longer.
    #[serde(with = "fraction")]
    pub share: f64,
}

impl LatencyRow {
    /// The row of a step of a measurement.
    #[must_use]
    pub fn new(series: &str, point: u32, quantile: &Quantile) -> Self {
        Self {
            series: series.to_owned(),
            point,
            packet_latency: quantile.value,
            share: quantile.share,
        }
    }
}
