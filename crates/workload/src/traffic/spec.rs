//! What a user can ask for in traffic, checked but not yet bound to a fabric.

use super::PatternSpec;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// In each flit time of a network channel a message with the same probability.
    Bernoulli,
    /// At equal intervals; each node starts at a random phase unless `in_step`.
    Periodic { in_step: bool },
}

/// Whether messages are written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Write,
    /// Each message is fetched by a request of this size.
    Read {
        request: Bytes,
    },
}

/// Traffic that goes on for ever at an offered load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadSpec {
    pub pattern: PatternSpec,
    pub process: Process,
    pub load: OfferedLoad,
    pub message: Bytes,
    pub access: Access,
}

/// What a node waits for before its next step of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// Nothing: all messages are queued at the start.
    Nothing,
    /// Its own message has left and its partner's has come, as in `MPI_Sendrecv`.
    Exchange,
    /// As `Exchange`, on all nodes; the next step starts everywhere at once, this much later.
    Barrier { latency: Picoseconds },
}

/// A finite workload: every node sends `message` to each partner of the pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct ExchangeSpec {
    pub pattern: PatternSpec,
    pub message: Bytes,
    pub access: Access,
    pub between: Between,
    /// How often the whole exchange is done.
    pub rounds: u32,
}
