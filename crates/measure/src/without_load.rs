//! Hops and latencies of packets that find nothing in their way, where routers choose how they go on.
//!
//! Of packets of a relation they are means over all ways, each with the share of the packets that
//! takes it. Of packets on a torus that may leave the shortest ways, some of each pair are followed.

use std::collections::{BTreeMap, BTreeSet};

use super::bound::{LongerWays, Stream};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_engine::{EmptyNetwork, Parameters};
use flitlab_fabric::Fabric;
use flitlab_routing::adaptive::ByDetours;
use flitlab_routing::relation::TERMINAL_CLASSES;
use flitlab_routing::without_load::{RelationWays, Sequences};
use flitlab_routing::{Adaptive, RelationRoutes, Routes};
use flitlab_traffic::Access;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Packets of a pair that are followed on a torus, and about how many of all pairs.
const FOLLOWED: u64 = 64;
const ALL_FOLLOWED: u64 = 1 << 20;

/// Entries of a list after which those of one pair are put together.
const MANY: usize = 1 << 22;

/// Hops and latencies without load.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub hops_mean: f64,
    pub hops_maximum: u32,
    pub latency_mean: f64,
    pub latency_maximum: Picoseconds,
    pub longer_ways: LongerWays,
}

impl Sums {
    /// Whether the means are those of others, apart from the rounding of sums.
    pub(super) fn is_close_to(&self, other: &Self) -> bool {
        let is_close = |own: f64, other: f64| (own - other).abs() <= 1e-9 * other.abs();
        is_close(self.hops_mean, other.hops_mean) && is_close(self.latency_mean, other.latency_mean)
    }
}

/// What sends to what: the destination's router and its terminal's class there, the source's router,
/// and the classes of both terminals' cables.
type Between = (u32, u8, u32, [u8; 2]);

/// Packets that go one way between the terminals of a stream.
struct List {
    /// The packets of a message with their flits.
    packets: Vec<(f64, u32)>,
    /// Messages between two ends.
    flows: Vec<(Between, f64)>,
    /// Messages by the classes of both ends and the sequence of cables.
    travelled: BTreeMap<([u8; 2], u32), f64>,
}

impl List {
    fn add(&mut self, between: Between, rate: f64) {
        match self.flows.last_mut() {
            Some((last, all)) if *last == between => *all += rate,
            _ => self.flows.push((between, rate)),
        }
        if self.flows.len() == MANY {
            self.put_together();
        }
    }

    /// Puts flows between the same ends together, by destination.
    fn put_together(&mut self) {
        self.flows.sort_by_key(|flow| flow.0);
        self.flows.dedup_by(|more, flow| {
            let same = more.0 == flow.0;
            flow.1 += if same { more.1 } else { 0.0 };
            same
        });
    }
}

/// The routings whose ways without load are looked for.
enum Followed<'a> {
    Relation(&'a RelationRoutes),
    Torus(&'a Adaptive),
}

/// The packets of all streams.
pub(super) struct Lists<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    followed: Followed<'a>,
    /// By terminal: its class among those of its router.
    classes: Vec<u8>,
    sequences: Sequences,
    lists: Vec<List>,
}

impl<'a> Lists<'a> {
    /// `None` if sources choose among ways that are known.
    pub(super) fn of(fabric: &'a Fabric, routes: &'a Routes) -> Option<Self> {
        let followed = match routes {
            Routes::Relation(routes) => Followed::Relation(routes),
            Routes::Adaptive(adaptive) if adaptive.leaves_shortest_ways() => {
                Followed::Torus(adaptive)
            }
            _ => return None,
        };
        let mut classes = vec![0; fabric.terminals() as usize];
        if let Followed::Relation(routes) = followed
            && routes.relation.has_classes()
        {
            for own in fabric.terminals_by_router() {
                for (place, terminal) in (0u32..).zip(own) {
                    classes[terminal as usize] = narrow(place % u32::from(TERMINAL_CLASSES));
                }
            }
        }
        let (sequences, lists) = (Sequences::default(), Vec::new());
        Some(Self { fabric, routes, followed, classes, sequences, lists })
    }

    /// Adds the packets of a stream, of every so-manieth source.
    pub(super) fn add(&mut self, parameters: &Parameters, stream: &Stream<'_>, stride: usize) {
        let sources = || stream.senders.iter().copied().step_by(stride);
        let class = parameters.class(stream.class);
        let reads = matches!(stream.access, Access::Read { .. });
        let is_response = [false, reads];
        for ((packets, is_back), is_response) in
            stream.packets(parameters).into_iter().zip([false, true]).zip(is_response)
        {
            if packets.is_empty() {
                continue;
            }
            let mut list = List { packets, flows: Vec::new(), travelled: BTreeMap::new() };
            match self.followed {
                Followed::Relation(_) => {
                    for_each_pair(stream, sources(), is_back, |ends, rate| {
                        list.add(self.between(ends), rate);
                    });
                }
                Followed::Torus(adaptive) => {
                    let chooses = class.is_adaptive(!reads, is_response);
                    let mut pairs = 0;
                    for_each_pair(stream, sources(), is_back, |_, _| pairs += 1);
                    let chooses = chooses.then_some(adaptive);
                    self.follow(
                        (chooses, pairs),
                        parameters,
                        (stream, sources(), is_back),
                        &mut list,
                    );
                }
            }
            self.lists.push(list);
        }
    }

    fn between(&self, (source, destination): (u32, u32)) -> Between {
        let router = |terminal| self.fabric.terminal_router(terminal).expect("live");
        let ends = [source, destination].map(|terminal| self.fabric.terminal_class(terminal));
        (router(destination), self.classes[destination as usize], router(source), ends)
    }

    /// Follows packets of each pair: those that choose, or else those that go by the escape's rule.
    fn follow(
        &mut self,
        (adaptive, pairs): (Option<&Adaptive>, u64),
        parameters: &Parameters,
        (stream, sources, is_back): (&Stream<'_>, impl Iterator<Item = u32>, bool),
        list: &mut List,
    ) {
        let full = (parameters.buffer + 1).saturating_sub(parameters.maximum_packet());
        let draws = adaptive.is_some_and(|adaptive| adaptive.rules().is_random());
        let count = if draws { (ALL_FOLLOWED / pairs.max(1)).clamp(1, FOLLOWED) } else { 1 };
        let (fabric, routes) = (self.fabric, self.routes);
        let sequences = &mut self.sequences;
        let mut way = Vec::new();
        for_each_pair(stream, sources, is_back, |(source, destination), rate| {
            let router = |terminal| fabric.terminal_router(terminal).expect("live");
            let ends = [source, destination].map(|terminal| fabric.terminal_class(terminal));
            let mut random =
                ChaCha8Rng::seed_from_u64(u64::from(source) << 32 | u64::from(destination));
            for _ in 0..count {
                way.clear();
                let mut each = |channel| way.push(fabric.cable_class(channel));
                match adaptive {
                    Some(adaptive) => {
                        let routers = (router(source), router(destination));
                        let random = draws.then_some(&mut random);
                        adaptive.for_each_channel_without_load(
                            fabric,
                            routers,
                            (random, full),
                            each,
                        );
                    }
                    None => routes.for_each_channel(fabric, source, destination, &mut each),
                }
                let way = sequences.number(way.iter().copied());
                *list.travelled.entry((ends, way)).or_insert(0.0) += rate / count as f64;
            }
        });
    }

    /// The hops and latencies of all packets together.
    pub(super) fn sums(mut self, parameters: &Parameters) -> Sums {
        let empty = EmptyNetwork::new(parameters, self.fabric.cable_classes());
        let mut circles = false;
        if let Followed::Relation(routes) = self.followed {
            circles = self.find_ways(routes);
        }
        let (mut packets, mut hops, mut latency) = (0.0, 0.0, 0.0);
        let (mut hops_maximum, mut latency_maximum) = (0, Picoseconds::ZERO);
        for list in &self.lists {
            for (&(ends, way), &rate) in &list.travelled {
                let length: u32 = narrow(self.sequences.classes(way).count());
                hops_maximum = hops_maximum.max(length);
                for &(count, flits) in &list.packets {
                    let own = empty.latency(ends, self.sequences.classes(way), flits);
                    latency_maximum = latency_maximum.max(own);
                    latency += rate * count * own.0 as f64;
                    hops += rate * count * f64::from(length);
                    packets += rate * count;
                }
            }
        }
        let packets = f64::max(packets, f64::MIN_POSITIVE);
        let longer_ways = match self.longer_ways() {
            LongerWays::No if circles => LongerWays::Some,
            LongerWays::AtMost(most) if most <= hops_maximum => LongerWays::No,
            longer => longer,
        };
        Sums {
            hops_mean: hops / packets,
            hops_maximum,
            latency_mean: latency / packets,
            latency_maximum,
            longer_ways,
        }
    }

    /// Finds the ways of all flows. Returns whether some packets can walk in a circle: they count by
    /// one way.
    fn find_ways(&mut self, routes: &RelationRoutes) -> bool {
        let mut sources: BTreeMap<(u32, u8), BTreeSet<u32>> = BTreeMap::new();
        for list in &mut self.lists {
            list.put_together();
            for &((destination, class, source, _), _) in &list.flows {
                sources.entry((destination, class)).or_default().insert(source);
            }
        }
        let pairs = sources.values().map(|sources| sources.len() as u64).sum();
        let mut ways = RelationWays::new(self.fabric, routes, pairs);
        let mut next = vec![0; self.lists.len()];
        let mut circles = false;
        let (fabric, lists, sequences) = (self.fabric, &mut self.lists, &mut self.sequences);
        for (&end, sources) in &sources {
            let mut found = Vec::new();
            ways.towards(end, sources.iter().copied(), sequences, |_, ways| {
                found.push(ways.map(<[_]>::to_vec));
            });
            for (source, found) in sources.iter().zip(found) {
                let found = found.unwrap_or_else(|| {
                    circles = true;
                    let mut way = Vec::new();
                    let each = |channel| way.push(fabric.cable_class(channel));
                    routes.for_each_channel(fabric, (*source, end.0), each);
                    vec![(sequences.number(way.into_iter()), 1.0)]
                });
                for (list, next) in lists.iter_mut().zip(&mut next) {
                    let is_own =
                        |it: &&(Between, f64)| (it.0.0, it.0.1, it.0.2) == (end.0, end.1, *source);
                    while let Some(&((.., ends), rate)) = list.flows.get(*next).filter(is_own) {
                        *next += 1;
                        for &(way, share) in &found {
                            *list.travelled.entry((ends, way)).or_insert(0.0) += rate * share;
                        }
                    }
                }
            }
        }
        circles
    }

    /// Whether packets take longer ways under load.
    fn longer_ways(&self) -> LongerWays {
        match self.followed {
            Followed::Relation(routes) if !routes.leads_off() => LongerWays::No,
            Followed::Relation(routes) => match routes.relation.longest() {
                u32::MAX => LongerWays::Some,
                most => LongerWays::AtMost(most),
            },
            Followed::Torus(adaptive) if !adaptive.decides() => LongerWays::No,
            Followed::Torus(adaptive) => match adaptive.rule() {
                ByDetours::Minimal => LongerWays::No,
                ByDetours::Nodes(_) | ByDetours::Phases(_) => LongerWays::Some,
                ByDetours::Orthants(_) => {
                    let torus = self.fabric.coordinates();
                    LongerWays::AtMost(torus.sizes().iter().map(|size| size - 1).sum())
                }
            },
        }
    }
}

/// Calls `each` with the ends of each flow of a stream, or of its answers, and its rate.
fn for_each_pair(
    stream: &Stream<'_>,
    sources: impl Iterator<Item = u32>,
    is_back: bool,
    mut each: impl FnMut((u32, u32), f64),
) {
    for source in sources {
        let rate = stream.weight * stream.pattern.rate(source);
        stream.pattern.for_each_share(source, |destination, share| {
            let ends = if is_back { (destination, source) } else { (source, destination) };
            each(ends, rate * share);
        });
    }
}
