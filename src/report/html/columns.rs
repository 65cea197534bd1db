//! The table of points: what its columns are called, and its cells.

use serde::Serialize;

use crate::report::{Cell, PointRow, Role};

/// What a script's numbers hold without loss.
const EXACT: i128 = 1 << 53;

/// A column of points.csv as the page shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Column {
    /// In points.csv.
    pub name: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub role: Role,
    /// Whether it is shown without being asked for.
    pub usual: bool,
}

/// The columns that have something in them in some result, and each result's rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cells {
    pub columns: Vec<Column>,
    pub rows: Vec<Vec<Vec<Cell>>>,
}

impl Cells {
    pub(super) fn of(results: &[&[PointRow]]) -> Self {
        let mut rows: Vec<Vec<Vec<Cell>>> = results.iter().map(|points| cells(points)).collect();
        let all = || rows.iter().flatten();
        let filled = |at: usize| all().any(|row| !matches!(&row[at], Cell::Empty));
        let named = |at: usize| {
            let empty = |cell: &Cell| matches!(cell, Cell::Text(text) if text.is_empty());
            !all().all(|row| empty(&row[at]))
        };
        let kept: Vec<usize> =
            (0..PointRow::COLUMNS.len()).filter(|&at| at == 0 || filled(at) && named(at)).collect();
        for row in rows.iter_mut().flatten() {
            *row = kept.iter().map(|&at| row[at].clone()).collect();
        }
        let column = |at: usize| {
            let column = &PointRow::COLUMNS[at];
            let (name, title, unit) = (column.name, column.title, column.unit);
            Column { name, title, unit, role: column.role, usual: column.usual }
        };
        Self { columns: kept.into_iter().map(column).collect(), rows }
    }
}

/// The rows' cells; numbers that a script can't hold as texts.
fn cells(points: &[PointRow]) -> Vec<Vec<Cell>> {
    let cell = |cell: Cell| match cell {
        Cell::Whole(whole) if whole.abs() > EXACT => Cell::Text(whole.to_string()),
        cell => cell,
    };
    let row = |row| PointRow::COLUMNS.iter().map(|column| cell((column.cell)(row))).collect();
    points.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_the_file_and_empty_columns_are_left_out() {
        let point = PointRow {
            series: "a, b".into(),
            seed: u64::MAX,
            offered_load: Some(0.25),
            packet_latency_mean: Some(726_492),
            digest: Some(0x1234_5678_9012_3456),
            ..PointRow::default()
        };
        let cells = Cells::of(&[&[point]]);
        let of = |name: &str| {
            let at = cells.columns.iter().position(|column| column.name == name)?;
            Some(cells.rows[0][0][at].clone())
        };
        assert_eq!(of("series"), Some(Cell::Text("a, b".into())));
        assert_eq!(of("seed"), Some(Cell::Text("18446744073709551615".into())));
        assert_eq!(of("offered_load"), Some(Cell::Number(0.25)));
        assert_eq!(of("packet_latency_mean_ns"), Some(Cell::Number(726.492)));
        assert_eq!(of("digest"), Some(Cell::Text("1234567890123456".into())));
        assert_eq!((of("figure"), of("completion_time_us")), (None, None));
    }
}
