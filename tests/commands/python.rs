//! The code of docs/python.md that needs no library, run by Python if there is one.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::workplace::Workplace;

#[test]
fn the_scripts_of_the_page_on_python_run() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: there is no python3");
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/python.md");
    let page = fs::read_to_string(page).unwrap();
    let blocks = page.split("```python\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.filter(|block| !block.contains("pd.")).collect();
    assert_eq!(script.matches("def ").count(), 2);
    let folder = Workplace::new("python");
    let scenario = "topology.torus.dimensions = [4, 4]\n[traffic]\npattern = 'uniform'\nload = 0.1\n\
                    [measure]\nmaximum_windows = 20\n";
    fs::write(folder.0.join("scenario.toml"), scenario).unwrap();
    let programs = Path::new(env!("CARGO_BIN_EXE_flitlab")).parent().unwrap().to_owned();
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&path))).unwrap();
    let script = script.replace("steps=5", "steps=3");
    let run = |script: &str| {
        let mut python = Command::new("python3");
        python.arg("-c").arg(script).current_dir(&folder.0).env("PATH", &path).output().unwrap()
    };
    let done = run(&script);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let load: f64 = String::from_utf8_lossy(&done.stdout).trim().parse().unwrap();
    assert!((0.3..1.0).contains(&load), "{load}");
    assert!(folder.0.join("step-2/points.csv").exists());
    assert!(!folder.0.join("step-2/latency.svg").exists());
    // A mistake reaches the script as flitlab words it.
    let (functions, _) = script.split_once("print(").unwrap();
    let wrong = run(&format!("{functions}run('scenario.toml', 'wrong', traffic__laod=0.3)"));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `load`?"));
}
