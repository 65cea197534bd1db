//! Small random scenarios whose routers have buffers at outputs: those of `random_scenario`, with
//! other routers.
//!
//! Some end in a deadlock, as they should: rings without datelines, or random relations.

use flitlab_engine::RouterKind;
use flitlab_routing::Routes;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::random_scenario::{MAX_WORK, Scenario};

/// The scenario of this seed: of four one each direction order and route tables, forwarding tables,
/// relations and paths, and rules whose packets pass through phases.
pub fn cioq_scenario(seed: u64) -> Scenario {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut scenario = match seed % 4 {
        0 => Scenario::drawn(random, MAX_WORK).with_rules(seed),
        1 => Scenario::drawn_choosing(random, seed, MAX_WORK),
        2 => Scenario::drawn_phased(random, seed, MAX_WORK),
        _ => Scenario::drawn_forwarding(random, MAX_WORK),
    };
    if matches!(&scenario.routes, Routes::Relation(routes) if routes.relation.has_ring()) {
        scenario = Scenario::drawn_phased(random, seed, MAX_WORK);
    }
    if let Routes::Relation(routes) = &mut scenario.routes {
        routes.injection_bubble = 0;
        routes.settles = routes.again.is_some() && random.random_bool(0.5);
    }
    let scenario = scenario.with_cables_at_times(seed);
    let scenario = if seed % 3 == 1 { scenario.with_remote_operations(seed) } else { scenario };
    let scenario = if seed % 5 == 2 { scenario.with_injection_by_destination() } else { scenario };
    let mut scenario = scenario.with_classes_at_times(seed).with_ways_of_responses_at_times(seed);
    draw_buffers(random, &mut scenario);
    scenario
}

/// Buffers of one of the largest packets to several.
fn draw_buffers(random: &mut dyn Rng, scenario: &mut Scenario) {
    let parameters = &mut scenario.parameters;
    let largest = parameters.maximum_packet();
    let mut size = || match random.random_range(0..4) {
        0 => largest,
        1 | 2 => random.random_range(largest..=2 * largest),
        _ => random.random_range(largest..=5 * largest),
    };
    parameters.bubble = false;
    parameters.kind = RouterKind::OutputBuffers(size());
    parameters.buffer = size();
    parameters.injection_buffer = size();
}
