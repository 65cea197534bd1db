//! Packets and messages, a row each: the files of `flitlab run --log-packets` and `--log-messages`.

use std::path::Path;

use super::ReportError;
use super::csv::{Row, RowWriter};
use super::label::{Label, Labels, WORKLOAD};
use super::table::{Count, Given, Nanoseconds, Text, table};
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, fewest_hops};
use flitlab_model::{CompletedMessage, DeliveredPacket, Misroute};

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
        /// Hops more than a shortest way has.
        dilation: u32 as Given<Count<u32>>, "dilation", "dilation", Count, usual;
        /// The detour that adaptive routing chose for it: `outflank` or `wraparound`, by the kind of
        /// its intermediate node, `orthant`, or, by where it left the minimal ways, `source` or `way`;
        /// empty if it chose none.
        derouted: String as Text<String>, "derouted", "derouted", Label, usual;
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

impl PacketRow {
    /// The row of a packet between whose ends a shortest way has so many hops.
    fn new(packet: &DeliveredPacket, shortest: u32) -> Self {
        let &DeliveredPacket { source, destination, sequence, flits, payload, hops, .. } = packet;
        Self {
            source,
            destination,
            sequence,
            virtual_channel: packet.virtual_channel.into(),
            flits,
            payload,
            hops,
            dilation: hops.saturating_sub(shortest),
            derouted: packet.misroute.map_or("", Misroute::name).into(),
            created: packet.created,
            injected: packet.injected,
            delivered: packet.delivered,
        }
    }
}

impl MessageRow {
    fn new(message: &CompletedMessage) -> Self {
        let &CompletedMessage {
            source, destination, bytes, is_control, created, completed, ..
        } = message;
        let kind = if is_control { "control" } else { "data" }.into();
        Self { source, destination, bytes, kind, created, completed }
    }
}

/// Writes packets delivered in a fabric to a new file. `workloads` are the names of several, by class: then the
/// first column names that of the packet. The list is empty if there is one workload.
///
/// # Errors
/// If the file exists or can't be written.
pub fn write_packets(
    path: &Path,
    packets: &[DeliveredPacket],
    fabric: &Fabric,
    workloads: &[String],
) -> Result<(), ReportError> {
    let ends = |packet: &DeliveredPacket| (packet.source, packet.destination);
    let shortest = fewest_hops(fabric, &packets.iter().map(ends).collect::<Vec<_>>());
    let rows = packets.iter().zip(shortest);
    let rows = rows.map(|(packet, hops)| (packet.class, PacketRow::new(packet, hops)));
    write(path, rows, workloads)
}

/// Writes received messages to a new file. `workloads` is as for [`write_packets`].
///
/// # Errors
/// If the file exists or can't be written.
pub fn write_messages(
    path: &Path,
    messages: &[CompletedMessage],
    workloads: &[String],
) -> Result<(), ReportError> {
    write(path, messages.iter().map(|it| (it.class, MessageRow::new(it))), workloads)
}

/// Writes rows, each with its class.
fn write<R: Row>(
    path: &Path,
    mut rows: impl Iterator<Item = (u8, R)>,
    workloads: &[String],
) -> Result<(), ReportError> {
    let of_name = |name: &String| Label {
        settings: vec![(WORKLOAD.into(), name.clone())],
        ..Label::default()
    };
    let names: Vec<Label> = workloads.iter().map(of_name).collect();
    let labels = if names.is_empty() { Labels::None } else { Labels::Workload };
    let unnamed = Label::default();
    let mut writer = RowWriter::create(path, labels)?;
    rows.try_for_each(|(class, row)| {
        writer.write(names.get(usize::from(class)).unwrap_or(&unnamed), &row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_several_workloads_begin_with_the_name_of_theirs() {
        let message = |class| CompletedMessage {
            source: 1,
            destination: 2,
            bytes: 8,
            class,
            is_control: false,
            created: Picoseconds(0),
            completed: Picoseconds(1_500),
        };
        let folder =
            std::env::temp_dir().join(format!("flitlab-deliveries-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let text = |name: &str, workloads: &[&str]| {
            let path = folder.join(name);
            let workloads: Vec<String> = workloads.iter().map(|&name| name.to_owned()).collect();
            write_messages(&path, &[message(1), message(0)], &workloads).unwrap();
            std::fs::read_to_string(path).unwrap()
        };
        let header = "source,destination,payload_B,kind,created_ns,completed_ns\n";
        let row = "1,2,8,data,0,1.5\n";
        assert_eq!(text("one.csv", &[]), format!("{header}{row}{row}"));
        let expected = format!("workload,{header}\"halo, small\",{row}load,{row}");
        assert_eq!(text("two.csv", &["load", "halo, small"]), expected);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
