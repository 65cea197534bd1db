//! One channel at one load point as a flat row of `channels.csv`.

use super::table::{Cell, Count, Given, Number, Text, table};
use flitlab_model::{ChannelKind, ChannelReport, Stall};

table! {
    /// The load of one channel in the measured windows of one point (of a finite exchange, in all
    /// of it).
    ///
    /// Utilisation is the fraction of the measured time in which flits crossed the channel; a stall is the
    /// fraction in which packets asked for the channel and none could start, for the reason that [`Stall`]
    /// names. The four reasons exclude each other at an instant. Where links are shared flit by flit
    /// they are measured if `stall_times` asks for them.
    pub struct ChannelRow {
        /// For a torus the source router and the direction: `(0,0,1) +x`.
        channel: String as Text<String>, "channel", "channel", Label, usual;
        /// What it connects: `network` (two routers), `injection` or `ejection`.
        kind: ChannelKind as Text<ChannelKind>, "kind", "kind", Label, usual;
        /// Flits that crossed it.
        flits: u64 as Given<Count<u64>>, "flits", "flits", Count, usual;
        /// Share of the time in which flits crossed it.
        utilisation: f64 as Given<Number>, "utilisation", "utilisation", Throughput, usual;
        /// Share of the time in which packets waited since there was no room downstream for one.
        stalled_no_credit: Option<f64> as Number, "stalled_no_credit", "waiting for credits", Throughput, usual;
        /// Share of the time in which there was room for a packet, but not for the bubble that a ring must keep.
        stalled_bubble: Option<f64> as Number, "stalled_bubble", "waiting for the bubble", Throughput, usual;
        /// Share of the time in which packets waited while the output was sending another packet.
        stalled_output_busy: Option<f64> as Number, "stalled_output_busy", "output busy", Throughput, usual;
        /// Share of the time in which packets waited since their inputs were sending other packets.
        stalled_input_busy: Option<f64> as Number, "stalled_input_busy", "input busy", Throughput, usual;
        /// Of its flits, those that were sent again; between routers, where links err.
        flits_resent: Option<u64> as Count<u64>, "flits_resent", "flits sent again", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc0: Option<u64> as Count<u64>, "flits_vc0", "flits, virtual channel 0", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc1: Option<u64> as Count<u64>, "flits_vc1", "flits, virtual channel 1", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc2: Option<u64> as Count<u64>, "flits_vc2", "flits, virtual channel 2", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc3: Option<u64> as Count<u64>, "flits_vc3", "flits, virtual channel 3", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc4: Option<u64> as Count<u64>, "flits_vc4", "flits, virtual channel 4", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc5: Option<u64> as Count<u64>, "flits_vc5", "flits, virtual channel 5", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc6: Option<u64> as Count<u64>, "flits_vc6", "flits, virtual channel 6", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc7: Option<u64> as Count<u64>, "flits_vc7", "flits, virtual channel 7", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc8: Option<u64> as Count<u64>, "flits_vc8", "flits, virtual channel 8", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc9: Option<u64> as Count<u64>, "flits_vc9", "flits, virtual channel 9", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc10: Option<u64> as Count<u64>, "flits_vc10", "flits, virtual channel 10", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc11: Option<u64> as Count<u64>, "flits_vc11", "flits, virtual channel 11", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc12: Option<u64> as Count<u64>, "flits_vc12", "flits, virtual channel 12", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc13: Option<u64> as Count<u64>, "flits_vc13", "flits, virtual channel 13", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc14: Option<u64> as Count<u64>, "flits_vc14", "flits, virtual channel 14", Count, more;
        /// Flits in the virtual channel of this number; nothing if the router has not as many.
        flits_vc15: Option<u64> as Count<u64>, "flits_vc15", "flits, virtual channel 15", Count, more;
    }
}

impl ChannelRow {
    /// The row of a channel of the engine.
    pub fn new(channel: &ChannelReport) -> Self {
        let stalled = |reason: Stall| channel.stalled.map(|stalled| stalled[reason as usize]);
        let flits = &channel.statistics.flits;
        let on = |virtual_channel: usize| flits.get(virtual_channel).copied();
        Self {
            channel: channel.name.clone(),
            kind: channel.kind,
            flits: flits.iter().sum(),
            utilisation: channel.utilisation,
            stalled_no_credit: stalled(Stall::NoCredit),
            stalled_bubble: stalled(Stall::Bubble),
            stalled_output_busy: stalled(Stall::OutputBusy),
            stalled_input_busy: stalled(Stall::InputBusy),
            flits_resent: channel.statistics.flits_resent,
            flits_vc0: on(0),
            flits_vc1: on(1),
            flits_vc2: on(2),
            flits_vc3: on(3),
            flits_vc4: on(4),
            flits_vc5: on(5),
            flits_vc6: on(6),
            flits_vc7: on(7),
            flits_vc8: on(8),
            flits_vc9: on(9),
            flits_vc10: on(10),
            flits_vc11: on(11),
            flits_vc12: on(12),
            flits_vc13: on(13),
            flits_vc14: on(14),
            flits_vc15: on(15),
        }
    }

    /// Flits by virtual channel, of those that the router has.
    pub(super) fn flits_by_virtual_channel(&self) -> Vec<u64> {
        let columns = Self::COLUMNS.iter().filter(|column| column.name.starts_with("flits_vc"));
        let flits = columns.map_while(|column| match (column.cell)(self) {
            Cell::Whole(flits) => u64::try_from(flits).ok(),
            _ => None,
        });
        flits.collect()
    }
}

/// The source router's coordinates and the direction of a channel of a torus, from its name: `(0,0,1) +x`.
pub(super) fn torus_place(channel: &str) -> Option<(Vec<u32>, &str)> {
    let (node, direction) = channel.split_once(' ')?;
    let coordinates = node.strip_prefix('(')?.strip_suffix(')')?.split(',');
    let coordinates = coordinates.map(|at| at.parse().ok()).collect::<Option<Vec<u32>>>()?;
    direction.starts_with(['+', '-']).then_some((coordinates, direction))
}
