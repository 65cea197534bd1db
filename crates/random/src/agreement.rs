//! The fast engine and the plain reference engine, run on one scenario and compared packet by
//! packet.

use std::collections::BTreeMap;

use super::random_scenario::Scenario;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{ChannelKind, CompletedMessage, DeliveredPacket, Engine, Log, run_script};
use flitlab_reference::shared::links::Counts;
use flitlab_routing::Routes;
use flitlab_traffic::Script;

pub fn run_reference(scenario: &Scenario) -> Log {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    flitlab_reference::engine::run(fabric, routes, parameters, messages).unwrap_or_else(
        |deadlock| panic!("{} packets are stuck at {}", deadlock.packets, deadlock.time),
    )
}

pub fn run_fast(scenario: &Scenario) -> Log {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    let script = Script::new(messages.clone());
    run_script(fabric, routes, parameters, script).expect("no deadlock").0
}

/// Whether the fast engine delivers all packets, or deadlocks.
pub fn can_be_delivered(scenario: &Scenario) -> bool {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    run_script(fabric, routes, parameters, Script::new(messages.clone())).is_ok()
}

/// Panics unless the fast engine counts the same of links that err.
pub fn assert_equal_counts(scenario: &Scenario, counts: Counts, flits: &[Vec<u64>]) {
    let Scenario { fabric, routes, parameters, .. } = scenario;
    let workload = scenario.workload();
    let mut engine = Engine::new(1, fabric, routes, parameters, workload, Log::default());
    engine.run_until(Picoseconds::NEVER);
    let counters = engine.counters();
    assert_eq!(
        (counters.damaged_packets, counters.flits_resent),
        (counts.damaged, counts.sent_again),
        "damaged packets and flits that were sent again, {scenario:?}"
    );
    let channels = engine.channels();
    let links = channels.iter().filter(|channel| channel.kind == ChannelKind::Network);
    let (names, fast): (Vec<&str>, Vec<&[u64]>) =
        links.map(|link| (&*link.name, &*link.statistics.flits)).unzip();
    assert_eq!(fast, flits, "flits of {names:?}, {scenario:?}");
}

/// The reference's record and the fast engine's.
type Pair<'a, R> = (Option<&'a R>, Option<&'a R>);

/// The first of two lists' differences, by the time at which things went apart.
fn first_difference<'a, R: Ord>(
    reference: &'a [R],
    fast: &'a [R],
    key: impl Fn(&R) -> (u32, u32),
    apart: impl Fn(&R, &R) -> Picoseconds,
) -> Option<Pair<'a, R>> {
    let mut pairs: BTreeMap<(u32, u32), Pair<'_, R>> = BTreeMap::new();
    for record in reference {
        pairs.entry(key(record)).or_default().0 = Some(record);
    }
    for record in fast {
        pairs.entry(key(record)).or_default().1 = Some(record);
    }
    let time = |pair: &Pair<'_, R>| match *pair {
        (Some(a), Some(b)) => apart(a, b),
        _ => Picoseconds::NEVER,
    };
    pairs.into_values().filter(|(a, b)| a != b).min_by_key(time)
}

/// Panics, with the scenario and the first packet that differs, unless both logs say the same.
pub fn assert_agreement(scenario: &Scenario, reference: &Log, fast: &Log) {
    let sorted = |log: &Log| {
        let (mut packets, mut messages) = (log.packets.clone(), log.messages.clone());
        packets.sort_unstable();
        messages.sort_unstable();
        (packets, messages)
    };
    let (reference, fast) = (sorted(reference), sorted(fast));
    if reference == fast {
        return;
    }
    let went_apart = |a: &DeliveredPacket, b: &DeliveredPacket| {
        if a.injected == b.injected {
            a.delivered.min(b.delivered)
        } else {
            a.injected.min(b.injected)
        }
    };
    let packet = first_difference(
        &reference.0,
        &fast.0,
        |packet| (packet.source, packet.sequence),
        went_apart,
    );
    let message: Option<(&CompletedMessage, &CompletedMessage)> =
        reference.1.iter().zip(&fast.1).find(|(a, b)| a != b);
    panic!(
        "the engines differ\n{:?}, {} channels, routes {}\n{:#?}\n\
         {} messages; packets delivered: reference {}, fast {}\n\
         first packet that differs (reference, fast): {packet:#?}\n\
         first message that differs: {message:#?}",
        scenario.fabric.torus(),
        scenario.fabric.channels(),
        match scenario.routes {
            Routes::DirectionOrder(ref order) => format!("{order:?}"),
            Routes::Table(ref it) => {
                format!("of a table, several of {} pairs", it.pairs_with_several())
            }
            Routes::Adaptive(ref adaptive) => format!("{:?}", adaptive.rules()),
            Routes::Forwarding(ref table) => format!("of {} virtual channels", table.vc_count()),
            Routes::Relation(ref it) => {
                format!("by a relation, {} {:?}", it.random_ties, it.preference)
            }
            Routes::Paths(ref it) => format!("by paths, {:?}", it.paths.choice()),
        },
        scenario.parameters,
        scenario.messages.len(),
        reference.0.len(),
        fast.0.len(),
    );
}
