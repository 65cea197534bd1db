//! The examples of `examples/`, which other crates and docs/extending.md send readers to.
//!
//! `cargo test` builds them as programs. Here the functions of each are called, and what they
//! return is compared with what is known beforehand.

#[path = "../../examples/load_sweep.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod load_sweep;
#[path = "../../examples/netlist_table.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod netlist_table;
#[path = "../../examples/own_algorithm.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod own_algorithm;
#[path = "../../examples/own_command.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod own_command;
#[path = "../../examples/own_pattern.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod own_pattern;
#[path = "../../examples/own_workload.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod own_workload;
#[path = "../../examples/ping.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod ping;
#[path = "../../examples/watch_packets.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod watch_packets;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use flitlab::cli::Program;
use flitlab::topology::netlist::Netlist;
use flitlab::units::Picoseconds;

#[test]
fn every_example_is_tested_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: &str| {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
        files.map(|entry| entry.file_name().into_string().unwrap()).collect::<Vec<_>>()
    };
    let tested = fs::read_to_string(root.join("tests/simulation/examples.rs")).unwrap();
    for name in names("examples") {
        assert!(tested.contains(&format!("#[path = \"../../examples/{name}\"]")), "{name}");
    }
    // Those of the Python package are run by its own tests.
    let tested = fs::read_to_string(root.join("tests/python/test_flitlab.py")).unwrap();
    for name in names("examples/python") {
        assert!(tested.contains(&format!("\"examples/python/{name}\"")), "{name}");
    }
}

/// A ping between neighbours takes the 850 ns that were published (\[angara-routing\], section 1).
#[test]
fn pings_of_the_example_take_the_time_of_the_closed_form() {
    let pings = ping::pings().unwrap();
    assert_eq!(pings.len(), 31);
    for ping in &pings {
        assert_eq!(ping.simulated, ping.closed_form, "{} hops to {}", ping.hops, ping.to);
    }
    let nearest = pings.iter().filter(|ping| ping.hops == 1);
    assert!(nearest.clone().count() >= 5);
    assert!(nearest.clone().all(|ping| ping.simulated == Picoseconds(850_000)));
    assert_eq!(pings.iter().map(|ping| ping.hops).max(), Some(5));
}

/// Destinations are one or two nodes ahead, half each; the ring carries more than what is offered.
#[test]
fn a_pattern_from_outside_is_simulated_and_its_keys_are_checked() {
    let scenario = own_pattern::read_scenario(own_pattern::SCENARIO).unwrap();
    let (hops, throughput) = own_pattern::measure(&scenario).unwrap();
    assert!((hops - 1.5).abs() < 0.02, "{hops}");
    assert!((throughput - 0.3).abs() < 0.01, "{throughput}");

    let refused = |from: &str, to: &str| {
        let text = own_pattern::SCENARIO.replace(from, to);
        own_pattern::read_scenario(&text).unwrap_err().to_string()
    };
    let said = refused("reach = 2", "reech = 2");
    assert!(said.contains("did you mean `reach`?"), "{said}");
    let said = refused("reach = 2", "reach = 8");
    assert!(said.contains("ahead reaches 8 nodes, and each has 7 others"), "{said}");
}

/// Node 3 has failed, so the next two nodes after node 2 are 4 and 5.
#[test]
fn the_pattern_of_the_example_leaves_out_failed_nodes() {
    let failed = "dimensions = [4, 4]\nfailed_nodes = [[3, 0]]";
    let text = own_pattern::SCENARIO.replace("dimensions = [8]", failed);
    let scenario = own_pattern::read_scenario(&text).unwrap();
    let simulation = flitlab::simulation::Simulation::new(&scenario).unwrap();
    let mut shares = Vec::new();
    simulation
        .shares()
        .next()
        .unwrap()
        .pattern()
        .for_each_share(2, |to, share| shares.push((to, share)));
    assert_eq!(shares, [(4, 0.5), (5, 0.5)]);
}

/// Four messages of 256 B every 2 us are 0.512 GB/s, which rings carry.
#[test]
fn a_workload_from_outside_is_simulated_and_its_keys_are_checked() {
    let scenario = own_workload::read_scenario(own_workload::SCENARIO).unwrap();
    let (offered, accepted) = own_workload::measure(&scenario).unwrap();
    assert!((offered - 0.512).abs() < 1e-9, "{offered}");
    assert!((accepted / offered - 1.0).abs() < 1e-6, "{accepted} of {offered}");

    let refused = |from: &str, to: &str| {
        let text = own_workload::SCENARIO.replace(from, to);
        own_workload::read_scenario(&text).unwrap_err().to_string()
    };
    let said = refused("messages = 4", "mesages = 4");
    assert!(said.contains("did you mean `messages`?"), "{said}");
    let said = refused("2 us", "100 ns");
    assert!(said.contains("more flits than a node can inject"), "{said}");
    let said = refused("[measure]", "[exchange]\n[measure]");
    assert!(said.contains("one workload, not [exchange] and [bursts]"), "{said}");
}

/// On the tree the nodes lie in a line of eight, in which two nodes are 3 hops apart in the mean.
#[test]
fn an_algorithm_from_outside_is_proved_and_simulated() {
    let simulation = own_algorithm::simulation(own_algorithm::SCENARIO).unwrap();
    let proof = own_algorithm::prove(simulation.fabric()).unwrap();
    assert!(proof.holds(), "{:?}", proof.flaws);
    assert_eq!(proof.pairs, 8 * 7);
    let measured = simulation.run(&mut |_| {}).found.measured;
    assert_eq!(measured.hops_mean, Some(3.0));

    let wrong = own_algorithm::SCENARIO.replace("one-tree", "one-tre");
    let said = own_algorithm::simulation(&wrong).unwrap_err().to_string();
    assert!(said.contains("did you mean `one-tree`?"), "{said}");
}

#[test]
fn the_swept_load_of_the_example_is_drawn_up_to_saturation() {
    let curve = load_sweep::sweep("transpose", &[0.1, 0.2, 3.0, 0.15]).unwrap();
    let [(low, short), (high, long)] = curve.points[..] else { panic!("{:?}", curve.points) };
    assert_eq!((low, high), (0.1, 0.2));
    assert!(short < long, "{short} ns at load 0.1, {long} ns at load 0.2");

    let svg = load_sweep::draw(&[curve]).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    for text in ["offered load (fraction of capacity)", "mean packet latency (ns)", "transpose"] {
        assert!(svg.contains(text), "{text}");
    }
}

/// The first dimension of this torus is a ring of four switches. Shortest paths round it wait for
/// each other, so the table of `min-hop` is refused.
#[test]
fn tables_for_a_netlist_are_told_apart_by_proof_and_quality() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/nue/torus4222.net");
    let netlist = Netlist::read(&fs::read_to_string(path).unwrap()).unwrap();
    let tables = netlist_table::assess(&netlist).unwrap();
    let [shortest, tree, nue] = &tables[..] else { panic!("three algorithms") };
    assert_eq!(shortest.algorithm, "min-hop");
    assert!(shortest.flaws[0].starts_with("packets can deadlock"), "{:?}", shortest.flaws);
    assert!(tree.flaws.is_empty() && nue.flaws.is_empty());
    // Distances add up to 4 in the ring and to 1 in each other dimension, over 31 other terminals.
    let least = f64::from(4 * 8 + 3 * 16) / 31.0;
    assert!((shortest.hops_mean - least).abs() < 1e-12, "{}", shortest.hops_mean);
    assert!(tree.hops_mean >= least && nue.hops_mean >= least);
    assert!(nue.maximum_load < tree.maximum_load, "the tree's root carries most");
}

/// In a ring of four, one node is at distance 0, two at 1, one at 2. The coefficients of (1 + 2x +
/// x^2)^3 = (1 + x)^6 say how many nodes are at each distance in three dimensions.
#[test]
fn the_histogram_of_the_example_is_exact_on_any_number_of_threads() {
    let expected: Vec<u64> = [0, 6, 15, 20, 15, 6, 1].map(|nodes| 64 * nodes).into();
    for threads in [1, 3] {
        assert_eq!(watch_packets::watch(threads).unwrap().packets, expected, "{threads} threads");
    }
}

/// The commands that the example names, with its pattern and its rule; tests/extension runs a program
/// of its own by all of them.
#[test]
fn the_command_of_the_example_knows_its_pattern_and_its_rule() {
    let registry = own_command::registry().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("own_command");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name).into_os_string();
    let call = |words: &[std::ffi::OsString]| {
        let program = Arc::new(Program::with_registry(&registry));
        let ended = program.call(words, None).unwrap();
        (ended.code, ended.text, program.answer())
    };
    let options = "--defaults --topology dragonfly --pattern half-way --routing shorter-queue";
    let mut init = vec!["init".into(), path("own.toml")];
    init.extend(options.split(' ').map(Into::into));
    let (code, said, _) = call(&init);
    assert_eq!(code, 0, "{said}");
    let text = fs::read_to_string(folder.join("own.toml")).unwrap();
    assert!(text.contains("rule = \"shorter-queue\"") && text.contains("\"half-way\""), "{text}");
    let mut sweep = vec!["sweep".into(), path("own.toml"), "--out".into(), path("out")];
    let short = ["window=1 us", "minimum_windows=4", "maximum_windows=8"];
    let short = short.map(|setting| format!("measure.{setting}"));
    for setting in short.into_iter().chain(["sweep.grid.traffic.load=[0.1, 0.3]".to_owned()]) {
        sweep.extend(["--set".into(), setting.into()]);
    }
    let (code, said, answer) = call(&sweep);
    assert_eq!(code, 0, "{said}");
    assert_eq!(answer.result.unwrap().rows.points.len(), 2);
    let (code, said, _) = call(&["plot".into(), path("out"), "--out".into(), path("figures")]);
    assert_eq!(code, 0, "{said}");
    let (code, said, _) = call(&["report".into(), path("out")]);
    assert_eq!(code, 0, "{said}");
    let misspelt = text.replace("shorter-queue", "shorter-queu");
    fs::write(folder.join("wrong.toml"), misspelt).unwrap();
    let (code, said, _) = call(&["check".into(), path("wrong.toml")]);
    assert_eq!(code, 2);
    assert!(said.contains("did you mean `shorter-queue`?"), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}
