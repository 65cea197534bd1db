//! The name of a scenario: that of the folder of its results.

use crate::document::{Diagnostic, Kind, Node, Slot, Text, quoted};

/// A name that is safe as a folder's name on every system.
pub(super) struct ScenarioName;

impl ScenarioName {
    const TEXT: Text =
        Text { what: "a name of letters, digits, `-`, `_` and `.`", example: "a-name" };

    /// The file's stem, what is not allowed replaced.
    pub(super) fn from_path(path: &str) -> String {
        let stem = std::path::Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        let name: String = stem.chars().map(|c| if Self::allows(c) { c } else { '-' }).collect();
        let name = name.trim_start_matches('.');
        if name.is_empty() { "scenario".into() } else { name.into() }
    }

    fn allows(c: char) -> bool {
        c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
    }
}

impl Kind for ScenarioName {
    type Value = String;

    fn describe(&self) -> String {
        Self::TEXT.describe()
    }

    fn example(&self) -> String {
        Self::TEXT.example()
    }

    fn parse(&self, slot: Slot<'_>, node: &Node) -> Result<String, Vec<Diagnostic>> {
        let name = Self::TEXT.parse(slot, node)?;
        let refuse = |message: String| {
            Err(vec![
                Diagnostic::new(&node.place, message)
                    .label("results go into a folder of this name")
                    .help(format!(
                        "letters, digits, `-`, `_` and `.` are allowed: {}; any text can be the \
                         `title`",
                        slot.write(node, &quoted(&Self::from_path(&name.replace('/', "-"))))
                    )),
            ])
        };
        if let Some(bad) = name.chars().find(|&c| !Self::allows(c)) {
            return refuse(match bad {
                ' ' => format!("{slot} can't have a space in it"),
                bad => format!("{slot} can't have `{bad}` in it"),
            });
        }
        if name.starts_with('.') {
            return refuse(format!("{slot} can't begin with a point"));
        }
        Ok(name)
    }

    fn show(&self, value: &String) -> String {
        quoted(value)
    }
}
