//! TOML as written, with what is set on top of it.
//!
//! Places survive overriding: a value given by `--set` or by a sweep keeps the place in the text
//! that gave it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::printable::without_error_numbers;
use crate::text_file::read_small_text;

use super::nearest::nearest;
use super::{
    Diagnostic, Diagnostics, Entry, Location, Node, ShortForm, Source, Table, Value, syntax,
};

/// A text as a tree, with the values that were set on top of it.
///
/// Syntax errors are kept, and reported with all other mistakes when the document is read.
#[derive(Clone, Debug)]
pub struct Toml {
    /// The outermost table.
    pub root: Table,
    /// The text that was parsed, without values that were set later.
    pub file: Arc<Source>,
    /// Syntax errors, and assignments of [`set`](Self::set) that could not be read.
    pub problems: Vec<Diagnostic>,
    /// Whether the tree can be used in spite of `problems`.
    pub intact: bool,
    pub(super) short_form: Option<ShortForm>,
    sources: usize,
}

/// The scenario whose name is most like that of a missing file.
fn meant(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort();
    let written = path.file_name()?.to_string_lossy();
    let near = names.iter().find(|name| name.strip_suffix(".toml") == Some(&*written));
    let near =
        near.map(String::as_str).or_else(|| nearest(&written, names.iter().map(String::as_str)));
    near.map(|name| path.with_file_name(name))
}

impl Toml {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file can't be read, is not text, or is larger than any scenario.
    pub fn open(path: &Path) -> Result<Self, Diagnostics> {
        match read_small_text(path) {
            Ok(text) => Ok(Self::parse(&path.display().to_string(), &text)),
            Err(error) => {
                let missing = error.kind() == io::ErrorKind::NotFound;
                let why = match missing {
                    true => "there is no such file".into(),
                    false => without_error_numbers(&error.to_string()),
                };
                Diagnostics::check(vec![Diagnostic {
                    message: format!("can't read the scenario {}: {why}", path.display()),
                    label: String::new(),
                    place: None,
                    help: meant(path)
                        .filter(|_| missing)
                        .map(|meant| format!("did you mean {}?", meant.display())),
                }])
                .map(|()| unreachable!("one diagnostic was given"))
            }
        }
    }

    /// Parses a text. `path` is its name in messages, and the files that it names are looked for
    /// beside that path.
    pub fn parse(path: &str, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let file = Arc::new(Source {
            name: path.into(),
            text: text.into(),
            first_line: 1,
            order: 0,
            typed: false,
        });
        let parsed = syntax::parse(&file);
        Self {
            root: parsed.root,
            file,
            problems: parsed.problems,
            intact: parsed.intact,
            short_form: None,
            sources: 1,
        }
    }

    /// The file's text, without what was set on top of it.
    pub fn text(&self) -> &str {
        &self.file.text
    }

    /// Sets a value over the file's: `KEY=VALUE` as given to `--set`, such as `traffic.load=0.3`.
    /// Missing tables of the key are made. An earlier value, even a whole table, is replaced. The
    /// value is TOML; other text is taken as a string, so that quotes may be left out. Mistakes are
    /// kept and reported when the document is read.
    pub fn set(&mut self, assignment: &str) {
        self.set_by("command line", "--set ", assignment);
    }

    /// `Document::set` of somebody who calls the assignment's place by another name, and writes
    /// something else in front of it.
    pub fn set_by(&mut self, place: &str, option: &str, assignment: &str) {
        let source = Arc::new(Source {
            name: place.into(),
            text: format!("{option}{assignment}"),
            first_line: 1,
            order: self.sources,
            typed: true,
        });
        self.sources += 1;
        let place = |span| Location { source: source.clone(), span };
        let whole = place(option.len()..source.text.len());
        let Some(equals) = assignment.find('=') else {
            self.problems.push(
                Diagnostic::new(&whole, format!("`{assignment}` sets nothing"))
                    .label("there is no `=`")
                    .help("write --set KEY=VALUE, for example --set traffic.load=0.3"),
            );
            return;
        };
        let key = assignment[..equals].trim();
        let key_start = option.len() + assignment.find(key).unwrap_or(0);
        let key_place = place(key_start..key_start + key.len());
        if key.is_empty() {
            self.problems.push(
                Diagnostic::new(&whole, "there is no key before `=`")
                    .help("write --set KEY=VALUE, for example --set traffic.load=0.3"),
            );
            return;
        }
        let path: Vec<&str> = key.split('.').map(str::trim).collect();
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if path.iter().any(|part| part.is_empty() || !part.chars().all(legal)) {
            self.problems.push(
                Diagnostic::new(&key_place, format!("`{key}` is no key"))
                    .help("a key is names joined by points, for example traffic.load"),
            );
            return;
        }
        let written = assignment[equals + 1..].trim();
        let start = option.len() + equals + 1 + assignment[equals + 1..].find(written).unwrap_or(0);
        let value = place(start..start + written.len());
        match syntax::parse_value(&value) {
            Ok(node) => self.assign(&path, &key_place, node),
            Err(problem) => self.problems.push(problem),
        }
    }

    /// Puts a value at a path, which may be in the short form. Missing tables on the way are made.
    pub fn assign(&mut self, path: &[&str], key_place: &Location, node: Node) {
        let Some(form) = self.short_form else {
            return assign(&mut self.root, path, key_place, node);
        };
        let inside = format!("{}.{}", form.table, form.inside);
        let path = form.path(path, &node, self.get(&inside).is_some());
        assign(&mut self.root, &path, key_place, node);
        if path.contains(&form.table) {
            form.expand(&mut self.root, &mut self.problems);
        }
    }

    /// Removes an outermost key.
    pub fn remove(&mut self, key: &str) {
        self.root.entries.retain(|entry| entry.key != key);
    }

    /// Removes all but one entry of a table.
    pub fn keep_only(&mut self, table: &str, key: &str) {
        let entry = self.root.entries.iter_mut().find(|entry| entry.key == table);
        if let Some(Entry { node: Node { value: Value::Table(table), .. }, .. }) = entry {
            table.entries.retain(|entry| entry.key == key);
        }
    }

    /// Checks that the text is TOML, for callers that don't read it as a scenario.
    ///
    /// # Errors
    /// The syntax errors.
    pub fn syntax(&self) -> Result<(), Diagnostics> {
        Diagnostics::check(self.problems.clone())
    }

    /// The value at a path such as `traffic.load`; `None` if a part of the path is missing.
    pub fn get(&self, path: &str) -> Option<&Node> {
        let mut parts = path.split('.');
        let mut node = self.root.get(parts.next()?)?;
        for part in parts {
            let Value::Table(table) = &node.value else { return None };
            node = table.get(part)?;
        }
        Some(node)
    }

    /// The path of a key in the one table below another, such as `dimensions` in
    /// `[topology.torus]`.
    pub fn below(&self, table: &str, key: &str) -> Option<String> {
        let Value::Table(outer) = &self.get(table)?.value else { return None };
        let [entry] = outer.entries.as_slice() else { return None };
        Some(format!("{table}.{}.{key}", entry.key))
    }

    /// The place to point at for a rule that these keys break together. It is that of the first key
    /// that is written, with its path. If none is, it is the table of the first key, or the file's
    /// start.
    pub fn blame(&self, paths: &[&str]) -> (Location, Option<String>) {
        if let Some((path, node)) = paths.iter().find_map(|path| Some((*path, self.get(path)?))) {
            return (node.place.clone(), Some(path.into()));
        }
        let table = paths[0].rsplit_once('.').and_then(|(table, _)| self.get(table));
        (table.map_or_else(|| self.start(), |node| node.place.clone()), None)
    }

    /// The first line that is not empty or a comment: the place of things that are missing
    /// altogether.
    pub fn start(&self) -> Location {
        let place = |span| Location { source: self.file.clone(), span };
        let first =
            self.root.entries.iter().filter(|entry| !entry.key_place.source.typed).find_map(
                |entry| {
                    let start = entry.key_place.span.start.min(entry.node.place.span.start);
                    (entry.key_place.source.order == 0).then_some(start)
                },
            );
        let start = first.unwrap_or(0);
        let line = self.file.text[..start].rfind('\n').map_or(0, |at| at + 1);
        place(line..line)
    }
}

fn assign(table: &mut Table, path: &[&str], key_place: &Location, node: Node) {
    // Sweeps write quoted keys with points, which mean the same as the path.
    let joined = path.join(".");
    let whole = path.len() == 1 || table.entry(&joined).is_some();
    let key = if whole { joined.as_str() } else { path[0] };
    let place = match table.entries.iter().position(|entry| entry.key == key) {
        Some(place) => place,
        None => {
            let value = Value::Table(Table::default());
            let key_place = key_place.clone();
            let node = Node { value, place: key_place.clone() };
            table.entries.push(Entry { key: key.into(), key_place, node });
            table.entries.len() - 1
        }
    };
    let entry = &mut table.entries[place];
    if whole {
        entry.key_place = key_place.clone();
        entry.node = node;
        return;
    }
    if !matches!(entry.node.value, Value::Table(_)) {
        entry.node = Node { value: Value::Table(Table::default()), place: key_place.clone() };
    }
    if let Value::Table(inner) = &mut entry.node.value {
        assign(inner, &path[1..], key_place, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(document: &Toml, path: &str) -> String {
        let node = document.get(path).unwrap();
        format!("{}:{}", node.place.source.name, node.place.text())
    }

    #[test]
    fn what_is_set_last_holds_and_keeps_its_place() {
        let mut document = Toml::parse("a.toml", "[link]\nrate = \"60 Gb/s\"\n");
        document.set("link.rate=70 Gb/s");
        document.set(" link.rate = 80 Gb/s ");
        document.set("traffic.pattern.hotspot.share=0.5");
        assert_eq!(text(&document, "link.rate"), "command line:80 Gb/s");
        assert_eq!(text(&document, "traffic.pattern.hotspot.share"), "command line:0.5");
        assert!(document.problems.is_empty());
    }

    #[test]
    fn a_quoted_key_with_points_is_replaced_too() {
        let mut document = Toml::parse("a.toml", "[sweep.grid]\n\"traffic.load\" = [0.1]\n");
        document.set("sweep.grid.traffic.load=[0.2]");
        let Some(Node { value: Value::Table(grid), .. }) = document.get("sweep.grid") else {
            panic!()
        };
        assert_eq!(grid.entries.len(), 1);
        assert_eq!(grid.entries[0].node.place.text(), "[0.2]");
    }

    #[test]
    fn the_order_is_that_of_the_file() {
        let document = Toml::parse("a.toml", "z = 1\nb.y = 2\na = 3\nb.x = 4\n");
        let keys: Vec<&str> = document.root.entries.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["z", "b", "a"]);
        let Value::Table(b) = &document.get("b").unwrap().value else { panic!() };
        let keys: Vec<&str> = b.entries.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["y", "x"]);
    }
}
