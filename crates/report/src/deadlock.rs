//! A point's deadlock, as people read it.

use serde::{Deserialize, Serialize};

use super::DeadlockText;

/// The packets of a point that wait for one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeadlockNote {
    pub point: u32,
    pub time_ns: f64,
    /// One line a packet.
    pub cycle: Vec<String>,
}

impl DeadlockNote {
    /// Of a point's deadlock.
    pub fn new(point: u32, found: &DeadlockText) -> Self {
        let lines = found.text.lines().skip(1);
        Self {
            point,
            time_ns: found.time.0 as f64 / 1e3,
            cycle: lines.map(|line| line.trim().to_owned()).collect(),
        }
    }
}
