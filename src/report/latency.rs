//! The distribution of a point's packet latencies as rows of `latencies.csv`.

use super::table::{Count, Given, Nanoseconds, Number, Text, table};
use crate::measure::Quantile;
use crate::units::Picoseconds;

table! {
    /// A step of the distribution function: this share of the packets took at most this long. A point has at
    /// most 137 of them, in ascending order.
    pub struct LatencyRow {
        /// As in the point's row.
        series: String as Text<String>, "series", "series", Label, usual;
        /// The point's number, as in its row.
        point: u32 as Given<Count<u32>>, "point", "point", Label, more;
        /// From a packet's creation to its last flit at the sink.
        packet_latency: Picoseconds as Given<Nanoseconds>, "packet_latency_ns", "packet latency", Latency, usual;
        /// Share of the packets that took no longer.
        share: f64 as Given<Number>, "share", "share of packets", Throughput, usual;
    }
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
