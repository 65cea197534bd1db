//! The proof of a relation with a ring, for all choices of packets (relation_proof.rs gives the
//! meaning).
//!
//! A virtual channel is on the ring if some hop says so. The proof is that of bubble flow control
//! (\[bubble-flow-control\]), for packets of one size. It examines all states that packets can
//! reach:
//!
//! 1. A packet comes to a place of the ring along the ring, or by a hop that is marked as entering
//!    it. Along the ring, one place leads to one other place, and no two places lead to the same.
//!    So a ring that has a bubble keeps it: a hop along the ring moves the bubble, and a packet
//!    that enters leaves it.
//! 2. A packet on the ring can go on along it, and a packet off the ring can enter it. So if some
//!    packet is on a ring, the packet behind the bubble can move. If all rings are empty, a packet
//!    that enters has the room.
//! 3. Apart from fallback hops onto the ring, packets can't walk in circles. A packet takes
//!    [`MAX_FALLBACKS`] fallback hops. Then it stays on the ring where it next reaches it, and the
//!    ring passes its destination from any place. So each packet takes a bounded number of hops,
//!    and since some packet can always move, all arrive.

use rayon::prelude::*;

use super::choice_proof::go;
use super::{RelationFlaw, RelationProof};
use flitlab_fabric::{Fabric, NONE};
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::{Hop, MAX_FALLBACKS, Relation, Ring};

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

/// The ring as its hops mark it, by state of arrival.
struct Marks {
    on_ring: Vec<bool>,
    /// The place to which a hop along the ring leads, and the one from which it comes; the first
    /// found, if there are several.
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
                let Some((channel, _)) = go(fabric, relation.vcs(), at, *hop) else { continue };
                let after = relation.arrived(channel, hop.vc);
                marks.on_ring[after as usize] = true;
                if hop.ring == Ring::Along {
                    set_once(&mut marks.next[state as usize], after);
                    set_once(&mut marks.before[after as usize], state);
                }
            }
        }
        marks
    }

    /// Whether a hop from one state to another agrees with its mark.
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

/// Marks a state that has not been seen; other values are OPEN, or the most hops left.
const UNSEEN: u32 = u32::MAX;
const OPEN: u32 = u32::MAX - 1;

/// The examination of packets for one destination.
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

    /// The flaws, and the most hops without fallback hops onto the ring; `u32::MAX` if they lead in
    /// a circle.
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

    /// The state to which a hop leads, and the router there; `None` if it leads nowhere.
    fn go(&self, state: u32, hop: Hop) -> Option<(u32, u32)> {
        let at = self.relation.router(self.fabric, state)?;
        let (channel, router) = go(self.fabric, self.relation.vcs(), at, hop)?;
        Some((self.relation.arrived(channel, hop.vc), router))
    }

    fn router(&self, state: u32) -> u32 {
        self.relation.router(self.fabric, state).expect("packets come to live places only")
    }

    /// The states that packets reach before their destination. All have hops that lead somewhere;
    /// otherwise flaws are noted.
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
                self.flaws.push(RelationFlaw::DeadEnd { destination, at, after, phase: None });
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

    /// Checks that the hops of a state keep the bubble, and that one leads onto the ring, or along
    /// it if the packet is there.
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

    /// Checks that packets that stay on the ring pass their destination.
    fn look_along(&mut self, reached: &[u32]) {
        let mut comes_by: Vec<Option<bool>> = vec![None; self.relation.states() as usize];
        let mut way = Vec::new();
        for &start in reached.iter().filter(|&&state| self.marks.on_ring[state as usize]) {
            let mut state = start;
            let found = loop {
                if let Some(known) = comes_by[state as usize] {
                    break known;
                }
                // A packet that returns to this state passes no other place.
                comes_by[state as usize] = Some(false);
                way.push(state);
                state = self.marks.next[state as usize];
                if state == NONE || self.router(state) == self.to {
                    break state != NONE;
                }
            };
            way.drain(..).for_each(|state| comes_by[state as usize] = Some(found));
            if !found {
                let place: VirtualChannel =
                    self.relation.place(start).expect("the ring is of channels");
                self.flaws.push(RelationFlaw::Missed { destination: self.to, place });
            }
        }
    }

    /// The most hops from any state that are no fallback hops onto the ring.
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
