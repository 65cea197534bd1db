//! Parameters of link errors, and of the retransmission that keeps packets from being lost.

use flitlab_base::units::Picoseconds;

/// The handling of packets before their checksum is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// They go on. The last flit of a damaged one is marked, and its receiver discards the packet.
    Stomp,
    /// They wait for it.
    Store,
}

/// The packets that are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// The damaged one, and all that were sent after it.
    GoBackN,
    /// The damaged one alone.
    Selective,
}

/// The cost of acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgements {
    /// A flit of the cable's other direction.
    Flits,
    /// No cost.
    Free,
}

/// Stretches of time in which all flits of a channel are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Mean time from the beginning of one burst to that of the next; exponentially distributed.
    pub interval: Picoseconds,
    /// Duration of each burst.
    pub length: Picoseconds,
}

/// Errors of links, and their retransmission. Only the fact that Angara's links send again is
/// public: all values are assumed.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkErrors {
    /// The probability that a bit is damaged, below 1.
    pub bit_error_rate: f64,
    /// Bursts beside the independent bit errors; `None` if there are none.
    pub bursts: Option<Bursts>,
    /// By channel of the fabric, whether it errs; `None` if all network channels do. All of them
    /// send again.
    pub channels: Option<Vec<bool>>,
    /// The handling of packets whose checksum has not been checked yet.
    pub retry: Retry,
    /// The packets that are sent again after an error.
    pub resend: Resend,
    /// The cost of acknowledgements.
    pub acknowledgements: Acknowledgements,
    /// Number of bits of packets' sequence numbers on a link, at least 1.
    pub sequence_bits: u32,
    /// Flits of packets that are not acknowledged yet, for each network channel: at least a packet
    /// with the maximum payload.
    pub replay_buffer: u32,
    /// Time from the end of a transmission until the packet is sent again if no acknowledgement has
    /// come, where acknowledgements take flits.
    pub time_out: Picoseconds,
    /// The seed of the random errors.
    pub seed: u64,
}

impl LinkErrors {
    /// Maximum number of unacknowledged packets on a link, so that their sequence numbers tell them
    /// apart.
    pub fn most_packets(&self) -> u32 {
        match self.resend {
            Resend::GoBackN => (1 << self.sequence_bits) - 1,
            Resend::Selective => 1 << (self.sequence_bits - 1),
        }
    }
}

impl Default for LinkErrors {
    fn default() -> Self {
        Self {
            bit_error_rate: 0.0,
            bursts: None,
            channels: None,
            retry: Retry::Stomp,
            resend: Resend::GoBackN,
            acknowledgements: Acknowledgements::Flits,
            sequence_bits: 8,
            replay_buffer: 288,
            time_out: Picoseconds(2_000_000),
            seed: 0,
        }
    }
}
