//! What comes of a simulation, and what it costs.

use std::time::Duration;

use flitlab_engine::{Counters, Deadlock};
use flitlab_measure::Logged;
use flitlab_report::PointResult;

/// The outcome of a simulation.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub found: PointResult,
    /// With its packets, where the finding has a text.
    pub deadlock: Option<Deadlock>,
    /// Packets and messages, if they were asked for.
    pub logged: Logged,
    pub work: Work,
}

/// The cost of a simulation. It is no part of the results, since it differs from run to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Work {
    /// CPU time of all threads while simulating, and of this one while building what is simulated.
    pub simulating: Duration,
    pub building: Duration,
    /// Simulating, on the clock.
    pub elapsed: Duration,
    pub counters: Counters,
    /// Bytes of the simulator's arrays per node before traffic, and per packet under way.
    pub bytes_a_node: f64,
    pub bytes_a_packet: usize,
}

impl Work {
    /// Adds the cost of another simulation that belongs to this one.
    pub(super) fn add(&mut self, other: &Self) {
        self.simulating += other.simulating;
        self.building += other.building;
        self.elapsed += other.elapsed;
        self.counters.add(&other.counters);
    }

    /// CPU nanoseconds for each of `count` things.
    pub fn nanoseconds_each(&self, count: u64) -> f64 {
        self.simulating.as_nanos() as f64 / count.max(1) as f64
    }
}
