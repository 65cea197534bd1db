//! A point's deadlock, as people read it.

use serde::{Deserialize, Serialize};

use crate::units::Picoseconds;

/// The packets of a point that wait for one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeadlockNote {
    pub point: u32,
    pub time_ns: f64,
    /// One line a packet.
    pub cycle: Vec<String>,
}

impl DeadlockNote {
    /// Of a deadlock at a time; `lines` are a heading and a line a packet.
    #[must_use]
    pub fn new(point: u32, time: Picoseconds, lines: &str) -> Self {
        Self {
            point,
            time_ns: time as f64 / 1e3,
            cycle: lines.lines().skip(1).map(|line| line.trim().to_owned()).collect(),
        }
    }
}
