//! The comparison as text: a verdict, then what differs.

use std::fmt::Write as _;

use super::ComparisonReport;
use crate::cli::results::Results;
use crate::cli::terminal;
use flitlab::report::comparison::{ComparedPoint, Estimate, Measure, PointKey, Values, Verdict};
use flitlab::scenario::{Difference, Setting};

/// Where facts begin.
const COLUMN: usize = 18;

/// Swept values that are listed; of more, the ends.
const LISTED: usize = 6;

/// Places that are named of those in one result only.
const NAMED: usize = 4;

pub(super) fn text(report: &ComparisonReport, all: bool) -> String {
    let head = if report.holds() { "same" } else { "different" };
    let mut text = paragraph(&format!("{head}: {}", verdict(report)));
    text += &facts(report);
    text += &scenario(report);
    text += &values(report, all);
    text
}

/// The verdict in one line.
pub(super) fn verdict(report: &ComparisonReport) -> String {
    let found = &report.found;
    let searched = !report.a.saturation().is_empty();
    let count = |count: usize| match (count, searched) {
        (1, false) => "1 point".to_owned(),
        (count, false) => format!("{count} points"),
        (count, true) => format!("{count} series"),
    };
    let all = found.points.len();
    let more = format!("by more than {}", percent(report.tolerance));
    let mut parts = Vec::new();
    match (found.count(Verdict::Differs), found.count(Verdict::Unclear)) {
        (0, 0) if found.points.iter().all(|point| point.same_events) => {
            parts.push(match report.missing() {
                0 => format!("event by event, {}", count(all)),
                _ => format!("{} the same, event by event", count(all)),
            });
        }
        (0, 0) => parts.push(format!("none of {} differs {more}", count(all))),
        (0, unclear) => {
            parts.push(format!("none of {} differs for certain {more}", count(all)));
            parts.push(format!("{unclear} may"));
        }
        (differing, unclear) => {
            let verb = if differing == 1 { "differs" } else { "differ" };
            parts.push(format!("{differing} of {} {verb} {more}", count(all)));
            if unclear > 0 {
                parts.push(format!("{unclear} more may"));
            }
        }
    }
    for (places, side) in [(&found.only_in_a, "A"), (&found.only_in_b, "B")] {
        if !places.is_empty() {
            parts.push(format!("{} only in {side}", count(places.len())));
        }
    }
    parts.join("; ")
}

/// Why two results can't be compared that have no point in common.
pub(super) fn nothing_in_common(a: &Results, b: &Results) -> String {
    let places = |results: &Results| {
        let points = &results.rows.points;
        let mut series: Vec<&str> = points
            .iter()
            .map(|point| point.label.series.as_str())
            .filter(|it| !it.is_empty())
            .collect();
        series.dedup();
        let mut loads: Vec<f64> =
            points.iter().filter_map(|point| point.measured.offered_load).collect();
        loads.sort_by(f64::total_cmp);
        let loads = match (loads.first(), loads.last()) {
            (Some(first), Some(last)) if first < last => format!("loads {first} to {last}"),
            (Some(only), _) => format!("load {only}"),
            _ => "no loads: a finite exchange".into(),
        };
        let named = match series.len() {
            0 => "; one series without a name".into(),
            count if count > NAMED => {
                format!("; {count} series: {}, ...", series[..NAMED].join("; "))
            }
            _ => format!("; series: {}", series.join("; ")),
        };
        format!("{loads}{named}")
    };
    format!(
        "error: no point of {} has the series and offered load of one of {}\n  A has {}\n  B has {}",
        a.name(),
        b.name(),
        places(a),
        places(b)
    )
}

/// `5%`, with as many digits as it takes.
pub(super) fn percent(share: f64) -> String {
    let rounded = (share * 1e6).round() / 1e4;
    format!("{rounded}%")
}

impl ComparisonReport {
    /// The largest relative change, and where it is.
    pub(super) fn largest_change(&self) -> Option<(&ComparedPoint, &Values)> {
        let values = self
            .found
            .points
            .iter()
            .flat_map(|point| point.values.iter().map(move |values| (point, values)));
        let size = |values: &Values| values.change.map_or(0.0, f64::abs);
        values
            .filter(|(_, values)| size(values) > 0.0)
            .max_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)))
    }
}

fn facts(report: &ComparisonReport) -> String {
    let fact = |name: &str, value: &str| terminal::fact(name, value, COLUMN);
    let mut text = fact("A", &report.a.name()) + &fact("B", &report.b.name());
    if let Some((point, values)) = report.largest_change() {
        let place = match place_name(&point.place) {
            place if place.is_empty() => String::new(),
            place => format!(", at {place}"),
        };
        let change = change(values);
        text += &fact("largest change", &format!("{} {change}{place}", values.measure.title()));
    }
    for (name, places) in
        [("only in A", &report.found.only_in_a), ("only in B", &report.found.only_in_b)]
    {
        if !places.is_empty() {
            text += &fact(name, &places_text(places));
        }
    }
    if report.found.count(Verdict::Unclear) > 0 {
        let way_out = if report.a.saturation().is_empty() {
            "confidence intervals overlap, or it is the edge of saturation: a smaller \
             measure.precision or more seeds would tell"
        } else {
            "the searches were too coarse: a smaller sweep.saturation.tolerance would tell"
        };
        text += &fact("may be chance", way_out);
    }
    text
}

fn places_text(places: &[PointKey]) -> String {
    let named: Vec<String> = places.iter().take(NAMED).map(place_name).collect();
    let more = if places.len() > NAMED { "; ..." } else { "" };
    format!("{}{more}", named.join("; "))
}

fn place_name(place: &PointKey) -> String {
    let load = place.offered_load.map(|load| format!("load {load}"));
    let series = Some(place.series.clone()).filter(|series| !series.is_empty());
    [series, load].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn scenario(report: &ComparisonReport) -> String {
    let Some(differences) = &report.scenario else { return String::new() };
    if differences.is_empty() {
        return "\nscenario: no difference\n".into();
    }
    let cells: Vec<[String; 3]> = differences
        .iter()
        .map(|one| {
            let [a, b] = settings(one);
            [format!("  {}", one.key), a, b]
        })
        .collect();
    let head = ["scenario".to_owned(), "A".into(), "B".into()];
    let mut text = String::from("\n");
    let widths: Vec<usize> = (0..3)
        .map(|at| cells.iter().chain([&head]).map(|row| row[at].chars().count()).max().unwrap_or(0))
        .collect();
    if fits(widths.iter().sum::<usize>() + 4) {
        for [key, a, b] in [&head].into_iter().chain(&cells) {
            let line = format!("{key:<0$}  {a:<1$}  {b}", widths[0], widths[1]);
            let _ = writeln!(text, "{}", line.trim_end());
        }
        return text;
    }
    text += "scenario\n";
    for [key, a, b] in &cells {
        let _ = writeln!(text, "{key}");
        text += &(terminal::fact("  A", a, 7) + &terminal::fact("  B", b, 7));
    }
    text
}

/// Both settings, long lists by their ends unless these are the same.
fn settings(difference: &Difference) -> [String; 2] {
    let show = |setting: &Option<Setting>, whole: bool| match setting {
        None => "-".into(),
        Some(Setting::One(value)) => value.clone(),
        Some(Setting::Swept(values)) if whole || values.len() <= LISTED => {
            format!("[{}]", values.join(", "))
        }
        Some(Setting::Swept(values)) => {
            format!("{} values, {} to {}", values.len(), values[0], values[values.len() - 1])
        }
    };
    let short = [show(&difference.a, false), show(&difference.b, false)];
    if short[0] == short[1] {
        [show(&difference.a, true), show(&difference.b, true)]
    } else {
        short
    }
}

/// A table for each measure, with the points that differ or with all.
fn values(report: &ComparisonReport, all: bool) -> String {
    let points = &report.found.points;
    let mut measures: Vec<Measure> = Vec::new();
    for values in points.iter().flat_map(|point| &point.values) {
        if !measures.contains(&values.measure) {
            measures.push(values.measure);
        }
    }
    let mut text = String::new();
    let state = |point: &&ComparedPoint| point.state_a != point.state_b;
    let states = |it: &ComparedPoint| [it.state_a, it.state_b].map(|state| state.name().to_owned());
    let rows: Vec<Line<'_>> = points
        .iter()
        .filter(state)
        .map(|point| Line {
            place: &point.place,
            full: states(point),
            short: states(point),
            change: String::new(),
            verdict: if point.verdict == Verdict::Differs { "differs" } else { "may be chance" },
        })
        .collect();
    text += &table("state", &rows);
    for measure in measures {
        let rows: Vec<Line<'_>> = points
            .iter()
            .flat_map(|point| point.values.iter().map(move |values| (point, values)))
            .filter(|(_, values)| values.measure == measure)
            .filter(|(_, values)| all || values.verdict >= Verdict::Unclear)
            .map(|(point, values)| Line::new(&point.place, values))
            .collect();
        text += &table(&measure.title(), &rows);
    }
    if text.contains("+-") {
        text += "\n+- is half of the 95% confidence interval\n";
    }
    let shown = points.iter().filter(|point| point.verdict >= Verdict::Unclear).count();
    let rest = points.len() - shown;
    let identical = points.iter().all(|point| point.verdict == Verdict::Identical);
    if !all && rest > 0 && !identical {
        let within = percent(report.tolerance);
        text += &paragraph(&format!(
            "\n{} not further apart than {within} (--all shows {})",
            match (rest, shown) {
                (1, _) => "1 point is".into(),
                (rest, 0) => format!("all {rest} points are"),
                (rest, _) => format!("the other {rest} points are"),
            },
            if rest == 1 { "it" } else { "them" }
        ));
    }
    text
}

/// A point in a table; values with and without their intervals.
struct Line<'r> {
    place: &'r PointKey,
    full: [String; 2],
    short: [String; 2],
    change: String,
    verdict: &'static str,
}

impl<'r> Line<'r> {
    fn new(place: &'r PointKey, values: &Values) -> Self {
        let decimals = values.measure.decimals();
        let value = |estimate: Option<Estimate>| {
            estimate.map_or("-".into(), |it| format!("{:.decimals$}", it.value))
        };
        let full = |estimate: Option<Estimate>| {
            let interval = estimate.and_then(|it| Some((it.value, it.interval?)));
            let half = interval.map_or(String::new(), |(middle, (low, high))| {
                // The interval of a search lies above what was sustained.
                if low < middle {
                    format!(" +-{:.decimals$}", (high - low) / 2.0)
                } else {
                    format!(" to {high:.decimals$}")
                }
            });
            value(estimate) + &half
        };
        Self {
            place,
            full: [full(values.a), full(values.b)],
            short: [value(values.a), value(values.b)],
            change: change(values),
            verdict: match (values.verdict, values.significant) {
                (Verdict::Identical, _) => "equal",
                (Verdict::Within, Some(true)) => "within, significant",
                (Verdict::Within, _) => "within",
                (Verdict::Unclear, _) => "may be chance",
                (Verdict::Differs, _) => "differs",
            },
        }
    }

    fn label(&self) -> String {
        self.place.offered_load.map_or_else(String::new, |load| format!("  load {load}"))
    }
}

/// Lines below a title; a line for each new series. Empty if there are none.
fn table(title: &str, lines: &[Line<'_>]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let cells = |full: bool| -> Vec<[String; 5]> {
        let values = |line: &Line<'_>| if full { line.full.clone() } else { line.short.clone() };
        lines
            .iter()
            .map(|line| {
                let [a, b] = values(line);
                [line.label(), a, b, line.change.clone(), line.verdict.into()]
            })
            .collect()
    };
    let widths = |cells: &[[String; 5]]| -> Vec<usize> {
        let head = |at: usize| ["", "A", "B", "change", ""][at].len();
        (0..5)
            .map(|at| {
                cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(head(at))
            })
            .collect()
    };
    let mut rows = cells(true);
    if !fits(widths(&rows).iter().sum::<usize>() + 8) {
        rows = cells(false);
    }
    let widths = widths(&rows);
    let line = |row: &[&str; 5]| {
        let line = format!(
            "{:<w0$}  {:>w1$}  {:>w2$}  {:>w3$}  {}",
            row[0],
            row[1],
            row[2],
            row[3],
            row[4],
            w0 = widths[0],
            w1 = widths[1],
            w2 = widths[2],
            w3 = widths[3]
        );
        line.trim_end().to_owned() + "\n"
    };
    let mut text = format!("\n{title}\n{}", line(&["", "A", "B", "change", ""]));
    let mut series = "";
    for (row, of) in rows.iter().zip(lines) {
        if of.place.series != series {
            series = &of.place.series;
            let _ = writeln!(text, "{series}");
        }
        text += &line(&[&row[0], &row[1], &row[2], &row[3], &row[4]]);
    }
    text
}

/// `+3.1%`; what is less than can be shown is not shown as nothing.
fn change(values: &Values) -> String {
    match values.change {
        None => "-".into(),
        Some(0.0) => "0%".into(),
        Some(change) if change.abs() < 0.0005 => {
            format!("{}<0.1%", if change > 0.0 { "+" } else { "-" })
        }
        Some(change) => format!("{:+.1}%", change * 100.0),
    }
}

/// Whether a line of this length can be read in one piece.
fn fits(length: usize) -> bool {
    terminal::width().is_none_or(|columns| length <= columns)
}

/// A sentence, broken where the terminal ends.
fn paragraph(text: &str) -> String {
    terminal::width().map_or_else(|| text.to_owned(), |columns| textwrap::fill(text, columns))
        + "\n"
}
