//! The large differential run: random small scenarios over all routings, switching modes, arbitrations, packet
//! sizes, requests and responses, forwarding tables and failed cables, each simulated by the reference engine
//! and by the fast engine on 1, 2, 3 and 7 threads, with every assertion on.
//!
//!     cargo test --test main -- --ignored --nocapture differential
//!     FLITLAB_SCENARIOS=100000 FLITLAB_FIRST=50000 cargo test --test main -- --ignored --nocapture differential

use std::collections::BTreeMap;
use std::env;

use flitlab::engine::{Arbitration, Log, Switching, run_script};
use flitlab::routing::{DirectionRules, HalfRing, Routes};
use flitlab::topology::Faults;
use flitlab::traffic::{MessageKind, Script, Workload};
use rayon::prelude::*;

use crate::common::agreement::{assert_agreement, assert_equal_counts};
use crate::common::random_scenario::Scenario;
use crate::reference;
use crate::threads::{STOPS, compare};

/// The seed of a scenario in which packets of mixed sizes deadlock in spite of the bubble.
const MIXED_SIZES: u64 = 313_309;

/// Of six one has links that err. Of eight three direction order and route tables, two each adaptive routing and forwarding tables, one relations and
/// paths.
pub fn scenario(seed: u64) -> Scenario {
    let scenario = match seed % 4 {
        2 => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::ruled(seed)),
        3 => Scenario::forwarding(seed),
        // A seed that names a deadlock keeps it, whatever has come to the rules since.
        _ if seed == MIXED_SIZES => {
            let mut scenario = Scenario::random(seed);
            scenario.parameters.arbitration = Arbitration::RoundRobin;
            return scenario;
        }
        1 if seed % 8 == 5 => Scenario::choosing(seed),
        _ => Scenario::ruled(seed),
    };
    let scenario = scenario.with_cables_at_times(seed).with_errors_at_times(seed);
    if seed % 3 == 1 && seed != MIXED_SIZES {
        scenario.with_remote_operations(seed)
    } else {
        scenario
    }
}

/// Which of the model's rules a scenario has to do with.
fn features(scenario: &Scenario) -> Vec<&'static str> {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let sizes = messages.iter().map(|message| message.bytes % parameters.maximum_payload.0.max(1));
    let reads = messages.iter().any(|message| message.kind != MessageKind::Data);
    let routing = match routes {
        Routes::DirectionOrder(_) => "direction order",
        Routes::Table(_) => "route table",
        Routes::Adaptive(_) => "adaptive",
        Routes::Forwarding(_) => "forwarding table",
        Routes::Relation(_) => "relation",
        Routes::Paths(_) => "paths",
    };
    let failed = fabric.torus().is_some_and(|torus| {
        let whole = torus.fabric(&Faults::default()).expect("it was made before");
        whole.channels() > fabric.channels()
    });
    let rules = match routes {
        Routes::DirectionOrder(order) => Some(order.rules()),
        _ => None,
    };
    let ruled = |holds: fn(&DirectionRules) -> bool| rules.is_some_and(holds);
    let some = [
        (ruled(|rules| !rules.order.is_empty()), "another order of directions"),
        (ruled(|rules| rules.half_ring == HalfRing::Random), "half rings by chance"),
        (ruled(|rules| rules.dateline), "dateline"),
        (parameters.switching == Switching::StoreAndForward, "store-and-forward"),
        (parameters.crossbar_speedup > 1, "crossbar speed-up"),
        (parameters.injection_channels > 1, "several injection channels"),
        (parameters.ejection_channels > 1, "several ejection channels"),
        (parameters.bubble, "bubble"),
        (parameters.errors.is_some(), "links that err"),
        (fabric.cable_classes().len() > 1, "cables of several classes"),
        (reads, "reads"),
        (!reads, "no reads"),
        (messages.iter().any(|it| it.kind == MessageKind::Put), "puts"),
        (
            messages.iter().any(|it| matches!(it.kind, MessageKind::Atomic { .. })),
            "atomic operations",
        ),
        (sizes.clone().any(|rest| rest > 0), "mixed packet sizes"),
        (parameters.virtual_channels > 5, "more than five lanes"),
        (failed, "failed cables"),
    ];
    let some = some.into_iter().filter_map(|(it, name)| it.then_some(name));
    some.chain([routing]).collect()
}

/// Compares both engines in a scenario, one that ends in a deadlock too; how many packets were delivered.
pub fn agree(seed: u64, scenario: &Scenario) -> usize {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let (reference, links) = match reference::run_counting(fabric, routes, parameters, messages) {
        Ok((log, counts, flits)) => (log, Some((counts, flits))),
        Err(deadlock) => (deadlock.log, None),
    };
    let stuck = links.is_none();
    let workload = Workload::Script(Script::new(messages.clone()));
    let run = compare(&format!("seed {seed}"), scenario, &workload, &STOPS);
    if stuck {
        println!("seed {seed} ends in a deadlock");
    }
    assert_eq!(run.deadlock.is_some(), stuck, "seed {seed}");
    let fast = Log { packets: run.log.0, messages: run.log.1 };
    assert_agreement(scenario, &reference, &fast);
    if let (Some((counts, flits)), Some(_)) = (links, &parameters.errors) {
        assert_equal_counts(scenario, counts, &flits);
    }
    fast.packets.len()
}

/// Compares both engines in `count` scenarios from seed `first` on; in how many each feature occurred, and how
/// many packets there were.
fn run(first: u64, count: u64) -> (BTreeMap<&'static str, u64>, usize) {
    let one = |seed: u64| {
        let scenario = scenario(seed);
        let packets = agree(seed, &scenario);
        let counts: BTreeMap<_, _> =
            features(&scenario).into_iter().map(|feature| (feature, 1)).collect();
        (counts, packets)
    };
    let add = |(mut one, packets): (BTreeMap<_, _>, usize), (other, more)| {
        for (feature, count) in other {
            *one.entry(feature).or_insert(0) += count;
        }
        (one, packets + more)
    };
    (first..first + count).into_par_iter().map(one).reduce(Default::default, add)
}

/// Packets of one to nine flits on a ring of three nodes with the bubble rule, buffers of 37 flits: small packets have split
/// the room of the bubble (docs/model.md, "What the bubble promises").
#[test]
fn both_engines_come_to_the_same_deadlock_of_mixed_packet_sizes() {
    let scenario = scenario(MIXED_SIZES);
    assert!(scenario.parameters.bubble && scenario.parameters.buffer == 37);
    let script = Script::new(scenario.messages.clone());
    let Scenario { fabric, routes, parameters, .. } = &scenario;
    assert!(
        run_script(fabric, routes, parameters, script).is_err(),
        "this seed is another scenario"
    );
    agree(MIXED_SIZES, &scenario);
}

#[test]
#[ignore = "long: 20 minutes; 10,000 scenarios (FLITLAB_SCENARIOS) on both engines and four numbers of threads"]
fn both_engines_agree_on_any_number_of_threads_in_many_random_scenarios() {
    let number = |name, default| {
        env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (first, count) = (number("FLITLAB_FIRST", 0), number("FLITLAB_SCENARIOS", 10_000));
    let (features, packets) = run(first, count);
    println!("{count} scenarios from seed {first} on, {packets} packets: no difference");
    for (feature, count) in &features {
        println!("{count:>8} {feature}");
    }
    assert!(features.len() == 23 || count < 1_000, "{features:?}");
    assert!(features.values().all(|&with| with > count / 200), "{features:?}");
}
