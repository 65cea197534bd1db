//! Which pen a series is drawn with: the same in all figures of a result, whichever series a figure
//! shows.

use std::fmt;
use std::str::FromStr;

use super::names::{self, series_of};
use super::palette::{Colour, Dash, Marker, Pen, SERIES, of_series};

/// The chosen parts of a series' pen; the rest follows from its place among all series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeriesStyle {
    colour: Option<Colour>,
    marker: Option<Marker>,
    dash: Option<Dash>,
}

fn named<T: Copy>(all: &[(T, &str)], word: &str) -> Option<T> {
    all.iter().find(|row| row.1 == word).map(|row| row.0)
}

fn name_of<T: PartialEq>(all: &[(T, &'static str)], value: &T) -> Option<&'static str> {
    all.iter().find(|row| row.0 == *value).map(|row| row.1)
}

/// `#e69f00`.
fn of_hexadecimal(word: &str) -> Option<Colour> {
    let digits = word.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).ok();
    Some((part(0)?, part(2)?, part(4)?))
}

impl SeriesStyle {
    /// The accepted values, for people.
    pub const TAKES: &str = "a colour, a marker and dashes, as many of them as are to be fixed";
    pub const EXAMPLE: &str = "orange square dashed";
}

impl FromStr for SeriesStyle {
    type Err = String;

    /// Reads `orange square dashed`: words in any order, each kind once.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut style = Self::default();
        for word in text.split_whitespace() {
            let colour = named(&SERIES, word).or_else(|| of_hexadecimal(word));
            let (marker, dash) = (named(&Marker::NAMES, word), named(&Dash::NAMES, word));
            let again = colour.and(style.colour).is_some()
                || marker.and(style.marker).is_some()
                || dash.and(style.dash).is_some();
            if again {
                return Err(format!("`{text}` names two of a kind: `{word}` is the second"));
            }
            if (colour, marker, dash) == (None, None, None) {
                let all = |names: Vec<&str>| names.join(", ");
                return Err(format!(
                    "`{word}` is no colour ({}, or #e69f00), marker ({}) or kind of line ({})",
                    all(SERIES.map(|row| row.1).to_vec()),
                    all(Marker::NAMES.map(|row| row.1).to_vec()),
                    all(Dash::NAMES.map(|row| row.1).to_vec()),
                ));
            }
            style = Self {
                colour: colour.or(style.colour),
                marker: marker.or(style.marker),
                dash: dash.or(style.dash),
            };
        }
        if style == Self::default() {
            return Err(format!(
                "a style is {}: write for example \"{}\"",
                Self::TAKES,
                Self::EXAMPLE
            ));
        }
        Ok(style)
    }
}

impl fmt::Display for SeriesStyle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colour = self.colour.map(|colour| match name_of(&SERIES, &colour) {
            Some(name) => name.to_owned(),
            None => format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2),
        });
        let marker = self.marker.and_then(|it| name_of(&Marker::NAMES, &it)).map(str::to_owned);
        let dash = self.dash.and_then(|it| name_of(&Dash::NAMES, &it)).map(str::to_owned);
        let words: Vec<String> = [colour, marker, dash].into_iter().flatten().collect();
        formatter.write_str(&words.join(" "))
    }
}

/// The pens of series by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pens {
    /// The series of the whole result in their order; then their names without the first part,
    /// without the second and so on, as figures over a key and groups of bars have them.
    lists: Vec<Vec<String>>,
    styles: Vec<(String, SeriesStyle)>,
}

impl Pens {
    /// By the order in which series first appear in a whole result.
    pub fn new<'r>(series: impl Iterator<Item = &'r str>) -> Self {
        let mut lists = vec![series_of(series)];
        let parts: Vec<Vec<&str>> = lists[0].iter().map(|name| names::parts(name)).collect();
        let most = parts.iter().map(Vec::len).max().unwrap_or(0);
        let without = |left_out: usize| {
            let rest = parts.iter().filter(|parts| parts.len() > left_out).map(|parts| {
                let kept = parts.iter().enumerate().filter(|(at, _)| *at != left_out);
                names::joined(&kept.map(|(_, part)| *part).collect::<Vec<_>>())
            });
            series_of(rest.collect::<Vec<_>>().iter().map(String::as_str))
        };
        let without: Vec<Vec<String>> = (0..most).map(without).collect();
        lists.extend(without);
        Self { lists, styles: Vec::new() }
    }

    /// Gives some series, by name, styles of their own.
    pub fn styled(self, styles: &[(String, SeriesStyle)]) -> Self {
        Self { styles: styles.to_vec(), ..self }
    }

    /// Pens that tell these names apart: by their own order, if some of them are not among those
    /// known.
    pub fn among<'r>(&self, names: impl Iterator<Item = &'r str>) -> Self {
        let names = series_of(names);
        let has_all = |list: &&Vec<String>| names.iter().all(|name| list.contains(name));
        let list = self.lists.iter().find(has_all).cloned().unwrap_or(names);
        Self { lists: vec![list], styles: self.styles.clone() }
    }

    /// The pen of a series; one that is not known comes after all others.
    pub fn of(&self, name: &str) -> Pen {
        let place = |list: &Vec<String>| list.iter().position(|own| own == name);
        let last = self.lists.first().map_or(0, Vec::len);
        let pen = of_series(self.lists.iter().find_map(place).unwrap_or(last));
        let style = self.styles.iter().find(|(own, _)| own == name);
        let style = style.map_or(SeriesStyle::default(), |(_, style)| *style);
        Pen {
            colour: style.colour.unwrap_or(pen.colour),
            marker: style.marker.unwrap_or(pen.marker),
            dash: style.dash.unwrap_or(pen.dash),
        }
    }
}

/// The pens of a figure's series, in their order, where `names` are all that the figures of a page
/// show: a series has the pen of its name's place, whichever others a figure shows. A series is
/// called so or has more parts behind (`OFR, published`). Other series come after all names. Of
/// series of one name those that are drawn alike differ in markers and dashes.
pub(super) fn by_names<'r>(
    names: &[&str],
    series: impl Iterator<Item = (&'r str, bool)>,
) -> Vec<Pen> {
    let mut unknown: Vec<&str> = Vec::new();
    let mut drawn: Vec<(usize, bool)> = Vec::new();
    let pen = |(label, published): (&'r str, bool)| {
        let is_of = |name: &str| {
            let rest = label.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", "))
        };
        let named = (0..names.len()).filter(|&at| is_of(names[at]));
        let place = named.max_by_key(|&at| names[at].len()).unwrap_or_else(|| {
            let known = unknown.iter().position(|own| *own == label);
            names.len()
                + known.unwrap_or_else(|| {
                    unknown.push(label);
                    unknown.len() - 1
                })
        });
        let alike = drawn.iter().filter(|own| **own == (place, published)).count();
        drawn.push((place, published));
        let own = of_series(place);
        match alike {
            0 => own,
            _ => Pen {
                marker: of_series(place + alike).marker,
                dash: Dash::NAMES[alike % Dash::NAMES.len()].0,
                ..own
            },
        }
    };
    series.map(pen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_is_words_in_any_order() {
        let style: SeriesStyle = "dashed  orange square".parse().unwrap();
        assert_eq!(style.to_string(), SeriesStyle::EXAMPLE);
        for text in ["#012abc", "circle", "dotted", "vermilion right-triangle"] {
            let style: SeriesStyle = text.parse().unwrap();
            assert_eq!(style.to_string(), text);
        }
        for (wrong, expected) in [
            ("", "a style is a colour"),
            ("orang", "`orang` is no colour (blue, orange"),
            ("#12", "or #e69f00"),
            ("#0é0é0", "`#0é0é0` is no colour"),
            ("orange blue", "names two of a kind: `blue`"),
        ] {
            let error = wrong.parse::<SeriesStyle>().unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_name_has_its_pen_in_every_figure_of_a_page() {
        let names = ["bfs", "sssp", "sssp, short", "balanced"];
        let pens = |series: &[(&'static str, bool)]| by_names(&names, series.iter().copied());
        assert_eq!(pens(&[("balanced", false)]), [of_series(3)]);
        assert_eq!(pens(&[("sssp", false), ("sssp, published", true)]), [of_series(1); 2]);
        assert_eq!(pens(&[("sssp, short", false)]), [of_series(2)]);
        assert_eq!(pens(&[("bound", false), ("bfs", false)]), [4, 0].map(of_series));
        // Two of one name have its colour, and differ.
        let two = pens(&[("bfs, up", false), ("bfs, down", false)]);
        assert_eq!((two[0], two[1].colour), (of_series(0), two[0].colour));
        assert!(two[0].dash != two[1].dash && two[0].marker != two[1].marker);
        // Without names, by their order.
        let orders = by_names(&[], ["p", "q"].into_iter().map(|it| (it, false)));
        assert_eq!(orders, [0, 1].map(of_series));
    }

    #[test]
    fn a_pen_follows_from_the_whole_result_and_not_from_the_choice_of_series() {
        let series = ["4x4, ABR", "4x4, POR", "8x8, ABR", "8x8, POR", "8x8, BFS"];
        let pens = Pens::new(series.into_iter());
        assert_eq!(pens.of("8x8, ABR"), of_series(2));
        // Curves over the size, and members of groups.
        assert_eq!(["ABR", "POR", "BFS"].map(|it| pens.of(it)), [0, 1, 2].map(of_series));
        assert_eq!(pens.among(["BFS", "ABR"].into_iter()).of("BFS"), of_series(2));
        assert_eq!(pens.of("8x8"), of_series(1));
        // Names that are not known at all are told apart.
        assert_eq!(pens.among(["p", "q"].into_iter()).of("q"), of_series(1));
        let styles = [("ABR".to_owned(), "vermilion dotted".parse().unwrap())];
        let pen = pens.styled(&styles).of("ABR");
        assert_eq!(
            (pen.colour, pen.marker, pen.dash),
            ((190, 70, 0), Marker::Circle, Dash::Dotted)
        );
    }
}
