//! Classes of traffic: the virtual channels of their packets, and both engines on them.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use flitlab::{
    engine::{Engine, FlitSharing, Log, PacketKind, Parameters, RouterKind, TrafficClass},
    routing::{
        Adaptive, AdaptiveChannels, AdaptiveRules, DirectionOrder, DirectionRules, HalfRing, Routes,
    },
    tables::agnostic::{Algorithm, Parameters as TableParameters},
    topology::{Fabric, Faults, Torus},
    traffic::{Message, MessageKind, Script, Workload},
    units::{Bytes, Picoseconds},
};
use flitlab_random::differential::agree;
use flitlab_random::random_flit_scenario::share;
use flitlab_random::random_scenario::Scenario;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn the_engines_agree_on_classes_of_traffic() {
    let mut escaped = BTreeMap::new();
    for seed in 0..60 {
        let scenario = match seed % 5 {
            0 => Scenario::ruled(seed),
            1 => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::ruled(seed)),
            2 => Scenario::adaptive_by_table(seed),
            3 => Scenario::forwarding(seed),
            _ => Scenario::choosing(seed),
        };
        agree(seed, &scenario.with_classes(seed));
    }
    // Packets of several classes that choose have to escape in the same networks.
    for seed in 0..150 {
        let Some(scenario) = Scenario::adaptive(seed) else { continue };
        let scenario = scenario.with_classes(seed);
        agree(seed, &scenario);
        let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
        let workload = Box::new(Script::new(messages.clone()));
        let mut engine = Engine::new(1, fabric, routes, parameters, workload, Log::default());
        engine.run_until(Picoseconds::NEVER);
        let packets = engine.observer().packets.iter();
        let chooses = |class| match parameters.class(class).packets {
            PacketKind::Usual => messages.iter().all(|it| it.kind == MessageKind::Data),
            PacketKind::Adaptive => true,
            PacketKind::AdaptiveResponses | PacketKind::Deterministic => false,
        };
        let classes: BTreeSet<u8> = packets
            .filter(|packet| packet.virtual_channel == 1 && chooses(packet.class))
            .map(|packet| packet.class)
            .collect();
        *escaped.entry(classes.len()).or_insert(0) += 1;
    }
    assert!(escaped.range(2..).map(|it| it.1).sum::<u32>() > 5, "{escaped:?}");
}

/// Acknowledgements are counted in the virtual channel of requests. Where no packets but those on
/// the response channel are sent, it was in use without the other of its pair, and the classes of a
/// dateline, which are found by their places in pairs, were not kept apart.
#[test]
fn the_classes_of_responses_stay_apart_where_links_err() {
    let mut compared = 0;
    for seed in 0..40 {
        let mut scenario = Scenario::random(seed).with_errors(seed);
        let rules = DirectionRules { dateline: true, ..HalfRing::Plus.into() };
        let Ok(order) = DirectionOrder::new(&scenario.fabric, rules) else { continue };
        scenario.routes = Routes::DirectionOrder(order);
        scenario.messages.retain(|message| message.kind == MessageKind::Data);
        scenario.parameters.bubble = false;
        scenario.parameters.virtual_channels = 5;
        let class = TrafficClass { on_response_channel: true, ..TrafficClass::default() };
        scenario.parameters.classes = vec![class];
        agree(seed, &scenario);
        compared += 1;
    }
    assert!(compared > 5, "{compared}");
}

#[test]
fn the_engines_agree_flit_by_flit_on_classes_of_traffic() {
    for seed in 0..60 {
        let mut scenario = match seed % 5 {
            0 => Scenario::ruled(seed),
            1 => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::ruled(seed)),
            2 => Scenario::adaptive_by_table(seed),
            3 => Scenario::forwarding(seed),
            _ => Scenario::choosing(seed),
        };
        share(&mut ChaCha8Rng::seed_from_u64(seed), &mut scenario);
        agree(seed, &scenario.with_classes(seed));
    }
}

/// Four rings of four nodes in either dimension.
fn network() -> Fabric {
    Torus::new(&[4, 4], &[]).unwrap().fabric(&Faults::default()).unwrap()
}

/// The messages of a class from node 0 to node 5, two hops away: data, a read, a put.
fn messages(class: u8) -> Vec<Message> {
    let kinds = [MessageKind::Data, MessageKind::Read { request: 8 }, MessageKind::Put];
    let message = |(number, kind): (u64, _)| Message {
        time: Picoseconds(20_000_000 * u64::from(class) + 5_000_000 * number),
        source: 0,
        destination: 5,
        bytes: 8,
        kind,
        tag: 0,
        class,
    };
    (0..).zip(kinds).map(message).collect()
}

/// The virtual channels of a class's packets: data, request, response, put, acknowledgement.
fn vcs(routes: &Routes, parameters: &Parameters, class: u8) -> Vec<u8> {
    let fabric = network();
    let workload: Box<dyn Workload> = Box::new(Script::new(messages(class)));
    let mut engine = Engine::new(1, &fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    let Log { packets, messages } = engine.observer();
    assert!(packets.iter().all(|packet| packet.class == class));
    assert!(messages.iter().all(|message| message.class == class) && messages.len() == 3);
    packets.sort_unstable_by_key(|packet| packet.delivered);
    packets.iter().map(|packet| packet.virtual_channel).collect()
}

fn with_classes(virtual_channels: u8, classes: &[TrafficClass]) -> Parameters {
    Parameters { virtual_channels, classes: classes.to_vec(), ..Parameters::default() }
}

const USUAL: TrafficClass =
    TrafficClass { packets: PacketKind::Usual, on_response_channel: false, service: 0 };
const ON_RESPONSE: TrafficClass = TrafficClass { on_response_channel: true, ..USUAL };
const ADAPTIVE: TrafficClass = TrafficClass { packets: PacketKind::Adaptive, ..USUAL };
const DETERMINISTIC: TrafficClass = TrafficClass { packets: PacketKind::Deterministic, ..USUAL };

#[test]
fn data_may_be_on_the_response_channel() {
    let fabric = network();
    for dateline in [false, true] {
        let rules = DirectionRules { dateline, ..HalfRing::Plus.into() };
        let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, rules).unwrap());
        let parameters = with_classes(5, &[USUAL, ON_RESPONSE]);
        let parameters = Parameters { bubble: !dateline, ..parameters };
        let response = if dateline { 2 } else { 1 };
        // What is not given has the default.
        for (class, data) in [(0, 0), (1, response), (2, 0)] {
            assert_eq!(vcs(&routes, &parameters, class), [data, 0, response, 0, response]);
        }
    }
}

#[test]
fn all_packets_of_a_class_may_be_adaptive_or_deterministic() {
    let fabric = network();
    let routes = Routes::Adaptive(Adaptive::new(&fabric, AdaptiveRules::default(), 1).unwrap());
    let on_response = TrafficClass { on_response_channel: true, ..DETERMINISTIC };
    for kind in [RouterKind::WholePackets, RouterKind::SharedLinks(FlitSharing::default())] {
        let parameters = with_classes(5, &[USUAL, ADAPTIVE, DETERMINISTIC, on_response]);
        let parameters = Parameters { kind, ..parameters };
        let of_class = |class| vcs(&routes, &parameters, class);
        assert_eq!(of_class(0), [2, 0, 1, 0, 1]);
        assert_eq!(of_class(1), [2; 5]);
        assert_eq!(of_class(2), [0, 0, 1, 0, 1]);
        assert_eq!(of_class(3), [1, 0, 1, 0, 1]);
    }
}

/// Without messages that are answered, all virtual channels would be those of data.
#[test]
fn links_shared_flit_by_flit_are_divided_if_a_class_is_on_the_response_channel() {
    let fabric = network();
    let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
    let routes = Routes::DirectionOrder(order);
    let kind = RouterKind::SharedLinks(FlitSharing::default());
    let parameters = Parameters { kind, ..with_classes(4, &[USUAL, ON_RESPONSE]) };
    let data = |class| Message { class, ..messages(class)[0] };
    let vc = |messages: Vec<Message>| {
        let workload = Box::new(Script::new(messages));
        let mut engine = Engine::new(1, &fabric, &routes, &parameters, workload, Log::default());
        engine.run_until(Picoseconds::NEVER);
        let packets = &mut engine.observer().packets;
        packets.sort_unstable_by_key(|packet| packet.delivered);
        packets.iter().map(|packet| packet.virtual_channel).collect::<Vec<_>>()
    };
    assert_eq!(vc(vec![data(0), data(1)]), [0, 2]);
    assert_eq!(vc(vec![data(1)]), [2]);
    // All virtual channels, in turn.
    let several = (0..5).map(|step| Message { time: Picoseconds(step * 5_000_000), ..data(0) });
    assert_eq!(vc(several.collect()), [0, 1, 2, 3, 0]);
}

#[test]
fn classes_have_sets_of_virtual_channels_with_tables() {
    let fabric = network();
    let parameters = TableParameters { vcs: 2, ..TableParameters::default() };
    let table = Algorithm::DFSSSP.generate(&fabric, &parameters).unwrap().table;
    let width = table.vc_count();
    assert!(width > 1);
    let routes = Routes::Forwarding(Arc::new(table));
    let services = [0, 2, 1].map(|service| TrafficClass { service, ..USUAL });
    let parameters = with_classes(3 * width, &services);
    let usual = vcs(&routes, &parameters, 0);
    for (class, set) in [(0, 0), (1, 2), (2, 1), (3, 0)] {
        let expected: Vec<u8> = usual.iter().map(|vc| vc + set * width).collect();
        assert_eq!(vcs(&routes, &parameters, class), expected);
    }
}

#[test]
fn a_class_that_asks_for_what_the_routing_cannot_do_is_refused() {
    let fabric = network();
    let order = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus).unwrap());
    let made = Algorithm::UP_DOWN.generate(&fabric, &TableParameters::default()).unwrap();
    let table = Routes::Forwarding(Arc::new(made.table));
    let on_channels = |adaptive, escape| {
        let channels = AdaptiveChannels { adaptive, escape, ..AdaptiveChannels::default() };
        let rules = AdaptiveRules { channels, ..AdaptiveRules::default() };
        Routes::Adaptive(Adaptive::new(&fabric, rules, 1).unwrap())
    };
    let (adaptive, on_0) = (on_channels(2, 1), on_channels(0, 1));
    let second_set = TrafficClass { service: 1, ..USUAL };
    let cases = [
        (&order, ADAPTIVE, "class 0 has adaptive packets, and routing is not adaptive"),
        (&table, ON_RESPONSE, "class 0 has data on the response channel, and the routing has none"),
        (&order, second_set, "class 0 has service 1, and the routing has one set"),
        (&adaptive, second_set, "class 0 has service 1, and the routing has one set"),
        (&table, TrafficClass { service: 5, ..USUAL }, "class 0 needs 6 virtual channels"),
        (&on_0, DETERMINISTIC, "deterministic packets of class 0 are on the adaptive channel 0"),
    ];
    for (routes, class, expected) in cases {
        let parameters = Parameters { maximum_payload: Bytes(64), ..with_classes(5, &[class]) };
        let workload = Box::new(Script::new(messages(0)));
        let new = || Engine::new(1, &fabric, routes, &parameters, workload, Log::default()).now();
        let panic = catch_unwind(AssertUnwindSafe(new)).expect_err(expected);
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(message.contains(expected), "{message}");
    }
}
