//! The next engine beside the present one.

use crate::common::random_scenario::Scenario;
use flitlab::engine::{Engine, Log};
use flitlab::engine_next;
use flitlab::traffic::{Script, Workload};

fn sorted(log: &Log) -> Log {
    let mut log = log.clone();
    log.packets.sort_unstable();
    log.messages.sort_unstable();
    log
}

fn agree(name: &str, scenario: &Scenario) {
    let Scenario { fabric, routes, parameters, messages } = scenario;
    let workload = || Workload::Script(Script::new(messages.clone()));
    let mut old = Engine::new(fabric, routes, parameters, workload(), Log::default());
    for threads in [1, 3] {
        let mut new = engine_next::Engine::on_threads(threads, fabric, routes, parameters, workload(), Log::default());
        let stops: Vec<u64> = vec![40, 41, 200, 1000, u64::MAX];
        let mut first = Engine::new(fabric, routes, parameters, workload(), Log::default());
        for stop in stops {
            let left = (first.run_until(stop), new.run_until(stop));
            assert_eq!(left.0, left.1, "{name} at {stop} on {threads}");
            assert_eq!(first.digest(), new.digest(), "{name} at {stop} on {threads}");
            let (mut a, b) = (first.counters(), new.counters());
            a.events = 0;
            assert_eq!(a, b, "{name} at {stop} on {threads}");
            assert_eq!(first.now(), new.now(), "{name} at {stop} on {threads}");
            assert_eq!(first.packets_under_way(), new.packets_under_way());
            assert_eq!(first.messages_under_way(), new.messages_under_way());
            let (mut c, mut d) = (Vec::new(), Vec::new());
            first.backlogs(|it| c.push(it));
            new.backlogs(|it| d.push(it));
            assert!(c == d, "{name} backlogs");
            assert_eq!(first.carried(), new.carried(), "{name} at {stop}");
            let (mut a, mut b) = (first.channels(), new.channels());
            if matches!(routes, flitlab::routing::Routes::Adaptive(_)) {
                for it in a.iter_mut().chain(&mut b) {
                    it.statistics.stalled = [it.statistics.stalled.iter().sum(), 0, 0, 0];
                    it.stalled = [0.0; 4];
                }
            }
            assert_eq!(a.len(), b.len(), "{name}");
            if let Some((a, b)) = a.iter().zip(&b).find(|(a, b)| a != b) {
                let all = a.name == b.name;
                panic!("{name} at {stop} on {threads}\n{a:?}\n{b:?} {all}");
            }
            assert!(new.credits_are_conserved());
            assert_eq!(first.find_deadlock(), new.find_deadlock(), "{name} at {stop} on {threads}");
            if stop == 200 && std::env::var_os("RESET").is_some() {
                first.reset_channels();
                new.reset_channels();
            }
        }
        old.run_until(u64::MAX);
        assert!(sorted(old.observer()) == sorted(new.observer()), "{name}");
    }
}

fn seeds() -> std::ops::Range<u64> {
    let most = std::env::var("SEEDS").ok().and_then(|it| it.parse().ok()).unwrap_or(200);
    0..most
}

#[test]
fn random_scenarios() {
    for seed in seeds() {
        agree(&format!("random {seed}"), &Scenario::random(seed));
    }
}

#[test]
fn forwarding_scenarios() {
    for seed in seeds() {
        agree(&format!("forwarding {seed}"), &Scenario::forwarding(seed));
    }
}

#[test]
fn adaptive_scenarios() {
    for seed in seeds() {
        if let Some(scenario) = Scenario::adaptive(seed) {
            agree(&format!("adaptive {seed}"), &scenario);
        }
    }
}
