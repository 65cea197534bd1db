//! The distribution of a point's packet latencies as rows of `latencies.csv`.

use super::table::{Given, Nanoseconds, Number, table};
use flitlab_base::units::Picoseconds;
use flitlab_model::Quantile;

table! {
    /// A step of the distribution function: this share of the packets took at most this long. A
    /// point has at most 137 of them, in ascending order.
    pub struct LatencyRow {
        /// From a packet's creation to its last flit at the sink.
        packet_latency: Picoseconds as Given<Nanoseconds>, "packet_latency_ns", "packet latency", Latency, usual;
        /// Share of the packets that took no longer.
        share: f64 as Given<Number>, "share", "share of packets", Throughput, usual;
    }
}

impl LatencyRow {
    /// The row of a step of a measurement.
    pub fn new(quantile: &Quantile) -> Self {
        Self { packet_latency: quantile.value, share: quantile.share }
    }
}
