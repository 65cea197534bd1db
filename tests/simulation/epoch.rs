//! Simulated time has no beginning and, below 2^63 ps, no end.

use flitlab::engine::{Arbitration, ChannelReport, Engine, Log, Parameters, RouterKind};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Faults, Torus};
use flitlab::traffic::{
    Access, LoadSpec, Message, OfferedLoad, OpenLoad, PatternSpec, Process, Script,
};
use flitlab::units::{Bytes, Picoseconds};

use flitlab_random::random_flit_scenario::flit_scenario;
use flitlab_random::random_scenario::Scenario;

/// One whose links are shared flit by flit, with stall times.
fn shared(seed: u64) -> Scenario {
    let mut scenario = flit_scenario(seed);
    let RouterKind::SharedLinks(sharing) = &mut scenario.parameters.kind else {
        panic!("links are shared")
    };
    sharing.stall_times = true;
    scenario
}

/// Ticks count from an epoch that moves on every two milliseconds, and further over idle times.
#[test]
fn what_happens_does_not_depend_on_when() {
    const EPOCH: Picoseconds = Picoseconds(1 << 31);
    let log = |scenario: &Scenario, offset: Picoseconds, threads: usize| {
        let Scenario { fabric, routes, parameters, messages, .. } = scenario;
        let later = messages.iter().map(|it| Message { time: it.time + offset, ..*it });
        let workload = Box::new(Script::new(later.collect()));
        let log = Log::default();
        let mut engine = Engine::new(threads, fabric, routes, parameters, workload, log);
        engine.run_until(Picoseconds::NEVER);
        let mut log = std::mem::take(engine.observer());
        for packet in &mut log.packets {
            packet.created -= offset;
            packet.injected -= offset;
            packet.delivered -= offset;
        }
        for message in &mut log.messages {
            message.created -= offset;
            message.completed -= offset;
        }
        log.packets.sort_unstable();
        log.messages.sort_unstable();
        (log, engine.channels(), engine.now() - offset)
    };
    for seed in 0..24 {
        let mut scenario = match seed % 4 {
            0 => Scenario::random(seed),
            1 => Scenario::forwarding(seed),
            2 => shared(seed),
            _ => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::random(seed)),
        };
        // What is drawn at random is drawn for an instant, so it does depend on when.
        if scenario.parameters.arbitration == Arbitration::Random {
            scenario.parameters.arbitration = Arbitration::RoundRobin;
        }
        let (expected, channels, end) = log(&scenario, Picoseconds::ZERO, 1);
        assert!(!expected.packets.is_empty());
        let stalled = |channels: &[ChannelReport]| -> Vec<_> {
            channels.iter().map(|channel| channel.statistics.clone()).collect()
        };
        for offset in [
            EPOCH - end / 2,
            EPOCH,
            2 * EPOCH - Picoseconds(1),
            Picoseconds(10_000_000_000_000),
            Picoseconds(1 << 62),
        ] {
            let (found, later, then) = log(&scenario, offset, 1 + seed as usize / 4 % 2);
            assert!(found == expected, "seed {seed}, {offset} ps later");
            assert_eq!(stalled(&later), stalled(&channels), "seed {seed}, {offset} ps later");
            assert_eq!(then, end);
        }
    }
}

/// What a network of 16 nodes does in a second of its own, at a load that leaves it idle nearly
/// always: times that 32 bits, and those that 40, don't hold.
#[test]
#[ignore = "long: ten seconds; a simulated second of a 4x4 torus"]
fn a_second_is_simulated_on_one_thread_and_on_two() {
    const SECOND: Picoseconds = Picoseconds(1_000_000_000_000);
    let fabric = Torus::new(&[4, 4], &[]).unwrap().fabric(&Faults::default()).unwrap();
    let order = DirectionOrder::new(&fabric, HalfRing::Balanced).unwrap();
    let routes = Routes::DirectionOrder(order);
    let parameters = Parameters::default();
    let spec = LoadSpec {
        pattern: PatternSpec::new("uniform", ""),
        load: OfferedLoad::Fraction(0.001),
        message: Bytes(256).into(),
        access: Access::Write,
        process: Process::Bernoulli,
    };
    let run = |threads: usize, limits: &[Picoseconds]| {
        let flits = |bytes| parameters.message_flits(bytes);
        let load = OpenLoad::new(&spec, &fabric, parameters.link_flit_time(), flits, 1).unwrap();
        let workload = Box::new(load);
        let mut engine = Engine::new(threads, &fabric, &routes, &parameters, workload, ());
        for &limit in limits {
            assert!(engine.run_until(limit), "the load goes on for ever");
            assert_eq!(engine.now(), limit);
        }
        assert!(engine.credits_are_conserved());
        (engine.digest(), engine.counters())
    };
    let (digest, counters) = run(1, &[SECOND]);
    let slots = SECOND.0 as f64 / parameters.link_flit_time().0 as f64;
    let offered = 0.001 * fabric.capacity() * 16.0 * slots;
    let created = counters.flits_created as f64;
    assert!((created / offered - 1.0).abs() < 0.02, "{created} flits of {offered} were created");
    assert!(counters.packets_delivered > 400_000, "{counters:?}");
    assert!(counters.flits_under_way() < 200, "{counters:?}");
    let pieces: Vec<Picoseconds> = (1..=10).map(|piece| SECOND / 10 * piece).collect();
    assert_eq!(run(2, &pieces), (digest, counters));
}
