//! What is delivered of each class of traffic, where several workloads share the network.

use serde::{Deserialize, Serialize};

use super::collector::{Delivered, Distribution, Latencies};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{CompletedMessage, DeliveredPacket};
use flitlab_routing::adaptive::Misroute;

/// Deliveries of one class while the measurement is on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ClassTotals {
    delivered: Delivered,
    packets: Latencies,
    messages: Latencies,
    latest_completion: Picoseconds,
}

impl ClassTotals {
    pub(super) fn gather(&mut self, part: &mut Self) {
        self.delivered.add(std::mem::take(&mut part.delivered));
        self.packets.gather(&mut part.packets);
        self.messages.gather(&mut part.messages);
        // A part that kept it would bring that of an earlier stretch.
        let latest = std::mem::take(&mut part.latest_completion);
        self.latest_completion = self.latest_completion.max(latest);
    }

    // Out of line, for the many measurements of one workload.
    #[inline(never)]
    pub(super) fn packet_delivered(&mut self, packet: &DeliveredPacket) {
        self.delivered.add_packet(packet);
        self.packets.record(packet.delivered - packet.created);
    }

    #[inline(never)]
    pub(super) fn message_completed(&mut self, message: &CompletedMessage) {
        if !message.is_control {
            self.messages.record(message.completed - message.created);
        }
        self.latest_completion = self.latest_completion.max(message.completed);
    }

    pub(super) fn deliveries(&self) -> (&Delivered, &Latencies) {
        (&self.delivered, &self.packets)
    }

    pub(super) fn latest_completion(&self) -> Picoseconds {
        self.latest_completion
    }

    pub(super) fn messages(&self) -> u64 {
        self.messages.count()
    }

    pub(super) fn summary(&self) -> ClassSummary {
        let Delivered { packets, flits, payload, .. } = self.delivered;
        ClassSummary {
            packets,
            flits,
            payload,
            packet_latency: self.packets.distribution(),
            message_latency: self.messages.distribution(),
            network_latency: self.delivered.mean_network_latency(),
            hops: self.delivered.mean_hops(),
            derouted: self.delivered.derouted_shares(),
            latest_completion: self.latest_completion,
        }
    }
}

/// What was delivered of one class of traffic while it was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassSummary {
    /// Delivered packets.
    pub packets: u64,
    /// Flits of these packets.
    pub flits: u64,
    /// Payload of these packets, in bytes.
    pub payload: u64,
    /// Latencies of packets from creation; `None` without packets.
    pub packet_latency: Option<Distribution>,
    /// Latencies of messages from creation until they are received, without control messages;
    /// `None` without messages.
    pub message_latency: Option<Distribution>,
    /// Mean packet latency from injection, in picoseconds; `None` without packets.
    pub network_latency: Option<f64>,
    /// Mean number of channels between routers that a packet crossed; `None` without packets.
    pub hops: Option<f64>,
    /// Shares of packets that were derouted, by kind; `None` without packets.
    pub derouted: Option<[f64; Misroute::KINDS.len()]>,
    /// When the last message was complete; 0 without messages.
    pub latest_completion: Picoseconds,
}
