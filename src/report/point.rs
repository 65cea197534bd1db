//! One load point, or one finite exchange, as a flat row of `points.csv`.

use serde::{Deserialize, Serialize};

use super::columns::{hexadecimal, microseconds, nanoseconds, optional};
use crate::units::Picoseconds;

/// How the simulation of a point ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Status {
    /// The measurement is of a steady state.
    #[default]
    #[serde(rename = "steady")]
    Steady,
    /// What is under way grows for ever: past saturation. Latencies depend on how long was simulated.
    #[serde(rename = "not steady")]
    NotSteady,
    /// Too little was simulated to tell whether the load is steady: too few messages were received, or it
    /// is too near to saturation.
    #[serde(rename = "undecided")]
    Undecided,
    /// Packets wait for one another in a cycle.
    #[serde(rename = "deadlock")]
    Deadlock,
    /// A finite workload ran to its end.
    #[serde(rename = "completed")]
    Completed,
}

impl Status {
    /// Whether a load ran on without being shown to be steady.
    #[must_use]
    pub fn lacks_steady_state(self) -> bool {
        matches!(self, Self::NotSteady | Self::Undecided)
    }
}

/// What was measured at one load point of one series, or in one finite exchange.
///
/// Times are picoseconds here and nanoseconds or microseconds in the file, as the header says; a mean
/// is rounded to whole picoseconds. `None` is an empty cell: the value does not exist for this point.
/// Loads are fractions of the fabric's capacity, rates are payload in GB/s (10^9 bytes a second); both are
/// means over the nodes that send. A point that ended in a deadlock has neither latencies nor accepted loads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointRow {
    /// What the point's curve is called in a legend; may be empty.
    pub series: String,
    /// What the figure is called that its curve is drawn in; empty if all curves are in one. The series has
    /// it as one of its parts.
    pub figure: String,
    /// The point's number in its run or sweep, from 0; channels.csv refers to it.
    pub point: u32,
    pub seed: u64,
    pub status: Status,
    #[serde(with = "optional")]
    pub offered_load: Option<f64>,
    #[serde(rename = "offered_payload_GB_per_s_per_node", with = "optional")]
    pub offered_payload: Option<f64>,
    #[serde(with = "optional")]
    pub accepted_load: Option<f64>,
    #[serde(rename = "accepted_payload_GB_per_s_per_node", with = "optional")]
    pub accepted_payload: Option<f64>,
    /// The payload of the source that got the least through.
    #[serde(rename = "accepted_minimum_source_GB_per_s", with = "optional")]
    pub accepted_minimum_source: Option<f64>,
    /// Jain's fairness index of the sources' accepted payload: 1 if all are equal.
    #[serde(with = "optional")]
    pub jain_fairness: Option<f64>,
    /// Packets in the measured windows.
    pub packets: u64,
    /// From a packet's creation to its last flit at the sink.
    #[serde(rename = "packet_latency_mean_ns", with = "nanoseconds")]
    pub packet_latency_mean: Option<Picoseconds>,
    /// Half width of the 95% confidence interval of the mean.
    #[serde(rename = "packet_latency_mean_ci95_ns", with = "nanoseconds")]
    pub packet_latency_mean_ci95: Option<Picoseconds>,
    #[serde(rename = "packet_latency_p50_ns", with = "nanoseconds")]
    pub packet_latency_p50: Option<Picoseconds>,
    #[serde(rename = "packet_latency_p95_ns", with = "nanoseconds")]
    pub packet_latency_p95: Option<Picoseconds>,
    #[serde(rename = "packet_latency_p99_ns", with = "nanoseconds")]
    pub packet_latency_p99: Option<Picoseconds>,
    #[serde(rename = "packet_latency_p999_ns", with = "nanoseconds")]
    pub packet_latency_p999: Option<Picoseconds>,
    #[serde(rename = "packet_latency_max_ns", with = "nanoseconds")]
    pub packet_latency_max: Option<Picoseconds>,
    /// From the header's injection to the last flit at the sink.
    #[serde(rename = "network_latency_mean_ns", with = "nanoseconds")]
    pub network_latency_mean: Option<Picoseconds>,
    #[serde(rename = "message_latency_mean_ns", with = "nanoseconds")]
    pub message_latency_mean: Option<Picoseconds>,
    #[serde(rename = "message_latency_p50_ns", with = "nanoseconds")]
    pub message_latency_p50: Option<Picoseconds>,
    #[serde(rename = "message_latency_p95_ns", with = "nanoseconds")]
    pub message_latency_p95: Option<Picoseconds>,
    #[serde(rename = "message_latency_p99_ns", with = "nanoseconds")]
    pub message_latency_p99: Option<Picoseconds>,
    #[serde(rename = "message_latency_p999_ns", with = "nanoseconds")]
    pub message_latency_p999: Option<Picoseconds>,
    #[serde(rename = "message_latency_max_ns", with = "nanoseconds")]
    pub message_latency_max: Option<Picoseconds>,
    /// Channels between routers that a packet crosses.
    #[serde(with = "optional")]
    pub hops_mean: Option<f64>,
    /// Shares of packets led off the shortest ways: through an intermediate node just outside them,
    /// through one on the other side of rings, in another orthant. Of routings that may only.
    #[serde(with = "optional")]
    pub derouted_outflank: Option<f64>,
    #[serde(with = "optional")]
    pub derouted_wraparound: Option<f64>,
    #[serde(with = "optional")]
    pub derouted_orthant: Option<f64>,
    /// Finite exchanges: from the start to the last message's receipt.
    #[serde(rename = "completion_time_us", with = "microseconds")]
    pub completion_time: Option<Picoseconds>,
    /// Finite exchanges: payload received by a node over the completion time.
    #[serde(rename = "bandwidth_GB_per_s_per_node", with = "optional")]
    pub bandwidth: Option<f64>,
    #[serde(rename = "simulated_time_us", with = "microseconds")]
    pub simulated_time: Option<Picoseconds>,
    #[serde(rename = "warm_up_us", with = "microseconds")]
    pub warm_up: Option<Picoseconds>,
    /// Windows measured after the warm-up.
    pub windows: u32,
    /// Channels granted to packets, those of terminals included (until results version 5, events of all kinds).
    pub events: u64,
    /// Digest of the event stream: equal for equal runs.
    #[serde(with = "hexadecimal")]
    pub digest: Option<u64>,
    /// Nodes of the network, the failed ones not counted.
    #[serde(default)]
    pub nodes: Option<u32>,
    /// Where something failed during operation: packets cut or swallowed, and messages that are not received
    /// for it, those of failed nodes included.
    #[serde(default)]
    pub packets_lost: Option<u64>,
    #[serde(default)]
    pub messages_lost: Option<u64>,
    /// From the failure until sources went on with new tables, and until no more was under way than before.
    #[serde(rename = "interruption_us", default, with = "microseconds")]
    pub interruption: Option<Picoseconds>,
    #[serde(rename = "recovery_us", default, with = "microseconds")]
    pub recovery: Option<Picoseconds>,
    /// Keys of the sweep's grid, and the values that this point has: `traffic.pattern = uniform; ...`.
    #[serde(default)]
    pub settings: String,
}
