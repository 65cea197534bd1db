//! One channel at one load point as a flat row of `channels.csv`.

use super::table::{Cell, Count, Given, Number, Text, table};
use flitlab_model::{ChannelKind, ChannelReport, Stall};

/// Declares the row, with a column for each virtual channel that a router may have.
macro_rules! channel_row {
    ($($vc:literal $flits:ident)*; $($workload:literal $flits_of:ident)*) => {
        table! {
            /// What one channel carried in the measured windows of one point (of a finite exchange,
            /// in all of it).
            ///
            /// Utilisation is the fraction of the measured time in which flits crossed the channel;
            /// a stall is the fraction in which packets asked for the channel and none could start,
            /// for the reason that [`Stall`] names. The four reasons exclude each other at an
            /// instant. Where links are shared flit by flit they are measured if `stall_times` asks
            /// for them.
            pub struct ChannelRow {
                /// For a torus the source router and the direction: `(0,0,1) +x`.
                channel: String as Text<String>, "channel", "channel", Label, usual;
                /// What it connects: `network` (two routers), `injection` or `ejection`.
                kind: ChannelKind as Text<ChannelKind>, "kind", "kind", Label, usual;
                /// Flits that crossed it.
                flits: u64 as Given<Count<u64>>, "flits", "flits", Count, usual;
                /// Share of the time in which flits crossed it.
                utilisation: f64 as Given<Number>, "utilisation", "utilisation", Throughput, usual;
                /// Share of the time in which heads of buffers waited since there was no room
                /// downstream for a packet. What stands behind a head is not counted.
                stalled_no_credit: Option<f64> as Number, "stalled_no_credit", "waiting for credits", Throughput, usual;
                /// Share of the time in which there was room for a packet, but not for the bubble
                /// that a ring must keep.
                stalled_bubble: Option<f64> as Number, "stalled_bubble", "waiting for the bubble", Throughput, usual;
                /// Share of the time in which heads of buffers waited while the output was sending
                /// another packet.
                stalled_output_busy: Option<f64> as Number, "stalled_output_busy", "output busy", Throughput, usual;
                /// Share of the time in which heads of buffers waited since their inputs were sending
                /// other packets.
                stalled_input_busy: Option<f64> as Number, "stalled_input_busy", "input busy", Throughput, usual;
                /// Packets that waited for it at its router, in the mean over time: behind others of
                /// their own buffers, too, and each from when it could have been granted the channel
                /// in an idle router. Of the packets that it was granted; of one at most a
                /// millisecond counts. Not counted of injection channels, and where routers combine
                /// packets.
                queue_mean: Option<f64> as Number, "queue_mean", "packets waiting", Throughput, usual;
                /// Of its flits, those that were sent again; between routers, where links err.
                flits_resent: Option<u64> as Count<u64>, "flits_resent", "flits sent again", Count, more;
                $(
                    /// Flits in the virtual channel of this number; nothing if the router has not
                    /// as many.
                    $flits: Option<u64> as Count<u64>, stringify!($flits), concat!("flits, virtual channel ", $vc), Count, more;
                )*
                $(
                    /// Flits of packets of the workload of this number, counted from 0 in the order of
                    /// workloads.csv; nothing if there is one workload.
                    $flits_of: Option<u64> as Count<u64>, stringify!($flits_of), concat!("flits, workload ", $workload), Count, more;
                )*
            }
        }

        impl ChannelRow {
            /// A row that has nothing but the flits of the virtual channels and of the workloads that
            /// there are.
            fn of_parts(flits: &[u64], of_workloads: &[u64]) -> Self {
                Self {
                    $($flits: flits.get($vc).copied(),)*
                    $($flits_of: of_workloads.get($workload).copied(),)*
                    ..Self::default()
                }
            }
        }
    };
}

channel_row! {
    0 flits_vc0 1 flits_vc1 2 flits_vc2 3 flits_vc3 4 flits_vc4 5 flits_vc5 6 flits_vc6 7 flits_vc7
    8 flits_vc8 9 flits_vc9 10 flits_vc10 11 flits_vc11 12 flits_vc12 13 flits_vc13 14 flits_vc14
    15 flits_vc15;
    0 flits_workload0 1 flits_workload1 2 flits_workload2 3 flits_workload3 4 flits_workload4
    5 flits_workload5 6 flits_workload6 7 flits_workload7
}

impl ChannelRow {
    /// The row of a channel of the engine.
    pub fn new(channel: &ChannelReport) -> Self {
        let stalled = |reason: Stall| channel.stalled.map(|stalled| stalled[reason as usize]);
        let flits = &channel.statistics.flits;
        Self {
            channel: channel.name.clone(),
            kind: channel.kind,
            flits: flits.iter().sum(),
            utilisation: channel.utilisation,
            stalled_no_credit: stalled(Stall::NoCredit),
            stalled_bubble: stalled(Stall::Bubble),
            stalled_output_busy: stalled(Stall::OutputBusy),
            stalled_input_busy: stalled(Stall::InputBusy),
            queue_mean: channel.queue,
            flits_resent: channel.statistics.flits_resent,
            ..Self::of_parts(flits, &channel.statistics.flits_by_class)
        }
    }

    /// Flits by virtual channel, of those that the router has.
    pub fn flits_by_virtual_channel(&self) -> Vec<u64> {
        let columns = Self::COLUMNS.iter().filter(|column| column.name.starts_with("flits_vc"));
        let flits = columns.map_while(|column| match (column.cell)(self) {
            Cell::Whole(flits) => u64::try_from(flits).ok(),
            _ => None,
        });
        flits.collect()
    }
}

/// The source router's coordinates and the direction of a channel of a torus, from its name:
/// `(0,0,1) +x`.
pub fn torus_place(channel: &str) -> Option<(Vec<u32>, &str)> {
    let (node, direction) = channel.split_once(' ')?;
    let coordinates = node.strip_prefix('(')?.strip_suffix(')')?.split(',');
    let coordinates = coordinates.map(|at| at.parse().ok()).collect::<Option<Vec<u32>>>()?;
    direction.starts_with(['+', '-']).then_some((coordinates, direction))
}
