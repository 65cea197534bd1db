//! Result files in CSV: a row is on disk as soon as it is known, and a kill costs at most that row.
//!
//! A row is one line, added with one write. What follows the last line break is a row that a kill
//! has cut short: readers leave it out and say so, and a writer that goes on with the file removes
//! it.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ReportError;
use super::label::{Label, Labels};
use super::table::Cell;
use flitlab_base::FileError;

/// A kind of row; its fields' names are the columns.
pub trait Row: Serialize + DeserializeOwned + Default {
    /// Columns without which rows say nothing. Any other may be absent, as in files of earlier
    /// versions: its values are.
    fn required() -> Vec<&'static str>;

    /// The columns, in their order.
    fn names() -> Vec<&'static str>;

    /// The row in a line of a file with this header.
    ///
    /// This, [`Row::of_text`], [`Row::text`] and [`Row::cells`] have no type parameters. So they are
    /// compiled, and optimised, in the crate of the rows: a file may have millions of cells.
    ///
    /// # Errors
    /// If a cell is wrong or missing.
    fn of_record(
        record: &::csv::StringRecord,
        header: &::csv::StringRecord,
    ) -> Result<Self, ::csv::Error>;

    /// [`rows_of_text`] of this kind.
    ///
    /// # Errors
    /// If the text is not that of rows of this kind.
    fn of_text(text: &str) -> Result<Vec<Self>, ::csv::Error>;

    /// [`rows_text`] of this kind.
    fn text(rows: &[Self]) -> String;

    /// The cells, in the order of the columns.
    ///
    /// # Errors
    /// If a value that must be there is no finite number.
    fn cells(&self) -> Result<Vec<Cell>, ::csv::Error>;
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
pub struct RowWriter<R> {
    path: PathBuf,
    file: File,
    labels: Labels,
    row: PhantomData<fn(&R)>,
}

impl<R: Row> RowWriter<R> {
    /// Begins a new file with the header.
    ///
    /// # Errors
    /// If the file exists or can't be written.
    pub fn create(path: impl Into<PathBuf>, labels: Labels) -> Result<Self, ReportError> {
        let path = path.into();
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        let file = file.map_err(FileError::write(&path))?;
        Self { path, file, labels, row: PhantomData }.begin()
    }

    /// Adds a row; when this returns, the whole line has been handed to the operating system. Line
    /// breaks inside texts become spaces.
    ///
    /// # Errors
    /// If the file can't be written, or the row holds a fraction that is not a number.
    pub fn write(&mut self, label: &Label, row: &R) -> Result<(), ReportError> {
        let line = row_line(&self.labels, label, row, &self.path)?;
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
        let mut writer = Self::create(path, labels)?;
        rows.into_iter().try_for_each(|(label, row)| writer.write(label, row))
    }

    fn begin(mut self) -> Result<Self, ReportError> {
        let header = header_line::<R>(&self.labels, &self.path)?;
        self.put(&header)?;
        Ok(self)
    }

    fn put(&mut self, line: &[u8]) -> Result<(), ReportError> {
        let written = self.file.write_all(line).and_then(|()| self.file.flush());
        Ok(written.map_err(FileError::write(&self.path))?)
    }
}

/// Rows of plain fields as a whole CSV file, the fields' names as its header.
pub fn rows_text<R: Serialize>(rows: &[R]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("rows of plain fields");
    }
    String::from_utf8(writer.into_inner().expect("a buffer in memory")).expect("CSV of texts")
}

/// Labelled rows as a whole CSV file.
pub fn labelled_text<'r, R: Row + 'r>(
    labels: &Labels,
    rows: impl IntoIterator<Item = (&'r Label, &'r R)>,
) -> String {
    let nowhere = Path::new("");
    let mut text = header_line::<R>(labels, nowhere).expect("rows of plain fields");
    for (label, row) in rows {
        text.extend(row_line(labels, label, row, nowhere).expect("rows of plain fields"));
    }
    String::from_utf8(text).expect("CSV of texts")
}

/// Reads back what [`rows_text`] wrote.
///
/// # Errors
/// If the text is not that of rows of this kind.
pub fn rows_of_text<R: DeserializeOwned>(text: &str) -> Result<Vec<R>, ::csv::Error> {
    ::csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}

/// Reads a result file: each row with as much of its label as the file has. Columns may come in any
/// order, others beside them are skipped, and values whose column is not there are absent.
///
/// # Errors
/// If the file can't be read, a required column is missing, or a cell is wrong: file, line and
/// column are named.
pub fn read<R: Row>(path: &Path, labels: &Labels) -> Result<Rows<(Label, R)>, ReportError> {
    let content = fs::read(path).map_err(FileError::read(path))?;
    let whole = whole_lines(&content);
    let lines = whole.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let incomplete_line = (whole.len() < content.len()).then_some(lines + 1);

    let mut reader = csv::Reader::from_reader(whole);
    let header = reader.headers().map_err(|error| line_error(path, &error, None))?.clone();
    let known = labels.names().into_iter().chain(R::names());
    let absent = known.filter(|&name| !header.iter().any(|column| column == name));
    let absent: Vec<String> = absent.map(str::to_owned).collect();
    let required = [Label::required(), R::required()].concat();
    let missing: Vec<String> =
        absent.iter().filter(|name| required.contains(&name.as_str())).cloned().collect();
    if !missing.is_empty() {
        return Err(ReportError::Columns { path: path.into(), missing });
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| line_error(path, &error, None))?;
        let read = Label::of_record(&record, &header).and_then(|mut label| {
            label.read_settings(&header, &record);
            Ok((label, R::of_record(&record, &header)?))
        });
        match read {
            Ok(row) => rows.push(row),
            Err(error) => {
                let column = wrong_column::<Label>(path, &header, &record)?;
                let column = column.or(wrong_column::<R>(path, &header, &record)?);
                return Err(line_error(path, &error, column));
            }
        }
    }
    Ok(Rows { rows, incomplete_line, absent })
}

/// The content up to and with its last line break.
fn whole_lines(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    &content[..end]
}

fn line_error(path: &Path, error: &csv::Error, column: Option<String>) -> ReportError {
    let line = error.position().map_or(1, csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => err.kind().to_string(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} cells where the header has {expected_len}")
        }
        csv::ErrorKind::Utf8 { .. } => "not UTF-8".into(),
        _ => error.to_string(),
    };
    ReportError::Line { path: path.into(), line, column, problem }
}

/// The first column whose cell is wrong, found by putting right all cells after it: the error
/// itself often does not say.
fn wrong_column<R: Row>(
    path: &Path,
    header: &csv::StringRecord,
    record: &csv::StringRecord,
) -> Result<Option<String>, ReportError> {
    let names = R::names();
    let good = line(&R::default().cells().map_err(ReportError::row(path))?, path)?;
    let mut good = csv::ReaderBuilder::new().has_headers(false).from_reader(good.as_slice());
    let cells = good.records().next().and_then(Result::ok).unwrap_or_default();
    let good_cell = |name: &str| {
        names.iter().position(|&other| other == name).and_then(|at| cells.get(at)).unwrap_or("")
    };
    let wrong = (0..header.len()).find(|&last| {
        let mixed: csv::StringRecord = header
            .iter()
            .zip(record)
            .enumerate()
            .map(|(at, (name, cell))| if at <= last { cell } else { good_cell(name) })
            .collect();
        R::of_record(&mixed, header).is_err()
    });
    Ok(wrong.and_then(|at| header.get(at)).map(str::to_owned))
}

fn header_line<R: Row>(labels: &Labels, path: &Path) -> Result<Vec<u8>, ReportError> {
    let names = labels.names().into_iter().chain(R::names());
    line(&names.map(|name| Cell::Text(name.into())).collect::<Vec<_>>(), path)
}

/// The line of a row under its label.
fn row_line<R: Row>(
    labels: &Labels,
    label: &Label,
    row: &R,
    path: &Path,
) -> Result<Vec<u8>, ReportError> {
    let cells = row.cells().map_err(ReportError::row(path))?;
    line(&[labels.cells(label), cells].concat(), path)
}

/// One line of a file.
fn line(cells: &[Cell], path: &Path) -> Result<Vec<u8>, ReportError> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    writer.serialize(cells).map_err(ReportError::row(path))?;
    let mut line = writer.into_inner().map_err(ReportError::row(path))?;
    let end = line.len().saturating_sub(1);
    for byte in &mut line[..end] {
        if matches!(*byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    Ok(line)
}
