//! Failures during operation: what is lost, what is not, and when the network goes on.

use std::collections::BTreeMap;
use std::sync::Arc;

use flitlab::{
    engine::{
        Acknowledgements, ChannelReport, Counters, Digest, Engine, FailureReport, FlitSharing,
        Interruption, LinkErrors, Log, MAX_VIRTUAL_CHANNELS, Parameters, Resend, Retry, RouterKind,
        Switching, TrafficClass,
    },
    routing::{ForwardingTable, Routes},
    scenario::{self, Deadlock, Document, Network, TableChange},
    simulation::Simulation,
    tables::{
        agnostic::{self, Algorithm},
        prove_forwarding,
    },
    topology::{CableClass, Cabling, Channel, Fabric},
    traffic::{Message, MessageKind, Script},
    units::{Bytes, Picoseconds},
};
use flitlab_random::agreement::assert_agreement;
use flitlab_random::message::data;
use flitlab_random::random_failure::{self, Failing, KINDS, When, interruption, is_connected};
use flitlab_random::random_flit_scenario::share;
use flitlab_random::random_scenario::Scenario;
use flitlab_reference::shared::failure::{Effects, Failure};
use flitlab_reference::shared::simulation::Ended;
use flitlab_reference::{engine, flit_engine};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn nue(fabric: &Fabric, vcs: u8) -> ForwardingTable {
    let parameters = agnostic::Parameters { vcs, ..Default::default() };
    Algorithm::NUE.generate(fabric, &parameters).unwrap().table
}

fn forwarding(table: ForwardingTable) -> Routes {
    Routes::Forwarding(Arc::new(table))
}

/// A failure, and the table that is made after it.
fn failure(at: u64, ready: u64, left: &Fabric, table: ForwardingTable) -> Failure {
    let (at, ready) = (Picoseconds(at), Picoseconds(ready));
    Failure { at, ready, left: left.clone(), routes: forwarding(table) }
}

/// Two switches with two cables and a terminal each, a table, and the cable that packets take from
/// the first terminal to the other.
fn two_switches() -> (Fabric, Routes, Channel) {
    switches(2)
}

/// As [`two_switches`], with so many cables.
fn switches(cables: u32) -> (Fabric, Routes, Channel) {
    let mut cabling = Cabling::default();
    for router in 0..2 {
        cabling.router(format!("S{router}"));
    }
    for router in 0..2 {
        cabling.terminal(format!("H{router}"), router);
    }
    for _ in 0..cables {
        cabling.cable(0, 1);
    }
    let fabric = cabling.fabric().unwrap();
    let table = nue(&fabric, 1);
    let channel = table.channel(&fabric, 0, 1).unwrap();
    (fabric, Routes::Forwarding(Arc::new(table)), channel)
}

fn parameters() -> Parameters {
    Parameters { bubble: false, ..Parameters::default() }
}

/// Runs messages to their end, with failures.
fn run(
    fabric: &Fabric,
    routes: &Routes,
    parameters: &Parameters,
    messages: &[Message],
    interruption: &Interruption,
) -> (Log, Counters, Vec<FailureReport>) {
    let workload = Box::new(Script::new(messages.to_vec()));
    let log = Log::default();
    let mut engine =
        Engine::interrupted(1, fabric, routes, parameters, workload, log, Some(interruption));
    assert!(!engine.run_until(Picoseconds::NEVER), "everything ends");
    assert!(engine.find_deadlock().is_none() && engine.credits_are_conserved());
    assert_eq!((engine.packets_under_way(), engine.messages_under_way()), (0, 0));
    assert!(engine.is_over(0) && engine.is_over(1));
    let counters = engine.counters();
    assert_eq!(counters.flits_under_way(), 0, "each flit is delivered or lost");
    let reports = engine.failures().unwrap();
    (std::mem::take(engine.observer()), counters, reports)
}

/// All that can be known of a run.
#[derive(Debug, PartialEq)]
struct Run {
    log: Log,
    digest: Digest,
    counters: Counters,
    reports: Vec<FailureReport>,
    channels: Vec<ChannelReport>,
    end: Picoseconds,
}

/// Runs messages to their end on so many threads, with some stops.
fn run_on(threads: usize, scenario: &Scenario, interruption: &Interruption) -> Run {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    let workload = Box::new(Script::new(messages.clone()));
    let given = Some(interruption);
    let log = Log::default();
    let mut engine = Engine::interrupted(threads, fabric, routes, parameters, workload, log, given);
    for stop in [100, 300, 1_000] {
        engine.run_until(Picoseconds(stop));
        assert!(engine.credits_are_conserved());
    }
    assert!(!engine.run_until(Picoseconds::NEVER), "everything ends");
    assert!(engine.find_deadlock().is_none() && engine.credits_are_conserved());
    assert_eq!((engine.packets_under_way(), engine.messages_under_way()), (0, 0));
    assert!(engine.is_over(0) && engine.is_over(1));
    let counters = engine.counters();
    assert_eq!(counters.flits_under_way(), 0, "each flit is delivered or lost");
    let mut log = std::mem::take(engine.observer());
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    Run {
        log,
        digest: engine.digest(),
        counters,
        reports: engine.failures().unwrap(),
        channels: engine.channels(),
        end: engine.now(),
    }
}

/// A random fabric with messages of data, of which a cable or a router fails; with shared links if
/// asked for. `None` if the rest does not hang together.
fn failing(seed: u64, shared: bool) -> Option<(Scenario, Failure, Interruption)> {
    let mut scenario = Scenario::forwarding(seed);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    scenario.messages.retain(|message| message.kind == MessageKind::Data);
    let cables: Vec<Channel> = scenario.fabric.cables().collect();
    let cable = cables[random.random_range(0..cables.len())];
    let router = random.random_range(0..scenario.fabric.routers());
    let (cables, routers) =
        if random.random_bool(0.5) { (vec![cable], vec![]) } else { (vec![], vec![router]) };
    let left = scenario.fabric.without(&cables, &routers);
    let live = left.live_terminals().count();
    if !is_connected(&left) || live < 2 || scenario.messages.is_empty() {
        return None;
    }
    let vcs = scenario.parameters.virtual_channels;
    scenario.routes = Routes::Forwarding(Arc::new(nue(&scenario.fabric, vcs)));
    if shared {
        share(&mut random, &mut scenario);
    }
    let latest = scenario.messages.iter().map(|message| message.time).max().unwrap();
    let at = random.random_range(1..=latest.0 + 100);
    let ready = at + random.random_range(1..300);
    for message in scenario.messages.clone() {
        let time = ready + random.random_range(0..400_000);
        scenario.messages.push(Message { time: Picoseconds(time), ..message });
    }
    let table = nue(&left, vcs);
    if seed % 3 == 1 {
        part_by_class(&mut scenario, &table);
    }
    let failure = failure(at, ready, &left, table);
    let interruption = interruption(&scenario.fabric, std::slice::from_ref(&failure));
    Some((scenario, failure, interruption))
}

/// Gives every second message another set of virtual channels, with either table.
fn part_by_class(scenario: &mut Scenario, later: &ForwardingTable) {
    let Scenario { routes: Routes::Forwarding(table), parameters, messages, .. } = scenario else {
        unreachable!("it has a table")
    };
    let width = table.vc_count().max(later.vc_count());
    if 2 * width <= MAX_VIRTUAL_CHANNELS {
        let sets = [0, 1].map(|service| TrafficClass { service, ..TrafficClass::default() });
        parameters.classes = sets.into();
        parameters.virtual_channels = parameters.virtual_channels.max(2 * width);
        messages.iter_mut().zip([0, 1].into_iter().cycle()).for_each(|it| it.0.class = it.1);
    }
}

/// When the first packet of a terminal is granted the cable, and when its last flit is across.
fn across(parameters: &Parameters) -> (Picoseconds, Picoseconds) {
    let behind = u64::from(parameters.maximum_packet() - 1) * parameters.link_flit_time();
    let granted =
        parameters.send_overhead + parameters.injection_latency + parameters.routing_latency;
    (granted, granted + behind + parameters.link_latency + parameters.crossbar_latency)
}

#[test]
fn a_packet_gets_across_if_its_last_flit_is_there_when_the_cable_fails() {
    let (fabric, routes, channel) = two_switches();
    let left = fabric.without(&[channel], &[]);
    let table = nue(&left, 1);
    for parameters in both_links() {
        let (granted, across) = across(&parameters);
        let (granted, across) = (granted.0, across.0);
        for (at, lost) in [(1, 1), (granted - 1, 1), (granted, 1), (across - 1, 1), (across, 0)] {
            let failure = failure(at, at + 10_000_000, &left, table.clone());
            let interruption = interruption(&fabric, &[failure]);
            let messages = [data(0, 0, 1, 256), data(20_000_000, 0, 1, 256)];
            let (log, counters, reports) =
                run(&fabric, &routes, &parameters, &messages, &interruption);
            assert_eq!((counters.packets_lost, counters.messages_lost), (lost, lost), "at {at}");
            assert_eq!(log.messages.len() as u64, 2 - lost, "the second goes by the other cable");
            assert_eq!(reports[0].resumed, Some(Picoseconds(at + 10_000_000)));
        }
    }
}

#[test]
fn a_message_is_lost_with_any_of_its_packets() {
    let (fabric, routes, channel) = two_switches();
    let parameters = parameters();
    let left = fabric.without(&[channel], &[]);
    let table = nue(&left, 1);
    let packet = u64::from(parameters.maximum_packet()) * parameters.link_flit_time();
    // The fourth packet is across, the fifth is not.
    let at = across(&parameters).1.0 + 3 * packet.0 + packet.0 / 2;
    let interruption = interruption(&fabric, &[failure(at, 100_000_000, &left, table)]);
    let messages = [data(0, 0, 1, 2560)];
    let (log, counters, _) = run(&fabric, &routes, &parameters, &messages, &interruption);
    assert_eq!((counters.packets_delivered, counters.packets_lost), (4, 6));
    assert_eq!((counters.messages_lost, log.messages.len()), (1, 0));
}

/// Links that err, for two of three seeds, in any way.
fn errors(seed: u64, parameters: &Parameters) -> Option<LinkErrors> {
    let bit = |number: u64| seed >> number & 1 == 1;
    let errors = LinkErrors {
        bit_error_rate: 3e-4,
        retry: if bit(0) { Retry::Stomp } else { Retry::Store },
        resend: if bit(1) { Resend::GoBackN } else { Resend::Selective },
        acknowledgements: if bit(2) { Acknowledgements::Free } else { Acknowledgements::Flits },
        replay_buffer: 3 * parameters.maximum_packet(),
        time_out: parameters.acknowledged_after(&[CableClass::default()]),
        seed,
        ..LinkErrors::default()
    };
    (!seed.is_multiple_of(3)).then_some(errors)
}

/// Random fabrics and messages; a cable fails, or a router where the rest still hangs together.
#[test]
fn what_is_created_is_delivered_or_lost_and_after_the_change_all_of_it_arrives() {
    let (mut tried, mut lost, mut dead) = (0, 0, 0);
    for seed in 0..300 {
        let Scenario { fabric, mut parameters, mut messages, .. } = Scenario::forwarding(seed);
        parameters.errors = errors(seed, &parameters);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        messages.retain(|message| message.kind == MessageKind::Data);
        let cables: Vec<Channel> = fabric.cables().collect();
        let cable = cables[random.random_range(0..cables.len())];
        let router = random.random_range(0..fabric.routers());
        let (cables, routers) =
            if random.random_bool(0.5) { (vec![cable], vec![]) } else { (vec![], vec![router]) };
        let left = fabric.without(&cables, &routers);
        let vcs = parameters.virtual_channels;
        if !is_connected(&left) || left.live_terminals().count() < 2 || messages.is_empty() {
            continue;
        }
        let table = nue(&left, vcs);
        assert!(prove_forwarding(&left, &table).holds());
        let latest = messages.iter().map(|message| message.time).max().unwrap();
        let at = random.random_range(1..=latest.0 + 100);
        let ready = at + random.random_range(1..300);
        for message in messages.clone() {
            messages.push(Message { time: Picoseconds(ready + 10_000_000), ..message });
        }
        let routes = forwarding(nue(&fabric, vcs));
        let interruption = interruption(&fabric, &[failure(at, ready, &left, table)]);
        let (log, counters, reports) = run(&fabric, &routes, &parameters, &messages, &interruption);
        assert_eq!(log.messages.len() as u64 + counters.messages_lost, messages.len() as u64);
        let resumed = reports[0].resumed.unwrap();
        assert!(
            resumed >= Picoseconds(ready) && resumed < Picoseconds(ready + 10_000_000),
            "seed {seed}: {resumed}"
        );
        let alive = |terminal: u32| left.terminal_router(terminal).is_some();
        let late = |message: &&Message| {
            message.time >= Picoseconds(ready + 10_000_000)
                && alive(message.source)
                && alive(message.destination)
        };
        let arrived = log
            .messages
            .iter()
            .filter(|message| message.created >= Picoseconds(ready + 10_000_000))
            .count();
        assert_eq!(arrived, messages.iter().filter(late).count(), "seed {seed}");
        let early = |message: &&Message| message.time + parameters.send_overhead > Picoseconds(at);
        if !routers.is_empty() {
            dead += messages.iter().filter(early).filter(|it| !alive(it.source)).count();
        }
        lost += counters.packets_lost;
        tried += 1;
    }
    assert!(tried > 60 && lost > 100 && dead > 100, "{tried} scenarios, {lost} lost, {dead}");
}

#[test]
fn a_failure_of_what_nobody_uses_changes_nothing_but_the_pause() {
    let (fabric, routes, channel) = two_switches();
    let other = fabric.cables().find(|&cable| cable != channel).unwrap();
    assert_ne!(fabric.opposite(other), Some(channel));
    let left = fabric.without(&[other], &[]);
    let table = nue(&left, 1);
    let interruption = interruption(&fabric, &[failure(1, 5_000_000, &left, table)]);
    let messages: Vec<Message> =
        (0..40).map(|time| data(time * 50_000, 0, 1, Bytes(256).0)).collect();
    let (log, counters, reports) = run(&fabric, &routes, &parameters(), &messages, &interruption);
    assert_eq!((log.messages.len(), counters.packets_lost), (40, 0));
    let report =
        FailureReport { resumed: Some(Picoseconds(5_000_000)), ..FailureReport::default() };
    assert_eq!(reports, [report]);
}

#[test]
fn the_same_is_lost_on_any_number_of_threads() {
    let mut lost = 0;
    for seed in 0..60 {
        let Some((scenario, _, interruption)) = failing(seed, false) else { continue };
        let one = run_on(1, &scenario, &interruption);
        for threads in [2, 3] {
            let more = run_on(threads, &scenario, &interruption);
            assert_eq!(more, one, "seed {seed}, {threads} threads");
        }
        lost += one.counters.packets_lost;
    }
    assert!(lost > 20, "{lost}");
}

/// Random fabrics whose links are shared flit by flit: what is lost, what arrives and when each
/// flit wins is the same in both engines and on any number of threads.
#[test]
fn flit_by_flit_the_engines_lose_the_same() {
    lose_the_same(0..40);
}

#[test]
#[ignore = "long: two minutes; the engines lose the same flit by flit in more scenarios"]
fn flit_by_flit_the_engines_lose_the_same_in_more_scenarios() {
    lose_the_same(40..400);
}

/// What the fast engine reports of failures, as the reference engines do.
fn effects(reports: &[FailureReport]) -> Vec<Effects> {
    let effects = reports.iter().map(|report| Effects {
        under_way: report.packets_under_way,
        packets: report.packets_lost,
        messages: report.messages_lost,
        resumed: report.resumed,
    });
    effects.collect()
}

fn lose_the_same(seeds: std::ops::Range<u64>) {
    let (mut tried, mut lost, mut switchings) = (0, 0, Vec::new());
    for seed in seeds {
        let Some((scenario, failure, interruption)) = failing(seed, true) else { continue };
        let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
        let one = run_on(1, &scenario, &interruption);
        let failures = [failure];
        let simulator = flit_engine::simulator(fabric, routes, parameters, messages, None);
        let Ended { log, losses, own, .. } = simulator.run_with(&failures);
        let Run { counters, reports, .. } = &one;
        assert_eq!(effects(reports), losses.by_failure, "seed {seed}");
        assert_agreement(&scenario, &log, &one.log);
        assert_eq!(one.digest, own.digest, "seed {seed}: flits that delay no packet");
        assert_eq!(counters.packets_lost, losses.packets, "seed {seed}");
        assert_eq!(counters.messages_lost, losses.messages.len() as u64, "seed {seed}");
        for threads in [2, 3] {
            let more = run_on(threads, &scenario, &interruption);
            assert_eq!(more, one, "seed {seed}, {threads} threads");
        }
        tried += 1;
        lost += losses.packets;
        switchings.push(parameters.switching);
    }
    let each = [Switching::VirtualCutThrough, Switching::StoreAndForward, Switching::Wormhole];
    assert!(each.iter().all(|kind| switchings.contains(kind)));
    assert!(tried > 12 && lost > 20, "{tried} scenarios, {lost} lost");
}

/// With every routing: what is lost, what arrives and when is the same in both engines, and on any
/// number of threads.
#[test]
fn the_engines_lose_the_same_with_every_routing() {
    // In 548 and 646 the packets of an adaptive routing are left no way but a failed channel. In 1929
    // one is left two failed channels, of which one was a detour.
    lose_the_same_with_every_routing((0..119).chain([548, 646, 1929]));
}

#[test]
#[ignore = "long: minutes; the engines lose the same with every routing in more scenarios"]
fn the_engines_lose_the_same_with_every_routing_in_more_scenarios() {
    lose_the_same_with_every_routing(210..3_000);
}

fn lose_the_same_with_every_routing(seeds: impl Iterator<Item = u64>) {
    // By kind and links: scenarios, and those in which something was lost.
    let mut tried = [[(0, 0); KINDS.len()]; 2];
    // By when a later failure came: scenarios, and those in which it was as drawn and lost something.
    let mut later = BTreeMap::new();
    for seed in seeds {
        for shared in [false, true] {
            let Some(Failing { scenario, failures, interruption, whens }) =
                random_failure::failing(seed, shared)
            else {
                continue;
            };
            let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
            let one = run_on(1, &scenario, &interruption);
            let (log, losses) = if shared {
                let simulator = flit_engine::simulator(fabric, routes, parameters, messages, None);
                let Ended { log, losses, own, .. } = simulator.run_with(&failures);
                assert_eq!(one.digest, own.digest, "seed {seed}: flits that delay no packet");
                (log, losses)
            } else {
                let simulator = engine::simulator(fabric, routes, parameters, messages, None);
                let Ended { log, losses, .. } = simulator.run_with(&failures);
                (log, losses)
            };
            let kind = seed as usize % KINDS.len();
            let name = format!("seed {seed}, {}, shared {shared}, {whens:?}", KINDS[kind]);
            let Run { counters, reports, .. } = &one;
            assert_agreement(&scenario, &log, &one.log);
            assert_eq!(effects(reports), losses.by_failure, "{name}");
            assert_eq!(counters.packets_lost, losses.packets, "{name}");
            assert_eq!(counters.messages_lost, losses.messages.len() as u64, "{name}");
            for threads in [2, 3] {
                let more = run_on(threads, &scenario, &interruption);
                assert_eq!(more, one, "{name}, {threads} threads");
            }
            let of = &mut tried[usize::from(shared)][kind];
            *of = (of.0 + 1, of.1 + u64::from(losses.packets > 0));
            for (number, when) in (1..).zip(whens) {
                let (before, own) = (reports[number - 1], reports[number]);
                let drained = before.resumed.is_some_and(|it| it > failures[number].at);
                let as_drawn = when != When::Draining || drained;
                let of = later.entry((format!("{when:?}"), shared)).or_insert((0, 0));
                *of = (of.0 + 1, of.1 + u64::from(as_drawn && own.packets_lost > 0));
            }
        }
    }
    assert!(tried.iter().flatten().all(|it| it.0 > 2), "{tried:?}");
    let loses = |kind: usize| tried[0][kind].1 + tried[1][kind].1 > 0;
    assert!((0..KINDS.len()).all(loses), "{tried:?}");
    assert!(later.len() == 6 && later.values().all(|it| it.1 > 0), "{later:?}");
}

/// Four switches, each with a cable to each other: no packet passes two. Without two of the cables
/// they are a ring.
#[test]
fn tables_made_after_an_interruption_are_judged_before_the_run() {
    let read = |algorithm: &str| {
        let text = format!(
            "[topology.hyperx]\ndimensions = [4]\n[routing.agnostic]\nalgorithm = \"{algorithm}\"\n\
             [traffic]\npattern = \"uniform\"\nload = 0.3\n\
             [interruption]\ntime = \"5 us\"\nnew_tables_after = \"1 us\"\n\
             failed_cables = [{{ switch = \"S0\", to = \"S2\" }}, {{ switch = \"S1\", to = \"S3\" }}]\n"
        );
        scenario::Scenario::read(&Document::parse("a.toml", &text)).unwrap()
    };
    let Deadlock::Possible { how, .. } = read("min-hop").deadlock() else {
        panic!("packets go round the ring that is left");
    };
    assert!(how.starts_with("by the routes made after the interruption: "), "{how}");
    assert!(matches!(read("nue").deadlock(), Deadlock::Never(_)));
}

/// A ring of five switches and a cable across it: what fails concerns some destinations only.
fn ring_with_a_way_across(more: &str) -> scenario::Scenario {
    let text = format!(
        "[topology.hyperx]\ndimensions = [5]\n\
         failed_cables = [{{ switch = \"S0\", to = \"S2\" }}, {{ switch = \"S0\", to = \"S3\" }}, \
         {{ switch = \"S1\", to = \"S3\" }}, {{ switch = \"S1\", to = \"S4\" }}]\n\
         [routing.agnostic]\nalgorithm = \"nue\"\nlanes = 2\n\
         [traffic]\npattern = \"uniform\"\nload = 0.3\n\
         [interruption]\ntime = \"5 us\"\nnew_tables_after = \"1 us\"\n\
         failed_cables = [{{ switch = \"S0\", to = \"S1\" }}]\n{more}"
    );
    scenario::Scenario::read(&Document::parse("a.toml", &text)).unwrap()
}

/// The tables that are made after a scenario's failures.
fn changes(scenario: &scenario::Scenario) -> Vec<TableChange> {
    scenario.network.table_changes(scenario.interruption.as_ref().unwrap()).unwrap()
}

/// How many destinations the change of tables from one network to another concerns: those to which a
/// way led over a channel that is gone. There are some, but not all; the ways to all others stay, and
/// the new table is right.
fn concerned_alone(earlier: &Network, later: &Network) -> u64 {
    let [Routes::Forwarding(old), Routes::Forwarding(new)] =
        [earlier, later].map(|network| network.routes().unwrap())
    else {
        panic!("tables");
    };
    let fabric = &later.fabric;
    let mut concerned = 0;
    for terminal in fabric.live_terminals() {
        let own = fabric.terminal_router(terminal);
        let breaks = |&router: &u32| {
            Some(router) != own
                && fabric.target(old.channel(fabric, router, terminal).unwrap()).is_none()
        };
        if (0..fabric.routers()).any(|router| breaks(&router)) {
            concerned += 1;
            continue;
        }
        for router in 0..fabric.routers() {
            assert_eq!(old.port(router, terminal), new.port(router, terminal));
        }
    }
    let live = fabric.live_terminals().count() as u64;
    assert!(0 < concerned && concerned < live, "{concerned} of {live}");
    assert!(prove_forwarding(fabric, new).flaws.is_empty());
    concerned
}

#[test]
fn only_destinations_that_a_failure_concerns_are_routed_anew_if_asked_for() {
    let all = ring_with_a_way_across("destination_time = \"100 ns\"\nblock_time = \"10 ns\"");
    let some = ring_with_a_way_across(
        "destination_time = \"100 ns\"\nblock_time = \"10 ns\"\nnew_tables = \"concerned\"",
    );
    let change = &changes(&some)[0];
    let left = &change.network;
    let concerned = concerned_alone(&some.network, left);
    assert!(matches!(some.deadlock(), Deadlock::Never(_)));
    // 1 us, and the model: a block a switch, since there are no more than 64 destinations.
    let changed = some.network.changes_to(left).unwrap();
    assert_eq!(u64::from(changed.destinations), concerned);
    assert!((1..=5).contains(&changed.blocks), "{changed:?}");
    let nanoseconds = 6_000 + 100 * concerned + 10 * changed.blocks;
    assert_eq!(change.ready, Picoseconds(1_000 * nanoseconds));
    let change = &changes(&all)[0];
    let blocks = all.network.changes_to(&change.network).unwrap().blocks;
    let live = left.fabric.live_terminals().count() as u64;
    let nanoseconds = 6_000 + 100 * live + 10 * blocks;
    assert_eq!(change.ready, Picoseconds(1_000 * nanoseconds));
}

/// Angara's tables are those of sources: a pair keeps its route unless that leads over the cable.
#[test]
fn pairs_that_a_failure_does_not_concern_keep_their_routes_on_angara() {
    let text = "[topology.torus]\ndimensions = [4, 4]\n[routing.angara]\n\
                [traffic]\npattern = \"uniform\"\nload = 0.3\n\
                [interruption]\ntime = \"5 us\"\nnew_tables_after = \"1 us\"\nnew_tables = \"concerned\"\n\
                failed_cables = [{ switch = \"(0,0)\", to = \"(1,0)\" }]\n";
    let scenario = scenario::Scenario::read(&Document::parse("a.toml", text)).unwrap();
    let left = &changes(&scenario)[0].network;
    let [Routes::Table(old), Routes::Table(new)] =
        [&scenario.network, left].map(|network| network.routes().unwrap())
    else {
        panic!("tables");
    };
    let [whole, fabric] = [&scenario.network.fabric, &left.fabric];
    let mut changed = 0;
    for (source, destination) in (0..16).flat_map(|from| (0..16).map(move |to| (from, to))) {
        if source == destination {
            continue;
        }
        let route = old.header(source, destination).unwrap();
        let route = route.route(whole.coordinates(), source, destination).unwrap();
        let mut at = source;
        let is_cut = route.ports().any(|port| {
            let channel = whole.outputs(at).start + u32::from(port);
            at = whole.target(channel).unwrap();
            fabric.target(channel).is_none()
        });
        let stays = old.headers(source, destination) == new.headers(source, destination);
        assert!(stays != is_cut, "{source} to {destination}");
        changed += u32::from(is_cut);
    }
    assert!(changed > 0);
    assert!(matches!(scenario.deadlock(), Deadlock::Never(_)));
}

#[test]
fn advice_against_deadlock_holds_after_the_failure_too() {
    let text = "[topology.torus]\ndimensions = [4, 4]\n[router]\nbuffer = \"6 flits\"\nswitching = \"wormhole\"\n\
                [adapter]\ninjection_buffer = \"6 flits\"\n[link]\nsharing = \"flit\"\n\
                [traffic]\npattern = \"uniform\"\nload = 0.3\n\
                [interruption]\ntime = \"6 us\"\nnew_tables_after = \"2 us\"\nrandom_failures = { cables = 1, seed = SEED }\n";
    for seed in 1..20 {
        let mut document = Document::parse("a.toml", &text.replace("SEED", &seed.to_string()));
        let found = scenario::Scenario::read(&document).unwrap();
        let advice = found.deadlock_advice().expect("rings can deadlock");
        let typed = shlex::split(&advice[advice.find("--set").unwrap()..]).unwrap();
        typed.iter().filter(|word| *word != "--set").for_each(|setting| document.set(setting));
        scenario::Scenario::read(&document).unwrap_or_else(|refused| panic!("{advice}\n{refused}"));
    }
}

/// Three cables between two switches: the one that packets take fails, then the one that they take
/// after that. What is left is the third. The failures, by their times and those at which tables
/// are ready.
fn one_cable_after_the_other(
    first: (u64, u64),
    second: (u64, u64),
) -> (Fabric, Routes, [Failure; 2]) {
    let (fabric, routes, cable) = switches(3);
    let left = fabric.without(&[cable], &[]);
    let table = nue(&left, 1);
    let next = table.channel(&left, 0, 1).unwrap();
    let first = failure(first.0, first.1, &left, table);
    let left = left.without(&[next], &[]);
    let second = failure(second.0, second.1, &left, nue(&left, 1));
    (fabric, routes, [first, second])
}

/// Runs messages of a packet each from the first terminal to the other, created at some times. The
/// times of those that arrive, and what came of the failures, as both engines say.
fn what_arrives(
    (fabric, routes, failures): &(Fabric, Routes, [Failure; 2]),
    parameters: &Parameters,
    times: &[u64],
) -> (Vec<u64>, Vec<FailureReport>) {
    let messages: Vec<Message> = times.iter().map(|&time| data(time, 0, 1, 256)).collect();
    let told = interruption(fabric, failures);
    let (log, _, reports) = run(fabric, routes, parameters, &messages, &told);
    let losses = if parameters.kind.grants_flits() {
        let simulator = flit_engine::simulator(fabric, routes, parameters, &messages, None);
        simulator.run_with(failures).losses
    } else {
        let simulator = engine::simulator(fabric, routes, parameters, &messages, None);
        simulator.run_with(failures).losses
    };
    assert_eq!(effects(&reports), losses.by_failure);
    let created = log.messages.iter().map(|message| message.created.0);
    (created.collect(), reports)
}

const US: u64 = 1_000_000;

fn lost(packets_under_way: u64, packets: u64, resumed: u64) -> FailureReport {
    let resumed = Some(Picoseconds(resumed));
    FailureReport { packets_under_way, packets_lost: packets, messages_lost: packets, resumed }
}

/// With whole packets, and with links shared flit by flit.
fn both_links() -> [Parameters; 2] {
    let kinds = [RouterKind::WholePackets, RouterKind::SharedLinks(FlitSharing::default())];
    kinds.map(|kind| Parameters { kind, ..parameters() })
}

#[test]
fn a_second_failure_while_tables_are_made_has_them_made_anew() {
    for parameters in both_links() {
        // Tables for the first would be ready at 5 us.
        let failing = one_cable_after_the_other((US, 5 * US), (3 * US, 9 * US));
        let times = [0, 2, 4, 6, 10].map(|time| time * US);
        let (arrived, reports) = what_arrives(&failing, &parameters, &times);
        assert_eq!(arrived, [0, 10 * US], "all others go by the first table");
        assert_eq!(reports, [lost(0, 1, 9 * US), lost(0, 2, 9 * US)]);
        // At the time at which they are ready a failure is in time.
        let failing = one_cable_after_the_other((US, 5 * US), (5 * US, 9 * US));
        let (_, reports) = what_arrives(&failing, &parameters, &times);
        assert_eq!(reports, [lost(0, 2, 9 * US), lost(0, 1, 9 * US)]);
        // Just after it the sources have gone on.
        let failing = one_cable_after_the_other((US, 5 * US), (5 * US + 1, 9 * US));
        let (_, reports) = what_arrives(&failing, &parameters, &times);
        assert_eq!(reports, [lost(0, 2, 5 * US), lost(0, 1, 9 * US)]);
    }
}

#[test]
fn a_second_failure_while_the_network_drains_waits_for_the_first_change() {
    for parameters in both_links() {
        // A packet is under way at 3 us, when the first tables are ready. The failed cable swallows
        // it, and it is lost when its last flit would be across.
        let created = 3 * US - 20_000 - parameters.send_overhead.0;
        let gone = created + across(&parameters).1.0;
        assert!(gone > 3 * US + 20_000);
        let empty = 3 * US + (gone - 3 * US).next_multiple_of(100_000);
        let times = [created, 4 * US, 6 * US];
        let failing = one_cable_after_the_other((US, 3 * US), (3 * US + 10_000, 5 * US));
        let (arrived, reports) = what_arrives(&failing, &parameters, &times);
        assert_eq!(arrived, [6 * US], "at 4 us the tables of the first failure are in use");
        assert_eq!(reports, [lost(0, 0, empty), lost(1, 2, 5 * US)]);
        // The second tables are ready before the network is empty: both changes are made then.
        let failing = one_cable_after_the_other((US, 3 * US), (3 * US + 10_000, 3 * US + 20_000));
        let (arrived, reports) = what_arrives(&failing, &parameters, &times);
        assert_eq!(arrived, [4 * US, 6 * US]);
        assert_eq!(reports, [lost(0, 0, empty), lost(1, 1, empty)]);
    }
}

#[test]
fn a_second_failure_after_the_first_one_is_over_is_like_a_first() {
    for parameters in both_links() {
        let failing = one_cable_after_the_other((US, 3 * US), (6 * US, 8 * US));
        let times = [0, 2, 4, 7, 9].map(|time| time * US);
        let (arrived, reports) = what_arrives(&failing, &parameters, &times);
        assert_eq!(arrived, [0, 4 * US, 9 * US]);
        assert_eq!(reports, [lost(0, 1, 3 * US), lost(0, 1, 8 * US)]);
    }
}

/// The ring with a way across: its second cable fails after the first.
fn two_cables_of_a_ring(time: &str, more: &str) -> scenario::Scenario {
    ring_with_a_way_across(&format!(
        "further_failures = [{{ time = \"{time}\", failed_cables = [{{ switch = \"S2\", to = \"S3\" }}]{more} }}]\n\
         destination_time = \"100 ns\"\nnew_tables = \"concerned\""
    ))
}

#[test]
fn tables_after_a_second_failure_are_made_of_those_in_use() {
    let apart = two_cables_of_a_ring("9 us", "");
    let [first, second] = &changes(&apart)[..] else { panic!("two changes") };
    assert_eq!((&first.failures, &second.failures), (&(0..1), &(1..2)));
    let concerned = concerned_alone(&first.network, &second.network);
    assert!(matches!(apart.deadlock(), Deadlock::Never(_)));
    assert_eq!(second.ready, Picoseconds(10 * US + 100_000 * concerned));
    // Until the first tables are ready a failure has them made anew.
    let ready = first.ready.0;
    for (time, number) in [(ready, 1), (ready + 1_000, 2)] {
        let time = format!("{} ns", time / 1_000);
        let changes = changes(&two_cables_of_a_ring(&time, ", new_tables_after = \"3 us\""));
        let known: Vec<usize> = changes.iter().map(|change| change.failures.end).collect();
        assert_eq!(known, [1, 2][2 - number..], "{time}");
        assert!(changes.last().unwrap().ready >= Picoseconds(ready + 3 * US), "{time}");
    }
}

#[test]
fn a_run_tells_of_each_failure() {
    let run = |scenario: &scenario::Scenario, threads: usize| {
        Simulation::new(scenario).unwrap().on_threads(threads).run(&mut |_| {}).found
    };
    let alone = run(&ring_with_a_way_across(""), 1);
    assert!(alone.failures.is_empty(), "points.csv tells of one");
    let scenario = two_cables_of_a_ring("9 us", "");
    let found = run(&scenario, 1);
    let [first, second] = &found.failures[..] else { panic!("two failures") };
    assert_eq!((first.time, second.time), (Picoseconds(5 * US), Picoseconds(9 * US)));
    assert!(first.packets_lost > 0 && second.packets_lost > 0, "{found:?}");
    let lost = [first, second].map(|row| row.packets_lost).iter().sum();
    assert_eq!(found.measured.packets_lost, Some(lost));
    let messages = [first, second].map(|row| row.messages_lost).iter().sum();
    assert_eq!(found.measured.messages_lost, Some(messages));
    // The whole lasts from the first failure until the last change.
    let interruption = second.interruption.unwrap();
    assert!(interruption >= changes(&scenario)[1].ready - second.time);
    assert_eq!(found.measured.interruption, Some(Picoseconds(4 * US) + interruption));
    assert_eq!(found.measured.recovery, second.recovery.map(|it| Picoseconds(4 * US) + it));
    assert_eq!(
        found.measured.simulated_time,
        found.measured.interruption.map(|it| Picoseconds(10 * US) + it)
    );
    let more = run(&scenario, 2);
    assert_eq!((more.measured.digest, &more.failures), (found.measured.digest, &found.failures));
}
