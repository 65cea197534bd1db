//! Figures drawn from result rows, as SVG for print and PNG for a quick look.
//!
//! A figure is as wide as a column of a two-column paper (3.5 inches) with letters of 7 to 9 points,
//! so it goes into a paper unscaled. Colours are Okabe and Ito's; shape tells series apart in grey.
//! Equal rows give equal bytes.

mod accepted;
mod axis;
mod bars;
mod channels;
mod completion;
mod curves;
mod folder;
mod font;
mod heat_map;
mod histogram;
mod latency;
mod legend;
mod palette;
mod plot;
mod raster;
mod ratios;
mod scene;
mod vector;
mod xy;

use std::fs;
use std::path::{Path, PathBuf};

use super::ReportError;
use scene::Scene;

pub use accepted::accepted_figure;
pub use channels::channel_figure;
pub use completion::completion_figure;
pub use folder::draw_all;
pub use heat_map::load_heat_map;
pub use histogram::load_histogram;
pub use latency::{latency_figure, tail_latency_figure};
pub use ratios::ratio_figure;
pub use xy::{Scale, Series, Style, xy_figure};

/// Width of every figure, in points.
const WIDTH: u32 = 252;

const TITLE_SIZE: f64 = 8.5;
const AXIS_SIZE: f64 = 8.0;
const TICK_SIZE: f64 = 7.0;

/// Widths of lines.
const LINE: f64 = 1.1;
const THIN_LINE: f64 = 0.7;
const AXIS_LINE: f64 = 0.6;

/// Up to this many series can have two lines each, and marks where they end.
const FEW: usize = 4;

/// A drawing that can be written to files.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    scene: Scene,
}

impl Figure {
    fn of(scene: Scene) -> Self {
        Self { scene }
    }

    /// The figure as SVG text.
    ///
    /// # Errors
    /// If the drawing library fails; `Draw` then has an empty path.
    pub fn svg(&self) -> Result<String, ReportError> {
        self.svg_for(Path::new(""))
    }

    /// Writes the figure as SVG, in place of what was there.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        let text = self.svg_for(path)?;
        fs::write(path, text).map_err(|cause| ReportError::Write { path: path.into(), cause })
    }

    /// Writes the figure as PNG, 288 pixels an inch, in place of what was there. The path must end in
    /// `.png`.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        raster::write(&self.scene, path)
            .map_err(|problem| ReportError::Draw { path: path.into(), problem })
    }

    /// Writes the figure into a folder as SVG and as PNG; gives the two paths.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn write_to(&self, folder: &Path, name: &str) -> Result<[PathBuf; 2], ReportError> {
        let paths = ["svg", "png"].map(|extension| folder.join(format!("{name}.{extension}")));
        self.write(&paths[0])?;
        self.write_png(&paths[1])?;
        Ok(paths)
    }

    fn svg_for(&self, path: &Path) -> Result<String, ReportError> {
        vector::svg(&self.scene).map_err(|problem| ReportError::Draw { path: path.into(), problem })
    }
}
