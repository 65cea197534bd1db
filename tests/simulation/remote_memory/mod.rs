//! Remote memory operations: at their targets the fast engine does what the plain ones do, and
//! processes and adapters begin them when a reckoning of its own says they do.

mod closed_forms;
mod reckoning;

use flitlab::engine::{DeliveredPacket, Engine, Log, Parameters, run_script};
use flitlab::routing::{DirectionOrder, HalfRing, Routes};
use flitlab::topology::{Fabric, Faults, Torus};
use flitlab::traffic::{Message, MessageKind, Script, Workload};
use flitlab::units::Picoseconds;
use rayon::prelude::*;

use flitlab_random::differential;
use flitlab_random::random_flit_scenario::{flit_scenario, flit_scenario_by_table};
use flitlab_random::random_scenario::Scenario;
use flitlab_reference::engine;
use flitlab_reference::flit_engine;

/// A torus in direction order.
fn torus(sizes: &[u32]) -> (Fabric, Routes) {
    let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
    let routes = Routes::DirectionOrder(DirectionOrder::new(&fabric, HalfRing::Plus).unwrap());
    (fabric, routes)
}

/// How many messages of each kind that is answered, reads left out.
fn count(scenario: &Scenario) -> [usize; 2] {
    let of =
        |is: fn(&MessageKind) -> bool| scenario.messages.iter().filter(|it| is(&it.kind)).count();
    [of(|kind| *kind == MessageKind::Put), of(|kind| matches!(kind, MessageKind::Atomic { .. }))]
}

#[test]
fn the_engines_agree_on_any_number_of_threads() {
    let agree = |seed: u64| {
        let scenario = match seed % 4 {
            0 => Scenario::forwarding(seed),
            1 => Scenario::choosing(seed),
            2 => Scenario::adaptive_by_table(seed),
            _ => Scenario::ruled(seed),
        };
        let scenario = scenario.with_remote_operations(seed);
        let counts = count(&scenario);
        differential::agree(seed, &scenario);
        counts
    };
    let add = |one: [usize; 2], other: [usize; 2]| [one[0] + other[0], one[1] + other[1]];
    let [puts, atomics] = (0..80).into_par_iter().map(agree).reduce(Default::default, add);
    assert!(puts > 500 && atomics > 1_000, "{puts} puts, {atomics} atomic operations");
}

#[test]
fn the_engines_agree_under_adaptive_routing_with_packets_of_one_size() {
    let scenarios = (0..60).filter_map(Scenario::adaptive);
    let scenarios: Vec<_> = (0..).zip(scenarios).collect();
    assert!(scenarios.len() > 25);
    scenarios.into_par_iter().for_each(|(seed, scenario)| {
        differential::agree(seed, &scenario.with_remote_operations(seed));
    });
}

#[test]
fn the_engines_agree_flit_by_flit() {
    (0..60u64).into_par_iter().for_each(|seed| {
        let scenario =
            if seed % 4 == 0 { flit_scenario_by_table(seed) } else { flit_scenario(seed) };
        let scenario = scenario.with_remote_operations(seed);
        let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
        let fast = run_script(fabric, routes, parameters, Script::new(messages.clone()));
        let plain = flit_engine::run(fabric, routes, parameters, messages);
        assert_eq!(fast.is_ok(), plain.is_ok(), "seed {seed}");
        if let (Ok((fast, digest)), Ok((plain, its))) = (fast, plain) {
            flitlab_random::agreement::assert_agreement(&scenario, &plain, &fast);
            assert_eq!(digest, its, "seed {seed}");
        }
    });
}

#[test]
fn ticks_that_the_reference_leaves_out_would_change_nothing() {
    for seed in 0..12 {
        let scenario = Scenario::forwarding(seed).with_remote_operations(seed);
        let Scenario { fabric, routes, parameters, messages, .. } = &scenario;
        let log = engine::run(fabric, routes, parameters, messages).unwrap();
        let all = engine::simulator(fabric, routes, parameters, messages, None).run(true);
        assert_eq!(log, all.log().unwrap(), "seed {seed}");
    }
}

/// Two requests that come at one instant through two ejection channels, from the two neighbours of
/// a node.
#[test]
fn operations_that_come_at_one_instant_are_performed_in_the_order_of_ejection_channels() {
    let (fabric, routes) = torus(&[5]);
    let parameters = Parameters { atomic_time: Picoseconds(77_000), ..Parameters::default() };
    // The second message of a terminal takes its second injection channel, and so the other
    // ejection channel.
    let message = |source, destination, kind| Message {
        time: Picoseconds(1_000_000),
        source,
        destination,
        bytes: 8,
        kind,
        tag: 0,
        class: 0,
    };
    let atomic = MessageKind::Atomic { request: 24 };
    for second in [1, 3] {
        let first = 4 - second;
        // Its first message goes elsewhere.
        let messages = [
            message(second, 0, MessageKind::Data),
            message(second, 2, atomic),
            message(first, 2, atomic),
        ];
        let script = Script::new(messages.to_vec());
        let (log, _) = run_script(&fabric, &routes, &parameters, script).unwrap();
        let of = |source: u32, destination: u32| -> DeliveredPacket {
            let find = |it: &&DeliveredPacket| (it.source, it.destination) == (source, destination);
            *log.packets.iter().find(find).unwrap()
        };
        let (one, other) = (of(first, 2), of(second, 2));
        assert_eq!(one.delivered, other.delivered);
        assert_eq!((one.injection_channel, other.injection_channel), (0, 1));
        let created = one.delivered + parameters.atomic_time + parameters.service_time;
        assert_eq!(of(2, first).created, created);
        assert_eq!(of(2, second).created, created + parameters.atomic_time);
        let plain = engine::run(&fabric, &routes, &parameters, &messages).unwrap();
        let sorted = |mut packets: Vec<DeliveredPacket>| {
            packets.sort_unstable();
            packets
        };
        assert_eq!(sorted(plain.packets), sorted(log.packets));
    }
}

/// What a workload gives on so many threads, in order.
fn run(
    (fabric, routes): (&Fabric, &Routes),
    parameters: &Parameters,
    workload: &dyn Workload,
    threads: usize,
) -> Log {
    let mut engine =
        Engine::new(threads, fabric, routes, parameters, workload.boxed_clone(), Log::default());
    while engine.run_until(engine.now() + Picoseconds(1_000_000_000)) {
        assert!(engine.credits_are_conserved());
    }
    assert!(engine.find_deadlock().is_none());
    let counters = engine.counters();
    assert_eq!(counters.flits_created, counters.flits_delivered);
    let mut log = std::mem::take(engine.observer());
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    log
}
