//! The tables of points and of their workloads: what columns are called, and cells.

use serde::Serialize;

use flitlab_report::folder::keys_of;
use flitlab_report::{
    Cell, Column as Declared, Label, Point, PointRow, Role, Row as _, WorkloadRow,
};

/// The largest integer that a script's numbers hold without loss.
const EXACT: i128 = 1 << 53;

/// A column of points.csv as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Column {
    /// In points.csv.
    pub name: String,
    pub title: String,
    pub unit: &'static str,
    pub role: Role,
    /// Whether it is shown without being asked for.
    pub usual: bool,
}

impl<R> From<&Declared<R>> for Column {
    fn from(column: &Declared<R>) -> Self {
        Self {
            name: column.name.into(),
            title: column.title.into(),
            // As the pictures on the page have it.
            unit: if column.unit == "us" { "\u{b5}s" } else { column.unit },
            role: column.role,
            usual: column.usual,
        }
    }
}

/// The columns that have something in them in some result, and each result's rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Vec<Cell>>>,
}

impl Cells {
    pub(super) fn of(results: &[&[Point]]) -> Self {
        let keys = keys_of(results.iter().flat_map(|points| points.iter().map(|it| &it.label)));
        let of_key = |key: &String| {
            let (name, title) = (key.clone(), key.clone());
            Column { name, title, unit: "", role: Role::Label, usual: false }
        };
        let columns: Vec<Column> = Label::COLUMNS
            .iter()
            .map(Column::from)
            .chain(keys.iter().map(of_key))
            .chain(PointRow::COLUMNS.iter().map(Column::from))
            .collect();
        let mut rows: Vec<Vec<Vec<Cell>>> = results
            .iter()
            .map(|points| points.iter().map(|point| cells(point, &keys)).collect())
            .collect();
        let columns = keep_filled(columns, rows.iter_mut().flatten().collect());
        Self { columns, rows }
    }
}

/// A workload of a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Workload {
    /// The number of its point's row.
    point: usize,
    cells: Vec<Cell>,
}

/// The workloads of each result's points, and the columns that have something in them.
pub(super) fn workloads(results: &[&[Point]]) -> (Vec<Column>, Vec<Vec<Workload>>) {
    let of_row = |row: &WorkloadRow| {
        WorkloadRow::columns().iter().map(|column| exact((column.cell)(row))).collect()
    };
    let of_point = |(point, it): (usize, &Point)| {
        it.workloads.iter().map(|row| Workload { point, cells: of_row(row) }).collect::<Vec<_>>()
    };
    let of_result = |points: &&[Point]| points.iter().enumerate().flat_map(of_point).collect();
    let mut workloads: Vec<Vec<Workload>> = results.iter().map(of_result).collect();
    let cells = workloads.iter_mut().flatten().map(|it| &mut it.cells).collect();
    let columns = keep_filled(WorkloadRow::columns().iter().map(Column::from).collect(), cells);
    (columns, workloads)
}

/// Leaves out the columns that have something in no row, but for the first, here and in the rows.
fn keep_filled(columns: Vec<Column>, mut rows: Vec<&mut Vec<Cell>>) -> Vec<Column> {
    let empty = |cell: &Cell| match cell {
        Cell::Text(text) => text.is_empty(),
        cell => *cell == Cell::Empty,
    };
    let filled = |at: usize| rows.iter().any(|row| !empty(&row[at]));
    let kept: Vec<usize> = (0..columns.len()).filter(|&at| at == 0 || filled(at)).collect();
    for row in &mut rows {
        **row = kept.iter().map(|&at| row[at].clone()).collect();
    }
    kept.into_iter().map(|at| columns[at].clone()).collect()
}

/// Numbers that a script can't hold as texts.
fn exact(cell: Cell) -> Cell {
    match cell {
        Cell::Whole(whole) if whole.abs() > EXACT => Cell::Text(whole.to_string()),
        cell => cell,
    }
}

/// A point's cells.
fn cells(Point { label, measured, .. }: &Point, keys: &[String]) -> Vec<Cell> {
    let setting =
        |key: &String| label.setting(key).map_or(Cell::Empty, |value| Cell::Text(value.to_owned()));
    let of_label = Label::COLUMNS.iter().map(|column| (column.cell)(label));
    let of_measured = PointRow::COLUMNS.iter().map(|column| (column.cell)(measured));
    of_label.chain(keys.iter().map(setting)).chain(of_measured).map(exact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::units::Picoseconds;

    #[test]
    fn cells_are_those_of_the_file_and_empty_columns_are_left_out() {
        let point = Point {
            label: Label {
                series: "a, b".into(),
                seed: u64::MAX,
                settings: vec![("router.buffer".into(), "72 flits".into())],
                ..Label::default()
            },
            measured: PointRow {
                offered_load: Some(0.25),
                packet_latency_mean: Some(Picoseconds(726_492)),
                digest: Some(0x1234_5678_9012_3456),
                ..PointRow::default()
            },
            ..Point::default()
        };
        let cells = Cells::of(&[&[point]]);
        let of = |name: &str| {
            let at = cells.columns.iter().position(|column| column.name == name)?;
            Some(cells.rows[0][0][at].clone())
        };
        assert_eq!(of("series"), Some(Cell::Text("a, b".into())));
        assert_eq!(of("seed"), Some(Cell::Text("18446744073709551615".into())));
        assert_eq!(of("router.buffer"), Some(Cell::Text("72 flits".into())));
        assert_eq!(of("offered_load"), Some(Cell::Number(0.25)));
        assert_eq!(of("packet_latency_mean_ns"), Some(Cell::Number(726.492)));
        assert_eq!(of("digest"), Some(Cell::Text("1234567890123456".into())));
        assert_eq!((of("figure"), of("completion_time_us")), (None, None));
    }
}
