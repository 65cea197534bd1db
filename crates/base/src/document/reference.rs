//! The page that describes every key.
//!
//! The code that reads documents makes it, by a walk without a document. So the page says what is
//! read.

use std::fmt;

use super::nearest;

/// The name of all [named tables](super::Reader::named_tables) in the reference.
pub(super) const NAME: &str = "NAME";

/// The meaning of an absent key.
pub(crate) enum Presence {
    /// The key must be written.
    Required,
    /// The key may be absent; then nothing is recorded.
    Optional,
    /// The default as TOML, and a note on its origin if it is not constant.
    Default(String, Option<&'static str>),
}

/// A table's beginning or a key.
#[derive(Clone, Debug)]
pub enum Item {
    /// The beginning of a table.
    Section {
        /// The table's path, such as `traffic.uniform`.
        path: String,
        /// Purpose of the table: text of the reference page.
        doc: &'static str,
    },
    /// A key of the table whose section came last.
    Key(KeyDoc),
}

/// A key.
#[derive(Clone, Debug)]
pub struct KeyDoc {
    /// The key with its tables, such as `link.latency`.
    pub path: String,
    /// The values that it takes, with units and range: `a time from 1 ps to 1 s`.
    pub kind: String,
    /// The default as TOML; `None` if there is none.
    pub default: Option<String>,
    /// Origin of the default if it is not constant; `None` otherwise.
    pub default_from: Option<&'static str>,
    /// Whether a document without the key is wrong.
    pub required: bool,
    /// A value as TOML.
    pub example: String,
    /// Purpose of the key.
    pub doc: &'static str,
    /// The names that can be chosen, if it is a choice.
    pub variants: Vec<VariantDoc>,
    /// The keys of the table, or of each table of the list, that is its value.
    pub fields: Vec<KeyDoc>,
}

/// A name that can be chosen, and its keys.
#[derive(Clone, Debug)]
pub struct VariantDoc {
    /// The name as it is written.
    pub name: &'static str,
    /// Its purpose: text of the reference page.
    pub doc: &'static str,
    /// The keys that go with the name; empty if it has none.
    pub fields: Vec<KeyDoc>,
}

impl KeyDoc {
    pub(crate) fn new(
        path: String,
        kind: String,
        presence: Presence,
        example: String,
        doc: &'static str,
    ) -> Self {
        let required = matches!(presence, Presence::Required);
        let (default, default_from) = match presence {
            Presence::Default(text, note) => (Some(text), note),
            _ => (None, None),
        };
        Self {
            path,
            kind,
            default,
            default_from,
            required,
            example,
            doc,
            variants: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }

    /// The values that it takes, as a sentence without its point.
    fn values(&self) -> String {
        if self.variants.is_empty() { sentence(&self.kind) } else { "One of these".into() }
    }

    /// `Default "70 ns".`, or the meaning of its absence.
    fn presence(&self) -> String {
        match (&self.default, self.default_from) {
            (_, Some(from)) => format!("Default: {from}."),
            (Some(default), None) => format!("Default: {default}."),
            (None, None) if self.required => "Required.".into(),
            (None, None) => "Optional.".into(),
        }
    }
}

/// All keys of a document. Its `Display` is the reference page: TOML with comments.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Sections and keys in the order of the page.
    pub items: Vec<Item>,
}

impl Reference {
    /// The part of the page that is about a word, such as `router`.
    pub fn about(&self, word: &str) -> ReferencePart<'_> {
        ReferencePart { reference: self, word: word.to_lowercase() }
    }

    /// The keys, in the page's order; those below a choice or a list are inside it.
    pub fn keys(&self) -> impl Iterator<Item = &KeyDoc> {
        self.items.iter().filter_map(|item| match item {
            Item::Key(key) => Some(key),
            Item::Section { .. } => None,
        })
    }

    /// Whether a path is that of a table, or lies above one.
    pub fn is_table(&self, path: &str) -> bool {
        self.items.iter().any(|item| match item {
            Item::Section { path: section, .. } => section
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
            Item::Key(_) => false,
        })
    }

    /// The description of a key at this path.
    pub fn key(&self, path: &str) -> Option<&KeyDoc> {
        self.keys().find(|key| key.path == path)
    }

    /// The keys of a name that can be chosen at this path.
    pub(crate) fn below(&self, path: &str, name: &str) -> Vec<&KeyDoc> {
        if let Some(variant) =
            self.key(path).into_iter().flat_map(|key| &key.variants).find(|it| it.name == name)
        {
            return variant.fields.iter().collect();
        }
        let table = format!("{path}.{name}.");
        let direct =
            |key: &&KeyDoc| key.path.strip_prefix(&table).is_some_and(|rest| !rest.contains('.'));
        self.keys().filter(direct).collect()
    }

    /// The tables and keys of this name elsewhere, as people write them.
    pub(crate) fn homes(&self, name: &str) -> Vec<String> {
        let last = |path: &str| last_of(path) == name;
        let (mut homes, mut inner, mut named) = (Vec::new(), Vec::new(), Vec::new());
        for item in &self.items {
            match item {
                Item::Section { path, .. } if last(path) => homes.push(format!("[{path}]")),
                Item::Key(key) if last(&key.path) => {
                    let table = key.path.rsplit_once('.').map_or("", |(table, _)| table);
                    match table {
                        "" => homes.push(format!("`{name}` before the first [table]")),
                        table if last_of(table) == NAME => {
                            named.push(format!("`{name}` in [{table}]"));
                        }
                        table => homes.push(format!("`{name}` in [{table}]")),
                    }
                }
                Item::Key(key) => {
                    let has = |variant: &&VariantDoc| {
                        variant.fields.iter().any(|field| field.name() == name)
                    };
                    inner.extend(key.variants.iter().filter(has).map(|variant| {
                        format!("`{} = {{ {} = {{ {name} = ... }} }}`", key.name(), variant.name)
                    }));
                }
                Item::Section { .. } => {}
            }
        }
        // Both workloads have patterns.
        inner.dedup();
        // Tables that users name have few keys, and these are seldom meant.
        [homes, inner, named].into_iter().find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// The last part of a path.
fn last_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

impl fmt::Display for Reference {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_items(page, &self.items, |_| Some(None))
    }
}

/// The part of the page with the keys that have a word in their paths, or in the names that can be
/// chosen there.
pub struct ReferencePart<'r> {
    reference: &'r Reference,
    /// The word in small letters.
    word: String,
}

impl ReferencePart<'_> {
    /// Whether the word is in the key's path, or in what can be chosen or written below it.
    fn has(&self, key: &KeyDoc) -> bool {
        let has = |text: &str| text.to_lowercase().contains(&self.word);
        let one_has = |fields: &[KeyDoc]| fields.iter().any(|field| self.has(field));
        let is_of = |variant: &VariantDoc| has(variant.name) || one_has(&variant.fields);
        has(&key.path) || one_has(&key.fields) || key.variants.iter().any(is_of)
    }

    /// Whether no key has the word.
    pub fn is_empty(&self) -> bool {
        !self.reference.keys().any(|key| self.has(key))
    }

    /// The part of a path, or the name, that is most like the word.
    pub fn nearest(&self) -> Option<&str> {
        let parts = self.reference.keys().flat_map(|key| {
            let names = key.variants.iter().map(|variant| variant.name);
            key.path.split('.').chain(names)
        });
        nearest(&self.word, parts)
    }
}

impl fmt::Display for ReferencePart<'_> {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_items(page, &self.reference.items, |key| self.has(key).then_some(None))
    }
}

/// Writes the keys that `choose` wants, under the headers of their tables. Each has its
/// description, and the value of `choose`, or the default or an example. A key that several
/// topologies or routings share is described at the first of them. A note at each of the others
/// names it.
pub fn write_items(
    page: &mut dyn fmt::Write,
    items: &[Item],
    choose: impl Fn(&KeyDoc) -> Option<Option<String>>,
) -> fmt::Result {
    let mut section = "";
    let mut documented = "";
    let mut described: Vec<(&KeyDoc, String)> = Vec::new();
    let mut repeated = Repeated::default();
    let mut names = Vec::new();
    // Below a table's header they would belong to that table.
    let outermost = |item: &&Item| matches!(item, Item::Key(key) if !key.path.contains('.'));
    let (first, rest): (Vec<&Item>, Vec<&Item>) = items.iter().partition(outermost);
    for item in first.into_iter().chain(rest) {
        match item {
            Item::Section { path, doc } => {
                repeated.write_before(page, path, section)?;
                section = path;
                documented = doc;
            }
            Item::Key(key) => {
                let Some(value) = choose(key) else { continue };
                let mut text = String::new();
                write_key(&mut text, key, value, &mut names)?;
                let alike = |(other, described): &&(&KeyDoc, String)| {
                    *described == text && beside(&other.path, &key.path)
                };
                if let Some((other, _)) = described.iter().find(alike) {
                    repeated.add(&key.path, &other.path);
                    continue;
                }
                writeln!(page)?;
                if !documented.is_empty() {
                    comment(page, 0, documented)?;
                }
                let table = key.path.rsplit_once('.').map_or("", |(table, _)| table);
                if !section.is_empty() && table == section {
                    writeln!(page, "[{section}]\n")?;
                    (section, documented) = ("", "");
                }
                page.write_str(&text)?;
                described.push((key, text));
            }
        }
    }
    repeated.write_before(page, "", section)
}

/// The choice that a key belongs to, such as `topology.tree`, and the rest of its path.
fn parts(path: &str) -> Option<(&str, &str)> {
    let (choice, _) = path.match_indices('.').nth(1)?;
    Some((&path[..choice], &path[choice + 1..]))
}

/// Whether two keys have the same place in two of the tables that can be chosen.
fn beside(one: &str, other: &str) -> bool {
    let (Some((one, of_one)), Some((other, of_other))) = (parts(one), parts(other)) else {
        return false;
    };
    one != other && of_one == of_other && one.split('.').next() == other.split('.').next()
}

/// The keys of one table that others have in the same way.
#[derive(Default)]
struct Repeated {
    /// Such as `topology.tree`.
    table: String,
    /// Names by the tables that come first.
    keys: Vec<(String, Vec<String>)>,
}

impl Repeated {
    fn add(&mut self, key: &str, first: &str) {
        let (Some((table, name)), Some((home, _))) = (parts(key), parts(first)) else { return };
        self.table = table.into();
        match self.keys.iter_mut().find(|(other, _)| other == home) {
            Some((_, names)) => names.push(name.into()),
            None => self.keys.push((home.into(), vec![name.into()])),
        }
    }

    /// Writes the note of a table before a header of another table; `due` is the table whose header
    /// is still to be written.
    fn write_before(&mut self, page: &mut dyn fmt::Write, header: &str, due: &str) -> fmt::Result {
        if !header.is_empty()
            && parts(&format!("{header}.")).is_some_and(|(it, _)| it == self.table)
        {
            return Ok(());
        }
        let notes = self.keys.drain(..);
        let notes = notes.map(|(home, names)| format!("as in [{home}]: {}", names.join(", ")));
        let notes: Vec<String> = notes.collect();
        if notes.is_empty() {
            return Ok(());
        }
        let of = if due == self.table { format!(" of [{due}]") } else { String::new() };
        writeln!(page)?;
        comment(page, 0, &format!("Keys{of} {}.", notes.join("; ")))
    }
}

/// Writes a key's purpose, its values and the meaning of its absence, as comments.
pub fn describe(page: &mut dyn fmt::Write, key: &KeyDoc) -> fmt::Result {
    describe_beside(page, key, &mut Vec::new())
}

/// The names that a key of the page has, with their descriptions.
struct DescribedNames {
    key: String,
    path: String,
    texts: Vec<String>,
}

/// So many names that a key shares with an earlier one of its name are listed without their
/// descriptions.
const MANY_NAMES: usize = 8;

/// Describes a key of the page, without the names that an earlier key of its name has likewise:
/// those are listed.
fn describe_beside(
    page: &mut dyn fmt::Write,
    key: &KeyDoc,
    earlier: &mut Vec<DescribedNames>,
) -> fmt::Result {
    comment(page, 0, key.doc)?;
    comment(page, 0, &format!("{}. {}", key.values(), key.presence()))?;
    let mut texts = Vec::new();
    for (place, variant) in key.variants.iter().enumerate() {
        let mut text = String::new();
        write_variant(&mut text, 2, variant)?;
        write_fields_beside(&mut text, &variant.fields, &key.variants[..place])?;
        texts.push(text);
    }
    let shared = |other: &DescribedNames| {
        texts.iter().map(|text| other.texts.contains(text)).collect::<Vec<bool>>()
    };
    let first = earlier.iter().find(|other| {
        other.key == key.name() && shared(other).iter().filter(|&&is| is).count() >= MANY_NAMES
    });
    let known = first.map_or_else(|| vec![false; texts.len()], shared);
    for (text, _) in texts.iter().zip(&known).filter(|(_, known)| !**known) {
        page.write_str(text)?;
    }
    if let Some(first) = first {
        let names = key.variants.iter().zip(&known).filter(|(_, known)| **known);
        let names: Vec<&str> = names.map(|(variant, _)| variant.name).collect();
        comment(page, 2, &format!("As for {}: {}.", first.path, names.join(", ")))?;
    }
    earlier.push(DescribedNames { key: key.name().into(), path: key.path.clone(), texts });
    write_fields(page, 2, &key.fields)
}

fn write_key(
    page: &mut dyn fmt::Write,
    key: &KeyDoc,
    value: Option<String>,
    earlier: &mut Vec<DescribedNames>,
) -> fmt::Result {
    describe_beside(page, key, earlier)?;
    if let Some(value) = value {
        return writeln!(page, "{} = {value}", key.name());
    }
    match &key.default {
        // A default that depends on the file is empty here.
        Some(default) if default == "\"\"" => writeln!(page, "# {} = {}", key.name(), key.example),
        Some(default) => writeln!(page, "{} = {default}", key.name()),
        None if key.required => writeln!(page, "{} = {}", key.name(), key.example),
        None => writeln!(page, "# {} = {}", key.name(), key.example),
    }
}

/// Writes the fields of a name that can be chosen. Of those that an earlier name has likewise a note
/// says which name.
fn write_fields_beside(
    page: &mut dyn fmt::Write,
    fields: &[KeyDoc],
    earlier: &[VariantDoc],
) -> fmt::Result {
    let text = |field: &KeyDoc| -> Result<String, fmt::Error> {
        let mut text = String::new();
        write_fields(&mut text, 6, std::slice::from_ref(field))?;
        Ok(text)
    };
    let mut notes: Vec<(&str, Vec<&str>)> = Vec::new();
    for field in fields {
        let own = text(field)?;
        let has = |other: &&VariantDoc| other.fields.iter().any(|it| text(it) == Ok(own.clone()));
        match earlier.iter().find(has) {
            None => page.write_str(&own)?,
            Some(other) => match notes.iter_mut().find(|(name, _)| *name == other.name) {
                Some((_, names)) => names.push(field.name()),
                None => notes.push((other.name, vec![field.name()])),
            },
        }
    }
    if notes.is_empty() {
        return Ok(());
    }
    let notes: Vec<String> = notes
        .iter()
        .map(|(name, fields)| format!("{}: as in \"{name}\"", fields.join(", ")))
        .collect();
    comment(page, 6, &format!("{}.", notes.join("; ")))
}

/// Writes keys below a key, with all that can be chosen there.
fn write_fields(page: &mut dyn fmt::Write, indent: usize, fields: &[KeyDoc]) -> fmt::Result {
    for field in fields {
        let (values, presence) = (field.values(), field.presence());
        comment(page, indent, &format!("{}: {} {values}. {presence}", field.name(), field.doc))?;
        write_fields(page, indent + 2, &field.fields)?;
        for variant in &field.variants {
            write_variant(page, indent + 2, variant)?;
            write_fields(page, indent + 6, &variant.fields)?;
        }
    }
    Ok(())
}

fn write_variant(page: &mut dyn fmt::Write, indent: usize, variant: &VariantDoc) -> fmt::Result {
    comment(page, indent, &format!("\"{}\": {}", variant.name, variant.doc))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Writes comment lines of at most 100 characters. If `indent` is not 0, lines after the first are
/// indented by two more.
pub fn comment(page: &mut dyn fmt::Write, indent: usize, text: &str) -> fmt::Result {
    let mut line = format!("# {:indent$}", "");
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > 100 {
            writeln!(page, "{line}")?;
            let hanging = if indent > 0 { indent + 2 } else { 0 };
            line = format!("# {:hanging$}", "");
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    writeln!(page, "{line}")
}
