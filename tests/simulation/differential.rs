//! The large differential runs: random small scenarios over all routings, kinds of switching,
//! arbitrations, packet sizes, requests and responses, failed cables and cables of several classes,
//! each simulated by a reference engine and by the fast engine on 1, 2, 3 and 7 threads, with every
//! assertion on. Links are granted to whole packets, by routers with buffers at inputs or at outputs
//! too, or shared flit by flit.
//!
//!     cargo test --test simulation -- --ignored --nocapture differential
//!     FLITLAB_SCENARIOS=100000 FLITLAB_FIRST=50000 cargo test --test simulation -- --ignored --nocapture differential

use std::collections::BTreeSet;
use std::env;

use flitlab::engine::{Arbitration, Parameters, run_script};
use flitlab::routing::Routes;
use flitlab::traffic::Script;
use flitlab_random::differential::{
    CIOQ_FEATURES, FLIT_FEATURES, MIXED_SIZES, PACKET_FEATURES, agree, agree_in, features,
    has_dateline, packet_scenario, packet_scenario_with_collectives, run_flits, simulate_flits,
};
use flitlab_random::random_cioq_scenario::cioq_scenario;
use flitlab_random::random_flit_scenario::{
    LAST_FLITS, flit_scenario, flit_scenario_by_table, flit_scenario_of_any_links,
    flit_scenario_with_collectives,
};
use flitlab_random::random_scenario::Scenario;
use rayon::prelude::*;

/// Compares the engines in as many scenarios as asked for, each feature of which has to occur.
fn agree_in_many(scenario: impl Fn(u64) -> Scenario + Sync, all_features: usize) {
    let number = |name, default| {
        env::var(name).map_or(default, |text| text.parse().expect("a whole number"))
    };
    let (first, count) = (number("FLITLAB_FIRST", 0), number("FLITLAB_SCENARIOS", 3_000));
    let tally = agree_in(first, count, scenario);
    println!("{count} scenarios from seed {first} on, {} packets: no difference", tally.packets);
    for (feature, count) in &tally.features {
        println!("{count:>8} {feature}");
    }
    assert!(tally.features.len() == all_features || count < 1_000, "{tally:?}");
    assert!(tally.features.values().all(|&with| with > count / 300), "{tally:?}");
}

/// Packets of one to nine flits on a ring of three nodes with the bubble rule, buffers of 37 flits:
/// small packets have split the room of the bubble (docs/model.md, "What the bubble promises").
#[test]
fn both_engines_come_to_the_same_deadlock_of_mixed_packet_sizes() {
    let scenario = packet_scenario(MIXED_SIZES);
    assert!(scenario.parameters.bubble && scenario.parameters.buffer == 37);
    let script = Script::new(scenario.messages.clone());
    let Scenario { fabric, routes, parameters, .. } = &scenario;
    assert!(
        run_script(fabric, routes, parameters, script).is_err(),
        "this seed is another scenario"
    );
    agree(MIXED_SIZES, &scenario);
}

/// Packets on several virtual channels wait at one injection channel for credits, some of which are
/// not known when the terminal goes ahead of its router: a later one must not go first.
#[test]
fn no_packet_goes_ahead_of_one_on_another_virtual_channel_that_may_come_first() {
    const SEED: u64 = 950_699;
    let scenario = packet_scenario(SEED);
    let Parameters { injection_channels, injection_buffer, .. } = scenario.parameters;
    assert_eq!((injection_channels, injection_buffer), (1, 5), "this seed is another scenario");
    agree(SEED, &scenario);
}

/// Adapters that hold one to three responses keep requests in the network, where responses on the
/// same channel wait behind them.
#[test]
fn the_engines_agree_where_adapters_hold_few_responses() {
    let of_channels = |classes| {
        let stuck = (0..80).into_par_iter().map(|seed| {
            let scenario = Scenario::ruled(seed).with_remote_operations(seed);
            let mut scenario = scenario.with_responder_resources(seed);
            scenario.parameters.message_classes = classes;
            let packets = scenario.messages.iter().map(|message| {
                let (there, back) = scenario.packets_of(message);
                there.len() + back.len()
            });
            let packets: usize = packets.sum();
            usize::from(agree(seed, &scenario) < packets)
        });
        stuck.sum::<usize>()
    };
    let one = of_channels(1);
    assert_eq!(of_channels(2), 0, "deadlocks in spite of a channel for responses");
    assert!(one > 3, "{one} deadlocks on one channel");
}

/// Operations of the collective subnetwork beside other traffic, on links that are sound and on links
/// that err.
#[test]
fn both_engines_agree_on_collective_operations() {
    let with = (0..120).into_par_iter().map(|seed| {
        let adaptive = Scenario::adaptive(seed).filter(|_| seed % 4 == 3);
        let scenario = adaptive.unwrap_or_else(|| Scenario::ruled(seed));
        let scenario = scenario.with_cables_at_times(seed).with_collectives(seed);
        let scenario = if seed % 3 == 0 { scenario } else { scenario.with_errors(seed) };
        agree(seed, &scenario);
        usize::from(scenario.collective.is_some())
    });
    let with: usize = with.sum();
    assert!(with > 80, "{with} scenarios with operations");
}

/// A buffer from which operands were taken, or copies sent, counted among those that an input port
/// sent from, if the crossbar was faster than a channel.
#[test]
fn packets_of_collective_operations_take_none_of_a_ports_speed_up() {
    for seed in [53, 57, 115] {
        let scenario = Scenario::ruled(seed).with_cables_at_times(seed).with_collectives(seed);
        assert!(scenario.parameters.crossbar_speedup > 1 && scenario.collective.is_some());
        agree(seed, &scenario);
    }
}

/// Where a result turned and left before one that was to leave upwards first, but took longer to be
/// gone, the place of that one was kept until both were gone.
#[test]
fn a_place_among_open_operations_is_free_when_the_results_before_it_are_gone() {
    for seed in [2_224, 3_052] {
        let scenario = Scenario::ruled(seed).with_cables_at_times(seed).with_collectives(seed);
        assert!(scenario.collective.is_some(), "this seed is another scenario");
        agree(seed, &scenario);
    }
}

#[test]
#[ignore = "long: minutes; 3,000 scenarios (FLITLAB_SCENARIOS) on both engines and four numbers of threads"]
fn both_engines_agree_on_any_number_of_threads_in_many_random_scenarios() {
    agree_in_many(packet_scenario_with_collectives, PACKET_FEATURES);
}

/// On a ring without the bubble rule all packets deadlock before any is delivered, while flits are
/// under way to buffers that they never leave: nothing is due when they arrive.
#[test]
fn a_deadlock_is_found_though_the_last_flits_arrive_after_all_that_was_due() {
    const SEED: u64 = LAST_FLITS;
    let scenario = flit_scenario(SEED);
    assert!(!scenario.parameters.bubble && scenario.parameters.buffer == 1);
    assert!(run_flits(&scenario).2, "this seed is another scenario");
    agree(SEED, &scenario);
}

/// A packet that is injected has room for itself by one hop, but not for the bubble besides, and
/// room for both by a fallback, which it may not take then: it waits for the first.
#[test]
fn a_fallback_does_not_save_a_packet_that_the_injection_bubble_keeps_from_another_hop() {
    const SEED: u64 = 400_261;
    let scenario = packet_scenario(SEED);
    let Routes::Relation(routes) = &scenario.routes else { panic!("another scenario") };
    assert!(routes.injection_bubble > 0);
    agree(SEED, &scenario);
}

/// A copy of a result had the source, the number and the time of creation of a packet of its root
/// that asked for the same output.
#[test]
fn of_two_packets_of_one_age_the_first_queue_sends() {
    const SEED: u64 = 5_340;
    let scenario = flit_scenario_with_collectives(SEED);
    assert_eq!(scenario.parameters.arbitration, Arbitration::OldestFirst);
    assert!(scenario.collective.is_some(), "this seed is another scenario");
    agree(SEED, &scenario);
}

/// With atomic allocation an escape waits for the whole buffer. Room for the packet alone passed for
/// enough, so no deadlock was found.
#[test]
fn a_deadlock_is_found_where_escapes_wait_for_whole_buffers() {
    for seed in [1_750, 4_790] {
        let scenario = flit_scenario(seed);
        let sharing = scenario.parameters.kind.sharing().expect("they are shared");
        assert!(sharing.atomic && run_flits(&scenario).2, "this seed is another scenario");
        agree(seed, &scenario);
    }
}

/// On cables of two rates packets that stay on the way of an escape table have no choice left: the
/// time after which they request again is that of their output's cable, not of the slowest.
#[test]
fn a_packet_on_the_escape_table_requests_again_at_the_pace_of_its_output() {
    const SEED: u64 = 102_050;
    let scenario = flit_scenario(SEED);
    let Routes::Adaptive(adaptive) = &scenario.routes else { panic!("another scenario") };
    assert!(adaptive.has_table() && scenario.fabric.cable_classes().len() == 2);
    agree(SEED, &scenario);
}

#[test]
fn the_reference_engine_delivers_everything_or_comes_to_a_deadlock_that_the_rules_allow() {
    let (mut seen, mut stuck) = (BTreeSet::new(), 0);
    for seed in 0..120 {
        let scenario = flit_scenario_of_any_links(seed);
        let scenario = if seed % 2 == 0 { scenario.with_collectives(seed) } else { scenario };
        seen.extend(features(&scenario));
        let (log, _, is_stuck) = run_flits(&scenario);
        if is_stuck {
            let parameters = &scenario.parameters;
            // Random relations and paths close cycles.
            let by_table = matches!(scenario.routes, Routes::Forwarding(_));
            let keeps_free = parameters.bubble || by_table || has_dateline(&scenario.routes);
            assert!(!keeps_free, "seed {seed}: {parameters:?}");
            stuck += 1;
        } else {
            let of_operations = log.messages.iter().filter(|message| message.class > 0);
            let has_classes = scenario.messages.iter().any(|message| message.class > 0);
            let of_operations = if has_classes { 0 } else { of_operations.count() };
            assert_eq!(of_operations > 0, scenario.collective.is_some(), "seed {seed}");
            let messages = log.messages.len() - of_operations;
            assert_eq!(messages, scenario.messages.len(), "seed {seed}");
        }
    }
    assert_eq!(seen.len(), FLIT_FEATURES, "{seen:?}");
    assert!(stuck < 18, "{stuck} deadlocks");
}

#[test]
fn instants_that_are_left_out_would_change_nothing() {
    for seed in 0..24 {
        let scenario = flit_scenario_of_any_links(seed);
        let scenario = if seed % 3 == 0 { scenario.with_collectives(seed) } else { scenario };
        let [some, all] = [false, true].map(|every_tick| {
            let ended = simulate_flits(&scenario, every_tick);
            (ended.log, ended.own.digest, ended.stuck.is_some())
        });
        assert_eq!(some, all, "seed {seed}");
    }
}

#[test]
fn the_engines_agree_flit_by_flit() {
    (0..40).into_par_iter().for_each(|seed| {
        agree(seed, &flit_scenario(seed));
    });
}

/// Operations of the collective subnetwork beside other traffic, on links that are sound and on links
/// that err.
#[test]
fn the_engines_agree_flit_by_flit_on_collective_operations() {
    let with = (0..240).into_par_iter().map(|seed| {
        let scenario = flit_scenario(seed);
        let scenario = if seed % 3 == 0 { scenario.with_errors_of_flits(seed) } else { scenario };
        let scenario = scenario.with_collectives(seed);
        if scenario.collective.is_some() {
            agree(seed, &scenario);
        }
        usize::from(scenario.collective.is_some())
    });
    let with: usize = with.sum();
    assert!(with > 40, "{with} scenarios with operations");
}

/// Flits are numbered, acknowledged and sent again, in any way.
#[test]
fn the_engines_agree_flit_by_flit_on_links_that_err() {
    (0..90).into_par_iter().for_each(|seed| {
        agree(seed, &flit_scenario(seed).with_errors_of_flits(seed));
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
#[ignore = "long: minutes; 3,000 scenarios (FLITLAB_SCENARIOS)"]
fn the_engines_agree_flit_by_flit_in_many_random_scenarios() {
    agree_in_many(flit_scenario_with_collectives, FLIT_FEATURES);
}

#[test]
#[ignore = "long: minutes; 3,000 scenarios (FLITLAB_SCENARIOS)"]
fn the_engines_agree_on_buffers_at_outputs_in_many_random_scenarios() {
    agree_in_many(cioq_scenario, CIOQ_FEATURES);
}
