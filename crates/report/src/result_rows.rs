//! All rows of a result: what figures are drawn from.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::csv::{Row, read_some};
use super::folder::{
    ACTIVITY, FAILURES, FLOWS, LATENCIES, PAIRS, PATH, PHASES, POINTS, RANK_PHASES, RANKS,
    SATURATION, SLOWDOWNS, SUMMARY, TIMELINE, WINDOWS, WORKLOADS, path_of_channels,
};
use super::{ChannelRow, Label, Labels, Point, PointRow, ReportError, Sustained, SustainedLoad};
use flitlab_base::FileError;
use flitlab_base::text_file::read_text;

/// The rows that a run or a sweep left, or several of them together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRows {
    pub points: Vec<Point>,
    /// Sustained loads from searches for saturation.
    pub saturation: Vec<SustainedLoad>,
    /// Bounds of the load, of one result alone.
    pub bounds: Vec<BoundLine>,
    /// The title of the result, if it has one.
    pub title: Option<String>,
    /// Columns that points.csv does not have, since an earlier version wrote it.
    pub absent: Vec<String>,
}

/// A load that no rule exceeds which goes by some ways, in the figure of this name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundLine {
    /// What the figure is called; empty if there is one for all.
    pub figure: String,
    /// The ways in words, such as "any ways".
    pub name: String,
    /// The load, as a fraction of the fabric's capacity.
    pub load: f64,
}

/// The needed part of summary.json.
#[derive(Default, Deserialize)]
struct Summary {
    title: Option<String>,
    scenario: Option<Scenario>,
    #[serde(default)]
    load_bounds: Vec<BoundLine>,
}

#[derive(Deserialize)]
struct Scenario {
    name: String,
}

impl ResultRows {
    /// Reads a folder of results. Files other than points.csv may be missing. A note, a sentence
    /// without a full stop, says what is left out: a last line that is cut short, and files without
    /// the columns that they need.
    ///
    /// # Errors
    /// If a file can't be read, or points.csv is not of this kind.
    pub fn read(folder: &Path, mut note: impl FnMut(String)) -> Result<Self, ReportError> {
        let mut rows = Self::read_without_channels(folder, &mut note)?;
        rows.read_channels(folder, &mut note)?;
        Ok(rows)
    }

    /// Reads a folder of results but for what channels carried, which may be a hundred times as much
    /// as all the rest.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_without_channels(
        folder: &Path,
        mut note: impl FnMut(String),
    ) -> Result<Self, ReportError> {
        let mut rows = Self::read_points(folder, &mut note)?;
        rows.read_details(folder, &mut note)?;
        rows.read_figures(folder, &mut note)?;
        let flows = folder.join(FLOWS);
        attach(&mut rows.points, &flows, |point| &mut point.explained.flows, &mut note)?;
        let summary = summary(&folder.join(SUMMARY))?;
        rows.bounds = summary.load_bounds;
        rows.title = summary.title.or(summary.scenario.map(|scenario| scenario.name));
        Ok(rows)
    }

    /// Reads the points of a folder of results, and what searches for saturation found, as
    /// [`ResultRows::read`].
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_points(folder: &Path, mut note: impl FnMut(String)) -> Result<Self, ReportError> {
        let (points, absent) = whole::<PointRow>(&folder.join(POINTS), &mut note)?;
        let point = |(label, measured)| Point { label, measured, ..Point::default() };
        let points = points.into_iter().map(point).collect();
        let found = beside::<Sustained>(&folder.join(SATURATION), &mut note)?.into_iter();
        let saturation = found.map(|(label, found)| SustainedLoad { label, found }).collect();
        Ok(Self { points, saturation, absent, ..Self::default() })
    }

    /// Gives the points what was measured of their workloads, failures, and pairs of nodes, and what
    /// ranks of applications did, as far as there are such files.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_details(
        &mut self,
        folder: &Path,
        mut note: impl FnMut(String),
    ) -> Result<(), ReportError> {
        let (points, of) = (&mut self.points, |name: &str| folder.join(name));
        attach(points, &of(ACTIVITY), |point| &mut point.explained.activity, &mut note)?;
        attach(points, &of(WORKLOADS), |point| &mut point.workloads, &mut note)?;
        attach(points, &of(SLOWDOWNS), |point| &mut point.slowdowns, &mut note)?;
        attach(points, &of(FAILURES), |point| &mut point.failures, &mut note)?;
        attach(points, &of(PAIRS), |point| &mut point.pairs, &mut note)?;
        attach(points, &of(RANKS), |point| &mut point.explained.ranks, &mut note)?;
        attach(points, &of(PATH), |point| &mut point.explained.path, &mut note)?;
        attach(points, &of(PHASES), |point| &mut point.explained.phases, &mut note)?;
        attach(points, &of(RANK_PHASES), |point| &mut point.explained.rank_phases, &mut note)?;
        attach(points, &of(TIMELINE), |point| &mut point.explained.bars, &mut note)
    }

    /// Gives the points the distributions of their latencies, and their windows, as far as there are
    /// such files.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_figures(
        &mut self,
        folder: &Path,
        mut note: impl FnMut(String),
    ) -> Result<(), ReportError> {
        let (points, of) = (&mut self.points, |name: &str| folder.join(name));
        attach(points, &of(LATENCIES), |point| &mut point.latencies, &mut note)?;
        attach(points, &of(WINDOWS), |point| &mut point.windows, &mut note)
    }

    /// Gives the points what their channels carried, if there is such a file.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_channels(
        &mut self,
        folder: &Path,
        mut note: impl FnMut(String),
    ) -> Result<(), ReportError> {
        let path = path_of_channels(folder);
        attach(&mut self.points, &path, |point| &mut point.channels, &mut note)
    }

    /// Whether each point has rows of channels in a folder. They are not read.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn have_channels(&self, folder: &Path) -> Result<Vec<bool>, ReportError> {
        let mut have = vec![false; self.points.len()];
        let path = path_of_channels(folder);
        if path.exists() {
            let places = places(&self.points);
            let looked = read_some::<ChannelRow>(&path, &Labels::Place, |label| {
                if let Some(&at) = places.get(&label.place()) {
                    have[at] = true;
                }
                false
            });
            match looked {
                Ok(_) | Err(ReportError::Columns { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(have)
    }

    /// Gives those points that are `wanted`, by place, what their channels carried.
    ///
    /// # Errors
    /// As [`ResultRows::read`].
    pub fn read_channels_of(
        &mut self,
        folder: &Path,
        wanted: &[bool],
        mut note: impl FnMut(String),
    ) -> Result<(), ReportError> {
        let path = path_of_channels(folder);
        let points = &mut self.points;
        attach_some(points, &path, |at| wanted[at], |point| &mut point.channels, &mut note)
    }

    /// The labels of all points and searches.
    pub fn labels(&mut self) -> impl Iterator<Item = &mut Label> {
        let points = self.points.iter_mut().map(|point| &mut point.label);
        points.chain(self.saturation.iter_mut().map(|it| &mut it.label))
    }

    /// Adds another result's points after these. Bounds are those of one result alone.
    pub fn extend(&mut self, more: Self) {
        self.points.extend(more.points);
        self.saturation.extend(more.saturation);
        self.absent.extend(more.absent);
    }
}

/// The rows of a file, and the columns that it does not have.
type Whole<R> = (Vec<(Label, R)>, Vec<String>);

/// Reads all rows of a file, but for a last line that is cut short.
fn whole<R: Row>(path: &Path, note: &mut impl FnMut(String)) -> Result<Whole<R>, ReportError> {
    whole_of(path, |_| true, note)
}

/// Reads all rows of a file that are wanted.
fn whole_of<R: Row>(
    path: &Path,
    wanted: impl FnMut(&Label) -> bool,
    note: &mut impl FnMut(String),
) -> Result<Whole<R>, ReportError> {
    let rows = read_some(path, &Labels::Place, wanted)?;
    if let Some(line) = rows.incomplete_line {
        note(format!("{}:{line}: the last line is cut short and left out", path.display()));
    }
    Ok((rows.rows, rows.absent))
}

/// The rows of a file beside points.csv; none if it is not there or has not the columns that they
/// need.
fn beside<R: Row>(
    path: &Path,
    note: &mut impl FnMut(String),
) -> Result<Vec<(Label, R)>, ReportError> {
    beside_of(path, |_| true, note)
}

/// [`beside`], of rows that are wanted.
fn beside_of<R: Row>(
    path: &Path,
    wanted: impl FnMut(&Label) -> bool,
    note: &mut impl FnMut(String),
) -> Result<Vec<(Label, R)>, ReportError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    match whole_of(path, wanted, note) {
        Ok((rows, _)) => Ok(rows),
        Err(error @ ReportError::Columns { .. }) => {
            note(format!("{error}, so the file is left out"));
            Ok(Vec::new())
        }
        Err(error) => Err(error),
    }
}

/// Gives the rows of a file, if it is there, to the points that they name.
fn attach<R: Row>(
    points: &mut [Point],
    path: &Path,
    of: impl Fn(&mut Point) -> &mut Vec<R>,
    note: &mut impl FnMut(String),
) -> Result<(), ReportError> {
    attach_some(points, path, |_| true, of, note)
}

/// [`attach`], of points at places that are wanted.
fn attach_some<R: Row>(
    points: &mut [Point],
    path: &Path,
    wanted: impl Fn(usize) -> bool,
    of: impl Fn(&mut Point) -> &mut Vec<R>,
    note: &mut impl FnMut(String),
) -> Result<(), ReportError> {
    let labels: Vec<Label> = points.iter().map(|point| point.label.clone()).collect();
    let places = labels.iter().enumerate().map(|(at, label)| (label.place(), at));
    let places: HashMap<(&str, u32, u32), usize> = places.collect();
    let place = |label: &Label| places.get(&label.place()).copied();
    let rows = beside_of(path, |label| place(label).is_some_and(&wanted), note)?;
    for (label, row) in rows {
        if let Some(at) = place(&label) {
            of(&mut points[at]).push(row);
        }
    }
    Ok(())
}

/// The place of each point, by what tells it from others.
fn places(points: &[Point]) -> HashMap<(&str, u32, u32), usize> {
    points.iter().enumerate().map(|(at, point)| (point.label.place(), at)).collect()
}

fn summary(path: &Path) -> Result<Summary, ReportError> {
    match read_text(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Summary::default()),
        read => {
            let text = read.map_err(FileError::read(path))?;
            Ok(serde_json::from_str(&text).map_err(|cause| FileError::read(path)(cause.into()))?)
        }
    }
}
