//! Random scenarios of every routing in which a cable or a router fails, and perhaps another one,
//! before the new routes are there or later: messages of data alone, routes that can't deadlock,
//! so that all packets arrive or are lost.

use std::collections::VecDeque;
use std::sync::Arc;

use flitlab_base::registry::Row;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{self as fast, Interruption, Switching};
use flitlab_fabric::{Channel, Fabric};
use flitlab_routing::relation::{PathChoice, PathSet};
use flitlab_routing::{DirectionOrder, PathRoutes, Routes};
use flitlab_tables::relation_rules::{RELATION_RULES, RelationParameters, RelationRule};
use flitlab_tables::{
    FlowControl, Region,
    agnostic::{self, Algorithm},
    angara::{self, Choices, Freedoms},
    prove_deadlock_free,
};
use flitlab_traffic::{Message, MessageKind};
use rand::{Rng, RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

use super::random_flit_scenario::share;
use super::random_relation::{by_relation, throttle};
use super::random_scenario::Scenario;
use flitlab_reference::shared::failure::{Failure, LOOK, made};

/// What makes the routes of the whole fabric and of what is left.
enum Maker {
    /// From routes of the same kind.
    LikeThese,
    Angara,
    Rule(&'static Row<RelationRule>, u8),
    /// The first and the last path by a rule.
    Paths(&'static Row<RelationRule>, u8),
    Nue(u8),
}

/// The kinds of routing, of which a seed has one.
pub const KINDS: [&str; 7] = [
    "direction order",
    "route table",
    "adaptive",
    "adaptive by a table",
    "relation",
    "paths",
    "forwarding table",
];

/// When a failure comes, seen from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Until the new routes are ready, that time included.
    Before,
    /// While it is waited until the network is empty, if it is not at once.
    Draining,
    /// Most often when sources go on.
    After,
}

/// A scenario that fails.
pub struct Failing {
    pub scenario: Scenario,
    pub failures: Vec<Failure>,
    pub interruption: Interruption,
    /// When each failure came but the first.
    pub whens: Vec<When>,
}

/// The failures as the fast engine is told of them.
pub fn interruption(whole: &Fabric, failures: &[Failure]) -> Interruption {
    let made: Vec<Picoseconds> = made(failures).map(|failure| failure.at).collect();
    let told = failures.iter().map(|failure| fast::Failure {
        at: failure.at,
        left: failure.left.clone(),
        new: made.contains(&failure.at).then(|| (failure.ready, failure.routes.clone())),
    });
    Interruption::new(whole, told.collect())
}

/// The scenario of a seed; with links shared flit by flit if asked for. `None` if what is left does
/// not hang together, or has no such routes.
pub fn failing(seed: u64, shared: bool) -> Option<Failing> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(7);
    let (mut scenario, maker) = whole(seed, random)?;
    let left = without(random, &scenario.fabric)?;
    scenario.messages.retain(|message| message.kind == MessageKind::Data);
    if scenario.messages.is_empty() {
        return None;
    }
    scenario.routes = maker.routes(&scenario.routes, &scenario.fabric, seed)?;
    if shared {
        share(random, &mut scenario);
    } else {
        throttle(&mut scenario.routes, random.random_range(0..=2), &scenario.parameters);
    }
    let routes = maker.routes(&scenario.routes, &left, seed)?;
    if !holds(&scenario, &scenario.fabric, &scenario.routes) || !holds(&scenario, &left, &routes) {
        return None;
    }
    // The bubble and the rings of relations hold for packets of one size.
    let largest = scenario.parameters.maximum_payload.0;
    for message in &mut scenario.messages {
        message.bytes = message.bytes.next_multiple_of(largest.max(1)).max(largest);
        if largest == 0 {
            message.bytes = 0;
        }
    }
    let latest = scenario.messages.iter().map(|message| message.time).max()?;
    let at = random.random_range(1..=latest.0 + 100);
    let ready = at + random.random_range(1..300);
    for message in scenario.messages.clone() {
        let time = ready + random.random_range(0..400_000);
        scenario.messages.push(Message { time: Picoseconds(time), ..message });
    }
    let first = Failure { at: Picoseconds(at), ready: Picoseconds(ready), left, routes };
    let (mut failures, mut whens) = (vec![first], Vec::new());
    // Failures beside the first leave all else as it would be without them.
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(8);
    for _ in 0..random.random_range(0..=2) {
        let Some((failure, when)) = another(&mut random, (&scenario, &maker, seed), &failures)
        else {
            break;
        };
        failures.push(failure);
        whens.push(when);
    }
    // Packets are under way when the routes before are ready and when it fails, and then.
    for pair in failures.windows(2) {
        let (Picoseconds(ready), Picoseconds(at)) = (pair[0].ready, pair[1].at);
        for message in scenario.messages.clone() {
            let time = match random.random_range(0..8) {
                0 => ready.saturating_sub(random.random_range(0..300)),
                1 => at.saturating_sub(random.random_range(0..300)),
                2 => at + random.random_range(0..400),
                3 => at + random.random_range(0..400_000),
                _ => continue,
            };
            scenario.messages.push(Message { time: Picoseconds(time), ..message });
        }
    }
    let interruption = interruption(&scenario.fabric, &failures);
    Some(Failing { scenario, failures, interruption, whens })
}

/// A failure after others, of what these have left; `None` if what is left then does not hang
/// together, or has no routes.
fn another(
    random: &mut impl Rng,
    (scenario, maker, seed): (&Scenario, &Maker, u64),
    failures: &[Failure],
) -> Option<(Failure, When)> {
    let last = failures.last().expect("one has come before");
    let when = *[When::Before, When::Draining, When::After].choose(random).expect("three");
    let (Picoseconds(at), Picoseconds(ready)) = (last.at, last.ready);
    let at = Picoseconds(match when {
        When::Before => random.random_range(at + 1..=ready.max(at + 1)),
        When::Draining if random.random_bool(0.5) => ready + random.random_range(1..300),
        When::Draining => ready + random.random_range(1..LOOK.0),
        When::After => ready + random.random_range(LOOK.0..4 * LOOK.0),
    });
    let longest = if random.random_bool(0.5) { 300 } else { 2 * LOOK.0 };
    let ready = at + Picoseconds(random.random_range(1..=longest));
    let left = without(random, &last.left).filter(|it| it.channels() < last.left.channels())?;
    let routes = maker.routes(&scenario.routes, &left, seed)?;
    holds(scenario, &left, &routes).then_some((Failure { at, ready, left, routes }, when))
}

/// The fabric without a cable or a router that is drawn; `None` if it falls apart.
fn without(random: &mut dyn Rng, fabric: &Fabric) -> Option<Fabric> {
    let (cables, routers) = fails(random, fabric);
    let left = fabric.without(&cables, &routers);
    (is_connected(&left) && left.live_terminals().count() >= 2).then_some(left)
}

/// Whether routes of a fabric can't deadlock in a scenario.
fn holds(scenario: &Scenario, fabric: &Fabric, routes: &Routes) -> bool {
    let parameters = &scenario.parameters;
    let has_ring = matches!(routes, Routes::Relation(made) if made.relation.has_ring());
    let wormhole = parameters.switching == Switching::Wormhole;
    let lacks_bubble = wormhole || parameters.buffer < 2 * parameters.maximum_packet();
    prove_deadlock_free(fabric, routes, FlowControl::from(parameters)).is_ok()
        && !(has_ring && lacks_bubble)
}

/// A scenario and what makes its routes.
fn whole(seed: u64, random: &mut dyn Rng) -> Option<(Scenario, Maker)> {
    let mut vcs = || random.random_range(1..=4);
    match seed % KINDS.len() as u64 {
        0 => {
            let scenario = Scenario::ruled(seed);
            let is_order = matches!(scenario.routes, Routes::DirectionOrder(_));
            is_order.then_some((scenario, Maker::LikeThese))
        }
        1 => Some((Scenario::random(seed), Maker::Angara)),
        2 => Some((Scenario::adaptive(seed)?, Maker::LikeThese)),
        3 => Some((Scenario::adaptive_by_table(seed), Maker::LikeThese)),
        kind @ (4 | 5) => {
            let vcs = vcs();
            let rule = RELATION_RULES.choose(random).expect("some");
            let vcs = vcs.max(rule.least_vcs);
            let mut scenario = Scenario::choosing(seed);
            scenario.parameters.virtual_channels = vcs;
            let maker = if kind == 4 { Maker::Rule(rule, vcs) } else { Maker::Paths(rule, vcs) };
            let two = 2 * scenario.parameters.maximum_packet();
            let buffer = &mut scenario.parameters.buffer;
            *buffer = if rule.keeps_bubble { (*buffer).max(two) } else { *buffer };
            Some((scenario, maker))
        }
        _ => {
            let scenario = Scenario::forwarding(seed);
            let vcs = scenario.parameters.virtual_channels;
            Some((scenario, Maker::Nue(vcs)))
        }
    }
}

impl Maker {
    fn routes(&self, like: &Routes, fabric: &Fabric, seed: u64) -> Option<Routes> {
        match self {
            Self::LikeThese => match like {
                Routes::DirectionOrder(order) => {
                    let made = DirectionOrder::new(fabric, order.rules().clone()).ok()?;
                    Some(Routes::DirectionOrder(made.with_seed(order.seed())))
                }
                Routes::Adaptive(adaptive) => {
                    let rules = adaptive.rules().clone();
                    let made = flitlab_tables::adaptive(
                        fabric,
                        rules,
                        &Algorithm::UP_DOWN,
                        adaptive.seed(),
                    );
                    made.ok().map(Routes::Adaptive)
                }
                _ => unreachable!("these are of no maker"),
            },
            Self::Angara => {
                let choices = Choices::new(Region::new(fabric), Freedoms::default());
                if !choices.unroutable.is_empty() {
                    return None;
                }
                let bfs = angara::ALGORITHMS.iter().find(|it| it.name == "bfs").expect("one");
                let made = (bfs.table)(&choices, &angara::Parameters::default(), seed).ok()?;
                Some(Routes::Table(made.table))
            }
            Self::Rule(rule, vcs) => {
                let parameters = RelationParameters { vcs: *vcs, ..RelationParameters::default() };
                let relation = rule.relation(fabric, &parameters).ok()?;
                let mut made = by_relation(relation, seed.is_multiple_of(2), seed);
                if let (Routes::Relation(made), Routes::Relation(like)) = (&mut made, like) {
                    made.injection_bubble = like.injection_bubble;
                    made.injection_vcs = like.injection_vcs;
                    made.preference = like.preference;
                }
                Some(made)
            }
            Self::Paths(rule, vcs) => {
                let parameters = RelationParameters { vcs: *vcs, ..RelationParameters::default() };
                let relation = rule.relation(fabric, &parameters).ok()?;
                if relation.has_escape() || relation.has_detours() || relation.has_ring() {
                    return None;
                }
                let choices = [PathChoice::RoundRobin, PathChoice::Random, PathChoice::Hash];
                let choice = choices[(seed / 7 % 3) as usize];
                let path = |ends: (u32, u32), last: bool| {
                    let (mut at, mut state) = (ends.0, relation.injected(ends.0));
                    let mut path = Vec::new();
                    while at != ends.1 {
                        let hops = relation.hops(state, ends.1);
                        let hop = if last { hops.last() } else { hops.first() };
                        let hop = *hop.expect("it leads on");
                        let channel = fabric.outputs(at).start + u32::from(hop.port);
                        state = relation.arrived(channel, hop.vc);
                        at = fabric.target(channel).expect("it is live");
                        path.push(hop);
                    }
                    path
                };
                let set = PathSet::new(fabric, *vcs, choice, |from, to| {
                    let both = [false, true].map(|last| path((from, to), last));
                    if from == to { Vec::new() } else { both.to_vec() }
                });
                Some(Routes::Paths(PathRoutes { paths: Arc::new(set.ok()?), seed }))
            }
            Self::Nue(vcs) => {
                let parameters = agnostic::Parameters { vcs: *vcs, ..Default::default() };
                let table = Algorithm::NUE.generate(fabric, &parameters).ok()?.table;
                Some(Routes::Forwarding(Arc::new(table)))
            }
        }
    }
}

/// A cable that fails, or a router.
fn fails(random: &mut dyn Rng, fabric: &Fabric) -> (Vec<Channel>, Vec<u32>) {
    let cables: Vec<Channel> = fabric.cables().collect();
    let cable = cables.choose(random).copied();
    let router = random.random_range(0..fabric.routers());
    if random.random_bool(0.6) {
        (cable.into_iter().collect(), vec![])
    } else {
        (vec![], vec![router])
    }
}

/// Whether all live terminals can reach each other.
pub fn is_connected(fabric: &Fabric) -> bool {
    let mut seen = vec![false; fabric.routers() as usize];
    let live: Vec<u32> =
        fabric.live_terminals().filter_map(|terminal| fabric.terminal_router(terminal)).collect();
    let Some(&first) = live.first() else { return false };
    let mut open = VecDeque::from([first]);
    seen[first as usize] = true;
    while let Some(router) = open.pop_front() {
        for next in fabric.outputs(router).filter_map(|channel| fabric.target(channel)) {
            if !std::mem::replace(&mut seen[next as usize], true) {
                open.push_back(next);
            }
        }
    }
    live.iter().all(|&router| seen[router as usize])
}
