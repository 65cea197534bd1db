//! What packets may choose by relations, and which paths they take, from docs/model.md alone ("Routing relations"): the
//! tables are all that is shared with the fast engine.

use std::collections::BTreeMap;

use flitlab::{
    routing::{
        PathRoutes, RelationRoutes, Routes,
        relation::{Hop, PathChoice, Ring},
    },
    topology::Fabric,
};

use super::ways::drawn;

/// Where the head of a packet is that chooses.
#[derive(Clone, Copy)]
pub struct Head {
    pub router: u32,
    /// The fabric's channel over which it has come, and in which virtual channel; none if it was injected here.
    pub came: Option<(u32, usize)>,
    /// Its source, its number there, its destination's router, and the place of its destination among the terminals there.
    pub source: u32,
    pub sequence: u32,
    pub destination: u32,
    pub place: usize,
    /// How many hops of its reserve it has taken.
    pub reserves: u32,
}

/// The place of a terminal among those of its router.
pub fn place(fabric: &Fabric, terminal: u32) -> usize {
    let router = fabric.terminal_router(terminal);
    (0..terminal).filter(|&before| fabric.terminal_router(before) == router).count()
}

/// The hops that a packet may take next, in the order in which it likes them with equal credits; empty at its destination.
pub fn hops(routes: &RelationRoutes, head: Head) -> Vec<Hop> {
    if head.router == head.destination {
        return Vec::new();
    }
    let relation = &routes.relation;
    let state = match head.came {
        None => relation.injected(head.router),
        Some((channel, lane)) => relation.arrived(channel, lane as u8),
    };
    let mut hops = relation.hops(state, head.destination).to_vec();
    assert!(!hops.is_empty(), "no way leads on");
    if head.reserves >= 16
        && let Some(&along) = hops.iter().find(|hop| hop.ring == Ring::Along)
    {
        hops = vec![Hop { escape: false, ..along }];
    }
    hops.retain(|hop| hop.classes >> (head.place % 32) & 1 == 1);
    assert!(hops.is_sorted_by_key(|hop| (hop.port, hop.lane)));
    if routes.random_ties {
        let packet = drawn(routes.seed, head.source, head.sequence) >> 48;
        let mixed = u128::from((packet << 16) ^ u64::from(head.router)) * 2_654_435_761;
        let place = (mixed % (1 << 32)) >> 16;
        let first = (place % hops.len() as u128) as usize;
        hops.rotate_left(first);
    }
    hops
}

/// Of ways on, in this order of liking, the one with the most credits.
pub fn liked_best<T: Copy>(ways: &[T], credits: impl Fn(&T) -> u32) -> Option<T> {
    let most = ways.iter().map(&credits).max()?;
    ways.iter().find(|way| credits(way) == most).copied()
}

/// For each source and router of destinations, how many packets there were.
pub type Turns = BTreeMap<(u32, u32), usize>;

/// The hops of the path that a packet takes which is injected now.
pub fn path(
    routes: &PathRoutes,
    fabric: &Fabric,
    (source, destination): (u32, u32),
    sequence: u32,
    turns: &mut Turns,
) -> Vec<Hop> {
    let router = |terminal| fabric.terminal_router(terminal).expect("terminals are live");
    let (from, to) = (router(source), router(destination));
    let paths: Vec<&[Hop]> = routes.paths.paths(from, to).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let number = match routes.paths.choice() {
        PathChoice::Random => {
            let upper = drawn(routes.seed, source, sequence) >> 32;
            (u128::from(upper) * paths.len() as u128 / (1 << 32)) as usize
        }
        PathChoice::RoundRobin => {
            let turn = turns.entry((source, to)).or_default();
            *turn += 1;
            (*turn - 1) % paths.len()
        }
    };
    paths[number].to_vec()
}

/// The virtual channel in which a packet is injected, of so many, if it goes by a relation or by paths.
pub fn injected_on(routes: &Routes, destination: u32, virtual_channels: usize) -> Option<usize> {
    let any_fabric = matches!(routes, Routes::Relation(_) | Routes::Paths(_));
    any_fabric.then(|| destination as usize % virtual_channels)
}
