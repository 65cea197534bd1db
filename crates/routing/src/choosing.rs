//! Routings of any fabric whose packets have several ways: by a relation, hop by hop, or by paths
//! among which sources choose.

use std::sync::Arc;

use super::drawn;
use super::phased::{
    Among, AtHead, Call, Course, Deciding, Drawn, PhasedRule, Queues, check_course,
};
use super::relation::{Hop, PathChoice, PathSet, Phases, Relation};
use flitlab_base::narrow::narrow;
use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Channel, Fabric};

/// Packets that choose among the hops of a relation, router by router.
#[derive(Clone, Debug)]
pub struct RelationRoutes {
    /// The hops that packets may take at each router.
    pub relation: Arc<Relation>,
    /// What says in which phase a packet starts, and decides, in a relation with phases; `None` in
    /// others.
    pub rule: Option<Arc<dyn PhasedRule>>,
    /// Whether each packet prefers one of equally good hops at random; otherwise the first of the
    /// list.
    pub random_ties: bool,
    /// Which of several hops that are free and have room a packet prefers.
    pub preference: Preference,
    /// Virtual channels in which packets are injected, at least 1: a packet for terminal `d` in number
    /// `d` modulo these. Where routers have fewer, those count.
    pub injection_vcs: u8,
    /// Number of largest packets for which an injected packet leaves room in the buffer that it
    /// enters.
    pub injection_bubble: u8,
    /// Packets that wait decide again at each multiple of this time; `None` if they decide once at a
    /// router. Only where some [decide](Self::decides) by what their router sees of itself.
    pub again: Option<Picoseconds>,
    /// Whether a packet decides again only until one of its hops has room, at routers with buffers
    /// at outputs.
    pub settles: bool,
    /// Seed of the packets' random numbers.
    pub seed: u64,
}

/// What makes a packet prefer one of several hops that are free and have room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// Less waits for the output, then the virtual channel has more credits, then ties are decided.
    LeastQueued,
    /// Ties alone are decided, whatever waits: between all of them.
    Random,
    /// The output was taken longest ago, then the virtual channel was, then ties are decided.
    LeastRecentlyUsed,
    /// Flits wait in fewer virtual channels of the output, then as
    /// [`LeastRecentlyUsed`](Self::LeastRecentlyUsed): after MMLRU (\[mmlru\]), of which the order
    /// of these steps is known and their measures are assumed.
    MinimalMultiplexed,
}

impl Preference {
    /// Whether routers keep the time at which each hop was taken last.
    pub fn asks_for_times(self) -> bool {
        matches!(self, Self::LeastRecentlyUsed | Self::MinimalMultiplexed)
    }
}

impl RelationRoutes {
    /// Packets that prefer hops by their queues, choose at random among equals, are injected in all virtual channels, leave no
    /// more room than they need, and decide once.
    pub fn new(relation: Arc<Relation>, rule: Option<Arc<dyn PhasedRule>>, seed: u64) -> Self {
        Self {
            relation,
            rule,
            random_ties: true,
            preference: Preference::LeastQueued,
            injection_vcs: u8::MAX,
            injection_bubble: 0,
            again: None,
            settles: false,
            seed,
        }
    }

    /// The random number of a packet, by its source and its number there.
    pub fn drawn(&self, source: u32, sequence: u32) -> u16 {
        narrow(drawn(self.seed, source, sequence) >> 48)
    }

    /// The random numbers of a packet for its detours, by its source and its number there.
    fn detours(&self, source: u32, sequence: u32) -> Drawn {
        Drawn::new(self.seed, source, sequence)
    }

    /// Whether some packets decide at routers how they go on, or on a port.
    pub fn decides(&self) -> bool {
        self.relation.phases().is_some_and(Phases::decides) || self.at_head().is_some()
    }

    /// The course with which a packet starts between two routers, by its source terminal and its
    /// number there; straight in phase 0 in relations without phases.
    ///
    /// # Panics
    /// If the rule's phases don't allow the course.
    pub fn start(&self, ends: (u32, u32), (source, sequence): (u32, u32)) -> Course {
        let Some(rule) = &self.rule else { return Course::straight(0) };
        let course = rule.start(ends, self.detours(source, sequence));
        self.allowed((Call::Start, ends.0, ends), course)
    }

    /// A course that the rule's phases allow.
    fn allowed(&self, at: (Call, u32, (u32, u32)), course: Course) -> Course {
        let name = |router| format!("router {router}");
        match check_course(name, &self.relation, at, course) {
            Ok(()) => course,
            Err(mistake) => panic!("the rule of this routing contradicts its phases: {mistake}"),
        }
    }

    /// The course of a packet that decides at a router, by its source terminal and its number there.
    ///
    /// # Panics
    /// If the relation has no phases, or the rule's phases don't allow the decision.
    pub fn decide(
        &self,
        fabric: &Fabric,
        router: u32,
        (ends, course): ((u32, u32), Course),
        (source, sequence): (u32, u32),
        queues: &mut dyn Queues,
    ) -> Course {
        let drawn = self.detours(source, sequence);
        let relation = &self.relation;
        let rule = self.rule.as_ref().expect("packets decide in relations with phases alone");
        let packet = Deciding { fabric, relation, router, ends, course, drawn };
        let decided = rule.decide(&packet, queues);
        self.allowed((Call::Decide(course.phase), router, ends), decided)
    }

    /// Whether routers hold some credits back.
    pub fn holds_credits(&self, fabric: &Fabric) -> bool {
        self.rule.as_ref().is_some_and(|rule| !rule.held_channels(fabric).is_empty())
    }

    /// Whether packets may take longer ways than need be, or others, by what waits.
    pub fn leads_off(&self) -> bool {
        let relation = &self.relation;
        if relation.has_escape() || relation.has_detours() {
            return true;
        }
        let decides_on_via = |phases: &Phases| phases.decides() && phases.has_vias();
        let labels = |list| relation.hops_of_list(list).iter().map(|hop| hop.label);
        let mut lists = 0..relation.lists();
        relation.phases().is_some_and(decides_on_via)
            || self.at_head().is_some() && lists.any(|it| labels(it).min() != labels(it).max())
    }

    /// How packets choose a port when their heads ask, if they do.
    #[inline]
    pub fn at_head(&self) -> Option<AtHead> {
        self.rule.as_ref()?.at_head()
    }

    /// The place of the port that a packet chooses at a router among those of its hops, each with its
    /// label, from place `first` on among equals. By its source terminal, its number there and its
    /// destination.
    pub fn choose(
        &self,
        (router, at_head): (u32, AtHead),
        ports: impl ExactSizeIterator<Item = (u16, u8)> + Clone,
        first: usize,
        (source, sequence, destination): (u32, u32, u32),
        queues: &mut dyn Queues,
    ) -> u8 {
        let number = if at_head.among == Among::Hashed { destination } else { sequence };
        at_head.choose(ports, first, (router, self.detours(source, number)), queues)
    }

    /// The channels of one way: at each router the first hop that is no fallback, or else the first
    /// of all. In relations with phases no packet's way is shorter.
    pub fn for_each_channel(
        &self,
        fabric: &Fabric,
        (source, destination): (u32, u32),
        mut each: impl FnMut(Channel),
    ) {
        let mut at = source;
        if let Some(rule) = &self.rule {
            while at != destination {
                let channel = rule.onward(fabric, at, destination);
                each(channel);
                at = fabric.target(channel).expect("a relation avoids failures");
            }
            return;
        }
        let mut state = self.relation.injected(source);
        // The limit ends the walk in a relation that leads in circles.
        for _ in 0..self.relation.states() {
            if at == destination {
                return;
            }
            let hops = self.relation.hops(state, destination);
            let Some(hop) = hops.iter().find(|hop| !hop.is_fallback()).or(hops.first()) else {
                return;
            };
            let channel = fabric.outputs(at).start + u32::from(hop.port);
            each(channel);
            at = fabric.target(channel).expect("a relation avoids failures");
            state = self.relation.arrived(channel, hop.vc);
        }
    }
}

/// Packets that follow one of the paths of their source.
#[derive(Clone, Debug)]
pub struct PathRoutes {
    /// The paths of each pair, among which its source chooses.
    pub paths: Arc<PathSet>,
    /// Seed of the choice among paths, if that is random.
    pub seed: u64,
}

/// Most paths of a pair among which packets can choose.
pub const MAX_PATHS: usize = u8::MAX as usize;

impl PathRoutes {
    /// The path that a packet draws, by its number at its source, or which all packets to its
    /// destination take; 0 if there is one path only. Of sources that take paths in turn it is
    /// another.
    #[inline]
    pub fn drawn(&self, source: u32, (sequence, destination): (u32, u32), paths: usize) -> u8 {
        let number = if self.paths.choice() == PathChoice::Hash { destination } else { sequence };
        let high = drawn(self.seed, source, number) >> 32;
        narrow((high * paths as u64) >> 32)
    }

    /// Whether packets of two terminals may take different paths.
    pub fn chooses(&self) -> bool {
        self.paths.choice() != PathChoice::Hash && self.paths.has_choice()
    }

    /// Whether sources take paths in turn.
    pub fn in_turn(&self) -> bool {
        self.paths.choice() == PathChoice::RoundRobin
    }

    /// The hops of a path from one router to another, by its number among the paths of the pair;
    /// empty if the routers are the same.
    #[inline]
    pub fn path(&self, source: u32, destination: u32, number: u8) -> &[Hop] {
        let numbers = self.paths.numbers(source, destination);
        if numbers.is_empty() {
            return &[];
        }
        self.paths.path(numbers.start + usize::from(number))
    }

    /// As [`Routes::for_each_way`](crate::Routes::for_each_way), between terminals whose routers these
    /// are.
    pub(super) fn for_each_way(
        &self,
        fabric: &Fabric,
        terminals: (u32, u32),
        (source, destination): (u32, u32),
        steps: &mut Vec<Channel>,
        mut each: impl FnMut(&[Channel], f64),
    ) {
        let paths = self.paths.paths(source, destination);
        if self.paths.choice() == PathChoice::Hash || paths.len() == 0 {
            let first = steps.len();
            let step = |channel| steps.push(channel);
            self.for_each_channel(fabric, terminals, (source, destination), step);
            return each(&steps[first..], 1.0);
        }
        let share = 1.0 / paths.len() as f64;
        for path in paths {
            let first = steps.len();
            for_each_channel(fabric, source, path, |channel| steps.push(channel));
            each(&steps[first..], share);
        }
    }

    /// The channels of the first path from one terminal to another, whose routers these are, or of
    /// the only one that packets between them take.
    pub(super) fn for_each_channel(
        &self,
        fabric: &Fabric,
        terminals: (u32, u32),
        (source, destination): (u32, u32),
        each: impl FnMut(Channel),
    ) {
        let number = match self.paths.choice() {
            PathChoice::Hash => {
                let paths = self.paths.numbers(source, destination).len();
                self.drawn(terminals.0, (0, terminals.1), paths)
            }
            PathChoice::Random | PathChoice::RoundRobin => 0,
        };
        for_each_channel(fabric, source, self.path(source, destination, number), each);
    }
}

fn for_each_channel(fabric: &Fabric, source: u32, path: &[Hop], mut each: impl FnMut(Channel)) {
    let mut at = source;
    for hop in path {
        let channel = fabric.outputs(at).start + u32::from(hop.port);
        each(channel);
        at = fabric.target(channel).expect("paths avoid failures");
    }
}
