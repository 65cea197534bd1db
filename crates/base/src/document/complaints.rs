//! Messages about missing keys and unknown keys.
//!
//! One slip gives one message: a misspelt key is both unknown and missing, and is reported as
//! misspelt.

use super::{Diagnostic, Entry, Location, Missed, Reader, Reference, Scope, Value, join, nearest};

impl<'d> Reader<'d> {
    /// Reports the keys that a table lacks, and the keys in it that were not asked for.
    pub(super) fn leave(&mut self, scope: &Scope<'d>) {
        if !scope.quiet {
            self.report_missing(scope);
        }
        let all = self.hints.map(|hints| (hints.reference)());
        for entry in scope.table.into_iter().flat_map(|table| &table.entries) {
            if !scope.asked.contains(&entry.key.as_str()) {
                self.problems.push(unknown(scope, &entry.key, &entry.key_place, all));
            }
        }
    }

    fn report_missing(&mut self, scope: &Scope<'d>) {
        let missed = |key: &str| {
            self.hints.map_or(Missed::Mistake, |it| (it.missed)(&join(&scope.path, key)))
        };
        let missing =
            scope.missing.iter().filter(|(key, _)| !matches!(missed(key), Missed::Nothing));
        let (held, missing): (Vec<_>, Vec<_>) =
            missing.partition(|(key, _)| self.reported_otherwise(scope, key));
        let Some(place) = &scope.place else { return };
        if !held.is_empty() {
            let message = format!("{} lacks a key", scope.title);
            self.held.push(Diagnostic::new(place, message).label(held[0].0));
        }
        if missing.is_empty() {
            return;
        }
        let names: Vec<String> = missing.iter().map(|(key, _)| format!("`{key}`")).collect();
        let examples: Vec<String> =
            missing.iter().map(|(key, example)| format!("{key} = {example}")).collect();
        let message = format!("{} needs {}", scope.title, names.join(" and "));
        let known = missing.iter().find_map(|(key, _)| match missed(key) {
            Missed::Help(help) => Some(help),
            _ => None,
        });
        let help = known.unwrap_or_else(|| match &scope.frame {
            None => format!("add for example `{}`", examples.join("` and `")),
            Some(frame) if frame.starts_with('[') => {
                format!("add a line {frame} and below it `{}`", examples.join("` and `"))
            }
            Some(frame) => {
                format!("write for example `{}`", frame.replace("...", &examples.join(", ")))
            }
        });
        self.problems.push(Diagnostic::new(place, message).help(help));
    }

    /// Whether another message, of a misspelt or misplaced key, will cover a missing key.
    fn reported_otherwise(&self, scope: &Scope<'_>, key: &'static str) -> bool {
        let Some(document) = self.document else { return false };
        if scope.frame.as_ref().is_some_and(|frame| !frame.starts_with('[')) {
            return false;
        }
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
}

/// The message for an unknown key: the nearest name in its table, else the tables that have such a
/// key. A plural of it in its own table is nearer than the key itself in another one.
fn unknown(scope: &Scope<'_>, key: &str, place: &Location, all: Option<&Reference>) -> Diagnostic {
    let whereabouts =
        if scope.path.is_empty() { String::new() } else { format!(" in {}", scope.title) };
    let problem = Diagnostic::new(place, format!("unknown key `{key}`{whereabouts}"));
    let keys = match scope.asked.len() {
        0 => format!("{} takes no keys", scope.title),
        1 => format!("the only key here is `{}`", scope.asked[0]),
        _ => format!("the keys here are {}", scope.asked.join(", ")),
    };
    let homes = all.map_or_else(Vec::new, |all| all.homes(key));
    if let Some(near) = nearest(key, scope.asked.iter().copied())
        && (homes.is_empty() || near.eq_ignore_ascii_case(key) || near.starts_with(key))
    {
        return problem.label(format!("did you mean `{near}`?")).help(keys);
    }
    if homes.is_empty() {
        return problem.help(keys);
    }
    problem.label(format!("did you mean {}?", homes.join(" or "))).help(keys)
}
