//! Statistics of the channels of a network: flits, and why packets waited for a channel.

use serde::{Deserialize, Serialize};

use flitlab_base::units::Picoseconds;

/// The ends of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChannelKind {
    /// Between two routers.
    #[default]
    Network,
    /// From a terminal to its router.
    Injection,
    /// From a router to its terminal.
    Ejection,
}

/// Why packets that ask for an output wait. If several packets wait for different reasons, the one
/// nearest to being served counts: the later in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    /// The buffer at the far end has no room for the packet.
    NoCredit,
    /// There is room for the packet, but not for the bubble that entering the ring needs.
    Bubble,
    /// There is room, but the packet's input port is sending another packet.
    InputBusy,
    /// The output is sending another packet.
    OutputBusy,
}

/// Number of reasons.
pub const STALLS: usize = 4;

/// Flits and stall times of one channel since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChannelStatistics {
    /// Flits sent, by virtual channel, counted at the grant.
    pub flits: Vec<u64>,
    /// Flits by class of traffic; empty if there is one class. Those that are sent again, and
    /// acknowledgements, belong to none.
    pub flits_by_class: Vec<u64>,
    /// Flits among these that were sent again; `None` unless the channel is between routers and
    /// links err.
    pub flits_resent: Option<u64>,
    /// Time in which heads of buffers waited for this channel, by reason. `None` where links are
    /// shared flit by flit, unless stall times are asked for.
    pub stalled: Option<[Picoseconds; STALLS]>,
    /// Time for which the packets that were granted this channel had waited for it at its router,
    /// from when each could have been granted it first; behind others of its own buffer, too. Of one
    /// packet at most [`MAX_WAIT`]. `None` of injection channels, and where routers combine packets.
    pub waited: Option<Picoseconds>,
}

/// The most that is counted of the time for which a packet waits at a router, about a millisecond.
pub const MAX_WAIT: Picoseconds = Picoseconds(1 << 30);

/// A channel's statistics since the last reset.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelReport {
    /// The channel's name, unique in the fabric.
    pub name: String,
    /// The parts of the network that the channel joins.
    pub kind: ChannelKind,
    /// Counters since the last reset.
    pub statistics: ChannelStatistics,
    /// Fraction of the time in which the channel carried a flit.
    pub utilisation: f64,
    /// Fraction of the time in which heads of buffers waited for the channel, by reason
    /// ([`Stall`]). `None` where links are shared flit by flit, unless stall times are asked for.
    pub stalled: Option<[f64; STALLS]>,
    /// Packets that waited for the channel at its router, in the mean over time: their waits
    /// ([`ChannelStatistics::waited`]) over the time since the last reset.
    pub queue: Option<f64>,
}
