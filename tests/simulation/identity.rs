//! What identifies a point: equal for equal results, different for different ones.

use flitlab::scenario::{Document, Identity, RESULTS_VERSION, Scenario};
use flitlab::simulation::Simulation;

const BASE: &str = "\
[topology.torus]
dimensions = [4, 4]
[traffic]
pattern = \"uniform\"
load = 0.3
[measure]
window = \"2 us\"
maximum_windows = 10
";

fn identity(text: &str) -> Identity {
    Scenario::identity(&Document::parse("a.toml", text)).unwrap()
}

#[test]
fn how_a_scenario_is_written_makes_no_difference() {
    for same in [
        format!("name = \"b\"\ntitle = \"B\"\nseed = 1\n{BASE}"),
        BASE.replace("2 us", "2000 ns"),
        BASE.replace("load = 0.3", "load = 0.30\nprocess = \"bernoulli\""),
        format!("{BASE}[link]\nrate = \"7.5 GB/s\"\n"),
        format!("{BASE}[sweep.grid]\ntraffic.load = [0.1]\n"),
    ] {
        assert_eq!(identity(&same), identity(BASE), "{same}");
    }
}

#[test]
fn whatever_decides_results_makes_a_difference() {
    let base = identity(BASE);
    for other in [
        format!("seed = 2\n{BASE}"),
        BASE.replace("0.3", "0.31"),
        BASE.replace("maximum_windows = 10", "maximum_windows = 11"),
        format!("{BASE}[router]\nbubble = false\n"),
        format!("{BASE}[routing.adaptive]\n"),
    ] {
        assert_ne!(identity(&other).to_string(), base.to_string(), "{other}");
    }
    assert_eq!(identity(&BASE.replace("0.3", "0.25")), base.at_load(0.25));
    assert_eq!(identity(&BASE.replace("0.3", "0.25")).family(), base.family());
}

#[test]
fn the_contents_of_files_count_and_not_where_they_are() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("identity");
    let with_table = |place: &str, algorithm: &str| {
        let folder = root.join(place);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.toml"), BASE).unwrap();
        let made = std::process::Command::new(env!("CARGO_BIN_EXE_flitlab"))
            .args(["route", "a.toml", "--save", "a.routes", "--algorithm", algorithm])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let path = folder.join("b.toml").display().to_string();
        let text = format!("{BASE}[routing.file]\npath = \"a.routes\"\n");
        Scenario::identity(&Document::parse(&path, &text)).unwrap()
    };
    let _ = std::fs::remove_dir_all(&root);
    let first = with_table("one", "bfs");
    assert_eq!(first, with_table("two", "bfs"));
    assert_ne!(first, with_table("three", "balanced"));
    std::fs::remove_dir_all(&root).unwrap();
}

/// If this fails, the simulator computes other results than before: raise `RESULTS_VERSION`, so
/// that stored points of earlier versions are not taken for this one's, then put the new digests
/// here.
#[test]
fn results_are_those_of_their_version() {
    let digest = |text: &str| {
        let scenario = Scenario::read(&Document::parse("a.toml", text)).unwrap();
        let row = Simulation::new(&scenario).unwrap().run(&mut |_| {}).found.measured;
        format!("{:016x} {}", row.digest.unwrap(), row.packet_latency_mean.unwrap().0)
    };
    let adaptive = format!("{BASE}[routing.outflank]\n");
    // Each of these algorithms has its own way of choosing among equally good paths.
    let by_table = |algorithm: &str| {
        let routing = format!("[routing.agnostic]\nalgorithm = \"{algorithm}\"\n");
        digest(&format!("{BASE}{routing}"))
    };
    let tree = BASE.replace(
        "[topology.torus]\ndimensions = [4, 4]",
        "[topology.tree]\narity = 3\nlevels = 3\nterminals = 3",
    );
    let found = [
        digest(BASE),
        digest(&adaptive),
        by_table("dfsssp"),
        by_table("lash"),
        by_table("nue"),
        by_table("nue-balanced"),
        digest(&format!("{BASE}[link.errors]\nbit_error_rate = 1e-4\nretry = \"stomp\"\n")),
        digest(&format!("{BASE}[routing.relation]\nrule = \"two-orders\"\n")),
        digest(&format!("{BASE}[routing.relation]\nrule = \"bubble-colouring\"\nlanes = 1\n")),
        digest(&format!("{tree}[routing.relation]\nrule = \"two-orders\"\nlanes = 4\n")),
    ];
    let expected = [
        "814c6b9b05d69352 348938",
        "2a4507640e66ca93 336113",
        "13411c117ec58622 2099908",
        "d93c54d7cf7aecd5 2433950",
        "964326ed87147250 1946467",
        "e2271fbf48b26c8c 1946406",
        "e48666acaa1accee 28734051",
        "34ad23799247a954 1965293",
        "b1dc39e1350f6d14 2062747",
        "8c4cec97b48566ff 1352232",
    ];
    assert_eq!((RESULTS_VERSION, found), (25, expected.map(String::from)));
}
