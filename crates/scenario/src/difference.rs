//! Differences between two scenarios as written, key by key.
//!
//! Works on documents, not on checked scenarios: results of another version can still be compared,
//! and a file that has gone since, such as a routing table, is not missed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Document;
use flitlab_base::document::{Node, Table, Value};

/// A key's value, or the values that a sweep gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Setting {
    One(String),
    Swept(Vec<String>),
}

/// A key that is not the same in both; `None` where it is not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Such as `link.latency`.
    pub key: String,
    pub a: Option<Setting>,
    pub b: Option<Setting>,
}

/// The keys that differ, those of `a` in their order, then those of `b` alone. `name` and `title`
/// are left out: they change nothing that is simulated.
pub fn differences(a: &Document, b: &Document) -> Vec<Difference> {
    let (of_a, of_b) = (Settings::of(a), Settings::of(b));
    let mut found = Vec::new();
    for key in of_a.order.iter().chain(of_b.order.iter().filter(|key| !of_a.has(key))) {
        let (a, b) = (of_a.nodes.get(key), of_b.nodes.get(key));
        let equal = a.zip(b).is_some_and(|(a, b)| {
            a.swept == b.swept
                && a.nodes.len() == b.nodes.len()
                && a.nodes.iter().zip(&b.nodes).all(|(a, b)| same(a, b))
        });
        if !equal && !matches!(key.as_str(), "name" | "title") {
            let setting = |values: Option<&Values<'_>>| values.map(Values::setting);
            found.push(Difference { key: key.clone(), a: setting(a), b: setting(b) });
        }
    }
    found
}

/// A document's keys with their values, in the order in which they are written; a swept key has
/// those of the sweep.
pub fn settings(document: &Document) -> Vec<(String, Setting)> {
    let settings = Settings::of(document);
    let setting = |key: String| (key.clone(), settings.nodes[&key].setting());
    settings.order.iter().cloned().map(setting).collect()
}

/// A document's keys with their values; a swept key has those of the sweep.
#[derive(Default)]
struct Settings<'d> {
    order: Vec<String>,
    nodes: BTreeMap<String, Values<'d>>,
}

struct Values<'d> {
    nodes: Vec<&'d Node>,
    swept: bool,
}

impl Values<'_> {
    fn setting(&self) -> Setting {
        match &self.nodes[..] {
            [only] if !self.swept => Setting::One(text(only)),
            nodes => Setting::Swept(nodes.iter().map(|node| text(node)).collect()),
        }
    }
}

impl<'d> Settings<'d> {
    fn of(document: &'d Document) -> Self {
        let mut settings = Self::default();
        settings.take(&document.root, "", false);
        if let Some(Node { value: Value::Table(grid), .. }) = document.get("sweep.grid") {
            settings.take(grid, "", true);
        }
        settings
    }

    fn has(&self, key: &str) -> bool {
        self.nodes.contains_key(key)
    }

    fn take(&mut self, table: &'d Table, above: &str, swept: bool) {
        for entry in &table.entries {
            let key = flitlab_base::document::join(above, &entry.key);
            if key == "sweep.grid" && !swept {
                continue;
            }
            let nodes = match &entry.node.value {
                Value::Table(inner) if !inner.entries.is_empty() => {
                    self.take(inner, &key, swept);
                    continue;
                }
                Value::List(list) if swept => list.iter().collect(),
                _ => vec![&entry.node],
            };
            if self.nodes.insert(key.clone(), Values { nodes, swept }).is_none() {
                self.order.push(key);
            }
        }
    }
}

/// Equal as values, however they are written.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Flag(a), Value::Flag(b)) => a == b,
        (Value::Integer(Some(a)), Value::Integer(Some(b))) => a == b,
        (Value::Float(a, _), Value::Float(b, _)) => a == b,
        (Value::Integer(Some(a)), Value::Float(b, _))
        | (Value::Float(b, _), Value::Integer(Some(a))) => *a as f64 == *b,
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Table(a), Value::Table(b)) => {
            a.entries.len() == b.entries.len()
                && a.entries
                    .iter()
                    .all(|entry| b.get(&entry.key).is_some_and(|other| same(&entry.node, other)))
        }
        _ => text(a) == text(b),
    }
}

/// As written; a text without its quotes.
fn text(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => text.clone(),
        _ => node.place.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(a: &str, b: &str) -> Vec<String> {
        let show = |setting: Option<Setting>| match setting {
            None => "-".into(),
            Some(Setting::One(text)) => text,
            Some(Setting::Swept(texts)) => format!("[{}]", texts.join(" ")),
        };
        let of = |text| Document::parse("a.toml", text);
        differences(&of(a), &of(b))
            .into_iter()
            .map(|one| format!("{}: {} | {}", one.key, show(one.a), show(one.b)))
            .collect()
    }

    #[test]
    fn equal_values_written_otherwise_are_no_difference() {
        let a = "name = 'a'\n[traffic]\nload = 0.30\npattern = 'uniform'\n";
        let b = "traffic = { pattern = \"uniform\", load = 0.3 }\nname = 'b'\n";
        assert_eq!(found(a, b), Vec::<String>::new());
    }

    #[test]
    fn keys_of_one_side_and_other_values_are_named() {
        let a = "[link]\nlatency = '70 ns'\n[routing.angara]\nalgorithm = 'bfs'\n";
        let b = "[link]\nlatency = '90 ns'\n[routing.file]\npath = 'x'\n";
        let expected = [
            "link.latency: 70 ns | 90 ns",
            "routing.angara.algorithm: bfs | -",
            "routing.file.path: - | x",
        ];
        assert_eq!(found(a, b), expected);
    }

    #[test]
    fn a_swept_key_is_compared_by_the_values_of_the_sweep() {
        let a = "traffic.load = 0.1\n[sweep]\ngrid.traffic.load = [0.1, 0.2]\n";
        let b = "traffic.load = 0.3\n";
        assert_eq!(found(a, b), ["traffic.load: [0.1 0.2] | 0.3"]);
        let b = "traffic.load = 0.5\n[sweep.grid]\ntraffic.load = [0.10, 0.20]\n";
        assert_eq!(found(a, b), Vec::<String>::new());
    }
}
