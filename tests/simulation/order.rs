//! The order of packets between two nodes that go one way: kept in every kind of router, whatever waits
//! for what.

use flitlab::scenario::{Document, Scenario};
use flitlab::simulation::Simulation;

/// The share of packets that were overtaken, at a load past what some channel carries.
fn overtaken(text: &str) -> f64 {
    let scenario = Scenario::read(&Document::parse("order.toml", text));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found = Simulation::new(&scenario).unwrap().run(&mut |_| {}).found;
    assert!(found.measured.packets.unwrap() > 1_000, "{text}");
    found.measured.overtaken.unwrap()
}

const MEASURE: &str = "[measure]\nwindow = \"10 us\"\nwarm_up_windows = 3\n\
                       minimum_windows = 3\nmaximum_windows = 4\n";

/// A fast crossbar behind which packets of one pair could leave by any virtual channel.
#[test]
fn packets_that_go_one_way_keep_their_order_behind_buffers_at_outputs() {
    let router = "virtual_channels = 4\nbuffer = \"44 flits\"\noutput_buffer = \"45 flits\"\n\
                  crossbar_speedup = 4\nmaximum_payload = \"160 B\"\n";
    let adapter = "[adapter]\ninjection_choice = \"by-destination\"\ninjection_channels = 2\n\
                   ejection_channels = 2\ninjection_rate = \"128 Gb/s\"\n";
    for (topology, routing) in [
        (
            "topology.switched_torus = { dimensions = [5], terminals = 1 }",
            "agnostic.algorithm = \"up-down\"",
        ),
        ("topology.torus.dimensions = [5, 3]", "direction_order.dateline = true"),
        ("topology.torus.dimensions = [5, 3]", "agnostic = { algorithm = \"dfsssp\", lanes = 4 }"),
        (
            "topology.switched_torus = { dimensions = [5], terminals = 2 }",
            "relation = { rule = \"up-down\", selection = \"low-port\" }",
        ),
    ] {
        let text = format!(
            "{topology}\nrouting.{routing}\n[router]\n{router}{adapter}\
             [traffic]\npattern = \"uniform\"\nload = 0.7\n{MEASURE}"
        );
        assert_eq!(overtaken(&text), 0.0, "{text}");
    }
}

/// Packets of a relation choose their hops, so that some come before others.
#[test]
fn packets_that_choose_their_hops_may_overtake() {
    let text = format!(
        "topology.switched_torus = {{ dimensions = [5, 3], terminals = 2 }}\n\
         routing.relation.rule = \"minimal-up-down\"\n\
         router = {{ output_buffer = \"140 flits\", crossbar_speedup = 4 }}\n\
         adapter.injection_choice = \"by-destination\"\n\
         [traffic]\npattern = \"uniform\"\nload = 0.7\n{MEASURE}"
    );
    assert!(overtaken(&text) > 0.0, "{text}");
}
