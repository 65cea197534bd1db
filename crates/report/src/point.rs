//! One load point, or one finite exchange, as a flat row of `points.csv`.

use serde::{Deserialize, Serialize};

use super::table::{
    Column, Count, Given, Hexadecimal, Microseconds, Nanoseconds, Number, OperationsOfAll,
    OperationsOfNode, RateOfAll, RateOfNode, RateOfSource, Text, table,
};
use flitlab_base::units::Picoseconds;

/// How the simulation of a point ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Status {
    /// The measurement is of a steady state.
    #[default]
    Steady,
    /// The flits under way grow for ever: the load is past saturation. Latencies depend on the
    /// simulated time.
    NotSteady,
    /// Too little was simulated to tell whether the load is steady: too few messages were received,
    /// or it is too near to saturation.
    Undecided,
    /// Packets wait for one another in a cycle.
    Deadlock,
    /// A finite workload ran to its end.
    Completed,
    /// Ranks of an application wait for what never comes.
    Stuck,
    /// Packets are sent for ever, and none arrives.
    Livelock,
    /// The rest of a finite workload happens later than the clock can tell.
    TooLong,
}

impl PointRow {
    /// Returns the offered load, as a fraction of capacity or, without one, as payload; `None` for
    /// finite exchanges.
    pub fn offered(&self) -> Option<f64> {
        self.offered_load.or(self.offered_payload)
    }

    /// Returns the accepted load, in the unit of [`offered`](Self::offered).
    pub fn accepted(&self) -> Option<f64> {
        self.accepted_load.or(self.accepted_payload)
    }

    /// The column of this name, if there is one.
    pub fn column(name: &str) -> Option<&'static Column<Self>> {
        Self::COLUMNS.iter().find(|column| column.name == name)
    }
}

impl Column<PointRow> {
    /// The value in a row, and half its confidence interval if the row has that.
    pub fn estimate(&self, row: &PointRow) -> Option<(f64, Option<f64>)> {
        let half = PointRow::column(&self.interval());
        let half = half.and_then(|column| (column.cell)(row).number());
        Some(((self.cell)(row).number()?, half))
    }
}

impl From<Status> for &'static str {
    fn from(status: Status) -> Self {
        status.name()
    }
}

impl TryFrom<String> for Status {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let named = Self::NAMES.iter().find(|row| row.1 == name);
        named.map(|row| row.0).ok_or_else(|| format!("`{name}` is no state of a point"))
    }
}

impl Status {
    /// In the order of the variants.
    const NAMES: [(Self, &'static str); 8] = [
        (Self::Steady, "steady"),
        (Self::NotSteady, "not steady"),
        (Self::Undecided, "undecided"),
        (Self::Deadlock, "deadlock"),
        (Self::Completed, "completed"),
        (Self::Stuck, "stuck"),
        (Self::Livelock, "livelock"),
        (Self::TooLong, "too long"),
    ];

    /// In files, and for people.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Returns whether the measurement is complete: of a steady state, or of a workload that ran to
    /// its end.
    pub fn is_good(self) -> bool {
        matches!(self, Self::Steady | Self::Completed)
    }

    /// Whether a load ran on without being shown to be steady.
    pub fn lacks_steady_state(self) -> bool {
        matches!(self, Self::NotSteady | Self::Undecided)
    }
}

table! {
    /// The measurements of one load point, or of one finite exchange.
    ///
    /// Times are picoseconds here and nanoseconds or microseconds in the file, as the header says;
    /// a mean is rounded to whole picoseconds. `None` is an empty cell: the value does not exist
    /// for this point. Loads are fractions of the fabric's capacity, rates are payload in GB/s
    /// (10^9 bytes a second); both are means over the nodes that send. A point that ended in a
    /// deadlock or a livelock has neither latencies nor accepted loads.
    pub struct PointRow {
        /// How its simulation ended: `steady`, `not steady`, `undecided`, `deadlock`, `completed`,
        /// `stuck`, `livelock` or `too long`.
        status: Status as Text<Status>, "status", "state", Label, usual;
        /// Offered flits as a fraction of the fabric's capacity.
        offered_load: Option<f64> as Number, "offered_load", "offered load", Load, usual;
        /// Offered payload of a node that sends.
        offered_payload: Option<f64> as RateOfNode, "offered_payload_GB_per_s_per_node", "offered payload", Load, more;
        /// What load 1 is: flits of a node that sends, those of headers included.
        capacity: Option<f64> as RateOfNode, "capacity_GB_per_s_per_node", "capacity", Label, more;
        /// Delivered flits as a fraction of the fabric's capacity.
        accepted_load: Option<f64> as Number, "accepted_load", "accepted load", Throughput, usual;
        /// Half width of the 95% confidence interval of the accepted load.
        accepted_load_ci95: Option<f64> as Number, "accepted_load_ci95", "accepted load, \u{b1} (95%)", Interval, more;
        /// Delivered payload of a node that sends.
        accepted_payload: Option<f64> as RateOfNode, "accepted_payload_GB_per_s_per_node", "accepted payload", Throughput, more;
        /// The payload of the source that got the least through.
        accepted_minimum_source: Option<f64> as RateOfSource, "accepted_minimum_source_GB_per_s", "least served source", Throughput, more;
        /// Jain's fairness index of the sources' accepted payload: 1 if all are equal.
        jain_fairness: Option<f64> as Number, "jain_fairness", "Jain fairness", Throughput, more;
        /// Packets in the measured windows.
        packets: Option<u64> as Count<u64>, "packets", "packets", Count, more;
        /// Packets' latency, from a packet's creation to its last flit at the sink: the mean.
        packet_latency_mean: Option<Picoseconds> as Nanoseconds, "packet_latency_mean_ns", "mean packet latency", Latency, usual;
        /// Half width of the 95% confidence interval of the mean packet latency.
        packet_latency_mean_ci95: Option<Picoseconds> as Nanoseconds, "packet_latency_mean_ci95_ns", "\u{b1} (95%)", Interval, usual;
        /// The latency that half of the packets do not exceed.
        packet_latency_p50: Option<Picoseconds> as Nanoseconds, "packet_latency_p50_ns", "packet latency p50", Latency, usual;
        /// The latency that 95% of the packets do not exceed.
        packet_latency_p95: Option<Picoseconds> as Nanoseconds, "packet_latency_p95_ns", "packet latency p95", Latency, more;
        /// The latency that 99% of the packets do not exceed.
        packet_latency_p99: Option<Picoseconds> as Nanoseconds, "packet_latency_p99_ns", "packet latency p99", Latency, usual;
        /// The latency that 99.9% of the packets do not exceed.
        packet_latency_p999: Option<Picoseconds> as Nanoseconds, "packet_latency_p999_ns", "packet latency p99.9", Latency, more;
        /// The latency of the slowest packet.
        packet_latency_max: Option<Picoseconds> as Nanoseconds, "packet_latency_max_ns", "packet latency maximum", Latency, usual;
        /// Mean time from the header's injection to the last flit at the sink.
        network_latency_mean: Option<Picoseconds> as Nanoseconds, "network_latency_mean_ns", "mean latency from injection", Latency, more;
        /// Messages' latency, from a message's creation until all of it is received, both overheads
        /// included: the mean. Of a read, or another operation that is answered, until the response
        /// is received.
        message_latency_mean: Option<Picoseconds> as Nanoseconds, "message_latency_mean_ns", "mean message latency", Latency, more;
        /// The latency that half of the messages do not exceed.
        message_latency_p50: Option<Picoseconds> as Nanoseconds, "message_latency_p50_ns", "message latency p50", Latency, more;
        /// The latency that 95% of the messages do not exceed.
        message_latency_p95: Option<Picoseconds> as Nanoseconds, "message_latency_p95_ns", "message latency p95", Latency, more;
        /// The latency that 99% of the messages do not exceed.
        message_latency_p99: Option<Picoseconds> as Nanoseconds, "message_latency_p99_ns", "message latency p99", Latency, more;
        /// The latency that 99.9% of the messages do not exceed.
        message_latency_p999: Option<Picoseconds> as Nanoseconds, "message_latency_p999_ns", "message latency p99.9", Latency, more;
        /// The latency of the slowest message.
        message_latency_max: Option<Picoseconds> as Nanoseconds, "message_latency_max_ns", "message latency maximum", Latency, more;
        /// Channels between routers that a packet crosses in the mean.
        hops_mean: Option<f64> as Number, "hops_mean", "mean hops", Throughput, usual;
        /// Share of packets led off the shortest ways, through an intermediate node just outside
        /// them. Of routings that may only.
        derouted_outflank: Option<f64> as Number, "derouted_outflank", "derouted by outflank nodes", Throughput, more;
        /// Share of packets led through an intermediate node on the other side of rings.
        derouted_wraparound: Option<f64> as Number, "derouted_wraparound", "derouted by wraparound nodes", Throughput, more;
        /// Share of packets led off the shortest ways into another orthant.
        derouted_orthant: Option<f64> as Number, "derouted_orthant", "derouted into other orthants", Throughput, more;
        /// Share of packets that left the minimal ways at their source's switch: by a rule with
        /// phases, or on a torus by way of a node that is drawn.
        derouted_at_source: Option<f64> as Number, "derouted_at_source", "derouted at the source", Throughput, more;
        /// Share of packets that left the minimal ways at a later switch, by a rule with phases.
        derouted_on_the_way: Option<f64> as Number, "derouted_on_the_way", "derouted on the way", Throughput, more;
        /// Share of packets that were overtaken: one of the same source and destination that was
        /// sent later came before them. With `measure.order`.
        overtaken: Option<f64> as Number, "overtaken", "overtaken packets", Throughput, more;
        /// The most packets of a source and a destination that had come at a time before one that
        /// was sent earlier: what a sink has to keep that gives them on in order.
        reorder_buffer: Option<u64> as Count<u64>, "reorder_buffer_packets", "packets kept for order", Throughput, more;
        /// Finite workloads: from the start to the last message's receipt, or the end of the last
        /// operation; of collective operations from the key `start` on.
        completion_time: Option<Picoseconds> as Microseconds, "completion_time_us", "completion time", Completion, usual;
        /// Finite workloads: payload received by a node that sends over the completion time; of
        /// collective operations that of a node's operands, of remote memory operations what a node
        /// has put, got or changed.
        bandwidth: Option<f64> as RateOfNode, "bandwidth_GB_per_s_per_node", "bandwidth", Completion, usual;
        /// Remote memory operations: what all nodes have put, got or changed over the completion
        /// time; of two that put into each other's memory the bandwidth both ways.
        bandwidth_total: Option<f64> as RateOfAll, "bandwidth_total_GB_per_s", "total bandwidth", Completion, more;
        /// Remote memory operations: how many a second a node has done that does any.
        operation_rate: Option<f64> as OperationsOfNode, "operation_rate_million_per_s_per_node", "operation rate", Completion, usual;
        /// Remote memory operations: how many a second have been done in all.
        operation_rate_total: Option<f64> as OperationsOfAll, "operation_rate_total_million_per_s", "total operation rate", Completion, more;
        /// Applications: what of the critical path went into computing.
        path_compute: Option<Picoseconds> as Microseconds, "path_compute_us", "critical path: compute", Completion, more;
        /// Applications: what of the critical path went into hosts' overheads.
        path_host: Option<Picoseconds> as Microseconds, "path_host_us", "critical path: host overhead", Completion, more;
        /// Applications: what of the critical path went into waiting for partners.
        path_partner: Option<Picoseconds> as Microseconds, "path_partner_us", "critical path: waiting for a partner", Completion, more;
        /// Applications: what of the critical path went into messages that wait in their adapters
        /// for others to be sent.
        path_injection: Option<Picoseconds> as Microseconds, "path_injection_us", "critical path: injection", Completion, more;
        /// Applications: what of the critical path went into messages that wait in the network, or
        /// in their adapters for room in it.
        path_queueing: Option<Picoseconds> as Microseconds, "path_queueing_us", "critical path: queueing", Completion, more;
        /// Applications: what of the critical path went into messages that cross the network
        /// unhindered.
        path_flight: Option<Picoseconds> as Microseconds, "path_flight_us", "critical path: flight", Completion, more;
        /// Applications: what of a rank's time went into computing, a mean over ranks.
        ranks_compute: Option<Picoseconds> as Microseconds, "ranks_compute_us", "ranks: compute", Completion, more;
        /// Applications: what of a rank's time went into hosts' overheads, a mean over ranks.
        ranks_host: Option<Picoseconds> as Microseconds, "ranks_host_us", "ranks: host overhead", Completion, more;
        /// Applications: what of a rank's time went into waiting for partners, a mean over ranks.
        ranks_partner: Option<Picoseconds> as Microseconds, "ranks_partner_us", "ranks: waiting for a partner", Completion, more;
        /// Applications: what of a rank's time went into messages that wait in their adapters for
        /// others to be sent, a mean over ranks.
        ranks_injection: Option<Picoseconds> as Microseconds, "ranks_injection_us", "ranks: injection", Completion, more;
        /// Applications: what of a rank's time went into messages that wait in the network, or in
        /// their adapters for room in it, a mean over ranks.
        ranks_queueing: Option<Picoseconds> as Microseconds, "ranks_queueing_us", "ranks: queueing", Completion, more;
        /// Applications: what of a rank's time went into messages that cross the network
        /// unhindered, a mean over ranks.
        ranks_flight: Option<Picoseconds> as Microseconds, "ranks_flight_us", "ranks: flight", Completion, more;
        /// How much was simulated in all.
        simulated_time: Option<Picoseconds> as Microseconds, "simulated_time_us", "simulated time", Count, more;
        /// How long was waited for a steady state before measuring; of collective operations with a
        /// load beside them, for the first one to begin.
        warm_up: Option<Picoseconds> as Microseconds, "warm_up_us", "warm-up", Count, more;
        /// Windows measured after the warm-up.
        windows: Option<u32> as Count<u32>, "windows", "windows", Count, more;
        /// Independent windows that would tell the mean packet latency as exactly. With fewer than
        /// ten its confidence interval can't be relied on.
        effective_windows: Option<f64> as Number, "effective_windows", "effective windows", Count, more;
        /// Channels granted to packets, those of terminals included (until results version 5,
        /// events of all kinds).
        events: u64 as Given<Count<u64>>, "events", "events", Count, more;
        /// Digest of all grants: equal for equal runs.
        digest: Option<u64> as Hexadecimal, "digest", "digest", Count, more;
        /// Nodes of the network, the failed ones not counted.
        nodes: Option<u32> as Count<u32>, "nodes", "nodes", Label, more;
        /// Where links err: sendings of packets between routers that were damaged, as a share of
        /// them and of the hops of packets that came, warm-up included. Where links are shared flit
        /// by flit, the same of flits.
        damaged_packets: Option<f64> as Number, "damaged_packets", "damaged packets", Throughput, usual;
        /// Where links err: flits that were sent again between routers, over the flits of packets
        /// that came times their hops, warm-up included.
        resent_flits: Option<f64> as Number, "resent_flits", "flits sent again", Throughput, usual;
        /// Where something failed during operation: packets cut or swallowed. Where routers drop
        /// packets: those dropped since the start.
        packets_lost: Option<u64> as Count<u64>, "packets_lost", "packets lost", Completion, usual;
        /// Where something failed during operation, or routers drop packets: messages that are not
        /// received for it, those of failed nodes included.
        messages_lost: Option<u64> as Count<u64>, "messages_lost", "messages lost", Completion, more;
        /// From the failure until sources went on with new tables; of several failures from the
        /// first one, until tables knew of all.
        interruption: Option<Picoseconds> as Microseconds, "interruption_us", "interruption", Completion, usual;
        /// From the failure, of several the first one, until after that no more was under way than
        /// before.
        recovery: Option<Picoseconds> as Microseconds, "recovery_us", "recovery", Completion, usual;
    }
}
