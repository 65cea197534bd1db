//! The rows of a result in columns: what a program takes over as arrays.
//!
//! The columns, their names, units and values are those of the files: a number has the decimals
//! that the file has.

use super::csv::Row;
use super::folder::{SATURATION, TakeFiles, keys_of, of_points};
use super::table::{Cell, Kind};
use super::{Label, Labels, ResultRows};

/// A file of a result, in columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The file's name without its extension, such as `points`.
    pub name: &'static str,
    pub columns: Vec<NamedColumn>,
    pub rows: usize,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedColumn {
    /// As in the file, with its unit.
    pub name: String,
    /// Empty if it has none.
    pub unit: &'static str,
    /// In a sentence or two.
    pub meaning: String,
    pub values: Values,
}

/// The values of a column; `None` where a row has none.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Counts(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

impl Values {
    /// The values of cells of a kind.
    fn new(kind: Kind, cells: impl Iterator<Item = Cell>) -> Self {
        match kind {
            Kind::Count => Self::Counts(cells.map(|cell| whole(&cell)).collect()),
            Kind::Number => Self::Numbers(cells.map(|cell| cell.number()).collect()),
            Kind::Text => Self::Texts(cells.map(text).collect()),
        }
    }

    /// The values of a key of a sweep: numbers if all are.
    fn of_texts(texts: Vec<Option<String>>) -> Self {
        fn all<T>(texts: &[Option<String>], read: fn(&str) -> Option<T>) -> Option<Vec<Option<T>>> {
            texts
                .iter()
                .map(|text| text.as_deref().map(read).map_or(Some(None), |it| it.map(Some)))
                .collect()
        }
        if texts.iter().all(Option::is_none) {
            return Self::Texts(texts);
        }
        if let Some(counts) = all(&texts, |text| text.parse().ok()) {
            return Self::Counts(counts);
        }
        let finite = |text: &str| text.parse().ok().filter(|it: &f64| it.is_finite());
        match all(&texts, finite) {
            Some(numbers) => Self::Numbers(numbers),
            None => Self::Texts(texts),
        }
    }
}

fn whole(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Whole(value) => i64::try_from(*value).ok(),
        _ => None,
    }
}

fn text(cell: Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text),
        Cell::Empty => None,
        Cell::Whole(value) => Some(value.to_string()),
        Cell::Number(value) => Some(value.to_string()),
    }
}

impl Table {
    /// Rows without labels.
    pub fn of_rows<R: Row>(name: &'static str, rows: &[R]) -> Self {
        let label = Label::default();
        let rows: Vec<(&Label, &R)> = rows.iter().map(|row| (&label, row)).collect();
        Self::of(name, &Labels::None, false, &rows)
    }

    /// The rows of a file; of one of filled columns those without a value are left out.
    fn of<R: Row>(
        name: &'static str,
        labels: &Labels,
        filled: bool,
        rows: &[(&Label, &R)],
    ) -> Self {
        let mut columns = Vec::new();
        for label in labels.names() {
            let known = Label::COLUMNS.iter().find(|column| column.name == label);
            let values = match known {
                Some(column) => {
                    Values::new(column.kind, rows.iter().map(|(label, _)| (column.cell)(label)))
                }
                None => Values::of_texts(
                    rows.iter().map(|(row, _)| row.setting(label).map(str::to_owned)).collect(),
                ),
            };
            columns.push(NamedColumn {
                name: label.into(),
                unit: "",
                meaning: known.map_or_else(
                    || "A key of the sweep.".to_owned(),
                    |column| column.meaning().to_owned(),
                ),
                values,
            });
        }
        for column in R::columns() {
            let cells = || rows.iter().map(|(_, row)| (column.cell)(row));
            if filled && cells().all(|cell| cell == Cell::Empty) {
                continue;
            }
            columns.push(NamedColumn {
                name: column.name.into(),
                unit: column.unit,
                meaning: column.meaning().to_owned(),
                values: Values::new(column.kind, cells()),
            });
        }
        Self { name, columns, rows: rows.len() }
    }
}

impl ResultRows {
    /// The files of a result as tables, in the order in which they are written; without
    /// `means.csv`.
    pub fn tables(&self) -> Vec<Table> {
        let points = self.points.iter().map(|point| &point.label);
        let found = self.saturation.iter().map(|found| &found.label);
        let all = Labels::All(keys_of(points.chain(found)));
        let mut tables = Vec::new();
        let Ok(()) = of_points(&self.points, &all, &mut Collect(&mut tables));
        if !self.saturation.is_empty() {
            let rows: Vec<_> = self.saturation.iter().map(|it| (&it.label, &it.found)).collect();
            tables.push(Table::of(stem(SATURATION), &all, false, &rows));
        }
        tables
    }
}

/// Makes tables of what would be files.
struct Collect<'t>(&'t mut Vec<Table>);

impl TakeFiles for Collect<'_> {
    type Error = std::convert::Infallible;

    fn file<R: Row>(
        &mut self,
        name: &'static str,
        labels: &Labels,
        filled: bool,
        rows: &[(&Label, &R)],
    ) -> Result<(), Self::Error> {
        self.0.push(Table::of(stem(name), labels, filled, rows));
        Ok(())
    }
}

fn stem(file: &'static str) -> &'static str {
    file.strip_suffix(".csv").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Point, PointRow, labelled_text};

    fn point(number: u32, load: Option<f64>, settings: &[(&str, &str)]) -> Point {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let settings = settings.iter().map(own).collect();
        Point {
            label: Label { point: number, settings, ..Label::default() },
            measured: PointRow { offered_load: load, events: 7, ..PointRow::default() },
            ..Point::default()
        }
    }

    fn column<'t>(table: &'t Table, name: &str) -> &'t NamedColumn {
        table.columns.iter().find(|column| column.name == name).unwrap()
    }

    #[test]
    fn a_table_has_the_columns_of_its_file_and_their_values() {
        let points = vec![
            point(
                0,
                Some(1.0 / 3.0),
                &[("traffic.load", "0.3"), ("seed", "1"), ("routing", "a b")],
            ),
            point(1, None, &[("traffic.load", "1"), ("seed", "2")]),
        ];
        let rows = ResultRows { points, ..ResultRows::default() };
        let tables = rows.tables();
        let names: Vec<&str> = tables.iter().map(|table| table.name).collect();
        assert_eq!(names, ["points", "channels", "latencies"]);
        let table = &tables[0];
        let labels = Labels::All(keys_of(rows.points.iter().map(|point| &point.label)));
        let csv = labelled_text(&labels, rows.points.iter().map(|it| (&it.label, &it.measured)));
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, header);
        assert_eq!(table.rows, 2);
        assert_eq!(
            column(table, "offered_load").values,
            Values::Numbers(vec![Some(0.333_333), None])
        );
        assert_eq!(column(table, "events").values, Values::Counts(vec![Some(7), Some(7)]));
        assert_eq!(column(table, "packet_latency_mean_ns").unit, "ns");
        let loads = Values::Numbers(vec![Some(0.3), Some(1.0)]);
        assert_eq!(column(table, "traffic.load").values, loads);
        let routings = Values::Texts(vec![Some("a b".into()), None]);
        assert_eq!(column(table, "routing").values, routings);
    }
}
