//! Routing relations and sets of paths in the engines: what is proved holds, what is refused
//! happens.

use std::collections::BTreeSet;

use flitlab::engine::{FlitSharing, Parameters, RouterKind, run_script};
use flitlab::registry::Row;
use flitlab::routing::{Preference, RelationRoutes, Routes};
use flitlab::tables::prove_relation;
use flitlab::tables::relation_rules::{RELATION_RULES, RelationParameters, RelationRule};
use flitlab::topology::{Fabric, Faults, Torus};
use flitlab::traffic::{Message, MessageKind, Script};
use flitlab::units::Picoseconds;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::common::workplace::{SHORT, Workplace, scenario, with};
use flitlab_random::random_flit_scenario::share;
use flitlab_random::random_relation::{by_relation, throttle};
use flitlab_random::random_scenario::Scenario;

/// The scenario with the relation of a rule, whose links are shared flit by flit every other time;
/// `None` if the rule is for fabrics of another shape.
fn by_rule(seed: u64, rule: &Row<RelationRule>) -> Option<Scenario> {
    let mut scenario = Scenario::choosing(seed);
    let vcs = rule.least_vcs.max(1 + (seed % 4) as u8);
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    let relation = rule.relation(&scenario.fabric, &parameters).ok()?;
    let random_ties = seed.is_multiple_of(3);
    scenario.routes = by_relation(relation, random_ties, seed);
    scenario.parameters.virtual_channels = vcs + (seed % 2) as u8;
    if seed % 2 == 1 {
        share(&mut ChaCha8Rng::seed_from_u64(seed), &mut scenario);
    } else {
        scenario.parameters.buffer = 2 * scenario.parameters.maximum_packet();
    }
    // Who enters a ring leaves room for another packet.
    let two = 2 * scenario.parameters.maximum_packet();
    scenario.parameters.buffer =
        scenario.parameters.buffer.max(if rule.keeps_bubble { two } else { 0 });
    throttle(&mut scenario.routes, (seed % 5 / 2) as u8, &scenario.parameters);
    Some(scenario)
}

#[test]
fn rules_that_avoid_deadlocks_do_so_under_stress() {
    let (mut hops, mut longer) = (0, 0);
    for rule in RELATION_RULES.iter().filter(|rule| rule.avoids_deadlock) {
        let scenarios = (0..).filter_map(|seed| Some((seed, by_rule(seed, rule)?)));
        for (seed, scenario) in scenarios.take(24) {
            let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
            let Routes::Relation(by) = routes else { unreachable!("made so") };
            let proof = prove_relation(fabric, &by.relation);
            assert!(proof.holds(), "{rule:?} {seed}");
            let script = Script::new(messages.clone());
            let (log, _) = run_script(fabric, routes, parameters, script)
                .unwrap_or_else(|deadlock| panic!("{rule:?} {seed}: {deadlock}"));
            assert_eq!(log.messages.len(), messages.len(), "{rule:?} {seed}");
            assert!(log.packets.iter().all(|packet| packet.hops <= proof.longest));
            let shortest = shortest(fabric);
            for packet in &log.packets {
                let ends = [packet.source, packet.destination];
                let [from, to] = ends.map(|it| fabric.terminal_router(it).unwrap() as usize);
                assert!(packet.hops >= shortest[from][to]);
                longer += u32::from(packet.hops > shortest[from][to]);
                hops += packet.hops;
            }
        }
    }
    assert!(hops > 1000 && longer > 10, "{longer} packets of {hops} hops took a longer way");
}

/// Hops between all routers (Floyd and Warshall).
fn shortest(fabric: &Fabric) -> Vec<Vec<u32>> {
    let count = fabric.routers() as usize;
    let mut hops = vec![vec![u32::MAX / 2; count]; count];
    for (router, row) in (0u32..).zip(&mut hops) {
        row[router as usize] = 0;
        for target in fabric.outputs(router).filter_map(|channel| fabric.target(channel)) {
            row[target as usize] = row[target as usize].min(1);
        }
    }
    for by in 0..count {
        for from in 0..count {
            for to in 0..count {
                hops[from][to] = hops[from][to].min(hops[from][by] + hops[by][to]);
            }
        }
    }
    hops
}

/// Minimal routing on a ring of seven in one virtual channel: each way round is a cycle, and there
/// are no others.
#[test]
fn a_relation_with_a_cycle_deadlocks_in_the_cycle_that_the_proof_names() {
    let fabric = Torus::new(&[7], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let parameters = RelationParameters::default();
    let relation = RelationRule::MINIMAL.relation(&fabric, &parameters).unwrap();
    let proof = prove_relation(&fabric, &relation);
    let port = |channel: u32| channel % 2;
    let cycle = proof.cycle().expect("a ring closes");
    let proved: BTreeSet<u32> = cycle.iter().map(|place| place.channel).collect();
    assert!(proved.len() == 7 && proved.iter().all(|&it| port(it) == port(cycle[0].channel)));

    let routes = by_relation(relation, false, 0);
    // The way round that the proof names is that of destinations three ahead or three behind.
    let ahead = if port(cycle[0].channel) == 0 { 3 } else { 4 };
    let messages = (0..7).map(|source| Message {
        time: Picoseconds::ZERO,
        source,
        destination: (source + ahead) % 7,
        bytes: 256 * 100,
        kind: MessageKind::Data,
        tag: 0,
        class: 0,
    });
    let messages: Vec<Message> = messages.collect();
    let parameters = Parameters { virtual_channels: 1, bubble: false, ..Parameters::default() };
    for kind in [RouterKind::WholePackets, RouterKind::SharedLinks(FlitSharing::default())] {
        let parameters = Parameters { kind, ..parameters.clone() };
        let script = Script::new(messages.clone());
        let deadlock = run_script(&fabric, &routes, &parameters, script).unwrap_err();
        let waited_for: BTreeSet<&str> =
            deadlock.cycle.iter().map(|waiting| &*waiting.output).collect();
        let named: Vec<String> = proved.iter().map(|&it| fabric.channel_name(it)).collect();
        assert_eq!(waited_for, named.iter().map(|it| &**it).collect());
    }
}

/// A message behind packets for a node to which all others send. It leaves its source by another
/// channel than they, so it waits only where it is in one queue with them.
#[test]
fn one_injection_lane_has_messages_wait_behind_those_for_other_nodes() {
    let fabric = Torus::new(&[7], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let vcs = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = RelationRule::UP_DOWN.relation(&fabric, &vcs).unwrap();
    let Routes::Relation(routes) = by_relation(relation, true, 1) else { unreachable!("it is") };
    let to_one = [0, 2, 3, 4, 5, 6].map(|source| (source, 1, 40));
    let messages = to_one.into_iter().chain([(0, 6, 1)]).map(|(source, destination, packets)| {
        let (time, bytes, kind) = (Picoseconds::ZERO, 256 * packets, MessageKind::Data);
        Message { time, source, destination, bytes, kind, tag: 0, class: 0 }
    });
    let messages: Vec<Message> = messages.collect();
    for kind in [RouterKind::WholePackets, RouterKind::SharedLinks(FlitSharing::default())] {
        let virtual_channels = 2;
        let parameters = Parameters { virtual_channels, bubble: false, ..Parameters::default() };
        let parameters = Parameters { injection_channels: 1, kind, ..parameters };
        let delivered = |injection_vcs: u8| {
            let routes = Routes::Relation(RelationRoutes { injection_vcs, ..routes.clone() });
            let script = Script::new(messages.clone());
            let (log, _) = run_script(&fabric, &routes, &parameters, script).unwrap();
            let last = log.packets.iter().find(|it| it.destination == 6).expect("it arrives");
            last.delivered.0
        };
        let [one, two] = [1, 2].map(delivered);
        assert!(one > 10 * two, "{one} ps with one, {two} ps with two");
    }
}

/// Packets to a neighbour, over one channel with two virtual channels.
#[test]
fn packets_prefer_hops_by_credits_by_use_or_by_ties_alone() {
    let fabric = Torus::new(&[7], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let vcs = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = RelationRule::UP_DOWN.relation(&fabric, &vcs).unwrap();
    let Routes::Relation(routes) = by_relation(relation, true, 1) else { unreachable!("it is") };
    let (time, bytes, kind) = (Picoseconds::ZERO, 256 * 200, MessageKind::Data);
    let (source, destination) = (0, 1);
    let message = Message { time, source, destination, bytes, kind, tag: 0, class: 0 };
    for kind in [RouterKind::WholePackets, RouterKind::SharedLinks(FlitSharing::default())] {
        let virtual_channels = 2;
        let parameters = Parameters { virtual_channels, bubble: false, ..Parameters::default() };
        let parameters = Parameters { injection_channels: 1, kind, ..parameters };
        // The virtual channels of packets in the order in which they were sent.
        let taken = |preference: Preference, random_ties: bool| {
            let routes = RelationRoutes { preference, random_ties, ..routes.clone() };
            let script = Script::new(vec![message]);
            let routes = Routes::Relation(routes);
            let (mut log, _) = run_script(&fabric, &routes, &parameters, script).unwrap();
            log.packets.sort_by_key(|packet| packet.sequence);
            log.packets.iter().map(|packet| packet.virtual_channel).collect::<Vec<_>>()
        };
        // The share of those in virtual channel 1.
        let share = |preference: Preference, random_ties: bool| {
            let taken = taken(preference, random_ties);
            taken.iter().filter(|&&it| it == 1).count() as f64 / taken.len() as f64
        };
        for by_use in [Preference::LeastRecentlyUsed, Preference::MinimalMultiplexed] {
            assert_eq!(taken(by_use, false)[..6], [0, 1, 0, 1, 0, 1], "{by_use:?}");
        }
        assert_eq!(share(Preference::Random, false), 0.0);
        let by_credits = share(Preference::LeastQueued, false);
        assert!((0.4..0.6).contains(&by_credits), "{by_credits}");
        let by_chance = share(Preference::Random, true);
        assert!((0.4..0.6).contains(&by_chance), "{by_chance}");
    }
}

#[test]
fn the_command_refuses_a_cycle_and_deadlocks_if_it_is_told_to() {
    let place = Workplace::new("relation_with_a_cycle");
    let path = scenario("irregular/adaptive-up-down");
    let minimal = ["--set", "routing.relation.rule=minimal", "--set", "router.virtual_channels=1"];
    let (code, refused) = place.fail(&with(&["run", &path], &minimal));
    assert_eq!(code, 2);
    assert!(
        refused
            .contains("the relation of rule `minimal` is refused: packets can deadlock: each of"),
        "{refused}"
    );
    assert!(refused.contains("unproved = true"), "{refused}");
    let more = ["--set", "routing.relation.unproved=true", "--set", "traffic.load=0.9"];
    let (code, stuck) = place.fail(&with(&["run", &path], &with(&minimal, &more)));
    assert!(code == 3 && stuck.contains("packets wait for each other in a cycle"), "{stuck}");
}

#[test]
fn order_is_measured_where_packets_of_a_pair_can_go_different_ways() {
    let place = Workplace::new("relation_order");
    let path = scenario("irregular/adaptive-up-down");
    let run = |out: &str, selection: &str| {
        let selection = format!("routing.relation.selection={selection}");
        let set = [
            "run",
            &path,
            "--json",
            "--out",
            out,
            "--set",
            &selection,
            "--set",
            "traffic.load=0.2",
        ];
        place.json(&with(&set, &SHORT))["points"][0].clone()
    };
    let one = run("one", "\"traffic-balancing\"");
    assert_eq!(
        (one["overtaken"].as_f64(), one["reorder_buffer_packets"].as_u64()),
        (Some(0.0), Some(0))
    );
    for (out, several) in [
        ("drawn", "{ random = { paths = 4 } }"),
        ("turns", "{ random = { paths = 4, choice = \"round-robin\" } }"),
        ("adaptive", "\"none\""),
    ] {
        let row = run(out, several);
        let overtaken = row["overtaken"].as_f64().expect("a share");
        let kept = row["reorder_buffer_packets"].as_u64().expect("a number");
        assert!((0.0..0.5).contains(&overtaken) && (overtaken > 0.0) == (kept > 0), "{row}");
    }
}

/// Far past saturation one virtual channel carries several times as much if packets that are
/// injected leave room.
#[test]
fn an_injection_bubble_keeps_throughput_past_saturation() {
    let place = Workplace::new("relation_injection_bubble");
    let text = "topology.random_regular = { switches = 24, degree = 4, terminals = 4, seed = 1 }\n\
                routing.relation = { rule = \"two-orders\", lanes = 1 }\n\
                traffic = { pattern = \"uniform\", load = 1.0 }\n\
                measure = { window = \"2 us\", warm_up_windows = 5, minimum_windows = 5, maximum_windows = 5 }\n";
    place.write("throttle.toml", text);
    let accepted = |out: &str, others: Option<u8>| {
        let key = others.map(|it| format!("routing.relation.injection_bubble={it}"));
        let set = key.iter().flat_map(|key| ["--set", key]).collect::<Vec<_>>();
        let run = with(&["run", "throttle.toml", "--json", "--out", out], &set);
        place.json(&run)["points"][0]["accepted_load"].as_f64().expect("a load")
    };
    let [usual, none, one, two] =
        [("usual", None), ("none", Some(0)), ("one", Some(1)), ("two", Some(2))]
            .map(|(out, others)| accepted(out, others));
    assert!(usual == two, "the rule leaves room for two");
    assert!(none > 0.0 && one > 2.0 * none && two > one, "{none} {one} {two}");
}

/// The load that a run accepts, and its packets' mean latency in ns.
fn accepted(place: &Workplace, out: &str, settings: &[&str]) -> [f64; 2] {
    let set = settings.iter().flat_map(|key| ["--set", key]).collect::<Vec<_>>();
    let row = &place.json(&with(&["run", "a.toml", "--json", "--out", out], &set))["points"][0];
    ["accepted_load", "packet_latency_mean_ns"].map(|name| row[name].as_f64().expect("a number"))
}

const WINDOWS: &str = "measure = { window = \"20 us\", warm_up_windows = 5, minimum_windows = 20, maximum_windows = 20 }\n";

/// Two flows over two parallel cables: an empty virtual channel of a busy cable is no reason to
/// like it.
#[test]
fn packets_spread_over_parallel_cables_whatever_virtual_channels_they_have() {
    let place = Workplace::new("relation_two_cables");
    let switch = |name: &str, other: &str, hosts: [&str; 2]| {
        let [one, two] = hosts;
        format!(
            "Switch\t8 \"{name}\"\n[1]\t\"{one}\"[1]\n[2]\t\"{two}\"[1]\n[3]\t\"{other}\"[3]\n[5]\t\"{other}\"[5]\n\n"
        )
    };
    let host = |name: &str, switch: &str, port: u8| {
        format!("Hca\t1 \"{name}\"\n[1]\t\"{switch}\"[{port}]\n\n")
    };
    let left = switch("left", "right", ["a", "b"]) + &switch("right", "left", ["c", "d"]);
    let hosts = [("a", "left", 1), ("b", "left", 2), ("c", "right", 1), ("d", "right", 2)];
    let hosts = hosts.map(|(name, switch, port)| host(name, switch, port));
    place.write("two-cables.net", &(left + &hosts.concat()));
    let pairs = "traffic = { load = 0.9, pattern = { pairs = { list = [[\"a\", \"c\"], [\"b\", \"d\"]] } } }\n";
    let by =
        "topology.netlist.path = \"two-cables.net\"\nrouting.relation.rule = \"minimal-up-down\"\n";
    place.write("a.toml", &format!("{by}{pairs}{WINDOWS}"));
    for sharing in ["packet", "flit"] {
        for vcs in [2, 3, 5] {
            for ties in ["random", "first"] {
                let settings = [
                    format!("link.sharing={sharing}"),
                    format!("router.virtual_channels={vcs}"),
                    format!("routing.relation.ties={ties}"),
                ];
                let [load, _] = accepted(
                    &place,
                    &format!("{sharing}{vcs}{ties}"),
                    &settings.each_ref().map(String::as_str),
                );
                assert!(load > 0.87, "{settings:?}: {load}");
            }
        }
    }
}

/// Both kinds of routers: links that are shared flit by flit up to what d-mod-k has (0.799 in a
/// long run), and whole packets at a load at which most outputs are idle.
#[test]
fn packets_that_choose_take_all_ways_up_a_tree() {
    let place = Workplace::new("relation_tree");
    let tree = |levels: u8, traffic: &str, rule: &str| {
        let text = format!(
            "topology.tree = {{ arity = 4, levels = {levels} }}\ntraffic = {{ {traffic} }}\n\
             routing.relation.rule = \"{rule}\"\n{WINDOWS}"
        );
        place.write("a.toml", &text);
    };
    tree(2, "pattern = \"bit-complement\", load = 0.8", "auto");
    for (out, vcs) in [("two", "2"), ("eight", "8")] {
        let vcs = format!("router.virtual_channels={vcs}");
        let [load, _] = accepted(&place, out, &["link.sharing=flit", &vcs]);
        assert!(load >= 0.78, "{vcs}: {load}");
    }
    tree(3, "pattern = \"random-permutation\", load = 0.4", "up-down");
    for (out, ties) in [("usual", None), ("random", Some("routing.relation.ties=random"))] {
        let [load, latency] = accepted(&place, out, ties.as_slice());
        assert!(load > 0.38 && latency < 1_700.0, "{out}: {load}, {latency} ns");
    }
}
