//! Links that err: what is sent arrives once and in order, when it should, and nothing depends on threads.

use flitlab::engine::{
    Acknowledgements, Bursts, Counters, Digest, Engine, LinkErrors, Log, Parameters, Resend, Retry,
};
use flitlab::traffic::{Script, Workload};
use flitlab::units::Picoseconds;

use crate::common::random_scenario::Scenario;

const RETRIES: [Retry; 2] = [Retry::Store, Retry::Stomp];
const RESENDS: [Resend; 2] = [Resend::GoBackN, Resend::Selective];
const ACKNOWLEDGEMENTS: [Acknowledgements; 2] = [Acknowledgements::Free, Acknowledgements::Flits];

/// All ways to send again, with nothing that errs.
fn ways() -> impl Iterator<Item = LinkErrors> {
    let all = RETRIES.into_iter().flat_map(|retry| RESENDS.map(|resend| (retry, resend)));
    all.flat_map(|(retry, resend)| ACKNOWLEDGEMENTS.map(|ack| (retry, resend, ack))).map(
        |(retry, resend, acknowledgements)| LinkErrors {
            retry,
            resend,
            acknowledgements,
            seed: 3,
            ..LinkErrors::default()
        },
    )
}

/// The same for links of these parameters: with a replay buffer of so many of the largest packets, and the shortest
/// time-out.
fn fitted(errors: LinkErrors, parameters: &Parameters, packets: u32) -> LinkErrors {
    LinkErrors {
        replay_buffer: packets * parameters.maximum_packet(),
        time_out: round_trip(parameters),
        ..errors
    }
}

/// From a packet's end until its acknowledgement is there if it waits for a packet of the largest size.
fn round_trip(parameters: &Parameters) -> Picoseconds {
    let flit = parameters.link_flit_time();
    2 * parameters.link_latency
        + parameters.crossbar_latency
        + flit * u64::from(parameters.maximum_packet())
}

/// What a run gives.
#[derive(Debug, PartialEq)]
struct Run {
    log: Log,
    digest: Digest,
    counters: Counters,
}

fn run(scenario: &Scenario, errors: Option<LinkErrors>, threads: usize) -> Run {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let parameters = Parameters { errors, ..parameters.clone() };
    let workload = Workload::Script(Script::new(messages.clone()));
    let log = Log::default();
    let mut engine = Engine::on_threads(threads, fabric, routes, &parameters, workload, log);
    assert!(!engine.run_until(Picoseconds::MAX), "everything ends");
    assert!(engine.credits_are_conserved());
    if let Some(deadlock) = engine.find_deadlock() {
        panic!("{deadlock}");
    }
    assert_eq!((engine.packets_under_way(), engine.messages_under_way()), (0, 0));
    let mut log = std::mem::take(engine.observer());
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    Run { log, digest: engine.digest(), counters: engine.counters() }
}

/// Scenarios of several kinds of routing, each with links that are granted to whole packets.
fn scenarios(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Scenario)> {
    seeds.filter_map(|seed| {
        let scenario = match seed % 4 {
            0 => Scenario::random(seed),
            1 => Scenario::forwarding(seed),
            2 => Scenario::adaptive(seed)?,
            _ => Scenario::choosing(seed),
        };
        (scenario.parameters.sharing.is_none()).then_some((seed, scenario))
    })
}

/// That two logs have the same packets, whenever they come.
fn same_packets(log: &Log, other: &Log) {
    let names = |log: &Log| -> Vec<_> {
        log.packets.iter().map(|it| (it.source, it.destination, it.payload)).collect()
    };
    let (mut one, mut two) = (names(log), names(other));
    one.sort_unstable();
    two.sort_unstable();
    assert_eq!(one, two);
}

#[test]
fn sending_again_costs_nothing_where_nothing_errs() {
    for (seed, scenario) in scenarios(0..40) {
        let plain = run(&scenario, None, 1);
        for resend in RESENDS {
            let errors = LinkErrors {
                resend,
                retry: Retry::Stomp,
                acknowledgements: Acknowledgements::Free,
                sequence_bits: 16,
                replay_buffer: 1 << 20,
                ..LinkErrors::default()
            };
            let found = run(&scenario, Some(errors), 1 + seed as usize % 3);
            assert_eq!(found, plain, "{seed}");
        }
    }
}

#[test]
fn everything_arrives_once_on_any_number_of_threads() {
    let (mut damaged, mut resent) = (0, 0);
    for (seed, scenario) in scenarios(0..60) {
        let plain = run(&scenario, None, 1);
        for (number, errors) in ways().enumerate() {
            let bursts = Bursts { interval: 2_000, length: 100 };
            let mut errors = fitted(errors, &scenario.parameters, 1 + (seed % 4) as u32);
            errors.bit_error_rate = [1e-4, 1e-3, 3e-4][seed as usize % 3];
            errors.bursts = (seed % 5 == 0).then_some(bursts);
            errors.sequence_bits = 1 + (seed % 3) as u32;
            let found = run(&scenario, Some(errors.clone()), 1);
            same_packets(&found.log, &plain.log);
            assert_eq!(found.log.messages.len(), plain.log.messages.len());
            damaged += found.counters.damaged_packets;
            resent += found.counters.flits_resent;
            let threads = [2, 3, 7][(seed as usize + number) % 3];
            assert_eq!(run(&scenario, Some(errors), threads), found, "{seed}, way {number}");
        }
    }
    assert!(damaged > 1_000 && resent > 1_000, "{damaged} damaged, {resent} flits sent again");
}
