//! Links that err: what is sent arrives once and in order, when it should, and nothing depends on
//! threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use flitlab::engine::{
    Acknowledgements, Bursts, ChannelKind, Counters, Digest, Engine, FlitSharing, LinkErrors, Log,
    Parameters, Resend, Retry, RouterKind,
};
use flitlab::routing::{DirectionOrder, DirectionRules, Routes};
use flitlab::tables::agnostic::{self, Algorithm};
use flitlab::topology::{CableClass, Cabling, Channel, Fabric, Faults, Torus};
use flitlab::traffic::{CollectiveKind, CollectiveSpec, Message, MessageKind, Script};
use flitlab::units::{Bytes, Picoseconds};

use crate::common::workplace::{Workplace, scenario};
use flitlab_random::random_scenario::Scenario;

const RETRIES: [Retry; 2] = [Retry::Store, Retry::Stomp];
const RESENDS: [Resend; 2] = [Resend::GoBackN, Resend::Selective];
const ACKNOWLEDGEMENTS: [Acknowledgements; 2] = [Acknowledgements::Free, Acknowledgements::Flits];

/// All ways to send again, with nothing that errs.
fn ways() -> impl Iterator<Item = LinkErrors> {
    let all = RETRIES.into_iter().flat_map(|retry| RESENDS.map(|resend| (retry, resend)));
    all.flat_map(|(retry, resend)| ACKNOWLEDGEMENTS.map(|ack| (retry, resend, ack))).map(
        |(retry, resend, acknowledgements)| LinkErrors {
            retry,
            resend,
            acknowledgements,
            seed: 3,
            ..LinkErrors::default()
        },
    )
}

/// Default parameters of link errors for links of these parameters: with a replay buffer of so many of the largest packets,
/// and the shortest time-out.
fn fitted(errors: LinkErrors, parameters: &Parameters, packets: u32) -> LinkErrors {
    LinkErrors {
        replay_buffer: packets * parameters.maximum_packet(),
        time_out: parameters.acknowledged_after(&[CableClass::default()]),
        ..errors
    }
}

/// What a run gives.
#[derive(Debug, PartialEq)]
struct Run {
    log: Log,
    digest: Digest,
    counters: Counters,
}

fn run(scenario: &Scenario, errors: Option<LinkErrors>, threads: usize) -> Run {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    let parameters = Parameters { errors, ..parameters.clone() };
    let workload = Box::new(Script::new(messages.clone()));
    let log = Log::default();
    let mut engine = Engine::new(threads, fabric, routes, &parameters, workload, log);
    assert!(!engine.run_until(Picoseconds::NEVER), "everything ends");
    assert!(engine.credits_are_conserved());
    if let Some(deadlock) = engine.find_deadlock() {
        panic!("{deadlock}");
    }
    assert_eq!((engine.packets_under_way(), engine.messages_under_way()), (0, 0));
    let mut log = std::mem::take(engine.observer());
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    Run { log, digest: engine.digest(), counters: engine.counters() }
}

/// Scenarios of several kinds of routing, each with links that are granted to whole packets.
fn scenarios(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Scenario)> {
    seeds.filter_map(|seed| {
        let scenario = match seed % 4 {
            0 => Scenario::random(seed),
            1 => Scenario::forwarding(seed),
            2 => Scenario::adaptive(seed)?,
            _ => Scenario::choosing(seed),
        };
        (!scenario.parameters.kind.grants_flits()).then_some((seed, scenario))
    })
}

/// That two logs have the same packets, whenever they come.
fn same_packets(log: &Log, other: &Log) {
    let names = |log: &Log| -> Vec<_> {
        log.packets.iter().map(|it| (it.source, it.destination, it.payload)).collect()
    };
    let (mut one, mut two) = (names(log), names(other));
    one.sort_unstable();
    two.sort_unstable();
    assert_eq!(one, two);
}

#[test]
fn sending_again_costs_nothing_where_nothing_errs() {
    for (seed, scenario) in scenarios(0..40) {
        let plain = run(&scenario, None, 1);
        for resend in RESENDS {
            let errors = LinkErrors {
                resend,
                retry: Retry::Stomp,
                acknowledgements: Acknowledgements::Free,
                sequence_bits: 16,
                replay_buffer: 1 << 20,
                ..LinkErrors::default()
            };
            let found = run(&scenario, Some(errors), 1 + seed as usize % 3);
            assert_eq!(found, plain, "{seed}");
        }
    }
}

#[test]
fn everything_arrives_once_on_any_number_of_threads() {
    let (mut damaged, mut resent) = (0, 0);
    for (seed, scenario) in scenarios(0..15) {
        let plain = run(&scenario, None, 1);
        for (number, errors) in ways().enumerate() {
            let bursts = Bursts { interval: Picoseconds(2_000), length: Picoseconds(100) };
            let mut errors = fitted(errors, &scenario.parameters, 1 + (seed % 4) as u32);
            errors.bit_error_rate = [1e-4, 1e-3, 3e-4][seed as usize % 3];
            errors.bursts = (seed % 5 == 0).then_some(bursts);
            errors.sequence_bits = 1 + (seed % 3) as u32;
            let found = run(&scenario, Some(errors.clone()), 1);
            same_packets(&found.log, &plain.log);
            assert_eq!(found.log.messages.len(), plain.log.messages.len());
            damaged += found.counters.damaged_packets;
            resent += found.counters.flits_resent;
            let threads = [2, 3, 7][(seed as usize + number) % 3];
            assert_eq!(run(&scenario, Some(errors), threads), found, "{seed}, way {number}");
        }
    }
    assert!(damaged > 1_000 && resent > 1_000, "{damaged} damaged, {resent} flits sent again");
}

/// Routers in a row, with a terminal each, and the channel from each to the next.
fn row(routers: u32) -> (Fabric, Vec<Channel>) {
    let mut cabling = Cabling::default();
    for router in 0..routers {
        cabling.router(format!("S{router}"));
    }
    for router in 0..routers {
        cabling.terminal(format!("H{router}"), router);
    }
    for router in 1..routers {
        cabling.cable(router - 1, router);
    }
    let fabric = cabling.fabric().unwrap();
    let next = |router: u32| {
        let mut own = fabric.outputs(router);
        own.find(|&channel| fabric.target(channel) == Some(router + 1)).unwrap()
    };
    let channels = (0..routers - 1).map(next).collect();
    (fabric, channels)
}

/// One message from the first of so many routers to the last.
fn one_message(routers: u32, bytes: u64) -> Scenario {
    let (fabric, _) = row(routers);
    let one_vc = agnostic::Parameters { vcs: 1, ..Default::default() };
    let table = Algorithm::NUE.generate(&fabric, &one_vc).unwrap().table;
    let message = Message {
        time: Picoseconds::ZERO,
        source: 0,
        destination: routers - 1,
        bytes,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    Scenario {
        fabric,
        routes: Routes::Forwarding(Arc::new(table)),
        parameters: Parameters { bubble: false, ..Parameters::default() },
        messages: vec![message],
        collective: None,
    }
}

/// Which channels err: this one of a row of so many routers.
fn only(routers: u32, channel: Channel) -> Option<Vec<bool>> {
    let (fabric, _) = row(routers);
    Some((0..fabric.channel_slots()).map(|other| other == channel).collect())
}

/// When the header of the first packet starts on the first cable.
fn first_grant(p: &Parameters) -> Picoseconds {
    p.send_overhead + p.injection_latency + p.routing_latency
}

/// Two packets over one cable, of which only the first one's first sending is damaged: every time
/// reckoned by hand from docs/model.md.
#[test]
fn what_is_sent_again_comes_when_it_should() {
    let scenario = one_message(2, 512);
    let p = &scenario.parameters;
    let (_, channels) = row(2);
    // So much is damaged with this seed: the first sending, and none after it.
    let errors = |way: LinkErrors, seed| LinkErrors {
        bit_error_rate: 2e-4,
        channels: only(2, channels[0]),
        seed,
        ..way
    };
    let plain = ways().next().unwrap();
    let seed = (0..1_000)
        .find(|&seed| {
            let counters = run(&scenario, Some(errors(plain.clone(), seed)), 1).counters;
            (counters.damaged_packets, counters.flits_resent) == (1, 36)
        })
        .unwrap();
    let (f, e) = (p.link_flit_time(), p.ejection_flit_time());
    let behind = u64::from(p.maximum_packet()) - 1;
    let across = p.crossbar_latency + p.link_latency;
    let to_sink = p.crossbar_latency + p.ejection_latency;
    // The first sending's last flit is there, and a latency later the sender knows.
    let again = first_grant(p) + behind * f + across + p.link_latency;
    let there = again + behind * f + across;
    for (number, way) in ways().enumerate() {
        let (stores, back) = (way.retry == Retry::Store, way.resend == Resend::GoBackN);
        let header = if stores { there } else { again + across };
        let starts = header + p.routing_latency;
        let last = (starts + behind * e).max(there);
        // The second one: sent again right behind it, or it waits for the first.
        let second = again + (behind + 1) * f;
        let second_there = second + behind * f + across;
        let ready = match (stores, back) {
            (true, true) => second_there,
            (false, true) => second + across,
            (_, false) => there,
        };
        let starts = (ready + p.routing_latency).max(last + e);
        let behind_there = if back { second_there } else { there };
        let second_last = (starts + behind * e).max(behind_there);
        let found = run(&scenario, Some(errors(way.clone(), seed)), 1);
        let delivered: Vec<_> = found.log.packets.iter().map(|packet| packet.delivered).collect();
        assert_eq!(delivered, [last + to_sink, second_last + to_sink], "way {number}: {way:?}");
        let flits = if back { 36 } else { 18 };
        assert_eq!((found.counters.damaged_packets, found.counters.flits_resent), (1, flits));
    }
}

#[test]
fn a_bad_copy_goes_all_the_way_to_its_sink() {
    let scenario = one_message(4, 256);
    let (_, channels) = row(4);
    let way = LinkErrors {
        acknowledgements: Acknowledgements::Free,
        bit_error_rate: 3e-4,
        channels: only(4, channels[0]),
        ..LinkErrors::default()
    };
    let plain = run(&scenario, None, 1);
    assert_eq!(plain.counters.grants, 5, "an injection channel, three cables, an ejection channel");
    let once = (0..1_000).find_map(|seed| {
        let found = run(&scenario, Some(LinkErrors { seed, ..way.clone() }), 1);
        (found.counters.damaged_packets == 1).then_some((seed, found))
    });
    let (seed, found) = once.unwrap();
    assert_eq!(found.counters.grants, 5 + 3, "the bad copy's two more cables and its ejection");
    let p = &scenario.parameters;
    let later = u64::from(p.maximum_packet() - 1) * p.link_flit_time()
        + p.crossbar_latency
        + 2 * p.link_latency;
    let delivered = |run: &Run| run.log.packets[0].delivered;
    assert_eq!(delivered(&found), delivered(&plain) + later);
    assert_eq!(found.log.packets.len(), 1);
    assert_eq!(found.counters.packets_lost, 0);
    // Where packets are stored, none goes on.
    let stored = run(&scenario, Some(LinkErrors { seed, retry: Retry::Store, ..way }), 1);
    assert_eq!(stored.counters.grants, 5);
}

#[test]
fn a_small_replay_buffer_lets_so_much_through_a_round_trip() {
    let mut scenario = one_message(2, 40 * 256);
    scenario.parameters.buffer = 20 * scenario.parameters.maximum_packet();
    let p = &scenario.parameters;
    let behind = u64::from(p.maximum_packet() - 1) * p.link_flit_time();
    let round_trip = behind + p.crossbar_latency + 2 * p.link_latency;
    for packets in [1, 2] {
        let errors = LinkErrors {
            acknowledgements: Acknowledgements::Free,
            replay_buffer: packets * p.maximum_packet(),
            ..LinkErrors::default()
        };
        let told = Parameters { errors: Some(errors.clone()), ..p.clone() }
            .packets_on_a_link(&[CableClass::default()]);
        let sent = round_trip.0 as f64 / (behind + p.link_flit_time()).0 as f64;
        assert_eq!(told, Some((packets, sent)));
        let found = run(&scenario, Some(errors), 1).log.packets;
        for (before, after) in found.iter().zip(&found[packets as usize..]) {
            assert_eq!(after.delivered - before.delivered, round_trip);
        }
    }
    // Numbers of one bit, of which one can be in use.
    let errors = LinkErrors {
        acknowledgements: Acknowledgements::Free,
        sequence_bits: 1,
        ..LinkErrors::default()
    };
    let found = run(&scenario, Some(errors), 1).log.packets;
    assert!(found.windows(2).all(|pair| pair[1].delivered - pair[0].delivered == round_trip));
}

#[test]
fn a_run_says_what_was_damaged_and_sent_again() {
    let place = Workplace::new("lossy_links");
    let told = place.run(&["run", &scenario("angara/lossy-links")]);
    let line = told.lines().find(|line| line.contains("links that err")).expect("a line");
    let shares: Vec<f64> =
        line.split('%').filter_map(|text| text.split(' ').next_back()?.parse().ok()).collect();
    // A bit of 2,304 is damaged with 1e-5, and what is sent in a round trip goes again.
    let [damaged, resent] = shares[..] else { panic!("two shares: {line}") };
    assert!((1.9..3.0).contains(&damaged) && resent > damaged, "{line}");
}

#[test]
fn a_channel_says_what_it_has_sent_again() {
    let scenario = one_message(3, 1 << 16);
    let (fabric, channels) = row(3);
    let Scenario { routes, parameters, messages, .. } = &scenario;
    let errors =
        LinkErrors { bit_error_rate: 1e-4, channels: only(3, channels[1]), ..Default::default() };
    let errors = fitted(errors, parameters, 8);
    let parameters = Parameters { errors: Some(errors), ..parameters.clone() };
    let workload = Box::new(Script::new(messages.clone()));
    let mut engine = Engine::new(1, &fabric, routes, &parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    let resent = engine.counters().flits_resent;
    assert!(resent > 100, "{resent}");
    for channel in engine.channels() {
        let (found, is_network) =
            (channel.statistics.flits_resent, channel.kind == ChannelKind::Network);
        assert_eq!(found.is_some(), is_network, "{}", channel.name);
        let errs = channel.name.starts_with("S1 ") && channel.name.ends_with(" S2");
        assert_eq!(found.unwrap_or(0), if errs { resent } else { 0 }, "{}", channel.name);
    }
    engine.reset_channels();
    let all = engine.channels();
    assert!(all.iter().all(|it| it.statistics.flits_resent.unwrap_or(0) == 0));
}

#[test]
fn packets_keep_their_order() {
    let mut pairs = 0;
    for seed in 0..40 {
        let scenario = Scenario::forwarding(seed);
        for way in ways() {
            let errors = fitted(way, &scenario.parameters, 3);
            let errors = LinkErrors { bit_error_rate: 1e-3, ..errors };
            let mut packets = run(&scenario, Some(errors), 1).log.packets;
            packets.sort_by_key(|it| it.delivered);
            let mut last = BTreeMap::new();
            for it in packets {
                let flow = (it.source, it.destination, it.virtual_channel, it.injection_channel);
                let before = last.insert(flow, it.sequence);
                assert!(before.is_none_or(|before| before < it.sequence), "{seed}: {it:?}");
                pairs += u32::from(before.is_some());
            }
        }
    }
    assert!(pairs > 1_000, "{pairs}");
}

#[test]
fn a_packet_is_sent_again_if_its_acknowledgement_is_lost() {
    let scenario = one_message(2, 256);
    let (fabric, channels) = row(2);
    let plain = run(&scenario, None, 1);
    let mut resent = 0;
    for resend in RESENDS {
        for seed in 0..20 {
            let errors = LinkErrors {
                bit_error_rate: 0.01,
                channels: only(2, fabric.opposite(channels[0]).unwrap()),
                resend,
                seed,
                ..LinkErrors::default()
            };
            let found = run(&scenario, Some(errors), 1);
            assert_eq!(found.log, plain.log, "it was there the first time");
            assert_eq!((found.counters.damaged_packets, found.counters.grants), (0, 3));
            resent += found.counters.flits_resent / 18;
        }
    }
    // Of flits of 128 bits 72% are damaged: 2.6 are lost before one gets across.
    assert!((60..150).contains(&resent), "{resent} time-outs");
}

#[test]
fn bursts_that_outlast_a_time_out_delay_everything_and_lose_nothing() {
    let scenario = one_message(3, 300 * 256);
    for way in ways() {
        let bursts = Bursts { interval: Picoseconds(3_000_000), length: Picoseconds(1_000_000) };
        let errors = LinkErrors { bursts: Some(bursts), time_out: Picoseconds(300_000), ..way };
        let found = run(&scenario, Some(errors), 1);
        assert_eq!(found.log.packets.len(), 300);
        assert!(found.counters.damaged_packets > 0);
    }
}

/// A cable that damages all that it carries: in bursts that outlast everything, or since packets
/// are large and bits err often.
const ENDLESS: [&str; 2] = [
    "[topology.torus]\ndimensions = [4]\n[link.errors]\nbursts = { interval = \"1 ns\", length = \"1 s\" }\n\
     [exchange]\npattern = \"neighbor\"\nmessage = \"256 B\"\n",
    "[topology.torus]\ndimensions = [4]\n[router]\nmaximum_payload = \"64 KiB\"\nbuffer = \"10000 flits\"\n\
     [adapter]\ninjection_buffer = \"5000 flits\"\n[link.errors]\nbit_error_rate = 1e-4\n\
     [exchange]\npattern = \"neighbor\"\nmessage = \"64 KiB\"\n",
];

#[test]
fn a_run_in_which_no_packet_ever_gets_across_ends_as_a_livelock() {
    let place = Workplace::new("livelock");
    for (number, text) in ENDLESS.iter().enumerate() {
        let file = format!("endless-{number}.toml");
        place.write(&file, text);
        let output = place.flitlab(&["run", &file, "--json"]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("error: livelock: packets were sent again 1"), "{errors}");
        assert!(errors.contains("gets across with probability"), "{errors}");
        let points = place.read(&format!("results/endless-{number}/points.csv"));
        assert!(points.contains(",livelock,"), "{points}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["points"][0]["status"], "livelock");
        assert!(summary["scenario"]["passage_probability"].as_f64().unwrap() < 1e-20);
        let output = place.flitlab(&["check", &file]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && errors.contains("never get across"), "{errors}");
    }
    // Of a load as well, which would have ended with nothing received, and of a sweep.
    let load = "[traffic]\npattern = \"neighbor\"\nload = 0.5\n[measure]\nwindow = \"2 ms\"\n";
    let sweep = "[sweep.grid]\ntraffic.load = [0.4, 0.5]\n";
    let text = ENDLESS[0].split("[exchange]").next().unwrap();
    place.write("load.toml", &format!("{text}{load}{sweep}"));
    for call in [&["run", "load.toml", "--out", "one"], &["sweep", "load.toml", "--out", "many"]] {
        let (code, errors) = place.fail(call);
        assert!(code == 1 && errors.contains("livelock: packets were sent again"), "{errors}");
    }
    assert_eq!(place.read("many/points.csv").matches(",livelock,").count(), 2);
}

/// The far end of one link, kept busy: what `check` says of its rate, against what gets across.
#[test]
fn what_is_left_of_a_channels_rate_is_what_the_check_says() {
    for resend in RESENDS {
        for (rate, length) in [(1e-5, 0), (1e-4, 0), (0.0, 400_000)] {
            let length = Picoseconds(length);
            let mut scenario = one_message(2, 6_000 * 256);
            scenario.parameters.buffer = 4_000;
            let bursts = Bursts { interval: Picoseconds(2_000_000), length };
            let errors = LinkErrors {
                bit_error_rate: rate,
                bursts: (length > Picoseconds::ZERO).then_some(bursts),
                resend,
                retry: Retry::Store,
                acknowledgements: Acknowledgements::Free,
                replay_buffer: 2_000,
                ..LinkErrors::default()
            };
            scenario.parameters.errors = Some(errors.clone());
            let parameters = &scenario.parameters;
            let passage = parameters.passage(&[CableClass::default()]).unwrap();
            let found = run(&scenario, Some(errors), 1);
            let time = found.log.messages[0].completed.0 as f64;
            let flits = 6_000.0 * f64::from(parameters.maximum_packet());
            let measured = flits * parameters.link_flit_time().0 as f64 / time;
            let off = (passage.rate - measured) / measured;
            assert!(off.abs() < 0.06, "{resend:?}, {rate:e}, {length}: {passage:?}, {measured}");
            let sendings = 1.0 + found.counters.packets_resent as f64 / 6_000.0;
            if resend == Resend::Selective {
                let off = (passage.sendings() - sendings) / sendings;
                assert!(off.abs() < 0.06, "{rate:e}, {length}: {passage:?}, {sendings}");
            }
        }
    }
}

/// Barriers of two neighbours, one after the other: what a router of the second one sends up is
/// combined at the first one, and goes down again. Each packet that is sent again costs the time
/// until that is known, and its own.
#[test]
fn each_retransmission_costs_a_barrier_a_round_trip() {
    const BARRIERS: u32 = 400;
    let fabric = Torus::new(&[2], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let order = DirectionOrder::new(&fabric, DirectionRules::default()).unwrap();
    let errors = LinkErrors {
        bit_error_rate: 1e-3,
        acknowledgements: Acknowledgements::Free,
        seed: 5,
        ..LinkErrors::default()
    };
    let parameters = Parameters { errors: Some(errors), ..Parameters::default() };
    let spec = CollectiveSpec {
        kind: CollectiveKind::Barrier,
        message: Bytes(0),
        roots: vec![0],
        members: vec![0, 1],
        rounds: BARRIERS,
        outstanding: 1,
        start: Picoseconds(0),
    };
    let p = &parameters;
    let (routing, crossbar, link) = (p.routing_latency, p.crossbar_latency, p.link_latency);
    // Two flits: the second one follows the header.
    let hop = p.link_flit_time() + crossbar + link + routing;
    let ejection = p.ejection_flit_time() + crossbar + p.ejection_latency;
    let sound = p.send_overhead
        + (p.injection_latency + routing)
        + hop
        + p.collective.combining_latency
        + hop
        + ejection
        + p.receive_overhead;
    let again = p.link_flit_time() + crossbar + link + link;
    let (routes, messages) = (Routes::DirectionOrder(order), Vec::new());
    let scenario = Scenario {
        fabric,
        routes,
        parameters: parameters.clone(),
        messages,
        collective: Some(spec),
    };
    let Scenario { fabric, routes, .. } = &scenario;
    for rate in [0.0, 1e-3] {
        let errors = parameters.errors.clone().map(|it| LinkErrors { bit_error_rate: rate, ..it });
        let parameters = Parameters { errors, ..parameters.clone() };
        let log = Log::default();
        let mut engine = Engine::new(1, fabric, routes, &parameters, scenario.workload(), log);
        engine.run_until(Picoseconds::NEVER);
        let (counters, log) = (engine.counters(), engine.observer());
        assert_eq!(log.messages.len(), 2 * BARRIERS as usize);
        let end = log.messages.iter().map(|message| message.completed).max().unwrap();
        assert_eq!(end, sound * u64::from(BARRIERS) + again * counters.packets_resent);
        // A packet of 256 bits is damaged with this probability, on two hops of each barrier.
        let damaged = 1.0 - (1.0 - rate).powi(256);
        let mean = f64::from(2 * BARRIERS) * damaged / (1.0 - damaged);
        let deviation = (mean / (1.0 - damaged)).sqrt();
        assert!((counters.packets_resent as f64 - mean).abs() <= 4.0 * deviation, "{counters:?}");
    }
}

/// Packets of one flit, each alone on a cable that is shared flit by flit: one that is damaged is
/// sent again as soon as that is known, through the switch's allocation and the crossbar.
#[test]
fn a_flit_that_is_sent_again_costs_two_latencies_and_the_way_through_the_switch() {
    const PACKETS: u64 = 2_000;
    let fabric = Torus::new(&[2], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let order = DirectionOrder::new(&fabric, DirectionRules::default()).unwrap();
    let message = |number: u64| Message {
        time: Picoseconds(100_000_000 * number),
        source: 0,
        destination: 1,
        bytes: 0,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    };
    let messages: Vec<Message> = (0..PACKETS).map(message).collect();
    for (resend, rate) in RESENDS.into_iter().flat_map(|it| [(it, 0.0), (it, 2e-3)]) {
        let errors = LinkErrors {
            bit_error_rate: rate,
            acknowledgements: Acknowledgements::Free,
            resend,
            seed: 4,
            ..LinkErrors::default()
        };
        let (allocation, switch) = (Picoseconds(3_000), Picoseconds(4_000));
        let sharing = FlitSharing {
            virtual_channel_allocation: allocation,
            switch_allocation: switch,
            ..FlitSharing::default()
        };
        let p = Parameters {
            checksum_flits: 0,
            kind: RouterKind::SharedLinks(sharing),
            errors: Some(errors),
            ..Parameters::default()
        };
        let through = switch + p.crossbar_latency;
        let router = p.routing_latency + allocation + through;
        let sound = p.injection_latency + router + p.link_latency + router + p.ejection_latency;
        let again = p.link_latency + p.link_latency + through;
        let routes = Routes::DirectionOrder(order.clone());
        let (workload, log) = (Box::new(Script::new(messages.clone())), Log::default());
        let mut engine = Engine::new(1, &fabric, &routes, &p, workload, log);
        engine.run_until(Picoseconds::NEVER);
        let (counters, log) = (engine.counters(), engine.observer());
        let took = log.packets.iter().map(|packet| (packet.delivered - packet.created).0);
        let resent = counters.packets_resent;
        assert_eq!(took.sum::<u64>(), PACKETS * sound.0 + resent * again.0);
        let damaged = 1.0 - (1.0 - rate).powi(128);
        let mean = PACKETS as f64 * damaged / (1.0 - damaged);
        let deviation = (mean / (1.0 - damaged)).sqrt();
        assert!((resent as f64 - mean).abs() <= 4.0 * deviation, "{resent} instead of {mean}");
    }
}
