//! Labelled values side by side.

use super::Figure;
use super::axis::Axis;
use super::bars::{BarChart, Group, TICKS, highest};
use super::legend::Legend;
use super::palette::BAR;

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
