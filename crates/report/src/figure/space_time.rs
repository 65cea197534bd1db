//! Ranks over time: what each of them did most in each stretch, a row a rank, or a group of them.

use serde::{Deserialize, Serialize};

use super::super::ActivityRow;
use super::axis::Axis;
use super::drawing::Figure;
use super::figure_style::FigureStyle;
use super::font;
use super::kind::{Draw, FigureKind};
use super::legend::{Legend, SLACK, Sample};
use super::palette::{AXIS_LINE, BLACK, Colour, WHITE};
use super::scene::{Anchor, Scene};
use super::sheet::{MARGIN, Sheet, TICK};
use super::title::title_lines;
use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_model::Spent;

impl FigureKind {
    /// `space-time`.
    pub const SPACE_TIME: Row<Self> = Row::new(
        "space-time",
        "The activity of an application's ranks over time.",
        Self::new(
            "an application that ran to its end",
            Draw::Point {
                has: |point| !point.explained.activity.is_empty(),
                most: 1,
                draw: |point, title, look| {
                    Figure::of_space_time(chart(&point.explained.activity, title, look))
                },
            },
        ),
    );
}

/// The height of all rows together, and of one at the most.
const HEIGHT: f64 = 190.0;
const HIGHEST_ROW: f64 = 9.0;

const SEAM: f64 = 0.3;
/// Rows that have their number written beside them, at the most.
const NUMBERED: usize = 9;

/// Ranks over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpaceTime {
    pub title: String,
    /// Of time.
    pub axis: Axis,
    pub rows: Vec<RankRow>,
    pub legend: Legend,
}

/// The activity of a rank, or of a group of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RankRow {
    /// Of several workloads the one that they are of.
    pub workload: Option<String>,
    pub first_rank: u32,
    pub last_rank: u32,
    /// From, to, in the unit of the axis, and what it was for the most part.
    pub runs: Vec<(f64, f64, Spent)>,
}

/// Told apart with any colour vision; waiting for a partner is pale.
pub(super) fn colour(spent: Spent) -> Colour {
    match spent {
        Spent::Compute => (86, 180, 233),
        Spent::Host => (0, 114, 178),
        Spent::Partner => (225, 225, 225),
        Spent::Injection => (240, 228, 66),
        Spent::Queueing => (213, 94, 0),
        Spent::Flight => (0, 158, 115),
    }
}

/// Returns the figure of the most frequent activity of groups of ranks, stretch by stretch. The
/// rows are those of one point.
pub fn space_time_figure(activity: &[ActivityRow], title: &str) -> Figure {
    Figure::of_space_time(chart(activity, title, &FigureStyle::default()))
}

/// Returns the chart of the activity of groups of ranks, from the [`ActivityRow`]s of one point.
fn chart(activity: &[ActivityRow], title: &str, look: &FigureStyle) -> SpaceTime {
    let end = activity.iter().map(|row| row.end).max().unwrap_or(Picoseconds::ZERO).0 as f64 / 1e3;
    let unit = look.unit_for_whole_runs(end);
    let axis = Axis::of_time("Time", end, unit);
    let place = |time: Picoseconds| time.0 as f64 / 1e3 / unit.size();
    let mut rows: Vec<RankRow> = Vec::new();
    let mut used = Vec::new();
    for row in activity {
        let is_same =
            |last: &RankRow| (&last.workload, last.first_rank) == (&row.workload, row.first_rank);
        if !rows.last().is_some_and(is_same) {
            let (workload, first_rank) = (row.workload.clone(), row.first_rank);
            rows.push(RankRow { workload, first_rank, last_rank: row.last_rank, runs: Vec::new() });
        }
        let times = [row.compute, row.host, row.partner, row.injection, row.queueing, row.flight];
        // The first of equal ones; nothing where all had ended.
        let most = (0..times.len()).rev().max_by_key(|&kind| times[kind]).unwrap_or(0);
        if times[most] == Picoseconds::ZERO {
            continue;
        }
        let spent = Spent::ALL[most];
        if !used.contains(&spent) {
            used.push(spent);
        }
        let runs = &mut rows.last_mut().expect("one was pushed").runs;
        match runs.last_mut() {
            Some(run) if run.2 == spent && run.1 >= place(row.start) => run.1 = place(row.end),
            _ => runs.push((place(row.start), place(row.end), spent)),
        }
    }
    let mut legend = Legend::default();
    for spent in Spent::ALL.into_iter().filter(|spent| used.contains(spent)) {
        legend.key(Sample::Bar(colour(spent)), spent.name());
    }
    SpaceTime { title: title.into(), axis, rows, legend }
}

pub(super) fn draw(figure: &SpaceTime, sheet: &Sheet) -> Scene {
    let SpaceTime { title, axis, rows, legend } = figure;
    let size = sheet.small_size();
    let height = (HEIGHT / rows.len().max(1) as f64).min(HIGHEST_ROW);
    let labels = row_labels(rows);
    let widest = labels.iter().map(|label| font::width(label, size)).fold(0.0, f64::max) * SLACK;
    let left = MARGIN + sheet.axis_size() + 4.0 + widest + 4.0;
    let right = sheet.width() - MARGIN - size;
    let mut scene = Scene::new(sheet.width());
    let top = title_lines(&mut scene, sheet, title) + 4.0;
    let bottom = top + height * rows.len() as f64;
    let across = |value: f64| left + axis.share(value).clamp(0.0, 1.0) * (right - left);
    scene.rectangle((left, top), (right, bottom), WHITE);
    for (number, (row, label)) in rows.iter().zip(&labels).enumerate() {
        let y = top + height * number as f64;
        for &(from, to, spent) in &row.runs {
            // A little over the next row, which covers it: else the seam would show.
            let below = (y + height + SEAM).min(bottom);
            scene.rectangle((across(from), y), (across(to), below), colour(spent));
        }
        let place = (left - 4.0, y + height / 2.0 + size * 0.36);
        scene.text(label, place, size, Anchor::End, BLACK);
    }
    let middle = (MARGIN + sheet.axis_size(), f64::midpoint(top, bottom));
    scene.upwards("Rank", middle, sheet.axis_size(), BLACK);
    for (value, label) in axis.ticks(if size > 10.0 { 3 } else { 5 }) {
        let x = across(value);
        scene.line(&[(x, bottom), (x, bottom + TICK)], AXIS_LINE, BLACK);
        let place = (x, bottom + TICK + 2.0 + size * 0.8);
        scene.text(&label, place, size, Anchor::Middle, BLACK);
    }
    scene.line(&[(left, top), (left, bottom), (right, bottom)], AXIS_LINE, BLACK);
    let axis_title = bottom + TICK + 2.0 + size + 3.0 + sheet.axis_size();
    let centre = f64::midpoint(left, right);
    scene.text(&axis.title, (centre, axis_title), sheet.axis_size(), Anchor::Middle, BLACK);
    legend.end(scene, sheet, axis_title + 6.0)
}

/// What is written beside each row: some of the ranks' numbers; of several workloads the names, each
/// at its first rank.
fn row_labels(rows: &[RankRow]) -> Vec<String> {
    let step = rows.len().div_ceil(NUMBERED).max(1);
    let label = |(number, row): (usize, &RankRow)| {
        let is_first = number == 0 || rows[number - 1].workload != row.workload;
        match &row.workload {
            Some(name) if is_first => name.clone(),
            None if number % step == 0 => row.first_rank.to_string(),
            _ => String::new(),
        }
    };
    rows.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::application::activity_row;

    fn row(first_rank: u32, start: u64, times: [u64; 6]) -> ActivityRow {
        let (start, end) = (Picoseconds(start), Picoseconds(start + 1000));
        activity_row((first_rank, first_rank), (start, end), &times.map(Picoseconds))
    }

    #[test]
    fn stretches_of_one_kind_are_one_run_and_what_had_ended_is_blank() {
        let rows = [
            row(0, 0, [600, 400, 0, 0, 0, 0]),
            row(0, 1000, [1000, 0, 0, 0, 0, 0]),
            row(0, 2000, [0, 0, 0, 0, 500, 500]),
            row(1, 0, [0, 0, 1000, 0, 0, 0]),
            row(1, 1000, [0; 6]),
            row(1, 2000, [0, 0, 1, 0, 0, 0]),
        ];
        let figure = chart(&rows, "", &FigureStyle::default());
        let runs: Vec<_> = figure.rows.iter().map(|row| row.runs.clone()).collect();
        assert_eq!(runs[0], [(0.0, 2.0, Spent::Compute), (2.0, 3.0, Spent::Queueing)]);
        assert_eq!(runs[1], [(0.0, 1.0, Spent::Partner), (2.0, 3.0, Spent::Partner)]);
        let names: Vec<&str> = figure.legend.keys.iter().map(|it| it.1.as_str()).collect();
        assert_eq!(names, ["compute", "waiting for a partner", "queueing"]);
        let scene = draw(&figure, &Sheet::default());
        assert!(scene.height > 20.0);
    }

    #[test]
    fn ranks_of_several_workloads_are_rows_of_their_own() {
        let of = |name: &str, rank| ActivityRow {
            workload: Some(name.into()),
            ..row(rank, 0, [1000, 0, 0, 0, 0, 0])
        };
        let rows = [of("one", 0), of("one", 1), of("other", 0), of("third", 0)];
        let figure = chart(&rows, "", &FigureStyle::default());
        assert_eq!(figure.rows.len(), 4);
        assert_eq!(row_labels(&figure.rows), ["one", "", "other", "third"]);
        let alone: Vec<RankRow> =
            figure.rows.into_iter().map(|row| RankRow { workload: None, ..row }).collect();
        assert_eq!(row_labels(&alone), ["0", "1", "0", "0"]);
    }
}
