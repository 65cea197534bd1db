//! Labelled values side by side.

use super::Figure;
use super::axis::Axis;
use super::bars::{Bar, BarChart, Group, TICKS, highest, lowest};
use super::legend::{Legend, Sample};
use super::palette::{BAR, BLACK};
use super::style::by_names;

/// What stands behind the name of a series that somebody else has published.
pub const PUBLISHED: &str = "published";

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
                hollow: series.published,
            };
            match groups.iter_mut().find(|group| group.label == *label) {
                Some(group) => group.bars.push(bar),
                None => groups.push(Group { label: label.clone(), bars: vec![bar] }),
            }
        }
    }
    legend.note = (!note.is_empty()).then(|| note.to_owned());
    let axis = Axis::new(axis, highest(&groups)).up_to_a_tick(TICKS);
    let low = lowest(&groups);
    let axis = if low < 0.0 { axis.down_to(low, TICKS) } else { axis };
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend })
}
