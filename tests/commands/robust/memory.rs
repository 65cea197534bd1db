//! Fabrics, tables and exchanges for which there is no memory are refused with figures (REVIEW B4).

use crate::common::workplace::Workplace;

const LITTLE: [(&str, &str); 1] = [("FLITLAB_MEMORY", "100 MiB")];
const LOAD: &str = "[traffic]\npattern = \"uniform\"\nload = 0.1\n";

/// Needs far more than 100 MiB, each by another builder.
const FABRICS: [&str; 10] = [
    "torus]\ndimensions = [512, 512, 512]",
    "random_regular]\nswitches = 1_048_576\ndegree = 64",
    "switched_torus]\ndimensions = [100, 100, 100]",
    "tree]\narity = 32\nlevels = 4",
    "kautz]\ndegree = 30\nlength = 4",
    "dragonfly]\ngroups = 1025\ngroup_size = 64\nglobal_cables = 16\nterminals = 1",
    "cascade]\ngroups = 200\ncolumns = 32\nrows = 32\nterminals = 1",
    "director_tree]\nedge_switches = 100_000\nuplinks = 1_000_000\nall_terminals = 1_000_000",
    "hyperx]\ndimensions = [1024, 32]",
    "slim_fly]\nprime = 199",
];

fn refused((code, said): (i32, String), what: &str) {
    assert_eq!(code, 2, "{what}: {said}");
    assert!(
        said.contains(" would take about ") && said.contains("FLITLAB_MEMORY"),
        "{what}: {said}"
    );
}

#[test]
fn a_fabric_of_any_builder_that_does_not_fit_is_refused_before_it_is_made() {
    let place = Workplace::new("robust_fabrics");
    for fabric in FABRICS {
        place.write("a.toml", &format!("[topology.{fabric}\n{LOAD}"));
        for command in [["check", "a.toml"], ["route", "a.toml"]] {
            let outcome = place.soon(&command, &LITTLE);
            assert!(
                outcome.1.contains("100 MB") || outcome.1.contains(" are allowed"),
                "{}",
                outcome.1
            );
            refused(outcome, fabric);
        }
    }
}

#[test]
fn a_random_graph_of_a_quarter_of_a_million_switches_asks_for_no_matrix_of_them() {
    let place = Workplace::new("robust_random");
    // 275 GB of it would be asked for at once.
    place.write(
        "a.toml",
        &format!("[topology.random_regular]\nswitches = 262_144\ndegree = 4\n{LOAD}"),
    );
    let said = place.shell("ulimit -v 8000000; flitlab check a.toml");
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("the forwarding table of this algorithm would take about"), "{said}");
}

#[test]
fn the_limit_of_a_process_counts() {
    let place = Workplace::new("robust_ulimit");
    place.write("a.toml", &format!("[topology.torus]\ndimensions = [512, 512, 512]\n{LOAD}"));
    let output = place.shell("ulimit -v 6000000; flitlab check a.toml");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("this torus would take about 13.3 GB of memory, and "), "{said}");
}

#[test]
fn tables_engines_and_exchanges_that_do_not_fit_are_refused_too() {
    let place = Workplace::new("robust_tables");
    let torus = "[topology.torus]\ndimensions = [60, 60, 60]\n";
    let cases = [
        ("angara", format!("{torus}[routing.angara]\n{LOAD}")),
        ("adaptive", format!("{torus}[routing.outflank]\n{LOAD}")),
        ("nue", format!("{torus}[routing.agnostic]\nalgorithm = \"nue\"\n{LOAD}")),
        ("min-hop", format!("{torus}[routing.agnostic]\nalgorithm = \"min-hop\"\n{LOAD}")),
        ("the engine", format!("{torus}{LOAD}")),
        ("all-to-all", format!("{torus}[exchange]\npattern = \"all-to-all\"\nmessage = \"8 B\"\n")),
    ];
    for (what, scenario) in cases {
        place.write("a.toml", &scenario);
        refused(place.soon(&["run", "a.toml", "--out", "out"], &LITTLE), what);
    }
    // Nobody has room for an all-to-all of 216,000 nodes.
    refused(place.soon(&["check", "a.toml"], &[]), "all-to-all without a limit");
}

#[test]
fn tables_of_files_are_refused_by_the_fabric_that_they_are_for() {
    let place = Workplace::new("robust_files");
    place.write("huge.routes", "flitlab-routes 1\ntorus 100 100 100\nnodes all\nroutes\n");
    let (code, said) =
        place.soon(&["route", "--check", "huge.routes"], &[("FLITLAB_MEMORY", "4 GiB")]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("a table of this torus would take about 8000.0 GB"), "{said}");
}

#[test]
fn schedules_that_one_rank_makes_too_long_are_refused_while_they_grow() {
    let place = Workplace::new("robust_schedules");
    let application = |schedule: &str| {
        format!(
            "[topology.torus]\ndimensions = [4, 4]\n[application]\nschedule = {{ {schedule} }}\n"
        )
    };
    let scenarios = [
        "all-reduce = { ranks = 4, bytes = \"1 KiB\", iterations = 1_000_000_000 }",
        "halo3d = { ranks = 8, iterations = 1_000_000_000 }",
        "sweep3d = { ranks = 4, iterations = 1_000_000_000 }",
    ];
    for schedule in scenarios {
        place.write("a.toml", &application(schedule));
        refused(place.soon(&["check", "a.toml"], &LITTLE), schedule);
    }
    let call = ["schedule", "all-to-all", "--ranks", "100000000", "--bytes", "8", "--out", "a.bin"];
    refused(place.soon(&call, &LITTLE), "all-to-all of one rank");
    place.write("a.toml", &application(scenarios[0]));
    let output = place.shell("ulimit -v 600000; flitlab check a.toml");
    let said = String::from_utf8(output.stderr).unwrap();
    refused((output.status.code().unwrap(), said), "the limit of a process");
}

#[test]
fn a_limit_that_is_no_size_is_said_to_be_none() {
    let place = Workplace::new("robust_no_size");
    place.write("a.toml", super::SMALL);
    let (code, said) = place.soon(&["check", "a.toml"], &[("FLITLAB_MEMORY", "much")]);
    assert_eq!(code, 2);
    assert!(said.contains("FLITLAB_MEMORY=much is no size of memory"), "{said}");
    assert!(said.contains("FLITLAB_MEMORY=\"64 GiB\""), "{said}");
}
