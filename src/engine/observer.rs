//! What the engine tells those who measure.

use flitlab_model::{CompletedMessage, DeliveredPacket};

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
