//! Smallest and largest fabrics, messages and counts: run, or refused with figures (REVIEW B1, B3).

use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Access, Between, Exchange, ExchangeSpec, Pattern, PatternSpec, Workload};
use flitlab::units::Bytes;

use crate::common::workplace::Workplace;

const EXCHANGE: &str = "[exchange]\npattern = \"all-to-all\"\nmessage = \"1 KiB\"\n";

#[test]
fn one_switch_is_checked_and_run() {
    let place = Workplace::new("robust_one_switch");
    place.write(
        "one.net",
        "Switch 2 \"S1\"\n[1] \"H1\"[1]\n[2] \"H2\"[1]\n\nHca 1 \"H1\"\n[1] \"S1\"[1]\n\nHca 1 \"H2\"\n[1] \"S1\"[2]\n",
    );
    let fabrics = [
        "netlist]\npath = \"one.net\"",
        "hyperx]\ndimensions = [1]\nterminals = 3",
        "cascade]\ngroups = 1\ncolumns = 1\nrows = 1\nterminals = 3",
    ];
    for fabric in fabrics {
        for workload in [EXCHANGE, "[traffic]\npattern = \"uniform\"\nload = 0.1\n"] {
            place.write("a.toml", &format!("[topology.{fabric}\n{workload}"));
            let said = place.run(&["check", "a.toml"]);
            assert!(
                ["ejection channel", "injection channel", "by the steps"]
                    .iter()
                    .any(|bound| said.contains(bound)),
                "{said}"
            );
            let result = place.json(&["run", "a.toml", "--json"]);
            assert!(result["points"][0]["packets"].as_u64().unwrap() > 0, "{fabric}");
            place.run(&["route", "a.toml"]);
        }
    }
}

#[test]
fn one_switch_is_routed_by_every_algorithm_that_needs_no_grid() {
    let place = Workplace::new("robust_one_switch_routed");
    place.write(
        "a.toml",
        &format!("[topology.hyperx]\ndimensions = [1]\nterminals = 3\n{EXCHANGE}"),
    );
    for name in flitlab::tables::agnostic::ALGORITHMS.map(|algorithm| algorithm.name) {
        let set = format!("routing.agnostic.algorithm={name}");
        let (code, said) = place.soon(&["check", "a.toml", "--set", &set], &[]);
        assert!(code == 0 || code == 2 && said.starts_with("error: "), "{name}: {said}");
    }
}

#[test]
fn a_message_of_two_to_the_32_packets_is_refused_with_figures_and_one_less_is_not() {
    let place = Workplace::new("robust_packets");
    let torus = "[topology.torus]\ndimensions = [4]\n";
    for (payload, message, most) in
        [("256 B", "1024 GiB", "1099511627520 B"), ("1 B", "4 GiB", "4294967295 B")]
    {
        place.write(
            "a.toml",
            &format!(
                "{torus}[router]\nmaximum_payload = \"{payload}\"\n[exchange]\npattern = \"all-to-all\"\n\
                 message = \"{message}\"\n"
            ),
        );
        for command in ["check", "run"] {
            let (code, said) = place.soon(&[command, "a.toml"], &[]);
            assert_eq!(code, 2, "{said}");
            assert!(said.contains("would be 4294967296 packets"), "{said}");
            assert!(said.contains(&format!("at most {most}")), "{said}");
        }
        place.run(&["check", "a.toml", "--set", &format!("exchange.message={most}")]);
        let load = ["--set", "exchange.message=8 B", "--set", "exchange.read.request=1 GiB"];
        let (code, said) = place.soon(&[&["check", "a.toml"][..], &load].concat(), &[]);
        assert_eq!(code, 0, "{said}");
    }
}

#[test]
fn more_steps_or_flits_than_can_be_counted_are_refused_with_figures() {
    let place = Workplace::new("robust_rounds");
    place.write("a.toml", &format!("[topology.torus]\ndimensions = [10, 10]\n{EXCHANGE}"));
    let rounds = |rounds: &str| {
        place.soon(&["check", "a.toml", "--set", &format!("exchange.rounds={rounds}")], &[])
    };
    let (code, said) = rounds("1000000000");
    assert_eq!(code, 2);
    assert!(said.contains("1000000000 rounds of 99 steps are too many"), "{said}");
    assert!(said.contains("at most 43383508"), "{said}");
    assert_eq!(rounds("43383508").0, 0);
    let (code, said) = place.soon(
        &[
            "check",
            "a.toml",
            "--set",
            "exchange.rounds=40000000",
            "--set",
            "exchange.message=900 GiB",
        ],
        &[],
    );
    assert_eq!(code, 2);
    assert!(said.contains("more flits than can be counted"), "{said}");
}

#[test]
fn a_router_with_more_ports_or_buffers_than_are_numbered_is_refused() {
    let place = Workplace::new("robust_ports");
    let fabric = |terminals: u32| {
        let text = format!(
            "[topology.random_regular]\nswitches = 2\ndegree = 1\nterminals = {terminals}\n[traffic]\n\
             pattern = \"uniform\"\nload = 0.1\n[routing.agnostic]\nalgorithm = \"min-hop\"\n"
        );
        place.write("a.toml", &text);
        place.soon(&["check", "a.toml"], &[])
    };
    let (code, said) = fabric(100_000);
    assert_eq!(code, 2);
    assert!(
        said.contains("at most 65534 ports a router, and this one would have 100001"),
        "{said}"
    );
    let (code, said) = fabric(10_000);
    assert_eq!(code, 2);
    assert!(said.contains("router S0 would have 80008 buffers"), "{said}");
    let (code, said) = fabric(8_000);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn more_than_65535_nodes_can_send_to_one() {
    let fabric = Torus::new(&[41, 41, 40], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let senders = 1..fabric.terminals();
    let pairs: Vec<[u32; 2]> = senders.clone().map(|source| [source, 0]).collect();
    let pattern = PatternSpec::new("pairs", &format!("list = {pairs:?}"));
    let spec = ExchangeSpec {
        pattern: pattern.clone(),
        message: Bytes(8),
        access: Access::Write,
        between: Between::Exchange,
        rounds: 2,
    };
    let pattern = Pattern::new(&pattern, &fabric, 1).unwrap();
    let exchange = Exchange::new(&spec, pattern, &fabric);
    assert_eq!(exchange.messages(), 2 * senders.len() as u64);
}
