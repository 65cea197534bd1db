//! `flitlab compare` as a user runs it: what it says of two results, and its exit code.

use std::fs;

use serde_json::Value;

use crate::common::workplace::{SHORT, Workplace, scenario, with};

/// Sweeps two loads of one pattern into a folder.
fn sweep(place: &Workplace, out: &str, more: &[&str]) {
    let path = scenario("desmos/desmos-uniform");
    let loads = ["--set", "sweep.grid.traffic.load=[0.05, 0.1]"];
    place.run(&with(&with(&with(&["sweep", &path, "--out", out], &loads), &SHORT), more));
}

/// Exit code, standard output and standard error.
fn compare(place: &Workplace, arguments: &[&str]) -> (i32, String, String) {
    let output = place.flitlab(&with(&["compare"], arguments));
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_same_twice_is_identical() {
    let place = Workplace::new("compare_same");
    sweep(&place, "a", &[]);
    sweep(&place, "b", &["--set", "name=other"]);
    let (code, text, errors) = compare(&place, &["a", "b"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(text.starts_with("same: event by event, 2 points\n"), "{text}");
    assert!(text.contains("scenario: no difference"), "{text}");
    let (_, json, _) = compare(&place, &["a", "b", "--json"]);
    assert_eq!(object(&json)["points"][0]["same_events"], true);
}

#[test]
fn a_slower_link_is_named_and_its_effect_is_significant() {
    let place = Workplace::new("compare_slower");
    sweep(&place, "a", &[]);
    sweep(&place, "b", &["--set", "link.latency=90 ns"]);
    let (code, text, errors) = compare(&place, &["a", "b"]);
    assert_eq!(code, 4);
    assert!(text.starts_with("different: 2 of 2 points differ by more than 5%\n"), "{text}");
    assert!(text.contains("link.latency  70 ns  90 ns"), "{text}");
    assert!(text.contains("load 0.05") && text.contains("+-"), "{text}");
    assert_eq!(errors, "differs: 2 of 2 points differ by more than 5%\n");

    let (code, text, _) = compare(&place, &["a", "b", "--tolerance", "50%"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("all 2 points are not further apart than 50%"), "{text}");
    let (_, text, _) = compare(&place, &["a", "b", "--tolerance", "0.5", "--all"]);
    assert!(text.contains("within, significant"), "{text}");

    let (code, json, _) = compare(&place, &["a", "b", "--json"]);
    let found = object(&json);
    assert_eq!((code, &found["holds"]), (4, &Value::Bool(false)));
    assert_eq!(found["scenario"][0]["key"], "link.latency");
    let latency = &found["points"][0]["values"][1];
    assert_eq!(
        (&latency["measure"], &latency["significant"]),
        (&"packet_latency_mean".into(), &true.into())
    );
    assert!(latency["change"].as_f64().unwrap() > 0.05);
}

#[test]
fn another_seed_is_another_sample_of_the_same() {
    let place = Workplace::new("compare_seeds");
    sweep(&place, "a", &["--set", "sweep.grid.seed=[1, 2, 3, 4, 5, 6]"]);
    sweep(&place, "b", &["--set", "sweep.grid.seed=[7, 8, 9, 10, 11, 12]"]);
    let (code, json, errors) = compare(&place, &["a", "b", "--json", "--tolerance", "3%"]);
    let found = object(&json);
    assert_eq!(code, 0, "{json} {errors}");
    let points = found["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    let interval = &points[0]["values"][0]["a"]["interval"];
    assert!(interval.is_array(), "accepted load has an interval from six seeds: {interval}");
}

#[test]
fn points_of_one_only_do_not_pass_unseen() {
    let place = Workplace::new("compare_missing");
    sweep(&place, "a", &[]);
    let rows = place.read("a/points.csv");
    fs::create_dir(place.0.join("b")).unwrap();
    let shorter: Vec<&str> = rows.lines().take(2).collect();
    fs::write(place.0.join("b/points.csv"), shorter.join("\n") + "\nuniform,,1,1,ste").unwrap();
    let (code, text, errors) = compare(&place, &["a", "b"]);
    assert_eq!(code, 4);
    assert!(
        text.starts_with("different: 1 point the same, event by event; 1 point only in A\n"),
        "{text}"
    );
    assert!(text.contains("only in A       load 0.1\n"), "{text}");
    for note in
        ["no scenario.toml", "no summary.json", "b/points.csv:3: the last line is cut short"]
    {
        assert!(errors.contains(note), "{errors}");
    }
    assert_eq!(compare(&place, &["a", "b", "--allow-partial"]).0, 0);
}

#[test]
fn what_is_no_result_is_refused_with_the_way_out() {
    let place = Workplace::new("compare_wrong");
    let path = scenario("desmos/ping-neighbour");
    place.run(&["run", &path]);
    let right = "results/ping-neighbour";
    let refused = |other: &str, expected: &str| {
        let (code, text, errors) = compare(&place, &[right, other]);
        assert_eq!((code, text.as_str()), (2, ""), "{errors}");
        assert!(errors.starts_with("error: ") && errors.contains(expected), "{errors}");
    };
    refused("ping-neighbour", "did you mean results/ping-neighbour?");
    refused("nothing", "nothing does not exist");
    refused("results", "results has no points.csv");
    refused("results/ping-neighbour/points.csv", "name its folder, results/ping-neighbour");
    refused(&path, "makes them");

    let rows = place.read("results/ping-neighbour/points.csv");
    let broken = |file: &str, text: &str| {
        fs::create_dir_all(place.0.join("broken")).unwrap();
        fs::write(place.0.join("broken/points.csv"), &rows).unwrap();
        fs::write(place.0.join("broken").join(file), text).unwrap();
    };
    broken("points.csv", &rows.replacen("status", "state", 1));
    refused("broken", "broken/points.csv: no column status");
    broken("points.csv", &rows.replace("completed", "ended"));
    refused("broken", "broken/points.csv:2: column status");
    broken("points.csv", rows.lines().next().unwrap());
    refused("broken", "no points yet");
    broken("scenario.toml", "[topology\n");
    refused("broken", "broken/scenario.toml:1:");
    fs::remove_file(place.0.join("broken/scenario.toml")).unwrap();
    broken("summary.json", "{ \"flitlab\": 3 }");
    refused("broken", "broken/summary.json");

    sweep(&place, "loads", &[]);
    refused("loads", "no loads: a finite exchange");
    let (code, _, errors) = compare(&place, &[right, right, "--tolerance", "5"]);
    assert_eq!((code, errors.contains("write 5% if percent are meant")), (2, true), "{errors}");
    let (code, _, errors) = compare(&place, &[right, right, "--measure", "packet_latency_p99"]);
    assert_eq!((code, errors.as_str()), (0, "note: A and B are the same folder\n"));
}

#[test]
fn searches_for_saturation_are_compared_by_what_they_found() {
    let place = Workplace::new("compare_saturation");
    let path = scenario("angara/torus-8x8x8-saturation");
    let search = |out: &str, more: &[&str]| {
        let small =
            ["--set", "topology.torus.dimensions=[4,4]", "--set", "sweep.saturation.tolerance=0.1"];
        place.run(&with(&with(&with(&["sweep", &path, "--out", out], &small), &SHORT), more));
    };
    search("a", &[]);
    search("b", &["--set", "link.latency=71 ns"]);
    let (_, json, errors) = compare(&place, &["a", "b", "--json"]);
    let found = object(&json);
    let points = found["points"].as_array().unwrap_or_else(|| panic!("{errors}"));
    assert_eq!(points.len(), 2);
    assert_eq!(points[0]["values"][0]["measure"], "sustained_load");
    sweep(&place, "loads", &[]);
    let (code, _, errors) = compare(&place, &["a", "loads"]);
    assert_eq!((code, errors.contains("a is a search for saturation")), (2, true), "{errors}");
}
