//! The measured values that can be compared.

use crate::report::{PointRow, Status};
use crate::units::Picoseconds;

use super::Estimate;

/// A measured value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    AcceptedLoad,
    JainFairness,
    PacketLatency,
    PacketLatencyP99,
    PacketLatencyMaximum,
    NetworkLatency,
    MessageLatency,
    MessageLatencyP99,
    Hops,
    CompletionTime,
    Bandwidth,
    /// Of a search for saturation, not of a point.
    SustainedLoad,
}

/// All measures of points.
pub const MEASURES: [Measure; 11] = [
    Measure::AcceptedLoad,
    Measure::JainFairness,
    Measure::PacketLatency,
    Measure::PacketLatencyP99,
    Measure::PacketLatencyMaximum,
    Measure::NetworkLatency,
    Measure::MessageLatency,
    Measure::MessageLatencyP99,
    Measure::Hops,
    Measure::CompletionTime,
    Measure::Bandwidth,
];

/// The measures of interest to most.
pub const USUAL_MEASURES: [Measure; 3] =
    [Measure::AcceptedLoad, Measure::PacketLatency, Measure::CompletionTime];

impl Measure {
    /// The name to type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AcceptedLoad => "accepted-load",
            Self::JainFairness => "jain-fairness",
            Self::PacketLatency => "packet-latency",
            Self::PacketLatencyP99 => "packet-latency-p99",
            Self::PacketLatencyMaximum => "packet-latency-max",
            Self::NetworkLatency => "network-latency",
            Self::MessageLatency => "message-latency",
            Self::MessageLatencyP99 => "message-latency-p99",
            Self::Hops => "hops",
            Self::CompletionTime => "completion-time",
            Self::Bandwidth => "bandwidth",
            Self::SustainedLoad => "sustained-load",
        }
    }

    /// What is measured, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::AcceptedLoad => "accepted load",
            Self::JainFairness => "Jain fairness",
            Self::PacketLatency => "packet latency, mean (ns)",
            Self::PacketLatencyP99 => "packet latency, p99 (ns)",
            Self::PacketLatencyMaximum => "packet latency, max (ns)",
            Self::NetworkLatency => "network latency, mean (ns)",
            Self::MessageLatency => "message latency, mean (ns)",
            Self::MessageLatencyP99 => "message latency, p99 (ns)",
            Self::Hops => "hops, mean",
            Self::CompletionTime => "completion time (us)",
            Self::Bandwidth => "bandwidth (GB/s a node)",
            Self::SustainedLoad => "highest sustained load",
        }
    }

    /// Decimals that are worth reading.
    #[must_use]
    pub fn decimals(self) -> usize {
        match self {
            Self::AcceptedLoad | Self::JainFairness | Self::SustainedLoad => 4,
            Self::Hops | Self::CompletionTime | Self::Bandwidth => 3,
            _ => 1,
        }
    }

    /// Whether it means something past saturation: a latency there grows with the time simulated.
    fn holds_past_saturation(self) -> bool {
        matches!(self, Self::AcceptedLoad | Self::JainFairness)
    }

    /// The mean over runs that differ in nothing but the seed; `None` if one has no such value.
    pub(super) fn of(self, runs: &[&PointRow]) -> Option<Estimate> {
        let values: Option<Vec<_>> = runs.iter().map(|run| self.of_run(run)).collect();
        Estimate::of_runs(&values?)
    }

    /// The value and half its confidence interval.
    fn of_run(self, row: &PointRow) -> Option<(f64, Option<f64>)> {
        match row.status {
            Status::Steady | Status::Completed => {}
            Status::NotSteady | Status::Undecided if self.holds_past_saturation() => {}
            Status::NotSteady | Status::Undecided | Status::Deadlock => return None,
        }
        let nanoseconds = |time: Option<Picoseconds>| time.map(|time| time as f64 / 1e3);
        let value = match self {
            Self::AcceptedLoad => row.accepted_load,
            Self::JainFairness => row.jain_fairness,
            Self::PacketLatency => nanoseconds(row.packet_latency_mean),
            Self::PacketLatencyP99 => nanoseconds(row.packet_latency_p99),
            Self::PacketLatencyMaximum => nanoseconds(row.packet_latency_max),
            Self::NetworkLatency => nanoseconds(row.network_latency_mean),
            Self::MessageLatency => nanoseconds(row.message_latency_mean),
            Self::MessageLatencyP99 => nanoseconds(row.message_latency_p99),
            Self::Hops => row.hops_mean,
            Self::CompletionTime => row.completion_time.map(|time| time as f64 / 1e6),
            Self::Bandwidth => row.bandwidth,
            Self::SustainedLoad => None,
        }?;
        let half = match self {
            Self::PacketLatency => nanoseconds(row.packet_latency_mean_ci95),
            _ => None,
        };
        Some((value, half))
    }
}
