//! The name of a scenario: that of the folder of its results.

use flitlab_base::document::{Diagnostic, Kind, Node, Slot, Text, quoted};

/// A name that is safe as a folder's name on every system.
pub(super) struct ScenarioName;

impl ScenarioName {
    const TEXT: Text =
        Text { what: "a name of letters, digits, `-`, `_` and `.`", example: "a-name" };

    /// The file's stem, what is not allowed replaced.
    pub(super) fn from_path(path: &str) -> String {
        let stem = std::path::Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.trim_start_matches('.');
        let fits = |(at, letter): &(usize, char)| at + letter.len_utf8() <= LONGEST;
        let letters = stem.char_indices().take_while(fits);
        let mut name: String =
            letters.map(|(_, letter)| if Self::allows(letter) { letter } else { '-' }).collect();
        if is_device(&name) {
            name.insert(0, '-');
        }
        if name.is_empty() { "scenario".into() } else { name }
    }

    fn allows(c: char) -> bool {
        c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
    }
}

/// The most bytes of a name. File systems have room for 255, of which a number and other files'
/// endings need some.
const LONGEST: usize = 200;

/// Whether Windows has a device of this name, whatever its ending, and so no folder.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let port =
        |kind| stem.strip_prefix(kind).is_some_and(|it| matches!(it.as_bytes(), [b'1'..=b'9']));
    ["con", "prn", "aux", "nul"].contains(&stem.as_str()) || port("com") || port("lpt")
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
        if name.len() > LONGEST {
            return refuse(format!("{slot} can't have more than {LONGEST} bytes"));
        }
        if is_device(&name) {
            return refuse(format!("{slot} can't be that of a device of Windows"));
        }
        Ok(name)
    }

    fn show(&self, value: &String) -> String {
        quoted(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_any_language_gives_a_name_that_any_system_takes() {
        for (path, name) in [
            ("a/torus 8x8.toml", "torus-8x8"),
            ("мой study.toml", "мой-study"),
            ("..hidden.toml", "hidden"),
            (".toml", "toml"),
            ("con.toml", "-con"),
            ("LPT1.a.toml", "-LPT1.a"),
            ("company.toml", "company"),
        ] {
            assert_eq!(ScenarioName::from_path(path), name);
        }
        let long = ScenarioName::from_path(&"ж".repeat(150));
        assert_eq!(long, "ж".repeat(LONGEST / 2));
    }
}
