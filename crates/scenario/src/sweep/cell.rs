//! What points.csv calls the values of a key of the grid, where these are choices: tables that have
//! one table in them, as `{ outflank = { steps = 3 } }`.

use super::{grid::Key, named::CHOICES};
use flitlab_base::document::{Node, Table, Value};

/// The names of a key's values, one each: the choice's, or the choice's with the keys in which it
/// differs from the others of its name, as `outflank steps=3`. `None` if the values are no
/// choices, or such names would not tell them apart: then they are called as they are written.
pub(super) fn names(key: &Key) -> Option<Vec<String>> {
    if !CHOICES.contains(&key.path.as_str()) {
        return None;
    }
    let choices: Vec<Choice<'_>> =
        key.values.iter().map(|(_, node)| Choice::of(node)).collect::<Option<_>>()?;
    let names: Vec<String> = choices.iter().map(|choice| choice.told_from(&choices)).collect();
    let is_new = |(at, name): (usize, &String)| !names[..at].contains(name);
    names.iter().enumerate().all(is_new).then_some(names)
}

/// A choice, and its keys with their values, those of inner tables one by one.
struct Choice<'n> {
    name: &'n str,
    keys: Vec<(String, &'n str)>,
}

impl<'n> Choice<'n> {
    fn of(node: &'n Node) -> Option<Self> {
        let [only] = table(node)?.entries.as_slice() else { return None };
        let mut keys = Vec::new();
        collect(table(&only.node)?, "", &mut keys);
        Some(Self { name: &only.key, keys })
    }

    fn told_from(&self, all: &[Self]) -> String {
        let same_name = || all.iter().filter(|other| other.name == self.name);
        let differs = |entry: &&(String, &str)| !same_name().all(|it| it.keys.contains(entry));
        let keys = self.keys.iter().filter(differs).map(|(key, text)| format!("{key}={text}"));
        [self.name.to_owned()].into_iter().chain(keys).collect::<Vec<_>>().join(" ")
    }
}

fn table(node: &Node) -> Option<&Table> {
    match &node.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn collect<'n>(table: &'n Table, above: &str, keys: &mut Vec<(String, &'n str)>) {
    for entry in &table.entries {
        let path = format!("{above}{}", entry.key);
        match &entry.node.value {
            Value::Table(inner) => collect(inner, &format!("{path}."), keys),
            Value::Text(text) => keys.push((path, text)),
            _ => keys.push((path, entry.node.place.text())),
        }
    }
}
