//! `means.csv`: the repetitions of each point, which differ in their seeds alone, as one row.

use super::folder::keys_of;
use super::spreadsheet::harmless_file;
use super::table::{Cell, Column};
use super::{Label, Point, PointRow, Role};
use flitlab_model::interval::half_width_95_of_few;

/// The labels that a point's repetitions have in common, beside the keys of the sweep.
const LABELS: [&str; 3] = ["series", "figure", "point"];

/// The means over the repetitions of each point, which follow each other, as a CSV file; `None` if
/// no point is repeated.
///
/// Every measured value has a column under its name in points.csv, and one with the half width of
/// its 95% confidence interval (Student's t over the repetitions), whose name has `_ci95`. A cell
/// is empty if no repetition has the value, or, for an interval, fewer than two have. `point` is
/// the number of the first repetition's point, `steady` how many repetitions reached a steady
/// state, or ran to their end.
pub fn means_text(points: &[Point]) -> Option<String> {
    if points.iter().all(|point| point.label.repetition == 0) {
        return None;
    }
    let labels: Vec<&Column<Label>> =
        Label::COLUMNS.iter().filter(|column| LABELS.contains(&column.name)).collect();
    let keys = keys_of(points.iter().map(|point| &point.label));
    let of = |role: fn(Role) -> bool| -> Vec<&Column<PointRow>> {
        PointRow::COLUMNS.iter().filter(|column| role(column.role)).collect()
    };
    let (loads, measured) = (of(|role| role == Role::Load), of(Role::is_measured));

    let mut header: Vec<String> = labels.iter().map(|column| column.name.into()).collect();
    header.extend(keys.iter().cloned());
    header.extend(["repetitions".into(), "steady".into()]);
    header.extend(loads.iter().map(|column| column.name.to_owned()));
    header.extend(measured.iter().flat_map(|it| [it.name.to_owned(), it.interval()]));

    let first = |label: &Label| label.point - label.repetition.min(label.point);
    let same = |a: &Point, b: &Point| {
        a.label.series == b.label.series && first(&a.label) == first(&b.label)
    };
    let rows = points.chunk_by(same).map(|runs| {
        let label = &runs[0].label;
        let steady = runs.iter().filter(|run| run.measured.status.is_good()).count();
        let mut row: Vec<Cell> = labels.iter().map(|column| (column.cell)(label)).collect();
        let setting = |key: &String| label.setting(key).map(|value| Cell::Text(value.into()));
        row.extend(keys.iter().map(|key| setting(key).unwrap_or(Cell::Empty)));
        row.extend([runs.len(), steady].map(|count| Cell::Whole(count as i128)));
        row.extend(loads.iter().map(|column| (column.cell)(&runs[0].measured)));
        row.extend(measured.iter().flat_map(|column| {
            let value = |run: &Point| (column.cell)(&run.measured).number();
            let values: Vec<f64> = runs.iter().filter_map(value).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            [Some(mean), half_width_95_of_few(&values)].map(Cell::number_or_empty)
        }));
        row
    });

    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).expect("a buffer in memory");
    rows.for_each(|row| writer.serialize(row).expect("plain cells"));
    let text = writer.into_inner().expect("a buffer in memory");
    Some(harmless_file(String::from_utf8(text).expect("CSV of texts")))
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;
    use flitlab_base::units::Picoseconds;

    #[test]
    fn repetitions_become_one_row_with_their_interval() {
        let row = |point, repetition, latency, status| Point {
            label: Label {
                point,
                repetition,
                settings: vec![("traffic.load".into(), "0.1".into())],
                ..Label::default()
            },
            measured: PointRow {
                status,
                packet_latency_mean: Some(latency),
                ..PointRow::default()
            },
            ..Point::default()
        };
        let rows = [
            row(0, 0, Picoseconds(100_000), Status::Steady),
            row(1, 1, Picoseconds(102_000), Status::Steady),
            row(2, 2, Picoseconds(104_000), Status::NotSteady),
            row(3, 0, Picoseconds(200_000), Status::Steady),
        ];
        let text = means_text(&rows).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let means: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(means.len(), 2);
        let cell = |row: usize, name: &str| {
            &means[row][header.iter().position(|column| column == name).unwrap()]
        };
        assert_eq!((cell(0, "repetitions"), cell(0, "steady")), ("3", "2"));
        assert_eq!((cell(0, "traffic.load"), cell(0, "packet_latency_mean_ns")), ("0.1", "102"));
        // Standard deviation 2, 2 degrees of freedom: 4.3026534 * 2 / sqrt(3).
        assert_eq!(cell(0, "packet_latency_mean_ci95_ns"), "4.968276");
        assert_eq!((cell(1, "point"), cell(1, "packet_latency_mean_ci95_ns")), ("3", ""));
        assert_eq!(cell(0, "accepted_load"), "");
    }
}
