//! Kills at any moment: nothing finished is lost, nothing is counted twice.

use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::{SMALL, slow};
use crate::common::workplace::{SHORT, Workplace, scenario, with};

#[test]
fn killed_three_times_and_resumed_a_sweep_gives_the_same_bytes_as_undisturbed() {
    let place = Workplace::new("sweeps_killed");
    place.write("a.toml", &slow());
    place.run(&["sweep", "a.toml", "--out", "undisturbed", "--threads", "2"]);
    let call = ["sweep", "a.toml", "--out", "killed", "--resume", "--threads", "1"];
    for points in [1, 3, 6] {
        place.kill(&call, "killed", points);
        assert!(!place.0.join("killed/summary.json").exists());
    }
    let kept = place.points("killed");
    let said = place.run(&call);
    assert!(said.contains(&format!("{kept} points were there already")), "{said}");
    place.assert_same("undisturbed", "killed");
}

#[test]
#[ignore = "long: ten seconds; a search for saturation, killed twice"]
fn a_search_for_saturation_goes_on_where_it_was_killed() {
    let place = Workplace::new("sweeps_search");
    let text = slow().replace("traffic.load = [0.1, 0.2, 0.3, 0.4]\n", "")
        + "[sweep]\nsaturation = { tolerance = 0.05 }\n";
    place.write("a.toml", &text);
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    let call = ["sweep", "a.toml", "--out", "killed", "--resume", "--threads", "1"];
    place.kill(&call, "killed", 2);
    place.kill(&call, "killed", 5);
    place.run(&call);
    place.assert_same("undisturbed", "killed");
}

#[test]
fn a_disk_that_takes_no_more_costs_no_finished_point() {
    let place = Workplace::new("sweeps_full");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    // No file may grow beyond so many blocks of 512 bytes: the tables of rows are the first that
    // do.
    let call = "sweep a.toml --out a --resume --threads 1";
    let limited = limited("trap '' XFSZ; ulimit -f 40", call);
    let output = Command::new("sh").args(["-c", &limited]).current_dir(&place.0).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("can't write a/") && errors.contains("--out a --resume"), "{errors}");
    assert!(place.points("a") > 0);
    place.run(&["sweep", "a.toml", "--out", "a", "--resume"]);
    place.assert_same("undisturbed", "a");
}

/// The study of the documentation, shortened: the same series on fewer loads and windows.
#[test]
#[ignore = "long: a quarter of a minute; the study of patterns, killed five times"]
fn the_study_of_patterns_by_routing_survives_kills_while_it_simulates_and_while_it_draws() {
    let place = Workplace::new("sweeps_study");
    let study = scenario("studies/patterns-by-routing");
    let short = ["sweep", &study, "--set", "sweep.grid.traffic.load=[0.2, 0.5]"];
    let short = with(&short, &SHORT);
    place.run(&with(&short, &["--out", "undisturbed"]));
    let call = with(&short, &["--out", "killed", "--resume"]);
    for points in [5, 25, 50] {
        place.kill(&call, "killed", points);
    }
    let mut drawing = place.begin(&call);
    drawing.wait_until(|| place.0.join("killed/latency-transpose.svg").exists());
    drawing.kill();
    assert!(!place.0.join("killed/summary.json").exists());
    place.run(&call);
    place.assert_same("undisturbed", "killed");
}

/// Whatever it is at: setting up, looking points up, simulating, keeping a point, adding a row,
/// drawing.
#[test]
#[ignore = "long: a quarter of a minute; kills at ever later moments"]
fn killed_at_ever_later_moments_a_sweep_comes_to_its_end_with_the_same_bytes() {
    let place = Workplace::new("sweeps_moments");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    let call = ["sweep", "a.toml", "--out", "killed", "--resume", "--threads", "2"];
    let mut kills = 0;
    loop {
        let ongoing = place.begin(&call);
        sleep(Duration::from_millis(7 * kills));
        if !ongoing.kill_if_running() {
            break;
        }
        kills += 1;
    }
    assert!(kills > 3, "{kills}");
    place.assert_same("undisturbed", "killed");
}

#[test]
fn a_point_whose_file_may_not_grow_so_long_leaves_nothing_and_is_computed_again() {
    let place = Workplace::new("sweeps_half_written");
    place.write("a.toml", &SMALL.replace("[4, 4]", "[12, 12]"));
    place.run(&["sweep", "a.toml", "--out", "undisturbed"]);
    // No file may grow beyond so many blocks of 512 bytes: a point's is the first to.
    let limited = limited("ulimit -c 0; ulimit -f 8", "sweep a.toml --out a --threads 1");
    let output = Command::new("sh").args(["-c", &limited]).current_dir(&place.0).output().unwrap();
    assert!(!output.status.success());
    let half = |(path, content): (PathBuf, Vec<u8>)| {
        (path.extension() == Some("partial".as_ref())).then_some(content.len())
    };
    let half: Vec<usize> = place.content("a").into_iter().filter_map(half).collect();
    assert_eq!((place.points("a"), half), (0, vec![]));
    place.run(&["sweep", "a.toml", "--out", "a", "--resume"]);
    place.assert_same("undisturbed", "a");
}

/// A shell's line that calls flitlab under limits.
fn limited(limits: &str, call: &str) -> String {
    format!("{limits}; exec {} {call}", env!("CARGO_BIN_EXE_flitlab"))
}
