//! The ways of packets that find nothing in their way, and the share of the packets on each.
//!
//! What a packet decides by queues it decides here where all are empty. Of hops that are equally good
//! it takes each as often as its [rule for ties](super::RelationRoutes::random_ties) has it, or as
//! often as all others where packets prefer what was taken longest ago. So of
//! rules such as Valiant's, which draw what packets go by way of, the shares are those of all packets;
//! of rules that lead packets off full ways they are those at a load of almost nothing.
//!
//! A way is the classes of its cables, hop by hop: all that its length and latency depend on. The ways
//! to a destination are put together from behind, so that those of all sources share their ends.

use std::collections::HashMap;
use std::rc::Rc;

use super::phased::{Among, AtHead, Course, Queues};
use super::relation::{Hop, Phase, Phases, Targets};
use super::{Preference, RelationRoutes};
use flitlab_base::narrow::{fitted, narrow};
use flitlab_fabric::{Channel, Fabric, NONE};

/// Sequences of classes of cables, by number.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    /// By number less one: the first class, and the sequence behind it.
    known: Vec<(u8, u32)>,
    numbers: HashMap<(u8, u32), u32>,
}

impl Sequences {
    /// The sequence of no cable.
    pub const EMPTY: u32 = 0;

    /// The number of the sequence of a class and those of another sequence.
    pub fn before(&mut self, class: u8, behind: u32) -> u32 {
        let known = &mut self.known;
        *self.numbers.entry((class, behind)).or_insert_with(|| {
            known.push((class, behind));
            fitted!(known.len(), u32)
        })
    }

    /// The number of a sequence.
    pub fn number(&mut self, classes: impl DoubleEndedIterator<Item = u8>) -> u32 {
        classes.rfold(Self::EMPTY, |behind, class| self.before(class, behind))
    }

    /// The classes of a sequence, from its first cable on.
    pub fn classes(&self, mut number: u32) -> impl Iterator<Item = u8> + '_ {
        std::iter::from_fn(move || {
            let &(class, behind) = self.known.get((number as usize).checked_sub(1)?)?;
            number = behind;
            Some(class)
        })
    }
}

/// Ways: sequences by number, ascending, each with its share of the packets.
pub type Shares = [(u32, f64)];

/// From so many sequences on, those of equally many cables of each class count as one.
const MOST_SEQUENCES: usize = 256;

/// So many packets decide, of a rule that decides by chance.
const DECISIONS: u32 = 16;

/// Courses that are looked at: with more, packets of a destination go by way of every so-manieth
/// router or group.
const MOST_COURSES: u64 = 1 << 20;

/// A hop that packets take, with what becomes of them: the virtual channel, or the phase.
#[derive(Clone, Copy, Debug)]
struct Taken {
    port: u16,
    next: u8,
    share: f64,
}

/// Where packets on their way to the destination at hand are: by way of what, and in which state.
type Place = (u32, u32);

/// What is known of a place.
#[derive(Clone, Debug)]
enum Known {
    /// Its ways are being looked for: packets that come here again walk in a circle.
    Open,
    Ways(Rc<Shares>),
}

/// Nothing waits anywhere.
struct Empty;

impl Queues for Empty {
    fn used(&mut self, _: u16, _: u16) -> u32 {
        0
    }

    fn elsewhere(&mut self, _: Channel) -> u32 {
        0
    }
}

/// The ways of a routing by a relation.
pub struct RelationWays<'a> {
    fabric: &'a Fabric,
    routes: &'a RelationRoutes,
    /// Every so-manieth via is looked at.
    stride: u64,
    /// By list of hops.
    taken: HashMap<u32, Rc<[Taken]>>,
    known: HashMap<Place, Known>,
}

/// The packets whose ways are looked for.
#[derive(Clone, Copy)]
struct Bound {
    source: u32,
    destination: u32,
    /// The class of their destination among its router's terminals.
    class: u8,
}

impl<'a> RelationWays<'a> {
    /// The ways between so many pairs of routers.
    pub fn new(fabric: &'a Fabric, routes: &'a RelationRoutes, pairs: u64) -> Self {
        let vias = routes.relation.phases().map_or(0, |phases| phases.vias(fabric).len());
        let starts_straight = routes.relation.phases().is_none_or(decides_at_start);
        let courses = if starts_straight { pairs } else { pairs * vias.max(1) as u64 };
        let stride = courses.div_ceil(MOST_COURSES).max(1);
        Self { fabric, routes, stride, taken: HashMap::new(), known: HashMap::new() }
    }

    /// Calls `each` with each of the sources, which are routers, and the ways from there to a
    /// destination. It gets none if packets can walk in a circle.
    pub fn towards(
        &mut self,
        (destination, class): (u32, u8),
        sources: impl Iterator<Item = u32>,
        sequences: &mut Sequences,
        mut each: impl FnMut(u32, Option<&Shares>),
    ) {
        self.known.clear();
        let (routes, phases) = (self.routes, self.routes.relation.phases());
        let pairs = phases.is_some_and(|it| matches!(it.targets, Targets::Pairs(_)));
        let by_chance = routes.rule.as_ref().is_some_and(|rule| rule.decides_by_chance());
        for source in sources {
            if pairs || by_chance {
                self.known.clear();
            }
            let bound = Bound { source, destination, class };
            let ways: Option<Rc<Shares>> = match phases {
                _ if source == destination => Some([(Sequences::EMPTY, 1.0)].into()),
                None => {
                    let state = routes.relation.injected(source);
                    self.from((source, (NONE, state)), bound, sequences)
                }
                Some(phases) => self.ways_from_source(phases, bound, sequences),
            };
            each(source, ways.as_deref());
        }
    }

    /// The ways of packets that start at their source.
    fn ways_from_source(
        &mut self,
        phases: &Phases,
        bound: Bound,
        sequences: &mut Sequences,
    ) -> Option<Rc<Shares>> {
        let ends = (bound.source, bound.destination);
        if decides_at_start(phases) {
            let start = Course::straight(phases.starts[0]);
            return self.in_phase(phases, (bound.source, start), bound, sequences);
        }
        let rule = self.routes.rule.as_ref().expect("phases are of a rule");
        let mut courses: Vec<(Course, f64)> = Vec::new();
        rule.for_each_course(ends, &mut |course, share| courses.push((course, share)));
        let is_looked_at = |(course, _): &(Course, f64)| {
            let place = u64::from(course.via) + u64::from(bound.destination);
            course.via == NONE || place.is_multiple_of(self.stride)
        };
        if self.stride > 1 && courses.iter().any(is_looked_at) {
            courses.retain(is_looked_at);
        }
        let all: f64 = courses.iter().map(|course| course.1).sum();
        let mut found = Vec::new();
        for (course, share) in courses {
            let ways = self.in_phase(phases, (bound.source, course), bound, sequences)?;
            found.extend(ways.iter().map(|&(way, part)| (way, part * share / all)));
        }
        Some(merged(found, sequences))
    }

    /// The ways of packets at a router on a course.
    fn in_phase(
        &mut self,
        phases: &Phases,
        (router, course): (u32, Course),
        bound: Bound,
        sequences: &mut Sequences,
    ) -> Option<Rc<Shares>> {
        let Course { mut phase, mut via } = course;
        if router == bound.destination {
            return Some([(Sequences::EMPTY, 1.0)].into());
        }
        if let Phase::Via { then } = phases.phases[usize::from(phase)]
            && phases.is_reached(via, router)
        {
            (phase, via) = (then, NONE);
        }
        let state = self.routes.relation.in_phase(router, phase);
        self.from((router, (via, state)), bound, sequences)
    }

    /// The ways of packets in a state.
    fn from(
        &mut self,
        (router, place): (u32, Place),
        bound: Bound,
        sequences: &mut Sequences,
    ) -> Option<Rc<Shares>> {
        match self.known.get(&place) {
            Some(Known::Ways(ways)) => return Some(ways.clone()),
            Some(Known::Open) => return None,
            None => {}
        }
        self.known.insert(place, Known::Open);
        let found = self.onward((router, place), bound, sequences)?;
        let ways = merged(found, sequences);
        self.known.insert(place, Known::Ways(ways.clone()));
        Some(ways)
    }

    fn onward(
        &mut self,
        (router, (via, state)): (u32, Place),
        bound: Bound,
        sequences: &mut Sequences,
    ) -> Option<Vec<(u32, f64)>> {
        let (fabric, routes) = (self.fabric, self.routes);
        let relation = &routes.relation;
        let mut found = Vec::new();
        let mut target = bound.destination;
        if let Some(phases) = relation.phases() {
            let phase: u8 = narrow(state - relation.in_phase(router, 0));
            match phases.phases[usize::from(phase)] {
                Phase::Decides { .. } => {
                    for (course, share) in self.decided((router, phase), bound) {
                        let ways = self.in_phase(phases, (router, course), bound, sequences)?;
                        found.extend(ways.iter().map(|&(way, part)| (way, part * share)));
                    }
                    return Some(found);
                }
                Phase::Via { .. } => target = via,
                Phase::Destination => target = phases.target(bound.source, target),
            }
        }
        let list = relation.of_class(relation.list(state, target), bound.class);
        for &Taken { port, next, share } in &*self.taken(list) {
            let channel = fabric.outputs(router).start + u32::from(port);
            let behind = fabric.target(channel)?;
            let ways: Rc<Shares> = match relation.phases() {
                _ if behind == bound.destination => [(Sequences::EMPTY, 1.0)].into(),
                Some(phases) => {
                    let course = Course { phase: next, via };
                    self.in_phase(phases, (behind, course), bound, sequences)?
                }
                None => {
                    let state = relation.arrived(channel, next);
                    self.from((behind, (NONE, state)), bound, sequences)?
                }
            };
            let class = fabric.cable_class(channel);
            let longer = ways.iter().map(|&(way, part)| (sequences.before(class, way), part));
            found.extend(longer.map(|(way, part)| (way, part * share)));
        }
        // A state that no packet comes to has no hops.
        (!found.is_empty()).then_some(found)
    }

    /// The courses on which packets decide that see nothing wait.
    fn decided(&self, (router, phase): (u32, u8), bound: Bound) -> Vec<(Course, f64)> {
        let rule = self.routes.rule.as_ref().expect("phases are of a rule");
        let count = if rule.decides_by_chance() { DECISIONS } else { 1 };
        let ends = (bound.source, bound.destination);
        let decide = |number| {
            // Each pair draws otherwise.
            let packet = (router, bound.destination.wrapping_mul(DECISIONS).wrapping_add(number));
            let (course, queues) = (Course::straight(phase), &mut Empty);
            self.routes.decide(self.fabric, router, (ends, course), packet, queues)
        };
        (0..count).map(|number| (decide(number), 1.0 / f64::from(count))).collect()
    }

    /// The hops of a list that packets take, each with its share.
    fn taken(&mut self, list: u32) -> Rc<[Taken]> {
        if let Some(known) = self.taken.get(&list) {
            return known.clone();
        }
        let (routes, relation) = (self.routes, &self.routes.relation);
        let mut taken = Vec::new();
        let mut add = |list: u32, share: f64| {
            let by_phase = relation.phases().is_some();
            let hops = relation.hops_of_list(list);
            let parts = match routes.preference {
                Preference::LeastQueued | Preference::Random => {
                    first_choices(hops, routes.random_ties)
                }
                Preference::LeastRecentlyUsed | Preference::MinimalMultiplexed => in_turn(hops),
            };
            for (hop, part) in parts {
                let next = if by_phase { hop.phase } else { hop.vc };
                taken.push(Taken { port: hop.port, next, share: share * part });
            }
        };
        let ports = labels(relation.hops_of_list(list));
        match routes.at_head() {
            Some(at_head) if !ports.is_empty() => {
                let shares = chosen_ports(at_head, &ports, routes.random_ties);
                let chosen = (0..).zip(shares).filter(|(_, share)| *share > 0.0);
                chosen.for_each(|(place, share)| add(relation.of_port(list, place), share));
            }
            _ => add(list, 1.0),
        }
        taken.sort_by_key(|hop| (hop.port, hop.next));
        taken.dedup_by(|more, hop| {
            let same = (more.port, more.next) == (hop.port, hop.next);
            hop.share += if same { more.share } else { 0.0 };
            same
        });
        let taken: Rc<[Taken]> = taken.into();
        self.taken.insert(list, taken.clone());
        taken
    }
}

/// Whether packets of all pairs start in one phase, in which they decide.
fn decides_at_start(phases: &Phases) -> bool {
    let decides = |phase: &u8| matches!(phases.phases[usize::from(*phase)], Phase::Decides { .. });
    phases.starts.iter().all(decides)
}

/// The hops that packets take first of a list, all of which are free and have room, with the share of
/// the packets that take each: fallbacks only where there is nothing else.
fn first_choices(hops: &[Hop], random_ties: bool) -> Vec<(Hop, f64)> {
    let falls_back = hops.iter().all(Hop::is_fallback);
    let is_open = |hop: &Hop| hop.is_fallback() == falls_back;
    let shares = cyclic(hops.len(), random_ties, |place| is_open(&hops[place]));
    hops.iter().copied().zip(shares).filter(|(_, share)| *share > 0.0).collect()
}

/// As [`first_choices`], where packets take outputs in turn, and the virtual channels of each:
/// equal shares, as if no other packets were at the router.
fn in_turn(hops: &[Hop]) -> Vec<(Hop, f64)> {
    let falls_back = hops.iter().all(Hop::is_fallback);
    let open = hops.iter().copied().filter(|hop| hop.is_fallback() == falls_back);
    let open: Vec<Hop> = open.collect();
    let by_port = || open.chunk_by(|one, other| one.port == other.port);
    let ports = by_port().count() as f64;
    let shares = |hops: &[Hop]| {
        hops.iter().map(|&hop| (hop, 1.0 / ports / hops.len() as f64)).collect::<Vec<_>>()
    };
    by_port().flat_map(shares).collect()
}

/// The share of each of some places where packets take the first open one in cyclic order, from a
/// place that each draws, or from the first on.
fn cyclic(count: usize, random_ties: bool, is_open: impl Fn(usize) -> bool) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    let from: usize = if random_ties { count } else { count.min(1) };
    for first in 0..from {
        let open = (first..count).chain(0..first).find(|&place| is_open(place));
        open.into_iter().for_each(|place| shares[place] += 1.0 / from as f64);
    }
    shares
}

/// The ports of a list with hops that are no fallbacks, by their labels.
fn labels(hops: &[Hop]) -> Vec<u8> {
    let by_port = hops.chunk_by(|one, other| one.port == other.port);
    by_port.filter_map(|hops| Some(hops.iter().find(|hop| !hop.is_fallback())?.label)).collect()
}

/// The share of the packets that choose each port at their head, given by labels.
fn chosen_ports(at_head: AtHead, labels: &[u8], random_ties: bool) -> Vec<f64> {
    let cost = |place: usize| at_head.cost.of(0, labels[place]);
    let count = labels.len();
    let least = (0..count).map(cost).min();
    let draws = match at_head.among {
        Among::All => return cyclic(count, random_ties, |place| Some(cost(place)) == least),
        Among::Drawn(draws) => i32::from(draws),
        // All flows together.
        Among::Hashed => 1,
    };
    // Of the ports that are drawn the first with the least cost; of one, that one.
    let share = |place: usize| {
        let own = (0..count).filter(|&other| cost(other) == cost(place)).count() as f64;
        let worse = (0..count).filter(|&other| cost(other) > cost(place)).count() as f64;
        let all = count as f64;
        let none_better = libm::pow((own + worse) / all, draws.into());
        (none_better - libm::pow(worse / all, draws.into())) / own
    };
    (0..count).map(share).collect()
}

/// Puts ways of one sequence together, ascending.
fn merged(mut ways: Vec<(u32, f64)>, sequences: &mut Sequences) -> Rc<Shares> {
    put_together(&mut ways);
    if ways.len() > MOST_SEQUENCES {
        for (way, _) in &mut ways {
            let mut classes: Vec<u8> = sequences.classes(*way).collect();
            classes.sort_unstable();
            *way = sequences.number(classes.into_iter());
        }
        put_together(&mut ways);
    }
    ways.into()
}

fn put_together(ways: &mut Vec<(u32, f64)>) {
    ways.sort_by_key(|way| way.0);
    ways.dedup_by(|more, way| {
        let same = more.0 == way.0;
        way.1 += if same { more.1 } else { 0.0 };
        same
    });
}
