//! What --resume goes on with, and what it refuses.

use std::fs;
use std::path::PathBuf;

use super::SMALL;
use crate::common::workplace::Workplace;

#[test]
fn finished_points_are_not_computed_again_and_changed_ones_are() {
    let place = Workplace::new("sweeps_changed");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let before = place.read("results/a/points.csv");
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("8 points were there already"));
    assert_eq!(place.read("results/a/points.csv"), before);

    // Another load, and a title: eight points are the same.
    place.write("a.toml", &format!("title = \"Two\"\n{SMALL}").replace("0.4]", "0.35, 0.4]"));
    let said = place.run(&["sweep", "a.toml", "--resume"]);
    assert!(said.contains("8 points were there already"), "{said}");
    assert_eq!(said.matches("load 0.35").count(), 2, "{said}");
    place.run(&["sweep", "a.toml", "--out", "anew"]);
    for file in ["points.csv", "channels.csv", "summary.json", "latency.svg"] {
        assert_eq!(place.read(&format!("results/a/{file}")), place.read(&format!("anew/{file}")));
    }
}

#[test]
fn a_folder_of_another_scenario_is_refused_and_keeps_its_results() {
    let place = Workplace::new("sweeps_foreign");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let before = place.content("results/a");
    place.write("a.toml", &SMALL.replace("[4, 4]", "[4, 2]"));
    for out in [&[][..], &["--out", "results/a"]] {
        let (code, errors) = place.fail(&[&["sweep", "a.toml", "--resume"], out].concat());
        assert_eq!(code, 2);
        assert!(errors.contains("none of them is of this scenario"), "{errors}");
    }
    fs::create_dir(place.0.join("b")).unwrap();
    place.write("b/notes", "mine");
    let (code, errors) = place.fail(&["sweep", "a.toml", "--resume", "--out", "b"]);
    assert_eq!((code, errors.contains("no points of a sweep")), (2, true), "{errors}");
    assert!(place.content("results/a") == before);
}

#[test]
fn resuming_takes_the_unfinished_folder_and_asks_if_there_are_several() {
    let place = Workplace::new("sweeps_folders");
    place.write("a.toml", SMALL);
    let said = place.flitlab(&["sweep", "a.toml", "--resume"]);
    assert!(String::from_utf8(said.stderr).unwrap().contains("nothing to resume"));
    place.run(&["sweep", "a.toml"]);
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("results in results/a-2\n"));
    fs::remove_file(place.0.join("results/a/summary.json")).unwrap();
    assert!(place.run(&["sweep", "a.toml", "--resume"]).contains("results in results/a\n"));
    for folder in ["a", "a-2"] {
        fs::remove_file(place.0.join(format!("results/{folder}/summary.json"))).unwrap();
    }
    let (code, errors) = place.fail(&["sweep", "a.toml", "--resume"]);
    assert_eq!(code, 2);
    assert!(errors.contains("results/a and results/a-2: say with --out"), "{errors}");
}

#[test]
fn who_begins_anew_is_told_of_what_is_unfinished() {
    let place = Workplace::new("sweeps_anew");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let (code, errors) = place.fail(&["sweep", "a.toml", "--out", "results/a"]);
    assert_eq!((code, errors.contains("go on with it by --resume")), (2, true), "{errors}");
    fs::remove_file(place.0.join("results/a/summary.json")).unwrap();
    let anew = place.flitlab(&["sweep", "a.toml"]);
    let notes = String::from_utf8(anew.stderr).unwrap();
    assert!(notes.contains("results/a has 8 finished points of this sweep: --resume"), "{notes}");
    assert!(place.0.join("results/a-2/summary.json").exists());
}

#[test]
fn compare_points_to_what_finishes_a_sweep_without_rows() {
    let place = Workplace::new("sweeps_compared");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    place.run(&["sweep", "a.toml", "--out", "un finished"]);
    let before = place.content("un finished");
    for file in ["points.csv", "summary.json"] {
        fs::remove_file(place.0.join("un finished").join(file)).unwrap();
    }
    let (code, errors) = place.fail(&["compare", "results/a", "un finished"]);
    let command = "flitlab sweep 'un finished/scenario.toml' --out 'un finished' --resume";
    assert_eq!((code, errors.contains(command)), (2, true), "{errors}");
    place.run(&["sweep", "un finished/scenario.toml", "--out", "un finished", "--resume"]);
    assert!(place.content("un finished") == before);
}

#[test]
fn damaged_and_half_written_points_are_computed_again() {
    let place = Workplace::new("sweeps_damaged");
    place.write("a.toml", SMALL);
    place.run(&["sweep", "a.toml"]);
    let before = place.content("results/a");
    let point = |number: usize| {
        let is_point = |path: &&PathBuf| path.extension() == Some("point".as_ref());
        let file = before.iter().map(|(path, _)| path).filter(is_point).nth(number).unwrap();
        format!("results/a/{}", file.display())
    };
    let [whole, mut changed, other] = [0, 1, 3].map(|number| place.read_bytes(&point(number)));
    let write = |number, content: &[u8]| fs::write(place.0.join(point(number)), content).unwrap();
    write(0, &whole[..whole.len() - 2]);
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    write(1, &changed);
    write(2, &other);
    place.write("results/a/points/0.partial", "half");
    let output = place.flitlab(&["sweep", "a.toml", "--resume"]);
    let (said, notes) =
        [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap()).into();
    assert!(said.contains("5 points were there already"), "{said}");
    for number in 0..3 {
        let note = format!("note: {} was damaged, and its point is computed again", point(number));
        assert!(notes.contains(&note), "{notes}");
    }
    assert!(place.content("results/a") == before);
}

#[test]
#[cfg(unix)]
fn two_processes_do_not_work_in_one_folder() {
    let place = Workplace::new("sweeps_busy");
    place.write(
        "a.toml",
        &SMALL.replace("maximum_windows = 12", "minimum_windows = 3000\nmaximum_windows = 3000"),
    );
    let call = ["sweep", "a.toml", "--out", "a", "--resume", "--threads", "1"];
    let mut first = place.begin(&call);
    first.wait_until(|| place.0.join("a/channels.csv").exists());
    let (code, errors) = place.fail(&call);
    first.kill();
    assert_eq!((code, errors.contains("another flitlab is at work in a")), (1, true), "{errors}");
}
