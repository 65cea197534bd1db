//! The CSV file of a matrix.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::{Weight, repeated};
use flitlab_base::document::{Diagnostic, Location, Source};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{NodeName, Places};

/// Mistakes shown of one file; the others are counted.
const SHOWN: usize = 10;

const HEADER: [&str; 3] = ["source", "destination", "weight"];

/// Reads the weights of a CSV file; mistakes point into it.
pub(super) fn read(
    path: &Path,
    place: &Location,
    places: Option<Places<'_>>,
) -> Result<Vec<Weight>, Vec<Diagnostic>> {
    let text = flitlab_base::text_file::read_text(path).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".into(),
            _ => error.to_string(),
        };
        let problem = Diagnostic::new(place, format!("can't read {}: {why}", path.display()));
        vec![problem.help("the path is taken from the scenario's own folder")]
    })?;
    let order = usize::MAX;
    let name = path.display().to_string();
    let source = Arc::new(Source { name, text, first_line: 1, order, typed: false });
    let mut file =
        MatrixFile { source: source.clone(), names: NodeName { places }, problems: Vec::new() };
    let entries = file.read();
    let hidden = file.problems.len().saturating_sub(SHOWN);
    file.problems.truncate(SHOWN);
    if let (true, Some(last)) = (hidden > 0, file.problems.last_mut()) {
        let more = format!("{hidden} more lines of this file are wrong");
        last.help = Some(last.help.take().map_or(more.clone(), |help| format!("{help}; {more}")));
    }
    if file.problems.is_empty() { Ok(entries) } else { Err(file.problems) }
}

struct MatrixFile<'t> {
    source: Arc<Source>,
    names: NodeName<'t>,
    problems: Vec<Diagnostic>,
}

impl MatrixFile<'_> {
    /// The line's text that begins at this byte.
    fn line(&self, start: usize) -> Location {
        let text = &self.source.text;
        // The parser's positions stand before empty lines that it skips.
        let start = start + text[start..].len() - text[start..].trim_start().len();
        let length = text[start..].find(['\r', '\n']).unwrap_or(text.len() - start);
        Location { source: self.source.clone(), span: start..start + length }
    }

    fn read(&mut self) -> Vec<Weight> {
        let source = self.source.clone();
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(source.text.as_bytes());
        let mut entries: Vec<Weight> = Vec::new();
        let mut seen = HashSet::new();
        let mut record = csv::StringRecord::new();
        let mut first = true;
        // The text is UTF-8 and rows may have any length, so nothing is left that could fail.
        while reader.read_record(&mut record).is_ok_and(|more| more) {
            let start = record.position().map_or(0, |position| narrow(position.byte()));
            let place = self.line(start.min(source.text.len()));
            if std::mem::take(&mut first) {
                if record.iter().ne(HEADER) {
                    self.problems.push(
                        Diagnostic::new(&place, "the file's first line must be its header")
                            .help("write source,destination,weight"),
                    );
                }
                continue;
            }
            match self.row(&record, &place) {
                Ok(entry) if seen.insert((entry.0, entry.1)) => entries.push(entry),
                Ok(_) => self.problems.push(repeated(&place)),
                Err(problem) => self.problems.push(problem),
            }
        }
        if first {
            let place = self.line(0);
            self.problems.push(
                Diagnostic::new(&place, "the matrix file is empty")
                    .help("its first line is source,destination,weight"),
            );
        }
        entries
    }

    fn row(&self, record: &csv::StringRecord, place: &Location) -> Result<Weight, Diagnostic> {
        if record.len() != 3 {
            let columns = record.len();
            let message = format!("a line has 3 columns, this one has {columns}");
            return Err(Diagnostic::new(place, message)
                .help("source,destination,weight; coordinates are joined by `;`, as in 0;1;3"));
        }
        let source = self.node(&record[0], place)?;
        let destination = self.node(&record[1], place)?;
        let weight: Option<f64> = record[2].parse().ok();
        match weight.filter(|weight| weight.is_finite() && *weight >= 0.0) {
            Some(weight) => Ok((source, destination, weight)),
            None => Err(Diagnostic::new(
                place,
                format!("`{}` is no weight: a number, 0 or above", &record[2]),
            )),
        }
    }

    fn node(&self, text: &str, place: &Location) -> Result<u32, Diagnostic> {
        self.names.of_text(text).map_err(|(message, help)| {
            let mut problem = Diagnostic::new(place, message);
            problem.help = help;
            problem
        })
    }
}
