//! How far a measurement is, and why it can't go on.

use serde::{Deserialize, Serialize};

use super::livelock::Arrivals;
use super::{Collector, Livelock};
use flitlab_base::units::Picoseconds;
use flitlab_engine::{Deadlock, Engine};

/// Why a measurement can't go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Halt {
    /// Packets wait for each other in a cycle.
    Deadlock(Deadlock),
    /// Packets move for ever, and none arrives.
    Livelock(Livelock),
}

impl From<Deadlock> for Halt {
    fn from(deadlock: Deadlock) -> Self {
        Self::Deadlock(deadlock)
    }
}

/// Whether packets move for ever, as far as can be told by what has arrived.
pub(super) fn livelock(
    engine: &Engine<'_, Collector>,
    arrivals: &mut Arrivals,
) -> Result<(), Halt> {
    let livelock = arrivals.note(&engine.counters(), engine.packets_under_way());
    livelock.map_or(Ok(()), |livelock| Err(Halt::Livelock(livelock)))
}

/// The phase of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The network fills; nothing counts yet.
    WarmUp,
    /// Deliveries count.
    Measuring,
}

/// How far a measurement has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// Simulated time.
    pub time: Picoseconds,
    /// Windows done; of an exchange, percent of its messages.
    pub done: u32,
    /// The largest value that `done` can reach.
    pub most: u32,
}
