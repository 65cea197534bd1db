//! Results as one HTML file that opens anywhere: curves to point at, tables to sort, the links of
//! a torus, of a Dragonfly's groups or of a tree's levels.
//!
//! [`page`] is a function from what a [`ReportPage`] holds to the file's text. The file loads
//! nothing: style, script and data are in it, the data as a block of JSON. It names no date, so
//! equal results give equal bytes. The template, the style and the script are in `assets`.

mod application;
mod blocks;
mod columns;
mod curves;
mod data;
mod links;
mod pairs;
mod series;
mod template;
mod torus;
mod verdict;

use serde::Serialize;

use flitlab_base::registry::Row;
use flitlab_fabric::Torus;
use flitlab_report::figure::FigureKind;
use flitlab_report::{DeadlockNote, Point, SustainedLoad};

pub use blocks::Blocks;
pub use links::points_linked;

/// The contents of the page.
#[derive(Clone, Debug, Default)]
pub struct ReportPage {
    pub title: String,
    /// At least one.
    pub results: Vec<Reported>,
    /// Keys that are not the same in all scenarios.
    pub contrasts: Vec<Contrast>,
    /// Kinds of figures that are not built in; the page shows those of each result that say something.
    pub figures: Vec<Row<FigureKind>>,
    /// The command that made the page.
    pub command: String,
}

/// A run's or sweep's results.
#[derive(Clone, Debug, Default)]
pub struct Reported {
    /// The name of the result in curves and tables; the labels of a page differ.
    pub label: String,
    /// Facts of the simulation: network, routing, traffic.
    pub facts: Vec<Fact>,
    pub points: Vec<Point>,
    /// How many points have channels, if those of some were not read ([`points_linked`]).
    pub with_channels: Option<usize>,
    /// The scenario's torus, if it is the same for all points. Else the channels' names say what it
    /// is.
    pub torus: Option<Torus>,
    /// Where the channels of a fabric without coordinates are drawn, if it is the same for all
    /// points.
    pub blocks: Option<Blocks>,
    /// Sustained loads from searches for saturation.
    pub saturation: Vec<SustainedLoad>,
    /// Why the results are not what a finished run leaves.
    pub unfinished: Vec<String>,
    pub warnings: Vec<String>,
    pub deadlocks: Vec<DeadlockNote>,
    /// How exactly the mean latency was to be known, relative to it.
    pub precision: Option<f64>,
    /// The resolved scenario, TOML.
    pub scenario: Option<String>,
    /// Which flitlab made the results: its version and, as far as they are known, that of what it
    /// computes and the commit.
    pub version: Option<String>,
    /// The commands that give the results again.
    pub commands: Vec<String>,
}

/// Something to know, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    pub name: String,
    pub value: String,
}

/// A key with its value in each result's scenario; `None` where it is not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contrast {
    pub key: String,
    pub values: Vec<Option<String>>,
}

/// The page as the text of an HTML file.
pub fn page(report: &ReportPage) -> String {
    template::fill(&report.title, &data::Data::new(report))
}

#[cfg(test)]
mod tests;
