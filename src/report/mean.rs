//! `means.csv`: the repetitions of each point, which differ in their seeds alone, as one row.

use super::table::Cell;
use super::{PointRow, Role, Status};
use crate::measure::half_width_95_of_few;

/// The labels that a point's repetitions have in common.
const LABELS: [&str; 4] = ["series", "figure", "point", "settings"];

/// The means over each `repetitions` points, which follow each other, as a CSV file. Every measured value has a column
/// under its name in points.csv, and one with the half width of its 95% confidence interval (Student's t over the
/// repetitions), whose name has `_ci95`. A cell is empty if no repetition has the value, or, for an interval, fewer
/// than two have. `point` is the number of the first repetition's point, `steady` how many repetitions reached a
/// steady state, or ran to their end.
#[must_use]
pub fn means_text(points: &[PointRow], repetitions: u32) -> String {
    let labels =
        || LABELS.into_iter().map(|name| PointRow::column(name).expect("one of its labels"));
    let of =
        |role: fn(Role) -> bool| PointRow::COLUMNS.iter().filter(move |column| role(column.role));
    let mut header: Vec<String> = labels().map(|column| column.name.into()).collect();
    header.extend(["repetitions".into(), "steady".into()]);
    header.extend(of(|role| role == Role::Load).map(|column| column.name.to_owned()));
    header.extend(of(Role::is_measured).flat_map(|it| [it.name.to_owned(), it.interval()]));

    let place = |row: &PointRow| row.point / repetitions.max(1);
    let rows = points.chunk_by(|a, b| a.series == b.series && place(a) == place(b)).map(|runs| {
        let steady = |row: &&PointRow| matches!(row.status, Status::Steady | Status::Completed);
        let counts = [runs.len(), runs.iter().filter(steady).count()];
        let mut row: Vec<Cell> = labels().map(|column| (column.cell)(&runs[0])).collect();
        row.extend(counts.map(|count| Cell::Whole(count as i128)));
        row.extend(of(|role| role == Role::Load).map(|column| (column.cell)(&runs[0])));
        row.extend(of(Role::is_measured).flat_map(|column| {
            let values: Vec<f64> =
                runs.iter().filter_map(|run| (column.cell)(run).number()).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            [Some(mean), half_width_95_of_few(&values)].map(Cell::number_or_empty)
        }));
        row
    });

    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).expect("a buffer in memory");
    rows.for_each(|row| writer.serialize(row).expect("plain cells"));
    String::from_utf8(writer.into_inner().expect("a buffer in memory")).expect("CSV of texts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_become_one_row_with_their_interval() {
        let row = |point, latency, status| PointRow {
            point,
            status,
            packet_latency_mean: Some(latency),
            ..PointRow::default()
        };
        let rows = [
            row(0, 100_000, Status::Steady),
            row(1, 102_000, Status::Steady),
            row(2, 104_000, Status::NotSteady),
            row(3, 200_000, Status::Steady),
        ];
        let text = means_text(&rows, 3);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        let means: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(means.len(), 2);
        let cell = |row: usize, name: &str| {
            &means[row][header.iter().position(|column| column == name).unwrap()]
        };
        assert_eq!((cell(0, "repetitions"), cell(0, "steady")), ("3", "2"));
        assert_eq!(cell(0, "packet_latency_mean_ns"), "102");
        // Standard deviation 2, 2 degrees of freedom: 4.3026534 * 2 / sqrt(3).
        assert_eq!(cell(0, "packet_latency_mean_ci95_ns"), "4.968276");
        assert_eq!((cell(1, "point"), cell(1, "packet_latency_mean_ci95_ns")), ("3", ""));
        assert_eq!(cell(0, "accepted_load"), "");
    }
}
