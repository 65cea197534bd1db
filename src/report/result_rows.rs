//! All rows of a result: what figures are drawn from.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use super::comparison::SustainedLoad;
use super::{
    ChannelRow, LatencyRow, PointRow, ReportError, Rows, WindowRow, read_channels, read_latencies,
    read_points, read_windows,
};

/// What a run or a sweep left, or several of them together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultRows {
    pub points: Vec<PointRow>,
    pub channels: Vec<ChannelRow>,
    pub latencies: Vec<LatencyRow>,
    pub windows: Vec<WindowRow>,
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
    #[serde(default)]
    saturation: Vec<SustainedLoad>,
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
        let mut read = Self {
            points: whole(read_points, &folder.join("points.csv"), &mut cut_short)?,
            ..Self::default()
        };
        read.channels = if_there(read_channels, &folder.join("channels.csv"), &mut cut_short)?;
        read.latencies = if_there(read_latencies, &folder.join("latencies.csv"), &mut cut_short)?;
        read.windows = if_there(read_windows, &folder.join("windows.csv"), &mut cut_short)?;
        let summary = summary(&folder.join("summary.json"))?;
        read.saturation = summary.saturation;
        read.title = summary.title.or(summary.scenario.map(|scenario| scenario.name));
        Ok(read)
    }

    /// Every series, as all rows name it.
    pub fn series_names(&mut self) -> impl Iterator<Item = &mut String> {
        let points = self.points.iter_mut().map(|row| &mut row.series);
        let channels = self.channels.iter_mut().map(|row| &mut row.series);
        let latencies = self.latencies.iter_mut().map(|row| &mut row.series);
        let windows = self.windows.iter_mut().map(|row| &mut row.series);
        let saturation = self.saturation.iter_mut().map(|found| &mut found.series);
        points.chain(channels).chain(latencies).chain(windows).chain(saturation)
    }

    /// Adds another result's rows after these.
    pub fn extend(&mut self, more: Self) {
        self.points.extend(more.points);
        self.channels.extend(more.channels);
        self.latencies.extend(more.latencies);
        self.windows.extend(more.windows);
        self.saturation.extend(more.saturation);
    }
}

/// A reader of one kind of file.
type Reader<'p, R> = fn(&'p Path) -> Result<Rows<R>, ReportError>;

fn whole<'p, R>(
    read: Reader<'p, R>,
    path: &'p Path,
    cut_short: &mut impl FnMut(&Path, u64),
) -> Result<Vec<R>, ReportError> {
    let rows = read(path)?;
    if let Some(line) = rows.incomplete_line {
        cut_short(path, line);
    }
    Ok(rows.rows)
}

fn if_there<'p, R>(
    read: Reader<'p, R>,
    path: &'p Path,
    cut_short: &mut impl FnMut(&Path, u64),
) -> Result<Vec<R>, ReportError> {
    if path.exists() { whole(read, path, cut_short) } else { Ok(Vec::new()) }
}

fn summary(path: &Path) -> Result<Summary, ReportError> {
    match fs::read_to_string(path) {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(Summary::default()),
        Err(cause) => Err(ReportError::Read { path: path.into(), cause }),
        Ok(text) => serde_json::from_str(&text)
            .map_err(|cause| ReportError::Read { path: path.into(), cause: cause.into() }),
    }
}
