//! Adapters that hold few responses, and the channels of requests and responses (docs/model.md,
//! "Responder resources").

use flitlab::engine::{Engine, Lack, Log, PacketKind, Parameters, TrafficClass, run_script};
use flitlab::routing::Routes;
use flitlab::scenario::{Deadlock, Document, Scenario as TomlScenario};
use flitlab::traffic::{Message, MessageKind, Script};
use flitlab::units::Picoseconds;
use flitlab_random::agreement::{assert_agreement, run_fast, run_reference};
use flitlab_random::by_hand::{MAXIMUM_PAYLOAD, deliveries, injected, line, parameters};
use flitlab_random::differential::agree;
use flitlab_random::message::data;
use flitlab_random::random_scenario::Scenario;
use flitlab_random::wait_cycle::assert_each_waits_for_the_next;
use rayon::prelude::*;

/// What both engines make of messages at time 0 on a line of three nodes.
fn on_a_line(kind: MessageKind, bytes: u64, responder_resources: Option<u16>) -> Log {
    let (fabric, routes) = line(3);
    let from = |source| Message { kind, ..data(0, source, 1, bytes) };
    let parameters = Parameters { responder_resources, ..parameters() };
    let scenario = Scenario {
        fabric,
        routes,
        parameters,
        messages: [0, 2].map(from).into(),
        collective: None,
    };
    let log = run_reference(&scenario);
    assert_agreement(&scenario, &log, &run_fast(&scenario));
    log
}

#[test]
fn a_request_is_ejected_when_the_last_flit_of_a_response_has_left() {
    let read = |limit| on_a_line(MessageKind::Read { request: 0 }, MAXIMUM_PAYLOAD, limit);
    // Both requests ask at node 1 at 5 + 3 + 9 + 3 = 20. The first is delivered at 28; its response of
    // four flits is injected from 28 to 36. A way back takes 5 + 3 + 9 + 3 + 6 + 8 = 34.
    let free = read(None);
    assert_eq!(deliveries(&free), [(0, 0, 28), (2, 0, 30), (1, 1, 62), (1, 1, 70)]);
    assert_eq!(read(Some(2)), free);
    let log = read(Some(1));
    assert_eq!(deliveries(&log), [(0, 0, 28), (2, 0, 44), (1, 1, 62), (1, 1, 78)]);
    assert_eq!(injected(&log, 1), [28, 44]);
}

#[test]
fn of_a_put_the_last_packet_alone_needs_room_for_the_acknowledgement() {
    // Packets of four flits are ejected from 20, 28, 36 and 44 on. The third completes node 0's put;
    // it is there at 50, and its acknowledgement has left at 52.
    let put = |limit| {
        let log = on_a_line(MessageKind::Put, 2 * MAXIMUM_PAYLOAD, limit);
        let there = deliveries(&log).into_iter().filter(|it| it.1 == 0);
        there.map(|(source, _, time)| (source, time)).collect::<Vec<_>>()
    };
    assert_eq!(put(None), [(0, 34), (2, 42), (0, 50), (2, 58)]);
    assert_eq!(put(Some(1)), [(0, 34), (2, 42), (0, 50), (2, 66)]);
}

#[test]
fn more_resources_than_requests_change_nothing() {
    for seed in 0..30 {
        let run = |limit| {
            let scenario = Scenario::ruled(seed).with_remote_operations(seed);
            let Scenario { fabric, routes, mut parameters, messages, .. } = scenario;
            parameters.responder_resources = limit;
            let run = run_script(&fabric, &routes, &parameters, Script::new(messages)).ok()?;
            let (Log { mut packets, mut messages }, digest) = run;
            packets.sort_unstable();
            messages.sort_unstable();
            Some((packets, messages, digest))
        };
        assert_eq!(run(None), run(Some(u16::MAX)), "seed {seed}");
    }
}

/// Responses on the adaptive channel and on its escape wait for no requests, without intermediate
/// nodes.
#[test]
fn with_adaptive_routing_two_channels_deadlock_never_and_one_does() {
    let stuck_of = |classes: u8, packets: PacketKind| {
        let stuck = (0..120).into_par_iter().filter_map(|seed| {
            let scenario = Scenario::adaptive(seed)?.with_remote_operations(seed);
            let mut scenario = scenario.with_responder_resources(seed);
            scenario.parameters.responder_resources?;
            let Routes::Adaptive(adaptive) = &scenario.routes else { return None };
            let via = adaptive.rules().non_minimal.goes_via_intermediate();
            if via && packets == PacketKind::AdaptiveResponses {
                return None;
            }
            let whole = |it: &Message| scenario.packets_of(it);
            let packets_of = |it: &Message| whole(it).0.len() + whole(it).1.len();
            let all: usize = scenario.messages.iter().map(packets_of).sum();
            scenario.parameters.message_classes = classes;
            scenario.parameters.classes = vec![TrafficClass { packets, ..TrafficClass::default() }];
            Some(usize::from(agree(seed, &scenario) < all))
        });
        stuck.sum::<usize>()
    };
    assert_eq!(stuck_of(2, PacketKind::Usual), 0);
    assert_eq!(stuck_of(2, PacketKind::AdaptiveResponses), 0);
    let (one, shared) = (stuck_of(1, PacketKind::Usual), stuck_of(2, PacketKind::Adaptive));
    assert!(one > 0 && shared > 0, "{one} deadlocks on one channel, {shared} on a shared one");
}

/// The scenario with these settings.
fn scenario(sets: &[&str]) -> TomlScenario {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/angara/blocking-requests.toml");
    let mut document = Document::open(path.as_ref()).unwrap();
    sets.iter().for_each(|set| document.set(set));
    TomlScenario::read(&document).unwrap_or_else(|wrong| panic!("{}", wrong.plain()))
}

#[test]
fn gets_deadlock_on_one_channel_and_end_on_two() {
    let run = |sets: &[&str]| {
        let scenario = scenario(sets);
        let simulation = flitlab::simulation::Simulation::new(&scenario).unwrap();
        (scenario.deadlock(), simulation.run(&mut |_| {}))
    };
    let (foretold, ended) = run(&[]);
    assert!(matches!(foretold, Deadlock::Never(_)), "{foretold:?}");
    assert_eq!(ended.found.measured.status, flitlab::report::Status::Completed);
    let (foretold, ended) = run(&["router.message_classes=1"]);
    assert!(matches!(foretold, Deadlock::Possible { .. }), "{foretold:?}");
    assert_eq!(ended.found.measured.status, flitlab::report::Status::Deadlock);
    // Without a limit one channel is enough.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/angara/blocking-requests.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("responder_resources = 8", "").replace("classes = 2", "classes = 1");
    let unlimited = TomlScenario::read(&Document::parse("a.toml", &text)).unwrap();
    assert!(matches!(unlimited.deadlock(), Deadlock::Never(_) | Deadlock::Rarely { .. }));
    let simulation = flitlab::simulation::Simulation::new(&unlimited).unwrap();
    let status = simulation.run(&mut |_| {}).found.measured.status;
    assert_eq!(status, flitlab::report::Status::Completed);
}

/// Two nodes read much from each other, both with room for one response, on one channel.
#[test]
fn the_cycle_of_a_deadlock_leads_through_adapters() {
    let (fabric, routes) = line(2);
    let read = MessageKind::Read { request: 3 * 16 };
    let messages =
        (0..80).map(|it| Message { kind: read, ..data(it, it as u32 % 2, 1 - it as u32 % 2, 48) });
    let script = Script::new(messages.collect());
    let parameters =
        Parameters { responder_resources: Some(1), message_classes: 1, ..parameters() };
    let mut engine =
        Engine::new(1, &fabric, &routes, &parameters, Box::new(script), Log::default());
    engine.run_until(Picoseconds::NEVER);
    let deadlock = engine.find_deadlock().expect("a deadlock");
    assert_each_waits_for_the_next(&deadlock);
    let held = deadlock.cycle.iter().filter(|it| it.lacks == Lack::ResponderResource { held: 1 });
    assert_eq!(held.count(), 2, "{deadlock}");
    let text = deadlock.to_string();
    assert!(text.contains("it holds 1 response, all that it can"), "{text}");
    assert!(text.contains("the cause: requests wait for adapters"), "{text}");
}

/// What is said beforehand of layouts of virtual channels, by whether responses may wait for
/// requests in any of them.
#[test]
fn the_check_follows_what_responses_wait_for() {
    let outflank = "routing={ outflank = {} }";
    let own = |packets: &str| {
        format!(
            "workloads={{ own = {{ packets = \"{packets}\", remote_memory = {{ operation = \"get\", pattern = \
             \"all-to-all\", message = \"256 B\", operations = 252, outstanding = 252 }} }} }}"
        )
    };
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/angara/blocking-requests.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let (head, _) = text.split_once("[remote_memory]").unwrap();
    let can = |packets: &str, routing: &str| {
        let mut document = Document::parse("a.toml", head);
        document.set(&own(packets));
        document.set(routing);
        let scenario = TomlScenario::read(&document).unwrap_or_else(|it| panic!("{}", it.plain()));
        matches!(scenario.deadlock(), Deadlock::Possible { .. })
    };
    let adaptive = "routing={ adaptive = {} }";
    assert!(!can("usual", adaptive) && !can("usual", outflank));
    assert!(!can("deterministic", adaptive) && !can("deterministic", outflank));
    assert!(can("adaptive", adaptive) && can("adaptive", outflank));
    // On the way to intermediate nodes responses escape into channel 0, which requests take.
    assert!(!can("adaptive-responses", adaptive) && can("adaptive-responses", outflank));
    let apart = "routing={ outflank = { virtual_channels = { escape_to_intermediate = 3 } } }";
    assert!(!can("adaptive-responses", apart) && can("adaptive", apart));
    // Data on the way to intermediate nodes, among responses, go on behind requests.
    let swapped =
        "routing={ outflank = { virtual_channels = { escape = 0, escape_to_intermediate = 1 } } }";
    assert!(can("usual", swapped) && can("deterministic", swapped));
    assert!(can("usual", "routing={ agnostic = { algorithm = \"nue\" } }"));
}
