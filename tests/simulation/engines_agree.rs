//! Holds the fast engine to the plain reference engine, packet by packet, in random scenarios.

use std::collections::BTreeMap;

use flitlab::{
    engine::{DeliveredPacket, FlitSharing, Log, Parameters, RouterKind, run_script},
    routing::{RelationRoutes, Routes, VcAssignment, relation::Targets},
    tables::relation_rules::{RelationParameters, RelationRule},
    topology::builders::RandomRegular,
    traffic::{Message, MessageKind, Script},
    units::Picoseconds,
};
use flitlab_random::agreement::{assert_agreement, run_fast, run_reference};
use flitlab_random::by_hand;
use flitlab_random::differential::{Named, agree, phased_scenario};
use flitlab_random::message::data;
use flitlab_random::random_cioq_scenario::cioq_scenario;
use flitlab_random::random_flit_scenario::{flit_scenario_by_credits, flit_scenario_phased};
use flitlab_random::random_relation::by_relation;
use flitlab_random::random_scenario::Scenario;

fn for_each_scenario(seeds: std::ops::Range<u64>, test: impl Fn(&Scenario)) {
    for seed in seeds {
        let _named = Named(seed);
        test(&Scenario::random(seed));
        test(&Scenario::ruled(seed));
    }
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
    // With datelines requests are on virtual channels 0 and 1, responses on 2 and 3.
    let each = match &scenario.routes {
        Routes::DirectionOrder(order) if order.has_dateline() => 2,
        _ => 1,
    };
    let mut delivered: Vec<Route> = log
        .packets
        .iter()
        .map(|packet| {
            let payload = u64::from(packet.payload);
            assert_eq!(packet.flits, scenario.parameters.packet_flits(payload));
            assert!(packet.created <= packet.injected && packet.injected < packet.delivered);
            (packet.source, packet.destination, packet.virtual_channel / each, payload)
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

/// Panics if a packet overtakes another one of its source, destination, injection channel and
/// virtual channel. Where half rings are drawn they may.
fn assert_order_kept(scenario: &Scenario, log: &Log) {
    if scenario.routes.draws() {
        return;
    }
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
fn the_engines_agree_in_scenarios_0_to_59() {
    engines_agree(0..60);
}

#[test]
fn the_engines_agree_in_scenarios_200_to_259() {
    engines_agree(200..260);
}

#[test]
fn the_engines_agree_in_scenarios_400_to_459() {
    engines_agree(400..460);
}

#[test]
fn the_engines_agree_in_scenarios_600_to_659() {
    engines_agree(600..660);
}

#[test]
#[ignore = "long: two minutes; the engines agree in more scenarios"]
fn the_engines_agree_in_more_scenarios() {
    for first in [60, 260, 460, 660] {
        engines_agree(first..first + 140);
    }
    agree_under_adaptive_routing(250..600);
    agree_under_adaptive_routing_with_failures(80..800);
    agree_on_forwarding_tables(150..400);
    agree_on_choices(45..500);
}

#[test]
fn the_engines_agree_under_adaptive_routing() {
    agree_under_adaptive_routing(0..250);
}

fn agree_under_adaptive_routing(seeds: std::ops::Range<u64>) {
    let (mut tried, mut escaped, mut derouted) = (0, 0, BTreeMap::new());
    for seed in seeds {
        let _named = Named(seed);
        let Some(scenario) = Scenario::adaptive(seed) else { continue };
        let (reference, fast) = (run_reference(&scenario), run_fast(&scenario));
        assert_agreement(&scenario, &reference, &fast);
        assert_eq!(fast.messages.len(), scenario.messages.len());
        let escaped_last = fast.packets.iter().any(|it| it.virtual_channel == 1);
        for kind in fast.packets.iter().filter_map(|packet| packet.misroute) {
            *derouted.entry(kind).or_insert(0) += 1;
        }
        let data = scenario.messages.iter().all(|message| message.kind == MessageKind::Data);
        escaped += usize::from(data && escaped_last);
        tried += 1;
    }
    assert!(tried > 70 && escaped > 4, "{tried} {escaped}");
    assert!(derouted.len() == 4 && derouted.values().all(|&count| count > 2), "{derouted:?}");
}

#[test]
fn the_engines_agree_under_adaptive_routing_with_failures() {
    agree_under_adaptive_routing_with_failures(0..80);
}

fn agree_under_adaptive_routing_with_failures(seeds: std::ops::Range<u64>) {
    let (mut escaped, mut longer, mut derouted) = (0, 0, BTreeMap::new());
    for seed in seeds {
        let _named = Named(seed);
        let scenario = Scenario::adaptive_by_table(seed);
        let (reference, fast) = (run_reference(&scenario), run_fast(&scenario));
        assert_agreement(&scenario, &reference, &fast);
        assert_everything_arrived(&scenario, &fast);
        for kind in fast.packets.iter().filter_map(|packet| packet.misroute) {
            *derouted.entry(kind).or_insert(0) += 1;
        }
        let data = scenario.messages.iter().all(|message| message.kind == MessageKind::Data);
        escaped += usize::from(data && fast.packets.iter().any(|it| it.virtual_channel == 1));
        let torus = scenario.fabric.torus().expect("a torus");
        let shortest = |packet: &DeliveredPacket| {
            let apart = |dimension: usize| {
                let at = |node| torus.coordinate(node, dimension);
                let apart = at(packet.source).abs_diff(at(packet.destination));
                let size = torus.sizes()[dimension];
                if torus.closed(dimension) { apart.min(size - apart) } else { apart }
            };
            (0..torus.dimensions()).map(apart).sum::<u32>()
        };
        assert!(fast.packets.iter().all(|it| it.hops >= shortest(it)));
        let detour = |it: &DeliveredPacket| it.misroute.is_none() && it.hops > shortest(it);
        longer += usize::from(fast.packets.iter().any(detour));
    }
    assert!(escaped > 12 && longer > 12, "{escaped} {longer}");
    assert!(derouted.len() == 4 && derouted.values().all(|&count| count > 2), "{derouted:?}");
}

/// Panics unless each packet and each message has been delivered once.
fn assert_everything_arrived(scenario: &Scenario, log: &Log) {
    let packets = scenario.messages.iter().map(|message| {
        let (there, back) = scenario.packets_of(message);
        there.len() + back.len()
    });
    assert_eq!(log.packets.len(), packets.sum::<usize>());
    assert_eq!(log.messages.len(), scenario.messages.len());
    let mut numbers: Vec<(u32, u32)> =
        log.packets.iter().map(|packet| (packet.source, packet.sequence)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), log.packets.len());
}

#[test]
fn the_engines_agree_on_forwarding_tables() {
    agree_on_forwarding_tables(0..150);
}

fn agree_on_forwarding_tables(seeds: std::ops::Range<u64>) {
    let (mut vcs, mut changes, mut spread) = (BTreeMap::new(), 0, 0);
    for seed in seeds {
        let _named = Named(seed);
        let scenario = Scenario::forwarding(seed);
        let (reference, fast) = (run_reference(&scenario), run_fast(&scenario));
        assert_agreement(&scenario, &reference, &fast);
        assert_eq!(fast.messages.len(), scenario.messages.len());
        *vcs.entry(scenario.parameters.virtual_channels).or_insert(0) += 1;
        let Routes::Forwarding(table) = &scenario.routes else { unreachable!("drawn so") };
        changes += usize::from(
            matches!(table.vc_assignment(), VcAssignment::ByHop(_)) && table.vc_count() > 1,
        );
        // Of a table without a copy as many virtual channels are few.
        let by_pair = matches!(table.vc_assignment(), VcAssignment::ByPair(_));
        spread += usize::from(by_pair && table.vc_count() > 6);
    }
    assert!(spread > 5, "in {spread} scenarios packets of a pair keep to one of many copies");
    assert!(vcs.len() > 8 && vcs.keys().any(|&vcs| vcs > 5), "{vcs:?}");
    assert!(changes > 1, "in {changes} scenarios packets change virtual channels on their way");
}

#[test]
fn the_engines_agree_on_relations_and_paths() {
    agree_on_choices(0..45);
}

fn agree_on_choices(seeds: std::ops::Range<u64>) {
    let mut seen = BTreeMap::new();
    for seed in seeds {
        let scenario = Scenario::choosing(seed);
        agree(seed, &scenario);
        let kind = match &scenario.routes {
            Routes::Relation(it) if it.relation.has_escape() => "escapes",
            Routes::Relation(_) => "relation",
            _ => "paths",
        };
        *seen.entry(kind).or_insert(0) += 1;
    }
    assert!(seen.len() == 3 && seen.values().all(|&count| count > 7), "{seen:?}");
}

#[test]
fn the_engines_agree_on_rules_with_phases() {
    let again = agree_on_phases(0..120, phased_scenario);
    assert!(again > 10, "{again}");
    agree_on_phases(0..120, flit_scenario_phased);
}

#[test]
fn the_engines_agree_where_credits_are_held_back() {
    let log = |scenario: &Scenario| {
        let Scenario { fabric, routes, parameters, messages, .. } = scenario;
        run_script(fabric, routes, parameters, Script::new(messages.clone())).map(|it| it.0).ok()
    };
    let mut moved = 0;
    for seed in 0..100 {
        let [delayed, at_once] =
            ["delayed", "at-once"].map(|credits| flit_scenario_by_credits(seed, credits));
        agree(seed, &delayed);
        let Routes::Relation(routes) = &delayed.routes else { unreachable!("drawn so") };
        assert!(routes.holds_credits(&delayed.fabric));
        moved += u32::from(log(&delayed) != log(&at_once));
    }
    assert!(moved > 20, "held credits move packets in {moved} of 100 scenarios");
}

#[test]
fn the_engines_agree_on_buffers_at_outputs() {
    let packets: usize = (0..120).map(|seed| agree(seed, &cioq_scenario(seed))).sum();
    assert!(packets > 20_000, "{packets}");
}

/// Rings with room for one or two packets everywhere, in which each node sends one packet to the next
/// node, and then ten halfway round.
#[test]
fn the_engines_agree_on_deadlocks_with_buffers_at_outputs() {
    let mut stuck = 0;
    for (seed, nodes) in (0..).zip(6..16) {
        let (fabric, routes) = by_hand::ring(nodes);
        let to_next = |node| data(0, node, (node + 1) % nodes, 48);
        let to_other = |node| data(u64::from(node), node, (node + nodes / 2) % nodes, 480);
        let messages = (0..nodes).flat_map(|node| [to_next(node), to_other(node)]).collect();
        let room = 4 + 4 * (nodes % 2);
        let parameters = Parameters {
            bubble: false,
            kind: RouterKind::OutputBuffers(room),
            buffer: room,
            crossbar_speedup: 1 + nodes / 2 % 3,
            ..by_hand::parameters()
        };
        let scenario = Scenario { fabric, routes, parameters, messages, collective: None };
        let delivered = agree(seed, &scenario);
        assert!(delivered >= nodes as usize, "{nodes} nodes");
        stuck += u32::from(delivered < 11 * nodes as usize);
    }
    assert_eq!(stuck, 10);
}

/// Counts the scenarios with each rule, those with failures, and those in which some packet goes by way of something.
/// Returns in how many packets decide again while they wait.
fn agree_on_phases(seeds: std::ops::Range<u64>, scenario: fn(u64) -> Scenario) -> u32 {
    let (mut seen, mut see_others, mut again) = (BTreeMap::new(), 0, 0);
    let mut with_failures = 0;
    for seed in seeds {
        let scenario = scenario(seed);
        with_failures += u32::from(!scenario.fabric.failed_cables().is_empty());
        agree(seed, &scenario);
        let Routes::Relation(routes) = &scenario.routes else { unreachable!("drawn so") };
        again += u32::from(routes.again.is_some());
        let RelationRoutes { relation, rule: Some(rule), .. } = routes else {
            unreachable!("drawn so")
        };
        let phases = relation.phases().expect("it has them");
        let by_pair = matches!(phases.targets, Targets::Pairs(_));
        let at_head = rule.at_head().is_some();
        see_others += u32::from(rule.age().is_some());
        let kind =
            (phases.decides(), phases.has_vias(), phases.group_count() > 0, at_head, by_pair);
        *seen.entry(kind).or_insert(0) += 1;
    }
    assert!(see_others > 1 && with_failures > 10, "{see_others} {with_failures}");
    assert!(seen.len() == 8 && seen.values().all(|&count| count > 1), "{seen:?}");
    again
}

/// Full networks whose packets choose by rings, some of which have escaped so often that they stay
/// on them.
#[test]
fn the_engines_agree_where_packets_stay_on_rings() {
    // Whole packets with one virtual channel, and flit by flit with two.
    let by_flit = RouterKind::SharedLinks(FlitSharing::default());
    for (seed, kind) in [(10, RouterKind::WholePackets), (15, by_flit)] {
        let graph = RandomRegular { routers: 8, degree: 3, terminals: 2, seed };
        let fabric = graph.cabling().unwrap().fabric().unwrap();
        let vcs = 1 + (seed % 2) as u8;
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let relation = RelationRule::BUBBLE_COLOURING.relation(&fabric, &parameters).unwrap();
        assert!(relation.has_ring());
        let terminals = fabric.terminals();
        let to_all = |source| (1..terminals).map(move |step| (source, (source + step) % terminals));
        let messages = (0..terminals)
            .flat_map(to_all)
            .map(|(source, destination)| data(0, source, destination, 512))
            .collect();
        let mut parameters =
            Parameters { virtual_channels: vcs, bubble: false, kind, ..Parameters::default() };
        parameters.buffer = 2 * parameters.maximum_packet();
        let routes = by_relation(relation, seed % 2 == 1, seed);
        let scenario = Scenario { fabric, routes, parameters, messages, collective: None };
        agree(seed, &scenario);
        let farthest = run_fast(&scenario).packets.iter().map(|packet| packet.hops).max();
        // Sixteen fallback hops, and then along the ring.
        assert!(farthest > Some(16), "{farthest:?}");
    }
}

/// Sets of outputs, and of buffers, of several words.
#[test]
fn the_engines_agree_on_switches_of_up_to_a_hundred_ports() {
    let mut most = 0;
    for seed in 0..20 {
        let _named = Named(seed);
        let scenario = Scenario::wide(seed);
        let Scenario { fabric, parameters, .. } = &scenario;
        for router in 0..fabric.routers() {
            let own = |&terminal: &u32| fabric.terminal_router(terminal) == Some(router);
            let terminals = fabric.live_terminals().filter(own).count();
            let ejections = terminals * parameters.ejection_channels as usize;
            most = most.max(fabric.outputs(router).len() + ejections);
        }
        assert_agreement(&scenario, &run_reference(&scenario), &run_fast(&scenario));
    }
    assert!(most > 96, "{most} ports at most");
}

/// More packets at once with flits for the switch than a word has bits: first each for another
/// terminal, then two for each.
#[test]
fn the_engines_agree_flit_by_flit_on_switches_of_seventy_terminals() {
    let graph = RandomRegular { routers: 2, degree: 1, terminals: 70, seed: 1 };
    let fabric = graph.cabling().unwrap().fabric().unwrap();
    for (vcs, iterations) in [(1, 1), (2, 3)] {
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let relation = RelationRule::TWO_ORDERS.relation(&fabric, &parameters).unwrap();
        let routes = by_relation(relation, false, 1);
        let parameters = Parameters {
            virtual_channels: vcs,
            bubble: false,
            kind: RouterKind::SharedLinks(FlitSharing { iterations, ..FlitSharing::default() }),
            ..Parameters::default()
        };
        let steps = [1, 7].into_iter().flat_map(|step| (0..70).map(move |source| (source, step)));
        let messages = steps
            .map(|(source, step)| data(0, source, (source + step) % 70, 200))
            .chain((0..70).map(|source| data(1_000_000, source, source / 2 + 1, 200)))
            .filter(|message| message.source != message.destination)
            .collect();
        let fabric = fabric.clone();
        let scenario = Scenario { fabric, routes, parameters, messages, collective: None };
        agree(vcs.into(), &scenario);
    }
}

#[test]
fn the_fast_engine_delivers_everything_once_and_in_order() {
    for_each_scenario(0..800, |scenario| {
        let log = run_fast(scenario);
        assert_everything_delivered_once(scenario, &log);
        assert_order_kept(scenario, &log);
    });
}

#[test]
fn the_reference_engine_delivers_everything_once_and_in_order() {
    for_each_scenario(0..40, |scenario| {
        let log = run_reference(scenario);
        assert_everything_delivered_once(scenario, &log);
        assert_order_kept(scenario, &log);
    });
}
