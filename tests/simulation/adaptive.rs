//! Adaptive routing delivers everything under the worst of loads, and the watch explains what
//! happens without the bubble rule.

use flitlab::adaptive::{AdaptiveKind, NonMinimalRule, Selection};
use flitlab::engine::{
    ChannelKind, Deadlock, DeliveredPacket, Engine, Log, Parameters, run_script,
};
use flitlab::registry::Component;
use flitlab::routing::{Adaptive, AdaptiveChannels, AdaptiveRules, Routes};
use flitlab::topology::{Fabric, Faults, Torus};
use flitlab::traffic::{Message, MessageKind, Script};
use flitlab::units::{Bytes, Picoseconds};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use flitlab_random::wait_cycle::assert_each_waits_for_the_next;

fn fabric(sizes: &[u32]) -> Fabric {
    Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap()
}

/// Buffers of two packets of six flits, the least there can be.
fn parameters(bubble: bool) -> Parameters {
    Parameters {
        maximum_payload: Bytes(64),
        buffer: 12,
        injection_buffer: 12,
        bubble,
        ..Parameters::default()
    }
}

/// All there from the start, for destinations at random, `packets` a node.
fn messages(fabric: &Fabric, packets: u64, seed: u64) -> Vec<Message> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let nodes = fabric.terminals();
    let mut messages = Vec::new();
    for source in 0..nodes {
        for _ in 0..packets.div_ceil(10) {
            let destination = random.random_range(0..nodes);
            let (bytes, kind) = (640, MessageKind::Data);
            messages.push(Message {
                time: Picoseconds::ZERO,
                source,
                destination,
                bytes,
                kind,
                tag: 0,
                class: 0,
            });
        }
    }
    messages
}

fn flood(
    fabric: &Fabric,
    rules: AdaptiveRules,
    packets: u64,
    bubble: bool,
    seed: u64,
) -> Result<Log, Deadlock> {
    let routes = Routes::Adaptive(Adaptive::new(fabric, rules, seed).unwrap());
    let script = Script::new(messages(fabric, packets, seed));
    run_script(fabric, &routes, &parameters(bubble), script).map(|(log, _)| log)
}

/// So many packets past saturation, with the least buffers there can be, in two, three and four
/// dimensions.
fn a_flood_is_delivered(all: u32, rule: &str) {
    let (mut delivered, mut derouted) = (0, 0);
    for (seed, sizes) in (1..).zip([&[3, 3][..], &[4, 6], &[5, 3, 4], &[4, 2, 2, 2], &[3, 4, 3, 3]])
    {
        let fabric = fabric(sizes);
        let packets = u64::from((all / 5).div_ceil(fabric.terminals()));
        let selection = &Selection::built_in()[seed as usize % Selection::built_in().len()];
        let non_minimal = NonMinimalRule::new(rule, "");
        let rules = AdaptiveRules { non_minimal, selection, ..AdaptiveRules::default() };
        let log = flood(&fabric, rules, packets, true, seed)
            .unwrap_or_else(|it| panic!("{sizes:?}: {it}"));
        assert!(log.packets.iter().all(|packet| packet.delivered > packet.injected));
        delivered += log.packets.len();
        derouted += log.packets.iter().filter(|packet| packet.misroute.is_some()).count();
    }
    assert!(delivered >= all as usize, "{delivered}");
    let keeps_to_shortest_ways = ["adaptive", "romm"].contains(&rule);
    assert_eq!(derouted > delivered / 20, !keeps_to_shortest_ways, "{derouted} derouted");
}

fn every_non_minimal_rule(all: u32) {
    for rule in AdaptiveKind::built_in() {
        a_flood_is_delivered(all, rule.name);
    }
}

#[test]
fn sixty_thousand_packets_past_saturation_are_delivered_under_every_non_minimal_rule() {
    every_non_minimal_rule(60_000);
}

#[test]
#[ignore = "long: half a minute; a million packets past saturation under every non-minimal rule"]
fn a_million_packets_past_saturation_are_delivered_under_every_non_minimal_rule() {
    every_non_minimal_rule(1_000_000);
}

/// \[outflank\], Theorem 1, asks for a second escape network. With one for both legs, packets that
/// turn at an intermediate node close cycles across the dimensions.
#[test]
fn with_one_escape_network_outflank_routing_deadlocks_and_the_watch_names_the_cycle() {
    let channels = AdaptiveChannels { escape_to_intermediate: 1, ..AdaptiveChannels::default() };
    let non_minimal = NonMinimalRule::new("outflank", "");
    let rules = AdaptiveRules { non_minimal, channels, ..AdaptiveRules::default() };
    let found = (1..40).find_map(|seed| {
        let fabric = fabric([&[4, 4][..], &[6, 6], &[3, 3, 3], &[4, 4, 4]][seed as usize % 4]);
        flood(&fabric, rules.clone(), 2_000, true, seed).err()
    });
    let deadlock = found.expect("a deadlock");
    assert!(deadlock.cycle.len() >= 3, "{deadlock}");
}

#[test]
fn channels_carry_no_more_than_the_shortest_ways_need() {
    let fabric = fabric(&[4, 5, 3]);
    let routes = Routes::Adaptive(Adaptive::new(&fabric, AdaptiveRules::default(), 1).unwrap());
    let workload = Box::new(Script::new(messages(&fabric, 100, 1)));
    let mut engine = Engine::new(1, &fabric, &routes, &parameters(true), workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    let channels = engine.channels();
    let network = channels.iter().filter(|channel| channel.kind == ChannelKind::Network);
    let crossed: u64 = network.flat_map(|channel| channel.statistics.flits.clone()).sum();
    let shortest = |packet: &DeliveredPacket| {
        routes.source_route(&fabric, packet.source, packet.destination).unwrap().hops()
            * packet.flits
    };
    let needed: u32 = engine.observer().packets.iter().map(shortest).sum();
    assert_eq!(crossed, u64::from(needed));
}

#[test]
fn without_bubbles_the_escape_rings_fill_up_and_the_watch_names_the_cycle() {
    let found = (1..20).find_map(|seed| {
        flood(&fabric(&[4, 4]), AdaptiveRules::default(), 2_000, false, seed).err()
    });
    let deadlock = found.expect("a deadlock");
    assert!(deadlock.cycle.len() >= 3, "{deadlock}");
    assert_each_waits_for_the_next(&deadlock);
    assert!(deadlock.to_string().contains("virtual channel 1 (response)"), "{deadlock}");
}
