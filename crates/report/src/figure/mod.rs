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
mod vector;
mod workloads;
mod xy;

use serde::{Deserialize, Serialize};

use std::path::{Path, PathBuf};

use super::ReportError;
use bars::BarChart;
use chart::Chart;
use heat_map::HeatMap;
use scene::Scene;
use space_time::SpaceTime;

pub use accepted::{accepted_figure, accepted_figure_among};
pub use axis::{Scale, TimeUnit};
pub use channels::channel_figure;
pub use choice::points_shown;
pub use completion::completion_figure;
pub use figure_style::{FigureStyle, Intervals, LegendPlace, Limit, Limits, LoadsIn, Tail};
pub use folder::{FigureRequest, choose, draw_all, figures_of, short_name};
pub use heat_map::{channel_heat_map, channel_heat_maps, load_heat_map};
pub use histogram::load_histogram;
pub use kind::{Draw, FIGURES, FigureKind, FigureTask, Named, only};
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

/// Widths of lines.
const LINE: f64 = 1.1;
const THIN_LINE: f64 = 0.7;
const AXIS_LINE: f64 = 0.6;

/// Up to this many series can have two lines each, and marks where they end.
const FEW: usize = 4;

/// Figures that were drawn of no result's rows, with their names: a reproduction keeps them beside
/// its tables, to be drawn again in another size or look.
pub const FIGURES_JSON: &str = "figures.json";

/// Draws figures that were kept, in another medium or look. Of the look limits, scales, the place
/// of the legend and the intervals apply: curves and their names are those of the figures.
///
/// # Errors
/// If a file can't be written.
pub fn draw_kept(
    figures: Vec<(String, Figure)>,
    folder: &Path,
    look: &FigureStyle,
    medium: &Medium,
) -> Result<Files, ReportError> {
    let mut files = Files::default();
    for (name, figure) in figures {
        let extremes = figure.map_extremes();
        figure.finished(look, extremes).add_to(&mut files, folder, &name, medium)?;
    }
    Ok(files)
}

/// A drawing that can be written to files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Content {
    Chart(Chart),
    Bars(BarChart),
    Map(HeatMap),
    SpaceTime(SpaceTime),
}

impl Figure {
    fn of_chart(chart: Chart) -> Self {
        Self { content: Content::Chart(chart) }
    }

    fn of_bars(chart: BarChart) -> Self {
        Self { content: Content::Bars(chart) }
    }

    fn of_map(map: HeatMap) -> Self {
        Self { content: Content::Map(map) }
    }

    fn of_space_time(figure: SpaceTime) -> Self {
        Self { content: Content::SpaceTime(figure) }
    }

    /// Returns the longest time that one of its axes reaches, in ns.
    fn longest_time(&self) -> Option<f64> {
        let Content::Chart(chart) = &self.content else { return None };
        let axes = chart.panels.iter().map(|panel| &panel.y).chain([&chart.x]);
        axes.filter_map(|axis| Some(axis.high * axis.time?.size())).reduce(f64::max)
    }

    /// The lowest and the highest value of a map.
    fn map_extremes(&self) -> Option<(f64, f64)> {
        if let Content::Map(map) = &self.content { Some(map.extremes()) } else { None }
    }

    /// The lowest and the highest value of all maps among some figures.
    fn extremes_of_maps<'f>(figures: impl IntoIterator<Item = &'f Self>) -> Option<(f64, f64)> {
        let maps = figures.into_iter().filter_map(Self::map_extremes);
        maps.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The figure with the look that is wanted, a map with a scale for values from the lowest to
    /// the highest of `maps`.
    fn finished(mut self, look: &FigureStyle, maps: Option<(f64, f64)>) -> Self {
        match &mut self.content {
            Content::Chart(chart) => *chart = look.apply(chart.clone()),
            Content::Bars(bars) => look.apply_to_bars(bars),
            Content::Map(map) => map.extremes = maps,
            Content::SpaceTime(_) => {}
        }
        self
    }

    fn title(&self) -> &str {
        match &self.content {
            Content::Chart(chart) => &chart.title,
            Content::Bars(chart) => &chart.title,
            Content::Map(map) => &map.title,
            Content::SpaceTime(figure) => &figure.title,
        }
    }

    fn scene(&self, sheet: &Sheet) -> Scene {
        match &self.content {
            Content::Chart(chart) => plot::draw(chart, sheet),
            Content::Bars(chart) => bars::draw(chart, sheet),
            Content::Map(map) => heat_map::draw(map, sheet),
            Content::SpaceTime(figure) => space_time::draw(figure, sheet),
        }
    }

    /// The figure as SVG text.
    pub fn svg(&self, sheet: &Sheet) -> String {
        vector::svg(&self.scene(sheet))
    }

    /// The figure as a PDF file of one page, its letters embedded.
    ///
    /// # Errors
    /// If the font can't be cut down; `Draw` then has an empty path.
    pub fn pdf(&self, sheet: &Sheet) -> Result<Vec<u8>, ReportError> {
        pdf::pdf(&self.scene(sheet), self.title()).map_err(|problem| failed(&problem))
    }

    /// The figure as a PNG file, 300 pixels an inch.
    ///
    /// # Errors
    /// If it is too large; `Draw` then has an empty path.
    pub fn png(&self, sheet: &Sheet) -> Result<Vec<u8>, ReportError> {
        raster::png(&self.scene(sheet)).map_err(|problem| failed(&problem.to_string()))
    }

    /// The figure as LaTeX and its data as a table, for files `NAME.tex` and `NAME.dat`.
    pub fn pgfplots(&self, sheet: &Sheet, name: &str) -> (String, String) {
        match &self.content {
            Content::Chart(chart) => pgfplots::of_chart(chart, sheet, name),
            Content::Bars(chart) => pgfplots::of_bars(chart, sheet, name),
            Content::Map(map) => pgfplots::of_map(map, sheet, name),
            Content::SpaceTime(figure) => pgfplots::of_space_time(figure, sheet, name),
        }
    }

    /// Writes the figure into a folder in all formats of a medium. Files that are there are
    /// replaced, but LaTeX that was edited by hand is kept.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn write_to(
        &self,
        folder: &Path,
        name: &str,
        medium: &Medium,
    ) -> Result<Files, ReportError> {
        let mut files = Files::default();
        self.add_to(&mut files, folder, name, medium)?;
        Ok(files)
    }

    fn add_to(
        &self,
        files: &mut Files,
        folder: &Path,
        name: &str,
        medium: &Medium,
    ) -> Result<(), ReportError> {
        let sheet = &medium.sheet;
        // A name may have dots: `latency-0.5`.
        let path = |extension: &str| folder.join(format!("{name}.{extension}"));
        for format in &medium.formats {
            match format {
                Format::Svg => files.write(path("svg"), self.svg(sheet).as_bytes())?,
                Format::Pdf => files.write(path("pdf"), &self.pdf(sheet)?)?,
                Format::Png => files.write(path("png"), &self.png(sheet)?)?,
                Format::Pgfplots => {
                    let (text, table) = self.pgfplots(sheet, name);
                    files.write_text(path("tex"), &text)?;
                    files.write(path("dat"), table.as_bytes())?;
                }
            }
        }
        Ok(())
    }
}

fn failed(problem: &str) -> ReportError {
    ReportError::Draw { path: PathBuf::new(), problem: problem.to_owned() }
}
