//! What a user's choices change in a chart that is drawn.

use super::axis::{Axis, Scale};
use super::bars::BarChart;
use super::chart::{Chart, Curve};
use super::figure_style::{FigureStyle, INTERVAL, Intervals, LegendPlace, Limits};
use super::legend::{Legend, Sample};
use super::names::series_of;
use super::palette::GREY;

impl FigureStyle {
    /// Gives bars, which begin at 0, their upper limit; their legend is below them or nowhere.
    pub(super) fn apply_to_bars(&self, bars: &mut BarChart) {
        Limits { low: None, high: self.y.high }.apply(&mut bars.axis);
        if self.legend == LegendPlace::Nowhere {
            bars.legend = Legend::default();
        }
    }

    /// Gives a chart scales, limits, a place for its legend, and its intervals.
    pub(super) fn apply(&self, mut chart: Chart) -> Chart {
        scale(
            &mut chart.x,
            self.x_scale,
            &chart.panels.iter().flat_map(|panel| &panel.curves).collect::<Vec<_>>(),
            |sample| sample.0,
        );
        self.x.apply(&mut chart.x);
        for title in series_of(chart.panels.iter().map(|panel| panel.y.title.as_str())) {
            // Panels with the same axis keep it so.
            let own = chart.panels.iter().filter(|panel| panel.y.title == title);
            let mut axis = own.clone().next().expect("it has the title").y.clone();
            let curves: Vec<&Curve> = own.flat_map(|panel| &panel.curves).collect();
            scale(&mut axis, self.y_scale, &curves, |sample| sample.1);
            self.y.apply(&mut axis);
            let own = chart.panels.iter_mut().filter(|panel| panel.y.title == title);
            own.for_each(|panel| panel.y = axis.clone());
        }
        chart.place = self.legend;
        chart.intervals = self.intervals;
        match self.intervals {
            Intervals::Bands => {}
            Intervals::Whiskers => {
                let keys = chart.legend.keys.iter_mut().filter(|key| key.1 == INTERVAL);
                keys.for_each(|key| key.0 = Sample::Whisker(GREY));
            }
            Intervals::Nothing => chart.legend.keys.retain(|key| key.1 != INTERVAL),
        }
        chart
    }
}

/// Gives an axis the scale that is asked for; a logarithmic one holds all values above 0.
fn scale(axis: &mut Axis, wanted: Option<Scale>, curves: &[&Curve], of: fn((f64, f64)) -> f64) {
    match wanted {
        Some(Scale::Logarithmic) if !axis.is_logarithmic() && !axis.of_shares => {
            let samples = curves.iter().flat_map(|curve| curve.runs.iter().flatten());
            let values = samples.map(|sample| of((sample.x, sample.y))).filter(|&it| it > 0.0);
            let (low, high) =
                values.fold((f64::INFINITY, 0.0), |(low, high), it| (it.min(low), it.max(high)));
            // A line that leaves the frame of the linear axis goes on leaving it.
            *axis = axis.clone().logarithmic(low, high.min(axis.high));
        }
        Some(Scale::Linear) if axis.is_logarithmic() => {
            axis.scale = Scale::Linear;
            axis.low = 0.0;
        }
        _ => {}
    }
}
