//! `flitlab route` on fabrics of any shape, and on the dumps of OpenSM.

use serde_json::Value;

use crate::common::workplace::{Workplace, with};

const TORUS: &str = "[topology.torus]\ndimensions = [4, 4]\n";
const KAUTZ: &str = "[topology.kautz]\ndegree = 2\nlength = 3\nterminals = 2\nredundancy = 2\n";

fn fabric(name: &str) -> String {
    format!("{}/tests/fabrics/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The figures of a table that do not depend on how it came about.
const FIGURES: [&str; 13] = [
    "routed_pairs",
    "pairs_without_route",
    "maximum_load",
    "lower_bound",
    "lower_bound_of_minimal_routing",
    "minimum_load",
    "perfect_load",
    "sigma_2",
    "hops_mean",
    "least_hops_mean",
    "lanes_used",
    "dependencies_by_lane",
    "cycle",
];

#[test]
fn a_saved_table_reads_back_with_its_virtual_channels() {
    let place = Workplace::new("forwarding_saved");
    place.write("torus.toml", TORUS);
    place.write("kautz.toml", KAUTZ);
    let cases = [
        ("torus.toml", "nue", 240, 3),
        ("torus.toml", "torus-2qos", 240, 2),
        ("torus.toml", "up-down", 240, 1),
        ("kautz.toml", "nue-balanced", 552, 3),
        ("kautz.toml", "dfsssp", 552, 3),
        ("kautz.toml", "lash", 552, 3),
    ];
    for (scenario, algorithm, pairs, vcs) in cases {
        let folder = format!("{algorithm}-of-{scenario}");
        let call = ["route", scenario, "--algorithm", algorithm, "--save", &folder, "--json"];
        let count = vcs.to_string();
        let more: &[&str] = if vcs > 1 { &["--lanes", &count] } else { &[] };
        let made = place.json(&with(&call, more));
        assert_eq!(made["routed_pairs"].as_u64(), Some(pairs), "{folder}");
        assert!(made["lanes_used"].as_u64() <= Some(vcs), "{folder}");
        assert!(made["lower_bound"].as_u64() <= made["maximum_load"].as_u64(), "{folder}");
        assert_eq!(made["cycle"], Value::Array(Vec::new()), "{folder}");
        // The fabric is there in both forms.
        let discovered = format!("{folder}/ibnetdiscover.txt");
        for netlist in [&[][..], &["--netlist", &discovered]] {
            let call = ["route", "--check", &folder, "--json"];
            let checked = place.json(&with(&call, netlist));
            for figure in FIGURES {
                assert_eq!(made[figure], checked[figure], "{folder}: {figure}");
            }
        }
    }
}

#[test]
fn a_table_with_a_cycle_is_shown_and_saved_and_the_code_is_4() {
    let place = Workplace::new("forwarding_cycle");
    place.write("torus.toml", TORUS);
    let call = ["route", "torus.toml", "--algorithm", "min-hop", "--save", "table"];
    let output = place.flitlab(&call);
    assert_eq!(output.status.code(), Some(4));
    let (text, errors) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
    assert!(text.unwrap().contains("a cycle of 4"));
    let errors = errors.unwrap();
    let cycle: Vec<&str> =
        errors.lines().filter(|line| line.ends_with("virtual channel 0")).collect();
    assert_eq!(cycle.len(), 4, "{errors}");
    let (code, again) = place.fail(&["route", "--check", "table"]);
    assert_eq!(code, 4);
    // The fabric's names are those of its netlist now.
    assert!(again.contains("these 4 channels can wait for the next"), "{again}");
}

#[test]
fn real_dumps_of_opensm_are_judged() {
    let place = Workplace::new("forwarding_opensm");
    let (net, minhop) = (fabric("torus4222.net"), fabric("torus4222-minhop.lfts"));
    let [tables, paths] = ["lfts", "paths"]
        .map(|end| format!("{}/scenarios/nue/torus4222-lash.{end}", env!("CARGO_MANIFEST_DIR")));
    let (code, errors) = place.fail(&["route", "--check", &minhop, "--netlist", &net]);
    assert_eq!(code, 4);
    let expected = "  S1 port 1 to S2, virtual channel 0\n  S2 port 1 to S3, virtual channel 0\n  \
                    S3 port 1 to S0, virtual channel 0\n  \
                    S0 port 1 to S1, virtual channel 0\n";
    assert!(errors.contains(expected), "{errors}");
    assert!(errors.contains("--find-lanes"), "{errors}");

    // The service levels that the running OpenSM told.
    let call = ["route", "--check", &tables, "--netlist", &net, "--paths", &paths, "--json"];
    let judged = place.json(&call);
    assert_eq!(judged["lanes_used"], 2);
    assert_eq!(judged["cycle"], Value::Array(Vec::new()));
    assert_eq!(judged["lanes_unknown"], false);

    // Without them nobody knows; the paths alone can do with two virtual channels.
    let alone = ["route", "--check", &tables, "--netlist", &net];
    let (code, errors) = place.fail(&alone);
    assert!(code == 4 && errors.contains("all paths have service level 0"), "{errors}");
    let found = place.json(&with(&alone, &["--find-lanes", "2", "--json"]));
    assert_eq!(
        (&found["lanes_used"], &found["maximum_load"]),
        (&2.into(), &judged["maximum_load"])
    );
    let (code, errors) = place.fail(&with(&alone, &["--find-lanes", "1"]));
    assert!(code == 4 && errors.contains("need more than 1"), "{errors}");
}

#[test]
fn a_dump_that_does_not_fit_is_refused_with_its_first_wrong_line() {
    let place = Workplace::new("forwarding_misfit");
    let (net, minhop) = (fabric("torus4222.net"), fabric("torus4222-minhop.lfts"));
    let refused = |arguments: &[&str], words: &str| {
        let (code, errors) = place.fail(&with(&["route", "--check"], arguments));
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains(words), "{errors}");
    };
    refused(
        &[&minhop, "--netlist", &fabric("torus4x4.net")],
        "minhop.lfts:2: S0 has no cable at port 6",
    );
    refused(&[&minhop], "--netlist FILE");
    refused(&["."], "has no fabric.net");
    refused(&[&minhop, "--netlist", &minhop], "is a dump of forwarding tables, not a netlist");
    place.write("paths.txt", "1 8 0\n1 8 77\n");
    let levels = [&*minhop, "--netlist", &net, "--paths", "paths.txt"];
    refused(&levels, "paths.txt:2: service levels are numbered from 0 to 15");
}

#[test]
fn lanes_that_mean_nothing_to_an_algorithm_are_a_note_in_a_loop_over_algorithms() {
    let place = Workplace::new("forwarding_lanes");
    place.write("torus.toml", TORUS);
    place.write("kautz.toml", KAUTZ);
    let named = format!("{}/scenarios/nue/torus4222-minhop.toml", env!("CARGO_MANIFEST_DIR"));
    for (arguments, words) in [
        (&["kautz.toml", "--algorithm", "sssp"][..], "nothing to sssp; it is for"),
        (
            &["kautz.toml", "--algorithm", "min-hop"],
            "dfsssp, dfsssp-fewest, dfsssp-opensm, dfsssp-balanced, lash",
        ),
        (&["torus.toml", "--algorithm", "sssp"], "nothing to sssp, which is for Angara's"),
        (&[&named], "nothing to the table that the scenario names"),
    ] {
        let made = with(&with(&["route"], arguments), &["--lanes", "2"]);
        let output = place.flitlab(&made);
        let said = String::from_utf8(output.stderr).unwrap();
        // Some of these tables can deadlock without virtual channels, which is told besides.
        assert!(said.contains("note: --lanes 2 means ") && said.contains(words), "{said}");
    }
    // An algorithm that parts paths says nothing.
    let made = ["route", "kautz.toml", "--algorithm", "dfsssp", "--lanes", "4"];
    assert_eq!(String::from_utf8(place.flitlab(&made).stderr).unwrap(), "");
}

#[test]
fn what_means_nothing_is_refused_with_what_does() {
    let place = Workplace::new("forwarding_refused");
    place.write("torus.toml", TORUS);
    place.write("kautz.toml", KAUTZ);
    let refused = |arguments: &[&str], words: &[&str]| {
        let (code, errors) = place.fail(&with(&["route"], arguments));
        assert_eq!(code, 2, "{errors}");
        for word in words {
            assert!(errors.contains(word), "{word}: {errors}");
        }
    };
    let choose = |scenario, algorithm| [scenario, "--algorithm", algorithm];
    refused(&choose("kautz.toml", "balanced"), &["[topology.torus]", "up-down", "nue-balanced"]);
    refused(&choose("kautz.toml", "torus-2qos"), &["tori and meshes", "for any fabric: min-hop"]);
    refused(&choose("kautz.toml", "d-mod-k"), &["fat trees", "for any fabric: min-hop"]);
    let two_vcs = |scenario, algorithm| with(&choose(scenario, algorithm), &["--lanes", "2"]);
    let partition = with(&choose("kautz.toml", "lash"), &["--partition", "in-turn"]);
    refused(&partition, &["--partition means nothing to lash", "it is for nue, nue-balanced"]);
    let lash_tor = with(&two_vcs("torus.toml", "lash-tor"), &["--save", "table"]);
    refused(&lash_tor, &["change virtual channels by their destination"]);
    assert!(!place.0.join("table").exists());
    place.run(&with(&["route"], &two_vcs("torus.toml", "lash-tor")));
}

#[test]
fn figures_do_not_depend_on_the_threads_and_loads_are_drawn() {
    let place = Workplace::new("forwarding_threads");
    place.write("torus.toml", TORUS);
    place.write("kautz.toml", KAUTZ);
    for scenario in ["torus.toml", "kautz.toml"] {
        let call = ["route", scenario, "--algorithm", "nue", "--json", "--threads"];
        let [mut one, mut five] = ["1", "5"].map(|threads| place.json(&with(&call, &[threads])));
        for result in [&mut one, &mut five] {
            let figures = result.as_object_mut().unwrap();
            assert!(figures.remove("seconds").is_some() && figures.remove("cpu_seconds").is_some());
        }
        assert_eq!(one, five, "{scenario}");
    }
    let draw = |scenario, folder| {
        place.run(&["route", scenario, "--algorithm", "nue", "--lanes", "2", "--out", folder]);
    };
    draw("torus.toml", "torus");
    draw("kautz.toml", "kautz");
    assert!(place.read("torus/loads.csv").contains("\"(0,1) +x\","));
    assert!(place.read("kautz/loads.csv").contains("S0 port 1 to S"));
    for file in ["torus/heat-map.svg", "torus/histogram.svg", "kautz/histogram.svg"] {
        assert!(place.read(file).contains("<svg"));
    }
    assert!(!place.0.join("kautz/heat-map.svg").exists());
}
