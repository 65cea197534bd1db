//! Packets that wait at the head of a buffer for too long are dropped (docs/model.md,
//! "Head-of-queue lifetime").

use flitlab::engine::{Engine, Log, Parameters};
use flitlab::report::Status;
use flitlab::scenario::{Deadlock, Document, Scenario as TomlScenario};
use flitlab::simulation::Simulation;
use flitlab::traffic::Script;
use flitlab::units::Picoseconds;
use flitlab_random::by_hand::{deliveries, line, parameters, ring};
use flitlab_random::differential::agree;
use flitlab_random::message::data;
use flitlab_random::random_scenario::Scenario;
use flitlab_reference::engine;
use rayon::prelude::*;

#[test]
fn a_packet_is_dropped_when_it_has_waited_for_its_lifetime() {
    // Of nodes 0 and 2 both send four flits to node 1, where their headers ask at 20. The first one has
    // the ejection channel until 28.
    let run = |lifetime: Option<u64>| {
        let (fabric, routes) = line(3);
        let lifetime = lifetime.map(Picoseconds);
        let parameters = Parameters { head_of_queue_lifetime: lifetime, ..parameters() };
        let messages: Vec<_> = [0, 2].map(|source| data(0, source, 1, 48)).into();
        let scenario = Scenario { fabric, routes, parameters, messages, collective: None };
        agree(0, &scenario);
        let Scenario { fabric, routes, parameters, messages, .. } = scenario;
        let script = Box::new(Script::new(messages));
        let mut engine = Engine::new(1, &fabric, &routes, &parameters, script, Log::default());
        engine.run_until(Picoseconds::NEVER);
        let lost = engine.counters().packets_lost;
        (deliveries(engine.observer()), lost)
    };
    let both = (vec![(0, 0, 34), (2, 0, 42)], 0);
    assert_eq!(run(None), both);
    assert_eq!(run(Some(9)), both);
    // It is dropped before outputs are granted at that instant.
    assert_eq!(run(Some(8)), (vec![(0, 0, 34)], 1));
    // Its last flit is there at 17 + 6 = 23.
    assert_eq!(run(Some(1)), (vec![(0, 0, 34)], 1));
}

#[test]
fn the_engines_agree_on_what_is_dropped() {
    let dropped = (0..120).into_par_iter().map(|seed| {
        let scenario = match seed % 6 {
            0 => Scenario::ruled(seed),
            1 => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::ruled(seed)),
            2 => Scenario::adaptive_by_table(seed),
            3 => Scenario::forwarding(seed),
            4 => Scenario::choosing(seed),
            _ => Scenario::ruled(seed).with_classes(seed),
        };
        let mut scenario = scenario.with_head_of_queue_lifetime(seed);
        // Without the bubble rule many packets wait for each other.
        scenario.parameters.bubble &= seed % 4 > 0;
        let all = |scenario: &Scenario| {
            let packets = scenario.messages.iter().map(|it| scenario.packets_of(it).0.len());
            packets.sum::<usize>()
        };
        usize::from(agree(seed, &scenario) < all(&scenario))
    });
    let dropped: usize = dropped.sum();
    assert!((20..120).contains(&dropped), "{dropped} scenarios with dropped packets");
}

/// What is injected is delivered, lost or in the network, at any time.
#[test]
fn packets_are_conserved() {
    let (fabric, routes) = ring(5);
    let open =
        Parameters { bubble: false, head_of_queue_lifetime: Some(Picoseconds(40)), ..parameters() };
    let messages: Vec<_> = (0..5).map(|node| data(0, node, (node + 2) % 5, 40 * 48)).collect();
    let script = Script::new(messages.clone());
    let mut engine = Engine::new(2, &fabric, &routes, &open, Box::new(script), Log::default());
    for until in (0..40).map(|step| Picoseconds(50 * step)) {
        engine.run_until(until);
        let counters = engine.counters();
        let under_way = engine.packets_under_way() as u64;
        let gone = counters.packets_delivered + counters.packets_lost;
        assert!(engine.credits_are_conserved() && gone + under_way <= 200);
        assert!(counters.flits_delivered + counters.flits_lost <= counters.flits_created);
        assert!(engine.find_deadlock().is_none());
    }
    engine.run_until(Picoseconds::NEVER);
    let counters = engine.counters();
    assert!(counters.packets_lost > 0 && counters.packets_delivered > 0);
    assert_eq!(counters.packets_delivered + counters.packets_lost, 200);
    assert_eq!(counters.flits_delivered + counters.flits_lost, counters.flits_created);
    assert_eq!(engine.packets_under_way(), 0);
    let ended = engine::simulator(&fabric, &routes, &open, &messages, None).run(false);
    assert_eq!(
        (ended.log.packets.len() as u64, ended.losses.packets),
        (counters.packets_delivered, counters.packets_lost)
    );
}

/// OpenSM's minhop on a 4x2x2x2 torus deadlocks, and goes on where packets are dropped.
#[test]
fn a_cyclic_table_goes_on() {
    let run = |set: &[&str]| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/nue/torus4222-minhop.toml");
        let mut document = Document::open(path.as_ref()).unwrap();
        set.iter().for_each(|set| document.set(set));
        let scenario = TomlScenario::read(&document).unwrap_or_else(|it| panic!("{}", it.plain()));
        let outcome = Simulation::new(&scenario).unwrap().run(&mut |_| {});
        (scenario.deadlock(), outcome.found)
    };
    let (foretold, found) = run(&[]);
    assert!(matches!(foretold, Deadlock::Possible { .. }));
    assert_eq!(found.measured.status, Status::Deadlock);
    let (foretold, found) = run(&["router.head_of_queue_lifetime=20 us"]);
    assert!(matches!(foretold, Deadlock::Dropped { lifetime: Picoseconds(20_000_000), .. }));
    let row = &found.measured;
    assert_eq!(row.status, Status::Completed);
    let lost = row.messages_lost.unwrap();
    assert!(row.packets_lost.unwrap() >= lost && (1..32 * 31).contains(&lost), "{lost} lost");
    assert!(found.warnings.iter().any(|it| it.contains("will never be received")));
}
