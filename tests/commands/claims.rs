//! Folders of results that two calls want at once, or that a killed one left.

use std::fs::{self, File};
use std::time::Duration;

use fs4::FileExt;

use crate::common::workplace::{Workplace, with};

const SMALL: &str = "[topology.torus]\ndimensions = [4, 4]\n[traffic]\npattern = \"uniform\"\n\
                     load = 0.3\n[measure]\nwindow = \"2 us\"\nwarm_up_windows = 3\n\
                     minimum_windows = 2\nmaximum_windows = 3\n";

/// Of several seconds.
const LONG: &str = "[topology.torus]\ndimensions = [6, 6]\n[traffic]\npattern = \"uniform\"\nload = 0.3\n\
                    [measure]\nwindow = \"20 us\"\nwarm_up_windows = 5\nminimum_windows = 80\n\
                    maximum_windows = 80\n";

#[test]
fn of_two_runs_that_begin_at_once_in_one_folder_one_is_refused() {
    let place = Workplace::new("claims_two_runs");
    place.write("a.toml", SMALL);
    place.write("b.toml", &SMALL.replace("4, 4", "3, 3"));
    for number in 0..12 {
        let out = format!("o{number}");
        let calls = ["a.toml", "b.toml"].map(|file| place.begin(&["run", file, "--out", &out]));
        let mut ends = calls.map(|call| call.end());
        let nodes = if ends[0].0 == Some(0) { 16 } else { 9 };
        let scenario = place.read(&format!("{out}/scenario.toml"));
        let summary = place.read(&format!("{out}/summary.json"));
        assert_eq!(scenario.contains("dimensions = [4, 4]"), nodes == 16);
        assert!(summary.contains(&format!("\"nodes\": {nodes}")), "{summary}");
        ends.sort();
        assert_eq!([ends[0].0, ends[1].0], [Some(0), Some(2)], "{ends:?}");
        let refused = &ends[1].1;
        assert!(
            refused.contains("another flitlab is at work in o")
                || refused.contains("has something in it"),
            "{refused}"
        );
    }
}

#[test]
fn runs_that_begin_at_once_without_a_folder_get_one_each() {
    let place = Workplace::new("claims_numbered");
    place.write("a.toml", SMALL);
    let calls: Vec<_> = (0..5).map(|_| place.begin(&["run", "a.toml"])).collect();
    for call in calls {
        let (code, errors) = call.end();
        assert_eq!(code, Some(0), "{errors}");
    }
    let points = place.read("results/a/points.csv");
    for number in 2..=5 {
        assert_eq!(place.read(&format!("results/a-{number}/points.csv")), points);
    }
}

#[test]
fn commands_that_leave_a_folder_of_results_leave_one_alone_that_another_works_in() {
    let place = Workplace::new("claims_held");
    place.write("a.toml", SMALL);
    place.write("s.toml", &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1, 0.2]\n"));
    place.run(&["run", "a.toml", "--out", "done"]);
    fs::create_dir(place.0.join("o")).unwrap();
    let lock = File::create(place.0.join("o/.lock")).unwrap();
    FileExt::try_lock(&lock).unwrap();
    let calls = [
        &["run", "a.toml"][..],
        &["sweep", "s.toml"],
        &["failures", "a.toml", "--systems", "1", "--most", "1"],
        &["route", "a.toml"],
        &["reproduce", "angara-table2"],
    ];
    for call in calls {
        let (code, errors) = place.fail(&with(call, &["--out", "o"]));
        assert_eq!(code, 2, "{call:?}: {errors}");
        assert!(errors.contains("another flitlab is at work in o: name another"), "{errors}");
        assert_eq!(fs::read_dir(place.0.join("o")).unwrap().count(), 1, "{call:?}");
    }
    let nue = ["route", "a.toml", "--algorithm", "nue", "--save", "o"];
    let (code, errors) = place.fail(&nue);
    assert!(code == 2 && errors.contains("another flitlab is at work in o"), "{errors}");
    // Figures may be drawn into a folder again and again: one call waits for the other.
    let mut plot = place.begin(&["plot", "done", "--out", "o"]);
    std::thread::sleep(Duration::from_millis(300));
    assert!(!plot.has_ended() && fs::read_dir(place.0.join("o")).unwrap().count() == 1);
    drop(lock);
    assert_eq!(plot.end().0, Some(0));
    assert!(fs::read_dir(place.0.join("o")).unwrap().count() > 1);
    assert!(!place.0.join("o/.lock").exists() && !place.0.join("done/.lock").exists());
}

#[test]
fn schedules_and_pages_that_are_written_at_once_are_whole() {
    let place = Workplace::new("claims_files");
    let call = |ranks| {
        let made = ["schedule", "all-to-all", "--algorithm", "pairwise", "--bytes", "1KiB"];
        place.begin(&with(&made, &["--ranks", ranks, "--out", "a.goal"]))
    };
    for _ in 0..5 {
        for call in ["400", "401", "402"].map(call) {
            assert_eq!(call.end().0, Some(0));
        }
        place.run(&["schedule", "check", "a.goal"]);
    }
    let files = fs::read_dir(&place.0).unwrap().count();
    assert_eq!(files, 1, "nothing is left beside the file");
}

#[test]
fn a_run_that_was_killed_goes_on_in_its_folder_with_the_same_command() {
    let place = Workplace::new("claims_killed");
    place.write("a.toml", LONG);
    place.run(&["run", "a.toml", "--out", "whole"]);
    let call = ["run", "a.toml", "--out", "o", "--checkpoint", "c", "--log", "o.csv"];
    let log = || fs::read(place.0.join("o.csv")).map_or(0, |text| text.len());
    // Killed before there is a checkpoint, stopped with one, killed again.
    let mut ongoing = place.begin(&call);
    ongoing.wait_until(|| log() > 1000);
    ongoing.kill();
    let mut ongoing = place.begin(&call);
    ongoing.wait_until(|| log() > 3000);
    let (code, errors) = place.fail(&["run", "a.toml", "--out", "o"]);
    assert!(code == 2 && errors.contains("another flitlab is at work in o"), "{errors}");
    ongoing.signal("INT");
    let (code, errors) = ongoing.end();
    assert_eq!(code, Some(130), "{errors}");
    assert!(errors.contains("was killed; it begins anew"), "{errors}");
    let before = log();
    let mut ongoing = place.begin(&call);
    ongoing.wait_until(|| log() > before + 1000);
    ongoing.kill();
    // The folder is this run's, not any other's.
    let (code, errors) = place.fail(&["run", "a.toml", "--out", "o", "--set", "seed=9"]);
    assert!(code == 2 && errors.contains("o has something in it"), "{errors}");
    let (code, errors) = place.fail(&call);
    assert_eq!(code, 0, "{errors}");
    assert!(errors.contains("goes on from the checkpoint"), "{errors}");
    place.assert_same("o", "whole");
    assert!(!place.0.join("c").exists());
    // Results that are whole are never replaced.
    let (code, errors) = place.fail(&["run", "a.toml", "--out", "o"]);
    assert!(code == 2 && errors.contains("o has something in it"), "{errors}");
}

#[test]
fn a_run_that_was_killed_while_it_wrote_its_results_goes_on_with_the_same_command() {
    let place = Workplace::new("claims_killed_late");
    place.write("a.toml", LONG);
    let call = ["run", "a.toml", "--out", "o", "--checkpoint", "c"];
    let mut ongoing = place.begin(&call);
    ongoing.wait_until(|| place.0.join("o/scenario.toml").exists());
    ongoing.signal("INT");
    assert_eq!(ongoing.end().0, Some(130));
    fs::copy(place.0.join("c"), place.0.join("kept")).unwrap();
    place.run(&call);
    fs::rename(place.0.join("o"), place.0.join("whole")).unwrap();
    fs::create_dir(place.0.join("o")).unwrap();
    for file in ["scenario.toml", "points.csv", "channels.csv", "channels.svg"] {
        fs::copy(place.0.join("whole").join(file), place.0.join("o").join(file)).unwrap();
    }
    fs::write(place.0.join("o/channels.csv"), "cut").unwrap();
    fs::rename(place.0.join("kept"), place.0.join("c")).unwrap();
    let (code, errors) = place.fail(&call);
    assert!(code == 0 && errors.contains("goes on from the checkpoint"), "{errors}");
    place.assert_same("o", "whole");
}
