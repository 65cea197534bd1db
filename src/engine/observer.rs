//! The interface by which the engine reports deliveries to whoever measures.

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
    /// The kind of its detour, if it took one.
    pub misroute: Option<Misroute>,
    pub created: Picoseconds,
    /// Time at which its header started on the injection channel.
    pub injected: Picoseconds,
    /// Time at which its last flit was at the sink.
    pub delivered: Picoseconds,
}

/// A message whose last packet has been received; for a read, that of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompletedMessage {
    /// The terminal that created it; for a read, the terminal that asked.
    pub source: u32,
    pub destination: u32,
    /// Payload in bytes; for a read, that of the response.
    pub bytes: u64,
    /// Whether it only arranges another message, like the two that precede a large one.
    pub is_control: bool,
    pub created: Picoseconds,
    /// Time at which it had been received, host overheads included.
    pub completed: Picoseconds,
}

/// Receives the events at the edge of the network. Within a part the calls come in the order of
/// time. Calls at the same time, and calls for different parts, come in no particular order: what
/// an observer keeps must not depend on it.
pub trait Observer: Send {
    /// Another observer, which has seen nothing yet, for a part of the network.
    fn fork(&self) -> Self;
    /// Takes over the observations of another observer. That one is then empty and goes on.
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
