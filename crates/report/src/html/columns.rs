//! The table of points: what its columns are called, and its cells.

use serde::Serialize;

use crate::folder::keys_of;
use crate::{Cell, Column as Declared, Label, Point, PointRow, Role};

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
        let filled = |at: usize| {
            let empty = |cell: &Cell| match cell {
                Cell::Text(text) => text.is_empty(),
                cell => *cell == Cell::Empty,
            };
            rows.iter().flatten().any(|row| !empty(&row[at]))
        };
        let kept: Vec<usize> = (0..columns.len()).filter(|&at| at == 0 || filled(at)).collect();
        for row in rows.iter_mut().flatten() {
            *row = kept.iter().map(|&at| row[at].clone()).collect();
        }
        Self { columns: kept.into_iter().map(|at| columns[at].clone()).collect(), rows }
    }
}

/// A point's cells; numbers that a script can't hold as texts.
fn cells(Point { label, measured, .. }: &Point, keys: &[String]) -> Vec<Cell> {
    let exact = |cell: Cell| match cell {
        Cell::Whole(whole) if whole.abs() > EXACT => Cell::Text(whole.to_string()),
        cell => cell,
    };
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
