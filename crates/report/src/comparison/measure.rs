//! The measured values that can be compared.

use std::sync::LazyLock;

use serde::{Serialize, Serializer};

use crate::table::{Cell, Column};
use crate::{Point, PointRow, Role, Status};

use super::Estimate;

/// A measured value: a column of points.csv, or the load that a search for saturation found.
#[derive(Clone, Copy, Debug)]
pub struct Measure(&'static Column<PointRow>);

/// The column of sustained loads, which come from a search for saturation and belong to no point.
static SUSTAINED_LOAD: Column<PointRow> =
    Column::of_no_row("sustained_load", "highest sustained load", Role::Throughput, |_| {
        Cell::Empty
    });

/// All measures of points.
pub static MEASURES: LazyLock<Vec<Measure>> = LazyLock::new(|| {
    let measured = PointRow::COLUMNS.iter().filter(|column| column.role.is_measured());
    measured.map(Measure).collect()
});

/// The measures of interest to most: what [`Comparison`](super::Comparison) looks at unless told
/// otherwise.
const USUAL_MEASURES: [&str; 3] = ["accepted_load", "packet_latency_mean", "completion_time"];

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Measure {}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.name().serialize(serializer)
    }
}

impl Measure {
    /// The one with this [name](Self::name).
    pub fn named(name: &str) -> Option<Self> {
        MEASURES.iter().copied().find(|measure| measure.name() == name)
    }

    /// Returns the measures that interest most readers.
    pub fn usual() -> Vec<Self> {
        USUAL_MEASURES.iter().filter_map(|name| Self::named(name)).collect()
    }

    /// Returns the measure of sustained loads.
    pub(super) fn sustained_load() -> Self {
        Self(&SUSTAINED_LOAD)
    }

    /// The name to type: the column's, without the unit.
    pub fn name(self) -> &'static str {
        self.0.stem()
    }

    /// Returns the title of the measure, for people.
    pub fn title(self) -> String {
        self.0.full_title()
    }

    /// Decimals that are worth reading.
    pub fn decimals(self) -> usize {
        self.0.decimals
    }

    /// The mean over runs that differ in nothing but the seed; `None` if one has no such value.
    pub(super) fn of(self, runs: &[&Point]) -> Option<Estimate> {
        let values: Option<Vec<_>> = runs.iter().map(|run| self.of_run(run)).collect();
        Estimate::of_runs(&values?)
    }

    /// The value and half its confidence interval.
    pub(crate) fn of_run(self, row: &Point) -> Option<(f64, Option<f64>)> {
        match row.measured.status {
            Status::Steady | Status::Completed => {}
            // A latency there grows with the time simulated.
            Status::NotSteady | Status::Undecided if self.0.role == Role::Throughput => {}
            Status::NotSteady
            | Status::Undecided
            | Status::Deadlock
            | Status::Stuck
            | Status::Livelock
            | Status::TooLong => return None,
        }
        self.0.estimate(&row.measured)
    }
}
