//! Differential runs where links are shared flit by flit: random small scenarios over all routings, kinds of switching and
//! arbitrations, each simulated by the plain reference engine and by the fast engine on 1, 2, 3 and 7 threads.
//!
//!     cargo test --test main -- --ignored --nocapture differential_flits
//!     FLITLAB_SCENARIOS=100000 FLITLAB_FIRST=50000 cargo test --test main -- --ignored --nocapture differential_flits

use std::collections::{BTreeMap, BTreeSet};
use std::env;

use flitlab::engine::{
    Arbitration, ChannelKind, Digest, Engine, Log, STALLS, Switching, run_script,
};
use flitlab::routing::Routes;
use flitlab::traffic::{MessageKind, Script, Workload};
use flitlab::units::Picoseconds;
use rayon::prelude::*;

use crate::common::agreement::assert_agreement;
use crate::common::random_flit_scenario::{flit_scenario, flit_scenario_by_table};
use crate::common::random_scenario::Scenario;
use crate::reference_flits;
use crate::threads::{STOPS, compare};

/// What the reference engine makes of a scenario: the log, the digest, whether it ended in a deadlock.
fn run_reference(scenario: &Scenario) -> (Log, Digest, bool) {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    match reference_flits::run(fabric, routes, parameters, messages) {
        Ok((log, digest)) => (log, digest, false),
        Err(deadlock) => (deadlock.log, deadlock.digest, true),
    }
}

fn has_dateline(routes: &Routes) -> bool {
    matches!(routes, Routes::DirectionOrder(order) if order.rules().dateline)
}

/// Which of the model's rules a scenario has to do with.
fn features(scenario: &Scenario) -> Vec<&'static str> {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let sharing = parameters.sharing.as_ref().expect("it was drawn so");
    let by_priority = parameters.arbitration == Arbitration::Weighted
        && sharing.high_priority.iter().any(|&weight| weight > 0);
    let reads = messages.iter().any(|message| message.kind != MessageKind::Data);
    let routing = match routes {
        Routes::DirectionOrder(_) => "direction order",
        Routes::Table(_) => "route table",
        Routes::Adaptive(_) => "adaptive",
        Routes::Forwarding(_) => "forwarding table",
        Routes::Relation(_) => "relation",
        Routes::Paths(_) => "paths",
    };
    let switching = match parameters.switching {
        Switching::VirtualCutThrough => "virtual cut-through",
        Switching::StoreAndForward => "store-and-forward",
        Switching::Wormhole => "wormhole",
    };
    let arbitration = match parameters.arbitration {
        Arbitration::RoundRobin => "round-robin",
        Arbitration::TransitFirst => "transit-first",
        Arbitration::Random => "random",
        Arbitration::OldestFirst => "oldest-first",
        Arbitration::Weighted => "weighted",
    };
    let some = [
        (fabric.cable_classes().len() > 1, "cables of several classes"),
        (parameters.crossbar_speedup > 1, "crossbar speed-up"),
        (sharing.output_buffer > 0, "buffers behind the crossbar"),
        (sharing.iterations > 1, "several iterations"),
        (sharing.routing_at_head, "routing at the head"),
        (sharing.virtual_output_queues, "virtual output queues"),
        (
            sharing.virtual_channel_allocation > Picoseconds::ZERO,
            "latency of virtual channels' allocation",
        ),
        (sharing.switch_allocation > Picoseconds::ZERO, "latency of the switch's allocation"),
        (parameters.injection_channels > 1, "several injection channels"),
        (parameters.ejection_channels > 1, "several ejection channels"),
        (parameters.bubble, "bubble"),
        (has_dateline(routes), "dateline"),
        (parameters.virtual_channels == 1, "one virtual channel"),
        (parameters.buffer < parameters.maximum_packet(), "buffers smaller than packets"),
        (sharing.stall_times, "stall times"),
        (by_priority, "high priority"),
        (reads, "reads"),
        (messages.iter().any(|it| it.kind == MessageKind::Put), "puts"),
        (
            messages.iter().any(|it| matches!(it.kind, MessageKind::Atomic { .. })),
            "atomic operations",
        ),
    ];
    let some = some.into_iter().filter_map(|(it, name)| it.then_some(name));
    some.chain([routing, switching, arbitration]).collect()
}

/// All features that [`features`] can name.
const FEATURES: usize = 19 + 6 + 3 + 5;

/// Compares both engines in a scenario, one that ends in a deadlock too; how many packets were delivered.
pub fn agree(seed: u64, scenario: &Scenario) -> usize {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let (reference, digest, stuck) = run_reference(scenario);
    let script = Script::new(messages.clone());
    if let Ok((log, fast)) = run_script(fabric, routes, parameters, script.clone()) {
        assert_agreement(scenario, &reference, &log);
        assert_eq!(fast, digest, "seed {seed}: flits that delay no packet");
    }
    let run = compare(&format!("seed {seed}"), scenario, &Workload::Script(script), &STOPS);
    assert_eq!(run.deadlock.is_some(), stuck, "seed {seed}");
    let fast = Log { packets: run.log.0, messages: run.log.1 };
    assert_agreement(scenario, &reference, &fast);
    if parameters.sharing.as_ref().is_some_and(|sharing| sharing.stall_times) && !stuck {
        agree_on_stalls(seed, scenario);
    }
    fast.packets.len()
}

/// Compares for how long packets waited for each channel, of which the fast engine counts a part anew.
fn agree_on_stalls(seed: u64, scenario: &Scenario) {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let reference = reference_flits::stalls(fabric, routes, parameters, messages);
    let workload = Workload::Script(Script::new(messages.clone()));
    let mut engine = Engine::new(2, fabric, routes, parameters, workload, Log::default());
    let mut fast = vec![[Picoseconds::ZERO; STALLS]; reference.as_ref().map_or(0, Vec::len)];
    for until in [STOPS[1], Picoseconds::NEVER] {
        engine.run_until(until);
        let channels = engine.channels();
        let outputs = channels.iter().filter(|channel| channel.kind != ChannelKind::Injection);
        for (sums, channel) in fast.iter_mut().zip(outputs) {
            let more = channel.statistics.stalled.expect("it was asked for");
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        engine.reset_channels();
    }
    let differing =
        (0..).zip(reference.iter().flatten().zip(&fast)).find(|(_, (one, other))| one != other);
    assert_eq!(differing, None, "seed {seed}: an output's stalls, {scenario:?}");
}

#[test]
fn the_reference_engine_delivers_everything_or_comes_to_a_deadlock_that_the_rules_allow() {
    let (mut seen, mut stuck) = (BTreeSet::new(), 0);
    for seed in 0..80 {
        let scenario = flit_scenario(seed);
        seen.extend(features(&scenario));
        let (log, _, is_stuck) = run_reference(&scenario);
        if is_stuck {
            let parameters = &scenario.parameters;
            // Random relations and paths close cycles.
            let by_table = matches!(scenario.routes, Routes::Forwarding(_));
            let keeps_free = parameters.bubble || by_table || has_dateline(&scenario.routes);
            assert!(!keeps_free, "seed {seed}: {parameters:?}");
            stuck += 1;
        } else {
            assert_eq!(log.messages.len(), scenario.messages.len(), "seed {seed}");
        }
    }
    assert_eq!(seen.len(), FEATURES, "{seen:?}");
    assert!(stuck < 12, "{stuck} deadlocks");
}

#[test]
fn instants_that_are_left_out_would_change_nothing() {
    for seed in 0..24 {
        let scenario = flit_scenario(seed);
        let Scenario { fabric, routes, parameters, messages } = &scenario;
        let (log, digest, stuck) = run_reference(&scenario);
        let every_tick = reference_flits::run_every_tick(fabric, routes, parameters, messages);
        let every_tick = match every_tick {
            Ok((log, digest)) => (log, digest, false),
            Err(deadlock) => (deadlock.log, deadlock.digest, true),
        };
        assert_eq!((log, digest, stuck), every_tick, "seed {seed}");
    }
}

#[test]
fn the_engines_agree_flit_by_flit() {
    (0..40).into_par_iter().for_each(|seed| {
        agree(seed, &flit_scenario(seed));
    });
}

#[test]
fn the_engines_agree_flit_by_flit_under_adaptive_routing_with_failures() {
    (0..25).into_par_iter().for_each(|seed| {
        let scenario = flit_scenario_by_table(seed);
        let packets = scenario.messages.iter().map(|message| {
            let (there, back) = scenario.packets_of(message);
            there.len() + back.len()
        });
        assert_eq!(agree(seed, &scenario), packets.sum::<usize>(), "seed {seed}: a deadlock");
    });
}

#[test]
#[ignore = "long; 10,000 scenarios (FLITLAB_SCENARIOS)"]
fn the_engines_agree_flit_by_flit_in_many_random_scenarios() {
    let number = |name, default| {
        env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (first, count): (u64, u64) =
        (number("FLITLAB_FIRST", 0), number("FLITLAB_SCENARIOS", 10_000));
    let one = |seed| {
        let scenario = flit_scenario(seed);
        let packets = agree(seed, &scenario);
        let counts: BTreeMap<_, u64> =
            features(&scenario).into_iter().map(|feature| (feature, 1)).collect();
        (counts, packets)
    };
    let add = |(mut one, packets): (BTreeMap<_, _>, usize), (other, more)| {
        for (feature, count) in other {
            *one.entry(feature).or_insert(0) += count;
        }
        (one, packets + more)
    };
    let scenarios = (first..first + count).into_par_iter();
    let (features, packets) = scenarios.map(one).reduce(Default::default, add);
    println!("{count} scenarios from seed {first} on, {packets} packets: no difference");
    for (feature, count) in &features {
        println!("{count:>8} {feature}");
    }
    assert!(features.len() == FEATURES || count < 1_000, "{features:?}");
    assert!(features.values().all(|&with| with > count / 200), "{features:?}");
}
