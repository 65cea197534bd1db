//! A scenario with every value written out, given or default.

use std::fmt::Write as _;

use super::Resolved;

/// Arranges recorded keys (path, TOML text) as tables. Keys of the top level come first, as TOML
/// needs it; tables keep the order of their first key. Comments say which components are not built
/// in.
pub(super) fn render(resolved: &Resolved) -> String {
    let Resolved { keys, packages, .. } = resolved;
    let mut tables: Vec<(&str, Vec<(&str, &str)>)> = vec![("", Vec::new())];
    for (path, text) in keys {
        let (table, key) = path.rsplit_once('.').unwrap_or(("", path));
        match tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, keys)) => keys.push((key, text)),
            None => tables.push((table, vec![(key, text)])),
        }
    }
    let mut toml = String::new();
    for (path, package) in packages {
        let _ = writeln!(toml, "# {path} is not built in: it comes from {package}");
    }
    for (table, keys) in tables {
        if !table.is_empty() {
            let _ = writeln!(toml, "\n[{table}]");
        }
        for (key, text) in keys {
            let _ = writeln!(toml, "{key} = {text}");
        }
    }
    toml
}
