//! Plots with number axes.

use super::super::axis::Axis;
use super::super::chart::{Chart, Curve, Mark, Markers, Panel, Sample, Stroke, side_by_side};
use super::super::figure_style::Intervals;
use super::super::names;
use super::super::palette::BAR;
use super::super::plot::legend_place;
use super::super::sheet::Sheet;
use super::latex::{
    colour_name, dashes, definitions, escaped, file, foot, head, legend, legend_colours,
    line as line_style, mark, note, number,
};
use super::table::Table;

/// At most this many labels on a logarithmic axis.
const TICKS: u32 = 6;

pub(in super::super) fn of_chart(chart: &Chart, sheet: &Sheet, name: &str) -> (String, String) {
    let mut table = Table::default();
    let panels = &chart.panels;
    let colours = panels.iter().flat_map(|panel| {
        let curves = panel.curves.iter().map(|curve| curve.colour);
        let marks = panel.marks.iter().map(|mark| mark.colour);
        curves.chain(marks).chain(panel.rules.iter().map(|rule| rule.colour)).chain([BAR])
    });
    let mut text = head(name, sheet);
    text += &definitions(colours.chain(legend_colours(&chart.legend)));
    let (legend_style, images) = legend(&chart.legend, sheet, legend_place(chart, sheet));
    let (columns, rows) = (chart.columns, chart.rows().max(1));
    let several = panels.len() > 1;
    // The panels' frames alone, or a single plot with all that belongs to it.
    let (width, height, only) = match (several, columns) {
        (false, _) => (1.0, 1.12, ""),
        (true, 1) => (0.82, 0.5, "scale only axis, "),
        (true, _) => (0.78 / columns as f64, 0.5, "scale only axis, "),
    };
    let (width, height) = (width * sheet.width(), height * sheet.frame_height());
    let height = sheet.height().map_or(height, |all| all * 0.7 / rows as f64);
    let common = format!(
        "{only}width={}bp, height={}bp, axis lines=left, axis line style={{-}}, ymajorgrids, \
         grid style={{black!10}}, unbounded coords=discard,\n  title style={{font=\\normalsize}}, \
         clip mode=individual,\n  {}",
        number(width),
        number(height),
        of_axis("x", &chart.x)
    );
    let mut numbers = 0;
    let filled = panels.iter().rposition(|panel| !panel.blank).map_or(0, |last| last + 1);
    if several {
        text += &format!(
            "\\begin{{groupplot}}[group style={{group size={columns} by {rows}, vertical sep=8pt, horizontal sep=8pt, \
             x descriptions at=edge bottom, y descriptions at=edge left}},\n  {common}]\n"
        );
    }
    for (place, panel) in panels.iter().enumerate() {
        let (last, left) = (place + 1 == filled, place % columns == 0);
        if panel.blank {
            text += "\\nextgroupplot[group/empty plot]\n";
            continue;
        }
        let begin = if several { "\\nextgroupplot" } else { "\\begin{axis}" };
        let mut options = vec![of_axis("y", &panel.y)];
        if left {
            options.push(format!("ylabel={}", escaped(&panel.y.title)));
        }
        if !several {
            options.insert(0, common.clone());
        }
        let first = if place == 0 { chart.title.as_str() } else { "" };
        let title = names::joined(&[first, panel.heading.as_str()]);
        if !title.is_empty() {
            options.push(format!("title={}", escaped(&title)));
        }
        if place / columns + 1 == rows {
            options.push(format!("xlabel={}", escaped(&chart.x.title)));
        }
        if last && !legend_style.is_empty() {
            options.push(legend_style.clone());
        }
        text += &format!("{begin}[{}]\n", options.join(",\n  "));
        text += &of_panel((panel, width), chart, name, &mut table, &mut numbers);
        if last {
            text += &images;
        }
        if !several {
            text += "\\end{axis}\n";
        }
    }
    if several {
        text += "\\end{groupplot}\n";
    }
    text += &note(chart.legend.note.as_deref());
    (text + foot(), table.text())
}

fn of_axis(letter: &str, axis: &Axis) -> String {
    let mut options = vec![
        format!("{letter}min={}", number(axis.low)),
        format!("{letter}max={}", number(axis.high)),
    ];
    if axis.is_logarithmic() {
        // By itself pgfplots writes 10^{3.5}.
        let (ticks, list) = (axis.ticks(TICKS), |values: Vec<String>| values.join(","));
        let minor = axis.minor_ticks().into_iter().map(number);
        options.push(format!("{letter}mode=log"));
        options.push(format!(
            "{letter}tick={{{}}}",
            list(ticks.iter().map(|it| number(it.0)).collect())
        ));
        options.push(format!(
            "{letter}ticklabels={{{}}}, minor {letter}tick={{{}}}",
            list(ticks.iter().map(|it| escaped(&it.1)).collect()),
            list(minor.collect())
        ));
    } else {
        options.push(format!("scaled {letter} ticks=false"));
        options.push(format!(
            "{letter}ticklabel style={{/pgf/number format/fixed, /pgf/number format/1000 sep={{}}}}"
        ));
    }
    options.join(", ")
}

fn of_panel(
    (panel, width): (&Panel, f64),
    chart: &Chart,
    name: &str,
    table: &mut Table,
    numbers: &mut usize,
) -> String {
    let mut text = String::new();
    if !panel.bins.is_empty() {
        table.comments.push("bars from, to, and their height".into());
        table.column("from".into(), panel.bins.iter().map(|bin| bin.from).collect());
        table.column("to".into(), panel.bins.iter().map(|bin| bin.to).collect());
        table.column("height".into(), panel.bins.iter().map(|bin| bin.height).collect());
        let width = panel.bins.first().map_or(1.0, |bin| bin.to - bin.from);
        text += &format!(
            "\\addplot[ybar, bar width={}, draw=none, fill={}, forget plot] \
             table[x expr=(\\thisrow{{from}}+\\thisrow{{to}})/2, y=height] {};\n",
            number(width * 0.88),
            colour_name(BAR),
            file(name)
        );
    }
    for rule in &panel.rules {
        let places = rule.places(&chart.x, &panel.y);
        let place = |(x, y): &(f64, f64)| format!("({},{})", number(*x), number(*y));
        text += &format!(
            "\\addplot[{}, line width=0.7pt, no marks, forget plot{}] coordinates {{{}}};\n",
            colour_name(rule.colour),
            dashes(rule.dash),
            places.iter().map(place).collect::<Vec<_>>().join(" ")
        );
    }
    let (mut bands, mut lines) = (String::new(), String::new());
    for curve in &panel.curves {
        for run in curve.runs.iter().filter(|run| !run.is_empty()) {
            *numbers += 1;
            let (band, line) = of_run((curve, run), chart.intervals, *numbers, name, table);
            bands += &band;
            lines += &line;
        }
    }
    text += &bands;
    text += &lines;
    let (inside, above): (Vec<&Mark>, Vec<&Mark>) =
        panel.marks.iter().partition(|mark| mark.y.is_some());
    let wanted: Vec<f64> = above.iter().map(|mark| chart.x.share(mark.x) * width).collect();
    // Labels above the frame are in a row.
    let shifts = side_by_side(&wanted).into_iter().zip(&wanted).map(|(place, wanted)| {
        format!(", xshift={}bp, yshift=4.5bp", number(((place - wanted) * 100.0).round() / 100.0))
    });
    let marks =
        inside.iter().map(|mark| (*mark, String::new())).chain(above.iter().copied().zip(shifts));
    for (point, shift) in marks {
        text += &format!(
            "\\addplot[only marks, {}, {}, forget plot{shift}] coordinates {{({},{})}};\n",
            colour_name(point.colour),
            mark(point.marker, point.colour, point.hollow),
            number(point.x),
            number(point.y.unwrap_or(panel.y.high))
        );
    }
    text
}

/// The band and the line of samples that are connected.
fn of_run(
    (curve, run): (&Curve, &[Sample]),
    intervals: Intervals,
    number: usize,
    name: &str,
    table: &mut Table,
) -> (String, String) {
    let (column, colour) = (&*curve.column, colour_name(curve.colour));
    let what =
        if curve.label.is_empty() { column.into() } else { format!("{}, {column}", curve.label) };
    table.comments.push(format!("{number}: {what}"));
    table.column(format!("x-{number}"), run.iter().map(|sample| sample.x).collect());
    table.column(format!("{column}-{number}"), run.iter().map(|sample| sample.y).collect());
    let file = file(name);
    let mut band = String::new();
    let known = run.iter().all(|sample| sample.interval.is_some());
    let mut bars = (String::new(), String::new());
    if intervals == Intervals::Whiskers && known {
        let error = |sample: &Sample, of: fn(f64, (f64, f64)) -> f64| {
            sample.interval.map_or(f64::NAN, |ends| of(sample.y, ends))
        };
        let below = |sample: &Sample| error(sample, |y, ends| y - ends.0);
        let above = |sample: &Sample| error(sample, |y, ends| ends.1 - y);
        table.column(format!("below-{number}"), run.iter().map(below).collect());
        table.column(format!("above-{number}"), run.iter().map(above).collect());
        bars.0 = ", error bars/.cd, y dir=both, y explicit".into();
        bars.1 = format!(", y error minus=below-{number}, y error plus=above-{number}");
    }
    if intervals == Intervals::Bands && run.len() > 1 && known {
        for (end, of) in [("low", 0), ("high", 1)] {
            let value = |sample: &Sample| {
                sample.interval.map_or(f64::NAN, |(low, high)| if of == 0 { low } else { high })
            };
            table.column(format!("{end}-{number}"), run.iter().map(value).collect());
            band += &format!(
                "\\addplot[draw=none, no marks, forget plot, name path={end}{number}] \
                 table[x=x-{number}, y={end}-{number}] {file};\n"
            );
        }
        band += &format!(
            "\\addplot[fill={colour}, fill opacity=0.22, forget plot] \
             fill between[of=low{number} and high{number}];\n"
        );
    }
    let stroke = match curve.stroke {
        Stroke::Full(dash) => line_style(dash),
        Stroke::Dashed => "line width=0.7pt, dashed".into(),
        Stroke::Nothing => "only marks".into(),
    };
    let marks = match curve.markers {
        Markers::Nothing => "no marks".into(),
        Markers::Dots => "mark=*, mark size=0.9pt".into(),
        Markers::All(marker) => mark(marker, curve.colour, false),
        Markers::Around(marker) => {
            format!("{}, mark size=3pt", mark(marker, curve.colour, true))
        }
        Markers::Some { marker, first, step } => {
            let phase = first + 1;
            format!("{}, mark repeat={step}, mark phase={phase}", mark(marker, curve.colour, false))
        }
    };
    let mut line = format!(
        "\\addplot[{colour}, {stroke}, {marks}, forget plot{}] \
         table[x=x-{number}, y={column}-{number}{}] {file};\n",
        bars.0, bars.1
    );
    if run.iter().any(|sample| sample.hollow) {
        let value = |sample: &Sample| if sample.hollow { sample.y } else { f64::NAN };
        table.column(format!("hollow-{number}"), run.iter().map(value).collect());
        let marker =
            curve.markers.at(0).map_or_else(String::new, |it| mark(it, curve.colour, true));
        line += &format!(
            "\\addplot[only marks, {colour}, {marker}, forget plot] \
             table[x=x-{number}, y=hollow-{number}] {file};\n"
        );
    }
    (band, line)
}
