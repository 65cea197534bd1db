//! --dry-run.

use super::SMALL;
use crate::common::workplace::Workplace;

#[test]
fn a_dry_run_lists_the_points_and_writes_nothing() {
    let place = Workplace::new("sweeps_dry");
    place.write("a.toml", SMALL);
    let said = place.run(&["sweep", "a.toml", "--dry-run"]);
    assert_eq!(said.matches("uniform, load 0.").count(), 4, "{said}");
    assert!(said.contains("8 points: about ") && said.contains(" on "), "{said}");
    assert!(!place.0.join("results").exists());
    place.run(&["sweep", "a.toml"]);
    place.write("a.toml", &SMALL.replace("0.4]", "0.35, 0.4]"));
    let said = place.run(&["sweep", "a.toml", "--dry-run", "--resume"]);
    assert!(said.contains("10 points, 8 finished in results/a: about "), "{said}");
    let plan = place.run(&["sweep", "a.toml", "--dry-run", "--resume", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    let seconds = |number: usize| plan["points"][number]["seconds"].as_f64().unwrap();
    assert_eq!(plan["points"][3]["load"], "0.35");
    assert!(seconds(3) > 0.0 && seconds(4) == 0.0, "{plan}");
}

#[test]
fn a_load_that_deadlocks_at_once_has_an_estimate_like_any_other() {
    let place = Workplace::new("sweeps_dry_deadlock");
    let text = "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\n\
                [routing.agnostic]\nalgorithm = \"min-hop\"\n[traffic]\npattern = \"uniform\"\n\
                [sweep.grid]\ntraffic.load = [0.1, 1.0]\n";
    place.write("a.toml", text);
    let said = place.run(&["sweep", "a.toml", "--dry-run"]);
    assert!(said.contains("2 points: about "), "{said}");
}
