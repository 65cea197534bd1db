//! The Python package, installed as users install it, in a virtual environment of its own; and the
//! code of docs/python.md that needs no package.

use std::env;
use std::fs;
use std::io::{Write, stderr};
use std::path::Path;
use std::process::{Command, Output};

use crate::common::workplace::Workplace;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What is installed from afar. Where it can't be had, neither can what `pip install .` builds
/// with.
const PACKAGES: [&str; 2] = ["numpy>=1.21", "maturin>=1.8,<2"];

fn skipped(test: &str, why: &str) {
    // Not by println, which is shown for tests that fail only.
    let _ = writeln!(stderr(), "test {test} was skipped: {why}");
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

#[test]
fn the_python_package_is_installed_and_passes_its_tests() {
    const TEST: &str = "the_python_package_is_installed_and_passes_its_tests";
    let place = Workplace::new("python-package");
    let environment = place.0.join("environment");
    let made = Command::new("python3").args(["-m", "venv"]).arg(&environment).output();
    if !made.is_ok_and(|output| output.status.success()) {
        return skipped(TEST, "there is no python3 with venv");
    }
    let python = environment.join("bin/python");
    let pip = |words: &[&str]| {
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "--disable-pip-version-check", "install", "--quiet"]).args(words);
        // The program that is tested is built already, with the same profile.
        pip.env("CARGO_TARGET_DIR", target()).env("MATURIN_PEP517_ARGS", "--profile dev");
        pip.current_dir(&place.0).output().unwrap()
    };
    let had = pip(&PACKAGES);
    if !had.status.success() {
        return skipped(TEST, &format!("packages can't be had: {}", text(&had).trim_end()));
    }
    let built = pip(&[ROOT]);
    assert!(built.status.success(), "{}", text(&built));
    let tests = Command::new(&python)
        .args(["-m", "unittest", "discover", "--start-directory"])
        .arg(Path::new(ROOT).join("tests/python"))
        .current_dir(&place.0)
        .env("FLITLAB", env!("CARGO_BIN_EXE_flitlab"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(tests.status.success(), "{}", text(&tests));
}

/// The folder that cargo builds in.
fn target() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_flitlab")).ancestors().nth(2).expect("target/dev/flitlab")
}

#[test]
fn the_script_of_the_page_on_python_runs_without_the_package() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skipped(
            "the_script_of_the_page_on_python_runs_without_the_package",
            "there is no python3",
        );
    }
    let page = fs::read_to_string(Path::new(ROOT).join("docs/python.md")).unwrap();
    let blocks = page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.filter(|block| block.contains("import subprocess")).collect();
    assert_eq!(script.matches("def ").count(), 1);
    let folder = Workplace::new("python");
    let scenario = "topology.torus.dimensions = [4, 4]\n[traffic]\npattern = 'uniform'\nload = 0.1\n\
                    [measure]\nmaximum_windows = 20\n";
    fs::write(folder.0.join("scenario.toml"), scenario).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_flitlab")).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
    let run = |call: &str| {
        let mut python = Command::new("python3");
        python.arg("-c").arg(format!("{script}\n{call}"));
        python.current_dir(&folder.0).env("PATH", &path).output().unwrap()
    };
    let done = run("print(run('scenario.toml', traffic__load=0.3)['accepted_load'])");
    assert!(done.status.success(), "{}", text(&done));
    let load: f64 = String::from_utf8_lossy(&done.stdout).trim().parse().unwrap();
    assert!((load - 0.3).abs() < 0.01, "{load}");
    // A mistake reaches the script as flitlab words it.
    let wrong = run("run('scenario.toml', traffic__laod=0.3)");
    assert!(text(&wrong).contains("did you mean `load`?"));
}
