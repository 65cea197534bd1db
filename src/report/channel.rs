//! One channel at one load point as a flat row of `channels.csv`.

use serde::{Deserialize, Serialize};

use super::columns::fraction;

/// What a channel joins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelKind {
    /// Two routers.
    #[default]
    Network,
    /// A terminal and its router.
    Injection,
    /// A router and its terminal.
    Ejection,
}

/// What one channel carried in the measured windows of one point.
///
/// Utilisation is the fraction of the measured time in which flits crossed the channel; a stall is the
/// fraction in which a packet at the head of its buffer wanted the channel and was held up for that
/// cause.
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
