//! Whether a relation with a ring is right, whatever packets choose (relation_proof.rs says what that means).
//!
//! A place, a (channel, lane), is on the ring if some hop says so. The proof is that of bubble flow
//! control (\[bubble-flow-control\]), with packets of one size. Looked at are all states that
//! packets can come to:
//!
//! 1. Whoever comes to a place of the ring comes along it or says that it enters it, and along it one place leads to one other
//!    place, and no two lead to the same. So rings have a bubble for ever, once they have it: a hop along moves it, and one
//!    that enters leaves it.
//! 2. A packet on the ring can go on along it, and one that is not can enter it. So where some packet is on a ring, the one
//!    behind the bubble can move; and if all rings are empty, whoever enters has the room.
//! 3. But for fallback hops onto the ring packets can't walk in circles. Of those a packet takes [`MAX_FALLBACKS`], then it
//!    stays on the ring where it next gets there, and the ring leads past its destination from wherever it can be. So each
//!    packet takes a bounded number of hops, and as some packet can always move, all arrive.

use rayon::prelude::*;

use super::choice_proof::go;
use super::relation::{Hop, MAX_FALLBACKS, Relation, Ring};
use super::{LaneChannel, RelationFlaw, RelationProof};
use flitlab_fabric::{Fabric, NONE};

#[cfg(test)]
mod tests;

/// Follows all choices of packets between all routers with live terminals.
pub(super) fn prove_ring(fabric: &Fabric, relation: &Relation) -> RelationProof {
    let ends = fabric.ends();
    let marks = Marks::new(fabric, relation, &ends);
    let found: Vec<(Vec<RelationFlaw>, u32)> =
        ends.par_iter().map(|&to| Look::new(fabric, relation, &marks, to).run(&ends)).collect();
    let free = found.iter().map(|(_, longest)| *longest).max().unwrap_or(0);
    let mut flaws: Vec<RelationFlaw> = found.into_iter().flat_map(|(flaws, _)| flaws).collect();
    flaws.sort_by_key(RelationFlaw::is_cycle);
    let is_unconnected =
        |flaw: &&RelationFlaw| matches!(flaw, RelationFlaw::DeadEnd { after: None, .. });
    let unconnected = flaws.iter().filter(is_unconnected).count();
    let pairs = (ends.len() * ends.len().saturating_sub(1) - unconnected) as u64;
    let dependencies = marks.next.iter().filter(|&&next| next != NONE).count();
    let round = u32::try_from(dependencies).unwrap_or(u32::MAX);
    let most = (u32::from(MAX_FALLBACKS) + 1).saturating_mul(free.saturating_add(1));
    let longest = if free == u32::MAX { free } else { most.saturating_add(round) };
    RelationProof { pairs, dependencies: dependencies as u64, longest, flaws }
}

/// What is on the ring, by state of arrival.
struct Marks {
    on_ring: Vec<bool>,
    /// The place to which a hop along the ring leads, and the one from which it does, of several the first that was found.
    next: Vec<u32>,
    before: Vec<u32>,
}

impl Marks {
    fn new(fabric: &Fabric, relation: &Relation, ends: &[u32]) -> Self {
        let states = relation.states() as usize;
        let mut marks = Self {
            on_ring: vec![false; states],
            next: vec![NONE; states],
            before: vec![NONE; states],
        };
        for state in 0..relation.states() {
            let Some(at) = relation.router(fabric, state) else { continue };
            let mut lists: Vec<u32> = ends.iter().map(|&to| relation.list(state, to)).collect();
            lists.sort_unstable();
            lists.dedup();
            let hops = lists.iter().flat_map(|&list| relation.hops_of_list(list));
            for hop in hops.filter(|hop| hop.ring != Ring::Off) {
                let Some((channel, _)) = go(fabric, relation.lanes(), at, *hop) else { continue };
                let after = relation.arrived(channel, hop.lane);
                marks.on_ring[after as usize] = true;
                if hop.ring == Ring::Along {
                    set_once(&mut marks.next[state as usize], after);
                    set_once(&mut marks.before[after as usize], state);
                }
            }
        }
        marks
    }

    /// Whether a hop from one state to another does what it says of the ring.
    fn allow(&self, state: u32, hop: Hop, after: u32) -> bool {
        match hop.ring {
            Ring::Off => !self.on_ring[after as usize],
            Ring::Enters => true,
            Ring::Along => {
                self.on_ring[state as usize]
                    && self.next[state as usize] == after
                    && self.before[after as usize] == state
            }
        }
    }
}

fn set_once(place: &mut u32, to: u32) {
    if *place == NONE {
        *place = to;
    }
}

/// Not seen yet, come through by the present walk; else the most hops that are left.
const UNSEEN: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

/// Packets for one destination.
struct Look<'a> {
    fabric: &'a Fabric,
    relation: &'a Relation,
    marks: &'a Marks,
    to: u32,
    flaws: Vec<RelationFlaw>,
}

impl<'a> Look<'a> {
    fn new(fabric: &'a Fabric, relation: &'a Relation, marks: &'a Marks, to: u32) -> Self {
        Self { fabric, relation, marks, to, flaws: Vec::new() }
    }

    /// What is wrong, and the most hops without the fallback hops onto the ring; `u32::MAX` if they lead in a circle.
    fn run(mut self, ends: &[u32]) -> (Vec<RelationFlaw>, u32) {
        let reached = self.reach(ends);
        let whole = self.flaws.is_empty();
        if whole {
            reached.iter().for_each(|&state| self.look_at(state));
            self.look_along(&reached);
        }
        let longest = if whole { self.walk(&reached) } else { 0 };
        (self.flaws, longest)
    }

    /// Where a hop leads, and the router there.
    fn go(&self, state: u32, hop: Hop) -> Option<(u32, u32)> {
        let at = self.relation.router(self.fabric, state)?;
        let (channel, router) = go(self.fabric, self.relation.lanes(), at, hop)?;
        Some((self.relation.arrived(channel, hop.lane), router))
    }

    fn router(&self, state: u32) -> u32 {
        self.relation.router(self.fabric, state).expect("packets come to live places only")
    }

    /// The states that packets come to before they are there. All have hops that lead somewhere, or else there are flaws.
    fn reach(&mut self, ends: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; self.relation.states() as usize];
        let sources = ends.iter().filter(|&&source| source != self.to);
        let mut reached: Vec<u32> = sources.map(|&source| self.relation.injected(source)).collect();
        reached.iter().for_each(|&state| seen[state as usize] = true);
        let mut place = 0;
        while let Some(&state) = reached.get(place) {
            place += 1;
            let hops = self.relation.hops(state, self.to);
            let (destination, at) = (self.to, self.router(state));
            if hops.is_empty() {
                let after = self.relation.place(state);
                self.flaws.push(RelationFlaw::DeadEnd { destination, at, after });
            }
            for &hop in hops {
                match self.go(state, hop) {
                    None => self.flaws.push(RelationFlaw::NoChannel { destination, at, hop }),
                    Some((after, router)) => {
                        if router != self.to && !std::mem::replace(&mut seen[after as usize], true)
                        {
                            reached.push(after);
                        }
                    }
                }
            }
        }
        reached
    }

    /// Whether hops keep the bubble, and there is one onto the ring; along it, if the packet is on it.
    fn look_at(&mut self, state: u32) {
        let (destination, at) = (self.to, self.router(state));
        let is_on_ring = self.marks.on_ring[state as usize];
        let mut escapes = false;
        for &hop in self.relation.hops(state, self.to) {
            let (after, _) = self.go(state, hop).expect("all were followed");
            if !self.marks.allow(state, hop, after) {
                self.flaws.push(RelationFlaw::NoBubble { destination, at, hop });
            }
            escapes |= if is_on_ring { hop.ring == Ring::Along } else { hop.ring != Ring::Off };
        }
        if !escapes {
            let after = self.relation.place(state);
            self.flaws.push(RelationFlaw::NoEscape { destination, at, after });
        }
    }

    /// Whether packets that stay on the ring come by.
    fn look_along(&mut self, reached: &[u32]) {
        let mut comes_by: Vec<Option<bool>> = vec![None; self.relation.states() as usize];
        let mut way = Vec::new();
        for &start in reached.iter().filter(|&&state| self.marks.on_ring[state as usize]) {
            let mut state = start;
            let found = loop {
                if let Some(known) = comes_by[state as usize] {
                    break known;
                }
                // Who comes here again comes by nowhere else.
                comes_by[state as usize] = Some(false);
                way.push(state);
                state = self.marks.next[state as usize];
                if state == NONE || self.router(state) == self.to {
                    break state != NONE;
                }
            };
            way.drain(..).for_each(|state| comes_by[state as usize] = Some(found));
            if !found {
                let place: LaneChannel =
                    self.relation.place(start).expect("the ring is of channels");
                self.flaws.push(RelationFlaw::Missed { destination: self.to, place });
            }
        }
    }

    /// The most hops that are no fallback hops onto the ring, from any state.
    fn walk(&mut self, reached: &[u32]) -> u32 {
        let relation = self.relation;
        let mut left = vec![UNSEEN; relation.states() as usize];
        let mut longest = 0;
        for &start in reached {
            if left[start as usize] != UNSEEN {
                continue;
            }
            left[start as usize] = OPEN;
            let mut way = vec![(start, 0, 0_u32)];
            while let Some((state, place, most)) = way.last_mut() {
                let Some(&hop) = relation.hops(*state, self.to).get(*place) else {
                    let (state, _, most) = way.pop().expect("it has an end");
                    left[state as usize] = most;
                    longest = longest.max(most);
                    if let Some((.., before)) = way.last_mut() {
                        *before = (*before).max(most + 1);
                    }
                    continue;
                };
                *place += 1;
                if hop.is_fallback() && hop.ring != Ring::Off {
                    continue;
                }
                let state = *state;
                let (after, router) = self.go(state, hop).expect("all were followed");
                match left[after as usize] {
                    _ if router == self.to => *most = (*most).max(1),
                    UNSEEN => {
                        left[after as usize] = OPEN;
                        way.push((after, 0, 0));
                    }
                    OPEN => {
                        let first = way.iter().position(|step| step.0 == after).unwrap_or(0);
                        let places = way[first..].iter().filter_map(|step| relation.place(step.0));
                        let places = places.collect();
                        self.flaws.push(RelationFlaw::Loop { destination: self.to, places });
                        return u32::MAX;
                    }
                    known => *most = (*most).max(known + 1),
                }
            }
        }
        longest
    }
}
