//! A load's repetitions as one row of `means.csv`.

use serde::{Deserialize, Serialize};

use super::columns::{microseconds, nanoseconds, optional};
use super::{PointRow, Status};
use crate::measure::half_width_95_of_few;
use crate::narrow::{narrow, try_rounded};
use crate::units::Picoseconds;

/// The mean over the repetitions of a point, which differ in their seeds only, with the half widths of
/// the 95% confidence intervals (Student's t over the repetitions). `None` is an empty cell: no
/// repetition has the value, or, for an interval, fewer than two have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanRow {
    pub series: String,
    pub figure: String,
    /// The number of the first repetition's point.
    pub point: u32,
    pub repetitions: u32,
    /// Repetitions that reached a steady state, or ran to their end.
    pub steady: u32,
    #[serde(with = "optional")]
    pub offered_load: Option<f64>,
    #[serde(with = "optional")]
    pub accepted_load: Option<f64>,
    #[serde(with = "optional")]
    pub accepted_load_ci95: Option<f64>,
    #[serde(rename = "packet_latency_mean_ns", with = "nanoseconds")]
    pub packet_latency_mean: Option<Picoseconds>,
    #[serde(rename = "packet_latency_mean_ci95_ns", with = "nanoseconds")]
    pub packet_latency_mean_ci95: Option<Picoseconds>,
    #[serde(rename = "packet_latency_p99_ns", with = "nanoseconds")]
    pub packet_latency_p99: Option<Picoseconds>,
    #[serde(rename = "packet_latency_p99_ci95_ns", with = "nanoseconds")]
    pub packet_latency_p99_ci95: Option<Picoseconds>,
    #[serde(rename = "completion_time_us", with = "microseconds")]
    pub completion_time: Option<Picoseconds>,
    #[serde(rename = "completion_time_ci95_us", with = "microseconds")]
    pub completion_time_ci95: Option<Picoseconds>,
}

impl MeanRow {
    /// One row for each `repetitions` points, which follow each other.
    #[must_use]
    pub fn of(points: &[PointRow], repetitions: u32) -> Vec<Self> {
        let place = |row: &PointRow| row.point / repetitions.max(1);
        points.chunk_by(|a, b| a.series == b.series && place(a) == place(b)).map(mean).collect()
    }
}

fn mean(rows: &[PointRow]) -> MeanRow {
    let first = &rows[0];
    let steady = |row: &&PointRow| matches!(row.status, Status::Steady | Status::Completed);
    let loads = |value: fn(&PointRow) -> Option<f64>| over(rows.iter().filter_map(value));
    let times = |value: fn(&PointRow) -> Option<Picoseconds>| {
        let (mean, half) = over(rows.iter().filter_map(value).map(|time| time as f64));
        let whole = |value| try_rounded(value).unwrap_or(Picoseconds::MAX);
        (mean.map(whole), half.map(whole))
    };
    let (accepted_load, accepted_load_ci95) = loads(|row| row.accepted_load);
    let (packet_latency_mean, packet_latency_mean_ci95) = times(|row| row.packet_latency_mean);
    let (packet_latency_p99, packet_latency_p99_ci95) = times(|row| row.packet_latency_p99);
    let (completion_time, completion_time_ci95) = times(|row| row.completion_time);
    MeanRow {
        series: first.series.clone(),
        figure: first.figure.clone(),
        point: first.point,
        repetitions: narrow(rows.len()),
        steady: narrow(rows.iter().filter(steady).count()),
        offered_load: first.offered_load,
        accepted_load,
        accepted_load_ci95,
        packet_latency_mean,
        packet_latency_mean_ci95,
        packet_latency_p99,
        packet_latency_p99_ci95,
        completion_time,
        completion_time_ci95,
    }
}

/// The mean of a sample, and the half width of its 95% confidence interval.
fn over(values: impl Iterator<Item = f64>) -> (Option<f64>, Option<f64>) {
    let values: Vec<f64> = values.collect();
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    (mean, half_width_95_of_few(&values))
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
        let means = MeanRow::of(&rows, 3);
        assert_eq!(means.len(), 2);
        assert_eq!((means[0].repetitions, means[0].steady), (3, 2));
        assert_eq!(means[0].packet_latency_mean, Some(102_000));
        // Standard deviation 2000, 2 degrees of freedom: 4.3027 * 2000 / sqrt(3).
        assert_eq!(means[0].packet_latency_mean_ci95, Some(4_968));
        assert_eq!((means[1].point, means[1].packet_latency_mean_ci95), (3, None));
    }
}
