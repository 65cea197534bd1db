//! Figures drawn from result rows, as SVG and PDF for print, PNG for a quick look, and for LaTeX's
//! pgfplots.
//!
//! Unless another [`Sheet`] is asked for, a figure is as wide as a column of a two-column paper
//! (3.5 inches) with letters of 7 to 9 points, so it goes into a paper unscaled. Colours are told
//! apart with any colour vision; lightness and shape tell series apart in grey. Equal rows give
//! equal bytes.
//!
//! A chart is laid out once, as shapes of a `Scene`, for SVG, PDF and PNG: lengths are points of
//! paper, and room is kept by the widths of the letters that are embedded.

mod accepted;
mod axis;
mod bars;
mod channels;
mod chart;
mod choice;
mod completion;
mod curves;
mod distribution;
mod drawing;
mod exposed;
mod figure_style;
mod folder;
mod font;
mod frame;
mod grid;
mod groups;
mod heat_map;
mod histogram;
mod kind;
mod latency;
mod legend;
mod look;
mod medium;
mod names;
mod over_time;
mod palette;
mod pdf;
mod pgfplots;
mod plot;
mod precision;
mod raster;
mod ratios;
mod saturation;
mod scaling;
mod scene;
mod sheet;
mod space_time;
mod style;
mod title;
mod vector;
mod workloads;
mod xy;

pub use accepted::{accepted_figure, accepted_figure_among};
pub use axis::{Scale, TimeUnit};
pub use channels::channel_figure;
pub use choice::points_shown;
pub use completion::completion_figure;
pub use drawing::{Figure, draw_kept};
pub use figure_style::{FigureStyle, Intervals, LegendPlace, Limit, Limits, LoadsIn, Tail};
pub use folder::{choose, draw_all, figures_of, short_name};
pub use heat_map::{channel_heat_map, channel_heat_maps, load_heat_map};
pub use histogram::load_histogram;
pub use kind::{Draw, FIGURES, FigureKind, FigureRequest, FigureTask, Named, only};
pub use latency::{latency_figure, latency_figure_among, percentile_figure, tail_latency_figure};
pub use medium::{Files, Format, Medium};
pub use ratios::{
    Bars, BoundedBar, NotedBar, PUBLISHED, bars_figure, bounded_figure, mean_figure, noted_figure,
    ratio_figure,
};
pub use scaling::numeric_keys;
pub use sheet::{Length, Sheet};
pub use space_time::space_time_figure;
pub use style::SeriesStyle;
pub use xy::{Series, Style, xy_figure, xy_figure_among};

/// Figures that were drawn of no result's rows, with their names: a reproduction keeps them beside
/// its tables, to be drawn again in another size or look.
pub const FIGURES_JSON: &str = "figures.json";
