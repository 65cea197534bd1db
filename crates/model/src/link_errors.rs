//! How links err, and how they see to it that nothing is lost.

use flitlab_base::units::Picoseconds;

/// What becomes of packets before their checksum is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// They go on; the last flit of a damaged one is marked, and whoever has it discards it.
    Stomp,
    /// They wait for it.
    Store,
}

/// Which packets are sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// The damaged one, and all that were sent after it.
    GoBackN,
    /// The damaged one alone.
    Selective,
}

/// What acknowledgements take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acknowledgements {
    /// A flit of the cable's other direction.
    Flits,
    /// Nothing.
    Free,
}

/// Stretches of time in which all that a channel carries is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Mean time from the beginning of one to that of the next; exponentially distributed.
    pub interval: Picoseconds,
    pub length: Picoseconds,
}

/// How links err and send again. Nothing of it but that Angara's do send again is public: all values are assumed.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkErrors {
    /// The probability that a bit is damaged, below 1.
    pub bit_error_rate: f64,
    pub bursts: Option<Bursts>,
    /// By channel of the fabric, whether it errs; `None` if all network channels do. All of them send again.
    pub channels: Option<Vec<bool>>,
    pub retry: Retry,
    pub resend: Resend,
    pub acknowledgements: Acknowledgements,
    /// Bits of the numbers of packets on a link, at least 1.
    pub sequence_bits: u32,
    /// Flits of packets that are not acknowledged yet, for each network channel: at least a packet with the maximum
    /// payload.
    pub replay_buffer: u32,
    /// From the end of a packet's sending until it is sent again if no acknowledgement has come, where these take
    /// flits.
    pub time_out: Picoseconds,
    /// Of what is drawn.
    pub seed: u64,
}

impl LinkErrors {
    /// How many packets may be without an acknowledgement on a link, so that their numbers tell them apart.
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
