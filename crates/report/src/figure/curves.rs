//! From rows to curves: one a series, points in ascending offered load, seeds put together.

use super::super::{Point, PointRow, Status};
use super::axis::Axis;
use super::chart::is_visible;
use super::figure_style::{LoadsIn, Tail};
use super::palette::{Colour, Pen};
use super::style::Pens;
use flitlab_base::units::Picoseconds;
use flitlab_model::interval::half_width_95_of_few;

/// The unit of loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Fractions of the fabric's capacity.
    Load,
    /// Payload a sending node.
    Payload,
}

impl Quantity {
    /// Returns the unit of these points' loads. It is payload if that is wanted, if they are
    /// fractions of different capacities, or if some have no fraction.
    pub fn of<'p>(points: impl Iterator<Item = &'p Point> + Clone, wanted: LoadsIn) -> Self {
        let loads = points.filter(|point| point.measured.offered().is_some_and(f64::is_finite));
        let mut capacities = loads.clone().filter_map(|point| point.measured.capacity);
        let first = capacities.next();
        let one = capacities.all(|capacity| Some(capacity) == first);
        let all = { loads }.all(|point| point.measured.offered_load.is_some_and(f64::is_finite));
        if all && one && wanted == LoadsIn::Usual { Self::Load } else { Self::Payload }
    }

    /// Returns the offered load in this unit.
    pub fn offered(self, measured: &PointRow) -> Option<f64> {
        match self {
            Self::Load => measured.offered_load,
            Self::Payload => measured.offered_payload,
        }
    }

    pub fn accepted(self, measured: &PointRow) -> Option<f64> {
        match self {
            Self::Load => measured.accepted_load,
            Self::Payload => measured.accepted_payload,
        }
    }

    /// An axis title such as "Offered load (fraction of capacity)".
    pub fn title(self, verb: &str) -> String {
        match self {
            Self::Load => format!("{verb} load (fraction of capacity)"),
            Self::Payload => format!("{verb} payload (GB/s per sending node)"),
        }
    }
}

/// All curves of a figure, in the order in which their series first appear.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curves {
    pub quantity: Quantity,
    pub curves: Vec<Curve>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub label: String,
    pub pen: Pen,
    /// In ascending order of `offered`, each value once.
    pub points: Vec<CurvePoint>,
}

/// The mean over the rows of one series that have the same offered load (their seeds differ).
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CurvePoint {
    pub offered: f64,
    pub accepted: Option<f64>,
    /// The 95% confidence interval of what is accepted, over several rows.
    pub accepted_interval: Option<(f64, f64)>,
    /// The worst among the rows.
    pub status: Status,
    /// Mean packet latency in ns.
    pub mean: Option<f64>,
    /// The 95% confidence interval of the mean over several rows, or that of a single row, in ns.
    pub interval: Option<(f64, f64)>,
    /// Percentiles of the packet latency, in ns, in the order of [`Percentile`].
    pub percentiles: [Option<f64>; Percentile::ALL.len()],
}

/// A latency of a row, if it has it.
type Latency = fn(&PointRow) -> Option<Picoseconds>;

/// The percentiles that rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Percentile {
    P50,
    P95,
    P99,
    P999,
}

impl Percentile {
    /// The one that is drawn beside the mean, if any is.
    pub fn beside_mean(tail: Tail) -> Option<Self> {
        match tail {
            Tail::Nothing => None,
            Tail::P95 => Some(Self::P95),
            Tail::P99 => Some(Self::P99),
        }
    }

    pub const ALL: [Self; 4] = [Self::P50, Self::P95, Self::P99, Self::P999];

    /// Returns its name, the names of its columns, and where rows have it.
    fn described(self) -> (&'static str, &'static str, Latency) {
        match self {
            Self::P50 => ("median", "p50", |row| row.packet_latency_p50),
            Self::P95 => ("95th percentile", "p95", |row| row.packet_latency_p95),
            Self::P99 => ("99th percentile", "p99", |row| row.packet_latency_p99),
            Self::P999 => ("99.9th percentile", "p999", |row| row.packet_latency_p999),
        }
    }

    /// `99.9th percentile`.
    pub fn name(self) -> &'static str {
        self.described().0
    }

    /// The percentile of a row, if the row has it.
    pub fn of(self, row: &PointRow) -> Option<Picoseconds> {
        self.described().2(row)
    }

    /// As columns are called.
    pub fn column(self) -> &'static str {
        self.described().1
    }
}

impl CurvePoint {
    pub fn is_steady(&self) -> bool {
        matches!(self.status, Status::Steady | Status::Completed)
    }

    pub fn percentile(&self, percentile: Percentile) -> Option<f64> {
        self.percentiles[percentile as usize]
    }
}

impl Curves {
    /// The curves of those rows that have an offered load.
    pub fn new(rows: &[Point]) -> Self {
        let pens = Pens::new(rows.iter().map(|row| row.label.series.as_str()));
        Self::among(rows, &pens, LoadsIn::default())
    }

    /// The curves of those rows, with the pens that their series have.
    pub fn among(rows: &[Point], pens: &Pens, loads: LoadsIn) -> Self {
        let quantity = Quantity::of(rows.iter(), loads);
        let mut curves: Vec<(Curve, Vec<(f64, &Point)>)> = Vec::new();
        for row in rows {
            let load = quantity.offered(&row.measured);
            let Some(load) = load.filter(|load| load.is_finite() && *load >= 0.0) else {
                continue;
            };
            match curves.iter_mut().find(|(curve, _)| curve.label == row.label.series) {
                Some((_, members)) => members.push((load, row)),
                None => {
                    let label = row.label.series.clone();
                    let curve = Curve { pen: pens.of(&label), label, points: Vec::new() };
                    curves.push((curve, vec![(load, row)]));
                }
            }
        }
        let finished = curves.into_iter().map(|(mut curve, mut members)| {
            members.sort_by(|a, b| a.0.total_cmp(&b.0));
            curve.points = members
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| point(same[0].0, same, quantity))
                .collect();
            curve
        });
        Self { quantity, curves: finished.collect() }
    }

    pub fn points(&self) -> impl Iterator<Item = &CurvePoint> {
        self.curves.iter().flat_map(|curve| &curve.points)
    }

    /// The highest offered load.
    pub fn highest_offered(&self) -> f64 {
        self.points().map(|point| point.offered).fold(0.0, f64::max)
    }

    /// The colour of the first curve that has a visible band of these intervals.
    pub fn with_band(&self, interval: fn(&CurvePoint) -> Option<(f64, f64)>) -> Option<Colour> {
        let banded = |curve: &&Curve| {
            let steady = curve.points.iter().filter(|point| point.status != Status::Deadlock);
            let intervals: Vec<(f64, f64)> = steady.filter_map(interval).collect();
            intervals.len() > 1 && intervals.iter().any(|&interval| is_visible(interval))
        };
        self.curves.iter().find(banded).map(|curve| curve.pen.colour)
    }

    /// The axis of the offered loads.
    pub fn offered_axis(&self) -> Axis {
        Axis::new(self.quantity.title("Offered"), self.highest_offered() * 1.02)
    }

    /// Whether a point of a curve has this status.
    pub fn any(&self, status: Status) -> bool {
        self.points().any(|point| point.status == status)
    }

    /// Whether some curve has two points, so that there is a line to draw.
    pub fn has_line(&self) -> bool {
        self.curves.iter().any(|curve| curve.points.len() > 1)
    }
}

fn point(offered: f64, rows: &[(f64, &Point)], quantity: Quantity) -> CurvePoint {
    let mean_of = |value: &dyn Fn(&Point) -> Option<f64>| {
        let values: Vec<f64> =
            rows.iter().filter_map(|row| value(row.1)).filter(|value| value.is_finite()).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let nanoseconds = |time: Option<Picoseconds>| time.map(|time| time.0 as f64 / 1000.0);
    let nanosecond_means: Vec<f64> =
        rows.iter().filter_map(|(_, row)| nanoseconds(row.measured.packet_latency_mean)).collect();
    let mean = mean_of(&|row| nanoseconds(row.measured.packet_latency_mean));
    // Repetitions say more of the mean than the windows of any one of them.
    let repeated = mean.zip(half_width_95_of_few(&nanosecond_means));
    let ends = rows.iter().filter_map(|(_, row)| {
        let mean = nanoseconds(row.measured.packet_latency_mean)?;
        let half = nanoseconds(row.measured.packet_latency_mean_ci95)?;
        Some((mean - half, mean + half))
    });
    let worst = |status: Status| rows.iter().any(|row| row.1.measured.status == status);
    let accepted_of = |row: &Point| quantity.accepted(&row.measured);
    let accepted = mean_of(&accepted_of);
    let all_accepted: Vec<f64> =
        rows.iter().filter_map(|(_, row)| accepted_of(row).filter(|it| it.is_finite())).collect();
    // The windows of a single run tell the load's interval, as a fraction of capacity.
    let of_windows = match rows {
        [(_, row)] => row.measured.accepted_load.zip(row.measured.accepted_load_ci95),
        _ => None,
    };
    let of_windows = of_windows.zip(accepted).map(|((load, half), mean)| half * mean / load);
    let of_windows = of_windows.filter(|half| half.is_finite());
    CurvePoint {
        offered,
        accepted,
        accepted_interval: accepted
            .zip(half_width_95_of_few(&all_accepted).or(of_windows))
            .map(|(mean, half)| (mean - half, mean + half)),
        status: [Status::Deadlock, Status::NotSteady, Status::Undecided]
            .into_iter()
            .find(|&status| worst(status))
            .unwrap_or(rows[0].1.measured.status),
        mean,
        interval: repeated
            .map(|(mean, half)| (mean - half, mean + half))
            .or_else(|| ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))),
        percentiles: Percentile::ALL.map(|it| mean_of(&|row| nanoseconds(it.of(&row.measured)))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Label;
    use super::*;

    fn row(series: &str, load: f64, status: Status, mean: u64) -> Point {
        Point {
            label: Label { series: series.into(), ..Label::default() },
            measured: PointRow {
                status,
                offered_load: Some(load),
                packet_latency_mean: Some(Picoseconds(mean * 1000)),
                packet_latency_mean_ci95: Some(Picoseconds(2000)),
                ..PointRow::default()
            },
            ..Point::default()
        }
    }

    #[test]
    fn seeds_become_one_point_that_is_as_bad_as_the_worst() {
        let rows = [
            row("b", 0.2, Status::Steady, 110),
            row("a", 0.1, Status::Steady, 100),
            row("b", 0.1, Status::Steady, 100),
            row("b", 0.2, Status::NotSteady, 120),
        ];
        let curves = Curves::new(&rows).curves;
        assert_eq!(curves.iter().map(|curve| curve.label.as_str()).collect::<Vec<_>>(), ["b", "a"]);
        let point = &curves[0].points[1];
        assert_eq!((point.offered, point.mean), (0.2, Some(115.0)));
        // Standard deviation 5 sqrt(2), 1 degree of freedom: 12.7062 * 5.
        let (low, high) = point.interval.unwrap();
        assert!((low - 51.469).abs() < 1e-3 && (high - 178.531).abs() < 1e-3);
        assert_eq!(point.status, Status::NotSteady);
    }

    #[test]
    fn without_a_capacity_payload_is_the_axis() {
        let mut rows = [row("a", 0.1, Status::Steady, 100), row("a", 0.2, Status::Steady, 100)];
        rows[1].measured.offered_load = None;
        rows[0].measured.offered_payload = Some(1.5);
        rows[1].measured.offered_payload = Some(3.0);
        let curves = Curves::new(&rows);
        assert_eq!(curves.quantity, Quantity::Payload);
        assert_eq!(curves.highest_offered(), 3.0);
    }

    #[test]
    fn fractions_of_two_capacities_share_no_axis() {
        let of = |capacity, load| {
            let mut point = row("a", load, Status::Steady, 100);
            point.measured.offered_payload = Some(load * capacity);
            point.measured.capacity = Some(capacity);
            point
        };
        let quantity = |rows: &[Point], wanted| Quantity::of(rows.iter(), wanted);
        let same = [of(6.0, 0.1), of(6.0, 0.2)];
        assert_eq!(quantity(&same, LoadsIn::Usual), Quantity::Load);
        assert_eq!(quantity(&same, LoadsIn::Payload), Quantity::Payload);
        let other = [of(6.0, 0.1), of(7.5, 0.2)];
        assert_eq!(Curves::new(&other).highest_offered(), 1.5);
    }
}
