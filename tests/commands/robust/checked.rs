//! `check` looks at the whole file, and says of an exchange what can be said (REVIEW C1, C5).

use std::time::{Duration, Instant};

use super::{SMALL, sweep};
use crate::common::workplace::{Workplace, scenario};

const DRAGONFLY: &str = "title = \"Dragonfly g=9 a=4 h=2 p=2\"\n[topology.dragonfly]\ngroups = 9\ngroup_size = 4\n\
                         global_cables = 2\n[traffic]\npattern = \"uniform\"\nload = 0.3\n[sweep]\n\
                         repetitions = 3\nfigures = \"traffic.pattern\"\n[sweep.series]\n\
                         \"DFSSSP\" = { routing.agnostic.algorithm = \"dfsssp\" }\n\
                         \"Nue\" = { routing.agnostic.algorithm = \"nue\" }\n[sweep.grid]\n\
                         traffic.pattern = [\"uniform\", \"random-permutation\"]\n\
                         traffic.load = { from = 0.05, to = 1.0, step = 0.05 }\n";

#[test]
fn a_sweep_that_can_be_run_is_summed_up() {
    let place = Workplace::new("robust_sweep_fine");
    place.write("a.toml", DRAGONFLY);
    let said = place.run(&["check", "a.toml"]);
    assert!(
        said.contains("sweep              240 points in 4 series; all of them can be run"),
        "{said}"
    );
    let json = place.json(&["check", "a.toml", "--json"]);
    assert_eq!(json["sweep"]["points"], 240);
    assert_eq!(json["sweep"]["networks"], json["sweep"]["networks_looked_at"]);
}

#[test]
fn what_only_a_sweep_gives_is_no_mistake() {
    let place = Workplace::new("robust_sweep_gives");
    place.write("a.toml", &sweep().replacen("load = 0.3\n", "", 1));
    let said = place.run(&["check", "a.toml"]);
    assert!(said.contains("load 0.1000"), "{said}");
}

#[test]
fn mistakes_of_a_sweep_and_of_its_points_are_told_by_check() {
    let place = Workplace::new("robust_sweep_wrong");
    let cases = [
        (
            sweep().replace("[sweep.grid]", "[sweep]\nnonsense = 1\n[sweep.grid]"),
            "unknown key `nonsense`",
        ),
        (sweep().replace("[0.1, 0.2, 0.3, 0.4]", "[]"), "traffic.load"),
        (sweep().replace("[0.1, 0.2, 0.3, 0.4]", "[\"abc\"]"), "\"abc\""),
        (DRAGONFLY.replace("\"random-permutation\"", "\"tornado\""), "tornado"),
        (DRAGONFLY.replace("\"dfsssp\"", "\"dfssp\""), "dfssp"),
    ];
    for (text, told) in cases {
        place.write("a.toml", &text);
        let (code, said) = place.soon(&["check", "a.toml"], &[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(told), "{told}: {said}");
        let (code, said_by_sweep) = place.soon(&["sweep", "a.toml"], &[]);
        assert_eq!((code, said_by_sweep), (2, said));
    }
}

#[test]
fn a_series_whose_table_runs_out_of_virtual_channels_is_told_with_its_place() {
    let place = Workplace::new("robust_sweep_lanes");
    let lash = "[topology.switched_torus]\ndimensions = [5, 5]\n[traffic]\npattern = \"uniform\"\nload = 0.1\n\
                [sweep.series]\nLASH = { routing.agnostic.algorithm = \"lash\", routing.agnostic.lanes = 1 }\n";
    place.write("a.toml", lash);
    let (code, said) = place.soon(&["check", "a.toml"], &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("lash needs more than 1 virtual channels here"), "{said}");
    assert!(said.contains("a.toml:"), "{said}");
}

#[test]
fn routings_of_a_sweep_that_can_deadlock_are_mentioned() {
    let place = Workplace::new("robust_sweep_deadlock");
    place.write(
        "a.toml",
        &DRAGONFLY.replace("\"dfsssp\"", "\"min-hop\"").replace("DFSSSP", "min-hop"),
    );
    let output = place.flitlab(&["check", "a.toml"]);
    let (printed, said) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(4), "{printed}{said}");
    assert!(
        printed.contains("can deadlock       uniform, min-hop: ") || printed.contains("min-hop"),
        "{printed}"
    );
    assert!(said.contains("routing.agnostic.algorithm=nue"), "{said}");
}

#[test]
fn a_table_that_can_deadlock_ends_check_as_it_ends_route() {
    let place = Workplace::new("robust_check_deadlock");
    let ring = "[topology.switched_torus]\ndimensions = [6]\n[routing.agnostic]\nalgorithm = \"min-hop\"\n";
    for workload in [
        "[exchange]\npattern = \"all-to-all\"\nmessage = \"1 KiB\"\n",
        "[traffic]\npattern = \"uniform\"\nload = 0.1\n",
    ] {
        place.write("a.toml", &format!("{ring}{workload}"));
        let (code, said) = place.soon(&["check", "a.toml"], &[]);
        assert_eq!(code, 4, "{said}");
        assert_eq!(place.soon(&["route", "a.toml"], &[]).0, 4);
        let set = ["--set", "routing.agnostic.algorithm=nue"];
        assert!(said.contains(set[1]), "{said}");
        place.run(&[&["check", "a.toml"][..], &set].concat());
    }
}

#[test]
fn check_bounds_the_completion_time_of_an_exchange_from_below() {
    let place = Workplace::new("robust_completion");
    let torus = "[topology.torus]\ndimensions = [4, 4]\n";
    let tree = "[topology.tree]\narity = 2\nlevels = 3\n";
    let exchange = |pattern: &str, more: &str| {
        format!("[exchange]\npattern = \"{pattern}\"\nmessage = \"16 KiB\"\n{more}")
    };
    let cases = [
        (torus, exchange("all-to-all", "")),
        (torus, exchange("neighbor", "rounds = 3\n")),
        (torus, exchange("tornado", "between_steps = \"nothing\"\n")),
        (torus, exchange("transpose", "read = {}\n")),
        (tree, exchange("all-to-all", "")),
        (tree, exchange("random-permutation", "")),
        ("[topology.torus]\ndimensions = [4, 4]\n[routing.adaptive]\n", exchange("tornado", "")),
    ];
    for (fabric, exchange) in cases {
        place.write("a.toml", &format!("{fabric}{exchange}"));
        let said = place.run(&["check", "a.toml"]);
        assert!(said.contains("completion time    at least "), "{said}");
        assert!(!said.contains("throughput bound"), "{said}");
        let expected = place.json(&["check", "a.toml", "--json"]);
        assert!(expected["throughput_bound_load"].is_null());
        let bound = expected["completion_bound_ns"].as_f64().unwrap();
        let run = place.json(&["run", "a.toml", "--json"]);
        let point = &run["points"][0];
        let time = 1e3 * point["completion_time_us"].as_f64().unwrap_or_else(|| panic!("{point}"));
        assert!(bound <= time, "{exchange}: {bound} {time}");
        assert!(bound > time / 8.0, "{exchange}: {bound} {time}");
    }
}

#[test]
fn a_neighbor_exchange_ends_when_its_channels_have_carried_it() {
    let place = Workplace::new("robust_completion_near");
    place.write(
        "a.toml",
        "[topology.torus]\ndimensions = [4, 4]\n[exchange]\npattern = \"neighbor\"\nmessage = \"1 MiB\"\n",
    );
    let bound = place.json(&["check", "a.toml", "--json"])["completion_bound_ns"].as_f64().unwrap();
    let run = place.json(&["run", "a.toml", "--json"]);
    let time = 1e3 * run["points"][0]["completion_time_us"].as_f64().unwrap();
    assert!(bound <= time && time < 1.05 * bound, "{bound} {time}");
}

#[test]
#[ignore = "long: half a minute, and 2 GB; a million nodes are checked in a bounded time"]
fn long_a_million_nodes_are_checked_soon() {
    let place = Workplace::new("robust_million");
    let begun = Instant::now();
    let path = scenario("scale/torus-100x100x100");
    place.run(&["check", &path]);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(120), "{took:?}");
}

#[test]
fn the_help_of_check_says_what_it_does() {
    let place = Workplace::new("robust_check_help");
    place.write("a.toml", SMALL);
    let help = place.run(&["check", "--help"]);
    assert!(help.contains("[sweep]") && help.contains("exit code 4"), "{help}");
}
