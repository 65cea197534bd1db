//! The files of a result's folder: rows as points are found, and all of them in order at the end.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::csv::{Packing, Row};
use super::{
    ChannelRow, Label, Labels, Point, PointRow, ReportError, RowWriter, SustainedLoad, means_text,
};
use flitlab_base::FileError;

/// A row a point.
pub const POINTS: &str = "points.csv";
/// A row for each channel of a point.
pub const CHANNELS: &str = "channels.csv";
/// The rows of channels, compressed (gzip).
pub const PACKED_CHANNELS: &str = "channels.csv.gz";
/// A row for each step of a point's distribution of latencies.
pub const LATENCIES: &str = "latencies.csv";
/// A row for each window of a point.
pub const WINDOWS: &str = "windows.csv";
/// A row for each node of a point that sends, and receives, and for each pair, if that is asked for.
pub const PAIRS: &str = "pairs.csv";
/// A row for each workload of a point that has several.
pub const WORKLOADS: &str = "workloads.csv";
/// A row for each two workloads of a point of which one slows the other.
pub const SLOWDOWNS: &str = "slowdowns.csv";
/// A row for each failure of a point in which something fails several times.
pub const FAILURES: &str = "failures.csv";
/// A row for each rank of an application.
pub const RANKS: &str = "ranks.csv";
/// A row for each group of an application's ranks in each stretch of time.
pub const ACTIVITY: &str = "activity.csv";
/// A row for each stretch of an application's critical path.
pub const PATH: &str = "path.csv";
/// A row for each phase of an application.
pub const PHASES: &str = "phases.csv";
/// A row for each rank of an application and phase.
pub const RANK_PHASES: &str = "rank_phases.csv";
/// A row for each stretch of each rank's time.
pub const TIMELINE: &str = "timeline.csv";
/// A row for each channel that the critical path waited for.
pub const PATH_CHANNELS: &str = "path_channels.csv";
/// A row for the flows of a trace, and for those of each decade of sizes.
pub const FLOWS: &str = "flows.csv";
/// A row for each search for saturation.
pub const SATURATION: &str = "saturation.csv";
/// A row for the repetitions of a point.
pub const MEANS: &str = "means.csv";
/// The summary of the whole result. It is written last, so its presence marks a finished result.
pub const SUMMARY: &str = "summary.json";

/// The files of rows while points are found.
#[derive(Debug)]
pub struct ResultFolder {
    folder: PathBuf,
    labels: Labels,
    packing: Packing,
    points: RowWriter<PointRow>,
    channels: RowWriter<ChannelRow>,
}

impl ResultFolder {
    /// Begins the files of rows in a folder, that of channels packed so; labels have columns for these
    /// keys of a sweep. Rows of an earlier call are replaced.
    ///
    /// # Errors
    /// If a file can't be removed or written.
    pub fn begin(folder: &Path, keys: Vec<String>, packing: Packing) -> Result<Self, ReportError> {
        for name in [
            SUMMARY,
            POINTS,
            CHANNELS,
            PACKED_CHANNELS,
            LATENCIES,
            WINDOWS,
            PAIRS,
            WORKLOADS,
            SLOWDOWNS,
            FAILURES,
            RANKS,
            ACTIVITY,
            PATH,
            PHASES,
            RANK_PHASES,
            TIMELINE,
            PATH_CHANNELS,
            FLOWS,
            SATURATION,
            MEANS,
        ] {
            remove(&folder.join(name))?;
        }
        let labels = Labels::All(keys);
        Ok(Self {
            points: RowWriter::create(folder.join(POINTS), labels.clone())?,
            channels: RowWriter::create_packed(
                folder.join(name_of_channels(packing)),
                packing,
                Labels::Place,
            )?,
            packing,
            folder: folder.into(),
            labels,
        })
    }

    /// Adds a point's row and those of its channels; when this returns, they have been handed to
    /// the operating system.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn add(&mut self, point: &Point) -> Result<(), ReportError> {
        self.points.write(&point.label, &point.measured)?;
        self.channels.write_all(point.channels.iter().map(|row| (&point.label, row)))
    }

    /// Writes the files with these points, in this order, and what is written of all points only:
    /// distributions, windows, workloads and explanations if there are any, what searches for
    /// saturation found, or means if points are repeated.
    ///
    /// # Errors
    /// If a file can't be written.
    pub fn finish(self, points: &[Point], found: &[SustainedLoad]) -> Result<(), ReportError> {
        let mut put = Rewrite { folder: &self.folder, packing: self.packing };
        of_points(points, &self.labels, &mut put)?;
        if !found.is_empty() {
            let rows = found.iter().map(|it| (&it.label, &it.found));
            return RowWriter::write_file(self.folder.join(SATURATION), self.labels, rows);
        }
        if let Some(means) = means_text(points) {
            let path = self.folder.join(MEANS);
            fs::write(&path, means).map_err(FileError::write(path))?;
        }
        Ok(())
    }
}

/// What takes the rows of a result, file by file.
pub(super) trait TakeFiles {
    type Error;

    /// Takes the rows of a file. Of a file of filled columns those without a value are left out.
    fn file<R: Row>(
        &mut self,
        name: &'static str,
        labels: &Labels,
        filled: bool,
        rows: &[(&Label, &R)],
    ) -> Result<(), Self::Error>;
}

/// Hands over the files of points: all that have a row, and those that each result has.
pub(super) fn of_points<T: TakeFiles>(
    points: &[Point],
    all: &Labels,
    into: &mut T,
) -> Result<(), T::Error> {
    /// The rows of all points under their labels.
    fn rows<'p, R>(
        points: &'p [Point],
        of: impl Fn(&'p Point) -> &'p [R],
    ) -> Vec<(&'p Label, &'p R)> {
        let rows = |point: &'p Point| of(point).iter().map(|row| (&point.label, row));
        points.iter().flat_map(rows).collect()
    }
    /// A file of rows that any point has.
    fn some<'p, T: TakeFiles, R: Row>(
        points: &'p [Point],
        into: &mut T,
        (name, filled): (&'static str, bool),
        of: impl Fn(&'p Point) -> &'p [R],
    ) -> Result<(), T::Error> {
        let rows = rows(points, of);
        if rows.is_empty() { Ok(()) } else { into.file(name, &Labels::Place, filled, &rows) }
    }
    let place = &Labels::Place;
    let measured = rows(points, |point| std::slice::from_ref(&point.measured));
    into.file(POINTS, all, false, &measured)?;
    into.file(CHANNELS, place, false, &rows(points, |point| &point.channels))?;
    into.file(LATENCIES, place, false, &rows(points, |point| &point.latencies))?;
    some(points, into, (WINDOWS, false), |point| &point.windows)?;
    some(points, into, (PAIRS, false), |point| &point.pairs)?;
    some(points, into, (WORKLOADS, true), |point| &point.workloads)?;
    some(points, into, (SLOWDOWNS, false), |point| &point.slowdowns)?;
    some(points, into, (FAILURES, false), |point| &point.failures)?;
    if points.iter().any(|point| !point.explained.ranks.is_empty()) {
        into.file(RANKS, place, true, &rows(points, |point| &point.explained.ranks))?;
        into.file(ACTIVITY, place, true, &rows(points, |point| &point.explained.activity))?;
        into.file(PATH, place, true, &rows(points, |point| &point.explained.path))?;
        into.file(PHASES, place, true, &rows(points, |point| &point.explained.phases))?;
        into.file(RANK_PHASES, place, true, &rows(points, |point| &point.explained.rank_phases))?;
    }
    some(points, into, (TIMELINE, true), |point| &point.explained.bars)?;
    some(points, into, (PATH_CHANNELS, true), |point| &point.explained.channels)?;
    some(points, into, (FLOWS, false), |point| &point.explained.flows)
}

/// Files that are replaced as wholes.
struct Rewrite<'f> {
    folder: &'f Path,
    /// Of the file of channels.
    packing: Packing,
}

impl TakeFiles for Rewrite<'_> {
    type Error = ReportError;

    fn file<R: Row>(
        &mut self,
        name: &'static str,
        labels: &Labels,
        filled: bool,
        rows: &[(&Label, &R)],
    ) -> Result<(), ReportError> {
        let packing = if name == CHANNELS { self.packing } else { Packing::Plain };
        let path =
            self.folder.join(if name == CHANNELS { name_of_channels(packing) } else { name });
        let partial = path.with_extension("partial");
        remove(&partial)?;
        let written = if filled {
            RowWriter::write_filled(&partial, labels.clone(), rows)
        } else {
            RowWriter::create_packed(&partial, packing, labels.clone())
                .and_then(|mut writer| writer.write_all(rows.iter().copied()))
        };
        let moved = || Ok(fs::rename(&partial, &path).map_err(FileError::write(&path))?);
        written.and_then(|()| moved()).inspect_err(|_| {
            // On a full disk the space is needed.
            let _ = fs::remove_file(&partial);
        })
    }
}

fn name_of_channels(packing: Packing) -> &'static str {
    match packing {
        Packing::Plain => CHANNELS,
        Packing::Gzip => PACKED_CHANNELS,
    }
}

/// The file of channels in a folder: the compressed one if it is there.
pub(super) fn path_of_channels(folder: &Path) -> PathBuf {
    let packed = folder.join(PACKED_CHANNELS);
    if packed.exists() { packed } else { folder.join(CHANNELS) }
}

/// The keys of a sweep that its points give values, in the order in which they come.
pub fn keys_of<'l>(labels: impl IntoIterator<Item = &'l Label>) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (key, _) in labels.into_iter().flat_map(|label| &label.settings) {
        if !keys.contains(key) {
            keys.push(key.clone());
        }
    }
    keys
}

fn remove(path: &Path) -> Result<(), ReportError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => {
            Err(FileError::write(path)(cause).into())
        }
        _ => Ok(()),
    }
}
