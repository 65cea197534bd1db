//! Ctrl-C, SIGTERM and SIGHUP.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::ongoing::Ongoing;
use super::slow;
use crate::common::workplace::Workplace;

#[test]
fn an_interrupted_sweep_says_how_to_go_on_and_that_gives_the_same_bytes() {
    for signal in ["INT", "TERM", "HUP"] {
        if signal == "HUP" && hangups_are_ignored() {
            eprintln!("skipped: SIGHUP is ignored here");
            continue;
        }
        let place = Workplace::new(&format!("sweeps_interrupted_{signal}"));
        place.write("a sweep.toml", &slow().replace("0.4]", "0.4, 0.45, 0.5]"));
        place.run(&[
            "sweep",
            "a sweep.toml",
            "--out",
            "undisturbed",
            "--set",
            "title=It's \"slow\"",
        ]);
        let call = ["sweep", "a sweep.toml", "--threads", "1", "--set", "title=It's \"slow\""];
        let mut sweep = place.begin(&call);
        sweep.wait_until(|| place.points("results/a-sweep") >= 2);
        sweep.signal(signal);
        let (code, said) = sweep.end();
        assert_eq!(code, Some(130), "{said}");
        let rows = place.read("results/a-sweep/points.csv").lines().count() - 1;
        assert!(said.contains(&format!("interrupted: {rows} of 12 points are finished")), "{said}");
        let command = said.lines().last().unwrap().trim();
        assert!(command.ends_with("--out results/a-sweep --resume"), "{command}");
        let again =
            Command::new("sh").args(["-c", command]).current_dir(&place.0).output().unwrap();
        let printed = String::from_utf8(again.stdout).unwrap();
        assert!(
            again.status.success() && printed.contains("points were there already"),
            "{printed}"
        );
        place.assert_same("undisturbed", "results/a-sweep");
    }
}

/// Whether these tests run under `nohup` or the like.
fn hangups_are_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("1");
    u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1)
}

#[test]
fn under_nohup_the_end_of_a_terminal_ends_nothing() {
    let place = Workplace::new("sweeps_nohup");
    place.write("a.toml", &slow());
    let program = env!("CARGO_BIN_EXE_flitlab");
    let line = format!("trap '' HUP; exec '{program}' sweep a.toml --threads 1 --out a");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(&place.0).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut sweep = Ongoing::of(command.spawn().unwrap());
    sweep.wait_until(|| place.points("a") >= 1);
    sweep.signal("HUP");
    // A signal that is taken ends it at once.
    let points = place.points("a");
    sweep.wait_until(|| place.points("a") > points);
    sweep.kill_if_running();
}

/// A scenario to run: that of the sweep, at one load.
fn one_load() -> String {
    slow().replacen("[traffic]\n", "[traffic]\nload = 0.3\n", 1)
}

#[test]
fn an_interrupted_run_leaves_its_folder_free() {
    let place = Workplace::new("sweeps_interrupted_run");
    place.write("a.toml", &one_load());
    let long =
        ["--set", "measure.minimum_windows=1000000", "--set", "measure.maximum_windows=1000000"];
    let mut run = place.begin(&[&["run", "a.toml"][..], &long].concat());
    run.wait_until(|| place.0.join("results/a/scenario.toml").exists());
    sleep(Duration::from_millis(100));
    // As `timeout` does it: to the process, and at once to its group. That is no second request.
    run.signal("INT");
    run.signal("INT");
    let (code, said) = run.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(
        said.contains(
            "interrupted: nothing of the run is kept; one that is given --checkpoint FILE can go on"
        ),
        "{said}"
    );
    assert_eq!(fs::read_dir(place.0.join("results/a")).unwrap().count(), 0);
    assert!(place.run(&["run", "a.toml"]).contains("results in results/a\n"));
}

#[test]
fn a_second_signal_ends_what_the_first_one_waits_for() {
    let place = Workplace::new("sweeps_second_signal");
    place.write("a.toml", &one_load());
    // Nobody reads what it prints at its end, and there is no more room for that.
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(&[b' '; 65_536]).unwrap();
    let mut command = place.command(&["run", "a.toml", "--json"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    drop(command);
    let mut run = Ongoing::of(child);
    run.wait_until(|| place.0.join("results/a/summary.json").exists());
    run.signal("INT");
    sleep(Duration::from_millis(200));
    assert!(!run.has_ended());
    run.signal("INT");
    assert_eq!(run.end().0, Some(130));
    drop(reader);
}
