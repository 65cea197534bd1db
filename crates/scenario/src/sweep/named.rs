//! `[sweep.series]`: series with a name, each a set of keys with its own values.

use super::axis::{Setting, Step};
use crate::Document;
use flitlab_base::document::{
    Diagnostic, Entry, Hints, Kind, Node, Slot, Table, Value, quoted, wrong_type,
};

/// Names, each with a table of keys. The hints tell tables from values that are tables.
pub(super) struct NamedSeries<'d>(pub Option<Hints<'d>>);

impl Kind for NamedSeries<'_> {
    type Value = Vec<Step>;

    fn describe(&self) -> String {
        "a table of names, each with a table of keys and their values".into()
    }

    fn example(&self) -> String {
        "{ \"small buffers\" = { router.buffer = \"72 flits\" }, ABR = { routing.adaptive = {} } }"
            .into()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<Vec<Step>, Vec<Diagnostic>> {
        let Value::Table(table) = &node.value else { return Err(wrong_type(self, slot, node)) };
        let is_table = |path: &str| self.0.is_some_and(|hints| (hints.reference)().is_table(path));
        let (mut steps, mut problems) = (Vec::new(), Vec::new());
        // Headers and --set may have mixed them up.
        let mut entries: Vec<&Entry> = table.entries.iter().collect();
        entries.sort_by_key(|entry| (entry.key_place.source.order, entry.key_place.span.start));
        for entry in entries {
            match &entry.node.value {
                Value::Broken => {}
                _ if entry.key.contains(char::is_control) => problems.push(
                    Diagnostic::new(
                        &entry.key_place,
                        format!("a series can't be called {:?}", entry.key),
                    )
                    .help("its name goes into figures and terminals as it is: leave out what is no letter"),
                ),
                // One without keys is the scenario as it stands.
                Value::Table(keys) if !entry.key.trim().is_empty() => {
                    let mut settings = Vec::new();
                    collect(keys, "", &is_table, &mut settings);
                    steps.push(Step { name: Some(entry.key.clone()), settings });
                }
                _ => problems.push(no_series(entry)),
            }
        }
        if problems.is_empty() { Ok(steps) } else { Err(problems) }
    }

    fn show(&self, steps: &Vec<Step>) -> String {
        let step = |step: &Step| {
            let setting = |setting: &Setting| format!("{} = {}", setting.path, setting.text);
            let settings: Vec<String> = step.settings.iter().map(setting).collect();
            let name = step.name.as_deref().unwrap_or_default();
            format!("{} = {{ {} }}", quoted(name), settings.join(", "))
        };
        format!("{{ {} }}", steps.iter().map(step).collect::<Vec<_>>().join(", "))
    }
}

fn no_series(entry: &Entry) -> Diagnostic {
    let example = "`ABR = { routing.adaptive = {} }`";
    if entry.key.trim().is_empty() {
        return Diagnostic::new(&entry.key_place, "a series needs a name")
            .help(format!("write for example {example}"));
    }
    Diagnostic::new(&entry.node.place, format!("the series `{}` has no table of keys", entry.key))
        .label(format!("this is {}", entry.node.what()))
        .help(format!("a series is a name and a table of keys, for example {example}; `{{}}` for the scenario as it stands"))
}

/// The keys of a table; what lies in tables of the scenario, such as [router] or [routing.angara],
/// counts one by one.
fn collect(
    table: &Table,
    above: &str,
    is_table: &dyn Fn(&str) -> bool,
    settings: &mut Vec<Setting>,
) {
    for Entry { key, key_place, node } in &table.entries {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match &node.value {
            Value::Table(inner) if !inner.entries.is_empty() && is_table(&path) => {
                collect(inner, &path, is_table, settings);
            }
            _ => settings.push(Setting {
                path,
                key_place: key_place.clone(),
                text: node.place.text().to_owned(),
                node: node.clone(),
                name: None,
            }),
        }
    }
}

/// The tables that have one table of several in them.
pub(super) const CHOICES: [&str; 2] = ["topology", "routing"];

/// The table of one choice that a path leads into, and the choice.
pub(super) fn choice(path: &str) -> Option<(&str, &str)> {
    let (table, rest) = path.split_once('.')?;
    CHOICES.contains(&table).then(|| (table, rest.split('.').next().unwrap_or(rest)))
}

/// The path whose value a series replaces by setting this one.
pub(super) fn replaced(path: &str) -> &str {
    choice(path).map_or(path, |(table, _)| table)
}

/// Sets the keys of a series. A topology or a routing takes the place of the scenario's, unless
/// that is the same one: then it keeps its other keys.
pub(super) fn assign(settings: &[Setting], document: &mut Document) {
    for setting in settings {
        if let Some((table, name)) = choice(&setting.path) {
            document.keep_only(table, name);
        }
        let empty = matches!(&setting.node.value, Value::Table(table) if table.entries.is_empty());
        if !(empty && document.get(&setting.path).is_some()) {
            setting.assign(document);
        }
    }
}

/// A value for each key that any of the series sets, for each of them, from all resolved keys of
/// one of its points: what one series sets, another must not inherit. What the grid sets is no
/// series' own, though it lies in a table that one sets.
pub(super) fn resolved(
    steps: &[Step],
    keys: &[Vec<(String, String)>],
    grid: &[&str],
) -> Vec<String> {
    let mut paths: Vec<&str> = Vec::new();
    for setting in steps.iter().flat_map(|step| &step.settings) {
        let path = replaced(&setting.path);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let series = steps.iter().zip(keys).map(|(step, keys)| {
        let values: Vec<String> = paths.iter().flat_map(|path| values(keys, path, grid)).collect();
        let name = step.name.as_deref().unwrap_or_default();
        format!("{} = {{ {} }}", quoted(name), values.join(", "))
    });
    series.collect()
}

/// The key at a path, or all those below it, but for those that the grid sets.
fn values<'k>(
    keys: &'k [(String, String)],
    path: &'k str,
    grid: &'k [&str],
) -> impl Iterator<Item = String> + 'k {
    let is_in = |key: &str, path: &str| {
        key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let of_path = move |(key, _): &&(String, String)| {
        is_in(key, path) && !grid.iter().any(|given| is_in(key, given))
    };
    keys.iter().filter(of_path).map(|(key, text)| format!("{key} = {text}"))
}
