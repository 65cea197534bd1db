//! The ways of packets to one destination, hop by hop: the shortest ones by given lengths, or all
//! of them, shared alike.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Problem, Ways};
use flitlab_fabric::{Channel, Fabric, NONE};
use flitlab_routing::phased::{Course, PhasedRule};
use flitlab_routing::relation::{Hop, Phase, Relation};

/// How packets with several ways are split.
#[derive(Clone, Copy, Debug)]
pub(super) enum Split<'l> {
    /// Alike: the same for each port, and for each hop by it.
    Alike,
    /// Over the shortest ways alone, alike among the hops by which these go on. By channel: its
    /// length, above 0.
    Shortest(&'l [u64]),
}

/// Where no way leads on.
const NO_WAY: u64 = u64::MAX / 4;

/// Where a hop leads to.
#[derive(Clone, Copy)]
enum Onward {
    /// To the destination's router.
    Arrived,
    /// To a place of the same leg: its state and router.
    To(u32, u32),
    /// To the beginning of the second leg, in this state.
    Second(u32),
}

/// Looks at the ways to one destination after another.
pub(super) struct Walk<'a> {
    problem: &'a Problem<'a>,
    split: Split<'a>,
    /// The leg to the destination, and one by way of something.
    straight: Leg,
    first: Leg,
    /// By channel: flits so far on the way to the destination at hand, and the channels that have
    /// some.
    loads: Vec<f64>,
    loaded: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// For any ways, the channels into each router.
    into: Vec<Vec<Channel>>,
}

/// The states of a leg, as they were found.
struct Leg {
    /// By state: the search that has come to it last; the shortest way onwards; what flows there.
    seen: Vec<u32>,
    value: Vec<u64>,
    flow: Vec<f64>,
    search: u32,
    /// States with their routers, each behind those to which it leads.
    order: Vec<(u32, u32)>,
    work: u64,
}

/// Packets that start: by way of what or to which target, in which state and router, and how many.
type Start = (u32, (u32, u32), f64);

/// What a leg is about.
#[derive(Clone, Copy)]
struct Bound<'a> {
    fabric: &'a Fabric,
    relation: &'a Relation,
    split: Split<'a>,
    /// The target of its hops, and the router where packets leave the network.
    target: u32,
    destination: u32,
    /// The second leg, if the target is on the way to it.
    second: Option<&'a Leg>,
}

impl<'a> Bound<'a> {
    fn onward(&self, channel: Channel, hop: Hop) -> Onward {
        let router = self.fabric.target(channel).expect("hops lead somewhere");
        if router == self.destination {
            return Onward::Arrived;
        }
        let Some(phases) = self.relation.phases() else {
            return Onward::To(self.relation.arrived(channel, hop.vc), router);
        };
        match phases.phases[usize::from(hop.phase)] {
            Phase::Via { then } if phases.is_reached(self.target, router) => {
                Onward::Second(self.relation.in_phase(router, then))
            }
            _ => Onward::To(self.relation.in_phase(router, hop.phase), router),
        }
    }

    /// The hops of a state, with their channels.
    fn hops(&self, (state, router): (u32, u32)) -> impl Iterator<Item = (Channel, Hop)> + use<'a> {
        let first = self.fabric.outputs(router).start;
        let hops = self.relation.hops(state, self.target).iter();
        hops.filter(|hop| !hop.is_fallback()).map(move |&hop| (first + u32::from(hop.port), hop))
    }

    /// The length of the shortest way by a hop.
    fn length(&self, leg: &Leg, (channel, hop): (Channel, Hop)) -> u64 {
        let behind = match self.onward(channel, hop) {
            Onward::Arrived => 0,
            Onward::To(state, _) => leg.value[state as usize],
            Onward::Second(state) => {
                let second = self.second.expect("a leg behind it");
                if second.is_seen(state) { second.value[state as usize] } else { NO_WAY }
            }
        };
        match self.split {
            Split::Alike => behind,
            Split::Shortest(lengths) => behind.saturating_add(lengths[channel as usize]),
        }
    }
}

impl Leg {
    fn new(states: usize) -> Self {
        Self {
            seen: vec![0; states],
            value: vec![NO_WAY; states],
            flow: vec![0.0; states],
            search: 0,
            order: Vec::new(),
            work: 0,
        }
    }

    fn is_seen(&self, state: u32) -> bool {
        self.seen[state as usize] == self.search
    }

    fn begin(&mut self) {
        self.search += 1;
        self.order.clear();
    }

    /// Finds all states behind one, and the shortest way from each.
    fn explore(&mut self, bound: Bound<'_>, start: (u32, u32)) {
        let mut way = Vec::new();
        if !self.is_seen(start.0) {
            self.seen[start.0 as usize] = self.search;
            way.push((start, bound.hops(start)));
        }
        while let Some((place, hops)) = way.last_mut() {
            let place = *place;
            if let Some((channel, hop)) = hops.next() {
                if let Onward::To(state, router) = bound.onward(channel, hop)
                    && !self.is_seen(state)
                {
                    self.seen[state as usize] = self.search;
                    way.push(((state, router), bound.hops((state, router))));
                }
                continue;
            }
            let lengths = bound.hops(place).map(|it| bound.length(self, it));
            self.value[place.0 as usize] = lengths.min().unwrap_or(NO_WAY);
            self.flow[place.0 as usize] = 0.0;
            self.order.push(place);
            self.work += bound.hops(place).count() as u64;
            way.pop();
        }
    }
}

impl Leg {
    /// Adds what starts; returns the lengths of its ways, each as often as it is taken.
    fn start(&mut self, bound: Bound<'_>, starts: &[Start]) -> f64 {
        let mut value = 0.0;
        for &(_, place, amount) in starts {
            self.explore(bound, place);
            self.flow[place.0 as usize] += amount;
            value += amount * self.value[place.0 as usize] as f64;
        }
        value
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, split: Split<'a>) -> Self {
        let fabric = problem.fabric;
        let (states, mut into) = match problem.ways {
            Ways::Any => (fabric.routers(), vec![Vec::new(); fabric.routers() as usize]),
            Ways::Of(relation, _) => (relation.states(), Vec::new()),
        };
        if let Ways::Any = problem.ways {
            for channel in 0..fabric.channel_slots() {
                if let Some(router) = fabric.target(channel) {
                    into[router as usize].push(channel);
                }
            }
        }
        let leg = || Leg::new(states as usize);
        Self {
            problem,
            split,
            straight: leg(),
            first: leg(),
            loads: vec![0.0; fabric.channel_slots() as usize],
            loaded: Vec::new(),
            heap: BinaryHeap::new(),
            into,
        }
    }

    pub(super) fn work(&self) -> u64 {
        self.straight.work + self.first.work
    }

    /// Returns the length of all ways to a destination, each as often as it is taken, and the loads
    /// of the channels, ascending.
    pub(super) fn towards(
        &mut self,
        destination: u32,
        sources: &[(u32, f64)],
    ) -> (f64, Vec<(u32, f64)>) {
        let value = match self.problem.ways {
            Ways::Any => self.by_any(destination, sources),
            Ways::Of(relation, rule) => self.by_relation(relation, rule, destination, sources),
        };
        self.loaded.sort_unstable();
        let loads =
            self.loaded.iter().map(|&it| (it, std::mem::take(&mut self.loads[it as usize])));
        let loads = loads.collect();
        self.loaded.clear();
        (value, loads)
    }

    fn load(&mut self, channel: Channel, flits: f64) {
        let load = &mut self.loads[channel as usize];
        if *load == 0.0 {
            self.loaded.push(channel);
        }
        *load += flits;
    }

    /// By Dijkstra's algorithm. States are routers.
    fn by_any(&mut self, destination: u32, sources: &[(u32, f64)]) -> f64 {
        let Split::Shortest(lengths) = self.split else { unreachable!("any ways have lengths") };
        let fabric = self.problem.fabric;
        let leg = &mut self.straight;
        leg.begin();
        leg.value.fill(NO_WAY);
        leg.flow.fill(0.0);
        leg.value[destination as usize] = 0;
        self.heap.push(Reverse((0, destination)));
        while let Some(Reverse((length, at))) = self.heap.pop() {
            if leg.is_seen(at) {
                continue;
            }
            leg.seen[at as usize] = leg.search;
            leg.order.push((at, at));
            for &channel in &self.into[at as usize] {
                let from = fabric.source(channel);
                let further = length + lengths[channel as usize];
                leg.work += 1;
                if further < leg.value[from as usize] {
                    leg.value[from as usize] = further;
                    self.heap.push(Reverse((further, from)));
                }
            }
        }
        let mut value = 0.0;
        for &(source, amount) in sources {
            leg.flow[source as usize] += amount;
            value += amount * leg.value[source as usize] as f64;
        }
        for number in (1..leg.order.len()).rev() {
            let leg = &self.straight;
            let (at, _) = leg.order[number];
            let flow = leg.flow[at as usize];
            if flow == 0.0 {
                continue;
            }
            let is_shortest = |channel: &Channel| {
                let length = lengths[*channel as usize];
                fabric
                    .target(*channel)
                    .is_some_and(|next| leg.value[next as usize] + length == leg.value[at as usize])
            };
            let shortest: Vec<Channel> = fabric.outputs(at).filter(is_shortest).collect();
            let share = flow / shortest.len() as f64;
            for channel in shortest {
                self.load(channel, share);
                let next = fabric.target(channel).expect("it leads on");
                self.straight.flow[next as usize] += share;
            }
        }
        value
    }

    fn by_relation(
        &mut self,
        relation: &'a Relation,
        rule: Option<&dyn PhasedRule>,
        destination: u32,
        sources: &[(u32, f64)],
    ) -> f64 {
        let fabric = self.problem.fabric;
        let bound = Bound {
            fabric,
            relation,
            split: self.split,
            target: destination,
            destination,
            second: None,
        };
        let (Some(rule), Some(phases)) = (rule, relation.phases()) else {
            let start =
                |&(source, amount)| (destination, (relation.injected(source), source), amount);
            self.straight.begin();
            let value = self.straight.start(bound, &sources.iter().map(start).collect::<Vec<_>>());
            self.spread(bound);
            return value;
        };
        // Where packets start, how many, and by way of what or to which target, as it is given.
        let (mut vias, mut straight) = (Vec::new(), Vec::new());
        for &(source, amount) in sources {
            let target = phases.target(source, destination);
            rule.for_each_course((source, destination), &mut |Course { phase, via }, share| {
                let place = (relation.in_phase(source, phase), source);
                match via {
                    NONE => straight.push((target, place, amount * share)),
                    via => vias.push((via, place, amount * share)),
                }
            });
        }
        let mut value = 0.0;
        if vias.is_empty() {
            straight.sort_by_key(|start| start.0);
            for starts in straight.chunk_by(|one, two| one.0 == two.0) {
                let bound = Bound { target: starts[0].0, ..bound };
                self.straight.begin();
                value += self.straight.start(bound, starts);
                self.spread(bound);
            }
            return value;
        }
        // The second leg first, from everywhere, so that its ways are known where it begins.
        self.straight.begin();
        for phase in &phases.phases {
            let Phase::Via { then } = *phase else { continue };
            for router in (0..fabric.routers()).filter(|&it| it != destination) {
                self.straight.explore(bound, (relation.in_phase(router, then), router));
            }
        }
        vias.sort_by_key(|start| start.0);
        for starts in vias.chunk_by(|one, two| one.0 == two.0) {
            value += self.by_way_of(Bound { target: starts[0].0, ..bound }, starts);
        }
        value += self.straight.start(bound, &straight);
        self.spread(bound);
        value
    }

    /// Lets what is in the straight leg flow on.
    fn spread(&mut self, bound: Bound<'_>) {
        let order = std::mem::take(&mut self.straight.order);
        for &place in order.iter().rev() {
            let flow = std::mem::take(&mut self.straight.flow[place.0 as usize]);
            for (channel, onward, share) in shares(bound, &self.straight, place, flow) {
                self.load(channel, share);
                if let Onward::To(state, _) = onward {
                    self.straight.flow[state as usize] += share;
                }
            }
        }
        self.straight.order = order;
    }

    /// Packets on their first leg; what comes to its end flows into the second one.
    fn by_way_of(&mut self, bound: Bound<'_>, starts: &[Start]) -> f64 {
        self.first.begin();
        let value = self.first.start(Bound { second: Some(&self.straight), ..bound }, starts);
        let order = std::mem::take(&mut self.first.order);
        for &place in order.iter().rev() {
            let flow = std::mem::take(&mut self.first.flow[place.0 as usize]);
            let with_second = Bound { second: Some(&self.straight), ..bound };
            for (channel, onward, share) in shares(with_second, &self.first, place, flow) {
                self.load(channel, share);
                match onward {
                    Onward::Arrived => {}
                    Onward::To(state, _) => self.first.flow[state as usize] += share,
                    Onward::Second(state) => self.straight.flow[state as usize] += share,
                }
            }
        }
        self.first.order = order;
        value
    }
}

/// How what flows to a place flows on: channels, where they lead to, and how much takes each.
fn shares(
    bound: Bound<'_>,
    leg: &Leg,
    place: (u32, u32),
    flow: f64,
) -> Vec<(Channel, Onward, f64)> {
    if flow == 0.0 {
        return Vec::new();
    }
    let taken = |it: &(Channel, Hop)| match bound.split {
        Split::Alike => true,
        Split::Shortest(_) => bound.length(leg, *it) == leg.value[place.0 as usize],
    };
    let hops: Vec<(Channel, Hop)> = bound.hops(place).filter(taken).collect();
    assert!(!hops.is_empty(), "no way leads on from router {}", place.1);
    let ports = hops.chunk_by(|one, two| one.0 == two.0);
    let by_port = flow / ports.clone().count() as f64;
    let share = |hops: &[(Channel, Hop)]| by_port / hops.len() as f64;
    ports
        .flat_map(|of_port| {
            let onward = |&(channel, hop): &(Channel, Hop)| {
                (channel, bound.onward(channel, hop), share(of_port))
            };
            of_port.iter().map(onward).collect::<Vec<_>>()
        })
        .collect()
}
