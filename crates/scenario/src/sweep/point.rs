//! A point of a sweep.

use crate::series::LOAD;
use crate::{Document, Identity, Scenario};
use flitlab_report::figure::short_name;

/// One scenario of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Key and value, in the order of nesting, but for the seed of repetitions. Values are as
    /// written, texts without quotes.
    pub assignments: Vec<(String, String)>,
    /// Settings of the grid alone, which do not depend on how a named series is written. A topology
    /// or a routing has its name as its value, with the keys that tell it from others of the grid.
    pub of_grid: Vec<(String, String)>,
    /// The name of its curve in a legend: the values of all keys but the load and what is zipped
    /// with it, or the name that the series was given. May be empty.
    pub series: String,
    /// The name of its curve's figure; empty if all curves are in one.
    pub figure: String,
    /// Which of the repetitions it is, from 0; each has the seed after the one before.
    pub repetition: u32,
    /// The sweep's document with these values set.
    pub document: Document,
    pub scenario: Scenario,
    pub identity: Identity,
}

impl Point {
    /// The load as it is written, if the sweep gives it.
    pub fn load(&self) -> Option<&str> {
        let load = self.assignments.iter().find(|(key, _)| key == LOAD);
        load.map(|(_, load)| load.as_str())
    }

    /// The name of its series beside the others of its figure.
    pub(super) fn series_in_figure(&self) -> String {
        short_name(&self.series, &self.figure)
    }
}
