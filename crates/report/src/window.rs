//! One window of a point as a row of `windows.csv`.

use serde::{Deserialize, Serialize};

use super::table::{Count, Given, Microseconds, Name, Nanoseconds, Number, Text, table};
use flitlab_base::units::Picoseconds;

/// The purpose of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WindowPhase {
    #[serde(rename = "warm-up")]
    WarmUp,
    #[default]
    #[serde(rename = "measured")]
    Measured,
}

table! {
    /// The counts of a window, of the whole network or of one workload, from the first of the warm-up
    /// on. `None` is an empty cell.
    pub struct WindowRow {
        /// What the window was for: `warm-up` or `measured`.
        phase: WindowPhase as Text<WindowPhase>, "phase", "phase", Label, usual;
        /// When it began.
        start: Picoseconds as Given<Microseconds>, "start_us", "start", Label, usual;
        /// When it ended.
        end: Picoseconds as Given<Microseconds>, "end_us", "end", Label, usual;
        /// Delivered flits, as a fraction of the fabric's capacity.
        accepted_load: Option<f64> as Number, "accepted_load", "accepted load", Throughput, usual;
        /// Mean latency of the packets delivered in the window.
        packet_latency_mean: Option<Picoseconds> as Nanoseconds, "packet_latency_mean_ns", "mean packet latency", Latency, usual;
        /// Flits created and not yet delivered at the window's end, source queues included.
        flits_under_way: Option<u64> as Count<u64>, "flits_under_way", "flits under way", Count, usual;
        /// Mean over the channels between routers, from what the packets delivered in the window
        /// have crossed.
        utilisation_mean: Option<f64> as Number, "utilisation_mean", "mean utilisation", Throughput, usual;
        /// Of the busiest channel, injection and ejection channels included, since the warm-up or
        /// the measurement began.
        utilisation_busiest: Option<f64> as Number, "utilisation_busiest", "busiest channel", Throughput, usual;
        /// The workload whose packets these are; empty for all packets.
        workload: Option<String> as Name, "workload", "workload", Label, usual;
        /// Packets delivered in the window.
        packets: Option<u64> as Count<u64>, "packets", "packets", Count, usual;
        /// Latency that 99% of the packets delivered in the window do not exceed; empty if these are
        /// fewer than a hundred, and in the warm-up of a load.
        packet_latency_p99: Option<Picoseconds> as Nanoseconds, "packet_latency_p99_ns", "99th percentile of packet latencies", Latency, usual;
        /// Packets injected and not yet delivered at the window's end, of all workloads.
        packets_under_way: Option<u64> as Count<u64>, "packets_under_way", "packets under way", Count, usual;
        /// Of the channel that carried flits for the longest time in the window, injection and
        /// ejection channels included.
        utilisation_fullest: Option<f64> as Number, "utilisation_fullest", "fullest channel of the window", Throughput, usual;
        /// The name of that channel.
        fullest_channel: Option<String> as Name, "fullest_channel", "name of the fullest channel", Label, usual;
    }
}
