//! The proof of a relation with phases whose hops are all judged alike, without escapes.
//!
//! The condition is that of choice_proof.rs: packets arrive whatever they choose, and no cycle of
//! virtual channels waits for itself. Here hops depend on a packet's router and phase alone. So for
//! each target packets are followed from router to router and phase to phase, once however many
//! channels lead to a router. Of each virtual channel it is noted for which hops a packet may ask
//! that holds it: a bit for each port of the router behind it and each virtual channel there.

use rayon::prelude::*;

use super::alike_vcs::AlikeVcs;
use super::choice_proof::{go, verdict};
use super::{RelationFlaw, RelationProof, cycle};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Fabric;
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::{Hop, Phase, Phases, Relation};

#[cfg(test)]
mod tests;

/// Follows all packets of a relation with phases, and looks for cycles.
pub(super) fn prove_by_phase(
    fabric: &Fabric,
    (relation, phases): (&Relation, &Phases),
    alike: &AlikeVcs<'_>,
) -> RelationProof {
    let task = Task::new(fabric, (relation, phases), alike);
    let ends = fabric.ends();
    let (vias, destinations) = (phases.vias(fabric), phases.destinations(fabric));
    let to_vias = vias.iter().map(|&number| Target { number, is_via: true });
    let to_ends = destinations.iter().map(|&number| Target { number, is_via: false });
    let targets: Vec<Target> = to_vias.chain(to_ends).collect();
    let injected = task.holders();
    let starts = ends
        .iter()
        .flat_map(|&source| phases.starts.iter().map(move |&phase| (injected + source, phase)));
    let mut known = Bits::new(task.begins());
    let mut fresh: Vec<Begin> = starts.map(|(holder, phase)| task.begin(holder, phase)).collect();
    let mut all = Walk::new(&task);
    while !fresh.is_empty() {
        fresh.retain(|begin| known.insert(task.number(begin.holder, begin.phase)));
        fresh.sort_unstable_by_key(|begin| (begin.state, begin.holder));
        let groups: Vec<&[Begin]> = fresh.chunk_by(|one, next| one.state == next.state).collect();
        let is_to_via = |group: &&&[Begin]| matches!(task.phase(group[0].phase), Phase::Via { .. });
        let (to_via, to_end): (Vec<&[Begin]>, Vec<&[Begin]>) =
            groups.iter().partition(|group| is_to_via(group));
        let of_source = |source: u32| {
            let start = to_end.partition_point(|group| group[0].router < source);
            let end = to_end.partition_point(|group| group[0].router <= source);
            &to_end[start..end]
        };
        let new = || Walk::new(&task);
        let mut walk = targets
            .par_iter()
            .fold(new, |mut walk, target| {
                let begins = match phases.source(target.number) {
                    Some(source) => of_source(source),
                    None if target.is_via => &to_via[..],
                    None => &to_end[..],
                };
                walk.follow_all(begins, target.number);
                walk
            })
            .reduce(new, Walk::merge);
        // What a packet asks for where it begins, each asks for that holds a channel there.
        for begin in groups.iter().flat_map(|group| group.iter()) {
            walk.hold(begin);
        }
        let next = walk.begins(&groups);
        all = all.merge(walk);
        fresh = next;
    }
    let Walk { asked, mut flaws, .. } = all;
    flaws.sort_by_key(RelationFlaw::is_cycle);
    let sizes = alike.sizes();
    let found = task.cycle(&asked);
    verdict(&ends, flaws, task.count(&asked, &sizes), relation.longest(), found)
}

/// What packets are bound for, and whether they go by way of it.
struct Target {
    number: u32,
    is_via: bool,
}

/// Where packets begin a leg.
#[derive(Clone, Copy, Debug)]
struct Begin {
    /// The virtual channel that they hold, or where they are injected: see [`Task::holders`].
    holder: u32,
    phase: u8,
    state: u32,
    router: u32,
}

/// What is the same for all walks.
struct Task<'a> {
    fabric: &'a Fabric,
    relation: &'a Relation,
    phases: &'a Phases,
    alike: &'a AlikeVcs<'a>,
    vcs: u32,
    /// Words of a set of hops of a router.
    words: usize,
    /// By list: its hops as such a set.
    sets: Vec<u64>,
}

impl<'a> Task<'a> {
    fn new(
        fabric: &'a Fabric,
        (relation, phases): (&'a Relation, &'a Phases),
        alike: &'a AlikeVcs<'a>,
    ) -> Self {
        let vcs = u32::from(alike.count());
        let all = || (0..relation.lists()).map(|list| alike.hops_of_list(list));
        let most = (0..fabric.routers()).map(|router| fabric.outputs(router).len());
        // Hops by ports that don't exist are refused, and have a place all the same.
        let named = all().flatten().map(|hop| usize::from(hop.port) + 1);
        let ports = most.chain(named).max().unwrap_or(0);
        let words = (ports * vcs as usize).div_ceil(64).max(1);
        let mut sets = vec![0; relation.lists() as usize * words];
        for (hops, set) in all().zip(sets.chunks_mut(words)) {
            for hop in hops.iter().filter(|hop| u32::from(hop.vc) < vcs) {
                let bit = usize::from(hop.port) * vcs as usize + usize::from(hop.vc);
                set[bit / 64] |= 1 << (bit % 64);
            }
        }
        Self { fabric, relation, phases, alike, vcs, words, sets }
    }

    /// Number of virtual channels that packets can hold. Numbers behind them are those of routers,
    /// of packets that are injected there.
    fn holders(&self) -> u32 {
        self.fabric.channel_slots() * self.vcs
    }

    fn holder(&self, place: VirtualChannel) -> u32 {
        place.channel * self.vcs + u32::from(place.vc)
    }

    /// What a holder holds; `None` of packets that are injected.
    fn held(&self, holder: u32) -> Option<VirtualChannel> {
        let place = || VirtualChannel { channel: holder / self.vcs, vc: narrow(holder % self.vcs) };
        (holder < self.holders()).then(place)
    }

    fn begin(&self, holder: u32, phase: u8) -> Begin {
        let router = match self.held(holder) {
            Some(place) => self.fabric.target(place.channel).expect("packets came through it"),
            None => holder - self.holders(),
        };
        Begin { holder, phase, state: self.relation.in_phase(router, phase), router }
    }

    /// Number of pairs of a holder and a phase.
    fn begins(&self) -> usize {
        (self.holders() + self.fabric.routers()) as usize * self.phases.phases.len()
    }

    /// The number of such a pair.
    fn number(&self, holder: u32, phase: u8) -> usize {
        holder as usize * self.phases.phases.len() + usize::from(phase)
    }

    fn phase(&self, phase: u8) -> &'a Phase {
        &self.phases.phases[usize::from(phase)]
    }

    /// Calls `each` with the lists of hops of a packet. One that decides goes on by the hops of a
    /// phase that leads to its destination, or else begins a leg to a via.
    fn for_each_list(&self, (router, phase): (u32, u8), target: u32, mut each: impl FnMut(u32)) {
        let mut add =
            |phase| each(self.relation.list(self.relation.in_phase(router, phase), target));
        match self.phase(phase) {
            Phase::Decides { among } => {
                let straight = among.iter().filter(|&&phase| self.phases.leads_straight(phase));
                straight.for_each(|&phase| add(phase));
            }
            _ => add(phase),
        }
    }

    fn set(&self, list: u32) -> &[u64] {
        &self.sets[list as usize * self.words..][..self.words]
    }

    /// The virtual channels for which a packet may ask that holds this one.
    fn successors<'s>(&'s self, asked: &'s [u64], holder: u32) -> impl Iterator<Item = u32> + 's {
        let router = self.held(holder).and_then(|place| self.fabric.target(place.channel));
        let first = router.map_or(0, |router| self.fabric.outputs(router).start);
        let own = &asked[holder as usize * self.words..][..self.words];
        own.iter().enumerate().flat_map(move |(number, &word)| {
            ones(word).map(move |bit| first * self.vcs + narrow::<u32>(64 * number + bit))
        })
    }

    /// Number of dependencies between virtual channels, of which those that are alike are one here.
    fn count(&self, asked: &[u64], sizes: &[u64]) -> u64 {
        let size = |holder: u32| sizes[(holder % self.vcs) as usize];
        let of_holder = |holder| {
            let after: u64 = self.successors(asked, holder).map(size).sum();
            size(holder) * after
        };
        (0..self.holders()).map(of_holder).sum()
    }

    fn cycle(&self, asked: &[u64]) -> Option<Vec<VirtualChannel>> {
        let successors = |holder| self.successors(asked, holder);
        // A virtual channel that waits for itself would be a component of one vertex.
        let own = (0..self.holders()).find(|&holder| successors(holder).any(|next| next == holder));
        let cycle = match own {
            Some(own) => vec![own],
            None => cycle::any(self.holders(), &successors)?,
        };
        Some(cycle.into_iter().filter_map(|holder| self.held(holder)).collect())
    }
}

/// The walk of packets, and its findings.
struct Walk<'a> {
    task: &'a Task<'a>,
    /// By state: the last target on whose way packets came there, by twice its number in this walk,
    /// and one more once all hops from there have been followed.
    known: Vec<u32>,
    /// Twice the number of targets so far.
    present: u32,
    /// The virtual channels that packets came to on their way to the present target, and their
    /// router and phase there.
    reached: Vec<(u32, (u32, u8))>,
    /// By virtual channel: the hops for which a packet may ask that holds it.
    asked: Vec<u64>,
    /// By state: the hops for which packets may ask that begin a leg there.
    asked_at: Vec<u64>,
    /// Where legs begin behind a hop, by the [number](Task::number) of holder and phase.
    begun: Bits,
    /// By state and phase: whether packets that began a leg in the state go on in the phase,
    /// without a hop.
    passed: Bits,
    flaws: Vec<RelationFlaw>,
}

/// A state that the present walk came through.
struct Step {
    state: u32,
    router: u32,
    came: Option<VirtualChannel>,
    /// The position of its hops in the list of hops, and the next hop to follow.
    first: usize,
    next: usize,
}

impl<'a> Walk<'a> {
    fn new(task: &'a Task<'a>) -> Self {
        let states = task.relation.states() as usize;
        Self {
            task,
            known: vec![0; states],
            present: 0,
            reached: Vec::new(),
            asked: vec![0; task.holders() as usize * task.words],
            asked_at: vec![0; states * task.words],
            begun: Bits::new(task.begins()),
            passed: Bits::new(states * task.phases.phases.len()),
            flaws: Vec::new(),
        }
    }

    fn merge(mut self, other: Self) -> Self {
        add(&mut self.asked, &other.asked);
        add(&mut self.asked_at, &other.asked_at);
        add(&mut self.begun.0, &other.begun.0);
        add(&mut self.passed.0, &other.passed.0);
        self.flaws.extend(other.flaws);
        self
    }

    /// Notes that packets which began a leg held this virtual channel, if they held one.
    fn hold(&mut self, begin: &Begin) {
        let words = self.task.words;
        if begin.holder < self.task.holders() {
            let own = &mut self.asked[begin.holder as usize * words..][..words];
            add(own, &self.asked_at[begin.state as usize * words..][..words]);
        }
    }

    /// Where legs begin that go on from those of these groups, by state.
    fn begins(&self, groups: &[&[Begin]]) -> Vec<Begin> {
        let phases = self.task.phases.phases.len();
        let parts = |number: usize| (narrow(number / phases), narrow(number % phases));
        let behind = self.begun.iter().map(parts);
        let mut begins: Vec<Begin> =
            behind.map(|(holder, phase)| self.task.begin(holder, phase)).collect();
        for (state, phase) in self.passed.iter().map(parts) {
            let group = groups.binary_search_by_key(&state, |group| group[0].state);
            let group = groups[group.expect("packets began there")];
            begins.extend(group.iter().map(|begin| self.task.begin(begin.holder, phase)));
        }
        begins
    }

    /// The router of a target, for a message.
    fn name_of(&self, target: u32) -> u32 {
        let mut routers = 0..self.task.fabric.routers();
        routers.find(|&router| self.task.phases.is_reached(target, router)).unwrap_or(0)
    }

    /// Follows packets for a target from all states where they begin, each a group.
    fn follow_all(&mut self, groups: &[&[Begin]], target: u32) {
        let task = self.task;
        self.present += 2;
        self.reached.clear();
        let before = self.flaws.len();
        // No packet begins a leg whose via the phases name as lost.
        let may = |group: &&&[Begin]| {
            let Begin { phase, router, .. } = group[0];
            task.phases.may_begin((router, phase), target)
        };
        for group in groups.iter().filter(may) {
            let Begin { phase, state, router, .. } = group[0];
            let passed = &mut self.passed;
            let first = state as usize * task.phases.phases.len();
            if ends(task, (router, phase), target, |phase| {
                passed.insert(first + usize::from(phase));
            }) {
                continue;
            }
            if self.known[state as usize] < self.present {
                // Those that are injected come last.
                let came = group.last().and_then(|begin| task.held(begin.holder));
                self.follow((state, router, phase), came, target);
            }
        }
        if self.flaws.len() > before {
            return;
        }
        let words = task.words;
        let note = |asked: &mut [u64], holder: u32, at: (u32, u8)| {
            task.for_each_list(at, target, |list| {
                add(&mut asked[holder as usize * words..][..words], task.set(list));
            });
        };
        for &(holder, at) in &self.reached {
            note(&mut self.asked, holder, at);
        }
        for group in groups.iter().filter(may) {
            let Begin { phase, state, router, .. } = group[0];
            if !task.phases.is_reached(target, router) {
                note(&mut self.asked_at, state, (router, phase));
            }
        }
    }

    fn follow(
        &mut self,
        (state, router, phase): (u32, u32, u8),
        came: Option<VirtualChannel>,
        target: u32,
    ) {
        let task = self.task;
        let (mut list, mut way) = (Vec::new(), Vec::new());
        self.enter((state, router, phase), came, target, (&mut list, &mut way));
        while let Some(step) = way.last_mut() {
            let router = step.router;
            let Some(&hop) = list.get(step.next) else {
                self.known[step.state as usize] = self.present + 1;
                list.truncate(step.first);
                way.pop();
                continue;
            };
            step.next += 1;
            let Some((channel, next)) = go(task.fabric, narrow(task.vcs), router, hop) else {
                let destination = self.name_of(target);
                self.flaws.push(RelationFlaw::NoChannel { destination, at: router, hop });
                continue;
            };
            let place = VirtualChannel { channel, vc: hop.vc };
            let (holder, at) = (task.holder(place), (next, hop.phase));
            let begun = &mut self.begun;
            if ends(task, at, target, |phase| _ = begun.insert(task.number(holder, phase))) {
                continue;
            }
            self.reached.push((holder, at));
            let state = task.relation.in_phase(next, hop.phase);
            if self.known[state as usize] < self.present {
                self.enter((state, next, hop.phase), Some(place), target, (&mut list, &mut way));
            } else if self.known[state as usize] == self.present {
                let first = way.iter().position(|step| step.state == state).unwrap_or(0);
                let between = way[first + 1..].iter().filter_map(|step| step.came);
                let places = std::iter::once(place).chain(between).collect();
                let destination = self.name_of(target);
                self.flaws.push(RelationFlaw::Loop { destination, places });
            }
        }
    }

    /// Enters a state, and checks that a packet can go on there.
    fn enter(
        &mut self,
        (state, router, phase): (u32, u32, u8),
        came: Option<VirtualChannel>,
        target: u32,
        (list, way): (&mut Vec<Hop>, &mut Vec<Step>),
    ) {
        let task = self.task;
        self.known[state as usize] = self.present;
        let first = list.len();
        let alike = task.alike;
        task.for_each_list((router, phase), target, |own| list.extend(alike.hops_of_list(own)));
        if list.len() == first {
            let destination = self.name_of(target);
            let phase = Some(task.phases.leading_on(phase));
            self.flaws.push(RelationFlaw::DeadEnd { destination, at: router, after: came, phase });
        }
        way.push(Step { state, router, came, first, next: first });
    }
}

/// Whether a packet for a target has ended its leg. If it goes on, `go_on` notes the phase.
fn ends(
    task: &Task<'_>,
    (router, phase): (u32, u8),
    target: u32,
    mut go_on: impl FnMut(u8),
) -> bool {
    let is_there = task.phases.is_reached(target, router);
    match task.phase(phase) {
        Phase::Via { then } if is_there => go_on(*then),
        Phase::Decides { among } if !is_there => {
            let to_via = among.iter().filter(|&&phase| !task.phases.leads_straight(phase));
            to_via.for_each(|&phase| go_on(phase));
        }
        _ => {}
    }
    is_there
}

/// Adds one set of bits to another.
fn add(own: &mut [u64], more: &[u64]) {
    own.iter_mut().zip(more).for_each(|(word, more)| *word |= more);
}

/// A set of numbers, a bit each.
struct Bits(Vec<u64>);

impl Bits {
    /// For numbers below `count`.
    fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    /// Adds a number, and returns whether it is new.
    fn insert(&mut self, number: usize) -> bool {
        let (word, bit) = (&mut self.0[number / 64], 1 << (number % 64));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(number, &word)| ones(word).map(move |bit| 64 * number + bit))
    }
}

/// The numbers of the bits of a word that are set.
fn ones(word: u64) -> impl Iterator<Item = usize> {
    let words = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
    words.take_while(|&word| word != 0).map(|word| word.trailing_zeros() as usize)
}
