//! `flitlab place` as it is typed: what it finds is written as a scenario that does what was told.

use crate::common::workplace::Workplace;

const JOBS: &str = "node_allocation = 'random'
topology = { torus = { dimensions = [4, 4] } }
[workloads.one]
nodes = 4
application = { schedule = { ring = { ranks = 8, bytes = '4 KiB', iterations = 3 } }, ranks_per_node = 2 }
[workloads.two]
nodes = 4
application = { schedule = { all-to-all = { ranks = 4, bytes = '16 KiB' } } }
[workloads.load]
nodes = 5
traffic = { pattern = 'uniform', load = 0.3 }
";

#[test]
fn the_scenario_that_is_written_ends_when_it_was_told() {
    let place = Workplace::new("place_jobs");
    place.write("jobs.toml", JOBS);
    let search = ["place", "jobs.toml", "--within", "3s", "--threads", "2", "--out", "found"];
    let found = place.json(&[&search[..], &["--json"]].concat());
    assert!(found["simulated"].as_u64().unwrap() >= 5, "{found}");
    assert!(found["times_faster"].as_f64().unwrap() >= 1.0, "{found}");
    let rows = found["placements"].as_array().unwrap();
    let by: Vec<&str> = rows.iter().map(|row| row["placement"].as_str().unwrap()).collect();
    let compared = ["scenario", "linear", "random", "boxes", "groups"];
    assert_eq!(by.iter().step_by(2).take(5).copied().collect::<Vec<_>>(), compared);
    // The best is the one with the least product of both times.
    let product = |pair: &[serde_json::Value]| -> f64 {
        pair.iter().map(|row| row["completion_time_us"].as_f64().unwrap()).product()
    };
    let best = rows.chunks(2).min_by(|a, b| product(a).total_cmp(&product(b))).unwrap();
    let run = place.json(&["run", "found/scenario.toml", "--out", "again", "--json"]);
    for (row, workload) in best.iter().zip(run["points"][0]["workloads"].as_array().unwrap()) {
        assert_eq!(row["application"], workload["workload"], "{run}");
        assert_eq!(row["completion_time_us"], workload["completion_time_us"], "{run}");
    }
    assert_eq!(place.read("found/one.txt").lines().count(), 8);
    assert!(place.read("found/placements.csv").starts_with("placement,found_after_s,application,"));
    let (code, said) = place.fail(&search);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("found has something in it"), "{said}");
}

#[test]
fn one_application_is_placed_for_people() {
    let place = Workplace::new("place_one");
    place.write(
        "pairs.toml",
        "topology = { torus = { dimensions = [8] } }\n\
         application = { schedule = { all-ping-pong = { ranks = 8, bytes = '64 KiB' } }, placement = 'random' }\n",
    );
    let text = place.run(&["place", "pairs.toml", "--within", "2s", "--out", "found"]);
    assert!(text.starts_with("  scenario  "), "{text}");
    assert!(text.contains("\nthe best of "), "{text}");
    assert!(text.ends_with("flitlab run found/scenario.toml\n"), "{text}");
    assert!(place.read("found/scenario.toml").contains("application.txt"));
}

#[test]
fn what_has_no_application_is_refused_with_a_way_out() {
    let place = Workplace::new("place_refused");
    place.write(
        "load.toml",
        "topology = { torus = { dimensions = [4] } }\ntraffic = { pattern = 'uniform', load = 0.1 }\n",
    );
    let (code, said) = place.fail(&["place", "load.toml"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no application whose messages cross the network"), "{said}");
    assert!(said.contains("help: give it [application]"), "{said}");
    let (code, said) = place.fail(&["place", "load.toml", "--within", "soon"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("soon"), "{said}");
}
