//! Labelled values side by side.

use super::Figure;
use super::axis::Axis;
use super::bars::{BarChart, Group, TICKS, highest};
use super::legend::{Legend, Sample};
use super::palette::{BAR, GREY};

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
    /// Whether somebody else has published the value: then the bar is grey.
    pub published: bool,
}

/// A bar for each value from 0 on, with a note behind its end; `meaning` is a line below the
/// figure that says what notes are.
pub fn noted_figure(bars: &[NotedBar], meaning: &str, axis: &str, title: &str) -> Figure {
    let group = |bar: &NotedBar| {
        let colour = if bar.published { GREY } else { BAR };
        let mut group = Group::of_one(&bar.label, bar.value, None, colour);
        group.bars[0].note.clone_from(&bar.note);
        group
    };
    let groups: Vec<Group> = bars.iter().map(group).collect();
    let axis = Axis::new(axis, highest(&groups)).up_to_a_tick(TICKS);
    let mut legend = Legend { note: Some(meaning.into()), ..Legend::default() };
    if bars.iter().any(|bar| bar.published) {
        legend.series(Sample::Bar(BAR), "here");
        legend.series(Sample::Bar(GREY), "published");
    }
    Figure::of_bars(BarChart { title: title.into(), axis, groups, legend })
}
