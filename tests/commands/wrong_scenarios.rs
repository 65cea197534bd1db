//! Every mistake under `tests/wrong` gets exactly the message beside it.
//!
//! A file's leading comments of the form `# set: KEY=VALUE` are given as `--set`. To rewrite the
//! messages after changing their wording: `UPDATE_EXPECTED=1 cargo test --test commands
//! wrong_scenarios`; then read them as somebody would who wants to get on with their work.

use std::{fs, path::Path};

use flitlab::scenario::{Document, Scenario, Sweep};

fn message(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).unwrap();
    let mut document = Document::parse(path.to_str().unwrap(), &text);
    for line in text.lines() {
        match line.strip_prefix("# set: ") {
            Some(assignment) => document.set(assignment),
            None => break,
        }
    }
    let outcome = if document.has_sweep() {
        Sweep::read(&document).map(drop)
    } else {
        Scenario::read(&document).map(drop)
    };
    outcome.err().map(|mistakes| mistakes.plain() + "\n")
}

#[test]
fn every_mistake_is_reported_as_expected() {
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    // The paths in the messages are relative, so that they are the same on every machine.
    let mut files: Vec<_> =
        fs::read_dir("tests/wrong").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(files.len() >= 45);
    let mut different = Vec::new();
    for path in files {
        let expected = path.with_extension("expected");
        let Some(message) = message(&path) else {
            panic!("{} is accepted", path.display());
        };
        if update {
            fs::write(&expected, &message).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != message {
            different.push(format!("{}:\n{message}", path.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
