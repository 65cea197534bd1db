//! `[sweep.figures]`: how the figures of a sweep look.

use std::{marker::PhantomData, str::FromStr};

use super::point::Point;
use crate::Document;
use flitlab_base::document::{
    Diagnostic, Flag, Kind, List, Listed, Node, Reader, Slot, Text, Value, Word, nearest, quoted,
    wrong_type,
};
use flitlab_report::figure::{
    FigureStyle, Format, Intervals, LegendPlace, Length, Limits, LoadsIn, Scale, SeriesStyle,
    Sheet, Tail, TimeUnit, short_name,
};

/// How the figures of a sweep look, and which of its keys tells them apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The key that has a figure for each of its values; all curves are in one if `None`.
    pub each: Option<String>,
    pub look: FigureStyle,
    pub sheet: Sheet,
    /// File formats; SVG, PDF and PNG if none are given.
    pub formats: Option<Vec<Format>>,
    /// Above the figures, in place of the scenario's title; none at all if it is empty.
    pub title: Option<String>,
    /// The settings in TOML; empty if there are none.
    pub(super) text: String,
}

const KEY: Text = Text { what: "a key of the grid", example: "traffic.pattern" };

/// Reads, or documents, the table; a text alone is the key that tells figures apart.
pub(super) fn read(reader: &mut Reader<'_>) -> Figures {
    let doc = "How figures look. A text instead of the table is `each`. The same can be said to flitlab plot.";
    if reader.has_text("figures") {
        let each = reader.optional("figures", &KEY, doc);
        let text = each.as_ref().map_or(String::new(), |key| quoted(key));
        return Figures { each, text, ..Figures::default() };
    }
    let example = "{ each = \"traffic.pattern\", y = \"200 ns:20 us\", log = [\"y\"] }";
    let figures = reader.optional_table("figures", example, doc, read_keys);
    let Some(figures) = figures else { return Figures::default() };
    let text = reader.resolved.last().map_or(String::new(), |(_, text)| text.clone());
    Figures { text, ..figures }
}

/// Series that are to be shown, or have a style, and that the sweep has not.
pub(super) fn unknown_series(
    document: &Document,
    figures: &Figures,
    points: &[Point],
) -> Vec<Diagnostic> {
    let place = |key: &str| document.get(key).map(|node| node.place.clone());
    let mut known: Vec<String> =
        points.iter().map(|it| short_name(&it.series, &it.figure)).collect();
    known.dedup();
    let is_known = |name: &&str| {
        known.iter().any(|own| own == name) || points.iter().any(|point| point.series == **name)
    };
    let shown = figures.look.series.iter().map(String::as_str).filter(|name| !is_known(name));
    let labels = points.iter().map(|point| point.series.as_str());
    let styled = figures.look.unknown_styles(labels);
    let unknown = shown.map(|name| ("series", name));
    let unknown = unknown.chain(styled.into_iter().map(|name| ("styles", name)));
    let problem = |(key, name): (&str, &str)| {
        let place = place(&format!("sweep.figures.{key}"))?;
        let problem = Diagnostic::new(&place, format!("the sweep has no series `{name}`"));
        Some(match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => problem.label(format!("did you mean `{near}`?")),
            None => problem.help(format!("it has {}", known.join("; "))),
        })
    };
    unknown.filter_map(problem).collect()
}

fn read_keys(reader: &mut Reader<'_>) -> Figures {
    let doc = "A swept key with a figure of its own for each of its values. Without it all curves are \
               in one figure.";
    let each = reader.optional("each", &KEY, doc);
    let mut look = FigureStyle::default();
    let doc = "The ends of x axes; either may be left out. Times are for axes of time.";
    look.x = reader.optional("x", &Range { example: "0:0.6" }, doc).unwrap_or_default();
    let doc = "The ends of y axes, and how far bars go.";
    look.y = reader.optional("y", &Range { example: "200 ns:20 us" }, doc).unwrap_or_default();
    let axes = |example| List {
        kind: Word { what: "axis", all: &[("x", "x"), ("y", "y")] },
        noun: "axes",
        length: 1..=2,
        example: Some(example),
    };
    for (key, scale, doc) in [
        ("log", Scale::Logarithmic, "Axes that are logarithmic."),
        ("linear", Scale::Linear, "Axes that are not, if they would be."),
    ] {
        let place = reader.place(key);
        for axis in reader.optional(key, &axes("[\"y\"]"), doc).map_or(Vec::new(), Listed::values) {
            let (limits, own) = match axis {
                "x" => (look.x, &mut look.x_scale),
                _ => (look.y, &mut look.y_scale),
            };
            *own = Some(scale);
            if scale == Scale::Logarithmic && limits.has_no_logarithm() {
                let place = place.clone().expect("it was read");
                let problem = format!("a logarithmic {axis} axis has no 0");
                reader.problems.push(
                    Diagnostic::new(&place, problem)
                        .help(format!("leave out the lower end of `{axis}`, or give one above 0")),
                );
            }
        }
    }
    let word = Word { what: "unit", all: &TimeUnit::NAMES };
    look.unit = reader.optional("unit", &word, "What all times are counted in.");
    let word = Word { what: "way to count loads", all: &LoadsIn::NAMES };
    let doc = "What loads are counted in: fractions of capacity where all points of a figure have the same one, or \
               payload.";
    look.loads = reader.optional("loads", &word, doc).unwrap_or_default();
    let names = List {
        kind: Text { what: "a series' name", example: "ABR" },
        noun: "names",
        length: 1..=1_000,
        example: None,
    };
    let doc = "The series that are shown, in this order, as legends call them.";
    look.series = reader.optional("series", &names, doc).map_or(Vec::new(), Listed::values);
    let doc = "Other names for series, or for parts of their names.";
    let names = Names {
        describe: "a table of names and what is written for them",
        example: ("matrix file halo.csv", "halo exchange"),
        of: PhantomData::<String>,
    };
    look.names = reader.optional("names", &names, doc).unwrap_or_default();
    let styles = Names {
        describe: "a table of series' names and their styles",
        example: ("adaptive", SeriesStyle::EXAMPLE),
        of: PhantomData::<SeriesStyle>,
    };
    let doc = "Colour, marker and dashes of series in all figures, as many of them as are to be fixed: blue, orange, \
               green, black, purple, vermilion, sky-blue or #e69f00; circle, square, triangle, diamond, down-triangle, \
               hexagon, left-triangle or right-triangle; solid, dashed, dotted or dash-dotted. The rest follows from \
               the order of the series in the sweep.";
    look.styles = reader.optional("styles", &styles, doc).unwrap_or_default();
    let word = Word { what: "percentile", all: &Tail::NAMES };
    let doc = "The percentile of the packet latency that is drawn beside its mean; \"99\" if nothing is said.";
    look.percentile = reader.optional("percentile", &word, doc).unwrap_or_default();
    let word = Word { what: "place", all: &LegendPlace::NAMES };
    let doc = "Where the legend is; \"best\" is the first corner without curves, or else below.";
    look.legend = reader.optional("legend", &word, doc).unwrap_or_default();
    let word = Word { what: "form", all: &Intervals::NAMES };
    let doc = "How confidence intervals are drawn.";
    look.intervals = reader.optional("intervals", &word, doc).unwrap_or_default();
    let doc = "Whether figures of one kind are panels of one figure, with the same axes, latency above accepted load.";
    look.panels = reader.optional("panels", &Flag, doc).unwrap_or_default();
    let sheet = Sheet::default();
    let doc = "Width of figures.";
    let width = Measure { example: "3.5in", fits: |width| sheet.with_width(width).map(drop) };
    let width = reader.optional("width", &width, doc);
    let sheet = width.map_or(sheet, |width| sheet.with_width(width).unwrap_or(sheet));
    let doc = "Height of plots; otherwise it follows from the width.";
    let height = Measure { example: "2.5in", fits: |height| sheet.with_height(height).map(drop) };
    let height = reader.optional("height", &height, doc);
    let sheet = height.map_or(sheet, |height| sheet.with_height(height).unwrap_or(sheet));
    let doc = "Size of axes' titles; all others follow.";
    let size = Measure { example: "8pt", fits: |size| sheet.with_font_size(size).map(drop) };
    let size = reader.optional("font_size", &size, doc);
    let sheet = size.map_or(sheet, |size| sheet.with_font_size(size).unwrap_or(sheet));
    let formats = List {
        kind: Word { what: "format", all: &Format::NAMES },
        noun: "formats",
        length: 1..=Format::NAMES.len(),
        example: Some("[\"svg\", \"pdf\"]"),
    };
    let doc = "What is written: SVG, PDF and PNG if nothing is said; pgfplots is LaTeX with the data as a table.";
    let formats = reader.optional("format", &formats, doc).map(Listed::values);
    let doc = "Title of the figures in place of the scenario's; \"\" for none.";
    let title = reader.optional("title", &Title, doc);
    Figures { each, look, sheet, formats, title, text: String::new() }
}

/// A text that may be empty.
struct Title;

impl Title {
    const TEXT: Text = Text { what: "text", example: "Uniform traffic" };
}

impl Kind for Title {
    type Value = String;

    fn describe(&self) -> String {
        Self::TEXT.describe()
    }

    fn example(&self) -> String {
        Self::TEXT.example()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<String, Vec<Diagnostic>> {
        match &node.value {
            Value::Text(text) if text.is_empty() => Ok(String::new()),
            _ => Self::TEXT.parse(slot, node),
        }
    }

    fn show(&self, value: &String) -> String {
        quoted(value)
    }
}

/// Two ends of an axis.
struct Range {
    example: &'static str,
}

impl Kind for Range {
    type Value = Limits;

    fn describe(&self) -> String {
        "a range of numbers or times, such as \"0:0.6\", \"200 ns:20 us\", \":20 us\" or \"0.1:\""
            .into()
    }

    fn example(&self) -> String {
        quoted(self.example)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Limits, Vec<Diagnostic>> {
        parse_text(self, slot, node, str::parse)
    }

    fn show(&self, value: &Limits) -> String {
        quoted(&value.to_string())
    }
}

/// A length that a figure can have.
struct Measure<F> {
    example: &'static str,
    fits: F,
}

impl<F: Fn(Length) -> Result<(), String>> Kind for Measure<F> {
    type Value = Length;

    fn describe(&self) -> String {
        "a length in in, mm, cm or pt".into()
    }

    fn example(&self) -> String {
        quoted(self.example)
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Length, Vec<Diagnostic>> {
        parse_text(self, slot, node, |text| {
            let length: Length = text.parse()?;
            (self.fits)(length).map(|()| length)
        })
    }

    fn show(&self, value: &Length) -> String {
        quoted(&value.to_string())
    }
}

/// Reads a text; what is wrong with it becomes the message.
fn parse_text<K: Kind>(
    kind: &K,
    slot: Slot<'_>,
    node: &Node,
    parse: impl FnOnce(&str) -> Result<K::Value, String>,
) -> Result<K::Value, Vec<Diagnostic>> {
    let Value::Text(text) = &node.value else { return Err(wrong_type(kind, slot, node)) };
    parse(text).map_err(|problem| {
        let example = slot.write(node, &kind.example());
        vec![Diagnostic::new(&node.place, problem).help(format!("write for example {example}"))]
    })
}

/// Names, and what belongs to each.
struct Names<V> {
    describe: &'static str,
    example: (&'static str, &'static str),
    of: PhantomData<V>,
}

impl<V: Clone + FromStr<Err: ToString> + ToString> Kind for Names<V> {
    type Value = Vec<(String, V)>;

    fn describe(&self) -> String {
        self.describe.into()
    }

    fn example(&self) -> String {
        format!("{{ {} = {} }}", quoted(self.example.0), quoted(self.example.1))
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Self::Value, Vec<Diagnostic>> {
        let Value::Table(table) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let mut names = Vec::new();
        let mut problems = Vec::new();
        for entry in &table.entries {
            let text = Text { what: "a text", example: self.example.1 };
            let slot = Slot { key: &entry.key, element: false };
            let own = text.parse(slot, &entry.node).and_then(|text| {
                let wrong =
                    |problem: V::Err| Diagnostic::new(&entry.node.place, problem.to_string());
                text.parse().map_err(|problem| vec![wrong(problem)])
            });
            match own {
                Ok(own) => names.push((entry.key.clone(), own)),
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() { Ok(names) } else { Err(problems) }
    }

    fn show(&self, names: &Self::Value) -> String {
        let name =
            |(name, own): &(String, V)| format!("{} = {}", quoted(name), quoted(&own.to_string()));
        format!("{{ {} }}", names.iter().map(name).collect::<Vec<_>>().join(", "))
    }
}
