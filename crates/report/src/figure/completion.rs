//! Completion times of finite exchanges side by side.

use super::super::Point;
use super::axis::Axis;
use super::bars::{BarChart, TICKS};
use super::drawing::Figure;
use super::figure_style::FigureStyle;
use super::groups::{Value, groups};
use super::kind::{Draw, FigureKind, FigureTask, Named, only};
use super::legend::{Legend, Sample};
use super::palette::BLACK;
use super::scaling::LOAD;
use super::style::Pens;
use flitlab_base::registry::Row;

impl FigureKind {
    /// `completion`.
    pub const COMPLETION: Row<Self> = Row::new(
        "completion",
        "Completion times, as bars.",
        Self {
            columns: &["completion_time_us"],
            ..Self::new("two series of finite exchanges", Draw::Group(draw))
        },
    );
}

fn draw(task: &FigureTask<'_>) -> Vec<Named> {
    if !has_bars(task.points) {
        return Vec::new();
    }
    only(Figure::of_bars(chart(task.points, task.pens, task.title, &task.wish.look)))
}

/// The completion time of each series, in the order in which they first appear: the mean of its
/// rows, with a whisker from the shortest to the longest if there are several. Series that are all
/// combinations of two things are in groups.
pub fn completion_figure(rows: &[Point], title: &str) -> Figure {
    let pens = Pens::new(rows.iter().map(|row| row.label.series.as_str()));
    Figure::of_bars(chart(rows, &pens, title, &FigureStyle::default()))
}

fn chart(rows: &[Point], pens: &Pens, title: &str, look: &FigureStyle) -> BarChart {
    let series = by_series(rows);
    let highest = series.iter().flat_map(|series| &series.1).copied().fold(0.0, f64::max);
    let unit = look.unit_for_whole_runs(highest);
    let size = unit.size();
    let value = |(label, times): &(&str, Vec<f64>)| {
        let times: Vec<f64> = times.iter().map(|time| time / size).collect();
        let low = times.iter().copied().fold(f64::INFINITY, f64::min);
        let high = times.iter().copied().fold(0.0, f64::max);
        Value {
            figure: String::new(),
            series: (*label).to_owned(),
            value: times.iter().sum::<f64>() / times.len() as f64,
            whisker: (times.len() > 1).then_some((low, high)),
        }
    };
    let values: Vec<Value> = series.iter().map(value).collect();
    let mut legend = Legend::default();
    let groups = groups(&values, pens, &mut legend);
    if series.iter().any(|(_, times)| times.len() > 1) {
        legend.key(Sample::Whisker(BLACK), "shortest to longest run, bar to their mean");
    }
    let axis = Axis::of_time("Completion time", highest, unit).up_to_a_tick(TICKS);
    BarChart { title: title.into(), axis, groups, legend }
}

/// Whether there is something to compare, and one load only beside what ends: several make curves.
pub(super) fn has_bars(rows: &[Point]) -> bool {
    let load = |row: &Point| row.label.setting(LOAD).map(str::to_owned);
    let is_one = rows.windows(2).all(|pair| load(&pair[0]) == load(&pair[1]));
    by_series(rows).len() > 1 && is_one
}

/// Completion times in ns.
fn by_series(rows: &[Point]) -> Vec<(&str, Vec<f64>)> {
    let mut series: Vec<(&str, Vec<f64>)> = Vec::new();
    for row in rows {
        let Some(time) = row.measured.completion_time else { continue };
        let time = time.0 as f64 / 1000.0;
        match series.iter_mut().find(|series| series.0 == row.label.series) {
            Some(series) => series.1.push(time),
            None => series.push((&row.label.series, vec![time])),
        }
    }
    series
}
