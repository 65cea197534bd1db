//! `[sweep.grid]`: keys with the values that they take.

use std::collections::HashSet;

use crate::load::AUTO;
use crate::series::LOAD;
use flitlab_base::document::{
    Diagnostic, Kind, Location, Node, Slot, Table, Value, quoted, range, wrong_type,
};

/// The keys of a grid.
#[derive(Clone, Default)]
pub(super) struct Swept {
    pub keys: Vec<Key>,
    /// Where it is said that the load is `"auto"`: it is none of the keys then.
    pub auto: Option<Location>,
}

/// A key and its values, each as text and as a value.
#[derive(Clone)]
pub(super) struct Key {
    pub path: String,
    pub key_place: Location,
    pub values: Vec<(String, Node)>,
}

/// A table of keys, keys dotted or nested.
pub(super) struct Grid;

impl Kind for Grid {
    type Value = Swept;

    fn describe(&self) -> String {
        "a table of keys with their values".into()
    }

    fn example(&self) -> String {
        "{ router.buffer = [\"72 flits\", \"144 flits\"], traffic.load = [0.1, 0.2, 0.3] }".into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Swept, Vec<Diagnostic>> {
        let Value::Table(table) = &node.value else {
            return Err(wrong_type(self, slot, node));
        };
        let (mut swept, mut problems) = (Swept::default(), Vec::new());
        collect(table, "", &mut swept, &mut problems);
        swept.keys.sort_by_key(|key| (key.key_place.source.order, key.key_place.span.start));
        if problems.is_empty() { Ok(swept) } else { Err(problems) }
    }

    fn show(&self, swept: &Swept) -> String {
        let key = |key: &Key| {
            let values: Vec<&str> = key.values.iter().map(|(text, _)| text.as_str()).collect();
            format!("{} = [{}]", key.path, values.join(", "))
        };
        let auto = swept.auto.as_ref().map(|_| format!("{LOAD} = {}", quoted(AUTO)));
        let keys: Vec<String> = swept.keys.iter().map(key).chain(auto).collect();
        format!("{{ {} }}", keys.join(", "))
    }
}

fn collect(table: &Table, above: &str, swept: &mut Swept, problems: &mut Vec<Diagnostic>) {
    for entry in &table.entries {
        let path =
            if above.is_empty() { entry.key.clone() } else { format!("{above}.{}", entry.key) };
        let place = &entry.node.place;
        let values = match &entry.node.value {
            Value::Broken => continue,
            Value::Table(inner) if range::KEYS.iter().any(|key| inner.get(key).is_some()) => {
                range::values(&path, inner, place)
            }
            Value::Table(inner) => {
                collect(inner, &path, swept, problems);
                continue;
            }
            Value::Text(text) if text == AUTO && path == LOAD => {
                swept.auto = Some(entry.key_place.clone());
                continue;
            }
            Value::Text(text) if text == AUTO && path.ends_with(LOAD) => {
                Err(vec![several_loads(&path, place)])
            }
            Value::List(list) => elements(&path, list, place),
            _ => Err(vec![
                Diagnostic::new(place, format!("`{path}` must be a list of values"))
                    .label(format!("this is {}", entry.node.what()))
                    .help(format!(
                        "write `{path} = [{}]`, or a range {{ from = 0.1, to = 0.9, step = 0.1 }}",
                        place.text()
                    )),
            ]),
        };
        match values {
            Ok(values) => swept.keys.push(Key { path, key_place: entry.key_place.clone(), values }),
            Err(more) => problems.extend(more),
        }
    }
}

fn several_loads(path: &str, place: &Location) -> Diagnostic {
    let message = format!(
        "`{path}` can't be \"auto\": a curve is of one load, and there are several workloads"
    );
    Diagnostic::new(place, message).help(format!("give its loads: `\"{path}\" = [0.1, 0.2]`"))
}

fn elements(
    path: &str,
    list: &[Node],
    place: &Location,
) -> Result<Vec<(String, Node)>, Vec<Diagnostic>> {
    if list.is_empty() {
        return Err(vec![Diagnostic::new(place, format!("`{path}` has no values"))]);
    }
    let mut problems = Vec::new();
    let mut values: Vec<(String, Node)> = Vec::with_capacity(list.len());
    // Values that are written the same, or are the same number, are equal.
    let (mut texts, mut numbers) = (HashSet::new(), HashSet::new());
    for node in list {
        let text = node.place.text();
        if path == LOAD && matches!(&node.value, Value::Text(text) if text == AUTO) {
            problems.push(Diagnostic::new(&node.place, "loads are either given or \"auto\"").help(
                format!(
                    "write `{LOAD} = \"auto\"` for those that each curve needs, or numbers alone"
                ),
            ));
            continue;
        }
        let is_new_number = number(node).is_none_or(|number| numbers.insert(number.to_bits()));
        if !texts.insert(text) || !is_new_number {
            problems.push(
                Diagnostic::new(&node.place, format!("`{path}` has the value {text} twice"))
                    .label("the second time"),
            );
        }
        values.push((text.into(), node.clone()));
    }
    if problems.is_empty() { Ok(values) } else { Err(problems) }
}

/// The number that a value is; zero has no sign.
fn number(node: &Node) -> Option<f64> {
    match &node.value {
        Value::Integer(number) => number.map(|number| number as f64),
        Value::Float(number, _) => Some(*number + 0.0),
        _ => None,
    }
}
