//! Reading keys whose values are tables, or lists of tables.

use super::reference::NAME;
use super::{Diagnostic, Item, KeyDoc, Location, Node, Presence, Reader, Scope, Value, join};

impl<'d> Reader<'d> {
    /// Reads a table that may be absent, with all its keys at their defaults.
    pub fn table<T>(
        &mut self,
        key: &'static str,
        doc: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let node = self.find(key, &Presence::Optional, "");
        let path = self.path(key);
        if self.is_documenting() {
            self.items.push(Item::Section { path: path.clone(), doc });
        }
        let scope = self.table_scope(key, path, node);
        self.within(scope, read)
    }

    /// Reads a table whose absence has a meaning of its own.
    pub fn optional_table<T>(
        &mut self,
        key: &'static str,
        example: &'static str,
        doc: &'static str,
        read: impl FnOnce(&mut Self) -> T,
    ) -> Option<T> {
        let node = self.find(key, &Presence::Optional, "");
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

    /// Tables with names that the user gives them, in the order in which they are written; none by
    /// default. `read` also gets the name. In the reference they stand as one, of the name `NAME`.
    ///
    /// A name has letters, digits, `-` and `_` only, so that it can be part of a key's path and of
    /// a file's name.
    pub fn named_tables<T>(
        &mut self,
        key: &'static str,
        doc: &'static str,
        mut read: impl FnMut(&mut Self, &str) -> T,
    ) -> Vec<T> {
        let node = self.find(key, &Presence::Optional, "");
        let path = self.path(key);
        if self.is_documenting() {
            let path = join(&path, NAME);
            self.items.push(Item::Section { path: path.clone(), doc });
            let scope = Scope::new(path, String::new(), None, None);
            self.within(scope, |reader| read(reader, NAME));
            return Vec::new();
        }
        let Some(node) = node else { return Vec::new() };
        let Value::Table(table) = &node.value else {
            let problem =
                Diagnostic::new(&node.place, format!("`{key}` must be a table of tables"))
                    .label(format!("this is {}", node.what()))
                    .help(format!("write its keys below headers [{path}.NAME]"));
            self.problems.push(problem);
            self.mark_broken(key);
            return Vec::new();
        };
        let mut values = Vec::new();
        for entry in &table.entries {
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
            if entry.key.is_empty() || !entry.key.chars().all(plain) {
                let message = format!("\"{}\" is not a name for a table of [{path}]", entry.key);
                let help = "names have letters, digits, `-` and `_` only";
                self.problems.push(Diagnostic::new(&entry.key_place, message).help(help));
                self.mark_broken(key);
                continue;
            }
            let outer = Scope::new(path.clone(), format!("[{path}]"), Some(table), None);
            let scope = self.within_quietly(outer, |reader| {
                let path = reader.path(&entry.key);
                reader.table_scope(&entry.key, path, Some(&entry.node))
            });
            values.push(self.within(scope, |reader| read(reader, &entry.key)));
        }
        values
    }

    /// A list of tables, empty by default. Each comes with its place.
    pub fn tables<T>(
        &mut self,
        key: &'static str,
        example: &str,
        doc: &'static str,
        read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Vec<(Location, T)> {
        let presence = Presence::Default("[]".into(), None);
        self.list_of_tables(key, (example, doc), presence, read)
    }

    /// A list of tables that may be absent. Each comes with its place. The resolved document has the
    /// list only if it is there.
    pub fn optional_tables<T>(
        &mut self,
        key: &'static str,
        example: &str,
        doc: &'static str,
        read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Vec<(Location, T)> {
        self.list_of_tables(key, (example, doc), Presence::Optional, read)
    }

    fn list_of_tables<T>(
        &mut self,
        key: &'static str,
        (example, doc): (&str, &'static str),
        presence: Presence,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Vec<(Location, T)> {
        let node = self.find(key, &Presence::Optional, "");
        let path = self.path(key);
        if self.is_documenting() {
            let items = self.items.len();
            let scope = Scope::new(path.clone(), String::new(), None, None);
            self.within(scope, &mut read);
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
                    if !matches!(element.value, Value::Table(_) | Value::Broken) {
                        self.problems.push(
                            Diagnostic::new(
                                &element.place,
                                format!("an element of `{key}` must be a table"),
                            )
                            .label(format!("this is {}", element.what()))
                            .help(format!("write for example `{key} = {example}`")),
                        );
                        self.mark_broken(key);
                        continue;
                    }
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
                    Diagnostic::new(&node.place, format!("`{key}` must be a list of tables"))
                        .label(format!("this is {}", node.what()))
                        .help(format!("write for example `{key} = {example}`")),
                );
                self.mark_broken(key);
            }
        }
        if node.is_some() || matches!(presence, Presence::Default(..)) {
            self.record(key, format!("[{}]", texts.join(", ")));
        }
        values
    }

    /// The scope of a table's node, which may be absent or no table at all.
    fn table_scope(&mut self, key: &str, path: String, node: Option<&'d Node>) -> Scope<'d> {
        let title = format!("[{path}]");
        let place = node.map(|node| node.place.clone()).or_else(|| self.scope.place.clone());
        let mut scope = Scope::new(path, title, None, place);
        scope.quiet = self.broken.contains(&scope.path);
        match node {
            Some(Node { value: Value::Table(table), .. }) => scope.table = Some(table),
            Some(node) => {
                self.problems.push(
                    Diagnostic::new(&node.place, format!("`{key}` must be a table"))
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
}
