//! What all figures in LaTeX share.

use super::super::figure_style::LegendPlace;
use super::super::legend::{Legend, Sample};
use super::super::palette::{Colour, Dash, GREY, Marker, Pen};
use super::super::sheet::Sheet;
use flitlab_base::narrow::{narrow, rounded_down};
use flitlab_base::printable::printable;
use std::collections::BTreeSet;

/// The lines that a paper's preamble needs.
const PREAMBLE: &str = "\\usepackage{pgfplots}\n\\pgfplotsset{compat=1.16}\n\
                        \\usepgfplotslibrary{fillbetween,groupplots}\n";

/// A document with figures of these names.
pub(in super::super) fn document(names: &[&str]) -> String {
    let mut text = format!(
        "% All figures: pdflatex figures.tex\n\\documentclass{{article}}\n\\usepackage[margin=1in]{{geometry}}\n\
         {PREAMBLE}\\pagestyle{{empty}}\n\\begin{{document}}\n"
    );
    for name in names {
        text += &format!(
            "\\begin{{figure}}[p]\\centering\\input{{{name}.tex}}\\end{{figure}}\\clearpage\n"
        );
    }
    text + "\\end{document}\n"
}

/// How every figure begins.
pub(super) fn head(name: &str, sheet: &Sheet) -> String {
    let comment = PREAMBLE.trim_end().replace('\n', "\n%   ");
    let (size, lead) = (number(sheet.small_size()), number(sheet.small_size() * 1.2));
    format!(
        "% {name}.tex, drawn by flitlab; its data is in {name}.dat. The preamble needs\n%   {comment}\n\
         % and, if these files are in another folder than the document, \
         \\newcommand{{\\flitlabfolder}}{{figures/}}\n\
         \\providecommand{{\\flitlabfolder}}{{}}\n\
         \\begin{{tikzpicture}}[font=\\fontsize{{{size}}}{{{lead}}}\\selectfont]\n"
    )
}

/// The table's file as a figure names it.
pub(super) fn file(name: &str) -> String {
    format!("{{\\flitlabfolder {name}.dat}}")
}

/// The option for the title above an axis, if there is one.
pub(super) fn title(title: &str) -> String {
    if title.is_empty() { String::new() } else { format!("title={}, ", escaped(title)) }
}

/// A line of text below all else.
pub(super) fn note(note: Option<&str>) -> String {
    let node = |note| {
        let text = escaped(note);
        format!("\\node[anchor=north, text=black!60] at (current bounding box.south) {text};\n")
    };
    note.map_or(String::new(), node)
}

pub(super) fn foot() -> &'static str {
    "\\end{tikzpicture}%\n"
}

/// The definitions of colours, each once.
pub(super) fn definitions(colours: impl Iterator<Item = Colour>) -> String {
    let colours: BTreeSet<Colour> = colours.collect();
    let define = |colour: &Colour| {
        let (red, green, blue) = colour;
        format!("\\definecolor{{{}}}{{RGB}}{{{red},{green},{blue}}}\n", colour_name(*colour))
    };
    colours.iter().map(define).collect()
}

pub(super) fn colour_name((red, green, blue): Colour) -> String {
    format!("flitlab{red:02x}{green:02x}{blue:02x}")
}

/// The options of a marker.
pub(super) fn mark(marker: Marker, colour: Colour, hollow: bool) -> String {
    let (name, turn) = match marker {
        Marker::Circle => ("*", 0),
        Marker::Square => ("square*", 0),
        Marker::Up => ("triangle*", 0),
        Marker::Diamond => ("diamond*", 0),
        Marker::Down => ("triangle*", 180),
        Marker::Hexagon => ("pentagon*", 0),
        Marker::Left => ("triangle*", 90),
        Marker::Right => ("triangle*", 270),
        Marker::Cross => ("x", 0),
    };
    let fill = if hollow { "white".into() } else { colour_name(colour) };
    let size = if marker == Marker::Cross { "3pt, line width=1pt" } else { "1.8pt" };
    let rotation = if turn == 0 { String::new() } else { format!(", rotate={turn}") };
    format!("mark={name}, mark size={size}, mark options={{solid, fill={fill}{rotation}}}")
}

/// How the line of a series is drawn.
pub(super) fn line(dash: Dash) -> String {
    format!("line width=1.1pt{}", pattern(dash))
}

/// The option for a line's dashes, behind others.
pub(super) fn pattern(dash: Dash) -> String {
    let pattern = dash.pattern().chunks(2);
    let pattern: Vec<String> =
        pattern.map(|pair| format!("on {}pt off {}pt", pair[0], pair[1])).collect();
    match pattern.is_empty() {
        true => String::new(),
        false => format!(", dash pattern={{{}}}", pattern.join(" ")),
    }
}

/// The option for the dashes of a thin line that is no data.
pub(super) fn dashes(dash: Dash) -> String {
    if dash == Dash::Dashed { ", dashed".into() } else { pattern(dash) }
}

/// The legend at its place: style of an axis, and the entries.
pub(super) fn legend(legend: &Legend, sheet: &Sheet, place: LegendPlace) -> (String, String) {
    if place == LegendPlace::Nowhere {
        return (String::new(), String::new());
    }
    let entries: Vec<_> = legend.series.iter().chain(&legend.keys).collect();
    let columns = legend.columns(sheet, sheet.width()).clamp(1, entries.len().max(1));
    let columns = if legend.series.len() > 1 { columns } else { entries.len().clamp(1, 2) };
    let inside = |position: &str| {
        format!("legend pos={position}, legend cell align=left, legend style={{draw=none}}")
    };
    let style = match place {
        LegendPlace::Right => inside("outer north east"),
        LegendPlace::TopLeft => inside("north west"),
        LegendPlace::TopRight => inside("north east"),
        LegendPlace::BottomLeft => inside("south west"),
        LegendPlace::BottomRight => inside("south east"),
        LegendPlace::Below | LegendPlace::Best | LegendPlace::Nowhere => format!(
            "legend columns={columns}, legend cell align=left,\n  \
             legend style={{at={{(0.5,-0.02)}}, anchor=north, yshift=-3.2em, draw=none, fill=none, \
             /tikz/every even column/.append style={{column sep=6pt}}}}"
        ),
    };
    let mut images = String::new();
    for (sample, label) in entries {
        let image = image(*sample);
        images += &format!("\\addlegendimage{{{image}}}\\addlegendentry{{{}}}\n", escaped(label));
    }
    (style, images)
}

pub(super) fn image(sample: Sample) -> String {
    match sample {
        Sample::Series(Pen { colour, marker, dash }) => {
            let (line, mark) = (line(dash), mark(marker, colour, false));
            format!("{}, {line}, {mark}", colour_name(colour))
        }
        Sample::Band(colour) => area(colour, 0.22),
        Sample::Dot(colour) => {
            format!("{}, only marks, mark=*, mark size=0.9pt", colour_name(colour))
        }
        Sample::Line(colour) => format!("{}, line width=0.7pt", colour_name(colour)),
        Sample::Dashed(colour) => format!("{}, line width=0.7pt, dashed", colour_name(colour)),
        Sample::Bound(dash) => format!("{}, line width=0.7pt{}", colour_name(GREY), dashes(dash)),
        Sample::Tail(pen) => format!(
            "{}, line width=0.7pt, dashed, mark=*, mark size=0.9pt",
            colour_name(pen.colour)
        ),
        Sample::Hollow(colour, marker) => {
            format!("only marks, {}, {}", colour_name(colour), mark(marker, colour, true))
        }
        Sample::Around(colour, marker) => format!(
            "only marks, {}, {}, mark size=3pt",
            colour_name(colour),
            mark(marker, colour, true)
        ),
        Sample::Cross(colour) => {
            format!("only marks, {}, {}", colour_name(colour), mark(Marker::Cross, colour, false))
        }
        Sample::Bar(colour) => area(colour, 1.0),
        Sample::HollowBar(colour) => format!(
            "legend image code/.code={{\\draw[{}, line width=0.9pt] (0cm,-0.08cm) rectangle \
             (0.5cm,0.08cm);}}",
            colour_name(colour)
        ),
        Sample::Whisker(colour) => format!("{}, line width=0.7pt, mark=|", colour_name(colour)),
    }
}

/// A small rectangle without a frame.
pub(super) fn area(colour: Colour, opacity: f64) -> String {
    format!(
        "legend image code/.code={{\\fill[{}, fill opacity={opacity}] (0cm,-0.08cm) rectangle \
         (0.5cm,0.08cm);}}",
        colour_name(colour)
    )
}

pub(super) fn sample_colour(sample: Sample) -> Colour {
    match sample {
        Sample::Series(Pen { colour, .. })
        | Sample::Tail(Pen { colour, .. })
        | Sample::Hollow(colour, _)
        | Sample::Around(colour, _) => colour,
        Sample::Band(colour)
        | Sample::Dot(colour)
        | Sample::Line(colour)
        | Sample::Dashed(colour)
        | Sample::Cross(colour)
        | Sample::Bar(colour)
        | Sample::HollowBar(colour)
        | Sample::Whisker(colour) => colour,
        Sample::Bound(_) => GREY,
    }
}

/// The colours that a legend uses.
pub(super) fn legend_colours(legend: &Legend) -> impl Iterator<Item = Colour> + '_ {
    legend.series.iter().chain(&legend.keys).map(|(sample, _)| sample_colour(*sample))
}

/// A number in at most seven significant digits, as LaTeX reads them.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "nan".into() };
    }
    let whole = rounded_down::<i32>(libm::log10(value.abs()));
    let decimals: usize = narrow((6 - whole).clamp(0, 15));
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').into() }
}

/// Text as LaTeX prints it as it is.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in printable(text).chars() {
        match letter {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '{' | '}' | '%' | '#' | '&' | '$' | '_' => escaped.extend(['\\', letter]),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '<' | '>' | '|' => escaped.extend(['$', letter, '$']),
            '\u{2212}' => escaped.push_str("$-$"),
            'µ' => escaped.push_str("$\\mu$"),
            '…' => escaped.push_str("\\dots{}"),
            letter => escaped.push(letter),
        }
    }
    // Commas would end an option.
    format!("{{{escaped}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_printed_as_they_are() {
        assert_eq!(escaped("a_b & 50%"), "{a\\_b \\& 50\\%}");
        assert_eq!(escaped("\\x^2 {µs}"), "{\\textbackslash{}x\\textasciicircum{}2 \\{$\\mu$s\\}}");
    }

    #[test]
    fn numbers_have_no_exponent() {
        for (value, text) in [
            (0.0, "0"),
            (0.05, "0.05"),
            (1234.5678912, "1234.568"),
            (1e-7, "0.0000001"),
            (20_000_000.0, "20000000"),
            (-2.5, "-2.5"),
            (100.0, "100"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
