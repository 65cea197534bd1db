//! Holds the fast engine to the plain reference engine, packet by packet, in random scenarios.

mod common;
mod reference;

use std::collections::BTreeMap;

use common::random_scenario::Scenario;
use flitlab::{
    engine::{CompletedMessage, DeliveredPacket, Log, run_script},
    routing::{Lanes, Routes},
    traffic::{Kind, Message, Script},
    units::Picoseconds,
};

fn run_reference(scenario: &Scenario) -> Log {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    reference::run(fabric, routes, parameters, messages).unwrap_or_else(|deadlock| {
        panic!("{} packets are stuck at {}", deadlock.packets, deadlock.time)
    })
}

fn run_fast(scenario: &Scenario) -> Log {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let script = Script::new(messages.clone());
    run_script(fabric, routes, parameters, script).expect("no deadlock").0
}

/// Names the seed if a test of it panics, wherever that is.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("in the random scenario of seed {}", self.0);
        }
    }
}

fn for_each_scenario(seeds: std::ops::Range<u64>, test: impl Fn(&Scenario)) {
    for seed in seeds {
        let _named = Named(seed);
        test(&Scenario::random(seed));
    }
}

/// The reference's record and the fast engine's.
type Pair<'a, R> = (Option<&'a R>, Option<&'a R>);

/// The first of two lists' differences, by the time at which things went apart.
fn first_difference<'a, R: Ord>(
    reference: &'a [R],
    fast: &'a [R],
    key: impl Fn(&R) -> (u32, u32),
    apart: impl Fn(&R, &R) -> Picoseconds,
) -> Option<Pair<'a, R>> {
    let mut pairs: BTreeMap<(u32, u32), Pair<R>> = BTreeMap::new();
    for record in reference {
        pairs.entry(key(record)).or_default().0 = Some(record);
    }
    for record in fast {
        pairs.entry(key(record)).or_default().1 = Some(record);
    }
    let time = |pair: &Pair<R>| match *pair {
        (Some(a), Some(b)) => apart(a, b),
        _ => Picoseconds::MAX,
    };
    pairs.into_values().filter(|(a, b)| a != b).min_by_key(time)
}

/// Panics, with the scenario and the first packet that differs, unless both logs say the same.
fn assert_agreement(scenario: &Scenario, reference: &Log, fast: &Log) {
    let sorted = |log: &Log| {
        let (mut packets, mut messages) = (log.packets.clone(), log.messages.clone());
        packets.sort_unstable();
        messages.sort_unstable();
        (packets, messages)
    };
    let (reference, fast) = (sorted(reference), sorted(fast));
    if reference == fast {
        return;
    }
    let went_apart = |a: &DeliveredPacket, b: &DeliveredPacket| {
        if a.injected == b.injected {
            a.delivered.min(b.delivered)
        } else {
            a.injected.min(b.injected)
        }
    };
    let packet = first_difference(
        &reference.0,
        &fast.0,
        |packet| (packet.source, packet.sequence),
        went_apart,
    );
    let message: Option<(&CompletedMessage, &CompletedMessage)> =
        reference.1.iter().zip(&fast.1).find(|(a, b)| a != b);
    panic!(
        "the engines differ\n{:?}, {} channels, routes {}\n{:#?}\n\
         {} messages; packets delivered: reference {}, fast {}\n\
         first packet that differs (reference, fast): {packet:#?}\n\
         first message that differs: {message:#?}",
        scenario.fabric.torus(),
        scenario.fabric.channels(),
        match scenario.routes {
            Routes::DirectionOrder(ref order) => format!("{order:?}"),
            Routes::Table(_) => "of a table".to_owned(),
            Routes::Adaptive(ref adaptive) => format!("{:?}", adaptive.rules()),
            Routes::Forwarding(ref table) => format!("of {} lanes", table.lane_count()),
        },
        scenario.parameters,
        scenario.messages.len(),
        reference.0.len(),
        fast.0.len(),
    );
}

/// Panics unless the log has each packet that the messages turn into once, and each message once.
fn assert_everything_delivered_once(scenario: &Scenario, log: &Log) {
    type Route = (u32, u32, u8, u64);
    let mut expected: Vec<Route> = Vec::new();
    for message in &scenario.messages {
        let &Message { source, destination, .. } = message;
        let (there, back) = scenario.packets_of(message);
        expected.extend(there.into_iter().map(|payload| (source, destination, 0, payload)));
        expected.extend(back.into_iter().map(|payload| (destination, source, 1, payload)));
    }
    let mut delivered: Vec<Route> = log
        .packets
        .iter()
        .map(|packet| {
            let payload = u64::from(packet.payload);
            assert_eq!(packet.flits, scenario.parameters.packet_flits(payload));
            assert!(packet.created <= packet.injected && packet.injected < packet.delivered);
            (packet.source, packet.destination, packet.virtual_channel, payload)
        })
        .collect();
    expected.sort_unstable();
    delivered.sort_unstable();
    assert_eq!(delivered, expected);

    let mut sent: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for packet in &log.packets {
        sent.entry(packet.source).or_default().push(packet.sequence);
    }
    for sequences in sent.values_mut() {
        sequences.sort_unstable();
        assert!(sequences.iter().copied().eq(0..sequences.len() as u32));
    }

    let mut created: Vec<(u32, u32, u64, Picoseconds)> = scenario
        .messages
        .iter()
        .map(|message| (message.source, message.destination, message.bytes, message.time))
        .collect();
    let mut completed: Vec<(u32, u32, u64, Picoseconds)> = log
        .messages
        .iter()
        .map(|message| (message.source, message.destination, message.bytes, message.created))
        .collect();
    created.sort_unstable();
    completed.sort_unstable();
    assert_eq!(completed, created);
}

/// Panics if a packet overtakes another one of its source, destination, injection channel and virtual
/// channel.
fn assert_order_kept(log: &Log) {
    let mut streams: BTreeMap<(u32, u32, u8, u8), Vec<&DeliveredPacket>> = BTreeMap::new();
    for packet in &log.packets {
        let DeliveredPacket { source, destination, injection_channel, virtual_channel, .. } =
            *packet;
        streams
            .entry((source, destination, injection_channel, virtual_channel))
            .or_default()
            .push(packet);
    }
    for stream in streams.values_mut() {
        stream.sort_unstable_by_key(|packet| packet.sequence);
        assert!(stream.is_sorted_by_key(|packet| packet.created));
        assert!(stream.windows(2).all(|pair| pair[0].injected < pair[1].injected));
        assert!(stream.windows(2).all(|pair| pair[0].delivered < pair[1].delivered));
    }
}

fn engines_agree(seeds: std::ops::Range<u64>) {
    for_each_scenario(seeds, |scenario| {
        assert_agreement(scenario, &run_reference(scenario), &run_fast(scenario));
    });
}

// Four tests rather than one, so that they run at the same time.

#[test]
fn the_engines_agree_in_scenarios_0_to_199() {
    engines_agree(0..200);
}

#[test]
fn the_engines_agree_in_scenarios_200_to_399() {
    engines_agree(200..400);
}

#[test]
fn the_engines_agree_in_scenarios_400_to_599() {
    engines_agree(400..600);
}

#[test]
fn the_engines_agree_in_scenarios_600_to_799() {
    engines_agree(600..800);
}

#[test]
fn the_engines_agree_under_adaptive_routing() {
    let (mut tried, mut escaped, mut derouted) = (0, 0, BTreeMap::new());
    for seed in 0..600 {
        let _named = Named(seed);
        let Some(scenario) = Scenario::adaptive(seed) else { continue };
        let (reference, fast) = (run_reference(&scenario), run_fast(&scenario));
        assert_agreement(&scenario, &reference, &fast);
        assert_eq!(fast.messages.len(), scenario.messages.len());
        let escaped_last = fast.packets.iter().any(|it| it.virtual_channel == 1);
        for kind in fast.packets.iter().filter_map(|packet| packet.derouting) {
            *derouted.entry(kind).or_insert(0) += 1;
        }
        let data = scenario.messages.iter().all(|message| message.kind == Kind::Data);
        escaped += usize::from(data && escaped_last);
        tried += 1;
    }
    assert!(tried > 300 && escaped > 20, "{tried} {escaped}");
    assert!(derouted.len() == 3 && derouted.values().all(|&count| count > 50), "{derouted:?}");
}

#[test]
fn the_engines_agree_on_forwarding_tables() {
    let (mut lanes, mut changes) = (BTreeMap::new(), 0);
    for seed in 0..400 {
        let _named = Named(seed);
        let scenario = Scenario::forwarding(seed);
        let (reference, fast) = (run_reference(&scenario), run_fast(&scenario));
        assert_agreement(&scenario, &reference, &fast);
        assert_eq!(fast.messages.len(), scenario.messages.len());
        *lanes.entry(scenario.parameters.virtual_channels).or_insert(0) += 1;
        let Routes::Forwarding(table) = &scenario.routes else { unreachable!("drawn so") };
        changes += usize::from(matches!(table.lanes(), Lanes::ByHop(_)) && table.lane_count() > 1);
    }
    assert!(lanes.len() > 8 && lanes.keys().any(|&lanes| lanes > 5), "{lanes:?}");
    assert!(changes > 5, "in {changes} scenarios packets change lanes on their way");
}

#[test]
fn the_fast_engine_delivers_everything_once_and_in_order() {
    for_each_scenario(0..800, |scenario| {
        let log = run_fast(scenario);
        assert_everything_delivered_once(scenario, &log);
        assert_order_kept(&log);
    });
}

#[test]
fn the_reference_engine_delivers_everything_once_and_in_order() {
    for_each_scenario(0..100, |scenario| {
        let log = run_reference(scenario);
        assert_everything_delivered_once(scenario, &log);
        assert_order_kept(&log);
    });
}
