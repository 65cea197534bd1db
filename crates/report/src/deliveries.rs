//! Packets and messages, a row each: the files of `flitlab run --log-packets` and `--log-messages`.

use super::table::{Count, Given, Nanoseconds, Text, table};
use flitlab_base::units::Picoseconds;
use flitlab_model::{CompletedMessage, DeliveredPacket};

table! {
    /// A packet that was delivered.
    pub struct PacketRow {
        /// The terminal that it came from.
        source: u32 as Given<Count<u32>>, "source", "source", Label, usual;
        /// The terminal that it went to.
        destination: u32 as Given<Count<u32>>, "destination", "destination", Label, usual;
        /// Its number among the packets of its source.
        sequence: u32 as Given<Count<u32>>, "sequence", "sequence", Label, usual;
        /// The virtual channel on which it was delivered.
        virtual_channel: u32 as Given<Count<u32>>, "virtual_channel", "virtual channel", Label, usual;
        /// Flits, those of header and checksum included.
        flits: u32 as Given<Count<u32>>, "flits", "flits", Count, usual;
        /// Payload in bytes.
        payload: u32 as Given<Count<u32>>, "payload_B", "payload", Count, usual;
        /// Channels between routers that it crossed.
        hops: u32 as Given<Count<u32>>, "hops", "hops", Count, usual;
        /// When it entered its source queue.
        created: Picoseconds as Given<Nanoseconds>, "created_ns", "created", Label, usual;
        /// When its header started on the injection channel.
        injected: Picoseconds as Given<Nanoseconds>, "injected_ns", "injected", Label, usual;
        /// When its last flit was at the sink.
        delivered: Picoseconds as Given<Nanoseconds>, "delivered_ns", "delivered", Label, usual;
    }
}

table! {
    /// A message that was received.
    pub struct MessageRow {
        /// The terminal that created it; of a read the one that asked.
        source: u32 as Given<Count<u32>>, "source", "source", Label, usual;
        /// The terminal that it went to.
        destination: u32 as Given<Count<u32>>, "destination", "destination", Label, usual;
        /// Payload in bytes; of a read that of the response.
        bytes: u64 as Given<Count<u64>>, "payload_B", "payload", Count, usual;
        /// `data`, or `control` of a message that arranges a rendezvous, which no latency counts.
        kind: String as Text<String>, "kind", "kind", Label, usual;
        /// When it was created.
        created: Picoseconds as Given<Nanoseconds>, "created_ns", "created", Label, usual;
        /// When it had been received.
        completed: Picoseconds as Given<Nanoseconds>, "completed_ns", "completed", Label, usual;
    }
}

impl From<&DeliveredPacket> for PacketRow {
    fn from(packet: &DeliveredPacket) -> Self {
        let &DeliveredPacket { source, destination, sequence, flits, payload, hops, .. } = packet;
        Self {
            source,
            destination,
            sequence,
            virtual_channel: packet.virtual_channel.into(),
            flits,
            payload,
            hops,
            created: packet.created,
            injected: packet.injected,
            delivered: packet.delivered,
        }
    }
}

impl From<&CompletedMessage> for MessageRow {
    fn from(message: &CompletedMessage) -> Self {
        let &CompletedMessage {
            source, destination, bytes, is_control, created, completed, ..
        } = message;
        let kind = if is_control { "control" } else { "data" }.into();
        Self { source, destination, bytes, kind, created, completed }
    }
}
