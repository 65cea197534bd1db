//! What packets may choose by adaptive routings and relations, and which paths they take, from
//! docs/model.md alone: the tables are all that is shared with the fast engine.

use std::collections::BTreeMap;

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_routing::{
    Header, PathRoutes, Preference, RelationRoutes, Routes,
    relation::{Hop, PathChoice, Ring},
};

use super::{
    detours::Adaptive,
    packet::Packet,
    phased::Phased,
    ways::{drawn, splitmix},
};

/// The place of a terminal among those of its router.
pub fn place(fabric: &Fabric, terminal: u32) -> usize {
    let router = fabric.terminal_router(terminal);
    (0..terminal).filter(|&before| fabric.terminal_router(before) == router).count()
}

/// The outputs of a packet that chooses by an adaptive routing, as ports with virtual channels.
pub struct Choice {
    /// Those that bring it nearer, if it may take them.
    pub nearer: Vec<(u16, usize)>,
    /// The one on which it can escape.
    pub escape: (u16, usize),
}

/// What a packet that has come to a router in a virtual channel may choose by an adaptive routing;
/// `None` if it doesn't choose, or is at its destination. It chooses no port that has failed since.
pub fn choice(
    adaptive: Option<&Adaptive<'_>>,
    fabric: &Fabric,
    packet: &Packet,
    (router, came_in): (u32, usize),
    has_failed: impl Fn(u16) -> bool,
) -> Option<Choice> {
    let adaptive = adaptive.filter(|_| packet.adaptive)?;
    let course = packet.course.as_ref().expect("it has been injected");
    let destination = fabric.terminal_router(packet.destination).expect("terminals are live");
    if router == destination && course.to == destination {
        return None;
    }
    let channels = adaptive.rules.channels;
    let to_intermediate = course.to != destination;
    let escape = if to_intermediate { channels.escape_to_intermediate } else { channels.escape };
    let escape = usize::from(escape);
    let (mut ports, way_out) = adaptive.outputs(router, course.to, &course.rounds);
    if adaptive.has_table() && came_in == escape {
        // It stays on the table's way as far as its leg goes.
        ports.clear();
    }
    ports.retain(|&port| !has_failed(port));
    let nearer = ports.into_iter().map(|port| (port, channels.adaptive.into())).collect();
    let escape = adaptive.of_pair(escape, router, course.to, way_out);
    Some(Choice { nearer, escape: (way_out, escape) })
}

/// The hops that a relation allows a packet that has come to a router in a virtual channel, in the
/// order in which it likes them with equal credits; empty at its destination. It chooses no port
/// that has failed since, but escapes by it, and takes it like an escape where nothing else is left.
pub fn hops(
    (routes, phased): (&RelationRoutes, Option<&Phased<'_>>),
    fabric: &Fabric,
    packet: &Packet,
    (router, came_in): (u32, usize),
    has_failed: impl Fn(u16) -> bool,
) -> Vec<Hop> {
    let destination = fabric.terminal_router(packet.destination).expect("it is live");
    if router == destination {
        return Vec::new();
    }
    let relation = &routes.relation;
    let mut hops = match (phased, packet.came) {
        (Some(phased), _) => phased.hops(packet, router),
        (None, None) => relation.hops(relation.injected(router), destination).to_vec(),
        (None, Some(channel)) => {
            relation.hops(relation.arrived(channel, came_in as u8), destination).to_vec()
        }
    };
    assert!(!hops.is_empty(), "no way leads on");
    if packet.fallbacks >= 16
        && let Some(&along) = hops.iter().find(|hop| hop.ring == Ring::Along)
    {
        hops = vec![Hop { escape: false, ..along }];
    }
    let place = place(fabric, packet.destination);
    hops.retain(|hop| hop.classes >> (place % 32) & 1 == 1);
    let stays = |hop: &Hop| hop.escape || !has_failed(hop.port);
    if hops.iter().any(stays) {
        hops.retain(stays);
    } else {
        // All are by failed channels, and taken as escapes are, none before another.
        hops.iter_mut().for_each(|hop| (hop.escape, hop.detour) = (true, false));
    }
    assert!(hops.is_sorted_by_key(|hop| (hop.port, hop.vc)));
    if routes.random_ties {
        let packet = drawn(routes.seed, packet.source, packet.sequence) >> 48;
        let first = chance_at(router, packet) as usize % hops.len();
        hops.rotate_left(first);
    }
    hops
}

/// A packet's random number at a router, of 16 bits, from the one that it was given.
pub fn chance_at(router: u32, packet: u64) -> u64 {
    let mixed = u128::from((packet << 16) ^ u64::from(router)) * 2_654_435_761;
    ((mixed % (1 << 32)) >> 16) as u64
}

/// What a packet sees of a hop of a relation.
pub struct Seen {
    /// Flits that wait for its output, by virtual channel.
    pub waits: Vec<u32>,
    /// When a packet took its output last, by virtual channel.
    pub taken: Vec<Picoseconds>,
    /// Its virtual channel.
    pub virtual_channel: usize,
    /// Credits of that one.
    pub credits: u32,
}

/// Of ways on, in this order where all else is equal, the one that a packet prefers.
pub fn most_preferred<T: Copy>(
    routes: &Routes,
    ways: impl Iterator<Item = T>,
    seen: impl Fn(&T) -> Seen,
) -> Option<T> {
    let preference = match routes {
        Routes::Relation(routes) => routes.preference,
        _ => Preference::LeastQueued,
    };
    let mut ways: Vec<(T, Seen)> = ways.map(|way| (way, seen(&way))).collect();
    // Each step leaves those with the least.
    let mut keep = |measure: &dyn Fn(&Seen) -> u64| {
        let least = ways.iter().map(|(_, seen)| measure(seen)).min();
        ways.retain(|(_, seen)| Some(measure(seen)) == least);
    };
    let latest = |seen: &Seen| seen.taken.iter().map(|time| time.0).max().unwrap_or(0);
    match preference {
        Preference::LeastQueued => {
            keep(&|seen| seen.waits.iter().map(|&flits| u64::from(flits)).sum());
            keep(&|seen| u64::from(u32::MAX - seen.credits));
        }
        Preference::Random => {}
        Preference::LeastRecentlyUsed => {
            keep(&latest);
            keep(&|seen| seen.taken[seen.virtual_channel].0);
        }
        Preference::MinimalMultiplexed => {
            keep(&|seen| seen.waits.iter().filter(|&&flits| flits > 0).count() as u64);
            keep(&latest);
            keep(&|seen| seen.taken[seen.virtual_channel].0);
        }
    }
    ways.first().map(|&(way, _)| way)
}

/// For each source and router of destinations, how many packets there were.
pub type Turns = BTreeMap<(u32, u32), usize>;

/// The hops of the path that a packet takes, which is injected now, from its source's router to its
/// destination's.
pub fn path(
    routes: &PathRoutes,
    packet: &Packet,
    (from, to): (u32, u32),
    turns: &mut Turns,
) -> Vec<Hop> {
    let paths: Vec<&[Hop]> = routes.paths.paths(from, to).collect();
    if paths.is_empty() {
        return Vec::new();
    }
    let number = match routes.paths.choice() {
        PathChoice::Random => {
            let upper = drawn(routes.seed, packet.source, packet.sequence) >> 32;
            (u128::from(upper) * paths.len() as u128 / (1 << 32)) as usize
        }
        PathChoice::Hash => {
            let upper = drawn(routes.seed, packet.source, packet.destination) >> 32;
            (u128::from(upper) * paths.len() as u128 / (1 << 32)) as usize
        }
        PathChoice::RoundRobin => {
            let turn = turns.entry((packet.source, to)).or_default();
            *turn += 1;
            (*turn - 1) % paths.len()
        }
    };
    paths[number].to_vec()
}

/// The header that a packet gets which is injected now, of several, each with its count in a round:
/// that of the route that is farthest behind the packets it should have had by now.
pub fn header(routes: &[(Header, u8)], packet: &Packet, to: u32, turns: &mut Turns) -> Header {
    let turn = turns.entry((packet.source, to)).or_default();
    let counts: Vec<i64> = routes.iter().map(|route| i64::from(route.1)).collect();
    let total: i64 = counts.iter().sum();
    let mut had = vec![0; counts.len()];
    let mut next = 0;
    for packets in 1..=(*turn as i64 % total) + 1 {
        let behind = |number: usize| packets * counts[number] - total * had[number];
        next = (0..counts.len()).rev().max_by_key(|&it| behind(it)).expect("there are several");
        had[next] += 1;
    }
    *turn += 1;
    routes[next].0
}

/// What an input port's virtual channel draws at an instant for an output of a router, where
/// arbitration is at random: the lowest one is served.
pub fn lot(now: Picoseconds, router: usize, output: u64, (port, vc): (usize, usize)) -> u64 {
    let of_output = splitmix(splitmix(now.0) ^ (router as u64 * 65536 + output));
    splitmix(of_output ^ (port as u64 * 256 + vc as u64))
}
