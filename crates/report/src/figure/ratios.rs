//! Labelled values side by side.

use super::axis::Axis;
use super::bars::{Bar, BarChart, Group, TICKS, highest, lowest};
use super::drawing::Figure;
use super::legend::{Legend, Sample};
use super::names::series_of;
use super::palette::{BAR, BLACK};
use super::style::by_names;

/// What stands behind the name of a series that somebody else has published.
pub const PUBLISHED: &str = "published";

/// The share of the highest value from which on a negative one is seen.
const UNSEEN: f64 = 0.005;

/// A bar for each mean from 0 on, with half its confidence interval if it has one.
pub fn mean_figure(values: &[(String, f64, Option<f64>)], axis: &str, title: &str) -> Figure {
    let bar = |(label, mean, half): &(String, f64, Option<f64>)| {
        let whisker = half.map(|half| ((mean - half).max(0.0), mean + half));
        Group::of_one(label, *mean, whisker, BAR)
    };
    let groups: Vec<Group> = values.iter().map(bar).collect();
    let axis = Axis::new(axis, highest(&groups)).up_to_a_tick(TICKS);
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend: Legend::default() })
}

/// A bar for each value, such as a ratio to a baseline, from 0 on.
pub fn ratio_figure(values: &[(String, f64)], axis: &str, title: &str) -> Figure {
    let values = values.iter().map(|(label, value)| (label.clone(), *value, None));
    mean_figure(&values.collect::<Vec<_>>(), axis, title)
}

/// A bar of a [`noted_figure`].
#[derive(Clone, Debug, PartialEq)]
pub struct NotedBar {
    pub label: String,
    pub value: f64,
    /// Text behind its end; may be empty.
    pub note: String,
    /// Whether somebody else has published the value: then the bar is an outline.
    pub published: bool,
}

/// A bar for each value from 0 on, with a note behind its end; `meaning` is a line below the
/// figure that says what notes are.
pub fn noted_figure(bars: &[NotedBar], meaning: &str, axis: &str, title: &str) -> Figure {
    let group = |bar: &NotedBar| {
        let mut group = Group::of_one(&bar.label, bar.value, None, BAR);
        group.bars[0].note.clone_from(&bar.note);
        group.bars[0].hollow = bar.published;
        group
    };
    let groups: Vec<Group> = bars.iter().map(group).collect();
    let axis = Axis::new(axis, highest(&groups)).up_to_a_tick(TICKS);
    let mut legend = Legend { note: Some(meaning.into()), ..Legend::default() };
    if bars.iter().any(|bar| bar.published) {
        legend.series(Sample::Bar(BAR), "here");
        legend.series(Sample::HollowBar(BAR), PUBLISHED);
    }
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend })
}

/// Bars of a series, such as an algorithm, in groups, such as patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    pub label: String,
    /// What somebody else has published, which is drawn as an outline.
    pub published: bool,
    /// Of each group that has the series the group, the value, and half its confidence interval if
    /// it has one.
    pub values: Vec<(String, f64, Option<f64>)>,
}

/// Bars of several series in groups, from 0 on, with the colours that `names`, all that the figures
/// of a page show, have by their order. A series is of the name that its label is or begins with,
/// before a comma. Differences may be below 0: the axis begins below the lowest, and 0 is a line.
/// `note` is a line of text below the bars; it may be empty.
///
/// Groups are in the order of the series that has them first. The legend leaves out series that are
/// called as the groups they are in.
pub fn bars_figure(names: &[&str], title: &str, axis: &str, bars: &[Bars], note: &str) -> Figure {
    let pens = by_names(names, bars.iter().map(|it| (it.label.as_str(), it.published)));
    let mut groups: Vec<Group> = Vec::new();
    let mut legend = Legend::default();
    for (series, pen) in bars.iter().zip(pens) {
        let sample = if series.published { Sample::HollowBar } else { Sample::Bar };
        let name = series.label.strip_suffix(&format!(", {PUBLISHED}")).unwrap_or(&series.label);
        if series.values.iter().any(|value| value.0 != name) {
            legend.series(sample(pen.colour), series.label.clone());
        } else if series.published && !legend.keys.iter().any(|key| key.1 == PUBLISHED) {
            legend.key(Sample::HollowBar(BLACK), PUBLISHED);
        }
        for (label, value, half) in &series.values {
            let bar = Bar {
                series: series.label.clone(),
                value: *value,
                whisker: half.map(|half| (value - half, value + half)),
                colour: pen.colour,
                note: String::new(),
                hollow: series.published,
            };
            match groups.iter_mut().find(|group| group.label == *label) {
                Some(group) => group.bars.push(bar),
                None => groups.push(Group { label: label.clone(), bars: vec![bar] }),
            }
        }
    }
    legend.note = (!note.is_empty()).then(|| note.to_owned());
    let (low, high) = (lowest(&groups), highest(&groups));
    let axis = Axis::new(axis, high).up_to_a_tick(TICKS);
    let axis = match (low, high) {
        // What is too small to be seen takes no room.
        _ if low > -UNSEEN * high => axis,
        (..0.0, 0.0) => Axis { high: 0.0, ..axis }.down_to(low, TICKS),
        (..0.0, _) => axis.down_to(low, TICKS),
        _ => axis,
    };
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend })
}

/// A value beside its bound, in a [`bounded_figure`].
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedBar {
    /// The group, such as a rule.
    pub label: String,
    /// The bar's series, such as a pattern.
    pub series: String,
    /// The value; `None` to draw the bound alone, as an outline.
    pub value: Option<f64>,
    pub bound: f64,
}

/// Bars in groups from 0 on, each with a whisker to its bound.
pub fn bounded_figure(title: &str, axis: &str, bars: &[BoundedBar]) -> Figure {
    let names = series_of(bars.iter().map(|bar| bar.series.as_str()));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let pens = by_names(&names, names.iter().map(|&name| (name, false)));
    let mut groups: Vec<Group> = Vec::new();
    let mut legend = Legend::default();
    for (name, pen) in names.iter().zip(&pens) {
        legend.series(Sample::Bar(pen.colour), *name);
    }
    for bar in bars {
        let pen = pens[names.iter().position(|name| *name == bar.series).expect("it is named")];
        let drawn = Bar {
            series: bar.series.clone(),
            value: bar.value.unwrap_or(bar.bound),
            // A value that meets its bound has nothing to show.
            whisker: bar.value.map(|value| (value.min(bar.bound), bar.bound)),
            colour: pen.colour,
            note: String::new(),
            hollow: bar.value.is_none(),
        };
        match groups.iter_mut().find(|group| group.label == bar.label) {
            Some(group) => group.bars.push(drawn),
            None => groups.push(Group { label: bar.label.clone(), bars: vec![drawn] }),
        }
    }
    legend.key(Sample::Whisker(BLACK), "to the bound of its ways");
    if bars.iter().any(|bar| bar.value.is_none()) {
        legend.key(Sample::HollowBar(BLACK), "the bound itself");
    }
    let axis = Axis::new(axis, highest(&groups)).up_to_a_tick(TICKS);
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend })
}

#[cfg(test)]
mod tests {
    use super::super::Sheet;
    use super::*;

    fn svg(bars: &[(&str, &str, f64)]) -> String {
        let bar = |&(label, group, value): &(&str, &str, f64)| Bars {
            label: label.into(),
            published: label.ends_with(PUBLISHED),
            values: vec![(group.into(), value, None)],
        };
        let bars: Vec<Bars> = bars.iter().map(bar).collect();
        bars_figure(&["a", "b"], "", "Difference (%)", &bars, "").svg(&Sheet::default())
    }

    #[test]
    fn differences_below_0_have_an_axis_that_begins_below_them() {
        let below = svg(&[("a", "g", -12.0), ("b", "g", 4.0)]);
        assert!(below.contains(">-15<") || below.contains(">-20<"), "{below}");
        assert!(below.contains(">0<"), "{below}");
        // All of them: the axis ends at 0.
        let all = svg(&[("a", "g", -10.0)]);
        assert!(all.contains(">0<") && !all.contains(">5<"), "{all}");
        // Too small to be seen.
        assert!(!svg(&[("a", "g", -0.001), ("b", "g", 4.0)]).contains(">-"));
    }

    #[test]
    fn a_published_bar_has_the_colour_of_its_name_and_is_in_the_legend() {
        let both = svg(&[("b", "g", 3.0), ("b, published", "g", 4.0)]);
        assert_eq!(both.matches("#E69F00").count(), 4, "{both}");
        assert!(both.contains(">b, published<"));
        // Groups called as their series need no legend for them.
        let own = svg(&[("b", "b", 3.0), ("b, published", "b", 4.0)]);
        assert!(own.contains(">published<") && own.matches(">b<").count() == 1, "{own}");
    }

    #[test]
    fn bounds_are_whiskers_or_outlines() {
        let bar = |label: &str, series: &str, value| {
            let (label, series) = (label.into(), series.into());
            BoundedBar { label, series, value, bound: 0.5 }
        };
        let bars = [
            bar("a rule", "one", Some(0.4)),
            bar("a rule", "two", Some(0.51)),
            bar("any", "one", None),
        ];
        let figure = bounded_figure("", "Load", &bars).svg(&Sheet::default());
        for text in ["a rule", "any", "one", "two", "to the bound of its ways", "the bound itself"]
        {
            assert_eq!(figure.matches(&format!(">{text}<")).count(), 1, "{text}");
        }
    }

    #[test]
    fn a_long_label_is_in_lines_and_not_cut() {
        let label = "npb benchmark ft, class W, ranks 64, iterations 2, direction order";
        let svg = svg(&[("a", label, 3.0)]);
        assert!(!svg.contains('\u{2026}') && label.split(' ').all(|word| svg.contains(word)));
    }
}
