//! Much input takes time and memory in proportion to it, and no more than there is (REVIEW B6, B7).

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::SMALL;
use crate::common::workplace::Workplace;

#[test]
fn a_dry_run_of_4000_named_series_is_quick_and_takes_memory_in_proportion() {
    let place = Workplace::new("robust_series");
    let series: String =
        (1..=4000).map(|seed| format!("\"s{seed}\" = {{ seed = {seed} }}\n")).collect();
    place.write(
        "a.toml",
        &format!("{SMALL}[sweep.grid]\ntraffic.load = [0.1]\n[sweep.series]\n{series}"),
    );
    let begun = Instant::now();
    let output = place.shell("ulimit -v 2000000; flitlab sweep a.toml --dry-run");
    let (said, took) = (String::from_utf8(output.stdout).unwrap(), begun.elapsed());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("4000 points: about "), "{}", said.lines().last().unwrap());
    // It was 0.2 s a series, 800 s in all, and 5.2 GB.
    assert!(took < Duration::from_secs(30), "{took:?}");
}

#[test]
fn a_grid_of_a_million_values_is_refused_in_a_moment() {
    let place = Workplace::new("robust_grid");
    let loads: Vec<String> = (1..=1_000_000).map(|at| format!("0.{at:07}")).collect();
    let grid = format!("[sweep.grid]\ntraffic.load = [{}]\n", loads.join(", "));
    place.write("a.toml", &format!("{SMALL}{grid}"));
    for call in [&["check", "a.toml"][..], &["sweep", "a.toml", "--dry-run"]] {
        let begun = Instant::now();
        let (code, said) = place.soon(call, &[]);
        let took = begun.elapsed();
        assert!(code == 2 && said.contains("more than 100000 points"), "{said:.200}");
        // It was not done after 45 s.
        assert!(took < Duration::from_secs(20), "{took:?}");
    }
}

#[test]
fn sixteen_thousand_unknown_keys_are_told_in_a_moment() {
    let place = Workplace::new("robust_keys");
    let keys: String = (0..16_000).map(|number| format!("key{number} = {number}\n")).collect();
    place.write("a.toml", &format!("{keys}{SMALL}"));
    let begun = Instant::now();
    let (code, said) = place.soon(&["check", "a.toml"], &[]);
    let took = begun.elapsed();
    assert_eq!(code, 2);
    assert!(
        said.contains("unknown key `key99`") && !said.contains("unknown key `key100`"),
        "{said}"
    );
    assert!(said.ends_with("... and 15900 mistakes more\n"), "{}", &said[said.len() - 100..]);
    // On an idle machine a quarter of a second; it was 20 s.
    assert!(took < Duration::from_secs(4), "{took:?}");
}

#[test]
fn a_scenario_that_never_ends_is_not_read_for_ever() {
    let place = Workplace::new("robust_zero");
    let (code, said) = place.soon(&["check", "/dev/zero"], &[]);
    assert_eq!(code, 2);
    assert!(said.contains("can't read the scenario /dev/zero: it is larger than 64 MiB"), "{said}");
    for key in [
        "topology={ netlist = { path = \"/dev/zero\" } }",
        "routing={ file = { path = \"/dev/zero\" } }",
    ] {
        place.write("a.toml", SMALL);
        let (code, said) = place.soon(&["check", "a.toml", "--set", key], &[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("larger than 64 MiB"), "{said}");
    }
}

#[test]
fn a_scenario_can_come_from_a_pipe() {
    let place = Workplace::new("robust_fifo");
    let path = place.0.join("a.toml");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let writer = thread::spawn(move || {
        OpenOptions::new().write(true).open(path).unwrap().write_all(SMALL.as_bytes()).unwrap();
    });
    assert!(place.run(&["check", "a.toml"]).starts_with("a: 4x4 torus"));
    writer.join().unwrap();
}

/// Found on reading it again: latencies of allocations were no part of what routers reckon with,
/// and a long one was a panic.
#[test]
fn allocations_that_take_too_long_are_refused() {
    let place = Workplace::new("robust_long_allocation");
    let scenario = "[topology.torus]\ndimensions = [4, 4]\n[link]\nsharing = { flit = { KEY } }\n[traffic]\npattern = \
                    \"uniform\"\nload = 0.3\n";
    for key in [
        "switch_allocation_latency = \"10 ms\"",
        "virtual_channel_allocation_latency = \"10 ms\"",
        // A flit takes 33 ns.
        "output_buffer = 65536",
    ] {
        let text = scenario.replace("KEY", key);
        place.write("a.toml", &text.replace("[link]", "[link]\nrate = \"4 Gb/s\""));
        let (code, said) = place.soon(&["check", "a.toml"], &[]);
        assert_eq!(code, 2, "{said}");
        let is_refused =
            said.contains("must be from 0 ps to 499 us") || said.contains("from router to router");
        assert!(is_refused && said.contains("sharing = {"), "{said}");
    }
}
