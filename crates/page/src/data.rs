//! The data of the page's script, as one JSON object.

use serde::Serialize;

use super::application::{Applications, MAX_POINTS, Room, point_name};
use super::columns::{Cells, Column, Workload, workloads};
use super::curves::{Curve, curves};
use super::links::{Budget, Links};
use super::pairs::PointPairs;
use super::series::SeriesLine;
use super::verdict::{Verdict, verdicts};
use super::{Contrast, Fact, ReportPage, Reported};
use flitlab_base::registry::Row;
use flitlab_report::figure::{
    Figure, FigureKind, FigureRequest, Sheet, figures_of, space_time_figure,
};
use flitlab_report::{Cell, DeadlockNote, FailureRow, Point, ResultRows};

#[derive(Serialize)]
pub(super) struct Data<'r> {
    /// The version that made the page.
    flitlab: &'static str,
    title: &'r str,
    command: &'r str,
    columns: Vec<Column>,
    /// Of the tables of workloads.
    workload_columns: Vec<Column>,
    results: Vec<ResultData<'r>>,
    contrasts: &'r [Contrast],
}

/// The activity of an application's ranks, as a picture of up to half a megabyte.
#[derive(Serialize)]
struct Ranks {
    /// Tells the points apart; empty of a single one.
    name: String,
    svg: String,
}

impl Ranks {
    /// Of the points of which no timeline is shown.
    fn of(points: &[Point], applications: &[Applications]) -> Vec<Self> {
        let has = |point: &&Point| !point.explained.activity.is_empty();
        let picture = |(place, point): (usize, &Point)| {
            if applications.get(place).is_some_and(Applications::has_bars) {
                return None;
            }
            let figure = space_time_figure(&point.explained.activity, "");
            let svg = figure.svg(&Sheet::default());
            Some(Self { name: point_name(point, points.len() == 1), svg })
        };
        let shown = points.iter().filter(has).take(MAX_POINTS).enumerate();
        shown.filter_map(picture).collect()
    }
}

/// A figure of a run, which has no curves over loads, or of a kind that is not built in.
#[derive(Serialize)]
struct Picture {
    /// What it shows.
    title: String,
    svg: String,
}

impl Picture {
    /// The distribution of latencies, and what happened over time, as far as a run has them; and
    /// figures of these kinds.
    fn of(result: &Reported, own: &[Row<FigureKind>]) -> Vec<Self> {
        let points = &result.points;
        let of_run: &[_] = match &points[..] {
            [_] => &[FigureKind::DISTRIBUTION, FigureKind::TIME],
            _ => &[],
        };
        let kinds = [of_run, own].concat();
        if kinds.is_empty() {
            return Vec::new();
        }
        let rows = ResultRows { points: points.clone(), ..ResultRows::default() };
        let wish =
            FigureRequest { untitled: true, kinds: kinds.clone(), ..FigureRequest::default() };
        let picture = |(name, figure): (String, Figure)| {
            let kind = kinds.iter().find(|kind| FigureKind::names_stem(kind, &name))?;
            let title = kind.doc.trim_end_matches('.').to_owned();
            Some(Self { title, svg: figure.svg(&Sheet::default()) })
        };
        figures_of(&rows, &wish).into_iter().filter_map(picture).collect()
    }
}

/// How much a workload slows another one.
#[derive(Serialize)]
struct Slowdown<'r> {
    /// The place of its point.
    point: usize,
    workload: &'r str,
    beside: &'r str,
    slowdown: f64,
}

impl<'r> Slowdown<'r> {
    fn all_of(points: &'r [Point]) -> Vec<Self> {
        let of_point = |(point, it): (usize, &'r Point)| {
            it.slowdowns.iter().map(move |row| Self {
                point,
                workload: &row.workload,
                beside: &row.beside,
                slowdown: row.slowdown,
            })
        };
        points.iter().enumerate().flat_map(of_point).collect()
    }
}

/// The failures of a point in which something fails several times.
#[derive(Serialize)]
struct PointFailures<'r> {
    /// The place of the point.
    point: usize,
    rows: &'r [FailureRow],
}

impl<'r> PointFailures<'r> {
    fn all_of(points: &'r [Point]) -> Vec<Self> {
        let rows = points.iter().map(|it| &it.failures[..]).enumerate();
        let several = rows.filter(|(_, rows)| !rows.is_empty());
        several.map(|(point, rows)| Self { point, rows }).collect()
    }
}

#[derive(Serialize)]
struct ResultData<'r> {
    label: &'r str,
    version: Option<&'r str>,
    facts: &'r [Fact],
    verdicts: Vec<Verdict>,
    warnings: &'r [String],
    deadlocks: &'r [DeadlockNote],
    series: Vec<SeriesLine>,
    /// Cells in the order of the page's columns.
    rows: Vec<Vec<Cell>>,
    workloads: Vec<Workload>,
    slowdowns: Vec<Slowdown<'r>>,
    failures: Vec<PointFailures<'r>>,
    pairs: Vec<PointPairs<'r>>,
    curves: Vec<Curve>,
    links: Links,
    pictures: Vec<Picture>,
    ranks: Vec<Ranks>,
    applications: Vec<Applications>,
    /// How many points have applications that are not shown.
    more_applications: usize,
    scenario: Option<&'r str>,
    commands: &'r [String],
}

impl<'r> Data<'r> {
    pub(super) fn new(report: &'r ReportPage) -> Self {
        let points: Vec<&[Point]> =
            report.results.iter().map(|result| result.points.as_slice()).collect();
        let cells = Cells::of(&points);
        let count = report.results.len();
        let (workload_columns, workloads) = workloads(&points);
        let results = report.results.iter().zip(cells.rows).zip(workloads);
        let mut room = Room::default();
        let result = |((result, rows), workloads)| {
            ResultData::new(result, rows, workloads, (count, &report.figures), &mut room)
        };
        Self {
            flitlab: env!("CARGO_PKG_VERSION"),
            title: &report.title,
            command: &report.command,
            columns: cells.columns,
            workload_columns,
            results: results.map(result).collect(),
            contrasts: &report.contrasts,
        }
    }
}

impl<'r> ResultData<'r> {
    fn new(
        result: &'r Reported,
        rows: Vec<Vec<Cell>>,
        workloads: Vec<Workload>,
        (results, figures): (usize, &[Row<FigureKind>]),
        room: &mut Room,
    ) -> Self {
        let (applications, more_applications) = room.applications(&result.points);
        let curves = curves(&result.points);
        let drawn = (result.torus.as_ref(), result.blocks.as_ref());
        let links = Budget::of(results).links(&result.points, drawn);
        Self {
            label: &result.label,
            version: result.version.as_deref(),
            facts: &result.facts,
            verdicts: verdicts(result),
            warnings: &result.warnings,
            deadlocks: &result.deadlocks,
            series: curves.iter().filter_map(|curve| SeriesLine::of(curve, result)).collect(),
            rows,
            workloads,
            slowdowns: Slowdown::all_of(&result.points),
            failures: PointFailures::all_of(&result.points),
            pairs: PointPairs::all_of(&result.points, results),
            links: Links { of: result.with_channels.unwrap_or(links.of), ..links },
            pictures: Picture::of(result, figures),
            ranks: Ranks::of(&result.points, &applications),
            applications,
            more_applications,
            curves,
            scenario: result.scenario.as_deref(),
            commands: &result.commands,
        }
    }
}
