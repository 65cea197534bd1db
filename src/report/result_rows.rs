//! All rows of a result: what figures are drawn from.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use super::csv::{Row, read};
use super::folder::{
    ACTIVITY, CHANNELS, LATENCIES, PATH, POINTS, RANKS, SATURATION, SUMMARY, WINDOWS,
};
use super::{Label, Labels, Measured, Point, ReportError, Sustained, SustainedLoad};
use crate::FileError;

/// What a run or a sweep left, or several of them together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRows {
    pub points: Vec<Point>,
    /// What a search for saturation found.
    pub saturation: Vec<SustainedLoad>,
    /// What the result is called, if it says.
    pub title: Option<String>,
}

/// What is needed of summary.json.
#[derive(Default, Deserialize)]
struct Summary {
    title: Option<String>,
    scenario: Option<Scenario>,
}

#[derive(Deserialize)]
struct Scenario {
    name: String,
}

impl ResultRows {
    /// Reads a folder of results, and says of each file whose last line is cut short which line that is.
    /// Files other than points.csv may be missing.
    ///
    /// # Errors
    /// If a file can't be read, or is not of this kind.
    pub fn read(folder: &Path, mut cut_short: impl FnMut(&Path, u64)) -> Result<Self, ReportError> {
        let mut rows = Self::read_points(folder, &mut cut_short)?;
        rows.read_channels(folder, &mut cut_short)?;
        rows.read_activity(folder, &mut cut_short)?;
        let (points, of) = (&mut rows.points, |name: &str| folder.join(name));
        attach(points, &of(LATENCIES), |point| &mut point.latencies, &mut cut_short)?;
        attach(points, &of(WINDOWS), |point| &mut point.windows, &mut cut_short)?;
        attach(points, &of(RANKS), |point| &mut point.explained.ranks, &mut cut_short)?;
        attach(points, &of(PATH), |point| &mut point.explained.path, &mut cut_short)?;
        let summary = summary(&of(SUMMARY))?;
        rows.title = summary.title.or(summary.scenario.map(|scenario| scenario.name));
        Ok(rows)
    }

    /// Reads the points of a folder of results, and what searches for saturation found, as [`ResultRows::read`].
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_points(
        folder: &Path,
        mut cut_short: impl FnMut(&Path, u64),
    ) -> Result<Self, ReportError> {
        let points = whole::<Measured>(&folder.join(POINTS), &mut cut_short)?;
        let point = |(label, measured)| Point { label, measured, ..Point::default() };
        let points = points.into_iter().map(point).collect();
        Ok(Self { points, saturation: read_saturation(folder, &mut cut_short)?, title: None })
    }

    /// Gives the points what their ranks did over time, if there is such a file.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_activity(
        &mut self,
        folder: &Path,
        mut cut_short: impl FnMut(&Path, u64),
    ) -> Result<(), ReportError> {
        let path = folder.join(ACTIVITY);
        attach(&mut self.points, &path, |point| &mut point.explained.activity, &mut cut_short)
    }

    /// Gives the points what their channels carried, if there is such a file.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_channels(
        &mut self,
        folder: &Path,
        mut cut_short: impl FnMut(&Path, u64),
    ) -> Result<(), ReportError> {
        let path = folder.join(CHANNELS);
        attach(&mut self.points, &path, |point| &mut point.channels, &mut cut_short)
    }

    /// The labels of all points and searches.
    pub fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        let points = self.points.iter_mut().map(|point| &mut point.label);
        points.chain(self.saturation.iter_mut().map(|it| &mut it.label))
    }

    /// Adds another result's points after these.
    pub fn extend(&mut self, more: Self) {
        self.points.extend(more.points);
        self.saturation.extend(more.saturation);
    }
}

/// What searches for saturation left in a folder; nothing if there were none.
fn read_saturation(
    folder: &Path,
    cut_short: &mut impl FnMut(&Path, u64),
) -> Result<Vec<SustainedLoad>, ReportError> {
    let path = folder.join(SATURATION);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let rows = whole::<Sustained>(&path, cut_short)?;
    Ok(rows.into_iter().map(|(label, found)| SustainedLoad { label, found }).collect())
}

fn whole<R: Row>(
    path: &Path,
    cut_short: &mut impl FnMut(&Path, u64),
) -> Result<Vec<(Label, R)>, ReportError> {
    let rows = read(path, &Labels::Place)?;
    if let Some(line) = rows.incomplete_line {
        cut_short(path, line);
    }
    Ok(rows.rows)
}

/// Gives the rows of a file, if it is there, to the points that they name.
fn attach<R: Row>(
    points: &mut [Point],
    path: &Path,
    of: impl Fn(&mut Point) -> &mut Vec<R>,
    cut_short: &mut impl FnMut(&Path, u64),
) -> Result<(), ReportError> {
    if !path.exists() {
        return Ok(());
    }
    let labels: Vec<Label> = points.iter().map(|point| point.label.clone()).collect();
    let places = labels.iter().enumerate().map(|(at, label)| (label.place(), at));
    let places: HashMap<(&str, u32, u32), usize> = places.collect();
    for (label, row) in whole(path, cut_short)? {
        if let Some(&at) = places.get(&label.place()) {
            of(&mut points[at]).push(row);
        }
    }
    Ok(())
}

fn summary(path: &Path) -> Result<Summary, ReportError> {
    match fs::read_to_string(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Summary::default()),
        read => {
            let text = read.map_err(FileError::read(path))?;
            Ok(serde_json::from_str(&text).map_err(|cause| FileError::read(path)(cause.into()))?)
        }
    }
}
