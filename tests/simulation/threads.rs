//! Any number of threads gives what one gives: every packet, message, channel and counter.

use flitlab::{
    engine::{Engine, Log, Parameters},
    routing::{DirectionOrder, HalfRing, Routes},
    scenario::{Document, Scenario},
    simulation::Simulation,
    topology::{Faults, Torus},
    traffic::{Access, Between, Exchange, ExchangeSpec, Pattern, PatternSpec, Script, Workload},
    units::{Bytes, Picoseconds},
};
use flitlab_random::random_scenario::Scenario as RandomScenario;
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use flitlab_random::threads::{Run, STOPS, THREADS, compare};

/// Compares the runs of a scenario's own messages, of which some arrive.
fn compare_messages(seed: u64, scenario: &RandomScenario) -> Run {
    let workload = Script::new(scenario.messages.clone());
    let one = compare(&format!("seed {seed}"), scenario, &workload, &STOPS);
    assert!(!one.log.0.is_empty(), "seed {seed}");
    one
}

#[test]
fn random_scenarios_are_the_same_on_any_number_of_threads() {
    for seed in 0..10 {
        compare_messages(seed, &RandomScenario::ruled(seed));
    }
}

#[test]
fn forwarding_tables_give_the_same_on_any_number_of_threads() {
    for seed in 0..8 {
        compare_messages(seed, &RandomScenario::forwarding(seed));
    }
}

#[test]
fn adaptive_routing_with_failures_gives_the_same_on_any_number_of_threads() {
    for seed in 0..12 {
        let scenario = RandomScenario::adaptive_by_table(seed);
        if scenario.fabric.live_terminals().count() < 7 {
            continue;
        }
        assert!(compare_messages(seed, &scenario).deadlock.is_none(), "seed {seed}");
    }
}

/// The time in which nothing gets from one part to another (docs/model.md, "Windows and threads").
fn reach(parameters: &Parameters) -> Picoseconds {
    let flit_times = [
        parameters.link_flit_time(),
        parameters.injection_flit_time(),
        parameters.ejection_flit_time(),
    ];
    let packet = parameters.crossbar_latency + parameters.routing_latency;
    parameters.link_latency + packet.min(*flit_times.iter().min().unwrap())
}

/// An exchange with barriers among the nodes of a scenario; `None` if nobody has anybody to send
/// to.
fn exchange(
    scenario: &RandomScenario,
    pattern: &PatternSpec,
    message: u64,
    read: bool,
    latency: Picoseconds,
    rounds: u32,
) -> Option<Box<dyn Workload>> {
    let access = if read { Access::Read { request: Bytes(16) } } else { Access::Write };
    let spec = ExchangeSpec {
        pattern: pattern.clone(),
        message: Bytes(message),
        access,
        between: Between::Barrier { latency },
        rounds,
    };
    let pattern = Pattern::new(&spec.pattern, &scenario.fabric, 1).ok()?;
    Some(Box::new(Exchange::new(&spec, pattern, &scenario.fabric)))
}

/// An exchange of pairs among nodes 0 to 19; all routers of the last of seven parts have failed.
fn exchange_of_pairs(
    name: &str,
    (send_overhead, latency): (Picoseconds, Picoseconds),
    pairs: &[(u32, u32)],
    rounds: u32,
    stops: &[Picoseconds],
) -> Run {
    let faults = Faults { nodes: (20..24).collect(), ..Faults::default() };
    let fabric = Torus::new(&[4, 6], &[1]).unwrap().fabric(&faults).unwrap();
    let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
    let routes = Routes::DirectionOrder(order);
    let parameters = Parameters { send_overhead, ..Parameters::default() };
    let scenario =
        RandomScenario { fabric, routes, parameters, messages: Vec::new(), collective: None };
    let pairs: Vec<[u32; 2]> = pairs.iter().map(|&(source, to)| [source, to]).collect();
    let pattern = PatternSpec::new("pairs", &format!("list = {pairs:?}"));
    let workload = exchange(&scenario, &pattern, 600, false, latency, rounds).unwrap();
    compare(name, &scenario, &*workload, stops)
}

#[test]
fn random_exchanges_with_barriers_are_the_same_on_any_number_of_threads() {
    let (mut sooner, mut later) = (0, 0);
    for seed in 0..10 {
        let mut scenario = RandomScenario::random(seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let nodes = scenario.fabric.terminals();
        let mut node = || random.random_range(0..nodes);
        let pairs: Vec<[u32; 2]> = (0..3 * nodes).map(|_| [node(), node()]).collect();
        let patterns = [
            PatternSpec::new("all-to-all", ""),
            PatternSpec::new("random-permutation", ""),
            PatternSpec::new("tornado", ""),
            PatternSpec::new("pairs", &format!("list = {pairs:?}")),
        ];
        let reach = reach(&scenario.parameters);
        let latency = *[Picoseconds::ZERO, Picoseconds::ZERO, Picoseconds(1), 3 * reach]
            .choose(&mut random)
            .unwrap();
        let parameters = &mut scenario.parameters;
        // Now and then sooner than anything else gets from part to part.
        let least = reach.saturating_sub(latency);
        parameters.send_overhead = *[
            least,
            least,
            Picoseconds(50),
            least.saturating_sub(Picoseconds(1)),
            Picoseconds::ZERO,
        ]
        .choose(&mut random)
        .unwrap();
        let soon = latency + parameters.send_overhead < reach;
        let message = random.random_range(0..=3 * parameters.maximum_payload.0);
        let (read, rounds) = (random.random_bool(0.3), random.random_range(1..=2));
        let pattern = patterns.choose(&mut random).unwrap();
        let Some(workload) = exchange(&scenario, pattern, message, read, latency, rounds) else {
            continue;
        };
        compare(&format!("seed {seed}"), &scenario, &*workload, &STOPS);
        *if soon { &mut sooner } else { &mut later } += 1;
    }
    assert!(sooner >= 2 && later >= 5, "{sooner} sooner than mail, {later} later");
}

#[test]
fn barriers_are_passed_on_several_threads_also_if_messages_follow_sooner_than_mail() {
    let reach = reach(&Parameters::default()).0;
    let pairs: Vec<(u32, u32)> = (0..20).flat_map(|node| [(node, 19 - node), (node, 5)]).collect();
    let cases = [(reach, 0), (0, reach), (reach - 1, 1), (reach - 1, 0), (0, reach - 1), (0, 0)];
    for (send_overhead, latency) in cases {
        let name = format!("{send_overhead} + {latency} ps");
        let run = exchange_of_pairs(
            &name,
            (Picoseconds(send_overhead), Picoseconds(latency)),
            &pairs,
            3,
            &[],
        );
        // In the second step, node 5 does not send to itself.
        assert_eq!(run.log.1.len(), 3 * (20 + 19), "{name}");
    }
}

#[test]
fn parts_without_work_or_terminals_wait_at_barriers_for_the_others() {
    let run =
        exchange_of_pairs("one pair", (Picoseconds(340_000), Picoseconds::ZERO), &[(0, 1)], 5, &[]);
    assert_eq!(run.log.1.len(), 5);
    let by_turns = [(0, 0), (0, 1), (19, 18), (19, 19)];
    let run =
        exchange_of_pairs("by turns", (Picoseconds(340_000), Picoseconds::ZERO), &by_turns, 5, &[]);
    assert_eq!(run.log.1.len(), 10);
}

#[test]
fn steps_without_messages_take_no_time_on_any_number_of_threads() {
    let with_gaps = [(3, 3), (3, 3), (3, 12), (3, 3), (3, 9), (3, 3)];
    let run =
        exchange_of_pairs("gaps", (Picoseconds(340_000), Picoseconds::ZERO), &with_gaps, 2, &[]);
    let without = exchange_of_pairs(
        "no gaps",
        (Picoseconds(340_000), Picoseconds::ZERO),
        &[(3, 12), (3, 9)],
        2,
        &[],
    );
    assert_eq!(run, without);
    assert_eq!(run.log.1.len(), 4);
}

#[test]
fn a_run_does_not_end_while_a_long_barrier_is_all_that_is_left() {
    let latency = Picoseconds(1_000_000_000);
    let run = exchange_of_pairs("1 ms", (Picoseconds::ZERO, latency), &[(0, 19), (19, 0)], 4, &[]);
    assert_eq!(run.log.1.len(), 8);
    assert!(run.end >= 4 * latency, "after the last barrier too: {}", run.end);
}

#[test]
fn runs_that_stop_at_barriers_go_on_the_same_on_any_number_of_threads() {
    let pairs = [(0, 19), (19, 0), (7, 8), (0, 1), (19, 3)];
    let overheads = (Picoseconds(200_000), Picoseconds(100_000));
    let times = exchange_of_pairs("without stops", overheads, &pairs, 2, &[]);
    // When messages are received, so at barriers too; just before and after; when the next step
    // starts.
    let received = times.log.1.iter().map(|message| message.completed);
    let mut stops: Vec<Picoseconds> = received
        .flat_map(|at| {
            let after = [0, 1, 2, 100_001, 300_000, 300_001, 300_002].map(Picoseconds);
            after.map(|after| at - Picoseconds(1) + after)
        })
        .collect();
    stops.sort_unstable();
    stops.dedup();
    let run = exchange_of_pairs("with stops", overheads, &pairs, 2, &stops);
    assert_eq!((run.log, run.digest, run.end), (times.log, times.digest, times.end));
}

#[test]
fn parts_keep_the_progress_of_their_own_terminals_only() {
    let scenario = RandomScenario::random(1);
    let nodes = scenario.fabric.terminals();
    let whole =
        exchange(&scenario, &PatternSpec::new("all-to-all", ""), 64, false, Picoseconds::ZERO, 1)
            .unwrap();
    let parts = whole.clone().split(&[0..1, 1..1, 1..nodes / 2, nodes / 2..nodes]);
    let sizes: Vec<usize> = parts.iter().map(|part| part.memory()).collect();
    assert_eq!(sizes.iter().sum::<usize>(), whole.memory());
    assert!(sizes[1] == 0 && sizes[0] * nodes as usize == whole.memory(), "{sizes:?}");
}

fn same_on_all_threads(text: &str) {
    let document = Document::parse("threads.toml", text);
    let scenario = Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let outcome = |threads| {
        let outcome = Simulation::new(&scenario).unwrap().on_threads(threads).run(&mut |_| {});
        (outcome.found, outcome.deadlock, outcome.work.counters)
    };
    let one = outcome(1);
    assert!(one.2.packets_delivered > 100, "{text}");
    for threads in THREADS {
        assert_eq!(one, outcome(threads), "{threads} threads: {text}");
    }
}

#[test]
fn loads_are_the_same_on_any_number_of_threads_under_every_routing() {
    let routings = [
        "",
        "[routing.adaptive]",
        "[routing.pick_orthant]",
        "[routing.pick_orthant]\nrule = \"goal\"",
        "[routing.two_phase]\nrule = \"rlb\"",
        "[routing.outflank]",
        "[routing.angara]\nalgorithm = \"sssp\"",
    ];
    for (number, routing) in routings.into_iter().enumerate() {
        // Each routing below or past saturation, by turns.
        for (load, more) in [[(0.3, "")], [(0.9, "process = \"periodic\"")]][number % 2] {
            same_on_all_threads(&format!(
                "[topology.torus]\ndimensions = [4, 3, 5]\n{routing}\n[traffic]\npattern = \"uniform\"\n\
                 load = {load}\n{more}\n[measure]\nwindow = \"2 us\"\nminimum_windows = 6\n\
                 maximum_windows = 6\nwarm_up_windows = 4\n"
            ));
        }
    }
}

#[test]
fn reads_and_messages_of_many_packets_are_the_same_on_any_number_of_threads() {
    let read = "read = { request = \"16 B\" }";
    for more in [read, "message = \"3 kB\"", &format!("{read}\nmessage = \"2 kB\"")] {
        same_on_all_threads(&format!(
            "[topology.torus]\ndimensions = [4, 4, 4]\n[traffic]\npattern = \"uniform\"\nload = 0.4\n\
             {more}\n[measure]\nwindow = \"2 us\"\nminimum_windows = 6\nmaximum_windows = 6\n\
             warm_up_windows = 4\n"
        ));
    }
}

#[test]
fn exchanges_are_the_same_on_any_number_of_threads() {
    for between in ["\"nothing\"", "\"exchange\"", "\"barrier\""] {
        same_on_all_threads(&format!(
            "[topology.torus]\ndimensions = [4, 3, 2]\n[exchange]\npattern = \"all-to-all\"\n\
             message = \"2 kB\"\nbetween_steps = {between}\n"
        ));
    }
}

/// Parameters that no scenario file can have, but a library's caller can.
#[test]
fn a_message_without_room_for_payload_is_a_packet_a_byte_on_any_number_of_threads() {
    let fabric = Torus::new(&[4, 2], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = DirectionOrder::new(&fabric, HalfRing::Plus).map(Routes::DirectionOrder).unwrap();
    let parameters = Parameters { maximum_payload: Bytes(0), ..Parameters::default() };
    for threads in [1, 2] {
        let message = flitlab::traffic::Message {
            time: Picoseconds::ZERO,
            source: 0,
            destination: 7,
            bytes: 5,
            kind: flitlab::traffic::MessageKind::Data,
            tag: 0,
            class: 0,
        };
        let script = Box::new(Script::new(vec![message]));
        let mut engine =
            Engine::new(threads, &fabric, &routes, &parameters, script, Log::default());
        engine.run_until(Picoseconds(1_000_000_000));
        assert_eq!(engine.observer().packets.len(), 5);
        assert_eq!(engine.observer().messages[0].bytes, 5);
    }
}
