//! The result of a point's simulation, and the point of a result, which has a name as well.

use serde::{Deserialize, Serialize, Serializer};

use super::{
    ChannelRow, Explained, FailureRow, Label, Labelled, LatencyRow, PairRow, PointRow, SlowdownRow,
    WindowRow, WorkloadRow,
};
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
    /// By source, by destination and by pair, as far as the scenario asks for them.
    pub pairs: Vec<PairRow>,
    /// A row for each workload, in their order; empty where the scenario has one workload, of which
    /// `measured` tells everything.
    pub workloads: Vec<WorkloadRow>,
    /// A row for each workload that ends and each other one, if the scenario asks for them.
    pub slowdowns: Vec<SlowdownRow>,
    /// A row for each failure during operation, if there are several; `measured` tells of one.
    pub failures: Vec<FailureRow>,
    pub explained: Explained,
    /// Warnings for the user, with advice on what to do.
    pub warnings: Vec<String>,
    pub deadlock: Option<DeadlockText>,
    /// The commit of flitlab that computed it, of a point that was kept; empty if it is not known.
    pub commit: String,
}

/// A point of a run or a sweep, with as much of it as its result keeps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    pub label: Label,
    pub measured: PointRow,
    pub channels: Vec<ChannelRow>,
    pub latencies: Vec<LatencyRow>,
    pub windows: Vec<WindowRow>,
    /// By source, by destination and by pair, as far as the scenario asks for them.
    pub pairs: Vec<PairRow>,
    /// A row for each workload, in their order; empty where the scenario has one workload, of which
    /// `measured` tells everything.
    pub workloads: Vec<WorkloadRow>,
    /// A row for each workload that ends and each other one, if the scenario asks for them.
    pub slowdowns: Vec<SlowdownRow>,
    /// A row for each failure during operation, if there are several; `measured` tells of one.
    pub failures: Vec<FailureRow>,
    pub explained: Explained,
}

/// A point's row with the rows of its workloads and of its failures.
#[derive(Serialize)]
struct WithRows<'p> {
    #[serde(flatten)]
    measured: &'p PointRow,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    workloads: &'p [WorkloadRow],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    failures: &'p [FailureRow],
}

impl Serialize for Point {
    /// One object: the label, what was measured, and arrays of what was measured of each workload
    /// and of each failure, if there are several. Without channels, latencies, windows and
    /// explanations.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { measured, workloads, failures, .. } = self;
        let row = WithRows { measured, workloads, failures };
        Labelled::new(&self.label, &row).serialize(serializer)
    }
}

impl Point {
    /// A finding under its name, without its warnings.
    pub fn new(label: Label, found: PointResult) -> Self {
        let PointResult {
            measured,
            channels,
            latencies,
            windows,
            pairs,
            workloads,
            slowdowns,
            failures,
            explained,
            ..
        } = found;
        Self {
            label,
            measured,
            channels,
            latencies,
            windows,
            pairs,
            workloads,
            slowdowns,
            failures,
            explained,
        }
    }
}
