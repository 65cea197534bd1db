//! All figures of a result, as files in a folder.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::super::{Label, Point, ReportError, ResultRows};
use super::axis::TimeUnit;
use super::choice::{self, Has};
use super::curves::{Curves, Percentile};
use super::figure_style::FigureStyle;
use super::latency::Content;
use super::scaling::Drawn;
use super::style::Pens;
use super::{
    FEW, Figure, FigureKind, Files, Format, Medium, accepted, channel_figure, channel_heat_map,
    completion, distribution, grid, heat_map, latency, names, numeric_keys, over_time, pgfplots,
    saturation, scaling, space_time,
};
use flitlab_base::FileError;

/// The name of the LaTeX document with all figures.
const DOCUMENT: &str = "figures.tex";

/// With more distributions than this in one figure it is drawn only if asked for.
const MANY: usize = 8;

/// A scaling curve is drawn unasked over at least this many values.
const SCALES: usize = 3;

/// A request for figures of a result: which figures, and how they look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureRequest {
    /// How the titles of the figures begin; what tells one from another follows.
    pub title: String,
    /// Nothing at all stands above the figures, whatever `title` is.
    pub untitled: bool,
    pub medium: Medium,
    /// All kinds that say something, if empty.
    pub kinds: Vec<FigureKind>,
    /// The load, a fraction of capacity, whose channels, distributions and windows are shown, or
    /// the nearest that was simulated; if `None` the highest steady one.
    pub load: Option<f64>,
    /// The key of the sweep that scaling curves are over; if `None` the only key with three or more
    /// numbers as values.
    pub over: Option<String>,
    pub look: FigureStyle,
}

impl FigureRequest {
    /// Everything in the usual medium.
    pub fn titled(title: &str) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The title of the figure that these words tell from others.
    pub(super) fn title_of(&self, words: &[&str]) -> String {
        if self.untitled {
            return String::new();
        }
        names::joined(&[&[self.title.as_str()], words].concat())
    }

    fn has(&self, kind: FigureKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn asks_for(&self, kind: FigureKind) -> bool {
        self.kinds.contains(&kind)
    }
}

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
    let (rows, pens) = chosen(rows, &wish.look);
    let figures = figures(&rows, &pens, wish);
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
    let mut figures = drawn(rows, pens, wish);
    if look.panels {
        // One unit for all panels of a row.
        let unit = figures.iter().filter_map(|(_, figure)| figure.longest_time()).reduce(f64::max);
        let unit = look.unit.or(unit.map(TimeUnit::of));
        let wish = FigureRequest { look: FigureStyle { unit, ..look.clone() }, ..wish.clone() };
        figures = grid::combined(drawn(rows, pens, &wish), &by_figure(&rows.points), &wish);
    }
    tell_apart(&mut figures);
    let maps = figures.iter().filter_map(|(_, figure)| figure.map_extremes());
    let maps = maps.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let finished = |(name, figure): (String, Figure)| (name, figure.finished(look, maps));
    figures.into_iter().map(finished).collect()
}

/// All figures with their names, each for itself.
fn drawn(rows: &ResultRows, pens: &Pens, wish: &FigureRequest) -> Vec<(String, Figure)> {
    let mut figures: Vec<(String, Figure)> = Vec::new();
    let groups = by_figure(&rows.points);
    for (name, points) in &groups {
        let title = wish.title_of(&[name]);
        let drawn = of_points(points, pens, wish, &title);
        let suffix = file_name(name);
        figures.extend(drawn.into_iter().map(|(kind, figure)| (format!("{kind}{suffix}"), figure)));
        if wish.has(FigureKind::Distribution) {
            let chart = distribution::chart(points, pens, wish.load, &title, &wish.look);
            let curves = chart.panels[0].curves.len();
            if curves > 0 && (curves <= MANY || wish.asks_for(FigureKind::Distribution)) {
                figures.push((format!("cdf{suffix}"), Figure::of_chart(chart)));
            }
        }
    }
    figures.extend(of_sweep(rows, pens, wish));
    figures.extend(of_single_points(rows, wish));
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

/// The most bytes of a figure's or series' name in the name of a file, of which systems allow 255.
const LONGEST_NAME: usize = 120;

/// The end of a file's name that says which figure it is: letters of any language, digits and
/// points, at most [`LONGEST_NAME`] bytes of them.
pub(super) fn file_name(figure: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= LONGEST_NAME;
    let name: String =
        figure.char_indices().take_while(fits).map(|(_, letter)| plain(letter)).collect();
    if name.is_empty() { name } else { format!("-{name}") }
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

/// Figures of curves over load, and of completion times.
fn of_points(
    points: &[Point],
    pens: &Pens,
    wish: &FigureRequest,
    title: &str,
) -> Vec<(String, Figure)> {
    let look = &wish.look;
    let curves = Curves::among(points, pens, look.loads);
    let mut figures: Vec<(String, Figure)> = Vec::new();
    let mut add = |name: &str, chart| figures.push((name.to_owned(), Figure::of_chart(chart)));
    let has = |it: Percentile| curves.points().any(|point| point.percentile(it).is_some());
    let has_percentiles = Percentile::ALL.into_iter().any(has);
    let several = curves.curves.len() > 1;
    if latency::has_curve(&curves) {
        if wish.has(FigureKind::Latency) {
            add("latency", latency::chart(&curves, latency::usual(&curves, look), title, look));
            if let Some(percentile) =
                latency::tail(&curves, look).filter(|_| curves.curves.len() > FEW)
            {
                let chart = latency::chart(&curves, Content::One(percentile), title, look);
                add(&format!("latency-{}", percentile.column()), chart);
            }
        }
        if has_percentiles && !several && wish.has(FigureKind::Percentiles) {
            add("percentiles", latency::percentile_chart(&curves, title, look));
        } else if has_percentiles && wish.asks_for(FigureKind::Percentiles) {
            for percentile in Percentile::ALL.into_iter().filter(|it| has(*it)) {
                let chart = latency::chart(&curves, Content::One(percentile), title, look);
                add(&format!("percentiles-{}", percentile.column()), chart);
            }
        }
    }
    if accepted::has_curve(&curves) && wish.has(FigureKind::Accepted) {
        add("accepted", accepted::chart(&curves, title));
    }
    if completion::has_bars(points) && wish.has(FigureKind::Completion) {
        figures.push((
            "completion".into(),
            Figure::of_bars(completion::chart(points, pens, title, look)),
        ));
    }
    figures
}

/// Figures that put all series of a sweep side by side.
fn of_sweep(rows: &ResultRows, pens: &Pens, wish: &FigureRequest) -> Vec<(String, Figure)> {
    let (points, title) = (&rows.points, wish.title_of(&[]));
    let title = title.as_str();
    let mut figures = Vec::new();
    let quantity = saturation::quantity(points, wish.look.loads);
    let sustained = saturation::sustained(points, &rows.saturation, quantity);
    let key = wish.over.clone().or_else(|| only_key(points));
    // Where each series has one load, what it accepts over a key says more.
    let sought = saturation::is_sought(&sustained) || key.is_none();
    let wanted =
        wish.asks_for(FigureKind::Saturation) || wish.has(FigureKind::Saturation) && sought;
    if saturation::has_bars(&sustained) && wanted {
        let bars = saturation::chart(&sustained, quantity, pens, title);
        figures.push(("saturation".into(), Figure::of_bars(bars)));
    }
    if wish.has(FigureKind::Scaling) {
        let usual = scaling::drawn(points, &rows.saturation);
        let mut kinds = vec![("scaling", usual)];
        let of_size = key.as_ref().is_some_and(|key| scaling::is_size(key));
        // The cost of a size is best seen by time and by bandwidth.
        if usual == Drawn::CompletionTime && of_size {
            kinds.push(("scaling-bandwidth", Drawn::Bandwidth));
        }
        if usual == Drawn::OperationLatency {
            kinds = vec![("scaling-latency", usual), ("scaling-rate", Drawn::OperationRate)];
            if of_size {
                kinds.push(("scaling-bandwidth", Drawn::OperationBandwidth));
            }
        }
        // The cost of errors is seen by the latency long before it is by the load.
        let errs = points.iter().all(|row| row.measured.damaged_packets.is_some());
        if usual == Drawn::Accepted && errs {
            kinds.push(("scaling-latency", Drawn::Latency));
        }
        for (name, drawn) in kinds {
            let of_key = |key: &String| {
                let how = (title, &wish.look);
                scaling::chart((points, &rows.saturation), key, drawn, pens, how)
            };
            let chart = key.as_ref().and_then(of_key);
            figures.extend(chart.map(|chart| (name.into(), Figure::of_chart(chart))));
        }
    }
    figures
}

/// The only key that a scaling curve can be over, if it has enough values.
fn only_key(points: &[Point]) -> Option<String> {
    let mut keys = numeric_keys(points);
    let key = keys.pop().filter(|_| keys.is_empty())?;
    (scaling::values(points, &key) >= SCALES).then_some(key)
}

/// Draws a point under a title.
type Draw = fn(&Point, &str, &FigureStyle) -> Figure;

/// Figures of one point of each series.
fn of_single_points(rows: &ResultRows, wish: &FigureRequest) -> Vec<(String, Figure)> {
    let has_channels: Has = |point| !point.channels.is_empty();
    let has_map: Has = |point| heat_map::has_map(&point.channels);
    let has_windows: Has = |point| !point.windows.is_empty();
    let has_ranks: Has = |point| !point.explained.activity.is_empty();
    let kinds: [(FigureKind, Has, Draw); 4] = [
        (FigureKind::Channels, has_channels, |point, title, _| {
            channel_figure(&point.channels, title)
        }),
        (FigureKind::ChannelMap, has_map, |point, title, _| {
            channel_heat_map(&point.channels, title)
        }),
        (FigureKind::Time, has_windows, |point, title, look| {
            Figure::of_chart(over_time::chart(point, title, look))
        }),
        (FigureKind::SpaceTime, has_ranks, |point, title, look| {
            let activity = &point.explained.activity;
            Figure::of_space_time(space_time::chart(activity, title, look))
        }),
    ];
    let wanted = kinds.into_iter().filter(|(kind, ..)| wish.has(*kind));
    wanted.flat_map(|(kind, has, draw)| each(&rows.points, kind, has, wish, draw)).collect()
}

/// A figure for each series that has what is drawn, called after it if there are several; of many
/// only if asked for.
fn each(
    points: &[Point],
    kind: FigureKind,
    has: Has,
    wish: &FigureRequest,
    draw: Draw,
) -> Vec<(String, Figure)> {
    let all = choice::series_having(points, has);
    let most = if kind == FigureKind::Channels { FEW } else { 1 };
    if all.len() > most && !wish.asks_for(kind) {
        return Vec::new();
    }
    let single = all.len() == 1;
    let mut figures: Vec<(String, Figure)> = Vec::new();
    for name in &all {
        let Some(shown) = choice::point(points, has, name, wish.load) else { continue };
        let series = if single { "" } else { name };
        let title = wish.title_of(&[series, &shown.load]);
        let file = format!("{}{}", kind.name(), file_name(series));
        figures.push((file, draw(shown.point, &title, &wish.look)));
    }
    figures
}
