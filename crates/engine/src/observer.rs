//! The interface by which the engine reports deliveries to whoever measures.

use flitlab_model::{CompletedMessage, DeliveredPacket};

/// Receives the events at the edge of the network. Within a part the calls come in the order of
/// time. Calls at the same time, and calls for different parts, come in no particular order: what
/// an observer keeps must not depend on it.
pub trait Observer: Send {
    /// Another observer, which has seen nothing yet, for a part of the network.
    fn fork(&self) -> Self;
    /// Takes over the observations of another observer. That one is then empty and goes on.
    fn gather(&mut self, part: &mut Self);
    /// Notes a packet whose last flit has reached its sink.
    fn packet_delivered(&mut self, packet: &DeliveredPacket);
    /// Notes a message that was received, host overheads included.
    fn message_completed(&mut self, message: &CompletedMessage);
}

/// Keeps everything: for tests and small studies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// Delivered packets, in the order of the calls.
    pub packets: Vec<DeliveredPacket>,
    /// Completed messages, in the order of the calls.
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
