//! One workload of a point that has several, as a row of `workloads.csv`.

use std::sync::LazyLock;

use flitlab_base::units::Picoseconds;

use super::PointRow;
use super::table::{Column, Given, Holds, Microseconds, Number, Text, column, row, table};

/// What was measured of one workload of a point, whose network it shares with others.
///
/// The row of the point, in `points.csv`, is of all its workloads together. This one has the same
/// columns for one of them, as far as they can be told of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkloadRow {
    /// The workload's name in the scenario.
    pub name: String,
    /// The workload's kind: `traffic`, `exchange`, `collective`, `remote_memory`, `application`,
    /// `flows`, or one that another crate adds.
    pub kind: String,
    /// When it begins; its completion time counts from then on.
    pub start: Option<Picoseconds>,
    /// Its completion time when it is simulated without the others.
    pub alone: Option<Picoseconds>,
    /// Its completion time beside the others over that without them.
    pub slowdown: Option<f64>,
    /// What is known of this workload; what is not is absent. The number of events is never
    /// written, since a grant is one of the network.
    pub measured: PointRow,
}

table! {
    /// How much one workload of a point slows another one that ends: both are simulated without the
    /// rest.
    pub struct SlowdownRow {
        /// The workload that is slowed.
        workload: String as Text<String>, "workload", "workload", Label, usual;
        /// The workload beside it.
        beside: String as Text<String>, "beside", "beside", Label, usual;
        /// Completion time of the first beside the second.
        completion: Picoseconds as Given<Microseconds>, "completion_us", "completion time", Completion, usual;
        /// That over its completion time alone.
        slowdown: f64 as Given<Number>, "slowdown", "slowdown", Completion, usual;
    }
}

impl Holds<PointRow> for WorkloadRow {
    fn held(&self) -> &PointRow {
        &self.measured
    }

    fn held_mut(&mut self) -> &mut PointRow {
        &mut self.measured
    }
}

static COLUMNS: LazyLock<Vec<Column<WorkloadRow>>> = LazyLock::new(|| {
    let own: [Column<WorkloadRow>; 5] = [
        column!(
            "The workload's name in the scenario.",
            row => row.name, row.name;
            Text<String>, "workload", "workload", Label, usual
        ),
        column!(
            "Its kind: `traffic`, `exchange`, `collective`, `remote_memory`, `application`, `flows`, or one \
             that another crate adds.",
            row => row.kind, row.kind;
            Text<String>, "kind", "kind", Label, usual
        ),
        column!(
            "Its completion time when it is simulated without the others, if `measure.slowdowns` asks for it.",
            row => row.alone, row.alone;
            Microseconds, "alone_us", "completion time alone", Completion, usual
        ),
        column!(
            "Its slowdown: the completion time beside the others over that without them.",
            row => row.slowdown, row.slowdown;
            Number, "slowdown", "slowdown", Completion, usual
        ),
        column!(
            "When it begins; its completion time counts from then on.",
            row => row.start, row.start;
            Microseconds, "start_us", "start", Label, usual
        ),
    ];
    // Of the columns that every row has a value in, a workload has its state alone.
    let known = |column: &Column<WorkloadRow>| !column.given || column.name == "status";
    let measured = PointRow::columns_in().into_iter().filter(known);
    // Every point of a network has the same number of nodes, and each workload its own.
    let shown = |column: Column<WorkloadRow>| Column {
        usual: column.usual || column.name == "nodes",
        ..column
    };
    own.into_iter().chain(measured.map(shown)).collect()
});

row!(WorkloadRow, &COLUMNS);
