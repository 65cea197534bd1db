//! `--json`: one object a command, and every key of it on the page that describes them (REVIEW C7).

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::workplace::Workplace;

const SMALL: &str = "[topology.torus]\ndimensions = [3, 3]\n[traffic]\npattern = \"uniform\"\nload = 0.2\n[measure]\n\
                     window = \"2 us\"\nwarm_up_windows = 4\nmaximum_windows = 10\n";
const SWEEP: &str = "[sweep.grid]\ntraffic.load = [0.1, 0.2]\n";

/// The part of the page under a heading.
fn part<'p>(page: &'p str, heading: &str) -> &'p str {
    let mut parts = page.split("\n## ");
    parts.find(|part| part.lines().next() == Some(heading)).unwrap_or_else(|| panic!("{heading}"))
}

/// All keys of an object and of what is in it.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                found.push(key.clone());
                keys(value, found);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn docs_json_names_every_key_that_is_printed() {
    let place = Workplace::new("json_keys");
    place.write("a.toml", SMALL);
    place.write("sweep.toml", &format!("{SMALL}{SWEEP}"));
    let tree = "[topology.tree]\narity = 2\nlevels = 2\n";
    let exchange = "[exchange]\npattern = \"all-to-all\"\nmessage = \"64 B\"\n";
    place.write("tree.toml", &format!("{tree}{exchange}"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/json.md")).unwrap();
    // In the first lines of `sweep` and `run` parts of `check` come again.
    let of_check = part(&page, "check");
    for (heading, call) in [
        ("plot, report, init", &["init", "b.toml", "--defaults"][..]),
        ("check", &["check", "a.toml"]),
        ("check", &["check", "sweep.toml"]),
        ("check", &["check", "tree.toml"]),
        ("run and sweep", &["run", "a.toml", "--out", "a"]),
        ("run and sweep", &["run", "tree.toml", "--out", "tree"]),
        ("run and sweep", &["sweep", "sweep.toml", "--out", "s"]),
        (
            "run and sweep",
            &["sweep", "a.toml", "--out", "t", "--set", "sweep.saturation={ tolerance = 0.3 }"],
        ),
        ("sweep --dry-run", &["sweep", "sweep.toml", "--dry-run"]),
        ("route", &["route", "a.toml"]),
        ("route", &["route", "tree.toml"]),
        ("failures", &["failures", "a.toml", "--systems", "2", "--most", "1"]),
        ("compare", &["compare", "s", "s"]),
        ("plot, report, init", &["plot", "s", "--only", "accepted", "--out", "f"]),
        ("plot, report, init", &["report", "s"]),
        ("reproduce", &["reproduce", "angara-table2"]),
    ] {
        let arguments: Vec<&str> = call.iter().copied().chain(["--json"]).collect();
        let printed = place.json(&arguments);
        assert!(printed.is_object(), "{arguments:?}: {printed}");
        let mut found = Vec::new();
        match heading {
            // Rows have the columns of files as keys.
            "reproduce" => found.extend(printed.as_object().unwrap().keys().cloned()),
            _ => keys(&printed, &mut found),
        }
        let text = part(&page, heading);
        for key in found {
            let named = format!("`{key}`");
            let again = heading == "run and sweep" && of_check.contains(&named);
            assert!(text.contains(&named) || again, "{arguments:?}: docs/json.md lacks {key}");
        }
    }
}

#[test]
fn errors_are_text_on_standard_error_with_json_too() {
    let place = Workplace::new("json_errors");
    for call in [&["check", "none.toml", "--json"][..], &["plot", "none", "--json"]] {
        let output = place.flitlab(call);
        assert_eq!(output.status.code(), Some(2), "{call:?}");
        assert!(output.stdout.is_empty() && output.stderr.starts_with(b"error: "), "{call:?}");
    }
}
