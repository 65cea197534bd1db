//! Counts of work done.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// Counts of work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Grants of channels to packets, channels of terminals included.
    pub grants: u64,
    /// Flits of all messages that have entered a source queue, and of the copies that routers made.
    pub flits_created: u64,
    /// Flits that have reached their sinks.
    pub flits_delivered: u64,
    /// Packets whose last flits have reached their sinks.
    pub packets_delivered: u64,
    /// Flits cut or swallowed after a failure ([`Interruption`](crate::Interruption)); for messages
    /// that were never sent, their flits alone are counted.
    pub flits_lost: u64,
    /// Flits of operands that routers have combined with others.
    pub flits_combined: u64,
    /// Packets cut or swallowed after a failure.
    pub packets_lost: u64,
    /// Messages that are not received because of a failure.
    pub messages_lost: u64,
    /// Channels between routers that delivered packets have crossed, in sum over packets.
    pub packet_hops: u64,
    /// Channels between routers that flits of delivered packets have crossed, in sum over flits.
    pub flit_hops: u64,
    /// Transmissions between routers that were damaged, without those of bad copies.
    pub damaged_packets: u64,
    /// Flits of packets that were sent again.
    pub flits_resent: u64,
    /// Transmissions between routers that were not a packet's first.
    pub packets_resent: u64,
    /// Those of the repeated transmissions whose packet the far end has accepted, then or before.
    pub resent_accepted: u64,
}

/// What channels have carried since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// Time for which channels between routers carried a flit, in sum, and the number of these
    /// channels.
    pub(super) busy: u128,
    pub(super) channels: u64,
    /// Utilisation of the busiest channel of all kinds.
    pub busiest: f64,
}

impl Carried {
    /// Adds what was carried before the latest reset.
    pub fn add(&mut self, before: Self) {
        self.busy += before.busy;
    }

    /// The mean utilisation of channels between routers in the `time` since the earlier figure
    /// `before`. No reset may lie in between.
    pub fn mean_utilisation_since(&self, before: Self, time: Picoseconds) -> f64 {
        let all = u128::from(time.max(Picoseconds(1))) * u128::from(self.channels.max(1));
        self.busy.saturating_sub(before.busy) as f64 / all as f64
    }
}

impl Counters {
    /// Flits that have been created and are neither delivered nor lost nor combined, source queues
    /// included.
    pub fn flits_under_way(&self) -> u64 {
        self.flits_created - self.flits_delivered - self.flits_lost - self.flits_combined
    }

    /// Adds those of another simulation, or of another part of the network.
    pub fn add(&mut self, other: &Self) {
        self.grants += other.grants;
        self.flits_created += other.flits_created;
        self.flits_delivered += other.flits_delivered;
        self.packets_delivered += other.packets_delivered;
        self.flits_lost += other.flits_lost;
        self.flits_combined += other.flits_combined;
        self.packets_lost += other.packets_lost;
        self.messages_lost += other.messages_lost;
        self.packet_hops += other.packet_hops;
        self.flit_hops += other.flit_hops;
        self.damaged_packets += other.damaged_packets;
        self.flits_resent += other.flits_resent;
        self.packets_resent += other.packets_resent;
        self.resent_accepted += other.resent_accepted;
    }
}
