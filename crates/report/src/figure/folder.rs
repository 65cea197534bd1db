//! All figures of a result, as files in a folder.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::{Label, Point, ReportError, ResultRows};
use super::axis::TimeUnit;
use super::drawing::Figure;
use super::figure_style::FigureStyle;
use super::kind::{Draw, FIGURES, FigureKind, FigureRequest, FigureTask, Named};
use super::medium::{Files, Format};
use super::names::file_name;
use super::style::Pens;
use super::{choice, grid, names, pgfplots};
use flitlab_base::FileError;
use flitlab_base::registry::Row;

/// The name of the LaTeX document with all figures.
const DOCUMENT: &str = "figures.tex";

/// Draws those figures that the rows have something to say for. The folder is made if need be;
/// figures of the same name are replaced as [`Figure::write_to`] does.
///
/// - `latency`: two loads of a series, one of them steady; `latency-p99`, or another percentile, beside it for more than
///   four series;
/// - `percentiles`: the same, of a single series; of several, if asked for, a figure a percentile
///   (`percentiles-p50`);
/// - `cdf`: the distribution of latencies, of more than eight series only if asked for;
/// - `accepted`: two loads of a series;
/// - `saturation`: two series, one of which saturates; where all have one load and there is a scaling curve, only if asked
///   for;
/// - `scaling`: a key of the sweep with numbers as values;
/// - `completion`: two series of finite exchanges;
/// - `exposed`: an application with phases;
/// - `workloads`, or `workloads-SERIES` for each of several series, of more than four only if asked
///   for: at the load that `channels` shows, if its point has several workloads;
/// - `channels`, or `channels-SERIES` for each of several series, of more than four only if asked for:
///   at the highest steady load whose channels are given, or the highest load if none is steady;
/// - `channel-map`, of a torus, `time`, and `space-time` of applications, likewise, but of several series only if asked
///   for. All maps have one scale.
///
/// Rows that name a figure are drawn in figures of that name, `latency-uniform`, or in panels of
/// one, `panels`, if the look says so. A series has one pen in all figures. With pgfplots there is
/// a document `figures.tex` with all of them.
///
/// # Errors
/// If a file can't be written.
pub fn draw_all(
    rows: &ResultRows,
    folder: impl AsRef<Path>,
    wish: &FigureRequest,
) -> Result<Files, ReportError> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder).map_err(FileError::write(folder))?;
    let figures = figures_of(rows, wish);
    let mut files = Files::default();
    for (name, figure) in &figures {
        figure.add_to(&mut files, folder, name, &wish.medium)?;
    }
    if wish.medium.formats.contains(&Format::Pgfplots) && !figures.is_empty() {
        let names: Vec<&str> = figures.iter().map(|figure| figure.0.as_str()).collect();
        files.write_text(folder.join(DOCUMENT), &pgfplots::document(&names))?;
    }
    Ok(files)
}

/// The figures that [`draw_all`] draws, with their names.
pub fn figures_of(rows: &ResultRows, wish: &FigureRequest) -> Vec<(String, Figure)> {
    let (rows, pens) = chosen(rows, &wish.look);
    figures(&rows, &pens, wish)
}

/// The rows of the series that are to be shown, in their order and with the names that they shall
/// have; and the pens of all series, shown or not.
fn chosen(rows: &ResultRows, look: &FigureStyle) -> (ResultRows, Pens) {
    let mut rows = rows.clone();
    let name = |label: &Label| {
        let (series, figure) = (look.renamed(&label.series), look.renamed(&label.figure));
        short_name(&series, &figure)
    };
    let all: Vec<String> = rows.points.iter().map(|point| name(&point.label)).collect();
    let found: Vec<String> = rows.saturation.iter().map(|found| name(&found.label)).collect();
    let styles = look.styles.iter().map(|(name, style)| (look.renamed(name), *style));
    let pens = Pens::new(all.iter().chain(&found).map(String::as_str));
    let pens = pens.styled(&styles.collect::<Vec<_>>());
    choose(&mut rows, &look.series);
    if !look.names.is_empty() {
        for label in rows.labels() {
            (label.series, label.figure) =
                (look.renamed(&label.series), look.renamed(&label.figure));
        }
        for bound in &mut rows.bounds {
            bound.figure = look.renamed(&bound.figure);
        }
    }
    (rows, pens)
}

/// Keeps these series, as legends or points.csv call them, in this order; all if none is named.
pub fn choose(rows: &mut ResultRows, series: &[String]) {
    let place = |label: &Label| {
        let short = short_name(&label.series, &label.figure);
        series.iter().position(|name| [&label.series, &short].contains(&name))
    };
    if !series.is_empty() {
        rows.points.retain(|point| place(&point.label).is_some());
        rows.points.sort_by_key(|point| place(&point.label));
        rows.saturation.retain(|found| place(&found.label).is_some());
        rows.saturation.sort_by_key(|found| place(&found.label));
    }
}

/// A series as the legend of its figure calls it.
pub fn short_name(series: &str, figure: &str) -> String {
    names::without(series, figure)
}

/// All figures with their names.
fn figures(rows: &ResultRows, pens: &Pens, wish: &FigureRequest) -> Vec<(String, Figure)> {
    let look = &wish.look;
    let columns = by_figure(&rows.points);
    let mut figures = drawn(rows, pens, wish);
    if look.panels {
        keep_named(&mut figures, wish, &columns);
        // One unit for all panels of a row.
        let unit = figures.iter().filter_map(|(_, figure)| figure.longest_time()).reduce(f64::max);
        let unit = look.unit.or(unit.map(TimeUnit::of));
        let wish = FigureRequest { look: FigureStyle { unit, ..look.clone() }, ..wish.clone() };
        let mut panels = drawn(rows, pens, &wish);
        // Chosen before they become panels, since the figure of panels has a name of its own.
        keep_named(&mut panels, &wish, &columns);
        figures = grid::combined(panels, &columns, &wish);
        tell_apart(&mut figures);
    } else {
        tell_apart(&mut figures);
        keep_named(&mut figures, wish, &columns);
    }
    let maps = Figure::extremes_of_maps(figures.iter().map(|(_, figure)| figure));
    let finished = |(name, figure): (String, Figure)| (name, figure.finished(look, maps));
    figures.into_iter().map(finished).collect()
}

/// Keeps the figures that were asked for: by their kind, by the name of their file, or by that name
/// without the column, such as `latency-p99` for `latency-p99-uniform`.
fn keep_named(
    figures: &mut Vec<(String, Figure)>,
    wish: &FigureRequest,
    columns: &[(String, Vec<Point>)],
) {
    if wish.names.is_empty() {
        return;
    }
    let is_named = |name: &str, figure: &str| {
        let kind = FIGURES.iter().chain(&wish.own).find(|kind| kind.name == name);
        kind.is_some_and(|kind| FigureKind::names_stem(kind, figure))
            || figure.strip_prefix(name).is_some_and(|rest| {
                rest.is_empty() || columns.iter().any(|(column, _)| rest == file_name(column))
            })
    };
    figures.retain(|(figure, _)| wish.names.iter().any(|name| is_named(name, figure)));
}

/// All figures with their names, each for itself: first those of each group of points, then those
/// of the whole result, then those of single points.
fn drawn(rows: &ResultRows, pens: &Pens, wish: &FigureRequest) -> Vec<(String, Figure)> {
    let all: Vec<Row<FigureKind>> = FIGURES.iter().chain(&wish.own).copied().collect();
    let kinds = if wish.kinds.is_empty() { &all } else { &wish.kinds };
    let asked = |kind| wish.kinds.contains(kind);
    let mut figures = Vec::new();
    let mut add = |kind: &Row<FigureKind>, group: &str, drawn: Vec<Named>| {
        let name = |which| format!("{}{which}{}", kind.name, file_name(group));
        figures.extend(drawn.into_iter().map(|(which, figure)| (name(which), figure)));
    };
    for (name, points) in &by_figure(&rows.points) {
        let title = wish.title_of(&[name]);
        for kind in kinds {
            if let Draw::Group(draw) = kind.draw {
                let (title, saturation, asked) = (title.as_str(), &[][..], asked(kind));
                let own = rows.bounds.iter().filter(|bound| bound.figure == *name).cloned();
                let bounds = &own.collect::<Vec<_>>()[..];
                let task = FigureTask { points, saturation, bounds, title, wish, asked, pens };
                add(kind, name, draw(&task));
            }
        }
    }
    let (title, ResultRows { points, saturation, .. }) = (wish.title_of(&[]), rows);
    for kind in kinds {
        if let Draw::Result(draw) = kind.draw {
            let (title, asked, bounds) = (title.as_str(), asked(kind), &[][..]);
            let task = FigureTask { points, saturation, bounds, title, wish, asked, pens };
            add(kind, "", draw(&task));
        }
    }
    kinds.iter().for_each(|kind| add(kind, "", of_series(&rows.points, kind, wish)));
    figures
}

/// The points of each figure, in the order in which the figures appear, without their channels and
/// windows; what a figure is called is left out of its curves' names.
pub(super) fn by_figure(points: &[Point]) -> Vec<(String, Vec<Point>)> {
    let mut figures: Vec<(String, Vec<Point>)> = Vec::new();
    for Point { label, measured, latencies, .. } in points {
        let series = short_name(&label.series, &label.figure);
        let own = Point {
            label: Label { series, ..label.clone() },
            measured: measured.clone(),
            latencies: latencies.clone(),
            ..Point::default()
        };
        match figures.iter_mut().find(|(name, _)| *name == label.figure) {
            Some((_, points)) => points.push(own),
            None => figures.push((label.figure.clone(), vec![own])),
        }
    }
    figures
}

/// Gives files names of their own where figures' names differ in signs only, in their cases, or
/// behind a long beginning.
fn tell_apart(figures: &mut [(String, Figure)]) {
    let mut taken: HashSet<String> = HashSet::new();
    for (name, _) in figures {
        // Some systems do not tell cases apart.
        while !taken.insert(name.to_lowercase()) {
            name.push('-');
        }
    }
}

/// A figure for each series that has what is drawn, called after it if there are several; of many
/// only if asked for.
fn of_series(points: &[Point], kind: &Row<FigureKind>, wish: &FigureRequest) -> Vec<Named> {
    let Draw::Point { has, most, draw } = kind.draw else { return Vec::new() };
    let all = choice::series_having(points, has);
    if all.len() > most && !wish.kinds.contains(kind) {
        return Vec::new();
    }
    let single = all.len() == 1;
    let mut figures = Vec::new();
    for name in &all {
        let Some(shown) = choice::point(points, has, name, wish.load) else { continue };
        let series = if single { "" } else { name };
        let title = wish.title_of(&[series, &shown.load]);
        figures.push((file_name(series), draw(shown.point, &title, &wish.look)));
    }
    figures
}
