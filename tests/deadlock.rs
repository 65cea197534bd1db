//! Without the bubble rule a ring deadlocks, and the watch says who waits for whom; with it, it never
//! does.

use flitlab::engine::{Deadlock, Parameters, run_script};
use flitlab::routing::{DirectionOrder, DirectionRules, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{Kind, Message, Script};
use flitlab::units::{Bytes, Picoseconds};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Every node of a ring of eight sends many packets three hops ahead.
fn run_ring(bubble: bool, kind: Kind) -> Result<usize, Deadlock> {
    run_ring_by(HalfRing::Plus.into(), bubble, kind)
}

fn run_ring_by(rules: DirectionRules, bubble: bool, kind: Kind) -> Result<usize, Deadlock> {
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
        })
        .collect();
    run_script(&fabric, &routes, &parameters, Script::new(messages))
        .map(|(log, _)| log.packets.len())
}

#[test]
fn a_ring_without_bubbles_deadlocks_and_the_cycle_is_named() {
    let deadlock = run_ring(false, Kind::Data).unwrap_err();
    assert_eq!(deadlock.cycle.len(), 8);
    for (waiting, next) in deadlock.cycle.iter().zip(deadlock.cycle.iter().cycle().skip(1)) {
        assert_eq!(waiting.output, next.input, "each waits for the buffer of the next");
        assert!(waiting.free < waiting.needed);
        assert_eq!(waiting.virtual_channel, 0);
    }
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
    assert_eq!(run_ring(true, Kind::Data).unwrap(), 800);
}

#[test]
fn responses_get_through_beside_requests() {
    let packets = run_ring(true, Kind::Read { request: 16 }).unwrap();
    assert_eq!(packets, 8 + 800);
}

#[test]
fn a_dateline_keeps_the_same_ring_moving_without_a_bubble() {
    let rules = DirectionRules { dateline: true, ..HalfRing::Plus.into() };
    assert_eq!(run_ring_by(rules.clone(), false, Kind::Data).unwrap(), 800);
    assert_eq!(run_ring_by(rules, false, Kind::Read { request: 16 }).unwrap(), 8 + 800);
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
        kind: Kind::Data,
        tag: 0,
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
