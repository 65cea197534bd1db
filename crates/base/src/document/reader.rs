//! Reading of a document's tables, key by key.
//!
//! The code that reads a key is the key's only description: its name, kind, default and purpose.
//! A walk of the keys without a document writes the reference page ([`Reader::documenting`]). With a
//! document it records every value, given or default, for the resolved scenario. At the end of each
//! table it knows which keys were not asked for. So the four can't drift apart.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Diagnostic, Item, KeyDoc, Kind, Location, Node, Presence, Reference, Slot, Table, Toml, Value,
    nearest,
};

use crate::registry::Package;

/// The meaning of an absent key that has no default.
pub enum Missed {
    /// It is a mistake.
    Mistake,
    /// It is a mistake, and this is what to do.
    Help(String),
    /// Nothing: its value comes from elsewhere.
    Nothing,
}

/// Knowledge of all keys together, which makes messages about mistakes more helpful.
#[derive(Clone, Copy)]
pub struct Hints<'d> {
    /// The description of all keys.
    pub reference: &'d dyn Fn() -> &'d Reference,
    /// The meaning of a required key's absence, by its path.
    pub missed: &'d dyn Fn(&str) -> Missed,
}

/// Reads the keys of a table, or lists them for the reference page. Each part of a scenario has a
/// function that takes a reader, such as the `read` of a topology's builder, and calls the methods
/// of this type.
///
/// Missing and wrong values are reported with the place where they are written, and reading goes
/// on. `None` means that the mistake has been reported already.
pub struct Reader<'d> {
    /// The document that is read; `None` while documenting.
    pub document: Option<&'d Toml>,
    /// Help for messages about mistakes; `None` if there is none.
    pub hints: Option<Hints<'d>>,
    /// The table that is being read.
    pub scope: Scope<'d>,
    /// Mistakes found so far, in the order of reading.
    pub problems: Vec<Diagnostic>,
    /// Mistakes of absent keys that are probably misspelt; shown only if there are no others.
    pub held: Vec<Diagnostic>,
    /// Paths of keys whose values can't be used.
    pub broken: BTreeSet<String>,
    /// Path and TOML text of each key, in the order of reading.
    pub resolved: Vec<(String, String)>,
    /// Components from outside that the document names, each a path (`traffic.pattern.ahead`) and
    /// the crate that it comes from.
    pub packages: Vec<(String, Package)>,
    /// Hashes of the contents of files, by the path of the key that names the file.
    pub contents: BTreeMap<String, String>,
    pub(super) items: Vec<Item>,
}

/// The table that is being read.
pub struct Scope<'d> {
    /// The table's path, such as `router.link`; empty for the outermost table.
    pub path: String,
    /// The table in messages: `[link]`, or a choice's name.
    pub title: String,
    /// The table as it was written; `None` if it was not.
    pub table: Option<&'d Table>,
    /// Place at which missing keys are reported; `None` while documenting.
    pub place: Option<Location>,
    /// Text to write around an example of a missing key.
    pub frame: Option<String>,
    /// Whether the table itself is wrong, so that its missing keys need no message.
    pub quiet: bool,
    /// The keys that were asked for so far.
    pub asked: Vec<&'static str>,
    /// Required keys that are absent, each with an example.
    pub missing: Vec<(&'static str, String)>,
}

impl<'d> Scope<'d> {
    /// A table that is about to be read: nothing asked for, nothing missing.
    pub(crate) fn new(
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
    pub fn reading(document: &'d Toml, hints: Option<Hints<'d>>) -> Self {
        let place = document.start();
        let scope =
            Scope::new(String::new(), "the scenario".into(), Some(&document.root), Some(place));
        Self { hints, ..Self::new(Some(document), scope) }
    }

    /// Reads a component by its name and keys (TOML) alone.
    ///
    /// # Panics
    /// If the keys are wrong.
    pub fn read_alone<T>(
        name: &str,
        keys: &str,
        read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
    ) -> T {
        let toml = Toml::parse(name, keys);
        let mut reader = Reader::reading(&toml, None);
        let value = read(&mut reader);
        reader.finish();
        let problems = [&toml.problems[..], &reader.problems[..]].concat();
        assert!(problems.is_empty(), "{name}: {problems:?}");
        value.expect("nothing is wrong with it")
    }

    /// Reads nothing and notes down every key.
    pub fn documenting() -> Self {
        Self::new(None, Scope::new(String::new(), String::new(), None, None))
    }

    fn new(document: Option<&'d Toml>, scope: Scope<'d>) -> Self {
        Self {
            document,
            hints: None,
            scope,
            problems: Vec::new(),
            held: Vec::new(),
            broken: BTreeSet::new(),
            resolved: Vec::new(),
            packages: Vec::new(),
            contents: BTreeMap::new(),
            items: Vec::new(),
        }
    }

    /// Whether keys are only listed for the reference page, without a document.
    pub fn is_documenting(&self) -> bool {
        self.document.is_none()
    }

    /// The page of the keys that were documented.
    pub fn into_reference(self) -> Reference {
        Reference { items: self.items }
    }

    /// Whether the table has the key.
    pub fn has(&self, key: &str) -> bool {
        self.scope.table.is_some_and(|table| table.get(key).is_some())
    }

    /// Whether the key has a text.
    pub fn has_text(&self, key: &str) -> bool {
        self.text(key).is_some()
    }

    /// The key's value, if that is a text.
    pub fn text(&self, key: &str) -> Option<&'d str> {
        match &self.scope.table?.get(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What is written below this table at a path of tables and a key.
    pub fn at_path(&self, path: &[&str]) -> Option<&'d Value> {
        let (key, tables) = path.split_last()?;
        let mut table = self.scope.table?;
        for name in tables {
            let Value::Table(inner) = &table.get(name)?.value else { return None };
            table = inner;
        }
        Some(&table.get(key)?.value)
    }

    /// Where the key's value is written, or its table's header.
    pub fn place(&self, key: &str) -> Option<Location> {
        Some(self.scope.table?.get(key)?.place.clone())
    }

    /// The keys that are written in the table, in their order.
    pub fn keys(&self) -> impl Iterator<Item = &'d str> {
        self.scope.table.into_iter().flat_map(|table| table.entries.iter().map(|it| &*it.key))
    }

    /// Place of the key itself.
    pub fn key_place(&self, key: &str) -> Option<Location> {
        let entry = self.scope.table?.entry(key)?;
        Some(entry.key_place.clone())
    }

    /// Reads a key with a constant default, which also replaces a wrong value. `doc` is the key's
    /// description in the reference page.
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

    /// Reads a key whose default is the present value of `target`, and stores its value there.
    pub fn set<K: Kind, T>(
        &mut self,
        key: &'static str,
        kind: &K,
        target: &mut T,
        doc: &'static str,
    ) where
        T: Clone + TryFrom<K::Value>,
        K::Value: From<T>,
    {
        let value = self.value(key, kind, target.clone().into(), doc);
        let Ok(value) = value.try_into() else { unreachable!("`{key}` takes what fits its field") };
        *target = value;
    }

    /// Reads a key whose default follows from other keys, as `note` says: "as
    /// router.maximum_payload".
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

    /// Reads a required key; `None` if it is missing or wrong, which is reported.
    pub fn required<K: Kind>(
        &mut self,
        key: &'static str,
        kind: &K,
        doc: &'static str,
    ) -> Option<K::Value> {
        self.key(key, kind, Presence::Required, doc)
    }

    /// Reads a key that may be absent; `None` if it is absent or wrong.
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
        let node = self.written(key, &|| kind.describe(), kind.example(), presence, doc)?;
        match kind.parse(Slot { key, element: false }, node) {
            Ok(value) => {
                self.record(key, kind.show(&value));
                Some(value)
            }
            Err(problems) => {
                self.refuse(key, problems);
                None
            }
        }
    }

    /// The key's value, if it is written. If it is not, the key is documented, or its default is
    /// recorded. This is no part of [`Self::key`], which is compiled for each kind.
    fn written(
        &mut self,
        key: &'static str,
        describe: &dyn Fn() -> String,
        example: String,
        presence: Presence,
        doc: &'static str,
    ) -> Option<&'d Node> {
        let node = self.find(key, &presence, &example);
        match presence {
            _ if node.is_some() => {}
            _ if self.is_documenting() => {
                let key = KeyDoc::new(self.path(key), describe(), presence, example, doc);
                self.items.push(Item::Key(key));
            }
            Presence::Default(text, _) => self.record(key, text),
            _ => {}
        }
        node
    }

    /// Reports what is wrong with a key's value.
    pub(crate) fn refuse(&mut self, key: &str, problems: Vec<Diagnostic>) {
        self.problems.extend(problems);
        self.mark_broken(key);
    }

    /// The key's value, if it is written and can be used. Notes that it was asked for, and that it
    /// is missing if it is required.
    pub(crate) fn find(
        &mut self,
        key: &'static str,
        presence: &Presence,
        example: &str,
    ) -> Option<&'d Node> {
        self.scope.asked.push(key);
        let node = self.scope.table.and_then(|table| table.get(key));
        match node {
            Some(Node { value: Value::Broken, .. }) => {
                self.mark_broken(key);
                None
            }
            None if matches!(presence, Presence::Required) && !self.is_documenting() => {
                self.scope.missing.push((key, example.into()));
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

    /// Refuses a key that does not go with the others. The resolved scenario omits it, since it
    /// would be refused there.
    pub fn forbid(&mut self, key: &'static str, message: &str, help: &str) {
        if !self.scope.asked.contains(&key) {
            self.scope.asked.push(key);
        }
        let path = self.path(key);
        let below = join(&path, "");
        self.resolved.retain(|(recorded, _)| *recorded != path && !recorded.starts_with(&below));
        if let Some(place) = self.key_place(key) {
            self.problems.push(Diagnostic::new(&place, message).help(help));
            self.mark_broken(key);
        }
    }

    /// [Refuses](Self::forbid) all keys of the table that were asked for, but these.
    pub fn forbid_all_but(&mut self, keys: &[&str], message: &str, help: &str) {
        for key in self.scope.asked.clone() {
            if !keys.contains(&key) {
                self.forbid(key, message, help);
            }
        }
    }

    /// Reads within a scope, then reports missing keys and keys that were not asked for.
    pub(crate) fn within<T>(&mut self, scope: Scope<'d>, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let value = read(self);
        let scope = std::mem::replace(&mut self.scope, outer);
        self.leave(&scope);
        value
    }

    /// Reads within a scope of which nothing is reported at its end.
    pub(crate) fn within_quietly<T>(
        &mut self,
        scope: Scope<'d>,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = std::mem::replace(&mut self.scope, scope);
        let value = read(self);
        self.scope = outer;
        value
    }

    /// Ends the outermost table.
    pub fn finish(&mut self) {
        let empty = Scope::new(String::new(), String::new(), None, None);
        let scope = std::mem::replace(&mut self.scope, empty);
        self.leave(&scope);
    }

    /// Whether the table has a key that is probably a misspelling of this one.
    pub fn has_misspelt(&self, key: &str) -> bool {
        let entries = self.scope.table.into_iter().flat_map(|table| &table.entries);
        entries.into_iter().any(|entry| nearest(&entry.key, [key]).is_some())
    }

    /// The path of a key of the present table.
    pub fn path(&self, key: &str) -> String {
        join(&self.scope.path, key)
    }

    /// Notes that a key of the present table has a value that can't be used.
    pub fn mark_broken(&mut self, key: &str) {
        let path = self.path(key);
        self.broken.insert(path);
    }

    /// Records a value of the present table, as TOML, for the resolved document.
    pub fn record(&mut self, key: &str, text: String) {
        let path = self.path(key);
        self.resolved.push((path, text));
    }

    /// Takes back the values that were recorded from `start` on, as one inline table.
    pub(crate) fn inline(&mut self, start: usize) -> String {
        let inner = self.keys_since(start);
        self.resolved.truncate(start);
        if inner.is_empty() { "{}".into() } else { format!("{{ {inner} }}") }
    }

    /// The keys resolved from `start` on, without their tables' paths: `steps = 2, cut = true`.
    pub fn keys_since(&self, start: usize) -> String {
        let keys = self.resolved[start..].iter();
        let one = |(path, text): &(String, String)| {
            format!("{} = {text}", path.rsplit('.').next().unwrap_or(path))
        };
        keys.map(one).collect::<Vec<_>>().join(", ")
    }

    /// Takes back the keys documented from `start` on.
    pub(crate) fn fields(&mut self, start: usize) -> Vec<KeyDoc> {
        let key = |item| match item {
            Item::Key(key) => Some(key),
            Item::Section { .. } => None,
        };
        self.items.drain(start..).filter_map(key).collect()
    }
}

/// A key's path from its table's path, with a point between; the key alone in the outermost table.
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.into() } else { format!("{path}.{key}") }
}
