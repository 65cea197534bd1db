//! What `check` and `run` say holds routers back, and what to set: followed, it lets them carry more.

use super::advice::settings;
use crate::common::workplace::Workplace;

/// What is said of a scenario, the load that it carries, and what it carries when that is followed.
struct Caution {
    name: &'static str,
    scenario: &'static str,
    says: &'static str,
    before: std::ops::Range<f64>,
    after: f64,
}

const RING: &str = "[topology.torus]\ndimensions = [4]\n[routing.direction_order]\n[link]\nlatency = \"2 us\"\n[traffic]\n\
                    pattern = \"neighbor\"\nload = 0.5\n";

const ROWS: &[Caution] = &[
    Caution {
        name: "DimWAR, flits, nothing behind the crossbar",
        scenario: "[topology.hyperx]\ndimensions = [8]\nterminals = 8\n[link.sharing.flit]\n[routing.relation]\n\
                   rule = \"dimwar\"\n[traffic]\npattern = \"dimension-complement\"\nload = 0.6\n",
        says: "no packet is led round it",
        before: 0.12..0.13,
        after: 0.45,
    },
    Caution {
        name: "DimWAR, whole packets",
        scenario: "[topology.hyperx]\ndimensions = [8]\nterminals = 8\n[routing.relation]\nrule = \"dimwar\"\n[traffic]\n\
                   pattern = \"dimension-complement\"\nload = 0.6\n",
        says: "no packet is led round it",
        before: 0.12..0.13,
        after: 0.45,
    },
    Caution {
        name: "DimWAR, a crossbar as slow as its channels",
        scenario: "[topology.hyperx]\ndimensions = [8]\nterminals = 8\n[router]\noutput_buffer = \"132 flits\"\n\
                   [routing.relation]\nrule = \"dimwar\"\n[traffic]\npattern = \"dimension-complement\"\nload = 0.6\n",
        says: "try --set router.crossbar_speedup=2",
        before: 0.12..0.13,
        after: 0.45,
    },
    Caution {
        name: "OmniWAR, a virtual channel a step, to which packets cross one at a time",
        scenario: "[topology.hyperx]\ndimensions = [4, 4, 4]\nterminals = 4\n[router]\noutput_buffer = \"132 flits\"\n\
                   crossbar_speedup = 2\n[routing.relation]\nrule = \"omniwar\"\n[traffic]\n\
                   pattern = { router-shift = { by = 4 } }\nload = 0.6\n",
        says: "try --set router.virtual_channels=12",
        before: 0.24..0.26,
        after: 0.45,
    },
    Caution {
        name: "UGAL by way of switches",
        scenario: "[topology.hyperx]\ndimensions = [8]\nterminals = 8\n[routing.relation]\nrule = \"ugal\"\n[traffic]\n\
                   pattern = \"dimension-complement\"\nload = 0.6\n",
        says: "no packet is led round it",
        before: 0.12..0.13,
        after: 0.45,
    },
    Caution {
        name: "UGAL by whole ports",
        scenario: "[topology.dragonfly]\ngroups = 17\ngroup_size = 4\nglobal_cables = 4\nterminals = 4\n[routing.relation]\n\
                   rule = { ugal = { queues = \"port\" } }\n[traffic]\npattern = { group-shift = { by = 1 } }\nload = 0.5\n",
        says: "keeps the load of all sending nodes below 0.417; try --set",
        before: 0.2..0.417,
        after: 0.4,
    },
    Caution {
        name: "a buffer below its round trip",
        scenario: RING,
        says: "each virtual channel carries at most",
        before: 0.0..0.25,
        after: 0.45,
    },
];

const SHORT: [&str; 8] = [
    "--set",
    "measure.window=50 us",
    "--set",
    "measure.warm_up_windows=2",
    "--set",
    "measure.minimum_windows=3",
    "--set",
    "measure.maximum_windows=3",
];

fn accepted(place: &Workplace, sets: &[String]) -> f64 {
    let _ = std::fs::remove_dir_all(place.0.join("out"));
    let mut call = vec!["run", "a.toml", "--json", "--no-figures", "--out", "out"];
    call.extend(SHORT);
    sets.iter().for_each(|set| call.extend(["--set", set.as_str()]));
    place.json(&call)["points"][0]["accepted_load"].as_f64().unwrap()
}

#[test]
fn what_holds_routers_back_is_said_and_what_to_set_lifts_it() {
    let place = Workplace::new("robust_cautions");
    for Caution { name, scenario, says, before, after } in ROWS {
        place.write("a.toml", scenario);
        let (code, said) = place.fail(&["check", "a.toml"]);
        let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 0 && flat.contains(says), "{name}: {code} {said}");
        let sets = settings(&said);
        assert!(!sets.is_empty(), "{name}: {said}");
        let load = accepted(&place, &[]);
        assert!(before.contains(&load), "{name}: {load}");
        let mut call = vec!["check", "a.toml"];
        sets.iter().for_each(|set| call.extend(["--set", set.as_str()]));
        let (code, said) = place.fail(&call);
        assert!(code == 0 && !said.contains("warning:"), "{name}, followed: {code} {said}");
        let load = accepted(&place, &sets);
        assert!(load >= *after, "{name}, followed: {load}");
    }
}

/// No detour costs anything here, but its own packet counts twice.
#[test]
fn a_buffer_that_hides_a_full_way_is_said_with_the_one_that_shows_it() {
    let place = Workplace::new("robust_hidden");
    place.write(
        "a.toml",
        "[topology.dragonfly]\ngroups = 9\ngroup_size = 4\nglobal_cables = 2\nterminals = 2\n[router]\n\
         buffer = \"66 flits\"\nvirtual_channels = 3\n[routing.relation]\n\
         rule = { ugal = { threshold = 0, queues = \"port\" } }\n[traffic]\n\
         pattern = { group-shift = { by = 1 } }\nload = 0.3\n",
    );
    let (_, said) = place.fail(&["check", "a.toml"]);
    assert!(said.contains("more than 86 have to be out"), "{said}");
    let sets = settings(&said);
    assert_eq!(sets, ["router.buffer=\"99 flits\""]);
    let (_, said) = place.fail(&["check", "a.toml", "--set", &sets[0]]);
    assert!(!said.contains("warning:"), "{said}");
}

/// Topology, rule, pattern and load alone: minimal ways carry 0.031, Valiant's 0.484.
#[test]
fn ugal_carries_more_than_four_tenths_to_the_next_group_by_defaults() {
    let place = Workplace::new("robust_ugal_defaults");
    place.write(
        "a.toml",
        "[topology.dragonfly]\ngroups = 33\ngroup_size = 8\nglobal_cables = 4\nterminals = 4\n[routing.relation]\n\
         rule = \"ugal\"\n[traffic]\npattern = { group-shift = { by = 1 } }\nload = 0.45\n",
    );
    let run = place.json(&["run", "a.toml", "--json", "--no-figures", "--out", "out"]);
    let load = run["points"][0]["accepted_load"].as_f64().unwrap();
    assert!(load > 0.4, "{load}");
    let (_, said) = place.fail(&["check", "a.toml"]);
    let load = accepted(&place, &settings(&said));
    assert!(load > 0.44, "{load}");
}
