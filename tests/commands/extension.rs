//! A program that brings its own pattern and its own table algorithm: tests/extension, which docs/extending.md goes
//! through.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::workplace::Workplace;

/// Builds the program as these tests were built, so that flitlab itself is not compiled again.
fn program() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extension/Cargo.toml");
    // The folder of this profile is where flitlab's own program is.
    let profile = Path::new(env!("CARGO_BIN_EXE_flitlab")).parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--offline", "--quiet", "--manifest-path"]).arg(manifest);
    build.arg("--target-dir").arg(profile.parent().unwrap());
    if profile.ends_with("release") {
        build.arg("--release");
    }
    let built = build.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    profile.join(format!("flitlab-extension{}", std::env::consts::EXE_SUFFIX))
}

fn run(program: &Path, scenario: &Path) -> Output {
    Command::new(program).arg(scenario).output().unwrap()
}

/// On the tree, nodes lie in a line: 5 6 7 0 1 2 3 4. Six of the eight nodes have their partner two hops further on;
/// those of 3 and 4 are six hops back. The channels in the middle carry two flows, in both directions.
#[test]
fn a_pattern_and_an_algorithm_from_outside_are_simulated() {
    let program = program();
    let ring = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extension/ring.toml");
    let output = run(&program, &ring);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value = |name: &str| -> f64 {
        let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
    };
    assert_eq!(value("mean hops"), (6.0 * 2.0 + 2.0 * 6.0) / 8.0);
    assert_eq!(value("throughput at most"), 0.5);
    assert!((value("throughput") - 0.3).abs() < 0.01, "{text}");

    let workplace = Workplace::new("extension");
    let wrong = fs::read_to_string(&ring).unwrap().replace("by = 2", "bye = 2");
    workplace.write("wrong.toml", &wrong);
    let output = run(&program, &workplace.0.join("wrong.toml"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("did you mean `by`?"), "{said}");
}
