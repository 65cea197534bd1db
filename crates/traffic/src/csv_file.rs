//! CSV files of users: a header, and rows whose mistakes are told with line and column.

use std::path::Path;
use std::sync::Arc;

use csv::StringRecord;

use flitlab_base::document::{Diagnostic, Location, Source};
use flitlab_base::narrow::narrow;
use flitlab_traces::formats::{Beginning, FileKind, refusal};

/// Mistakes shown of one file; the others are counted.
const SHOWN: usize = 10;

/// A mistake in a row.
pub(super) struct Wrong {
    /// The number of its column, from 0; `None` for the row as a whole.
    pub column: Option<usize>,
    pub message: String,
    pub label: &'static str,
    pub help: Option<String>,
}

impl Wrong {
    pub(super) fn row(message: impl Into<String>) -> Self {
        Self { column: None, message: message.into(), label: "", help: None }
    }

    pub(super) fn column(column: usize, message: impl Into<String>) -> Self {
        Self { column: Some(column), ..Self::row(message) }
    }

    pub(super) fn label(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    pub(super) fn help(self, help: impl Into<Option<String>>) -> Self {
        Self { help: help.into(), ..self }
    }
}

/// The header and the meaning of a file, for messages.
pub(super) struct Shape<'a> {
    pub kind: FileKind,
    /// The file in messages: `matrix`.
    pub noun: &'a str,
    /// The header to write.
    pub header: &'a str,
    /// What is told beside a row with another number of columns; may be empty.
    pub hint: &'a str,
}

/// Reads a file, which the value at `place` names, if that is known: `header` says whether its
/// first row is right, and `row` takes each of the others, which has as many columns.
///
/// # Errors
/// The mistakes; those in rows point into the file.
pub(super) fn read(
    path: &Path,
    place: Option<&Location>,
    shape: &Shape<'_>,
    mut header: impl FnMut(&StringRecord) -> bool,
    mut row: impl FnMut(&StringRecord) -> Result<(), Wrong>,
) -> Result<(), Vec<Diagnostic>> {
    let text = flitlab_base::text_file::read_text(path).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".into(),
            _ => error.to_string(),
        };
        let problem = Diagnostic::unplaced(format!("can't read {}: {why}", path.display()));
        let problem = problem.help("the path is taken from the scenario's own folder");
        vec![Diagnostic { place: place.cloned(), ..problem }]
    })?;
    let name = path.display().to_string();
    let source = Source { name, text, first_line: 1, order: usize::MAX, typed: false };
    let source = Arc::new(source);
    let (problems, hidden) = problems(&source, shape, &mut header, &mut row);
    let Some((last, before)) = problems.split_last() else { return Ok(()) };
    let beginning = Beginning::new(path, source.text.as_bytes());
    if let Some(refusal) = refusal(&beginning, &source.name, shape.kind) {
        let problem = Diagnostic::unplaced(refusal.message).help(refusal.help);
        return Err(vec![Diagnostic { place: place.cloned(), ..problem }]);
    }
    let mut last = last.clone();
    if hidden > 0 {
        let more = format!("{hidden} more lines of this file are wrong");
        last.help = Some(last.help.take().map_or(more.clone(), |help| format!("{help}; {more}")));
    }
    Err(before.iter().cloned().chain([last]).collect())
}

/// The first mistakes, and how many more there are.
fn problems(
    source: &Arc<Source>,
    shape: &Shape<'_>,
    header: &mut dyn FnMut(&StringRecord) -> bool,
    row: &mut dyn FnMut(&StringRecord) -> Result<(), Wrong>,
) -> (Vec<Diagnostic>, usize) {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(source.text.as_bytes());
    let mut record = StringRecord::new();
    let columns = shape.header.split(',').count();
    let mut is_empty = true;
    let (mut problems, mut hidden) = (Vec::new(), 0);
    // The text is UTF-8 and rows may have any length, so nothing is left that could fail.
    while reader.read_record(&mut record).is_ok_and(|more| more) {
        let wrong = if std::mem::take(&mut is_empty) {
            let wrong = Wrong::row("the file's first line must be its header");
            let help = format!("write {}", shape.header);
            if header(&record) { Ok(()) } else { Err(wrong.help(help)) }
        } else if record.len() == columns {
            row(&record)
        } else {
            let has = record.len();
            let message = format!("a line has {columns} columns, this one has {has}");
            let hint = if shape.hint.is_empty() { "" } else { "; " };
            Err(Wrong::row(message).help(format!("{}{hint}{}", shape.header, shape.hint)))
        };
        let Err(wrong) = wrong else { continue };
        if problems.len() == SHOWN {
            hidden += 1;
            continue;
        }
        let start = record.position().map_or(0, |position| narrow(position.byte()));
        let place = place_in_line(source, start, wrong.column);
        let problem = Diagnostic::new(&place, wrong.message).label(wrong.label);
        problems.push(Diagnostic { help: wrong.help, ..problem });
    }
    if is_empty {
        let problem = Diagnostic::new(
            &place_in_line(source, 0, None),
            format!("the {} file is empty", shape.noun),
        );
        problems.push(problem.help(format!("its first line is {}", shape.header)));
    }
    (problems, hidden)
}

/// A column of the line that begins at this byte, or all of it.
fn place_in_line(source: &Arc<Source>, start: usize, column: Option<usize>) -> Location {
    let text = &source.text;
    let start = start.min(text.len());
    let mut rest = &text[start..];
    // The parser's positions stand before empty lines and comments that it skips.
    loop {
        let trimmed = rest.trim_start();
        match trimmed.strip_prefix('#').and_then(|comment| comment.find('\n')) {
            Some(end) => rest = &trimmed[end + 1..],
            None => {
                rest = trimmed;
                break;
            }
        }
    }
    let line = &rest[..rest.find(['\r', '\n']).unwrap_or(rest.len())];
    let start = text.len() - rest.len();
    let all = Location { source: source.clone(), span: start..start + line.len() };
    // Where fields are quoted, commas may be part of them.
    let Some(column) = column.filter(|_| !line.contains('"')) else { return all };
    let mut begin = 0;
    for (number, field) in line.split(',').enumerate() {
        if number == column {
            let begin = start + begin + (field.len() - field.trim_start().len());
            let span = begin..begin + field.trim().len();
            return Location { source: source.clone(), span };
        }
        begin += field.len() + 1;
    }
    all
}
