//! Random relations and sets of paths: all of them shortest, most of them such that packets could
//! wait for each other in a cycle, since engines have to agree on what becomes of those too.

use std::collections::VecDeque;
use std::sync::Arc;

use flitlab_engine::Parameters;
use flitlab_fabric::Fabric;
use flitlab_routing::{
    PathRoutes, Preference, RelationRoutes, Routes,
    relation::{ALL_CLASSES, Hop, PathChoice, PathSet, Relation, RelationBuilder},
};
use flitlab_tables::relation_rules::{RELATION_RULES, RelationParameters};
use rand::{Rng, RngExt, seq::IndexedRandom};

/// One of the rules' relations, a random relation, or random paths.
pub fn choosing(random: &mut dyn Rng, fabric: &Fabric, seed: u64) -> Routes {
    let vcs = random.random_range(1..=5);
    let random_ties = random.random_bool(0.5);
    match random.random_range(0..3) {
        0 => {
            // Some rules are for fabrics of a certain shape; most are for any.
            let relation = loop {
                let rule = RELATION_RULES.choose(random).expect("some");
                let vcs = vcs.max(rule.least_vcs);
                let parameters = RelationParameters { vcs, ..RelationParameters::default() };
                if let Ok(relation) = rule.relation(fabric, &parameters) {
                    break relation;
                }
            };
            by_relation(relation, random_ties, seed)
        }
        1 => relation(random, fabric, (vcs, random_ties, seed)),
        _ => paths(random, fabric, (vcs, seed)),
    }
}

/// Packets that choose among the hops of a relation.
pub fn by_relation(relation: Relation, random_ties: bool, seed: u64) -> Routes {
    let routes = RelationRoutes::new(Arc::new(relation), None, seed);
    Routes::Relation(RelationRoutes { random_ties, ..routes })
}

/// Has packets injected in some of the virtual channels alone, at times, and prefer hops by another
/// measure than what waits.
pub fn inject_and_prefer(random: &mut dyn Rng, routes: &mut Routes) {
    if let Routes::Relation(routes) = routes {
        routes.preference = match random.random::<f64>() {
            ..0.5 => Preference::LeastQueued,
            ..0.6 => Preference::Random,
            ..0.8 => Preference::LeastRecentlyUsed,
            _ => Preference::MinimalMultiplexed,
        };
        let vcs = random.random_range(1..=routes.relation.vcs());
        routes.injection_vcs = if random.random_bool(0.5) { vcs } else { u8::MAX };
    }
}

/// Has packets leave room that are injected, for so many others or as many as buffers have room
/// for.
pub fn throttle(routes: &mut Routes, others: u8, parameters: &Parameters) {
    if let Routes::Relation(routes) = routes {
        routes.injection_bubble = others.min(parameters.most_bubble());
    }
}

/// Number of virtual channels of the routes.
pub fn vcs(routes: &Routes) -> u8 {
    match routes {
        Routes::Relation(it) => it.relation.vcs(),
        Routes::Paths(it) => it.paths.vcs(),
        _ => 1,
    }
}

/// How far each router is from one of them.
fn distances(fabric: &Fabric, to: u32) -> Vec<u32> {
    let mut distances = vec![u32::MAX; fabric.routers() as usize];
    distances[to as usize] = 0;
    let mut next = VecDeque::from([to]);
    while let Some(at) = next.pop_front() {
        // Cables lead both ways.
        for target in fabric.outputs(at).filter_map(|channel| fabric.target(channel)) {
            if distances[target as usize] == u32::MAX {
                distances[target as usize] = distances[at as usize] + 1;
                next.push_back(target);
            }
        }
    }
    distances
}

/// The ports that bring a packet nearer.
fn nearer(fabric: &Fabric, distances: &[u32], router: u32) -> Vec<u16> {
    let outputs = fabric.outputs(router);
    let leads = |&channel: &u32| {
        fabric
            .target(channel)
            .is_some_and(|target| distances[target as usize] < distances[router as usize])
    };
    outputs.clone().filter(leads).map(|channel| (channel - outputs.start) as u16).collect()
}

/// In each state some of the nearer ports in some of the virtual channels, some of them escapes,
/// some for some terminals alone.
fn relation(
    random: &mut dyn Rng,
    fabric: &Fabric,
    (vcs, random_ties, seed): (u8, bool, u64),
) -> Routes {
    let mut builder = RelationBuilder::new(fabric, vcs).expect("it is small");
    let dense = random.random_range(0.2..1.0);
    let mut share = || *[0.0, 0.3, 0.7].choose(random).expect("some");
    let (escapes, detours, parted) = (share(), share(), share());
    for (to, terminals) in (0u32..).zip(fabric.terminals_by_router()) {
        if terminals.is_empty() {
            continue;
        }
        let distances = distances(fabric, to);
        for state in 0..builder.relation().states() {
            let Some(router) = builder.relation().router(fabric, state) else { continue };
            // From a router that failures have cut off nothing leads anywhere.
            if router == to || distances[router as usize] == u32::MAX {
                continue;
            }
            let ports = nearer(fabric, &distances, router);
            let mut hops = Vec::new();
            for &port in &ports {
                for vc in 0..vcs {
                    if random.random_bool(dense) {
                        let escape = random.random_bool(escapes);
                        let detour = !escape && random.random_bool(detours);
                        let parts = !escape && random.random_bool(parted);
                        let classes = if parts { random.random() } else { ALL_CLASSES };
                        hops.push(Hop { escape, detour, classes, ..Hop::new(port, vc) });
                    }
                }
            }
            if hops.is_empty() {
                hops.push(Hop::new(*ports.choose(random).expect("it is connected"), 0));
            }
            let offered = hops.iter().fold(0, |classes, hop| classes | hop.classes);
            hops[0].classes |= !offered;
            builder.set(state, to, &mut hops);
        }
    }
    by_relation(builder.finish(), random_ties, seed)
}

/// For each pair one to three shortest paths, each hop in any virtual channel.
fn paths(random: &mut dyn Rng, fabric: &Fabric, (vcs, seed): (u8, u64)) -> Routes {
    let choice = *[PathChoice::Random, PathChoice::RoundRobin, PathChoice::Hash]
        .choose(random)
        .expect("some");
    let set = PathSet::new(fabric, vcs, choice, |from, to| {
        let distances = distances(fabric, to);
        let path = |random: &mut dyn Rng| {
            let (mut at, mut path) = (from, Vec::new());
            while at != to {
                let ports = nearer(fabric, &distances, at);
                let port = *ports.choose(random).expect("it is connected");
                path.push(Hop::new(port, random.random_range(0..vcs)));
                at = fabric.target(fabric.outputs(at).start + u32::from(port)).expect("live");
            }
            path
        };
        let several = random.random_range(1..=3);
        (0..several).map(|_| path(random)).collect()
    });
    Routes::Paths(PathRoutes { paths: Arc::new(set.expect("it is small")), seed })
}
