//! The table of points: what its columns are called, and its cells.

use serde::Serialize;

use crate::report::{PointRow, rows_text};

/// What a column is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Role {
    /// Names the point.
    Name,
    /// How much was offered: what curves are drawn over.
    Load,
    Latency,
    Throughput,
    /// Of finite exchanges.
    Exchange,
    /// How the measurement went.
    Course,
}

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

const fn usual(name: &'static str, title: &'static str, unit: &'static str, role: Role) -> Column {
    Column { name, title, unit, role, usual: true }
}

const fn more(name: &'static str, title: &'static str, unit: &'static str, role: Role) -> Column {
    Column { name, title, unit, role, usual: false }
}

/// All columns of points.csv, in the page's order.
const COLUMNS: [Column; 43] = [
    usual("series", "series", "", Role::Name),
    more("figure", "figure", "", Role::Name),
    more("point", "point", "", Role::Name),
    more("seed", "seed", "", Role::Name),
    more("nodes", "nodes", "", Role::Name),
    more("settings", "keys of the sweep", "", Role::Name),
    usual("status", "state", "", Role::Name),
    usual("offered_load", "offered load", "", Role::Load),
    more(
        "offered_payload_GB_per_s_per_node",
        "offered payload",
        "GB/s per sending node",
        Role::Load,
    ),
    usual("accepted_load", "accepted load", "", Role::Throughput),
    more(
        "accepted_payload_GB_per_s_per_node",
        "accepted payload",
        "GB/s per sending node",
        Role::Throughput,
    ),
    more("accepted_minimum_source_GB_per_s", "least served source", "GB/s", Role::Throughput),
    more("jain_fairness", "Jain fairness", "", Role::Throughput),
    usual("completion_time_us", "completion time", "us", Role::Exchange),
    usual("bandwidth_GB_per_s_per_node", "bandwidth", "GB/s per node", Role::Exchange),
    usual("packet_latency_mean_ns", "mean packet latency", "ns", Role::Latency),
    usual("packet_latency_mean_ci95_ns", "\u{b1} (95%)", "ns", Role::Course),
    usual("packet_latency_p50_ns", "packet latency p50", "ns", Role::Latency),
    more("packet_latency_p95_ns", "packet latency p95", "ns", Role::Latency),
    usual("packet_latency_p99_ns", "packet latency p99", "ns", Role::Latency),
    more("packet_latency_p999_ns", "packet latency p99.9", "ns", Role::Latency),
    usual("packet_latency_max_ns", "packet latency maximum", "ns", Role::Latency),
    more("network_latency_mean_ns", "mean latency from injection", "ns", Role::Latency),
    more("message_latency_mean_ns", "mean message latency", "ns", Role::Latency),
    more("message_latency_p50_ns", "message latency p50", "ns", Role::Latency),
    more("message_latency_p95_ns", "message latency p95", "ns", Role::Latency),
    more("message_latency_p99_ns", "message latency p99", "ns", Role::Latency),
    more("message_latency_p999_ns", "message latency p99.9", "ns", Role::Latency),
    more("message_latency_max_ns", "message latency maximum", "ns", Role::Latency),
    usual("hops_mean", "mean hops", "", Role::Throughput),
    more("derouted_outflank", "derouted by outflank nodes", "share", Role::Throughput),
    more("derouted_wraparound", "derouted by wraparound nodes", "share", Role::Throughput),
    more("derouted_orthant", "derouted into other orthants", "share", Role::Throughput),
    usual("interruption_us", "interruption", "us", Role::Exchange),
    usual("recovery_us", "recovery", "us", Role::Exchange),
    usual("packets_lost", "packets lost", "", Role::Exchange),
    more("messages_lost", "messages lost", "", Role::Exchange),
    more("packets", "packets", "", Role::Course),
    more("simulated_time_us", "simulated time", "us", Role::Course),
    more("warm_up_us", "warm-up", "us", Role::Course),
    more("windows", "windows", "", Role::Course),
    more("events", "events", "", Role::Course),
    more("digest", "digest", "", Role::Course),
];

/// Columns whose cells are texts, or numbers too long for a script's.
const TEXTS: [&str; 6] = ["series", "figure", "status", "seed", "settings", "digest"];

/// A cell as JSON: a number, a text, or null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Cell {
    Empty,
    Whole(i64),
    Number(f64),
    Text(String),
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
            (0..COLUMNS.len()).filter(|&at| at == 0 || filled(at) && named(at)).collect();
        for row in rows.iter_mut().flatten() {
            *row = kept.iter().map(|&at| row[at].clone()).collect();
        }
        Self { columns: kept.into_iter().map(|at| COLUMNS[at]).collect(), rows }
    }
}

/// The rows' cells as points.csv has them, in the order of [`COLUMNS`].
fn cells(points: &[PointRow]) -> Vec<Vec<Cell>> {
    let text = rows_text(points);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let place = |column: &Column| header.iter().position(|name| name == column.name);
    let places = COLUMNS.map(|column| place(&column).map(|at| (at, TEXTS.contains(&column.name))));
    let records = reader.records().map(|record| record.expect("it was written here"));
    let row = |record: csv::StringRecord| {
        places
            .iter()
            .map(|place| place.map_or(Cell::Empty, |(at, text)| cell(&record[at], text)))
            .collect()
    };
    records.map(row).collect()
}

fn cell(text: &str, is_text: bool) -> Cell {
    match (is_text, text.parse::<i64>(), text.parse::<f64>()) {
        (true, ..) => Cell::Text(text.to_owned()),
        (false, Ok(whole), _) => Cell::Whole(whole),
        (false, _, Ok(number)) => Cell::Number(number),
        _ => Cell::Empty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_of_points_csv_has_a_title_here() {
        let text = rows_text(&[PointRow::default()]);
        let mut names: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let mut ours: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        names.sort_unstable();
        ours.sort_unstable();
        assert_eq!(names, ours);
    }

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
