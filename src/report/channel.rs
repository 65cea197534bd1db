//! One channel at one load point as a flat row of `channels.csv`.

use serde::{Deserialize, Serialize};

use super::columns::fraction;
use crate::engine::{ChannelKind, ChannelReport, Stall};

/// What one channel carried in the measured windows of one point (of a finite exchange, in all of it).
///
/// Utilisation is the fraction of the measured time in which flits crossed the channel; a stall is the
/// fraction in which packets asked for the channel and none could start, for the reason that [`Stall`]
/// names. The four reasons exclude each other at an instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChannelRow {
    /// As in the point's row.
    pub series: String,
    /// The point's number, as in its row.
    pub point: u32,
    /// For a torus the source router and the direction: `(0,0,1) +x`.
    pub channel: String,
    pub kind: ChannelKind,
    pub flits: u64,
    #[serde(with = "fraction")]
    pub utilisation: f64,
    /// No room downstream for the packet.
    #[serde(with = "fraction")]
    pub stalled_no_credit: f64,
    /// Room for the packet, but not for the bubble that a ring must keep.
    #[serde(with = "fraction")]
    pub stalled_bubble: f64,
    /// The output was sending another packet.
    #[serde(with = "fraction")]
    pub stalled_output_busy: f64,
    /// The packet's input was sending another packet.
    #[serde(with = "fraction")]
    pub stalled_input_busy: f64,
    /// Flits by virtual channel; nothing for those that the router has not.
    pub flits_vc0: Option<u64>,
    pub flits_vc1: Option<u64>,
    pub flits_vc2: Option<u64>,
    pub flits_vc3: Option<u64>,
    pub flits_vc4: Option<u64>,
    #[serde(default)]
    pub flits_vc5: Option<u64>,
    #[serde(default)]
    pub flits_vc6: Option<u64>,
    #[serde(default)]
    pub flits_vc7: Option<u64>,
    #[serde(default)]
    pub flits_vc8: Option<u64>,
    #[serde(default)]
    pub flits_vc9: Option<u64>,
    #[serde(default)]
    pub flits_vc10: Option<u64>,
    #[serde(default)]
    pub flits_vc11: Option<u64>,
    #[serde(default)]
    pub flits_vc12: Option<u64>,
    #[serde(default)]
    pub flits_vc13: Option<u64>,
    #[serde(default)]
    pub flits_vc14: Option<u64>,
    #[serde(default)]
    pub flits_vc15: Option<u64>,
}

impl ChannelRow {
    /// The row of a channel of the engine.
    #[must_use]
    pub fn new(series: &str, point: u32, channel: &ChannelReport) -> Self {
        let stalled = |reason: Stall| channel.stalled[reason as usize];
        let flits = &channel.statistics.flits;
        let on = |virtual_channel: usize| flits.get(virtual_channel).copied();
        Self {
            series: series.to_owned(),
            point,
            channel: channel.name.clone(),
            kind: channel.kind,
            flits: flits.iter().sum(),
            utilisation: channel.utilisation,
            stalled_no_credit: stalled(Stall::NoCredit),
            stalled_bubble: stalled(Stall::Bubble),
            stalled_output_busy: stalled(Stall::OutputBusy),
            stalled_input_busy: stalled(Stall::InputBusy),
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
        let flits = [
            self.flits_vc0,
            self.flits_vc1,
            self.flits_vc2,
            self.flits_vc3,
            self.flits_vc4,
            self.flits_vc5,
            self.flits_vc6,
            self.flits_vc7,
            self.flits_vc8,
            self.flits_vc9,
            self.flits_vc10,
            self.flits_vc11,
            self.flits_vc12,
            self.flits_vc13,
            self.flits_vc14,
            self.flits_vc15,
        ];
        flits.into_iter().map_while(|flits| flits).collect()
    }
}

/// The source router's coordinates and the direction of a channel of a torus, from its name: `(0,0,1) +x`.
pub(super) fn torus_place(channel: &str) -> Option<(Vec<u32>, &str)> {
    let (node, direction) = channel.split_once(' ')?;
    let coordinates = node.strip_prefix('(')?.strip_suffix(')')?.split(',');
    let coordinates = coordinates.map(|at| at.parse().ok()).collect::<Option<Vec<u32>>>()?;
    direction.starts_with(['+', '-']).then_some((coordinates, direction))
}
