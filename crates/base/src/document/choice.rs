//! Keys that choose one of several names, some of which have keys of their own.
//!
//! `pattern = "uniform"` and `pattern = { uniform = { include_self = true } }` are both allowed:
//! the name alone if its keys have their defaults, or the name with its keys.

use super::reference::NAME;
use super::{
    Diagnostic, Entry, Item, KeyDoc, Node, Presence, Reader, Scope, Value, VariantDoc, nearest,
    quoted,
};

use crate::registry::{Package, Registered};

type Read<'v, 'd, T> = Box<dyn FnOnce(&mut Reader<'d>) -> Option<T> + 'v>;

/// One name that can be chosen, for [`Reader::choice`]; made by [`plain`] or [`with_keys`].
pub struct Variant<'v, 'd, T> {
    name: Name,
    read: Read<'v, 'd, T>,
}

/// A name, and what people may write in its place.
struct Name {
    name: &'static str,
    doc: &'static str,
    /// Whether lists of the names and the reference page show the name.
    offered: bool,
    /// The crate that it comes from, if it is not built in.
    package: Option<Package>,
    /// Other names of the same thing, each with the text to write for it here; an empty text stands
    /// for `name`.
    others: Vec<(&'static str, String)>,
}

impl<'v, 'd, T> Variant<'v, 'd, T> {
    fn new(name: &'static str, doc: &'static str, read: Read<'v, 'd, T>) -> Self {
        let name = Name { name, doc, offered: true, package: None, others: Vec::new() };
        Self { name, read }
    }

    /// Adds names by which the thing is known elsewhere, so that they are not taken for
    /// misspellings. Each comes with the text to write here; an empty text stands for the name
    /// alone.
    pub fn known_as<H: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = (&'static str, H)>,
    ) -> Self {
        self.name.others.extend(names.into_iter().map(|(name, how)| (name, how.into())));
        self
    }

    /// Hides the name from lists. Its reading then reports a better reason than "there is no such
    /// name".
    pub fn not_offered(mut self) -> Self {
        self.name.offered = false;
        self
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name.name
    }
}

/// A name without keys, which stands for `value`. `doc` gives its meaning in a sentence.
pub fn plain<'v, 'd, T: 'v>(name: &'static str, value: T, doc: &'static str) -> Variant<'v, 'd, T> {
    Variant::new(name, doc, Box::new(move |_| Some(value)))
}

/// A name with keys, which `read` reads. `doc` gives its meaning in a sentence.
pub fn with_keys<'v, 'd, T>(
    name: &'static str,
    doc: &'static str,
    read: impl FnOnce(&mut Reader<'d>) -> Option<T> + 'v,
) -> Variant<'v, 'd, T> {
    Variant::new(name, doc, Box::new(read))
}

/// The name of a component, which stands for `value`.
pub fn plain_row<'v, 'd, C, T: 'v>(row: Registered<C>, value: T) -> Variant<'v, 'd, T> {
    row_with_keys(row, move |_| Some(value))
}

/// The name of a component, whose keys `read` reads.
pub fn row_with_keys<'v, 'd, C, T>(
    row: Registered<C>,
    read: impl FnOnce(&mut Reader<'d>) -> Option<T> + 'v,
) -> Variant<'v, 'd, T> {
    let others = row.known_as.iter().map(|other| (*other, ""));
    let mut variant = with_keys(row.name, row.doc, read).known_as(others);
    variant.name.package = row.package;
    variant
}

/// The key of a choice, for [`Reader::choice`].
pub struct Choice {
    /// The name of the key: `pattern`.
    pub key: &'static str,
    /// One of the names, in messages: `pattern`.
    pub noun: &'static str,
    /// The name chosen if the key is absent; required if `None`.
    pub default: Option<&'static str>,
    /// Purpose of the key, for the reference page.
    pub doc: &'static str,
    /// Whether the names are written as tables `[key.name]`, not as values.
    pub sections: bool,
}

impl Choice {
    /// A key that is written as a value and has a default.
    pub const fn usual(
        key: &'static str,
        noun: &'static str,
        default: &'static str,
        doc: &'static str,
    ) -> Self {
        Self { key, noun, default: Some(default), doc, sections: false }
    }

    /// A required key that is written as a value.
    pub const fn required(key: &'static str, noun: &'static str, doc: &'static str) -> Self {
        Self { key, noun, default: None, doc, sections: false }
    }
}

impl<'d> Reader<'d> {
    /// Reads a key that takes one of several names without keys. Each row has the name, its value,
    /// and a sentence that gives its meaning; the first row is the default. `None` if the value is
    /// wrong, which is reported.
    pub fn one_of<T>(
        &mut self,
        key: &'static str,
        noun: &'static str,
        doc: &'static str,
        names: impl IntoIterator<Item = (&'static str, T, &'static str)>,
    ) -> Option<T> {
        let variants: Vec<_> =
            names.into_iter().map(|(name, value, doc)| plain(name, value, doc)).collect();
        self.choice(&Choice::usual(key, noun, variants[0].name(), doc), variants)
    }

    /// Reads a key that takes one of several names, some of which have keys of their own. `None` if
    /// it is missing or wrong, which is reported.
    pub fn choice<T>(&mut self, choice: &Choice, variants: Vec<Variant<'_, 'd, T>>) -> Option<T> {
        let mut variants = variants;
        if self.is_documenting() {
            variants.retain(|variant| variant.name.offered);
        }
        let (names, mut reads): (Vec<Name>, Vec<_>) =
            variants.into_iter().map(|variant| (variant.name, Some(variant.read))).unzip();
        let mut value = None;
        self.choose(choice, &names, &mut |reader, scope, at| {
            let read = reads[at].take().expect("each is read once at most");
            let found = reader.within(scope, read);
            let is_read = found.is_some();
            // Of all that are documented, the keys after this one go with the default.
            if !reader.is_documenting() || choice.default == Some(names[at].name) {
                value = found;
            }
            is_read
        });
        value
    }

    /// Reads the name that is chosen, or documents them all. `read` reads in a scope what has the
    /// name at a place, and returns whether it could. This is no part of [`Self::choice`], which is
    /// compiled for each type of values.
    fn choose(
        &mut self,
        choice: &Choice,
        names: &[Name],
        read: &mut dyn FnMut(&mut Self, Scope<'d>, usize) -> bool,
    ) {
        let presence = match choice.default {
            Some(name) => Presence::Default(quoted(name), None),
            None => Presence::Required,
        };
        let example = names.iter().find(|name| name.offered);
        let example = quoted(example.map_or("", |name| name.name));
        let node = self.find(choice.key, &presence, &example);
        if self.is_documenting() {
            return self.document_choice(choice, presence, names, read);
        }
        let broken = self.broken.contains(&self.path(choice.key));
        let chosen = match node {
            None => Ok(choice.default.filter(|_| !broken).map(|name| (name, None))),
            Some(node) => self.chosen(choice, names, node).map(Some),
        };
        let (name, inner) = match chosen {
            Ok(Some(chosen)) => chosen,
            Ok(None) => return,
            Err(problem) => return self.refuse(choice.key, vec![problem]),
        };
        let Some(at) = names.iter().position(|known| known.name == name) else { return };
        let path = format!("{}.{name}", self.path(choice.key));
        if let Some(package) = names[at].package {
            self.packages.push((path.clone(), package));
        }
        let place =
            inner.or(node).map(|node| node.place.clone()).or_else(|| self.scope.place.clone());
        let table = inner.and_then(|node| match &node.value {
            Value::Table(table) => Some(table),
            _ => None,
        });
        let title = if choice.sections { format!("[{path}]") } else { format!("`{name}`") };
        let mut scope = Scope::new(path, title, table, place);
        if table.is_none() {
            scope.frame = Some(match node {
                None if choice.sections => scope.title.clone(),
                _ => format!("{} = {{ {name} = {{ ... }} }}", choice.key),
            });
        }
        let (problems, resolved) = (self.problems.len(), self.resolved.len());
        if !read(self, scope, at) || self.problems.len() > problems {
            self.mark_broken(choice.key);
        }
        if !choice.sections {
            let keys = self.inline(resolved);
            let text = if keys == "{}" { quoted(name) } else { format!("{{ {name} = {keys} }}") };
            self.record(choice.key, text);
        }
    }

    /// The name and, if there is one, the table below it.
    fn chosen(
        &self,
        choice: &Choice,
        names: &[Name],
        node: &'d Node,
    ) -> Result<(&'static str, Option<&'d Node>), Diagnostic> {
        let Choice { key, noun, .. } = choice;
        let offered = names.iter().filter(|name| name.offered).map(|name| name.name);
        let offered: Vec<&str> = offered.collect();
        let all = || match &offered[..] {
            [only] => format!("the only one is `{only}`"),
            _ => format!("choose one of {}", offered.join(", ")),
        };
        // The description of all names and their keys, for hints.
        let path = self.path(key);
        let described = || self.hints.map(|hints| (hints.reference)());
        let variant = |meant: &dyn Fn(&VariantDoc) -> bool| {
            let key = described()?.key(&path)?;
            key.variants.iter().find(|variant| meant(variant))
        };
        let known = |name: &str, place| {
            let known = names.iter().find(|known| known.name == name);
            known.map(|known| known.name).ok_or_else(|| {
                let problem = Diagnostic::new(place, format!("there is no {noun} `{name}`"));
                let (near, help) = match meant(name, names).or_else(|| near(name, names)) {
                    Some(Meant { label, how: "" }) => (Some(label), all()),
                    Some(Meant { label, how }) => (Some(label), how.to_owned()),
                    None => (None, all()),
                };
                let problem = problem.help(help);
                match near {
                    Some(near) => problem.label(format!("did you mean {near}?")),
                    None => problem,
                }
            })
        };
        let table = match &node.value {
            Value::Text(name) => return Ok((known(name, &node.place)?, None)),
            Value::Table(table) => table,
            _ => {
                return Err(Diagnostic::new(
                    &node.place,
                    format!("`{key}` must be a name in quotes"),
                )
                .label(format!("this is {}", node.what()))
                .help(all()));
            }
        };
        let inner = |variant: &VariantDoc| {
            let has = |entry: &Entry| variant.fields.iter().any(|field| field.name() == entry.key);
            table.entries.iter().all(has)
        };
        if let (Some(VariantDoc { name, .. }), [first, ..]) =
            (variant(&inner), table.entries.as_slice())
        {
            let text = node.place.text();
            let table = if text.starts_with('{') { text } else { "{ ... }" };
            return Err(Diagnostic::new(&first.key_place, format!("the {noun}'s name is missing"))
                .label(format!("this is a key of `{name}`"))
                .help(format!("write `{key} = {{ {name} = {table} }}`")));
        }
        // A key of one of the names' tables, written in the table above.
        let inside = |entry: &Entry| {
            if !choice.sections
                || names.iter().any(|known| known.name == entry.key)
                || matches!(entry.node.value, Value::Table(_) | Value::Broken)
            {
                return None;
            }
            let described = described()?;
            let has = |name: &&&str| {
                described.below(&path, name).iter().any(|key| key.name() == entry.key)
            };
            let homes: Vec<String> =
                offered.iter().filter(has).map(|name| format!("[{path}.{name}]")).collect();
            let text = entry.node.place.text();
            // A name that says by itself where it belongs.
            if let Value::Text(name) = &entry.node.value
                && let Some(Meant { how, .. }) = meant(name, names)
                && !how.is_empty()
            {
                return Some(how.to_owned());
            }
            (!homes.is_empty()).then(|| {
                format!("write {} and below it `{} = {text}`", homes.join(" or "), entry.key)
            })
        };
        // A key that stands beside this one, and was written as if it were a name.
        let beside = |entry: &Entry| {
            if names.iter().any(|known| known.name == entry.key) {
                return None;
            }
            let (above, _) = path.rsplit_once('.')?;
            // The last word of a table's path may be a name that users give.
            let of_names = above.rsplit_once('.').map(|(above, _)| format!("{above}.{NAME}"));
            let all = described()?;
            [Some(above.to_owned()), of_names]
                .iter()
                .flatten()
                .find_map(|table| all.key(&format!("{table}.{}", entry.key)))?;
            let (name, text) = (&entry.key, entry.node.place.text());
            Some(format!("`{name}` stands beside `{key}`: write `{name} = {text}` in [{above}]"))
        };
        match table.entries.as_slice() {
            [entry] => {
                if let Some(help) = beside(entry) {
                    let message = format!("there is no {noun} `{}`", entry.key);
                    let problem = Diagnostic::new(&entry.key_place, message);
                    return Err(problem.label("this is a key of its own").help(help));
                }
                if let Some(help) = inside(entry) {
                    let problem = Diagnostic::new(
                        &entry.key_place,
                        format!("there is no {noun} `{}`", entry.key),
                    );
                    return Err(problem.label(format!("this is a key of a {noun}")).help(help));
                }
                let name = known(&entry.key, &entry.key_place)?;
                match &entry.node.value {
                    Value::Table(_) | Value::Broken => Ok((name, Some(&entry.node))),
                    _ => {
                        let below = described().map_or_else(Vec::new, |all| all.below(&path, name));
                        let keys = keys_for(&below, entry.node.place.text());
                        let help = if !choice.sections || entry.node.place.source.typed {
                            let table = match keys.len() {
                                0 => "{}".into(),
                                _ => format!("{{ {} }}", keys.join(", ")),
                            };
                            format!("write `{key} = {{ {name} = {table} }}`")
                        } else if keys.is_empty() {
                            format!("write [{path}.{name}]")
                        } else {
                            format!("write [{path}.{name}] and below it `{}`", keys.join("` and `"))
                        };
                        Err(Diagnostic::new(
                            &entry.node.place,
                            format!("the keys of `{name}` go in a table"),
                        )
                        .label(format!("this is {}", entry.node.what()))
                        .help(help))
                    }
                }
            }
            [] => Err(Diagnostic::new(&node.place, format!("`{key}` is empty")).help(all())),
            [first, second, ..] => {
                let one = |entry: &Entry| names.iter().any(|known| known.name == entry.key);
                let both = one(first) && one(second);
                let hint = if both && second.key_place.source.typed {
                    format!("to replace the first one, write --set {}", in_place(&path, second))
                } else if both {
                    "keep one of them".into()
                } else {
                    format!("write `{key} = {{ NAME = {{ its keys }} }}`; {}", all())
                };
                Err(Diagnostic::new(
                    &second.key_place,
                    format!("`{key}` takes one {noun}, with its keys inside"),
                )
                .label("a second one")
                .help(hint))
            }
        }
    }

    fn document_choice(
        &mut self,
        choice: &Choice,
        presence: Presence,
        names: &[Name],
        read: &mut dyn FnMut(&mut Self, Scope<'d>, usize) -> bool,
    ) {
        let path = self.path(choice.key);
        let example = quoted(names[0].name);
        let mut documented = Vec::new();
        for (at, &Name { name, doc, .. }) in names.iter().enumerate() {
            let items = self.items.len();
            let inner = format!("{path}.{name}");
            if choice.sections {
                self.items.push(Item::Section { path: inner.clone(), doc });
            }
            read(self, Scope::new(inner, String::new(), None, None), at);
            if !choice.sections {
                documented.push(VariantDoc { name, doc, fields: self.fields(items) });
            }
        }
        if !choice.sections {
            let kind = format!("a {}", choice.noun);
            let mut doc = KeyDoc::new(path, kind, presence, example, choice.doc);
            doc.variants = documented;
            self.items.push(Item::Key(doc));
        }
    }
}

/// What a word that is no name may have been meant as.
struct Meant<'n> {
    /// The name, perhaps with another one for it.
    label: String,
    /// The text to write for it; an empty one stands for the name alone.
    how: &'n str,
}

/// The name that is known elsewhere by the word that was written.
fn meant<'n>(written: &str, names: &'n [Name]) -> Option<Meant<'n>> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let written = plain(written);
    names.iter().find_map(|name| {
        let (_, how) = name.others.iter().find(|(other, _)| plain(other) == written)?;
        Some(Meant { label: format!("`{}`", name.name), how })
    })
}

/// The offered name that is most like the word that was written, or that is known elsewhere by the
/// name that is.
fn near<'n>(written: &str, names: &'n [Name]) -> Option<Meant<'n>> {
    let offered = || names.iter().filter(|name| name.offered);
    let own = offered().map(|name| name.name);
    let others = offered().flat_map(|name| name.others.iter().map(|(other, _)| *other));
    let near = nearest(written, own.chain(others))?;
    names.iter().filter(|name| name.offered).find_map(|name| {
        let label = format!("`{}`", name.name);
        if name.name == near {
            return Some(Meant { label, how: "" });
        }
        let (other, how) = name.others.iter().find(|(other, _)| *other == near)?;
        Some(Meant { label: format!("{label}, known as `{other}`"), how })
    })
}

/// The lines `KEY = VALUE` that a table needs, or its first key if it needs none. The value that
/// was written in place of the table goes to the first key whose values look like it. The other
/// keys get examples.
fn keys_for(keys: &[&KeyDoc], written: &str) -> Vec<String> {
    let looks = |text: &str| match text.chars().next() {
        Some(c) if c.is_ascii_digit() => '0',
        Some(c) if c.is_ascii_alphabetic() => 'a',
        c => c.unwrap_or(' '),
    };
    let needed: Vec<&&KeyDoc> = keys.iter().filter(|key| key.required).collect();
    let needed = if needed.is_empty() { keys.iter().take(1).collect() } else { needed };
    let mut written = Some(written);
    let one = |key: &&KeyDoc| {
        let own = written.take_if(|text| looks(text) == looks(&key.example));
        format!("{} = {}", key.name(), own.unwrap_or(&key.example))
    };
    needed.into_iter().map(one).collect()
}
/// What to type for a choice with the keys that were typed, in place of another one.
fn in_place(path: &str, chosen: &Entry) -> String {
    let key = |entry: &Entry| match &entry.node.value {
        Value::Text(text) => Some(format!("{} = {}", entry.key, quoted(text))),
        Value::Table(_) => None,
        _ => Some(format!("{} = {}", entry.key, entry.node.place.text())),
    };
    let keys = match &chosen.node.value {
        Value::Table(table) => table.entries.iter().map(key).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    match keys.filter(|keys| !keys.is_empty()) {
        Some(keys) => format!("'{path}={{ {} = {{ {} }} }}'", chosen.key, keys.join(", ")),
        None => format!("{path}={}", chosen.key),
    }
}
