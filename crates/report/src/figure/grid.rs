//! Several figures as panels of one, with the same axes.

use super::super::Point;
use super::accepted::NOT_STEADY;
use super::chart::{Chart, Panel};
use super::drawing::{Content, Figure};
use super::kind::FigureRequest;
use super::latency::FIRST_NOT_STEADY;
use super::legend::Legend;
use super::names::file_name;
use super::sheet::Sheet;
use flitlab_base::narrow::rounded_down;

/// The kinds whose x axis is the offered load: rows of one figure.
const OVER_LOAD: [&str; 2] = ["latency", "accepted"];

/// The name of that figure.
const NAME: &str = "panels";

/// A column has at least so many times the size of its letters.
const NARROWEST: f64 = 13.0;

/// Puts figures together that differ in what they are called only, a panel for each of `columns`,
/// and those over load one above another. All others stay as they are.
pub(super) fn combined(
    figures: Vec<(String, Figure)>,
    columns: &[(String, Vec<Point>)],
    wish: &FigureRequest,
) -> Vec<(String, Figure)> {
    let columns: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let of = |kind: &str, column: &str| {
        let name = format!("{kind}{}", file_name(column));
        figures.iter().find(|figure| figure.0 == name).and_then(|(_, figure)| {
            match &figure.content {
                Content::Chart(chart) => Some(chart),
                _ => None,
            }
        })
    };
    let row = |kind: &str| -> Vec<Option<&Chart>> {
        columns.iter().map(|column| of(kind, column)).collect()
    };
    let some = |row: &Vec<Option<&Chart>>| row.iter().any(Option::is_some);
    let title = wish.title_of(&[]);
    let mut done: Vec<String> = Vec::new();
    let mut combined = Vec::new();
    let mut add = |name: &str, kinds: &[&str]| {
        let rows: Vec<Vec<Option<&Chart>>> =
            kinds.iter().map(|kind| row(kind)).filter(some).collect();
        if rows.iter().flatten().flatten().count() > 1 {
            let sheet = &wish.medium.sheet;
            let chart = grid(&title, &columns, &rows, columns_of(columns.len(), sheet));
            combined.push((name.to_owned(), Figure::of_chart(chart)));
            let names = kinds.iter().flat_map(|kind| {
                columns.iter().map(move |column| format!("{kind}{}", file_name(column)))
            });
            done.extend(names);
        }
    };
    add(NAME, &OVER_LOAD);
    for kind in ["latency-p99", "latency-p95", "percentiles", "cdf"] {
        add(kind, &[kind]);
    }
    combined.extend(figures.into_iter().filter(|(name, _)| !done.contains(name)));
    combined
}

/// In how many columns so many panels are: as many as can be read beside each other, in full rows
/// if they can be.
fn columns_of(panels: usize, sheet: &Sheet) -> usize {
    let most = rounded_down::<usize>(sheet.width() / (sheet.axis_size() * NARROWEST)).max(1);
    panels.div_ceil(panels.div_ceil(most).max(1)).max(1)
}

/// Rows of charts, each with a chart a heading or none, in so many columns; there is at least one
/// chart.
fn grid(title: &str, headings: &[&str], rows: &[Vec<Option<&Chart>>], columns: usize) -> Chart {
    let all = || rows.iter().flatten().flatten().copied();
    let widest = all().max_by(|a, b| a.x.high.total_cmp(&b.x.high)).expect("there is a chart");
    let mut legend = Legend::default();
    for row in rows {
        for (heading, chart) in headings.iter().zip(row) {
            chart.iter().for_each(|chart| legend.join(&chart.legend.clone().of_panel(heading)));
        }
    }
    // Of accepted load all that is not steady is hollow.
    if legend.keys.iter().any(|key| key.1 == NOT_STEADY) {
        legend.keys.retain(|key| key.1 != FIRST_NOT_STEADY);
    }
    let mut panels = Vec::new();
    for start in (0..headings.len()).step_by(columns) {
        for (number, row) in rows.iter().enumerate() {
            let axes = row.iter().flatten().map(|chart| &chart.panels[0].y);
            let highest = axes.max_by(|a, b| a.high.total_cmp(&b.high)).expect("a row has a chart");
            panels.extend((start..start + columns).map(|at| {
                let own = row.get(at).copied().flatten();
                let panel = own.map_or(Panel::new(highest.clone()), |it| it.panels[0].clone());
                let heading = headings.get(at).filter(|_| number == 0).copied().unwrap_or_default();
                let blank = at >= headings.len();
                Panel { y: highest.clone(), heading: heading.into(), blank, ..panel }
            }));
        }
    }
    Chart { columns, ..Chart::stacked(title, widest.x.clone(), panels, legend) }
}
