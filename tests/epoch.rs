//! Simulated time has no beginning and, below 2^63 ps, no end.

use flitlab::engine::{ChannelReport, Engine, Log};
use flitlab::traffic::{Message, Script, Workload};
use flitlab::units::Picoseconds;

use crate::common::random_scenario::Scenario;

/// Ticks count from an epoch that moves on every two milliseconds, and further over idle times.
#[test]
fn what_happens_does_not_depend_on_when() {
    const EPOCH: Picoseconds = 1 << 31;
    let log = |scenario: &Scenario, offset: Picoseconds, threads: usize| {
        let Scenario { fabric, routes, parameters, messages } = scenario;
        let later = messages.iter().map(|it| Message { time: it.time + offset, ..*it });
        let workload = Workload::Script(Script::new(later.collect()));
        let log = Log::default();
        let mut engine = Engine::on_threads(threads, fabric, routes, parameters, workload, log);
        engine.run_until(Picoseconds::MAX);
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
    for seed in 0..12 {
        let scenario = match seed % 3 {
            0 => Scenario::random(seed),
            1 => Scenario::forwarding(seed),
            _ => Scenario::adaptive(seed).unwrap_or_else(|| Scenario::random(seed)),
        };
        let (expected, channels, end) = log(&scenario, 0, 1);
        assert!(!expected.packets.is_empty());
        let stalled = |channels: &[ChannelReport]| -> Vec<_> {
            channels.iter().map(|channel| channel.statistics.clone()).collect()
        };
        for offset in [EPOCH - end / 2, EPOCH, 2 * EPOCH - 1, 10_000_000_000_000, 1 << 62] {
            let (found, later, then) = log(&scenario, offset, 1 + seed as usize % 2);
            assert!(found == expected, "seed {seed}, {offset} ps later");
            assert_eq!(stalled(&later), stalled(&channels), "seed {seed}, {offset} ps later");
            assert_eq!(then, end);
        }
    }
}
