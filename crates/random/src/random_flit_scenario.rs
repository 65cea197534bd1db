//! Small random scenarios whose links are shared flit by flit: those of `random_scenario`, with
//! other routers.
//!
//! Some end in a deadlock, as they should: worms in a ring, or a ring without the bubble.

use flitlab_base::units::Picoseconds;
use flitlab_engine::{Arbitration, FlitSharing, Parameters, RouterKind, Switching};
use flitlab_routing::Routes;
use flitlab_traffic::MessageKind;
use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::random_relation::throttle;
use super::random_scenario::Scenario;

/// The seed of a deadlock whose last flits arrive after all that was due.
pub const LAST_FLITS: u64 = 101_854;

/// Flits times hops of all messages together: half of what the packets' reference engine has to do.
const WORK: u64 = 3_000;

/// The scenario of this seed: of eight three direction order and route tables, two each adaptive
/// routing and forwarding tables, one relations and paths.
pub fn flit_scenario(seed: u64) -> Scenario {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    drawn_flit_scenario(&mut random, seed, WORK)
}

/// A [`flit_scenario`]; of six one has links that err.
pub fn flit_scenario_of_any_links(seed: u64) -> Scenario {
    flit_scenario(seed).with_errors_of_flits_at_times(seed)
}

/// A [`flit_scenario_of_any_links`] with collective operations at times.
pub fn flit_scenario_with_collectives(seed: u64) -> Scenario {
    flit_scenario_of_any_links(seed).with_collectives_at_times(seed)
}

/// A [`flit_scenario`] from a generator, with about so much work.
pub fn drawn_flit_scenario(random: &mut dyn Rng, seed: u64, work: u64) -> Scenario {
    let mut scenario = match seed % 4 {
        2 => Scenario::drawn_adaptive(random, seed, work)
            .unwrap_or_else(|| Scenario::drawn(random, work)),
        3 => Scenario::drawn_forwarding(random, work),
        1 if seed % 8 == 5 => Scenario::drawn_choosing(random, seed, work),
        _ => Scenario::drawn(random, work),
    };
    scenario = scenario.with_rules(seed).with_cables_at_times(seed);
    share(random, &mut scenario);
    // A seed that names a deadlock keeps it, whatever has come to the rules since.
    let scenario =
        if seed == LAST_FLITS { scenario } else { scenario.with_datelines_of_escapes(seed) };
    let scenario = if seed % 3 == 1 { scenario.with_remote_operations(seed) } else { scenario };
    let scenario = if seed % 5 == 2 { scenario.with_injection_by_destination() } else { scenario };
    scenario.with_classes_at_times(seed).with_ways_of_responses_at_times(seed)
}

/// The scenario of this seed under adaptive routing whose escape follows a table.
pub fn flit_scenario_by_table(seed: u64) -> Scenario {
    shared(seed, |random| Scenario::drawn_adaptive_by_table(random, seed, WORK))
}

/// The scenario of this seed with a rule whose packets pass through phases; of six one has links
/// that err.
pub fn flit_scenario_phased(seed: u64) -> Scenario {
    shared(seed, |random| Scenario::drawn_phased(random, seed, WORK))
        .with_errors_of_flits_at_times(seed)
}

/// The scenario of this seed with UGAL and this value of its `credits`; of six one has links that
/// err.
pub fn flit_scenario_by_credits(seed: u64, credits: &str) -> Scenario {
    shared(seed, |random| Scenario::drawn_by_credits(random, seed, credits, WORK))
        .with_errors_of_flits_at_times(seed)
}

/// The scenario that `draw` makes, with shared links.
fn shared(seed: u64, draw: impl Fn(&mut dyn Rng) -> Scenario) -> Scenario {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut scenario = draw(&mut random).with_cables_at_times(seed);
    share(&mut random, &mut scenario);
    scenario.with_classes_at_times(seed).with_ways_of_responses_at_times(seed)
}

/// Draws what routers with shared links have besides, and what is different in them.
pub fn share(random: &mut dyn Rng, scenario: &mut Scenario) {
    let Scenario { fabric, routes, parameters, messages, .. } = scenario;
    let has_rings = (0..fabric.channel_slots()).any(|channel| fabric.ring(channel).is_some());
    let has_reads = messages.iter().any(|message| message.kind != MessageKind::Data);
    let chooses = matches!(routes, Routes::Adaptive(_) | Routes::Relation(_));
    let dateline = matches!(routes, Routes::DirectionOrder(order) if order.rules().dateline);
    parameters.virtual_channels = match routes {
        Routes::DirectionOrder(_) | Routes::Table(_) => {
            let classes = if dateline { 2 } else { 1 };
            random.random_range(if has_reads { 2 * classes..=8 } else { classes..=8 })
        }
        Routes::Adaptive(_) => random.random_range(3..=8),
        Routes::Forwarding(_) | Routes::Relation(_) | Routes::Paths(_) => {
            parameters.virtual_channels
        }
    };
    let switching = [Switching::VirtualCutThrough, Switching::StoreAndForward, Switching::Wormhole];
    // Who enters a ring of a relation leaves room for a whole packet.
    let ring = matches!(routes, Routes::Relation(routes) if routes.relation.has_ring());
    parameters.switching = *switching[..if ring { 2 } else { 3 }].choose(random).unwrap();
    let arbitrations = [
        Arbitration::RoundRobin,
        Arbitration::TransitFirst,
        Arbitration::Random,
        Arbitration::OldestFirst,
        Arbitration::Weighted,
    ];
    parameters.arbitration = *arbitrations.choose(random).unwrap();
    let may_have_bubble = parameters.switching != Switching::Wormhole
        && !dateline
        && !matches!(routes, Routes::Forwarding(_) | Routes::Relation(_) | Routes::Paths(_));
    let wants_bubble = chooses || random.random_bool(if has_rings { 0.9 } else { 0.5 });
    parameters.bubble = may_have_bubble && wants_bubble;
    draw_buffers(random, parameters, ring);
    if matches!(routes, Routes::Relation(_)) {
        throttle(routes, random.random_range(0..=2), parameters);
    }
    let sharing = sharing(random, parameters.virtual_channels, !chooses);
    parameters.kind = RouterKind::SharedLinks(sharing);
}

/// Buffers of a few flits for worms; else of the packets that the rules ask for, or somewhat more.
fn draw_buffers(random: &mut dyn Rng, parameters: &mut Parameters, ring: bool) {
    let largest = parameters.maximum_packet();
    let mut more = |least: u32| match random.random_range(0..4) {
        0 | 1 => least,
        2 => least + random.random_range(0..=largest),
        _ => least + random.random_range(0..=4 * largest),
    };
    let (least, least_injected) = match parameters.switching {
        Switching::Wormhole => (1, 1),
        _ if parameters.bubble || ring => (2 * largest, largest),
        _ => (largest, largest),
    };
    parameters.buffer = more(least);
    parameters.injection_buffer = more(least_injected);
}

fn sharing(random: &mut dyn Rng, virtual_channels: u8, may_have_outputs: bool) -> FlitSharing {
    let mut latency = || -> Picoseconds {
        if random.random_bool(0.5) {
            Picoseconds::ZERO
        } else {
            Picoseconds(random.random_range(1..=4))
        }
    };
    let (virtual_channel_allocation, switch_allocation) = (latency(), latency());
    let weights = random.random_range(0..=virtual_channels);
    let sharing = FlitSharing {
        virtual_channel_allocation,
        switch_allocation,
        iterations: random.random_range(1..=3),
        routing_at_head: random.random_bool(0.5),
        virtual_output_queues: may_have_outputs && random.random_bool(0.4),
        output_buffer: *[0, 0, 1, 2, 5].choose(random).unwrap(),
        weights: (0..weights).map(|_| random.random_range(1..=5)).collect(),
        stall_times: random.random_bool(0.5),
        ..FlitSharing::default()
    };
    if random.random_bool(0.4) {
        return sharing;
    }
    let high = random.random_range(1..=virtual_channels);
    FlitSharing {
        high_priority: (0..high).map(|_| random.random_range(0..=3)).collect(),
        high_priority_limit: *[None, Some(0), Some(3), Some(20)].choose(random).unwrap(),
        ..sharing
    }
}
