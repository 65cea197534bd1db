//! What is told of every measurement, whatever it was of.

use super::by_class::ClassSummary;
use super::by_pair::PairLatency;
use super::collector::{Collector, Distribution};
use super::order::Reordering;
use flitlab_engine::{ChannelReport, Counters, Digest, Engine};
use flitlab_model::Quantile;
use flitlab_routing::adaptive::Misroute;

/// The most channels of which a measurement keeps what they carried: of a larger network, the
/// busiest.
pub const MAX_CHANNELS: usize = 100_000;

/// The packets and messages that were delivered while it was measured, and the engine at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Latencies of packets from creation; `None` without packets.
    pub packet_latency: Option<Distribution>,
    /// Quantiles of the packet latency, for figures; empty without packets.
    pub packet_latency_quantiles: Vec<Quantile>,
    /// Mean packet latency from injection, in picoseconds; `None` without packets.
    pub network_latency: Option<f64>,
    /// Latencies of messages from creation until they are received; `None` without messages.
    pub message_latency: Option<Distribution>,
    /// Mean number of channels between routers that a packet crossed; `None` without packets.
    pub hops: Option<f64>,
    /// Shares of packets that were derouted, by kind.
    pub derouted: Option<[f64; Misroute::KINDS.len()]>,
    /// By class of traffic, if there are several workloads; empty if there is one.
    pub classes: Vec<ClassSummary>,
    /// How far packets were out of order, if they can be.
    pub reordering: Option<Reordering>,
    /// By source, by destination and by pair, as far as that is asked for.
    pub latencies_by_pair: Vec<PairLatency>,
    /// Counts of the engine at the end.
    pub counters: Counters,
    /// The digest of all deliveries.
    pub digest: Digest,
    /// The load of channels: of at most [`MAX_CHANNELS`], the busiest.
    pub channels: Vec<ChannelReport>,
    /// The number of all channels.
    pub all_channels: usize,
}

impl Summary {
    /// The summary of a measurement whose last window has ended.
    pub(super) fn of(engine: &mut Engine<'_, Collector>) -> Self {
        let (channels, all_channels) = engine.busiest_channels(MAX_CHANNELS);
        let (counters, digest) = (engine.counters(), engine.digest());
        let collector = engine.observer();
        let total = collector.total;
        Self {
            packet_latency: collector.packet_latency(),
            packet_latency_quantiles: collector.packet_latency_quantiles(),
            network_latency: total.mean_network_latency(),
            message_latency: collector.message_latency(),
            hops: total.mean_hops(),
            derouted: total.derouted_shares(),
            classes: collector.by_class(),
            reordering: collector.reordering(),
            latencies_by_pair: collector.latencies_by_pair(),
            counters,
            digest,
            channels,
            all_channels,
        }
    }
}
