//! Packets and messages that were delivered.

use flitlab_base::units::Picoseconds;

/// A kind of detour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Misroute {
    /// Through an intermediate node just outside the minimal orthant.
    OutFlank,
    /// Through the middle of another orthant.
    Wraparound,
    /// Inside another orthant, without an intermediate node.
    Orthant,
    /// Off the minimal ways from the source's router on: by a rule with phases, or on a torus by way
    /// of a node that is drawn.
    AtSource,
    /// Off the minimal ways from a later router on, by a rule with phases.
    OnTheWay,
}

impl Misroute {
    /// All kinds, in the order of their numbers.
    pub const KINDS: [Self; 5] =
        [Self::OutFlank, Self::Wraparound, Self::Orthant, Self::AtSource, Self::OnTheWay];
    /// Those of rules with phases.
    pub const BY_PHASES: [Self; 2] = [Self::AtSource, Self::OnTheWay];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutFlank => "outflank",
            Self::Wraparound => "wraparound",
            Self::Orthant => "orthant",
            Self::AtSource => "source",
            Self::OnTheWay => "way",
        }
    }
}

/// A packet whose last flit has reached its sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeliveredPacket {
    /// Terminal that sent it.
    pub source: u32,
    /// Terminal that received it.
    pub destination: u32,
    /// Number of the packet among those that its source's adapter has sent, from 0.
    pub sequence: u32,
    /// Injection channel of the source's adapter, from 0.
    pub injection_channel: u8,
    /// Virtual channel on which it was delivered.
    pub virtual_channel: u8,
    /// Length with header and checksum.
    pub flits: u32,
    /// Payload in bytes.
    pub payload: u32,
    /// Channels between routers that it has crossed.
    pub hops: u32,
    /// The class of its message.
    pub class: u8,
    /// The detour that it took; `None` if it kept to shortest ways.
    pub misroute: Option<Misroute>,
    /// Time at which its message was created.
    pub created: Picoseconds,
    /// Time at which its header started on the injection channel.
    pub injected: Picoseconds,
    /// Time at which its last flit was at the sink.
    pub delivered: Picoseconds,
}

/// A message whose last packet has been received; for a read, the response's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompletedMessage {
    /// Terminal that created it; for a read, the one that asked.
    pub source: u32,
    /// Terminal that received it.
    pub destination: u32,
    /// Payload in bytes; for a read, the response's.
    pub bytes: u64,
    /// Its class.
    pub class: u8,
    /// Whether it only arranges another message, as the two messages before a large one do.
    pub is_control: bool,
    /// Time of its creation, before the sender's overhead.
    pub created: Picoseconds,
    /// Time at which it had been received, host overheads included.
    pub completed: Picoseconds,
}

/// A channel that was granted to a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Name of the channel.
    pub channel: String,
    /// Time of the grant.
    pub time: Picoseconds,
    /// Time for which its header had been ready for the channel.
    pub waited: Picoseconds,
    /// Terminal that sent the packet.
    pub source: u32,
    /// Number of the packet among those of its source, from 0.
    pub sequence: u32,
}

/// A step of a distribution function: this share of the values is at most this high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantile {
    /// Upper end of the step.
    pub value: Picoseconds,
    /// Share of all values up to there, from 0 to 1.
    pub share: f64,
}
