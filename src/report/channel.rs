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
    /// Flits by virtual channel.
    pub flits_vc0: u64,
    pub flits_vc1: u64,
    pub flits_vc2: u64,
    pub flits_vc3: u64,
    pub flits_vc4: u64,
}

impl ChannelRow {
    /// The row of a channel of the engine.
    #[must_use]
    pub fn new(series: &str, point: u32, channel: &ChannelReport) -> Self {
        let stalled = |reason: Stall| channel.stalled[reason as usize];
        let flits = channel.statistics.flits;
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
            flits_vc0: flits[0],
            flits_vc1: flits[1],
            flits_vc2: flits[2],
            flits_vc3: flits[3],
            flits_vc4: flits[4],
        }
    }
}

/// The source router's coordinates and the direction of a channel of a torus, from its name: `(0,0,1) +x`.
pub(super) fn torus_place(channel: &str) -> Option<(Vec<u32>, &str)> {
    let (node, direction) = channel.split_once(' ')?;
    let coordinates = node.strip_prefix('(')?.strip_suffix(')')?.split(',');
    let coordinates = coordinates.map(|at| at.parse().ok()).collect::<Option<Vec<u32>>>()?;
    direction.starts_with(['+', '-']).then_some((coordinates, direction))
}
