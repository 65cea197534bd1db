//! Result files in CSV: a row is on disk as soon as it is known, and a kill costs at most that row.
//!
//! A row is one line, added with one write. What follows the last line break is a row that a kill
//! has cut short: readers leave it out and say so, and a writer that goes on with the file removes
//! it.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize as _, Deserializer, Serialize};
use serde_json::Value;

use super::ReportError;
use super::label::{Label, Labels, is_setting};
use super::spreadsheet::{harmless_file, restored_record};
use super::table::{Cell, Column};
use flitlab_base::FileError;
use flitlab_base::text_file::read_bytes;

/// Bytes that are written at once, of many rows together.
const AT_ONCE: usize = 1 << 20;

/// A kind of row.
pub trait Row: Serialize + DeserializeOwned + Default + 'static {
    /// The columns, in their order.
    fn columns() -> &'static [Column<Self>];

    /// Reads back what [`Row::text`] wrote; `None` if the text is not that of rows of this kind.
    ///
    /// This and [`Row::text`] have no type parameters. So they are compiled, and optimised, in the
    /// crate of the rows: a file may have millions of cells.
    fn of_text(text: &str) -> Option<Vec<Self>>;

    /// [`rows_text`] of this kind.
    fn text(rows: &[Self]) -> String;
}

/// The contents of a result file.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<R> {
    pub rows: Vec<R>,
    /// The number of the last line if it was cut short; it is not among the rows.
    pub incomplete_line: Option<u64>,
    /// Columns of such rows that the file does not have.
    pub absent: Vec<String>,
}

/// Adds rows to a result file.
#[derive(Debug)]
pub struct RowWriter<R: 'static> {
    path: PathBuf,
    file: File,
    packing: Packing,
    labels: Labels,
    columns: Vec<&'static Column<R>>,
}

/// How a file's bytes are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    #[default]
    Plain,
    /// Compressed, each write a member of its own, so that what is there can always be read (RFC
    /// 1952, section 2.2).
    Gzip,
}

/// The extension of compressed files.
const GZIP: &str = "gz";

impl<R: Row> RowWriter<R> {
    /// Begins a new file with the header.
    ///
    /// # Errors
    /// If the file exists or can't be written.
    pub fn create(path: impl Into<PathBuf>, labels: Labels) -> Result<Self, ReportError> {
        Self::begin(path.into(), Packing::Plain, labels, R::columns().iter().collect())
    }

    /// Begins a new file, as [`RowWriter::create`], which may be compressed.
    ///
    /// # Errors
    /// As [`RowWriter::create`].
    pub(super) fn create_packed(
        path: impl Into<PathBuf>,
        packing: Packing,
        labels: Labels,
    ) -> Result<Self, ReportError> {
        Self::begin(path.into(), packing, labels, R::columns().iter().collect())
    }

    fn begin(
        path: PathBuf,
        packing: Packing,
        labels: Labels,
        columns: Vec<&'static Column<R>>,
    ) -> Result<Self, ReportError> {
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(FileError::write(&path))?;
        let header = header_line(&labels, &columns, &path)?;
        let mut writer = Self { path, file, packing, labels, columns };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Adds a row; when this returns, the whole line has been handed to the operating system. Line
    /// breaks inside texts become spaces.
    ///
    /// # Errors
    /// If the file can't be written, or the row holds a fraction that is not a number.
    pub fn write(&mut self, label: &Label, row: &R) -> Result<(), ReportError> {
        let line = row_line(&self.labels, label, &self.columns, row, &self.path)?;
        self.put(&line)
    }

    /// Writes a new file with these rows.
    ///
    /// # Errors
    /// As [`RowWriter::create`] and [`RowWriter::write`].
    pub fn write_file<'r>(
        path: impl Into<PathBuf>,
        labels: Labels,
        rows: impl IntoIterator<Item = (&'r Label, &'r R)>,
    ) -> Result<(), ReportError>
    where
        R: 'r,
    {
        Self::create(path, labels)?.write_all(rows)
    }

    /// Adds rows of which none has to be on the disk before the others are.
    ///
    /// # Errors
    /// As [`RowWriter::write`].
    pub(super) fn write_all<'r>(
        &mut self,
        rows: impl IntoIterator<Item = (&'r Label, &'r R)>,
    ) -> Result<(), ReportError>
    where
        R: 'r,
    {
        let mut lines = Vec::with_capacity(AT_ONCE);
        for (label, row) in rows {
            lines.extend(row_line(&self.labels, label, &self.columns, row, &self.path)?);
            if lines.len() >= AT_ONCE {
                self.put(&lines)?;
                lines.clear();
            }
        }
        if lines.is_empty() { Ok(()) } else { self.put(&lines) }
    }

    /// Writes a new file with these rows, and of their columns those in which a row has a value.
    ///
    /// # Errors
    /// As [`RowWriter::write_file`].
    pub(super) fn write_filled<'r>(
        path: &Path,
        labels: Labels,
        rows: &[(&'r Label, &'r R)],
    ) -> Result<(), ReportError> {
        let has =
            |column: &&Column<R>| rows.iter().any(|(_, row)| (column.cell)(row) != Cell::Empty);
        let mut writer = Self::begin(
            path.into(),
            Packing::Plain,
            labels,
            R::columns().iter().filter(has).collect(),
        )?;
        writer.write_all(rows.iter().copied())
    }

    fn put(&mut self, line: &[u8]) -> Result<(), ReportError> {
        let write = |file: &mut File| match self.packing {
            Packing::Plain => file.write_all(line),
            Packing::Gzip => {
                let mut packed = GzEncoder::new(Vec::new(), Compression::default());
                packed.write_all(line)?;
                file.write_all(&packed.finish()?)
            }
        };
        let written = write(&mut self.file).and_then(|()| self.file.flush());
        Ok(written.map_err(FileError::write(&self.path))?)
    }
}

/// Rows of plain fields as a whole CSV file, the fields' names as its header.
pub fn rows_text<R: Serialize>(rows: &[R]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("rows of plain fields");
    }
    let text = writer.into_inner().expect("a buffer in memory");
    harmless_file(String::from_utf8(text).expect("CSV of texts"))
}

/// Labelled rows as a whole CSV file.
pub fn labelled_text<'r, R: Row + 'r>(
    labels: &Labels,
    rows: impl IntoIterator<Item = (&'r Label, &'r R)>,
) -> String {
    let (nowhere, columns) = (Path::new(""), R::columns().iter().collect::<Vec<_>>());
    let mut text = header_line(labels, &columns, nowhere).expect("rows of plain fields");
    for (label, row) in rows {
        text.extend(row_line(labels, label, &columns, row, nowhere).expect("rows of plain fields"));
    }
    String::from_utf8(text).expect("CSV of texts")
}

/// Reads back what [`rows_text`] wrote.
///
/// # Errors
/// If the text is not that of rows of this kind.
pub fn rows_of_text<R: DeserializeOwned>(text: &str) -> Result<Vec<R>, ::csv::Error> {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers()?.clone();
    reader.records().map(|record| restored_record(record?).deserialize(Some(&header))).collect()
}

/// Reads a result file: each row with as much of its label as the file has. Columns may come in any
/// order, others beside them are skipped, and values whose column is not there are absent.
///
/// # Errors
/// If the file can't be read, a required column is missing, or a cell is wrong: file, line and
/// column are named.
pub fn read<R: Row>(path: &Path, labels: &Labels) -> Result<Rows<(Label, R)>, ReportError> {
    read_some(path, labels, |_| true)
}

/// Reads the rows of a result file whose labels are `wanted`, as [`read`]. Others are not looked at
/// any further: of a file of millions of rows a few are found in a moment.
///
/// # Errors
/// As [`read`], as far as the rows are looked at.
pub(super) fn read_some<R: Row>(
    path: &Path,
    labels: &Labels,
    mut wanted: impl FnMut(&Label) -> bool,
) -> Result<Rows<(Label, R)>, ReportError> {
    let content = read_bytes(path).map_err(FileError::read(path))?;
    let content =
        if path.extension().is_some_and(|it| it == GZIP) { unpacked(&content) } else { content };
    let whole = whole_lines(&content);
    let lines = whole.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let incomplete_line = (whole.len() < content.len()).then_some(lines + 1);

    let mut reader = csv::Reader::from_reader(whole);
    let header = reader.headers().map_err(|error| line_error(path, &error))?.clone();
    let known = labels.names().into_iter().chain(names::<R>());
    let absent = known.filter(|&name| !header.iter().any(|column| column == name));
    let absent: Vec<String> = absent.map(str::to_owned).collect();
    let required = [required::<Label>(), required::<R>()].concat();
    let missing: Vec<String> =
        absent.iter().filter(|name| required.contains(&name.as_str())).cloned().collect();
    if !missing.is_empty() {
        return Err(ReportError::Columns { path: path.into(), missing });
    }
    let (of_label, of_row) = (columns::<Label>(&header), columns::<R>(&header));
    // A key without a dot is a table, maybe of another crate: its column is known by its place.
    let first = of_row.iter().position(Option::is_some).unwrap_or(of_row.len());
    let keys = header.iter().zip(&of_label).enumerate().map(|(at, (name, of_label))| {
        name.contains('.') || (at < first && of_label.is_none() && is_setting(name))
    });
    let keys: Vec<bool> = keys.collect();
    // What says whether a row is wanted: those of a point follow each other.
    let of_place = |at: &usize| of_label[*at].is_some() || keys[*at];
    let of_place: Vec<usize> = (0..header.len()).filter(of_place).collect();
    let mut rows = Vec::new();
    let mut latest: Option<(Vec<Vec<u8>>, bool)> = None;
    let mut bytes = csv::ByteRecord::new();
    while reader.read_byte_record(&mut bytes).map_err(|error| line_error(path, &error))? {
        let is_latest = |(place, _): &(Vec<Vec<u8>>, bool)| {
            of_place.iter().zip(place).all(|(&at, cell)| bytes.get(at) == Some(cell))
        };
        let known = latest.as_ref().filter(|latest| is_latest(latest)).map(|latest| latest.1);
        if known == Some(false) {
            continue;
        }
        let line = bytes.position().map_or(1, csv::Position::line);
        let record = csv::StringRecord::from_byte_record(bytes.clone());
        let record = record.map_err(|_| ReportError::Line {
            path: path.into(),
            line,
            column: None,
            problem: "not UTF-8".into(),
        })?;
        let record = restored_record(record);
        let wrong = |(column, problem): (&'static str, String)| ReportError::Line {
            path: path.into(),
            line,
            column: Some(column.into()),
            problem,
        };
        let mut label = row::<Label>(&record, &of_label).map_err(wrong)?;
        label.read_settings(&keys, &header, &record);
        if known.is_none() {
            let cell = |&at: &usize| bytes.get(at).unwrap_or_default().to_vec();
            let is_wanted = wanted(&label);
            latest = Some((of_place.iter().map(cell).collect(), is_wanted));
            if !is_wanted {
                continue;
            }
        }
        rows.push((label, row::<R>(&record, &of_row).map_err(wrong)?));
    }
    Ok(Rows { rows, incomplete_line, absent })
}

/// What compressed bytes hold, as far as they can be read: a kill may have cut the last ones short.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let (mut content, mut part) = (Vec::new(), vec![0; AT_ONCE]);
    let mut reader = MultiGzDecoder::new(bytes);
    while let Ok(read @ 1..) = reader.read(&mut part) {
        content.extend_from_slice(&part[..read]);
    }
    content
}

/// [`Row::of_text`] of any kind.
pub(super) fn of_text<R: Row>(text: &str) -> Option<Vec<R>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = columns(reader.headers().ok()?);
    reader.records().map(|record| row(&restored_record(record.ok()?), &columns).ok()).collect()
}

/// A row from an object whose values are its cells.
pub(super) fn of_object<'de, R: Row, D: Deserializer<'de>>(deserializer: D) -> Result<R, D::Error> {
    let cells = HashMap::<String, Value>::deserialize(deserializer)?;
    let mut row = R::default();
    for column in R::columns() {
        let read = match cells.get(column.name) {
            None => continue,
            Some(Value::Null) => (column.read)(&mut row, ""),
            Some(Value::String(text)) => (column.read)(&mut row, text),
            Some(value) => (column.read)(&mut row, &value.to_string()),
        };
        read.map_err(D::Error::custom)?;
    }
    Ok(row)
}

/// The column that each cell of a line stands in, by the file's header; `None` of those that such
/// rows do not have.
fn columns<R: Row>(header: &csv::StringRecord) -> Vec<Option<&'static Column<R>>> {
    header.iter().map(|name| R::columns().iter().find(|column| column.name == name)).collect()
}

/// The row in a line, or the column whose cell is wrong and what is wrong with it.
fn row<R: Row>(
    record: &csv::StringRecord,
    columns: &[Option<&'static Column<R>>],
) -> Result<R, (&'static str, String)> {
    let mut row = R::default();
    for (cell, column) in record.iter().zip(columns) {
        if let Some(column) = column {
            (column.read)(&mut row, cell).map_err(|problem| (column.name, problem))?;
        }
    }
    Ok(row)
}

fn names<R: Row>() -> Vec<&'static str> {
    R::columns().iter().map(|column| column.name).collect()
}

/// Columns without which rows say nothing. Any other may be absent, as in files of earlier
/// versions: its values are.
fn required<R: Row>() -> Vec<&'static str> {
    R::columns().iter().filter(|column| column.given).map(|column| column.name).collect()
}

/// The content up to and with its last line break.
fn whole_lines(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    &content[..end]
}

fn line_error(path: &Path, error: &csv::Error) -> ReportError {
    let line = error.position().map_or(1, csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells where the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "not UTF-8".into(),
        _ => error.to_string(),
    };
    ReportError::Line { path: path.into(), line, column: None, problem }
}

fn header_line<R>(
    labels: &Labels,
    columns: &[&Column<R>],
    path: &Path,
) -> Result<Vec<u8>, ReportError> {
    let names = labels.names().into_iter().chain(columns.iter().map(|column| column.name));
    line(names.map(|name| Cell::Text(name.into())).collect(), path)
}

/// The line of a row under its label.
fn row_line<R>(
    labels: &Labels,
    label: &Label,
    columns: &[&Column<R>],
    row: &R,
    path: &Path,
) -> Result<Vec<u8>, ReportError> {
    let cells = columns.iter().map(|column| column.written(row));
    let cells: Result<Vec<Cell>, csv::Error> = cells.collect();
    line([labels.cells(label), cells.map_err(ReportError::row(path))?].concat(), path)
}

/// One line of a file.
fn line(mut cells: Vec<Cell>, path: &Path) -> Result<Vec<u8>, ReportError> {
    cells.iter_mut().for_each(Cell::make_harmless);
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(&cells).map_err(ReportError::row(path))?;
    let mut line = writer.into_inner().map_err(ReportError::row(path))?;
    let end = line.len().saturating_sub(1);
    for byte in &mut line[..end] {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    Ok(line)
}
