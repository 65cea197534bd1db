//! Runs on one thread compared with runs on several.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{
    ChannelReport, CompletedMessage, Counters, Deadlock, DeliveredPacket, Digest, Engine, Log,
};
use flitlab_traffic::Workload;

use crate::random_scenario::Scenario;

/// Numbers of threads that a run on one thread is compared with.
pub const THREADS: [usize; 3] = [2, 3, 7];

/// All that can be known of a run.
#[derive(Debug, PartialEq)]
pub struct Run {
    pub log: (Vec<DeliveredPacket>, Vec<CompletedMessage>),
    pub digest: Digest,
    /// At each stop, and at the end.
    pub counters: Vec<Counters>,
    under_way: Vec<(usize, u64)>,
    channels: Vec<ChannelReport>,
    pub deadlock: Option<Deadlock>,
    pub end: Picoseconds,
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

/// Between which a run stops and is looked at.
pub const STOPS: [Picoseconds; 5] =
    [Picoseconds(30), Picoseconds(120), Picoseconds(270), Picoseconds(480), Picoseconds(750)];

/// Runs a workload on a scenario's network; also whether several threads did it.
fn run(
    scenario: &Scenario,
    workload: &dyn Workload,
    stops: &[Picoseconds],
    threads: usize,
) -> (Run, bool) {
    let Scenario { fabric, routes, parameters, .. } = scenario;
    let (workload, log) = (workload.boxed_clone(), Log::default());
    let mut engine = Engine::new(threads, fabric, routes, parameters, workload, log);
    let (mut counters, mut under_way) = (Vec::new(), Vec::new());
    for (number, &stop) in (0..).zip(stops) {
        engine.run_until(stop);
        counters.push(engine.counters());
        under_way.push((engine.packets_under_way(), engine.messages_under_way()));
        assert!(engine.credits_are_conserved());
        if number == 1 {
            engine.reset_channels();
        }
    }
    engine.run_until(Picoseconds::NEVER);
    counters.push(engine.counters());
    let (channels, deadlock) = (engine.channels(), engine.find_deadlock());
    let (busiest, all) = engine.busiest_channels(5);
    assert_eq!((busiest.len(), all), (channels.len().min(5), channels.len()));
    let busier = |one: &ChannelReport| busiest.iter().all(|it| it.utilisation >= one.utilisation);
    assert!(channels.iter().filter(|channel| !busiest.contains(channel)).all(busier));
    let (digest, end) = (engine.digest(), engine.now());
    let mut log = std::mem::take(engine.observer());
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    let log = (log.packets, log.messages);
    let several = !engine.time_of_other_threads().is_zero();
    (Run { log, digest, counters, under_way, channels, deadlock, end }, several)
}

/// Runs a workload on one thread and compares runs on more.
pub fn compare(
    name: &str,
    scenario: &Scenario,
    workload: &dyn Workload,
    stops: &[Picoseconds],
) -> Run {
    let (one, _) = run(scenario, workload, stops, 1);
    for threads in THREADS {
        let (more, parts) = run(scenario, workload, stops, threads);
        if let Some(difference) = one.difference(&more) {
            panic!("{name}, {threads} threads: {difference}");
        }
        // A single router is no work for two.
        let can = scenario.fabric.routers() > 1;
        assert!(parts == can, "{name}: one thread instead of {threads}");
    }
    one
}
