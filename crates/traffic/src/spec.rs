//! Specifications of traffic, checked but not yet bound to a fabric.

use super::{MessageSizes, PatternSpec};
use flitlab_base::units::{Bytes, Picoseconds, Rate};

/// How much a node sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OfferedLoad {
    /// A fraction of the fabric's capacity, all flits counted.
    Fraction(f64),
    /// Payload a node.
    Payload(Rate),
}

/// When messages are created.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Process {
    /// In each flit time of a network channel a message with the same probability.
    Bernoulli,
    /// At equal intervals; each node starts at a random phase unless `in_step`.
    Periodic {
        /// Whether all nodes create their messages at the same times.
        in_step: bool,
    },
    /// As [`Process::Bernoulli`] at a higher rate in on periods, and no messages in off periods,
    /// which take turns. The lengths of both are geometrically distributed.
    OnOff {
        /// The mean length of an on period.
        on: Picoseconds,
        /// The mean length of an off period.
        off: Picoseconds,
    },
    /// As [`Process::Bernoulli`] at a high and at a low rate in periods that take turns. The
    /// lengths of both are geometrically distributed.
    MarkovModulated {
        /// The mean length of a period of the high rate.
        high: Picoseconds,
        /// The mean length of a period of the low rate.
        low: Picoseconds,
        /// The high rate over the low one, above 1.
        ratio: f64,
    },
}

impl Process {
    /// How often as many messages a source creates while it creates some as in the mean.
    pub fn peak(self) -> f64 {
        match self {
            Self::Bernoulli | Self::Periodic { .. } => 1.0,
            Self::OnOff { on, off } => (on.0 as f64 + off.0 as f64) / on.0 as f64,
            Self::MarkovModulated { high, low, ratio } => {
                let (high, low) = (high.0 as f64, low.0 as f64);
                ratio * (high + low) / (ratio * high + low)
            }
        }
    }

    /// The mean time after which the process begins anew: a period of either kind. 0 of processes
    /// without periods.
    pub fn cycle(self) -> Picoseconds {
        match self {
            Self::Bernoulli | Self::Periodic { .. } => Picoseconds::ZERO,
            Self::OnOff { on, off } => on + off,
            Self::MarkovModulated { high, low, .. } => high + low,
        }
    }
}

/// Whether messages are written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The source sends the message.
    Write,
    /// Each message is fetched by a request of this size.
    Read {
        /// Payload of the request.
        request: Bytes,
    },
}

impl Access {
    /// The payloads of what the source sends to access `message` bytes, and of the response if
    /// there is one.
    pub fn payloads(self, message: u64) -> (u64, Option<u64>) {
        match self {
            Self::Write => (message, None),
            Self::Read { request } => (request.0, Some(message)),
        }
    }
}

/// Traffic that goes on for ever at an offered load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSpec {
    /// The pattern of sources and destinations.
    pub pattern: PatternSpec,
    /// The process by which messages are created.
    pub process: Process,
    /// The offered load of a node.
    pub load: OfferedLoad,
    /// Payload of messages.
    pub message: MessageSizes,
    /// Whether messages are written or read.
    pub access: Access,
}

/// The event that a node waits for before its next step of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Nothing: all messages are queued at the start.
    Nothing,
    /// Its own message has left and its partner's has come, as in `MPI_Sendrecv`.
    Exchange,
    /// All nodes have finished the step; the next step starts everywhere at once, after a latency.
    Barrier {
        /// From the end of a step on the last node until the next step starts on all.
        latency: Picoseconds,
    },
}

/// A finite workload: every node sends `message` to each partner of the pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangeSpec {
    /// The pattern of sources and destinations.
    pub pattern: PatternSpec,
    /// Payload of a message.
    pub message: Bytes,
    /// Whether messages are written or read.
    pub access: Access,
    /// The event between two steps.
    pub between: Between,
    /// How often the whole exchange is done.
    pub rounds: u32,
}
