//! Without the bubble rule a ring deadlocks, and the watch says who waits for whom; with it, it
//! never does.

use std::collections::BTreeMap;

use flitlab::engine::{Deadlock, Parameters, Switching, run_script};
use flitlab::routing::{DirectionOrder, DirectionRules, HalfRing, Routes};
use flitlab::tables::{FlowControl, Freedom, prove_deadlock_free};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Message, MessageKind, Script};
use flitlab::units::{Bytes, Picoseconds};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use flitlab_random::differential;
use flitlab_random::random_flit_scenario::flit_scenario;
use flitlab_random::random_scenario::Scenario;
use flitlab_random::wait_cycle::assert_each_waits_for_the_next;

/// Every node of a ring of eight sends many packets three hops ahead.
fn run_ring(bubble: bool, kind: MessageKind) -> Result<usize, Deadlock> {
    run_ring_by(HalfRing::Plus.into(), bubble, kind)
}

fn run_ring_by(rules: DirectionRules, bubble: bool, kind: MessageKind) -> Result<usize, Deadlock> {
    let fabric = Torus::new(&[8], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, rules).unwrap());
    let parameters = Parameters {
        maximum_payload: Bytes(64),
        buffer: 12,
        injection_buffer: 12,
        bubble,
        ..Parameters::default()
    };
    let messages = (0..8)
        .map(|source| Message {
            time: Picoseconds::ZERO,
            source,
            destination: (source + 3) % 8,
            bytes: 64 * 100,
            kind,
            tag: 0,
            class: 0,
        })
        .collect();
    run_script(&fabric, &routes, &parameters, Script::new(messages))
        .map(|(log, _)| log.packets.len())
}

#[test]
fn a_ring_without_bubbles_deadlocks_and_the_cycle_is_named() {
    let deadlock = run_ring(false, MessageKind::Data).unwrap_err();
    assert_eq!(deadlock.cycle.len(), 8);
    assert_each_waits_for_the_next(&deadlock);
    assert!(deadlock.cycle.iter().all(|waiting| waiting.virtual_channel == 0));
    let text = deadlock.to_string();
    assert!(text.starts_with("deadlock at "), "{text}");
    assert!(text.contains("8 packets wait for each other in a cycle"), "{text}");
    assert!(
        text.contains("router (0), input port from (7) +x, virtual channel 0 (request)"),
        "{text}"
    );
}

#[test]
fn the_bubble_rule_keeps_the_same_ring_moving() {
    assert_eq!(run_ring(true, MessageKind::Data).unwrap(), 800);
}

#[test]
fn responses_get_through_beside_requests() {
    let packets = run_ring(true, MessageKind::Read { request: 16 }).unwrap();
    assert_eq!(packets, 8 + 800);
}

#[test]
fn a_dateline_keeps_the_same_ring_moving_without_a_bubble() {
    let rules = DirectionRules { dateline: true, ..HalfRing::Plus.into() };
    assert_eq!(run_ring_by(rules.clone(), false, MessageKind::Data).unwrap(), 800);
    assert_eq!(run_ring_by(rules, false, MessageKind::Read { request: 16 }).unwrap(), 8 + 800);
}

/// Every node sends to random ones as fast as it can, packets of all sizes.
#[test]
fn random_traffic_past_saturation_deadlocks_without_datelines_and_never_with_them() {
    let fabric = Torus::new(&[6, 6], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let parameters = Parameters {
        maximum_payload: Bytes(64),
        buffer: 12,
        injection_buffer: 12,
        bubble: false,
        ..Parameters::default()
    };
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let message = |_| Message {
        time: Picoseconds::ZERO,
        source: random.random_range(0..36),
        destination: random.random_range(0..36),
        bytes: random.random_range(0..=64 * 4),
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    let messages: Vec<Message> = (0..20_000).map(message).collect();
    for half_ring in [HalfRing::Plus, HalfRing::Balanced, HalfRing::Random] {
        for order in [vec![], vec![0, 2, 1, 3]] {
            let run = |dateline| {
                let rules = DirectionRules { order: order.clone(), half_ring, dateline };
                let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, rules).unwrap());
                run_script(&fabric, &routes, &parameters, Script::new(messages.clone()))
            };
            assert!(run(false).is_err());
            assert_eq!(run(true).unwrap().0.messages.len(), 20_000);
        }
    }
}

/// Whether all packets that share virtual channels have one size, so that a bubble is enough.
fn one_size(scenario: &Scenario) -> bool {
    // Requests and responses share the rings of relations, and may share others by their classes.
    let share = matches!(scenario.routes, Routes::Relation(_));
    let response = if share || !scenario.parameters.classes.is_empty() { 0 } else { 1 };
    let mut sizes = [None, None];
    let mut is_one = |kind: usize, bytes: u64| *sizes[kind].get_or_insert(bytes) == bytes;
    scenario.messages.iter().all(|message| {
        let (there, back) = scenario.packets_of(message);
        there.into_iter().all(|bytes| is_one(0, bytes))
            && back.into_iter().all(|bytes| is_one(response, bytes))
    })
}

/// What is proved never deadlocks, and what deadlocks was warned of: over all routings, with whole
/// packets and flit by flit.
fn verdicts_hold(seeds: std::ops::Range<u64>) -> BTreeMap<String, u32> {
    let one = |seed: u64| {
        let mut scenario = if seed.is_multiple_of(2) {
            flit_scenario(seed / 2)
        } else {
            differential::packet_scenario(seed / 2)
        };
        // What adapters hold and what is dropped is not the concern of the routes' proof.
        scenario.parameters.responder_resources = None;
        scenario.parameters.head_of_queue_lifetime = None;
        let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
        let wormhole = parameters.switching == Switching::Wormhole;
        let verdict = prove_deadlock_free(fabric, routes, FlowControl::from(parameters));
        let ran = run_script(fabric, routes, parameters, Script::new(messages.clone()));
        let stuck = ran.is_err();
        if let Err(deadlock) = ran {
            assert_each_waits_for_the_next(&deadlock);
        }
        let proved = match &verdict {
            Ok(Freedom::Bubble) => one_size(&scenario),
            other => other.is_ok(),
        };
        assert!(!(proved && stuck), "seed {seed}: {verdict:?} and deadlocks: {parameters:?}");
        let verdict = verdict.map_or("warned of".into(), |freedom| format!("{freedom:?}"));
        let atomic = parameters.kind.is_atomic();
        let worms = match (wormhole, atomic) {
            (true, true) => ", worms alone in buffers",
            (true, false) => ", worms",
            _ => "",
        };
        format!("{verdict}{worms}{}", if stuck { ", deadlock" } else { "" })
    };
    let found: Vec<String> = seeds.into_par_iter().map(one).collect();
    let mut counts = BTreeMap::new();
    for name in found {
        *counts.entry(name).or_insert(0) += 1;
    }
    counts
}

#[test]
fn what_is_proved_never_deadlocks_and_what_deadlocks_was_warned_of() {
    let counts = verdicts_hold(0..2000);
    println!("{counts:?}");
    for name in ["NoCircle", "NoCircle, worms", "Bubble", "Escape"] {
        assert!(counts.contains_key(name), "{counts:?}");
    }
    // Most of these send too little to come to what can happen.
    assert!(counts.contains_key("warned of, worms, deadlock"), "{counts:?}");
    assert!(counts.contains_key("warned of, deadlock"), "{counts:?}");
}

#[test]
#[ignore = "long: minutes; 10,000 scenarios (FLITLAB_SCENARIOS) of all routings"]
fn what_is_proved_never_deadlocks_in_many_random_scenarios() {
    let number = |name, default| {
        std::env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (first, count) = (number("FLITLAB_FIRST", 0), number("FLITLAB_SCENARIOS", 10_000));
    for (name, count) in verdicts_hold(first..first + count) {
        println!("{count:>8} {name}");
    }
}
