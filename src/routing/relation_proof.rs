//! Whether a routing relation is right, whatever packets choose: every pair is connected, no packet can walk for
//! ever, none gets to where it can't go on, and no packets can wait for each other for ever.
//!
//! This shares nothing with what makes relations. For each destination it follows all choices of packets from all
//! sources, state by state. What a packet may hold and then ask for is a dependency between two (channel, lane).
//!
//! A relation without an escape must have no cycle of dependencies at all: then some packet always finds a free
//! place (W. J. Dally, C. L. Seitz, "Deadlock-Free Message Routing in Multiprocessor Interconnection Networks",
//! 1987, and as all choices are counted, for adaptive routing too). One with an escape is proved by Duato's
//! condition (J. Duato, "A Necessary and Sufficient Condition for Deadlock-Free Adaptive Routing in Wormhole
//! Networks", 1995), of which the sufficient half counts here: the hops of the escape lead on from wherever a
//! packet can be, and the extended dependency graph among the (channel, lane) of the escape has no cycle. It has an
//! edge from one to another if some packet that holds the first, as an escape or not, can ask for the second as an
//! escape, at once (direct) or after more hops that are not (indirect). All these count for wormhole and for
//! virtual cut-through switching alike, of which the latter could do without the indirect ones.

use std::collections::HashSet;

use rayon::prelude::*;

use super::relation::{Hop, Relation};
use super::{LaneChannel, cycle};
use crate::topology::Fabric;

#[cfg(test)]
mod tests;

/// What is wrong with a relation. Sources and destinations are router numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RelationFlaw {
    /// A packet to this router can get to router `at`, through `after` or injected there, and has no hop.
    DeadEnd { destination: u32, at: u32, after: Option<LaneChannel> },
    /// A hop of this router, for this destination, leads through a port that does not exist or has failed, or into
    /// a lane that does not exist.
    NoChannel { destination: u32, at: u32, hop: Hop },
    /// A packet to this router can go round these for ever.
    Loop { destination: u32, places: Vec<LaneChannel> },
    /// A packet to this router can get to router `at`, through `after` or injected there, where no hop is an escape.
    NoEscape { destination: u32, at: u32, after: Option<LaneChannel> },
    /// Each of these can wait for the next, and the last for the first: of a relation with an escape in the extended
    /// dependency graph.
    Cycle(Vec<LaneChannel>),
}

impl RelationFlaw {
    /// Whether packets can wait for each other for ever, though each of them has a way.
    pub fn is_cycle(&self) -> bool {
        matches!(self, Self::Cycle(_) | Self::NoEscape { .. })
    }

    /// What is wrong, with the names of routers and channels.
    pub fn describe(&self, fabric: &Fabric) -> String {
        let router = |&router: &u32| fabric.router_name(router);
        let place = |place: &LaneChannel| {
            format!("{} lane {}", fabric.channel_name(place.channel), place.lane)
        };
        let list = |places: &[LaneChannel]| {
            let names: Vec<String> = places.iter().map(place).collect();
            names.join(", ")
        };
        let came = |after: &Option<LaneChannel>| match after {
            Some(after) => format!("through {}", place(after)),
            None => "from its own terminals".into(),
        };
        match self {
            Self::DeadEnd { destination, at, after } => format!(
                "packets to {} that come to {} {} have nowhere to go",
                router(destination),
                router(at),
                came(after)
            ),
            Self::NoChannel { destination, at, hop } => format!(
                "{} may send packets to {} through its port {} in lane {}, which has failed or does not exist",
                router(at),
                router(destination),
                hop.port,
                hop.lane
            ),
            Self::Loop { destination, places } => format!(
                "packets to {} can go round in circles: {}",
                router(destination),
                list(places)
            ),
            Self::NoEscape { destination, at, after } => format!(
                "packets to {} that come to {} {} have no escape",
                router(destination),
                router(at),
                came(after)
            ),
            Self::Cycle(places) => format!(
                "packets can deadlock: each of these can wait for the next, the last for the first: {}",
                list(places)
            ),
        }
    }
}

/// What was proved of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationProof {
    /// Ordered pairs of different routers with live terminals that are connected.
    pub pairs: u64,
    /// Pairs of (channel, lane) of which some packet can hold the first while it asks for the second; of a relation
    /// with an escape those of the extended dependency graph.
    pub dependencies: u64,
    /// The most hops that any packet can take.
    pub longest: u32,
    pub flaws: Vec<RelationFlaw>,
}

impl RelationProof {
    /// Whether the relation is right.
    pub fn holds(&self) -> bool {
        self.flaws.is_empty()
    }

    /// The cycle of places that can wait for each other, if there is one.
    pub fn cycle(&self) -> Option<&[LaneChannel]> {
        self.flaws.iter().find_map(|flaw| match flaw {
            RelationFlaw::Cycle(places) => Some(&places[..]),
            _ => None,
        })
    }
}

/// Follows all choices of packets between all routers with live terminals, and looks for cycles.
#[must_use]
pub fn prove_relation(fabric: &Fabric, relation: &Relation) -> RelationProof {
    let terminals = fabric.terminals_by_router();
    let ends: Vec<u32> =
        (0..fabric.routers()).filter(|&at| !terminals[at as usize].is_empty()).collect();
    // The (channel, lane) that are an escape to some destination, by state.
    let escapes = if relation.has_escape() { escapes(fabric, relation, &ends) } else { Vec::new() };
    let new = || Walk::new(fabric, relation, &escapes);
    let walk = ends
        .par_iter()
        .fold(new, |mut walk, &destination| {
            walk.follow_all(&ends, destination);
            walk
        })
        .reduce(new, Walk::merge);
    let Walk { pairs, longest, edges, mut flaws, .. } = walk;
    let mut edges: Vec<(u32, u32)> = edges.into_iter().collect();
    edges.sort_unstable();
    flaws.extend(find_cycle(relation, &edges).map(RelationFlaw::Cycle));
    RelationProof { pairs, dependencies: edges.len() as u64, longest, flaws }
}

/// Which states of arrival are reached by an escape hop to some destination.
fn escapes(fabric: &Fabric, relation: &Relation, ends: &[u32]) -> Vec<bool> {
    let mut found = vec![false; relation.states() as usize];
    for &destination in ends {
        for state in 0..relation.states() {
            for hop in relation.hops(state, destination).iter().filter(|hop| hop.escape) {
                let after =
                    relation.router(fabric, state).and_then(|at| go(fabric, relation, at, *hop));
                if let Some((state, _)) = after {
                    found[state as usize] = true;
                }
            }
        }
    }
    found
}

/// The state after a hop of a router, and the router there; `None` if there is no such channel or lane.
fn go(fabric: &Fabric, relation: &Relation, at: u32, hop: Hop) -> Option<(u32, u32)> {
    let outputs = fabric.outputs(at);
    let exists = usize::from(hop.port) < outputs.len() && hop.lane < relation.lanes();
    let channel = outputs.start + u32::from(hop.port);
    let target = exists.then(|| fabric.target(channel)).flatten()?;
    Some((relation.arrived(channel, hop.lane), target))
}

fn find_cycle(relation: &Relation, edges: &[(u32, u32)]) -> Option<Vec<LaneChannel>> {
    let successors = |vertex: u32| {
        let start = edges.partition_point(|edge| edge.0 < vertex);
        edges[start..].iter().take_while(move |edge| edge.0 == vertex).map(|edge| edge.1)
    };
    // A place that waits for itself would be a component of one.
    if let Some(&(own, _)) = edges.iter().find(|(from, to)| from == to) {
        return Some(relation.place(own).into_iter().collect());
    }
    let components = cycle::components(relation.states(), &successors);
    let component = components.iter().find(|component| component.len() > 1)?;
    let cycle = cycle::shortest(component, &successors, |_, _| true)?;
    Some(cycle.into_iter().filter_map(|state| relation.place(state)).collect())
}

/// What is known of a state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// The present walk came through it.
    Open,
    /// All that follows has been looked at: so many hops to the end at most.
    Done(u32),
}

/// Packets on their way, and what they have shown.
struct Walk<'a> {
    fabric: &'a Fabric,
    relation: &'a Relation,
    /// By state, or empty without an escape.
    escapes: &'a [bool],
    known: Vec<Known>,
    edges: HashSet<(u32, u32)>,
    pairs: u64,
    longest: u32,
    flaws: Vec<RelationFlaw>,
}

/// A state that the present walk came through.
struct Step {
    state: u32,
    router: u32,
    /// Its hop that is looked at next.
    next: usize,
    deepest: u32,
}

impl<'a> Walk<'a> {
    fn new(fabric: &'a Fabric, relation: &'a Relation, escapes: &'a [bool]) -> Self {
        Self {
            fabric,
            relation,
            escapes,
            known: vec![Known::Nothing; relation.states() as usize],
            edges: HashSet::new(),
            pairs: 0,
            longest: 0,
            flaws: Vec::new(),
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.edges.extend(other.edges);
        self.pairs += other.pairs;
        self.longest = self.longest.max(other.longest);
        self.flaws.extend(other.flaws);
        self
    }

    /// Follows packets from all other routers to one.
    fn follow_all(&mut self, ends: &[u32], destination: u32) {
        self.known.fill(Known::Nothing);
        let before = self.flaws.len();
        for &source in ends.iter().filter(|&&source| source != destination) {
            let start = self.relation.injected(source);
            self.follow(start, source, destination);
            if let Known::Done(hops) = self.known[start as usize] {
                self.longest = self.longest.max(hops);
            }
            self.pairs += u64::from(!self.relation.hops(start, destination).is_empty());
        }
        if self.flaws.len() == before && !self.escapes.is_empty() {
            self.extend_escapes(destination);
        }
    }

    fn follow(&mut self, start: u32, source: u32, destination: u32) {
        self.known[start as usize] = Known::Open;
        self.look_at(start, source, destination);
        let mut way = vec![Step { state: start, router: source, next: 0, deepest: 0 }];
        while let Some(step) = way.last_mut() {
            let (state, router) = (step.state, step.router);
            let Some(&hop) = self.relation.hops(state, destination).get(step.next) else {
                let deepest = step.deepest;
                self.known[state as usize] = Known::Done(deepest);
                way.pop();
                if let Some(before) = way.last_mut() {
                    before.deepest = before.deepest.max(deepest + 1);
                }
                continue;
            };
            step.next += 1;
            let Some((after, target)) = go(self.fabric, self.relation, router, hop) else {
                self.flaws.push(RelationFlaw::NoChannel { destination, at: router, hop });
                continue;
            };
            if self.escapes.is_empty() && self.relation.place(state).is_some() {
                self.edges.insert((state, after));
            }
            match self.known[after as usize] {
                Known::Done(hops) => step.deepest = step.deepest.max(hops + 1),
                Known::Nothing if target == destination => {
                    self.known[after as usize] = Known::Done(0);
                    step.deepest = step.deepest.max(1);
                }
                Known::Nothing => {
                    self.known[after as usize] = Known::Open;
                    self.look_at(after, target, destination);
                    way.push(Step { state: after, router: target, next: 0, deepest: 0 });
                }
                Known::Open => {
                    let first = way.iter().position(|step| step.state == after).unwrap_or(0);
                    let round = way[first..].iter();
                    let places = round.filter_map(|step| self.relation.place(step.state));
                    let places = places.collect();
                    self.flaws.push(RelationFlaw::Loop { destination, places });
                }
            }
        }
    }

    /// Whether a packet can go on, and escape, where it has come to.
    fn look_at(&mut self, state: u32, at: u32, destination: u32) {
        let hops = self.relation.hops(state, destination);
        let after = self.relation.place(state);
        if hops.is_empty() {
            self.flaws.push(RelationFlaw::DeadEnd { destination, at, after });
        } else if !self.escapes.is_empty() && !hops.iter().any(|hop| hop.escape) {
            self.flaws.push(RelationFlaw::NoEscape { destination, at, after });
        }
    }

    /// The edges of the extended dependency graph that packets to one destination give, of the states that they came
    /// to.
    fn extend_escapes(&mut self, destination: u32) {
        let mut met = vec![u32::MAX; self.relation.states() as usize];
        let mut open = Vec::new();
        for holder in 0..self.relation.states() {
            let reached = matches!(self.known[holder as usize], Known::Done(_));
            if !reached || !self.escapes[holder as usize] {
                continue;
            }
            open.push(holder);
            while let Some(state) = open.pop() {
                let router = self.relation.router(self.fabric, state).expect("it was reached");
                if router == destination {
                    continue;
                }
                for &hop in self.relation.hops(state, destination) {
                    let after = go(self.fabric, self.relation, router, hop);
                    let (after, _) = after.expect("no flaw was found");
                    if hop.escape {
                        self.edges.insert((holder, after));
                    } else if met[after as usize] != holder {
                        met[after as usize] = holder;
                        open.push(after);
                    }
                }
            }
        }
    }
}
