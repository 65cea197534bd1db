//! The result of a point's simulation, and the point of a result, which has a name as well.

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

/// The whole result of a simulation, without the point's name in a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointResult {
    pub measured: PointRow,
    pub channels: Vec<ChannelRow>,
    pub latencies: Vec<LatencyRow>,
    pub windows: Vec<WindowRow>,
    pub explained: Explained,
    /// Warnings for the user, with advice on what to do.
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
    /// One object: the label and what was measured, without channels, latencies, windows and
    /// explanations.
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
