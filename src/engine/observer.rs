//! What the engine tells those who measure.

use crate::adaptive::Misroute;
use crate::units::Picoseconds;

/// A packet whose last flit has reached its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveredPacket {
    pub source: u32,
    pub destination: u32,
    /// Number of the packet among those that its source's adapter has sent, from 0.
    pub sequence: u32,
    pub injection_channel: u8,
    pub virtual_channel: u8,
    pub flits: u32,
    /// Payload in bytes.
    pub payload: u32,
    /// Channels between routers that it has crossed.
    pub hops: u32,
    /// How it was led off the shortest ways, if it was.
    pub misroute: Option<Misroute>,
    pub created: Picoseconds,
    /// When its header started on the injection channel.
    pub injected: Picoseconds,
    /// When its last flit was at the sink.
    pub delivered: Picoseconds,
}

/// A message whose last packet has been received; for a read, the response's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompletedMessage {
    /// The terminal that created it; for a read, the one that asked.
    pub source: u32,
    pub destination: u32,
    /// Payload in bytes; for a read, the response's.
    pub bytes: u64,
    /// Whether it only arranges another message, as the two do that come before a large one.
    pub is_control: bool,
    pub created: Picoseconds,
    /// When it had been received, host overheads included.
    pub completed: Picoseconds,
}

/// Receives what happens at the edge of the network, in time order within each part of it; calls at the same
/// time, and calls for several parts, come in no particular order, so what is kept must not depend on it.
pub trait Observer: Send {
    /// Another one for a part of the network, that has seen nothing yet.
    fn fork(&self) -> Self;
    /// Takes over what another one has seen, which then has seen nothing and goes on as this one does.
    fn gather(&mut self, part: &mut Self);
    fn packet_delivered(&mut self, packet: &DeliveredPacket);
    fn message_completed(&mut self, message: &CompletedMessage);
}

/// Keeps everything: for tests and small studies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub packets: Vec<DeliveredPacket>,
    pub messages: Vec<CompletedMessage>,
}

impl Observer for Log {
    fn fork(&self) -> Self {
        Self::default()
    }

    fn gather(&mut self, part: &mut Self) {
        self.packets.append(&mut part.packets);
        self.messages.append(&mut part.messages);
    }

    fn packet_delivered(&mut self, packet: &DeliveredPacket) {
        self.packets.push(*packet);
    }

    fn message_completed(&mut self, message: &CompletedMessage) {
        self.messages.push(*message);
    }
}

/// Keeps nothing.
impl Observer for () {
    fn fork(&self) -> Self {}
    fn gather(&mut self, (): &mut Self) {}
    fn packet_delivered(&mut self, _: &DeliveredPacket) {}
    fn message_completed(&mut self, _: &CompletedMessage) {}
}
