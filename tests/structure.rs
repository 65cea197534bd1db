//! The library's modules use each other in the order that lib.rs promises.

use std::fs;
use std::path::{Path, PathBuf};

/// All source files in a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// The modules that a file names by `crate::`, in groups too; tests left out.
fn used(text: &str) -> Vec<&str> {
    let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    own.split("crate::").skip(1).flat_map(named).collect()
}

/// The first words of a path, or of each path of a group: `{a::b, c::{d, e}}` names `a` and `c`.
fn named(paths: &str) -> Vec<&str> {
    let word = |text: &str| {
        let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        end.unwrap_or(text.len())
    };
    let Some(group) = paths.strip_prefix('{') else { return vec![&paths[..word(paths)]] };
    let (mut names, mut depth, mut begins) = (Vec::new(), 0, true);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => begins = true,
            _ if begins && !letter.is_whitespace() => {
                begins = false;
                names.push(&group[at..][..word(&group[at..])]);
            }
            _ => {}
        }
    }
    names
}

#[test]
fn modules_are_found_however_they_are_named() {
    let text = "use crate::{\n    engine::Parameters,\n    scenario::{kind::{Kind, Slot}, x},\n};\n\
                let a = crate::units::Rate(1);\n#[cfg(test)]\nmod tests {\n    use crate::sweep;";
    assert_eq!(used(text), ["engine", "scenario", "units"]);
}

#[test]
fn each_module_uses_only_those_above_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let map = fs::read_to_string(source.join("lib.rs")).unwrap();
    let rows = map.lines().filter_map(|line| line.strip_prefix("//! | ")?.split('`').nth(1));
    let order: Vec<&str> = rows.collect();
    assert!(order.len() > 12, "{order:?}");
    let mut seen = 0;
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        let Some(place) = order.iter().position(|name| *name == module).filter(|_| !is_test) else {
            continue;
        };
        for name in used(&fs::read_to_string(&path).unwrap()) {
            if let Some(other) = order.iter().position(|known| *known == name) {
                assert!(other <= place, "{}: {module} uses {name}", path.display());
                seen += usize::from(other < place);
            }
        }
    }
    assert!(seen > 200, "{seen}");
}
