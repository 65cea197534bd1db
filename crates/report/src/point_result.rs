//! What the simulation of a point found, and a point of a result: that with its name.

use serde::{Deserialize, Serialize, Serializer};

use super::{ChannelRow, Explained, Label, Labelled, LatencyRow, PointRow, WindowRow};
use flitlab_base::units::Picoseconds;
use flitlab_model::Deadlock;

/// Packets that wait for one another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadlockText {
    #[serde(rename = "time_ps")]
    pub time: Picoseconds,
    /// For people: a heading, and a line a packet.
    pub text: String,
}

impl From<&Deadlock> for DeadlockText {
    fn from(deadlock: &Deadlock) -> Self {
        Self { time: deadlock.time, text: deadlock.to_string() }
    }
}

/// All that a simulation gives; it knows nothing of what its sweep calls the point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointResult {
    pub measured: PointRow,
    pub channels: Vec<ChannelRow>,
    pub latencies: Vec<LatencyRow>,
    pub windows: Vec<WindowRow>,
    pub explained: Explained,
    /// What the user should know, and what to do about it.
    pub warnings: Vec<String>,
    pub deadlock: Option<DeadlockText>,
}

/// A point of a run or a sweep, with as much of it as its result keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    pub label: Label,
    pub measured: PointRow,
    pub channels: Vec<ChannelRow>,
    pub latencies: Vec<LatencyRow>,
    pub windows: Vec<WindowRow>,
    pub explained: Explained,
}

impl Serialize for Point {
    /// One object: the label and what was measured, without channels, latencies, windows and explanations.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Labelled::new(&self.label, &self.measured).serialize(serializer)
    }
}

impl Point {
    /// A finding under its name, without its warnings.
    pub fn new(label: Label, found: PointResult) -> Self {
        let PointResult { measured, channels, latencies, windows, explained, .. } = found;
        Self { label, measured, channels, latencies, windows, explained }
    }
}
