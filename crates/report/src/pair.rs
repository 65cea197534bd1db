//! Latencies by the nodes that send and receive, as rows of `pairs.csv`.

use super::table::{Count, Given, Nanoseconds, Text, table};
use flitlab_base::units::Picoseconds;

table! {
    /// The latencies of the packets from one node, to one, or from one to another.
    pub struct PairRow {
        /// The node that sends; empty for all.
        source: String as Text<String>, "source", "source", Label, usual;
        /// The node that receives; empty for all.
        destination: String as Text<String>, "destination", "destination", Label, usual;
        /// Packets that were delivered.
        packets: u64 as Given<Count<u64>>, "packets", "packets", Count, usual;
        /// Mean of their latencies, from a packet's creation to its last flit at the sink.
        packet_latency_mean: Picoseconds as Given<Nanoseconds>, "packet_latency_mean_ns", "mean packet latency", Latency, usual;
        /// The longest of them.
        packet_latency_max: Picoseconds as Given<Nanoseconds>, "packet_latency_max_ns", "longest packet latency", Latency, usual;
    }
}
