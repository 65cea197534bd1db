//! A scenario with every value written out, given or default.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use flitlab_base::registry::Package;

/// Every key of a scenario with its value, given or default.
#[derive(Default)]
pub(crate) struct Resolved {
    /// Path and TOML text.
    pub keys: Vec<(String, String)>,
    /// Identities of the contents of files, by the path of the key that names the file.
    pub contents: BTreeMap<String, String>,
    /// Components that are not built in, each a path and the crate that it comes from.
    pub packages: Vec<(String, Package)>,
}

impl Resolved {
    /// Gives a key another value, as TOML.
    pub fn set(&mut self, path: &str, value: &str) {
        if let Some((_, text)) = self.keys.iter_mut().find(|(key, _)| key == path) {
            value.clone_into(text);
        }
    }
}

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
