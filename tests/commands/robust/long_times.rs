//! Times near the end of all that can be told: refused before the run, told as too long after it,
//! never wrapped.

use std::fmt::Write as _;
use std::fs;
use std::process::Output;

use flitlab::application::MAX_NANOSECONDS;
use flitlab::units::Picoseconds;
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use crate::common::workplace::Workplace;

const TORUS: &str = "[topology.torus]\ndimensions = [4, 2]\n";

/// What carries messages: packets, flits, and both dialects of LogGOPS.
const NETWORKS: [(&str, &str); 4] = [
    ("", ""),
    ("[link]\nsharing = \"flit\"\n", ""),
    ("", "network = { loggops = {} }\n"),
    ("", "network = { loggops = { dialect = \"atlahs\" } }\n"),
];

/// What was said in one line, wherever it was wrapped.
fn flat(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Simulates `a.toml` into a new folder.
fn run(place: &Workplace) -> Output {
    let out = place.0.join("out");
    if out.exists() {
        fs::remove_dir_all(&out).unwrap();
    }
    place.flitlab(&["run", "a.toml", "--json", "--out", "out"])
}

fn scenario((link, network): (&str, &str)) -> String {
    format!("{TORUS}{link}[application]\nfile = \"a.goal\"\n{network}")
}

#[test]
fn a_computation_that_is_too_long_is_refused_at_its_line() {
    let place = Workplace::new("robust_calc_too_long");
    place.write(
        "a.goal",
        "num_ranks 2\nrank 0 {\nl1: calc 5000\nl2: calc 18446744073709551615\nl2 requires l1\n\
         l3: send 8b to 1 tag 1\nl3 requires l2\n}\nrank 1 {\nl1: recv 8b from 0 tag 1\n}\n",
    );
    for network in NETWORKS {
        place.write("a.toml", &scenario(network));
        for call in [&["check", "a.toml"][..], &["run", "a.toml"], &["schedule", "check", "a.goal"]]
        {
            let (code, said) = place.soon(call, &[]);
            assert_eq!(code, 2, "{call:?} {said}");
            assert!(flat(&said).contains("a.goal:4:10"), "{call:?} {said}");
            assert!(flat(&said).contains("18446744073709551 at the most"), "{call:?} {said}");
        }
    }
}

#[test]
fn a_rank_that_computes_for_too_long_in_all_is_refused_at_its_end() {
    let place = Workplace::new("robust_rank_too_long");
    place.write(
        "a.goal",
        "num_ranks 2\nrank 0 {\nl1: calc 10000000000000000\nl2: calc 9000000000000000\n\
         l2 requires l1\n}\nrank 1 {\n}\n",
    );
    place.write("a.toml", &scenario(NETWORKS[0]));
    for call in [["check", "a.toml"], ["run", "a.toml"]] {
        let (code, said) = place.soon(&call, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(flat(&said).contains("a.goal:6:1"), "{said}");
        assert!(flat(&said).contains("rank 0 computes for more than"), "{said}");
    }
    for (each, says) in [("1e18", "combine_ns_per_byte"), ("1e16", "213 days")] {
        let made = format!("{{ ranks = 8, bytes = \"1 KiB\", combine_ns_per_byte = {each} }}");
        place.write("a.toml", &format!("{TORUS}[application]\nschedule = {{ reduce = {made} }}\n"));
        let (code, said) = place.soon(&["check", "a.toml"], &[]);
        assert_eq!(code, 2, "{said}");
        assert!(flat(&said).contains(says), "{said}");
    }
}

#[test]
fn ranks_that_take_208_days_together_end_and_those_that_take_longer_are_said_to() {
    let place = Workplace::new("robust_chain_too_long");
    for (nanoseconds, ends) in [(9_000_000_000_000_000_u64, true), (9_300_000_000_000_000, false)] {
        place.write(
            "a.goal",
            &format!(
                "num_ranks 2\nrank 0 {{\nl1: calc {nanoseconds}\nl2: send 8b to 1\nl2 requires l1\n}}\n\
                 rank 1 {{\nl1: recv 8b from 0\nl2: calc {nanoseconds}\nl2 requires l1\n}}\n"
            ),
        );
        for network in NETWORKS {
            place.write("a.toml", &scenario(network));
            let output = run(&place);
            let said = String::from_utf8(output.stderr).unwrap();
            let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let point = &found["points"][0];
            if ends {
                assert_eq!(output.status.code(), Some(0), "{network:?} {said}");
                assert!(point["completion_time_us"].as_f64().unwrap() >= 18e12, "{point}");
            } else {
                assert_eq!(output.status.code(), Some(1), "{network:?} {said}");
                assert!(
                    flat(&said).contains("later than can be told (213 days)"),
                    "{network:?} {said}"
                );
                assert_eq!(point["status"], "too long", "{point}");
            }
        }
    }
}

#[test]
fn hosts_that_are_busy_for_milliseconds_end_where_links_are_shared_by_flits() {
    let place = Workplace::new("robust_busy_hosts");
    place.write(
        "a.goal",
        "num_ranks 2\nrank 0 {\nl1: send 8b to 1\n}\nrank 1 {\nl1: recv 8b from 0\n}\n",
    );
    for network in [NETWORKS[0], NETWORKS[1]] {
        for overhead in ["4 ms", "5 ms", "1 s"] {
            let adapter = format!("[adapter]\nsend_overhead = \"{overhead}\"\n");
            place.write("a.toml", &(scenario(network) + &adapter));
            let output = run(&place);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{network:?} {overhead} {said}");
        }
    }
}

/// A program that ends: each message goes from a rank to a later one. With what its busiest rank
/// computes.
fn program(random: &mut ChaCha8Rng) -> (String, u128) {
    let ranks = random.random_range(2..=4u32);
    let times = [0, 1, 1_000, MAX_NANOSECONDS / 4, MAX_NANOSECONDS / 3, MAX_NANOSECONDS - 1];
    let sizes = [0, 1, 8, 4096, 100_000];
    let mut parts: Vec<(String, u32, u128)> = vec![(String::new(), 0, 0); ranks as usize];
    let mut add = |rank: u32, what: &str, nanoseconds: u64| {
        let (text, count, all) = &mut parts[rank as usize];
        *count += 1;
        *all += u128::from(nanoseconds);
        writeln!(text, "l{count}: {what}").unwrap();
        if *count > 1 {
            writeln!(text, "l{count} requires l{}", *count - 1).unwrap();
        }
    };
    for tag in 0..random.random_range(1..8u32) {
        let from = random.random_range(0..ranks - 1);
        let to = random.random_range(from + 1..ranks);
        let nanoseconds = *times.choose(random).unwrap();
        add(
            if random.random_bool(0.5) { from } else { to },
            &format!("calc {nanoseconds}"),
            nanoseconds,
        );
        let bytes = sizes.choose(random).unwrap();
        add(from, &format!("send {bytes}b to {to} tag {tag}"), 0);
        add(to, &format!("recv {bytes}b from {from} tag {tag}"), 0);
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, (own, ..)) in parts.iter().enumerate() {
        writeln!(text, "rank {rank} {{\n{own}}}").unwrap();
    }
    (text, parts.iter().map(|it| it.2).max().unwrap())
}

#[test]
fn no_time_near_the_limits_panics_or_ends_before_what_a_rank_computes() {
    let place = Workplace::new("robust_extreme_times");
    let mut random = ChaCha8Rng::seed_from_u64(213);
    let (mut refused, mut long, mut ended) = (0, 0, 0);
    for number in 0..60 {
        let (text, computes) = program(&mut random);
        place.write("a.goal", &text);
        let network = NETWORKS[number % NETWORKS.len()];
        let mut scenario = scenario(network);
        // LogGOPS has neither adapters nor these hosts.
        if network.1.is_empty() {
            let mut some = || *["0 ns", "1 ps", "1 ms", "1 s"].choose(&mut random).unwrap();
            let adapter = format!(
                "[adapter]\nsend_overhead = \"{}\"\nreceive_overhead = \"{}\"\n",
                some(),
                some()
            );
            let each = *["", "overhead_per_byte = 999_999\n"].choose(&mut random).unwrap();
            scenario = format!("{scenario}{each}{adapter}");
        }
        place.write("a.toml", &scenario);
        let output = run(&place);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!flat(&said).contains("panicked"), "{text}{scenario}{said}");
        match output.status.code() {
            Some(2) => {
                assert!(computes > u128::from(MAX_NANOSECONDS), "{text}{said}");
                refused += 1;
            }
            Some(1) => {
                assert!(flat(&said).contains("later than can be told"), "{text}{said}");
                long += 1;
            }
            Some(0) => {
                let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                let time = found["points"][0]["completion_time_us"].as_f64().unwrap();
                // The float of a time of days has not all of its digits.
                assert!(time * 1.000_001 >= computes as f64 / 1e3, "{time} {text}");
                ended += 1;
            }
            other => panic!("{other:?} {text}{scenario}{said}"),
        }
    }
    assert!(refused > 3 && long > 3 && ended > 3, "{refused} refused, {long} long, {ended} ended");
}

#[test]
fn what_is_later_than_can_be_told_is_written_so() {
    assert_eq!(Picoseconds::BEYOND.to_string(), "later than 213 days");
    assert_eq!(Picoseconds(200_000).to_string(), "200 ns");
}
