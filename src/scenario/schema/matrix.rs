//! `matrix`: weights between nodes, in the scenario or in a CSV file beside it.

use std::{collections::HashSet, path::Path, sync::Arc};

use crate::{
    document::{
        Diagnostic, Kind, List, Listed, Location, Node, Reader, Slot, Source, Text, Value,
        wrong_type,
    },
    narrow::narrow,
    topology::{NodeName, NodePair, Places},
    traffic::PatternSpec,
};

type Weight = (u32, u32, f64);

/// Mistakes shown of one file; the others are counted.
const SHOWN: usize = 10;

const HEADER: [&str; 3] = ["source", "destination", "weight"];

/// `[source, destination, weight]`.
#[derive(Clone, Copy)]
struct Weighted<'t>(NodeName<'t>);

impl Kind for Weighted<'_> {
    type Value = Weight;

    fn describe(&self) -> String {
        "[source, destination, weight]".into()
    }

    fn example(&self) -> String {
        format!("[{0}, {0}, 1.5]", self.0.example())
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Weight, Vec<Diagnostic>> {
        let parts = match &node.value {
            Value::List(parts) if parts.len() == 3 => parts,
            Value::List(parts) => {
                let message = "a weight is three things: [source, destination, weight]";
                return Err(vec![
                    Diagnostic::new(&node.place, message)
                        .label(format!("this has {}", parts.len())),
                ]);
            }
            _ => return Err(wrong_type(self, slot, node)),
        };
        let pair = Node { value: Value::List(parts[..2].to_vec()), place: node.place.clone() };
        let pair = NodePair(self.0).parse(slot, &pair);
        let weight = match &parts[2].value {
            Value::Integer(Some(number)) => Some(*number as f64),
            Value::Float(number, _) => Some(*number),
            _ => None,
        };
        let weight =
            weight.filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
                vec![Diagnostic::new(&parts[2].place, "a weight is a number, 0 or above")]
            });
        match (pair, weight) {
            (Ok((source, destination)), Ok(weight)) => Ok((source, destination, weight)),
            (pair, weight) => {
                Err([pair.err(), weight.err()].into_iter().flatten().flatten().collect())
            }
        }
    }

    fn show(&self, value: &Weight) -> String {
        format!("[{}, {}, {}]", self.0.show(&value.0), self.0.show(&value.1), value.2)
    }
}

pub(super) fn read(reader: &mut Reader<'_>, places: Option<Places<'_>>) -> Option<PatternSpec> {
    let file_kind = Text { what: "a file's path", example: "matrix.csv" };
    let list_kind = List {
        kind: Weighted(NodeName { places }),
        noun: "weights",
        length: 1..=usize::MAX,
        example: None,
    };
    let recorded = reader.resolved.len();
    let place = reader.place("file");
    let file = reader.optional(
        "file",
        &file_kind,
        "A CSV file beside the scenario, with the header `source,destination,weight`; nodes are \
         numbers, coordinates such as `0;1;3` (in a torus) or names (elsewhere).",
    );
    let both = file.is_some() && reader.has("list");
    let list = reader.optional("list", &list_kind, "The weights themselves, instead of `file`.");
    let entries = match (file, list) {
        _ if both => {
            let place = reader.key_place("list")?;
            reader.problems.push(
                Diagnostic::new(&place, "`matrix` takes `file` or `list`, not both")
                    .help("keep one of the two"),
            );
            return None;
        }
        (Some(file), _) => {
            let folder = Path::new(&reader.document()?.file.name)
                .parent()
                .map_or_else(Default::default, Path::to_path_buf);
            match from_file(&folder.join(file), &place?, places) {
                Ok(entries) => {
                    // A resolved scenario may go anywhere, so it takes the file's contents along.
                    reader.resolved.truncate(recorded);
                    let listed: Vec<Listed<Weight>> =
                        entries.iter().map(|&value| Listed { value, place: None }).collect();
                    reader.record("list", list_kind.show(&listed));
                    entries
                }
                Err(problems) => {
                    reader.problems.extend(problems);
                    return None;
                }
            }
        }
        (None, Some(list)) => {
            let mut seen = HashSet::new();
            for Listed { value: (source, destination, _), place } in &list {
                if let (false, Some(place)) = (seen.insert((*source, *destination)), place) {
                    reader.problems.push(repeated(place));
                }
            }
            Listed::values(list)
        }
        (None, None) => {
            if let (false, false, Some(place)) =
                (reader.has("file"), reader.has("list"), reader.scope.place.clone())
            {
                reader.problems.push(
                    Diagnostic::new(&place, "`matrix` needs `file` or `list`").help(
                        "write for example `pattern = { matrix = { file = \"matrix.csv\" } }`",
                    ),
                );
            }
            return None;
        }
    };
    let entries: Vec<Weight> = entries.into_iter().filter(|&(.., weight)| weight > 0.0).collect();
    if entries.is_empty() {
        let place = reader.scope.place.clone()?;
        reader.problems.push(Diagnostic::new(&place, "all weights of the matrix are 0"));
        return None;
    }
    Some(PatternSpec::Matrix { entries })
}

fn repeated(place: &Location) -> Diagnostic {
    Diagnostic::new(place, "this pair of nodes has a weight already").label("the second one")
}

/// Reads the weights of a CSV file; mistakes point into it.
fn from_file(
    path: &Path,
    place: &Location,
    places: Option<Places<'_>>,
) -> Result<Vec<Weight>, Vec<Diagnostic>> {
    let text = crate::text_file::read_text(path).map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file".into(),
            _ => error.to_string(),
        };
        vec![
            Diagnostic::new(place, format!("can't read {}: {why}", path.display()))
                .help("the path is taken from the scenario's own folder"),
        ]
    })?;
    let order = usize::MAX;
    let source = Arc::new(Source { name: path.display().to_string(), text, order, typed: false });
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
        let numbers: Result<Vec<u32>, _> =
            text.split(';').map(|number| number.trim().parse::<u32>()).collect();
        let found = match (&numbers, self.names.places) {
            (Err(_), Some(Places::Terminals(_)) | None) => self.names.named(text),
            (Err(_), Some(Places::Torus(_))) => {
                return Err(Diagnostic::new(place, format!("`{text}` is no node"))
                    .help("a node is its number, or its coordinates joined by `;`, as in 0;1;3"));
            }
            (Ok(numbers), places) => {
                let line = matches!(places, Some(Places::Torus(torus)) if torus.dimensions() == 1);
                self.names.find(numbers, numbers.len() > 1 || line)
            }
        };
        found.ok_or_else(|| {
            let problem = Diagnostic::new(place, format!("there is no node {text}"));
            match self.names.range() {
                Some(range) => problem.help(range),
                None => problem,
            }
        })
    }
}
