//! Shares of an application's time that its phases expose, side by side.

use super::super::{PhaseRow, Point};
use super::axis::Axis;
use super::bars::{Bar, BarChart, Group, TICKS, highest};
use super::drawing::Figure;
use super::kind::{Draw, FigureKind, FigureTask, Named, only};
use super::legend::{Legend, Sample};
use super::names::{self, series_of};
use super::palette::{BAR, Colour, of_series};
use flitlab_base::registry::Row;

impl FigureKind {
    /// `exposed`.
    pub const EXPOSED: Row<Self> = Row::new(
        "exposed",
        "What share of an application's time ranks compute, and what share each phase exposes, as bars.",
        Self::new("an application whose operations are in phases", Draw::Result(draw)),
    );
}

const COMPUTING: &str = "computing";

/// What belongs to no phase, such as waiting for the last rank.
const OTHER: &str = "outside of phases";

/// The share of a rank's time, in the mean, that it computes, and that it waits for each phase or
/// spends on its messages, of a workload of a point.
struct Shares<'p> {
    label: String,
    shares: Vec<(&'p str, f64)>,
}

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    let all: Vec<Shares<'_>> = task.points.iter().flat_map(of_point).collect();
    let mut names = series_of(all.iter().flat_map(|it| it.shares.iter().map(|share| share.0)));
    names.sort_by_key(|name| name == OTHER);
    // Computing alone, or a single phase, says nothing that the completion does not.
    if names.len() < 3 {
        return Vec::new();
    }
    let colour = |name: &str| -> Colour {
        match names.iter().position(|it| it == name) {
            Some(place) if name != COMPUTING => of_series(place - 1).colour,
            _ => BAR,
        }
    };
    let mut legend = Legend::default();
    for name in &names {
        legend.series(Sample::Bar(colour(name)), name.clone());
    }
    let bar = |&(name, value): &(&str, f64)| Bar {
        series: name.to_owned(),
        value,
        whisker: None,
        colour: colour(name),
        note: String::new(),
        hollow: false,
    };
    let group =
        |it: Shares<'_>| Group { label: it.label, bars: it.shares.iter().map(bar).collect() };
    let groups: Vec<Group> = all.into_iter().map(group).collect();
    let title = "Share of a rank's time, exposed";
    let axis = Axis::of_shares(title, highest(&groups)).up_to_a_tick(TICKS);
    only(Figure::of_bars(BarChart { title: task.title.into(), axis, groups, legend }))
}

/// The shares of each workload, with computing first and then phases as the schedule names them.
fn of_point(point: &Point) -> Vec<Shares<'_>> {
    let rows = &point.explained.phases;
    let workloads = series_of(rows.iter().map(|row| row.workload.as_deref().unwrap_or_default()));
    let shares = workloads.iter().map(|workload| {
        let own =
            || rows.iter().filter(|row| row.workload.as_deref().unwrap_or_default() == workload);
        let computing = own().map(|row| row.ranks_compute.0).sum::<u64>();
        let exposed = own().map(|row| (name_of(row), PhaseRow::exposed(row.ranks()).0));
        let mut exposed: Vec<(&str, u64)> = exposed.filter(|it| it.1 > 0).collect();
        exposed.sort_by_key(|it| it.0 == OTHER);
        let all = (computing + exposed.iter().map(|it| it.1).sum::<u64>()).max(1);
        let shares = std::iter::once((COMPUTING, computing)).chain(exposed);
        Shares {
            label: names::joined(&[&point.label.figure, &point.label.series, workload]),
            shares: shares.map(|(name, time)| (name, time as f64 / all as f64)).collect(),
        }
    });
    shares.collect()
}

fn name_of(row: &PhaseRow) -> &str {
    if row.phase == "-" { OTHER } else { &row.phase }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab_base::units::Picoseconds;

    fn row(workload: Option<&str>, phase: &str, compute: u64, waits: u64) -> PhaseRow {
        PhaseRow {
            workload: workload.map(str::to_owned),
            phase: phase.into(),
            ranks_compute: Picoseconds(compute),
            ranks_partner: Picoseconds(waits / 2),
            ranks_queueing: Picoseconds(waits - waits / 2),
            ..PhaseRow::default()
        }
    }

    #[test]
    fn shares_are_of_a_workloads_own_time() {
        let mut point = Point::default();
        point.label.series = "torus".into();
        point.explained.phases = vec![
            row(Some("one"), "-", 40, 10),
            row(Some("one"), "all-reduce", 0, 30),
            row(Some("one"), "barrier", 0, 0),
            row(Some("one"), "all-to-all", 0, 20),
            row(Some("two"), "all-reduce", 75, 25),
        ];
        let found: Vec<(String, Vec<(&str, f64)>)> =
            of_point(&point).into_iter().map(|it| (it.label, it.shares)).collect();
        let one = vec![(COMPUTING, 0.4), ("all-reduce", 0.3), ("all-to-all", 0.2), (OTHER, 0.1)];
        let two = vec![(COMPUTING, 0.75), ("all-reduce", 0.25)];
        assert_eq!(found, [("torus, one".into(), one), ("torus, two".into(), two)]);
    }
}
