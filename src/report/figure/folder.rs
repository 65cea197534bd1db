//! All figures of a result, as files in a folder.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::{ChannelRow, LatencyRow, PointRow, ReportError, ResultRows, WindowRow};
use super::choice::{self, OfPoint, Shown};
use super::curves::{Curves, Percentile, series_of};
use super::latency::Content;
use super::{
    FEW, Figure, Files, Format, Kind, Medium, accepted, channel_figure, channel_heat_map,
    completion, completion_figure, distribution, heat_map, latency, names, numeric_keys, pgfplots,
    saturation, scaling, time_figure,
};

/// The name of the LaTeX document with all figures.
const DOCUMENT: &str = "figures.tex";

/// With more distributions than this in one figure it is drawn only if asked for.
const MANY: usize = 8;

/// A scaling curve is drawn unasked over at least this many values.
const SCALES: usize = 3;

/// What is to be drawn of a result, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wish {
    /// How the titles of the figures begin; what tells one from another follows.
    pub title: String,
    /// Nothing at all stands above the figures, whatever `title` is.
    pub untitled: bool,
    pub medium: Medium,
    /// All kinds that say something, if empty.
    pub kinds: Vec<Kind>,
    /// The load, a fraction of capacity, whose channels, distributions and windows are shown, or the nearest
    /// that was simulated; if `None` the highest steady one.
    pub load: Option<f64>,
    /// The key of the sweep that scaling curves are over; if `None` the only key with three or more
    /// numbers as values.
    pub over: Option<String>,
}

impl Wish {
    /// Everything in the usual medium.
    #[must_use]
    pub fn titled(title: &str) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The title of the figure that these words tell from others.
    fn title_of(&self, words: &[&str]) -> String {
        if self.untitled {
            return String::new();
        }
        names::joined(&[&[self.title.as_str()], words].concat())
    }

    fn has(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn asks_for(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }
}

/// Draws those figures that the rows have something to say for. The folder is made if need be; figures of
/// the same name are replaced as [`Figure::write_to`] does.
///
/// - `latency`: two loads of a series, one of them steady; `latency-p99` beside it for more than four
///   series;
/// - `percentiles`: the same, of a single series; of several, if asked for, a figure a percentile
///   (`percentiles-p50`);
/// - `cdf`: the distribution of latencies, of more than eight series only if asked for;
/// - `accepted`: two loads of a series;
/// - `saturation`: two series, one of which saturates;
/// - `scaling`: a key of the sweep with numbers as values;
/// - `completion`: two series of finite exchanges;
/// - `channels`, or `channels-1`, `channels-2`, ... for several series, of more than four only if asked for:
///   at the highest steady load whose channels are given, or the highest load if none is steady;
/// - `channel-map`, of a torus, and `time`, likewise, but of several series only if asked for.
///
/// Rows that name a figure are drawn in figures of that name: `latency-uniform`. A series has one colour in
/// all figures. With pgfplots there is a document `figures.tex` with all of them.
///
/// # Errors
/// If a file can't be written.
pub fn draw_all(
    rows: &ResultRows,
    folder: impl AsRef<Path>,
    wish: &Wish,
) -> Result<Files, ReportError> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder)
        .map_err(|cause| ReportError::Write { path: folder.into(), cause })?;
    let figures = figures(rows, wish);
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

/// All figures with their names.
fn figures(rows: &ResultRows, wish: &Wish) -> Vec<(String, Figure)> {
    let mut figures: Vec<(String, Figure)> = Vec::new();
    let groups = by_figure(&rows.points);
    let own = groups.iter().flat_map(|(_, rows)| rows).map(|row| row.series.as_str());
    let series = series_of(own);
    for (name, points) in &groups {
        let title = wish.title_of(&[name]);
        let drawn = of_points(points, &series, wish, &title);
        let suffix = file_name(name);
        figures.extend(drawn.into_iter().map(|(kind, figure)| (format!("{kind}{suffix}"), figure)));
        if wish.has(Kind::Distribution) {
            let latencies = latencies_of(rows, name);
            let chart = distribution::chart(points, &latencies, &series, wish.load, &title);
            let curves = chart.panels[0].curves.len();
            if curves > 0 && (curves <= MANY || wish.asks_for(Kind::Distribution)) {
                figures.push((format!("cdf{suffix}"), Figure::of_chart(chart)));
            }
        }
    }
    figures.extend(of_sweep(rows, &series, wish));
    figures.extend(of_single_points(rows, wish));
    figures
}

/// The rows of each figure, in the order in which the figures appear; what a figure is called is left out
/// of its curves' names.
fn by_figure(points: &[PointRow]) -> Vec<(String, Vec<PointRow>)> {
    let mut figures: Vec<(String, Vec<PointRow>)> = Vec::new();
    for row in points {
        let series = names::without(&row.series, &row.figure);
        let own = PointRow { series, ..row.clone() };
        match figures.iter_mut().find(|(name, _)| *name == row.figure) {
            Some((_, rows)) => rows.push(own),
            None => figures.push((row.figure.clone(), vec![own])),
        }
    }
    figures
}

/// The latencies of a figure's points, their series named as in it.
fn latencies_of(rows: &ResultRows, figure: &str) -> Vec<LatencyRow> {
    let of_figure = rows.points.iter().filter(|row| row.figure == figure);
    let series: HashSet<&str> = of_figure.map(|row| row.series.as_str()).collect();
    let own = rows.latencies.iter().filter(|row| series.contains(row.series.as_str()));
    let renamed = |row: &LatencyRow| LatencyRow {
        series: names::without(&row.series, figure),
        ..row.clone()
    };
    own.map(renamed).collect()
}

/// The end of a file's name that says which figure it is.
fn file_name(figure: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    if figure.is_empty() {
        String::new()
    } else {
        format!("-{}", figure.chars().map(plain).collect::<String>())
    }
}

/// Figures of curves over load, and of completion times.
fn of_points(
    points: &[PointRow],
    series: &[String],
    wish: &Wish,
    title: &str,
) -> Vec<(String, Figure)> {
    let curves = Curves::among(points, series);
    let mut figures: Vec<(String, Figure)> = Vec::new();
    let mut add = |name: &str, chart| figures.push((name.to_owned(), Figure::of_chart(chart)));
    let has_tail = curves.points().any(|point| point.percentile(Percentile::P99).is_some());
    let several = curves.curves.len() > 1;
    if latency::has_curve(&curves) {
        if wish.has(Kind::Latency) {
            add("latency", latency::chart(&curves, latency::usual(&curves), title));
            if curves.curves.len() > FEW && has_tail {
                let content = Content::One(Percentile::P99);
                add("latency-p99", latency::chart(&curves, content, title));
            }
        }
        if has_tail && !several && wish.has(Kind::Percentiles) {
            add("percentiles", latency::percentile_chart(&curves, title));
        } else if has_tail && wish.asks_for(Kind::Percentiles) {
            for percentile in Percentile::ALL {
                let chart = latency::chart(&curves, Content::One(percentile), title);
                add(&format!("percentiles-{}", percentile.column()), chart);
            }
        }
    }
    if accepted::has_curve(&curves) && wish.has(Kind::Accepted) {
        add("accepted", accepted::chart(&curves, title));
    }
    if completion::has_bars(points) && wish.has(Kind::Completion) {
        figures.push(("completion".into(), completion_figure(points, title)));
    }
    figures
}

/// Figures that put all series of a sweep side by side.
fn of_sweep(rows: &ResultRows, series: &[String], wish: &Wish) -> Vec<(String, Figure)> {
    let (points, title) = (&rows.points, wish.title_of(&[]));
    let title = title.as_str();
    let mut figures = Vec::new();
    let sustained = saturation::sustained(points, &rows.saturation);
    if saturation::has_bars(&sustained) && wish.has(Kind::Saturation) {
        let quantity = saturation::quantity(points);
        let bars = saturation::chart(&sustained, quantity, series, title);
        figures.push(("saturation".into(), Figure::of_bars(bars)));
    }
    if wish.has(Kind::Scaling) {
        let key = wish.over.clone().or_else(|| only_key(points));
        let chart = key.and_then(|key| scaling::chart(points, &rows.saturation, &key, title));
        figures.extend(chart.map(|chart| ("scaling".into(), Figure::of_chart(chart))));
    }
    figures
}

/// The only key that a scaling curve can be over, if it has enough values.
fn only_key(points: &[PointRow]) -> Option<String> {
    let mut keys = numeric_keys(points);
    let key = keys.pop().filter(|_| keys.is_empty())?;
    (scaling::values(points, &key) >= SCALES).then_some(key)
}

/// Figures of one point of each series.
fn of_single_points(rows: &ResultRows, wish: &Wish) -> Vec<(String, Figure)> {
    let points = &rows.points;
    let mut figures = Vec::new();
    let channels = |shown: &Shown, title: &str, draw: fn(&[ChannelRow], &str) -> Figure| {
        draw(&own(&rows.channels, shown), title)
    };
    if wish.has(Kind::Channels) {
        let draw = |shown: &Shown, title: &str| channels(shown, title, channel_figure);
        figures.extend(each(points, &rows.channels, Kind::Channels, wish, &draw));
    }
    if wish.has(Kind::ChannelMap) && heat_map::has_map(&rows.channels) {
        let draw = |shown: &Shown, title: &str| channels(shown, title, channel_heat_map);
        figures.extend(each(points, &rows.channels, Kind::ChannelMap, wish, &draw));
    }
    if wish.has(Kind::Time) {
        let draw = |shown: &Shown, title: &str| {
            let is_shown = |row: &&PointRow| row.series == shown.series && row.point == shown.point;
            let windows: Vec<WindowRow> = own(&rows.windows, shown);
            time_figure(points.iter().find(is_shown), &windows, title)
        };
        figures.extend(each(points, &rows.windows, Kind::Time, wish, &draw));
    }
    figures
}

/// A figure for each series that has rows, numbered if there are several; of many only if asked for.
fn each<R: OfPoint>(
    points: &[PointRow],
    rows: &[R],
    kind: Kind,
    wish: &Wish,
    draw: &dyn Fn(&Shown, &str) -> Figure,
) -> Vec<(String, Figure)> {
    let series = choice::series_with_rows(rows);
    let most = if kind == Kind::Channels { FEW } else { 1 };
    if series.len() > most && !wish.asks_for(kind) {
        return Vec::new();
    }
    let figure = |(number, name): (usize, &String)| {
        let shown = choice::point(points, rows, &series, name, wish.load);
        let single = series.len() == 1;
        let series = if single { "" } else { &shown.series };
        let title = wish.title_of(&[series, &shown.load]);
        let file =
            if single { kind.name().into() } else { format!("{}-{}", kind.name(), number + 1) };
        (file, draw(&shown, &title))
    };
    series.iter().enumerate().map(figure).collect()
}

/// The rows of a point.
fn own<R: OfPoint + Clone>(rows: &[R], shown: &Shown) -> Vec<R> {
    let place = (shown.series.as_str(), shown.point);
    rows.iter().filter(|row| row.place() == place).cloned().collect()
}
