//! The proof that packets with a choice of ways arrive, and that no choices lead to deadlock.
//!
//! The condition is that of relation_proof.rs (\[duato\], the sufficient half). Here hops may also
//! depend on the ways round to which a packet is bound, and on whether it has an intermediate node
//! ahead. Each of these errands is followed over all hops, from all places where a packet on it can
//! begin.
//!
//! The extended dependency graph has the virtual channels of the escape as vertices. An edge leads
//! from one to another if some packet that holds the first can ask for the second as an escape. It
//! may do so at once, after more hops that are no escapes, or after a turn at an intermediate node
//! in between. Packets without a choice, such as those of reads, hold and ask for the same virtual
//! channels. So their hops count as escapes.
//!
//! Where the proof can't tell it assumes the worse:
//! - A packet that decides on the way may do so at any router.
//! - A packet may turn at any router that it can reach on its way to an intermediate node.
//! - A packet that escapes, chooses again and then turns may ask for any escape afterwards.
//!
//! In a relation with phases a place is also a phase, and packets turn and decide where their
//! phases say, no sooner. The legs to all vias are followed from all places where packets can begin
//! them, then those to all destinations from where these end and from where packets decide, until
//! no place is new. So every packet may have any via, whatever the rule draws, but for those that
//! the phases name as lost.
//!
//! The proof knows no rules: it gets the hops as a function of a packet's place and of its errand.

use std::collections::HashSet;

use rayon::prelude::*;

use super::alike_vcs::AlikeVcs;
use super::{RelationFlaw, RelationProof, cycle};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;
use flitlab_routing::VirtualChannel;
use flitlab_routing::adaptive::Heading;
use flitlab_routing::relation::{Hop, Phase, Phases, Relation};

#[cfg(test)]
mod tests;

/// The place of a packet's head: a router, at which it was injected or to which it came over a
/// channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub router: u32,
    pub came: Option<VirtualChannel>,
    /// Its phase; 0 if there are none.
    pub phase: u8,
}

/// The part of its way that a packet is on, and the directions to which it is bound.
#[derive(Clone, Copy, Debug)]
pub(super) enum Leg {
    /// To an intermediate node or a via, from which it may go on to any router.
    First { heading: Heading },
    /// To its destination.
    Last { heading: Heading },
    /// A packet without a choice: injected on this virtual channel, on which it stays.
    Fixed { vc: u8 },
}

/// A leg, and the router where it ends, or the target of a relation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Errand {
    pub to: u32,
    pub leg: Leg,
}

/// The packets of a routing.
#[derive(Clone, Debug)]
pub(super) struct Packets {
    /// Number of virtual channels.
    pub vcs: u8,
    /// Whether a virtual channel is an escape: by channel, then virtual channel.
    pub escapes: Vec<bool>,
    /// The virtual channels on which a packet can reach its intermediate node, a bit each; 0 if
    /// there are no such nodes.
    pub turning: u16,
    /// The virtual channels on which a packet can come to a router where it decides on a leg with
    /// a choice, a bit each.
    pub deciding: u16,
    pub legs: Vec<Leg>,
    /// By virtual channel: how many it stands for that are alike.
    pub sizes: Vec<u64>,
}

impl Packets {
    /// Packets whose hops are all escapes, since a relation has no others.
    pub(super) fn without_escapes(fabric: &Fabric, vcs: u8) -> Self {
        let escapes = vec![true; fabric.channel_slots() as usize * usize::from(vcs)];
        let sizes = vec![1; vcs.into()];
        Self { vcs, escapes, turning: 0, deciding: 0, legs: Vec::new(), sizes }
    }
}

/// A place where packets begin a leg: its number, and the router there.
type Begin = (u32, u32);

/// Follows packets on all legs to all live routers, and looks for cycles. `hops(head, errand,
/// list)` adds the hops that a packet may take where its leg does not end.
pub(super) fn prove_choices(
    fabric: &Fabric,
    packets: &Packets,
    hops: impl Fn(Head, Errand, &mut Vec<Hop>) + Sync,
) -> RelationProof {
    let ends = fabric.ends();
    let errands: Vec<Errand> = ends
        .iter()
        .flat_map(|&to| packets.legs.iter().map(move |&leg| Errand { to, leg }))
        .collect();
    let begins = |leg: Leg| {
        let places = Places::new(fabric, packets.vcs, 1);
        let injected = ends.iter().map(|&source| (places.injected(source, 0), source)).collect();
        places.at_any_channel(
            fabric,
            injected,
            match leg {
                Leg::First { .. } => packets.deciding,
                Leg::Last { .. } => packets.deciding | packets.turning,
                Leg::Fixed { .. } => 0,
            },
        )
    };
    let new = || Walk::new(fabric, packets, None, &hops);
    let walk = errands
        .par_iter()
        .fold(new, |mut walk, &errand| {
            walk.follow_all(&begins(errand.leg), errand);
            walk
        })
        .reduce(new, Walk::merge);
    judge(&ends, packets, walk)
}

/// Follows the packets of a relation with phases that has an escape, and looks for cycles. `all`:
/// every hop counts as one.
pub(super) fn prove_phases(
    fabric: &Fabric,
    packets: &Packets,
    (relation, phases): (&Relation, &Phases),
    (alike, all): (&AlikeVcs<'_>, bool),
) -> RelationProof {
    // A packet that decides goes on by the hops of a phase that leads to its destination, or else
    // begins a leg to a via.
    let hops = |head: Head, errand: Errand, hops: &mut Vec<Hop>| {
        let mut add = |phase| {
            let own = alike.hops(relation.in_phase(head.router, phase), errand.to);
            hops.extend(own.iter().map(|&hop| Hop { escape: hop.escape || all, ..hop }));
        };
        match &phases.phases[usize::from(head.phase)] {
            Phase::Decides { among } => {
                let straight = among.iter().filter(|&&phase| phases.leads_straight(phase));
                straight.for_each(|&phase| add(phase));
            }
            _ => add(head.phase),
        }
    };
    let (ends, vias) = (fabric.ends(), phases.vias(fabric));
    let destinations = phases.destinations(fabric);
    let places = Places::new(fabric, packets.vcs, narrow(phases.phases.len()));
    let new = || Walk::new(fabric, packets, Some(phases), &hops);
    let starts = ends.iter().flat_map(|&source| {
        phases.starts.iter().map(move |&phase| (places.injected(source, phase), source))
    });
    let mut known: HashSet<Begin> = HashSet::new();
    let mut fresh: Vec<Begin> = starts.collect();
    let mut all_walks = new();
    while !fresh.is_empty() {
        let mut begins = fresh;
        begins.retain(|begin| known.insert(*begin));
        begins.sort_unstable();
        let of = |to_via: bool| -> Vec<Begin> {
            let is_it = |&&(place, _): &&Begin| {
                matches!(phases.phases[usize::from(places.phase(place))], Phase::Via { .. })
                    == to_via
            };
            begins.iter().filter(is_it).copied().collect()
        };
        let (to_via, to_end) = (of(true), of(false));
        let of_source = |source| -> Vec<Begin> {
            to_end.iter().filter(|begin| begin.1 == source).copied().collect()
        };
        let without_lost = |begins: &[Begin], target: u32| -> Vec<Begin> {
            let may = |&&(place, router): &&Begin| {
                phases.may_begin((router, places.phase(place)), target)
            };
            begins.iter().filter(may).copied().collect()
        };
        let heading = Heading::default();
        let first = vias.iter().map(|&to| Errand { to, leg: Leg::First { heading } });
        let last = destinations.iter().map(|&to| Errand { to, leg: Leg::Last { heading } });
        let errands: Vec<Errand> = first.chain(last).collect();
        let walk = errands
            .par_iter()
            .fold(new, |mut walk, &errand| {
                let is_to_via = matches!(errand.leg, Leg::First { .. });
                match phases.source(errand.to) {
                    Some(source) => walk.follow_all(&of_source(source), errand),
                    None => {
                        let begins = if is_to_via { &to_via } else { &to_end };
                        match phases.lost.is_empty() {
                            true => walk.follow_all(begins, errand),
                            false => walk.follow_all(&without_lost(begins, errand.to), errand),
                        }
                    }
                }
                walk
            })
            .reduce(new, Walk::merge);
        fresh = walk.ended.iter().copied().collect();
        all_walks = all_walks.merge(walk);
    }
    all_walks.longest = relation.longest();
    judge(&ends, packets, all_walks)
}

fn judge<H>(ends: &[u32], packets: &Packets, walk: Walk<'_, H>) -> RelationProof {
    let Walk { longest, places, edges, mut flaws, .. } = walk;
    let mut edges: Vec<(u32, u32)> = edges.into_iter().collect();
    edges.sort_unstable();
    flaws.sort_by_key(RelationFlaw::is_cycle);
    let size = |vertex| places.came(vertex).map_or(1, |place| packets.sizes[usize::from(place.vc)]);
    let dependencies = edges.iter().map(|&(from, to)| size(from) * size(to)).sum();
    verdict(ends, flaws, dependencies, longest, find_cycle(&places, &edges))
}

/// The result of a proof, from the flaws of the packets' ways, those with cycles last, and a cycle
/// of what they wait for.
pub(super) fn verdict(
    ends: &[u32],
    mut flaws: Vec<RelationFlaw>,
    dependencies: u64,
    longest: u32,
    cycle: Option<Vec<VirtualChannel>>,
) -> RelationProof {
    let dead_from_the_start = |flaw: &RelationFlaw| match flaw {
        RelationFlaw::DeadEnd { destination, at, after: None, .. } => Some((*at, *destination)),
        _ => None,
    };
    let unconnected: HashSet<(u32, u32)> = flaws.iter().filter_map(dead_from_the_start).collect();
    let pairs = (ends.len() * ends.len().saturating_sub(1) - unconnected.len()) as u64;
    flaws.extend(cycle.map(RelationFlaw::Cycle));
    RelationProof { pairs, dependencies, longest, flaws }
}

/// The channel of a hop from a router, and the router behind it; `None` if it leads nowhere.
pub(super) fn go(fabric: &Fabric, vcs: u8, at: u32, hop: Hop) -> Option<(u32, u32)> {
    let outputs = fabric.outputs(at);
    let exists = usize::from(hop.port) < outputs.len() && hop.vc < vcs;
    let channel = outputs.start + u32::from(hop.port);
    Some((channel, exists.then(|| fabric.target(channel)).flatten()?))
}

/// Numbers of the places of heads: each channel, virtual channel and phase, each router of
/// injection and phase, and one for packets that have turned at some intermediate node. Where
/// packets wait for each other, phases don't matter: a *vertex* is a place without its phase.
#[derive(Clone, Copy)]
struct Places {
    vcs: u32,
    phases: u32,
    arrivals: u32,
    routers: u32,
}

impl Places {
    fn new(fabric: &Fabric, vcs: u8, phases: u32) -> Self {
        let vcs = u32::from(vcs);
        Self { vcs, phases, arrivals: fabric.channel_slots() * vcs, routers: fabric.routers() }
    }

    fn arrived(&self, came: VirtualChannel, phase: u8) -> u32 {
        (came.channel * self.vcs + u32::from(came.vc)) * self.phases + u32::from(phase)
    }

    fn injected(&self, router: u32, phase: u8) -> u32 {
        (self.arrivals + router) * self.phases + u32::from(phase)
    }

    fn count(&self) -> u32 {
        (self.arrivals + self.routers) * self.phases
    }

    fn vertex(&self, place: u32) -> u32 {
        place / self.phases
    }

    fn phase(&self, place: u32) -> u8 {
        narrow(place % self.phases)
    }

    fn with_phase(&self, place: u32, phase: u8) -> u32 {
        self.vertex(place) * self.phases + u32::from(phase)
    }

    /// The vertex of packets that have turned.
    fn turned(&self) -> u32 {
        self.arrivals + self.routers
    }

    fn came(&self, vertex: u32) -> Option<VirtualChannel> {
        let vc = u8::try_from(vertex % self.vcs).ok()?;
        (vertex < self.arrivals).then_some(VirtualChannel { channel: vertex / self.vcs, vc })
    }

    /// These begins, and all arrivals on some virtual channels, a bit each.
    fn at_any_channel(&self, fabric: &Fabric, mut begins: Vec<Begin>, vcs: u16) -> Vec<Begin> {
        let channels = if vcs == 0 { 0 } else { fabric.channel_slots() };
        for channel in 0..channels {
            let Some(router) = fabric.target(channel) else { continue };
            let of_channel = (0..narrow(self.vcs)).filter(|it| vcs >> it & 1 == 1);
            let place = |vc| self.arrived(VirtualChannel { channel, vc }, 0);
            begins.extend(of_channel.map(|vc| (place(vc), router)));
        }
        begins
    }
}

fn find_cycle(places: &Places, edges: &[(u32, u32)]) -> Option<Vec<VirtualChannel>> {
    let successors = |vertex: u32| {
        let start = edges.partition_point(|edge| edge.0 < vertex);
        edges[start..].iter().take_while(move |edge| edge.0 == vertex).map(|edge| edge.1)
    };
    // A place that waits for itself would be a component of one vertex.
    if let Some(&(own, _)) = edges.iter().find(|(from, to)| from == to) {
        return Some(places.came(own).into_iter().collect());
    }
    let cycle = cycle::any(places.turned() + 1, &successors)?;
    Some(cycle.into_iter().filter_map(|place| places.came(place)).collect())
}

/// Knowledge about a place on an errand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    /// The present walk came through the place.
    Open,
    /// All hops from the place have been followed: the most hops to the leg's end.
    Done(u32),
}

/// The walk of packets, and the dependencies that it has found.
struct Walk<'a, H> {
    fabric: &'a Fabric,
    packets: &'a Packets,
    phases: Option<&'a Phases>,
    hops: &'a H,
    places: Places,
    known: Vec<Known>,
    /// By place: the escape's place from which the search reached it last.
    met: Vec<u32>,
    reached: Vec<(u32, u32)>,
    /// Where legs end at vias, in the phases that follow, and where packets decide.
    ended: HashSet<Begin>,
    edges: HashSet<(u32, u32)>,
    longest: u32,
    flaws: Vec<RelationFlaw>,
}

/// A place that the present walk came through.
struct Step {
    place: u32,
    router: u32,
    /// The position of its hops in the list of hops, and the next hop to follow.
    first: usize,
    next: usize,
    deepest: u32,
}

impl<'a, H: Fn(Head, Errand, &mut Vec<Hop>)> Walk<'a, H> {
    fn new(
        fabric: &'a Fabric,
        packets: &'a Packets,
        phases: Option<&'a Phases>,
        hops: &'a H,
    ) -> Self {
        let of_each = phases.map_or(1, |phases| narrow(phases.phases.len()));
        let places = Places::new(fabric, packets.vcs, of_each);
        let count = places.count() as usize;
        Self {
            fabric,
            packets,
            phases,
            hops,
            places,
            known: vec![Known::Nothing; count],
            met: vec![u32::MAX; count],
            reached: Vec::new(),
            ended: HashSet::new(),
            edges: HashSet::new(),
            longest: 0,
            flaws: Vec::new(),
        }
    }

    fn merge(mut self, other: Self) -> Self {
        self.edges.extend(other.edges);
        self.ended.extend(other.ended);
        self.longest = self.longest.max(other.longest);
        self.flaws.extend(other.flaws);
        self
    }

    fn hops_at(&self, place: u32, router: u32, errand: Errand, list: &mut Vec<Hop>) {
        let came = self.places.came(self.places.vertex(place));
        (self.hops)(Head { router, came, phase: self.places.phase(place) }, errand, list);
    }

    /// The place after a hop of a router, and the router there; `None` if the channel or virtual
    /// channel does not exist.
    fn go(&self, at: u32, hop: Hop) -> Option<(u32, u32)> {
        let (channel, target) = go(self.fabric, self.packets.vcs, at, hop)?;
        Some((self.places.arrived(VirtualChannel { channel, vc: hop.vc }, hop.phase), target))
    }

    fn is_escape(&self, place: u32) -> bool {
        let vertex = self.places.vertex(place) as usize;
        self.packets.escapes.get(vertex).is_some_and(|&is| is)
    }

    /// Whether a packet on an errand has ended its leg at a place. Notes where legs begin that go
    /// on from there.
    fn ends(&mut self, (place, router): Begin, errand: Errand) -> bool {
        let Some(phases) = self.phases else { return router == errand.to };
        let is_there = phases.is_reached(errand.to, router);
        match phases.phases[usize::from(self.places.phase(place))] {
            Phase::Via { then } if is_there => {
                self.ended.insert((self.places.with_phase(place, then), router));
            }
            Phase::Decides { ref among } if !is_there => {
                let to_via = among.iter().filter(|&&phase| !phases.leads_straight(phase));
                let begins = to_via.map(|&phase| (self.places.with_phase(place, phase), router));
                self.ended.extend(begins);
            }
            _ => {}
        }
        is_there
    }

    /// The router of an errand's end, for a message.
    fn name_of(&self, errand: Errand) -> u32 {
        let Some(phases) = self.phases else { return errand.to };
        let mut routers = 0..self.fabric.routers();
        routers.find(|&router| phases.is_reached(errand.to, router)).unwrap_or(0)
    }

    /// Follows packets on an errand from all places where they can begin.
    fn follow_all(&mut self, begins: &[Begin], errand: Errand) {
        self.known.fill(Known::Nothing);
        self.reached.clear();
        let before = self.flaws.len();
        for &(place, router) in begins {
            if !self.ends((place, router), errand) {
                self.follow(place, router, errand);
            }
        }
        if self.flaws.len() == before {
            self.extend_escapes(errand);
        }
    }

    fn follow(&mut self, start: u32, router: u32, errand: Errand) {
        if self.known[start as usize] != Known::Nothing {
            return;
        }
        let mut list = Vec::new();
        let mut way = Vec::new();
        self.enter(start, router, errand, &mut list, &mut way);
        while let Some(step) = way.last_mut() {
            let (place, router) = (step.place, step.router);
            let Some(&hop) = list.get(step.next) else {
                let (deepest, first) = (step.deepest, step.first);
                self.known[place as usize] = Known::Done(deepest);
                self.longest = self.longest.max(deepest);
                list.truncate(first);
                way.pop();
                if let Some(before) = way.last_mut() {
                    before.deepest = before.deepest.max(deepest + 1);
                }
                continue;
            };
            step.next += 1;
            let Some((after, target)) = self.go(router, hop) else {
                let (destination, at) = (self.name_of(errand), router);
                self.flaws.push(RelationFlaw::NoChannel { destination, at, hop });
                continue;
            };
            let known = self.known[after as usize];
            match known {
                Known::Done(hops) => step.deepest = step.deepest.max(hops + 1),
                Known::Nothing if self.ends((after, target), errand) => {
                    self.known[after as usize] = Known::Done(0);
                    let step = way.last_mut().expect("it is on its way");
                    step.deepest = step.deepest.max(1);
                }
                Known::Nothing => {
                    self.enter(after, target, errand, &mut list, &mut way);
                }
                Known::Open => {
                    let first = way.iter().position(|step| step.place == after).unwrap_or(0);
                    let round = way[first..].iter();
                    let came = |step: &Step| self.places.came(self.places.vertex(step.place));
                    let places = round.filter_map(came).collect();
                    let destination = self.name_of(errand);
                    self.flaws.push(RelationFlaw::Loop { destination, places });
                }
            }
        }
    }

    /// Enters a place, and checks that a packet can go on and escape there.
    fn enter(
        &mut self,
        place: u32,
        router: u32,
        errand: Errand,
        list: &mut Vec<Hop>,
        way: &mut Vec<Step>,
    ) {
        self.known[place as usize] = Known::Open;
        self.reached.push((place, router));
        let first = list.len();
        self.hops_at(place, router, errand, list);
        let after = self.places.came(self.places.vertex(place));
        let at = router;
        if list.len() == first {
            let destination = self.name_of(errand);
            let phase = self.phases.map(|phases| phases.leading_on(self.places.phase(place)));
            self.flaws.push(RelationFlaw::DeadEnd { destination, at, after, phase });
        } else if !list[first..].iter().any(|&hop| {
            hop.escape && self.go(router, hop).is_none_or(|(after, _)| self.is_escape(after))
        }) {
            let destination = self.name_of(errand);
            self.flaws.push(RelationFlaw::NoEscape { destination, at, after });
        }
        way.push(Step { place, router, first, next: first, deepest: 0 });
    }

    /// Adds the edges of the extended dependency graph for packets on an errand, among the places
    /// that they reached.
    fn extend_escapes(&mut self, errand: Errand) {
        self.met.fill(u32::MAX);
        let (mut open, mut list) = (Vec::new(), Vec::new());
        let may_have_turned = matches!(errand.leg, Leg::Last { .. }) && self.packets.turning != 0;
        for (holder, router) in std::mem::take(&mut self.reached) {
            let held = self.is_escape(holder);
            if !held && !may_have_turned {
                continue;
            }
            open.push((holder, router));
            while let Some((place, router)) = open.pop() {
                list.clear();
                self.hops_at(place, router, errand, &mut list);
                for &hop in &list {
                    let (after, target) = self.go(router, hop).expect("no flaw was found");
                    if hop.escape {
                        let asked = self.places.vertex(after);
                        if held {
                            self.edges.insert((self.places.vertex(holder), asked));
                        }
                        if may_have_turned {
                            self.edges.insert((self.places.turned(), asked));
                        }
                    } else if self.known[after as usize] == Known::Done(0) {
                        if held && matches!(errand.leg, Leg::First { .. }) {
                            self.edges.insert((self.places.vertex(holder), self.places.turned()));
                        }
                    } else if held && self.met[after as usize] != holder {
                        self.met[after as usize] = holder;
                        open.push((after, target));
                    }
                }
            }
        }
    }
}
