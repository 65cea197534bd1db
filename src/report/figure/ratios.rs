//! Labelled values side by side.

use super::Figure;
use super::axis::Axis;
use super::bars::{self, Bar};
use super::legend::Legend;
use super::palette::Colour;

const BAR: Colour = (86, 180, 233);

/// A bar for each value, such as a ratio to a baseline, from 0 on.
#[must_use]
pub fn ratio_figure(values: &[(String, f64)], axis: &str, title: &str) -> Figure {
    let bar = |(label, value): &(String, f64)| Bar {
        label: label.clone(),
        value: *value,
        whisker: None,
        colour: BAR,
    };
    let bars: Vec<Bar> = values.iter().map(bar).collect();
    let axis = Axis::new(axis, bars::highest(&bars) * 1.05, 5);
    Figure::of(bars::draw(title, &bars, &axis, &Legend::default()))
}
