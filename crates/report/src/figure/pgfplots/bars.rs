//! Horizontal bars.

use super::super::bars::{Bar, BarChart};
use super::super::figure_style::LegendPlace;
use super::super::palette::Colour;
use super::super::sheet::Sheet;
use super::latex::{
    colour_name, definitions, escaped, file, foot, head, legend, legend_colours, note, number,
    title,
};
use super::table::Table;

/// Of the space of a group, what its bars take.
const SHARE: f64 = 0.8;

pub(in super::super) fn of_bars(chart: &BarChart, sheet: &Sheet, name: &str) -> (String, String) {
    let most = chart.groups.iter().map(|group| group.bars.len()).max().unwrap_or(1).max(1);
    let step = SHARE / most as f64;
    // Bars of one colour, with or without whiskers, are drawn together: where, from the top, and
    // which.
    let mut plots: Vec<(Colour, Vec<(f64, &Bar)>)> = Vec::new();
    let alike = |plot: &(Colour, Vec<(f64, &Bar)>), bar: &Bar| {
        let first = plot.1[0].1;
        plot.0 == bar.colour
            && first.hollow == bar.hollow
            && first.whisker.is_some() == bar.whisker.is_some()
    };
    for (place, group) in chart.groups.iter().enumerate() {
        let middle = (group.bars.len() as f64 - 1.0) / 2.0;
        for (number, bar) in group.bars.iter().enumerate() {
            let at = place as f64 + (number as f64 - middle) * step;
            match plots.iter_mut().find(|plot| alike(plot, bar)) {
                Some((_, bars)) => bars.push((at, bar)),
                None => plots.push((bar.colour, vec![(at, bar)])),
            }
        }
    }
    let mut table = Table::default();
    for (place, group) in chart.groups.iter().enumerate() {
        table.comments.push(format!("place {place}: {}", group.label));
    }
    let mut text = head(name, sheet);
    let colours = plots.iter().map(|plot| plot.0).chain(legend_colours(&chart.legend));
    text += &definitions(colours);
    let (style, images) = legend(&chart.legend, sheet, LegendPlace::Below);
    let labels: Vec<String> = chart.groups.iter().map(|group| escaped(&group.label)).collect();
    let count = chart.groups.len();
    let height = (count * most) as f64 * sheet.small_size() / SHARE;
    let title = title(&chart.title);
    // Those behind the longest bars reach beyond the axis.
    let noted = chart.groups.iter().flat_map(|group| &group.bars).any(|bar| !bar.note.is_empty());
    let clip = if noted { "clip mode=individual, " } else { "" };
    text += &format!(
        "\\begin{{axis}}[{title}{clip}width={}bp, height={}bp, scale only axis, axis lines=left, \
         axis line style={{-}}, xmajorgrids, grid style={{black!10}},\n  xmin={}, xmax={}, ymin=-0.6, \
         ymax={}, y dir=reverse, ytick={{0,...,{}}}, ytick style={{draw=none}},\n  yticklabels={{{}}},\n  \
         xlabel={}, scaled x ticks=false, xticklabel style={{/pgf/number format/fixed}},\n  {style}]\n",
        number(sheet.width() * 0.6),
        number(height),
        number(chart.axis.low),
        number(chart.axis.high),
        number(count as f64 - 0.4),
        count.saturating_sub(1),
        labels.join(","),
        escaped(&chart.axis.title)
    );
    for (plot, (colour, bars)) in plots.iter().enumerate() {
        let number_of = plot + 1;
        let series = bars.first().map_or("", |(_, bar)| bar.series.as_str());
        if !series.is_empty() {
            table.comments.push(format!("{number_of}: {series}"));
        }
        table.column(format!("place-{number_of}"), bars.iter().map(|bar| bar.0).collect());
        table.column(format!("value-{number_of}"), bars.iter().map(|bar| bar.1.value).collect());
        let whiskers = bars.iter().any(|(_, bar)| bar.whisker.is_some());
        let mut errors = String::new();
        let mut columns = String::new();
        if whiskers {
            let below = |bar: &Bar| bar.whisker.map_or(0.0, |ends| bar.value - ends.0);
            let above = |bar: &Bar| bar.whisker.map_or(0.0, |ends| ends.1 - bar.value);
            table.column(format!("below-{number_of}"), bars.iter().map(|it| below(it.1)).collect());
            table.column(format!("above-{number_of}"), bars.iter().map(|it| above(it.1)).collect());
            errors = ", error bars/.cd, x dir=both, x explicit, error bar style={black}".into();
            columns = format!(", x error minus=below-{number_of}, x error plus=above-{number_of}");
        }
        let (draw, fill) = match bars.first() {
            Some((_, bar)) if bar.hollow => {
                (format!("{}, line width=0.9pt", colour_name(*colour)), "white".into())
            }
            _ => ("none".into(), colour_name(*colour)),
        };
        text += &format!(
            "\\addplot[xbar, bar shift=0pt, bar width={}bp, draw={draw}, fill={fill}, forget plot{errors}] \
             table[x=value-{number_of}, y=place-{number_of}{columns}] {};\n",
            number(sheet.small_size() * 0.92),
            file(name)
        );
        for (place, bar) in bars.iter().filter(|(_, bar)| !bar.note.is_empty()) {
            text += &format!(
                "\\node[anchor=west] at (axis cs:{},{}) {};\n",
                number(bar.value),
                number(*place),
                escaped(&bar.note)
            );
        }
    }
    text += &images;
    text += "\\end{axis}\n";
    text += &note(chart.legend.note.as_deref());
    (text + foot(), table.text())
}
