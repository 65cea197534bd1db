//! Any number of threads gives what one gives: every packet, message, channel and counter.

mod common;

use common::random_scenario::Scenario as RandomScenario;
use flitlab::{
    engine::{ChannelReport, Counters, Deadlock, Digest, Engine, Log},
    scenario::{Document, Scenario},
    sweep::Simulation,
    traffic::{Access, Between, Exchange, ExchangeSpec, Pattern, PatternSpec, Script, Workload},
    units::Bytes,
};

const THREADS: [usize; 3] = [2, 3, 7];

/// All that can be known of a run.
#[derive(Debug, PartialEq)]
struct Run {
    log: (Vec<flitlab::engine::DeliveredPacket>, Vec<flitlab::engine::CompletedMessage>),
    digest: Digest,
    counters: Vec<Counters>,
    under_way: Vec<(usize, u64)>,
    channels: Vec<ChannelReport>,
    deadlock: Option<Deadlock>,
    end: u64,
}

impl Run {
    /// The first thing that is not the same.
    fn difference(&self, other: &Self) -> Option<String> {
        fn first<T: PartialEq + std::fmt::Debug>(one: &[T], other: &[T]) -> Option<String> {
            let pair = one.iter().zip(other).find(|(one, other)| one != other);
            let lengths = format!("{} and {} records", one.len(), other.len());
            pair.map(|pair| format!("{pair:?}"))
                .or_else(|| (one.len() != other.len()).then_some(lengths))
        }
        first(&self.log.0, &other.log.0)
            .or_else(|| first(&self.log.1, &other.log.1))
            .or_else(|| first(&self.counters, &other.counters))
            .or_else(|| first(&self.under_way, &other.under_way))
            .or_else(|| first(&self.channels, &other.channels))
            .or_else(|| (self != other).then(|| "digest, deadlock or end".into()))
    }
}

fn run(scenario: &RandomScenario, threads: usize) -> Run {
    let RandomScenario { fabric, routes, parameters, messages } = scenario;
    let workload = Workload::Script(Script::new(messages.clone()));
    let log = Log::default();
    let mut engine = Engine::on_threads(threads, fabric, routes, parameters, workload, log);
    let (mut counters, mut under_way) = (Vec::new(), Vec::new());
    for step in 1..6 {
        engine.run_until(step * step * 30);
        counters.push(engine.counters());
        under_way.push((engine.packets_under_way(), engine.messages_under_way()));
        assert!(engine.credits_are_conserved());
        if step == 2 {
            engine.reset_channels();
        }
    }
    engine.run_until(u64::MAX);
    let (channels, deadlock) = (engine.channels(), engine.find_deadlock());
    let (busiest, all) = engine.busiest_channels(5);
    assert_eq!((busiest.len(), all), (channels.len().min(5), channels.len()));
    let busier = |one: &ChannelReport| busiest.iter().all(|it| it.utilisation >= one.utilisation);
    assert!(channels.iter().filter(|channel| !busiest.contains(channel)).all(busier));
    let (digest, end) = (engine.digest(), engine.now());
    let mut log = std::mem::take(engine.observer());
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    Run { log: (log.packets, log.messages), digest, counters, under_way, channels, deadlock, end }
}

#[test]
fn random_scenarios_are_the_same_on_any_number_of_threads() {
    for seed in 0..100 {
        let scenario = RandomScenario::random(seed);
        let one = run(&scenario, 1);
        assert!(!one.log.0.is_empty(), "seed {seed}");
        for threads in THREADS {
            let more = run(&scenario, threads);
            if let Some(difference) = one.difference(&more) {
                panic!("seed {seed}, {threads} threads: {difference}");
            }
        }
    }
}

fn same_on_all_threads(text: &str) {
    let document = Document::parse("threads.toml", text);
    let scenario = Scenario::read(&document).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let outcome = |threads| {
        let outcome =
            Simulation::new(&scenario).unwrap().on_threads(threads).run("", 0, &mut |_| {});
        (outcome.row, outcome.channels, outcome.deadlock, outcome.warnings, outcome.work.counters)
    };
    let one = outcome(1);
    assert!(one.4.packets_delivered > 100, "{text}");
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
        "[routing.outflank]",
        "[routing.angara]\nalgorithm = \"sssp\"",
    ];
    for routing in routings {
        for (load, more) in [(0.3, ""), (0.9, "process = \"periodic\"")] {
            same_on_all_threads(&format!(
                "[topology.torus]\ndimensions = [4, 3, 5]\n{routing}\n[traffic]\npattern = \"uniform\"\n\
                 load = {load}\n{more}\n[measure]\nwindow = \"5 us\"\nminimum_windows = 6\n\
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
             {more}\n[measure]\nwindow = \"8 us\"\nminimum_windows = 6\nmaximum_windows = 6\n"
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

#[test]
fn parts_keep_the_progress_of_their_own_terminals_only() {
    let fabric = RandomScenario::random(1).fabric;
    let nodes = fabric.terminals();
    let spec = ExchangeSpec {
        pattern: PatternSpec::AllToAll,
        message: Bytes(64),
        access: Access::Write,
        between: Between::Exchange,
        rounds: 1,
    };
    let pattern = Pattern::new(&spec.pattern, &fabric, 1).unwrap();
    let whole = Workload::Exchange(Exchange::new(&spec, pattern, &fabric));
    let parts = whole.clone().split(&[0..1, 1..1, 1..nodes / 2, nodes / 2..nodes]);
    let sizes: Vec<usize> = parts.iter().map(Workload::memory).collect();
    assert_eq!(sizes.iter().sum::<usize>(), whole.memory());
    assert!(sizes[1] == 0 && sizes[0] * nodes as usize == whole.memory(), "{sizes:?}");
}
