//! Sweeps as job arrays: on a real Slurm, where there is one, and what is refused without one.

mod cluster;
mod refused;

use std::fs;

use crate::common::workplace::Workplace;
use crate::sweeps::curves::AUTOMATIC;
use cluster::Cluster;
use serde_json::Value;

/// Twelve points.
const TWELVE: &str = "\
[topology.torus]
dimensions = [4, 4]

[traffic]
pattern = \"uniform\"

[measure]
window = \"2 us\"
maximum_windows = 12

[sweep.slurm]
partition = \"batch\"
time = \"10 min\"
memory = \"500 MB\"

[sweep.grid]
traffic.pattern = [\"uniform\", \"tornado\", \"neighbor\"]
traffic.load = [0.1, 0.15, 0.2, 0.25]
";

/// The same with points that take long enough for a task to be killed between them.
fn slow() -> String {
    TWELVE.replace("maximum_windows = 12", "minimum_windows = 800\nmaximum_windows = 800")
}

/// Asserts that a folder has what a local sweep's has and, besides, the submissions.
fn assert_same_as_local(place: &Workplace, local: &str, folder: &str) {
    fs::rename(place.0.join(folder).join("slurm"), place.0.join("submissions")).unwrap();
    place.assert_same(local, folder);
    fs::remove_dir_all(place.0.join("submissions")).unwrap();
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

#[test]
fn a_killed_task_is_named_and_resubmitted_and_the_results_are_those_of_a_local_sweep() {
    let Some(slurm) = Cluster::start("of a killed task") else { return };
    let place = Workplace::new("slurm_killed");
    place.write("a.toml", &slow());
    place.run(&["sweep", "a.toml", "--out", "local", "--threads", "2"]);

    let call = ["sweep", "a.toml", "--executor", "slurm", "--points-per-task", "2", "--out", "b c"];
    let submitted = slurm.json(&place, &call);
    assert_eq!((&submitted["tasks"], &submitted["points"]), (&6.into(), &12.into()));
    // One that has finished the first of its points, if it is not too quick for us.
    let killed = loop {
        let status = slurm.wait_until(&place, "b c", |status| half_done(status).is_some());
        let (task, point) = half_done(&status).unwrap();
        slurm.cancel(&task);
        let ended = |status: &Value| matches!(state(status, &task), None | Some("cancelled"));
        let status = slurm.wait_until(&place, "b c", ended);
        if state(&status, &task) == Some("cancelled") {
            break (task, point);
        }
    };
    let status = slurm.wait(&place, "b c");
    assert_eq!((&status["finished"], &status["complete"]), (&11.into(), &false.into()));
    let said = slurm.run(&place, &["sweep", "status", "b c"]);
    let (task, point) = killed;
    assert!(said.starts_with("b c: 12 points: 11 finished, 1 cancelled\n"), "{said}");
    assert!(said.contains(&format!("task {task} cancelled\n    {point}\n    log: b c/")), "{said}");
    assert!(said.ends_with("next:\n  flitlab sweep resubmit 'b c'\n"), "{said}");

    let (code, _, errors) = slurm.call(&place, &["sweep", "collect", "b c"]);
    assert_eq!((code, errors.contains("1 of 12 points are missing")), (1, true), "{errors}");
    slurm.run(&place, &["sweep", "collect", "b c", "--partial"]);
    assert_eq!(place.read("b c/points.csv").lines().count(), 1 + 11);
    assert!(!place.0.join("b c/summary.json").exists());

    let again = slurm.json(&place, &["sweep", "resubmit", "b c", "--time", "20min"]);
    assert_eq!((&again["tasks"], &again["points"]), (&1.into(), &1.into()));
    assert_eq!(again["settings"]["time_s"], 1200);
    assert_eq!(again["settings"]["memory_B"], 500_000_000);
    assert_eq!(slurm.wait(&place, "b c")["complete"], true);
    let nothing = slurm.run(&place, &["sweep", "resubmit", "b c"]);
    assert!(
        nothing.contains("nothing to submit; next:\n  flitlab sweep collect 'b c'"),
        "{nothing}"
    );
    let said = slurm.run(&place, &["sweep", "collect", "b c"]);
    assert!(said.ends_with("results in b c\n"), "{said}");
    assert_same_as_local(&place, "local", "b c");
}

/// A running task that has one point left, and the label of that.
fn half_done(status: &Value) -> Option<(String, String)> {
    let mut tasks = status["tasks"].as_array().unwrap().iter();
    let task = tasks.find(|task| {
        task["state"] == "running" && task["points"].as_array().is_some_and(|it| it.len() == 1)
    })?;
    Some((text(&task["task"]).into(), text(&task["points"][0]["label"]).into()))
}

/// The state of a task, if it has points that are not finished.
fn state<'s>(status: &'s Value, task: &str) -> Option<&'s str> {
    let mut tasks = status["tasks"].as_array().unwrap().iter();
    tasks.find(|it| it["task"] == task).map(|it| text(&it["state"]))
}

#[test]
fn failed_tasks_say_why_and_waiting_ones_what_for() {
    let Some(slurm) = Cluster::start("of failed tasks") else { return };
    let place = Workplace::new("slurm_failed");
    place.write("a.toml", TWELVE);
    let call = ["sweep", "a.toml", "--executor", "slurm", "--option=--hold", "--out", "a"];
    let submitted = slurm.json(&place, &[&call[..], &["--points-per-task", "6"]].concat());
    let said = slurm.run(&place, &["sweep", "status", "a"]);
    assert!(
        said.contains("12 points: 0 finished, 12 waiting\n  waiting for: JobHeldUser\n"),
        "{said}"
    );
    let notes = place.read("a/slurm/1/submission.json");
    place.write("a/slurm/1/submission.json", &notes.replace(env!("CARGO_PKG_VERSION"), "0.0.9"));
    slurm.release(text(&submitted["job"]));
    slurm.wait(&place, "a");
    let said = slurm.run(&place, &["sweep", "status", "a"]);
    assert!(said.contains("0 finished, 12 failed\n"), "{said}");
    let why = format!("task {}_1 failed: exit code 2: this is flitlab", text(&submitted["job"]));
    assert!(said.contains(&why), "{said}");
    assert_eq!(said.matches("; and 3 more\n").count(), 2, "{said}");
}

#[test]
fn searches_and_series_that_end_are_those_of_a_local_sweep() {
    let Some(slurm) = Cluster::start("of searches") else { return };
    let place = Workplace::new("slurm_searches");
    let grid = TWELVE.replace("[0.1, 0.15, 0.2, 0.25]", "[0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2]");
    place.write("grid.toml", &grid.replace("[4, 4]", "[8]"));
    let search = TWELVE
        .replace("traffic.load = [0.1, 0.15, 0.2, 0.25]\n", "")
        .replace("[sweep.slurm]", "[sweep]\nsaturation = { tolerance = 0.05 }\n\n[sweep.slurm]");
    place.write("search.toml", &search);
    for sweep in ["grid", "search"] {
        let file = format!("{sweep}.toml");
        slurm.run(&place, &["sweep", &file, "--executor", "slurm", "--out", sweep]);
    }
    for sweep in ["grid", "search"] {
        let (file, local) = (format!("{sweep}.toml"), format!("{sweep}-local"));
        place.run(&["sweep", &file, "--out", &local]);
        let status = slurm.wait(&place, sweep);
        assert_eq!(status["complete"], true, "{status}");
        let left_out = status["left_out"].as_u64().unwrap();
        assert!((left_out > 0) == (sweep == "grid"), "{status}");
        slurm.run(&place, &["sweep", "collect", sweep]);
        assert_same_as_local(&place, &local, sweep);
    }
}

#[test]
fn a_job_that_slurm_has_forgotten_is_known_from_what_it_has_left() {
    let Some(slurm) = Cluster::start("of a forgotten job") else { return };
    let place = Workplace::new("slurm_forgotten");
    place.write("a.toml", &slow());
    slurm.run(&place, &["sweep", "a.toml", "--executor", "slurm", "--out", "a"]);
    slurm.wait_until(&place, "a", |status| status["finished"].as_u64() > Some(1));

    slurm.stop();
    slurm.again();
    let status = slurm.json(&place, &["sweep", "status", "a"]);
    let ended = ["cancelled", "vanished"].iter().filter_map(|it| status["others"][it].as_u64());
    let finished = status["finished"].as_u64().unwrap();
    assert_eq!(finished + ended.sum::<u64>(), 12, "{status}");
    // The same scenario goes on where it was, and with other limits.
    let call = ["sweep", "a.toml", "--executor", "slurm", "--resume", "--out", "a"];
    let again = slurm.json(&place, &[&call[..], &["--points-per-task", "6"]].concat());
    assert_eq!(again["points"].as_u64().unwrap() + finished, 12, "{again}");
    assert_eq!(slurm.wait(&place, "a")["complete"], true);
    slurm.run(&place, &["sweep", "collect", "a"]);
    assert_eq!(place.points("a"), 12);
}

#[test]
fn curves_that_find_their_loads_are_a_task_each_and_are_those_of_a_local_sweep() {
    let Some(slurm) = Cluster::start("of curves") else { return };
    let place = Workplace::new("slurm_curves");
    let partition = "[sweep.slurm]\npartition = \"batch\"\n";
    place.write("a.toml", &format!("{AUTOMATIC}\n{partition}"));
    place.run(&["sweep", "a.toml", "--out", "local"]);
    let submitted = slurm.json(&place, &["sweep", "a.toml", "--executor", "slurm", "--out", "b"]);
    // Two series, each with both of its seeds.
    assert_eq!((&submitted["tasks"], &submitted["points"]), (&2.into(), &4.into()));
    let status = slurm.wait(&place, "b");
    assert_eq!((&status["finished"], &status["complete"]), (&4.into(), &true.into()));
    let said = slurm.run(&place, &["sweep", "status", "b"]);
    assert!(said.starts_with("b: 4 curves: 4 finished\n"), "{said}");
    slurm.run(&place, &["sweep", "collect", "b"]);
    assert_same_as_local(&place, "local", "b");
}
