//! Commands called by a program, as Python calls them: nothing is printed, no process ends.

use std::ffi::OsString;
use std::fs;
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use flitlab::cli::{Answer, Ended, Program};

use crate::common::workplace::Workplace;

const SCENARIO: &str = "topology.torus.dimensions = [4, 4]\n[traffic]\npattern = 'uniform'\n\
                        load = 0.2\n[measure]\nmaximum_windows = 20\n";

/// What the command does.
fn flitlab(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_flitlab")).args(words).output().unwrap()
}

fn call(program: &Arc<Program>, words: &[&str], text: Option<&str>) -> Option<Ended> {
    program.call(&words.iter().map(OsString::from).collect::<Vec<_>>(), text)
}

/// The exit code, what is said of it, and what was found.
fn called(words: &[&str], text: Option<&str>) -> (u8, String, Answer) {
    let program = Arc::new(Program::default());
    let ended = call(&program, words, text).expect("nobody interrupts it");
    (ended.code, ended.text, program.answer())
}

#[test]
fn a_program_gets_the_result_whose_files_the_command_writes() {
    let place = Workplace::new("program-result");
    let scenario = place.0.join("scenario.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let (scenario, files) = (scenario.to_str().unwrap(), place.0.join("files"));
    let done = flitlab(&["run", scenario, "--out", files.to_str().unwrap()]);
    assert!(done.status.success());
    let saved = place.0.join("saved");
    for text in [None, Some(SCENARIO)] {
        let (code, error, answer) = called(&["run", scenario], text);
        assert_eq!((code, error.as_str()), (0, ""));
        let result = answer.result.unwrap();
        assert_eq!(result.folder, None, "without --out there are no files");
        result.save(&saved).unwrap();
        let mut names = 0;
        for entry in fs::read_dir(&files).unwrap() {
            let name = entry.unwrap().file_name();
            let contents = |folder: &std::path::Path| fs::read(folder.join(&name)).unwrap();
            assert!(contents(&files) == contents(&saved), "{}", name.display());
            names += 1;
        }
        assert_eq!(fs::read_dir(&saved).unwrap().count(), names);
        assert!(result.save(&saved).unwrap_err().contains("results never replace others"));
        fs::remove_dir_all(&saved).unwrap();
    }
}

#[test]
fn a_program_gets_the_text_of_an_error_that_the_command_prints() {
    for words in [
        &["run", "missing.toml"][..],
        &["run", "scenarios/desmos/desmos-uniform.toml", "--set", "traffic.laod=0.3"],
        &["sweep", "scenarios/desmos/desmos.toml", "--threads", "0"],
        &["route", "scenarios/nue/torus4222-minhop.toml"],
    ] {
        let done = flitlab(words);
        let (code, error, answer) = called(words, None);
        assert_eq!(i32::from(code), done.status.code().unwrap(), "{words:?}");
        // A program has no command line: what it sets is a text of its own.
        let printed = String::from_utf8_lossy(&done.stderr).into_owned();
        let printed = printed.replace("command line:1:7", "settings:1:1").replace("| --set ", "| ");
        let printed = printed.replace("|       ^", "| ^");
        assert_eq!(error, printed.trim_end(), "{words:?}");
        assert_eq!(answer.tables.len(), if words[0] == "route" { 2 } else { 0 });
    }
}

#[test]
fn a_program_interrupts_a_command_which_then_leaves_nothing() {
    let place = Workplace::new("program-interrupted");
    let out = place.0.join("out");
    let long = SCENARIO.replace("4, 4", "8, 8").replace("= 20", "= 1000000\nwindow = '1 ms'");
    let grid = format!("{long}[sweep.grid]\nseed = [1, 2, 3]\n");
    for (command, text, threads) in
        [("run", &long, "1"), ("run", &long, "3"), ("sweep", &grid, "2")]
    {
        let program = Arc::new(Program::default());
        let words = [command, "long.toml", "--out", out.to_str().unwrap(), "--threads", threads];
        let (ended, seconds) = thread::scope(|scope| {
            let command = scope.spawn(|| call(&program, &words, Some(text)));
            thread::sleep(Duration::from_secs(1));
            assert!(program.standing().is_some(), "it is still at work");
            assert!(!program.interrupt(), "there is nothing to keep first");
            let asked = Instant::now();
            (command.join().unwrap(), asked.elapsed().as_secs_f64())
        });
        assert!(ended.is_none());
        assert!(seconds < 5.0, "{command} took {seconds} s to end");
        let notes = program.notes().join("\n");
        assert!(notes.contains("interrupted: "), "{notes}");
        if command == "run" {
            assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
        } else {
            assert!(notes.contains("resume=True"), "{notes}");
        }
        fs::remove_dir_all(&out).unwrap();
    }
}
