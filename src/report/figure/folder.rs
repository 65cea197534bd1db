//! All figures of a result, as files in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{ChannelRow, PointRow, ReportError, Status};
use super::curves::Curves;
use super::{
    FEW, Figure, accepted, accepted_figure, channel_figure, completion, completion_figure, latency,
    latency_figure, tail_latency_figure,
};

/// Draws those figures that the rows have something to say for, each as SVG and PNG, and returns the
/// paths in the order written. The folder is made if need be; figures of the same name are replaced.
///
/// - `latency`: two loads of a series, one of them steady; `latency-p99` beside it for more than four
///   series;
/// - `accepted`: two loads of a series;
/// - `completion`: two series of finite exchanges;
/// - `channels`, or `channels-1`, `channels-2`, ... for several series: at the highest steady load
///   whose channels are given, or the highest load if none is steady.
///
/// Rows that name a figure are drawn in figures of that name: `latency-uniform`.
///
/// # Errors
/// If a file can't be written.
pub fn draw_all(
    points: &[PointRow],
    channels: &[ChannelRow],
    folder: impl AsRef<Path>,
    title: &str,
) -> Result<Vec<PathBuf>, ReportError> {
    let folder = folder.as_ref();
    fs::create_dir_all(folder)
        .map_err(|cause| ReportError::Write { path: folder.into(), cause })?;

    let mut figures: Vec<(String, Figure)> = Vec::new();
    for (name, rows) in by_figure(points) {
        let parts: Vec<&str> = [title, &name].into_iter().filter(|part| !part.is_empty()).collect();
        let drawn = curve_figures(&rows, &parts.join(", "));
        let suffix = file_name(&name);
        figures.extend(drawn.into_iter().map(|(kind, figure)| (format!("{kind}{suffix}"), figure)));
    }
    figures.extend(channel_figures(points, channels, title));

    let mut paths = Vec::new();
    for (name, figure) in figures {
        paths.extend(figure.write_to(folder, &name)?);
    }
    Ok(paths)
}

/// The rows of each figure, in the order in which the figures appear; what a figure is called is left out
/// of its curves' names.
fn by_figure(points: &[PointRow]) -> Vec<(String, Vec<PointRow>)> {
    let mut figures: Vec<(String, Vec<PointRow>)> = Vec::new();
    for row in points {
        let mut own = row.clone();
        if !row.figure.is_empty() {
            let parts = row.series.split(", ").filter(|part| *part != row.figure);
            own.series = parts.collect::<Vec<_>>().join(", ");
        }
        match figures.iter_mut().find(|(name, _)| *name == row.figure) {
            Some((_, rows)) => rows.push(own),
            None => figures.push((row.figure.clone(), vec![own])),
        }
    }
    figures
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

fn curve_figures(points: &[PointRow], title: &str) -> Vec<(&'static str, Figure)> {
    let curves = Curves::new(points);
    let mut figures = Vec::new();
    if latency::has_curve(&curves) {
        figures.push(("latency", latency_figure(points, title)));
        if curves.curves.len() > FEW && curves.points().any(|point| point.p99.is_some()) {
            figures.push(("latency-p99", tail_latency_figure(points, title)));
        }
    }
    if accepted::has_curve(&curves) {
        figures.push(("accepted", accepted_figure(points, title)));
    }
    if completion::has_bars(points) {
        figures.push(("completion", completion_figure(points, title)));
    }
    figures
}

fn channel_figures(
    points: &[PointRow],
    channels: &[ChannelRow],
    title: &str,
) -> Vec<(String, Figure)> {
    let mut series: Vec<&str> = Vec::new();
    for row in channels {
        if series.last() != Some(&row.series.as_str()) && !series.contains(&row.series.as_str()) {
            series.push(&row.series);
        }
    }
    let single = series.len() == 1;
    let figures = series.iter().enumerate().map(|(number, &series)| {
        let (point, load) = shown_point(points, channels, series);
        let rows: Vec<ChannelRow> = channels
            .iter()
            .filter(|row| row.series == series && row.point == point)
            .cloned()
            .collect();
        let series = if single { "" } else { series };
        let parts = [title, series, &load];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let name = if single { "channels".into() } else { format!("channels-{}", number + 1) };
        (name, channel_figure(&rows, &parts.join(", ")))
    });
    figures.collect()
}

/// The point whose channels are drawn, and its load as text.
fn shown_point(points: &[PointRow], channels: &[ChannelRow], series: &str) -> (u32, String) {
    let mut numbers: Vec<u32> =
        channels.iter().filter(|row| row.series == series).map(|row| row.point).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let key = |row: &&PointRow| {
        let steady = matches!(row.status, Status::Steady | Status::Completed);
        let load = row.offered_load.or(row.offered_payload).unwrap_or(0.0);
        (steady, load)
    };
    let chosen = points
        .iter()
        .filter(|row| row.series == series && numbers.binary_search(&row.point).is_ok())
        .max_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
    let Some(row) = chosen else {
        return (numbers.first().copied().unwrap_or(0), String::new());
    };
    let load = match (row.offered_load, row.offered_payload) {
        (Some(load), _) => format!("load {}", decimal(load)),
        (None, Some(payload)) => format!("{} GB/s per node", decimal(payload)),
        (None, None) => String::new(),
    };
    (row.point, load)
}

/// Up to three decimals.
fn decimal(value: f64) -> String {
    format!("{value:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
