//! What somebody meets who is new here: a routing that would not be what it is called, hints at
//! names used elsewhere, parts of the reference, offers that fit, repetitions that repeat nothing
//! (REVIEW A10, C8, C9).

use std::fs;

use crate::common::workplace::Workplace;

const LOAD: &str = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";

#[test]
fn intermediate_nodes_are_refused_where_no_dimension_is_a_ring() {
    let place = Workplace::new("no_ring");
    for (sizes, open, ring) in [
        ("6, 6, 6", "\"x\", \"y\", \"z\"", false),
        ("6, 6, 6", "\"x\", \"z\"", true),
        ("2, 2", "", false),
        ("2, 3", "", true),
        ("2, 3", "\"y\"", false),
    ] {
        for routing in [
            "outflank]",
            "pick_orthant]",
            "pick_orthant]\nrule = \"goal\"",
            "pick_orthant]\nrule = \"cqr\"",
            "two_phase]\nrule = \"rlb\"",
            "adaptive]",
        ] {
            let torus = format!("[topology.torus]\ndimensions = [{sizes}]\nopen = [{open}]\n");
            place.write("a.toml", &format!("{torus}[routing.{routing}\n{LOAD}"));
            let output = place.flitlab(&["check", "a.toml"]);
            let of_meshes = |table| routing.starts_with(table);
            let fits = ring || ["adaptive]", "outflank]", "two_phase]"].into_iter().any(of_meshes);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(
                output.status.code(),
                Some(if fits { 0 } else { 2 }),
                "{sizes} {open} {routing}: {said}"
            );
            assert!(fits || said.contains("[routing.adaptive]"), "{said}");
        }
    }
}

#[test]
fn names_that_are_used_elsewhere_are_understood() {
    let place = Workplace::new("names_elsewhere");
    let torus = "[topology.torus]\ndimensions = [4, 4]\n";
    for (text, says) in [
        (format!("{torus}[routing.abr]\n"), "did you mean `adaptive`?"),
        (format!("{torus}[routing.dor]\n"), "did you mean `direction_order`?"),
        (format!("{torus}[routing.OFR]\n"), "did you mean `outflank`?"),
        (format!("{torus}[routing.goal]\n"), "below it `rule = \"goal\"`"),
        (format!("{torus}[routing.valiant]\n"), "[routing.two_phase]"),
        (format!("{torus}[routing.sssp]\n"), "[routing.angara]"),
        (format!("{torus}[routing.nue]\n"), "[routing.agnostic]"),
        ("[topology.mesh]\ndimensions = [4, 4]\n".into(), "`open = [\"x\", \"y\"]`"),
        ("[topology.fattree]\narity = 2\nlevels = 2\n".into(), "did you mean `tree`?"),
        ("[topology.fat-tree]\narity = 2\nlevels = 2\n".into(), "did you mean `tree`?"),
        (
            "[topology]\ntorus = [4, 4]\n".into(),
            "[topology.torus] and below it `dimensions = [4, 4]`",
        ),
        ("topology.tree = 3\n".into(), "`arity = 3` and `levels = "),
    ] {
        place.write("a.toml", &format!("{text}{LOAD}"));
        let (code, said) = place.fail(&["check", "a.toml"]);
        assert_eq!((code, said.contains(says)), (2, true), "{text}: {said}");
    }
}

#[test]
fn the_reference_can_be_asked_for_a_word() {
    let place = Workplace::new("reference_part");
    let part = place.run(&["check", "--reference", "buffer"]);
    assert!(part.contains("\nbuffer = ") && part.contains("\ninjection_buffer = "), "{part}");
    assert!(
        part.contains("[router]") && !part.contains("\nseed = ") && part.lines().count() < 100,
        "{part}"
    );
    let part = place.run(&["check", "--reference", "Nue"]);
    assert!(part.contains("[routing.agnostic]") && part.contains("\"nue-balanced\""), "{part}");
    let (code, said) = place.fail(&["check", "--reference", "bufer"]);
    assert_eq!((code, said.contains("did you mean `buffer`?")), (2, true), "{said}");
}

#[test]
fn what_topologies_have_alike_is_described_once() {
    let place = Workplace::new("reference_alike");
    let page = place.run(&["check", "--reference"]);
    let once = "Switches out of service, with all their cables and terminals.";
    // Of `interruption`, which stands above, it is told too.
    let topologies = page.split("[router]").next().unwrap();
    let topologies = topologies.split("[topology.torus]").nth(1).unwrap();
    assert_eq!(topologies.matches(once).count(), 1);
    let flat = page.replace("\n# ", " ");
    for table in ["dragonfly", "slim_fly", "netlist"] {
        let own = flat.split(&format!("[topology.{table}]\n")).nth(1).unwrap();
        let own = own.split("\n[").next().unwrap();
        let said = ["as in [topology.random_regular]:", "failed_switches"];
        assert!(said.iter().all(|it| own.contains(it)), "{table}: {own}");
    }
    assert!(page.lines().count() < 2_000, "{}", page.lines().count());
}

#[test]
fn init_knows_the_algorithms_of_tables() {
    let place = Workplace::new("init_nue");
    place.run(&["init", "a.toml", "--topology", "dragonfly", "--routing", "nue", "--defaults"]);
    assert!(place.read("a.toml").contains("\n[routing.agnostic]\n"), "{}", place.read("a.toml"));
    let resolved = place.run(&["check", "a.toml", "--resolved"]);
    assert!(resolved.contains("algorithm = \"nue\"\n"), "{resolved}");
    let (code, said) =
        place.fail(&["init", "b.toml", "--topology", "dragonfly", "--pattern", "tornado"]);
    assert_eq!((code, said.contains("tornado")), (2, true), "{said}");
}

#[test]
fn init_writes_the_keys_that_a_pattern_needs_or_says_which_it_needs() {
    let place = Workplace::new("init_pattern_keys");
    for pattern in ["hotspot", "hot-region"] {
        let file = format!("{pattern}.toml");
        place.run(&["init", &file, "--pattern", pattern, "--defaults"]);
        place.run(&["check", &file]);
    }
    assert!(place.read("hotspot.toml").contains("{ hotspot = { share = 0.2 } }"));
    for (pattern, needed) in
        [("pairs", "`list`"), ("matrix", "`file` or `list`"), ("mixture", "patterns")]
    {
        let (code, said) = place.fail(&["init", "a.toml", "--pattern", pattern, "--defaults"]);
        let hint = format!("`{pattern}` needs {needed} of yours: leave --pattern out");
        assert!(code == 2 && said.contains(&hint), "{said}");
    }
}

#[test]
fn init_knows_what_others_call_things() {
    let place = Workplace::new("init_names");
    let others = [
        ("--topology", "mesh", "did you mean `torus`? a mesh is [topology.torus] with `open`"),
        ("--routing", "dor", "did you mean `direction_order`?"),
        ("--routing", "abr", "did you mean `adaptive`?"),
    ];
    for (option, name, hint) in others {
        let (code, said) = place.fail(&["init", "a.toml", option, name, "--defaults"]);
        assert!(code == 2 && said.contains(hint), "{said}");
    }
}

#[test]
fn repetitions_that_repeat_nothing_are_noted() {
    let place = Workplace::new("repetitions_in_vain");
    let torus = "[topology.torus]\ndimensions = [4, 2]\n";
    let exchange = "[exchange]\nmessage = \"64 B\"\n";
    for (text, noted) in [
        (format!("{torus}{exchange}pattern = \"all-to-all\"\n"), true),
        (format!("{torus}{exchange}pattern = \"random-permutation\"\n"), false),
        (
            format!(
                "{torus}[routing.adaptive]\ntie = \"random\"\n{exchange}pattern = \"all-to-all\"\n"
            ),
            false,
        ),
        (
            format!(
                "[topology.random_regular]\nswitches = 8\ndegree = 3\n{exchange}pattern = \"all-to-all\"\n"
            ),
            false,
        ),
        (format!("{torus}{LOAD}"), false),
    ] {
        place.write("a.toml", &format!("{text}[sweep]\nrepetitions = 3\n"));
        let output = place.flitlab(&["sweep", "a.toml", "--dry-run"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}: {said}");
        assert_eq!(said.contains("note: nothing here is drawn at random"), noted, "{text}: {said}");
        if noted {
            let result = place.json(&["sweep", "a.toml", "--out", "out", "--json"]);
            let digest = |run: usize| result["points"][run]["digest"].clone();
            assert!(
                digest(0).is_string() && digest(0) == digest(1) && digest(1) == digest(2),
                "{result}"
            );
        }
    }
}

#[test]
fn a_scenario_that_is_not_there_is_offered_under_its_name() {
    let place = Workplace::new("no_scenario");
    place.write("study.toml", &format!("[topology.torus]\ndimensions = [4]\n{LOAD}"));
    for typed in ["study", "stduy.toml", "study.tml"] {
        let (code, said) = place.fail(&["check", typed]);
        let wanted = format!("can't read the scenario {typed}: there is no such file");
        assert!(code == 2 && said.contains(&wanted), "{said}");
        assert!(said.contains("did you mean study.toml?"), "{said}");
    }
    let (_, said) = place.fail(&["check", "elsewhere/other.toml"]);
    assert!(!said.contains("did you mean") && !said.contains("os error"), "{said}");
    for arguments in
        [&["route", "--check", "no.routes"][..], &["run", "study.toml", "--out", "study.toml/x"]]
    {
        let (_, said) = place.fail(arguments);
        assert!(said.contains("can't") || said.contains("No such file"), "{said}");
        assert!(!said.contains("os error"), "{said}");
    }
}

/// The workspace has programs of other crates, and `cargo run` in it names none.
#[test]
fn readmes_first_command_runs_flitlab() {
    let at = |file: &str| format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(at("README.md")).unwrap();
    assert!(readme.contains("    cargo run --release -- sweep scenarios/"));
    let manifest = fs::read_to_string(at("Cargo.toml")).unwrap();
    assert!(manifest.lines().any(|line| line == "default-run = \"flitlab\""));
}
