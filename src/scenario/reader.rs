//! Walks a scenario's tables, key by key.
//!
//! The code that reads a key is the key's only description: its name, kind, default and purpose. The
//! same walk, without a document, writes the reference ([`Reader::documenting`]); with one, it
//! records every value, given or default, for the resolved scenario, and knows at the end of each
//! table which keys nobody asked for. So the four can't drift apart.

use std::collections::BTreeSet;

use super::{
    diagnostic::{Diagnostic, Location},
    document::{Document, Entry, Node, Table, Value},
    kind::{Kind, Slot, nearest},
    reference::{Item, KeyDoc, Reference},
    sweep,
};

/// What holds if a key is absent.
pub(super) enum Presence {
    Required,
    /// Nothing, and nothing is recorded.
    Optional,
    /// A value, as TOML, and where it comes from if it is no constant.
    Default(String, Option<&'static str>),
}

pub(super) struct Reader<'d> {
    /// `None` while documenting.
    pub document: Option<&'d Document>,
    pub(super) scope: Scope<'d>,
    pub problems: Vec<Diagnostic>,
    /// Paths of keys whose values can't be used.
    pub broken: BTreeSet<String>,
    /// Path and TOML text of each key, in the order of reading.
    pub resolved: Vec<(String, String)>,
    pub items: Vec<Item>,
    /// Whether keys that only the sweep gives are not missed.
    pub for_sweep: bool,
}

/// The table that is being read.
pub(super) struct Scope<'d> {
    pub path: String,
    /// The table in messages: `[link]`, or a choice's name.
    pub title: String,
    /// `None` if it is not written.
    pub table: Option<&'d Table>,
    /// Where to report what it lacks.
    pub place: Option<Location>,
    /// What to write around an example of a missing key.
    pub frame: Option<String>,
    /// The table itself is wrong, so what it lacks is no news.
    pub quiet: bool,
    asked: Vec<&'static str>,
    /// Required keys that are absent, each with an example.
    missing: Vec<(&'static str, String)>,
}

impl<'d> Scope<'d> {
    pub fn new(
        path: String,
        title: String,
        table: Option<&'d Table>,
        place: Option<Location>,
    ) -> Self {
        Self {
            path,
            title,
            table,
            place,
            frame: None,
            quiet: false,
            asked: Vec::new(),
            missing: Vec::new(),
        }
    }
}

impl<'d> Reader<'d> {
    /// Reads a document.
    pub fn reading(document: &'d Document) -> Self {
        let place = document.start();
        let scope =
            Scope::new(String::new(), "the scenario".into(), Some(&document.root), Some(place));
        Self::new(Some(document), scope)
    }

    /// Reads nothing and notes down every key.
    pub fn documenting() -> Self {
        Self::new(None, Scope::new(String::new(), String::new(), None, None))
    }

    fn new(document: Option<&'d Document>, scope: Scope<'d>) -> Self {
        Self {
            document,
            scope,
            problems: Vec::new(),
            broken: BTreeSet::new(),
            resolved: Vec::new(),
            items: Vec::new(),
            for_sweep: false,
        }
    }

    pub fn is_documenting(&self) -> bool {
        self.document.is_none()
    }

    /// Whether the table has the key.
    pub fn has(&self, key: &str) -> bool {
        self.scope.table.is_some_and(|table| table.get(key).is_some())
    }

    /// Where the key's value is written, or its table's header.
    pub fn place(&self, key: &str) -> Option<Location> {
        Some(self.scope.table?.get(key)?.place.clone())
    }

    /// Where the key itself is written.
    pub fn key_place(&self, key: &str) -> Option<Location> {
        let entry = self.scope.table?.entry(key)?;
        Some(entry.key_place.clone())
    }

    /// A key with a constant default; the default too if the value is wrong.
    pub fn value<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        default: K::Value,
        doc: &'static str,
    ) -> K::Value {
        let presence = Presence::Default(kind.show(&default), None);
        self.key(key, kind, presence, doc).unwrap_or(default)
    }

    /// A key whose default follows from other keys, as `note` says.
    pub fn value_from<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        default: K::Value,
        note: &'static str,
        doc: &'static str,
    ) -> K::Value {
        let presence = Presence::Default(kind.show(&default), Some(note));
        self.key(key, kind, presence, doc).unwrap_or(default)
    }

    /// A key that must be there; `None` if it isn't, or is wrong.
    pub fn required<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        doc: &'static str,
    ) -> Option<K::Value> {
        self.key(key, kind, Presence::Required, doc)
    }

    /// A key without a default.
    pub fn optional<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        doc: &'static str,
    ) -> Option<K::Value> {
        self.key(key, kind, Presence::Optional, doc)
    }

    fn key<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        presence: Presence,
        doc: &'static str,
    ) -> Option<K::Value> {
        let Some(node) = self.find(key, &presence, kind.example()) else {
            match presence {
                _ if self.is_documenting() => {
                    let path = self.path(key);
                    let key = KeyDoc::new(path, kind.describe(), presence, kind.example(), doc);
                    self.items.push(Item::Key(key));
                }
                Presence::Default(text, _) => self.record(key, text),
                _ => {}
            }
            return None;
        };
        match kind.parse(Slot { key, element: false }, node) {
            Ok(value) => {
                self.record(key, kind.show(&value));
                Some(value)
            }
            Err(problems) => {
                self.problems.extend(problems);
                self.mark_broken(key);
                None
            }
        }
    }

    /// The key's value, if it is written and not broken; notes that it was asked for, and that it
    /// is missing if it has to be there.
    pub fn find(
        &mut self,
        key: &'static str,
        presence: &Presence,
        example: String,
    ) -> Option<&'d Node> {
        self.scope.asked.push(key);
        let node = self.scope.table.and_then(|table| table.get(key));
        match node {
            Some(Node { value: Value::Broken, .. }) => {
                self.mark_broken(key);
                None
            }
            None if matches!(presence, Presence::Required) && !self.is_documenting() => {
                self.scope.missing.push((key, example));
                self.mark_broken(key);
                None
            }
            node => node,
        }
    }

    /// Accepts a key without looking at it.
    pub fn ignore(&mut self, key: &'static str) {
        self.scope.asked.push(key);
    }

    /// Refuses a key that does not go with the others.
    pub fn forbid(&mut self, key: &'static str, message: &str, help: &str) {
        self.scope.asked.push(key);
        if let Some(place) = self.key_place(key) {
            self.problems.push(Diagnostic::new(&place, message).help(help));
            self.mark_broken(key);
        }
    }

    /// A table that may be absent: then all its keys are.
    pub fn table<T>(
        &mut self,
        key: &'static str,
        doc: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let node = self.find(key, &Presence::Optional, String::new());
        let path = self.path(key);
        if self.is_documenting() {
            self.items.push(Item::Section { path: path.clone(), doc });
        }
        let scope = self.table_scope(key, path, node);
        self.within(scope, read)
    }

    /// A table whose absence means something itself.
    pub fn optional_table<T>(
        &mut self,
        key: &'static str,
        example: &'static str,
        doc: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let node = self.find(key, &Presence::Optional, String::new());
        let path = self.path(key);
        if node.is_none() && !self.is_documenting() {
            return None;
        }
        let mut scope = self.table_scope(key, path.clone(), node);
        if scope.quiet
            && let Some(problem) = self.problems.last_mut()
        {
            problem.help = Some(format!("write for example `{key} = {example}`"));
        }
        scope.frame = Some(format!("{key} = {{ ... }}"));
        let (resolved, items) = (self.resolved.len(), self.items.len());
        let value = self.within(scope, read);
        let text = self.inline(resolved);
        if node.is_some() {
            self.record(key, text);
            return Some(value);
        }
        let mut doc = KeyDoc::new(path, "a table".into(), Presence::Optional, example.into(), doc);
        doc.fields = self.fields(items);
        self.items.push(Item::Key(doc));
        None
    }

    /// A list of tables, empty by default. Each comes with its place.
    pub fn tables<T>(
        &mut self,
        key: &'static str,
        example: &'static str,
        doc: &'static str,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Vec<(Location, T)> {
        let node = self.find(key, &Presence::Optional, String::new());
        let path = self.path(key);
        if self.is_documenting() {
            let items = self.items.len();
            let scope = Scope::new(path.clone(), String::new(), None, None);
            self.within(scope, &mut read);
            let presence = Presence::Default("[]".into(), None);
            let mut doc =
                KeyDoc::new(path, "a list of tables".into(), presence, example.into(), doc);
            doc.fields = self.fields(items);
            self.items.push(Item::Key(doc));
            return Vec::new();
        }
        let mut texts = Vec::new();
        let mut values = Vec::new();
        match node.map(|node| (node, &node.value)) {
            None => {}
            Some((_, Value::List(elements))) => {
                for element in elements {
                    let resolved = self.resolved.len();
                    let mut scope = self.table_scope(key, path.clone(), Some(element));
                    scope.title = format!("an element of `{key}`");
                    if let Some(value) = self.within(scope, &mut read) {
                        values.push((element.place.clone(), value));
                    } else {
                        self.mark_broken(key);
                    }
                    texts.push(self.inline(resolved));
                }
            }
            Some((node, _)) => {
                self.problems.push(
                    Diagnostic::new(&node.place, format!("`{key}` needs a list of tables"))
                        .label(format!("this is {}", node.what()))
                        .help(format!("write for example `{key} = {example}`")),
                );
                self.mark_broken(key);
            }
        }
        self.record(key, format!("[{}]", texts.join(", ")));
        values
    }

    /// The scope of a table's node, which may be absent or no table at all.
    fn table_scope(
        &mut self,
        key: &'static str,
        path: String,
        node: Option<&'d Node>,
    ) -> Scope<'d> {
        let title = format!("[{path}]");
        let place = node.map(|node| node.place.clone()).or_else(|| self.scope.place.clone());
        let mut scope = Scope::new(path, title, None, place);
        scope.quiet = self.broken.contains(&scope.path);
        match node {
            Some(Node { value: Value::Table(table), .. }) => scope.table = Some(table),
            Some(node) => {
                self.problems.push(
                    Diagnostic::new(&node.place, format!("`{key}` needs a table"))
                        .label(format!("this is {}", node.what()))
                        .help(format!(
                            "write `{key} = {{ ... }}`, or its keys below a header [{}]",
                            scope.path
                        )),
                );
                scope.quiet = true;
                self.mark_broken(key);
            }
            None => scope.frame = Some(scope.title.clone()),
        }
        scope
    }

    /// Reads within a scope, then reports what it lacks and what nobody asked for.
    pub fn within<T>(&mut self, scope: Scope<'d>, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let value = read(self);
        let scope = std::mem::replace(&mut self.scope, outer);
        self.leave(&scope);
        value
    }

    /// Ends the outermost table.
    pub fn finish(&mut self) {
        let empty = Scope::new(String::new(), String::new(), None, None);
        let scope = std::mem::replace(&mut self.scope, empty);
        self.leave(&scope);
    }

    fn leave(&mut self, scope: &Scope<'d>) {
        if !scope.quiet {
            self.report_missing(scope);
        }
        for entry in scope.table.into_iter().flat_map(|table| &table.entries) {
            if !scope.asked.contains(&entry.key.as_str()) {
                self.problems.push(unknown(scope, &entry.key, &entry.key_place));
            }
        }
    }

    fn report_missing(&mut self, scope: &Scope<'d>) {
        let swept = |key: &str| {
            let path = join(&scope.path, key);
            self.document.is_some_and(|document| sweep::gives(document, &path)).then_some(path)
        };
        let missing: Vec<&(&str, String)> = scope
            .missing
            .iter()
            .filter(|(key, _)| !(self.for_sweep && swept(key).is_some()))
            .filter(|(key, _)| !self.reported_otherwise(scope, key))
            .collect();
        let (Some(place), false) = (&scope.place, missing.is_empty()) else { return };
        let names: Vec<String> = missing.iter().map(|(key, _)| format!("`{key}`")).collect();
        let examples: Vec<String> =
            missing.iter().map(|(key, example)| format!("{key} = {example}")).collect();
        let message = format!("{} needs {}", scope.title, names.join(" and "));
        let help = if let Some(path) = missing.iter().find_map(|(key, _)| swept(key)) {
            format!(
                "only [sweep] gives it: run the sweep, or give it for one run with --set \
                 {path}=VALUE"
            )
        } else {
            match &scope.frame {
                None => format!("add for example `{}`", examples.join("` and `")),
                Some(frame) if frame.starts_with('[') => {
                    format!("add a line {frame} and below it `{}`", examples.join("` and `"))
                }
                Some(frame) => {
                    format!("write for example `{}`", frame.replace("...", &examples.join(", ")))
                }
            }
        };
        self.problems.push(Diagnostic::new(place, message).help(help));
    }

    /// Whether a missing key will be reported as a misspelt or misplaced one.
    fn reported_otherwise(&self, scope: &Scope<'_>, key: &'static str) -> bool {
        let Some(document) = self.document else { return false };
        if let Some(table) = scope.table {
            let misspelt = |entry: &Entry| {
                !scope.asked.contains(&entry.key.as_str())
                    && nearest(&entry.key, scope.asked.iter().copied()) == Some(key)
            };
            return table.entries.iter().any(misspelt) || document.root.get(key).is_some();
        }
        let mut table = &document.root;
        for part in scope.path.split('.') {
            match table.get(part).map(|node| &node.value) {
                Some(Value::Table(inner)) => table = inner,
                _ => {
                    let last = scope.path.rsplit('.').next().unwrap_or(part);
                    let meant =
                        |entry: &Entry| entry.key == last || nearest(&entry.key, [part]).is_some();
                    return table.entries.iter().any(meant);
                }
            }
        }
        false
    }

    /// Whether the table has a key that was meant to be this one.
    pub fn has_misspelt(&self, key: &str) -> bool {
        let entries = self.scope.table.into_iter().flat_map(|table| &table.entries);
        entries.into_iter().any(|entry| nearest(&entry.key, [key]).is_some())
    }

    pub fn path(&self, key: &str) -> String {
        join(&self.scope.path, key)
    }

    pub fn mark_broken(&mut self, key: &str) {
        let path = self.path(key);
        self.broken.insert(path);
    }

    pub fn record(&mut self, key: &str, text: String) {
        let path = self.path(key);
        self.resolved.push((path, text));
    }

    /// Takes back what was recorded from `start` on, as one inline table.
    pub fn inline(&mut self, start: usize) -> String {
        let inner: Vec<String> = self
            .resolved
            .drain(start..)
            .map(|(path, text)| {
                let key = path.rsplit('.').next().unwrap_or(&path).to_owned();
                format!("{key} = {text}")
            })
            .collect();
        if inner.is_empty() { "{}".into() } else { format!("{{ {} }}", inner.join(", ")) }
    }

    /// Takes back the keys documented from `start` on.
    pub fn fields(&mut self, start: usize) -> Vec<KeyDoc> {
        let key = |item| match item {
            Item::Key(key) => Some(key),
            Item::Section { .. } => None,
        };
        self.items.drain(start..).filter_map(key).collect()
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}

/// A key nobody asked for: the nearest name in its table, else where the name is at home.
fn unknown(scope: &Scope<'_>, key: &str, place: &Location) -> Diagnostic {
    let whereabouts =
        if scope.path.is_empty() { String::new() } else { format!(" in {}", scope.title) };
    let problem = Diagnostic::new(place, format!("unknown key `{key}`{whereabouts}"));
    let keys = match scope.asked.len() {
        0 => format!("{} takes no keys", scope.title),
        1 => format!("the only key here is `{}`", scope.asked[0]),
        _ => format!("the keys here are {}", scope.asked.join(", ")),
    };
    let homes = Reference::new().homes(key);
    if let Some(near) = nearest(key, scope.asked.iter().copied())
        && (homes.is_empty() || near.eq_ignore_ascii_case(key))
    {
        return problem.label(format!("did you mean `{near}`?")).help(keys);
    }
    if homes.is_empty() {
        return problem.help(keys);
    }
    problem.label(format!("did you mean {}?", homes.join(" or "))).help(keys)
}
