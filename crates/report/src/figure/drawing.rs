//! A figure as it is kept, and what it is written as.

use serde::{Deserialize, Serialize};

use std::path::{Path, PathBuf};

use super::super::ReportError;
use super::bars::{self, BarChart};
use super::chart::Chart;
use super::figure_style::FigureStyle;
use super::heat_map::{self, HeatMap};
use super::medium::{Files, Format, Medium};
use super::scene::Scene;
use super::sheet::Sheet;
use super::space_time::{self, SpaceTime};
use super::{pdf, pgfplots, plot, raster, vector};

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
    pub(super) content: Content,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Content {
    Chart(Chart),
    Bars(BarChart),
    Map(HeatMap),
    SpaceTime(SpaceTime),
}

impl Figure {
    pub(super) fn of_chart(chart: Chart) -> Self {
        Self { content: Content::Chart(chart) }
    }

    pub(super) fn of_bars(chart: BarChart) -> Self {
        Self { content: Content::Bars(chart) }
    }

    pub(super) fn of_map(map: HeatMap) -> Self {
        Self { content: Content::Map(map) }
    }

    pub(super) fn of_space_time(figure: SpaceTime) -> Self {
        Self { content: Content::SpaceTime(figure) }
    }

    /// Returns the longest time that one of its axes reaches, in ns.
    pub(super) fn longest_time(&self) -> Option<f64> {
        let Content::Chart(chart) = &self.content else { return None };
        let axes = chart.panels.iter().map(|panel| &panel.y).chain([&chart.x]);
        axes.filter_map(|axis| Some(axis.high * axis.time?.size())).reduce(f64::max)
    }

    /// The lowest and the highest value of a map.
    fn map_extremes(&self) -> Option<(f64, f64)> {
        if let Content::Map(map) = &self.content { Some(map.extremes()) } else { None }
    }

    /// The lowest and the highest value of all maps among some figures.
    pub(super) fn extremes_of_maps<'f>(
        figures: impl IntoIterator<Item = &'f Self>,
    ) -> Option<(f64, f64)> {
        let maps = figures.into_iter().filter_map(Self::map_extremes);
        maps.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// The figure with the look that is wanted, a map with a scale for values from the lowest to
    /// the highest of `maps`.
    pub(super) fn finished(mut self, look: &FigureStyle, maps: Option<(f64, f64)>) -> Self {
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

    pub(super) fn scene(&self, sheet: &Sheet) -> Scene {
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

    pub(super) fn add_to(
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
