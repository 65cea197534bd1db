//! Both engines on a small scenario that is made of the bytes.

use super::draw::Draw;
use flitlab_random::agreement::{assert_agreement, run_fast, run_reference};
use flitlab_random::random_scenario::Scenario;

/// Flits times hops of a scenario: few, so that many are tried.
const WORK: u64 = 600;

/// The first byte says which kind of routing it is, and whether there are puts and atomic
/// operations, the second is the seed of adaptive routings.
pub fn engines(bytes: &[u8]) {
    let [kind, seed, rest @ ..] = bytes else { return };
    let mut draw = Draw::new(rest);
    let scenario = match kind % 3 {
        0 => Scenario::drawn(&mut draw, WORK),
        1 => Scenario::drawn_forwarding(&mut draw, WORK),
        _ => match Scenario::drawn_adaptive(&mut draw, u64::from(*seed), WORK) {
            Some(scenario) => scenario,
            None => return,
        },
    };
    let remote = kind & 0x80 != 0;
    let scenario =
        if remote { scenario.with_remote_operations(u64::from(*seed)) } else { scenario };
    let fast = run_fast(&scenario);
    assert_agreement(&scenario, &run_reference(&scenario), &fast);
    assert_eq!(fast.messages.len(), scenario.messages.len());
}
