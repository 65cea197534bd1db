//! Adaptive routings, from docs/model.md ("Adaptive routing"), \[outflank\], \[goal-routing\],
//! \[cqr\], \[valiant\], \[romm\] and \[rlb\] alone: where packets may go on, what they are bound to,
//! which detour pays. Shared with the fast engine are the rules as the scenario has them, the torus,
//! and the table of the escape, which is data. Everything is looked for anew each time, coordinate by
//! coordinate.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use flitlab_base::units::Picoseconds;
use flitlab_fabric::{Fabric, Torus};
use flitlab_routing::adaptive::{
    BoundRule, ByDetours, ChannelQueue, Detours, Family, Goal, Heading, Misroute, Outputs, Rlb,
    Romm, Selection, Tie, Valiant,
    profit::{IdleRatio, Weights},
};
use flitlab_routing::{self, AdaptiveRules, EscapeRule, Routes};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::packet::Packet;

/// What a packet keeps to in a dimension.
#[derive(Clone, Copy, Default)]
pub struct Round {
    /// Whether it goes round this way whatever the distance, or in a half ring only.
    pub bound: bool,
    /// Whether that is the negative direction.
    pub negative: bool,
}

/// What a packet was given when it was injected, and what it has decided at routers.
#[derive(Clone)]
pub struct Course {
    /// The router where its present leg ends.
    pub to: u32,
    /// By dimension.
    pub rounds: Vec<Round>,
    pub drawn: u16,
    pub kind: Option<Misroute>,
}

/// A detour: the end of its first leg, the hops of both legs, and what it binds a packet to.
struct Detour {
    node: u32,
    hops: u32,
    rounds: Vec<Round>,
    kind: Misroute,
}

/// The rules of detours of which this engine has its own.
#[derive(Clone, Copy)]
enum Rule {
    Minimal,
    Goal,
    ChannelQueue,
    Valiant,
    Romm,
    Rlb,
    /// With the weight of the distance where the shortest ways have no room.
    Profit(Family, Weights, f64),
    /// Of another crate, which is asked.
    Outside,
}

impl Rule {
    fn of(rule: &BoundRule) -> Self {
        let rule: &dyn Any = match rule {
            ByDetours::Minimal => return Self::Minimal,
            ByDetours::Orthants(rule) => &**rule,
            ByDetours::Nodes(rule) => &**rule,
            ByDetours::Phases(rule) => &**rule,
        };
        match rule.downcast_ref::<Detours>() {
            Some(detours) => Self::Profit(detours.family, detours.weights, detours.full_distance),
            None if rule.is::<Goal>() => Self::Goal,
            None if rule.is::<ChannelQueue>() => Self::ChannelQueue,
            None if rule.is::<Valiant>() => Self::Valiant,
            None if rule.is::<Romm>() => Self::Romm,
            None if rule.is::<Rlb>() => Self::Rlb,
            None => Self::Outside,
        }
    }
}

/// An adaptive routing of a torus.
pub struct Adaptive<'a> {
    fabric: &'a Fabric,
    torus: &'a Torus,
    /// The routing of the fast engine, for rules of other crates.
    made: &'a flitlab_routing::Adaptive,
    rule: Rule,
    pub rules: AdaptiveRules,
    /// The table of the escape, if that is not direction order: by router, and router of a
    /// destination.
    table: Option<BTreeMap<(u32, u32), u16>>,
}

impl<'a> Adaptive<'a> {
    /// That of some routes, if they are adaptive.
    pub fn new(fabric: &'a Fabric, routes: &'a Routes) -> Option<Self> {
        let Routes::Adaptive(made) = routes else { return None };
        let torus = fabric.torus().expect("adaptive routing is for tori");
        let (rules, rule) = (made.rules().clone(), Rule::of(made.rule()));
        let mut adaptive = Self { fabric, torus, made, rule, rules, table: None };
        let all = (0..fabric.routers())
            .flat_map(|router| (0..2 * torus.dimensions()).map(move |port| (router, port)));
        let mut beside = all.filter(|&(router, port)| adaptive.beside(router, port).is_some());
        let failed = beside.any(|(router, port)| !adaptive.is_live(router, port));
        if matches!(adaptive.rules.escape, EscapeRule::Table) || failed {
            let ends: BTreeSet<u32> =
                (0..fabric.terminals()).filter_map(|it| fabric.terminal_router(it)).collect();
            let ports = 0..2 * torus.dimensions();
            let is_live = |&at: &u32| ports.clone().any(|port| adaptive.is_live(at, port));
            let live = (0..fabric.routers()).filter(is_live);
            let pairs = live.flat_map(|at| ends.iter().map(move |&end| (at, end)));
            // Where cables have rates of their own it may have been made before they were known.
            let port = |(at, end)| made.onward(at, end, Heading::default(), true).escape;
            let pairs = pairs.filter(|(at, end)| at != end);
            let table = pairs.map(|pair| (pair, port(pair))).collect();
            adaptive.table = Some(table);
        }
        Some(adaptive)
    }

    /// Whether a table is the escape.
    pub fn has_table(&self) -> bool {
        self.table.is_some()
    }

    /// The coordinates of the node beside another, if the torus has one there when nothing has
    /// failed.
    fn beside(&self, router: u32, port: usize) -> Option<Vec<u32>> {
        let dimension = port % self.torus.dimensions();
        let mut place = self.torus.coordinates(router);
        let (at, size) = (place[dimension], self.torus.sizes()[dimension]);
        let next = if port < self.torus.dimensions() { at + 1 } else { at + size - 1 };
        let leaves = if port < self.torus.dimensions() { at + 1 == size } else { at == 0 };
        place[dimension] = next % size;
        (!leaves || self.torus.closed(dimension)).then_some(place)
    }

    fn is_live(&self, router: u32, port: usize) -> bool {
        self.fabric.target(self.fabric.outputs(router).start + port as u32).is_some()
    }

    fn at(&self, router: u32, dimension: usize) -> u32 {
        self.torus.coordinate(router, dimension)
    }

    /// Hops in the positive and in the negative direction of a dimension; `None` where one doesn't
    /// lead there.
    fn both_ways(&self, from: u32, to: u32, dimension: usize) -> (Option<u32>, Option<u32>) {
        let (from, to) = (self.at(from, dimension), self.at(to, dimension));
        let size = self.torus.sizes()[dimension];
        if from == to {
            return (None, None);
        }
        if self.torus.closed(dimension) {
            return (Some((to + size - from) % size), Some((from + size - to) % size));
        }
        (to.checked_sub(from), from.checked_sub(to))
    }

    /// The ports that bring a packet nearer, were nothing to have failed: lowest first.
    pub fn nearer(&self, from: u32, to: u32, rounds: &[Round]) -> Vec<u16> {
        let dimensions = self.torus.dimensions();
        let (mut positive, mut negative) = (Vec::new(), Vec::new());
        for (dimension, round) in rounds.iter().enumerate() {
            let (plus, minus) = match self.both_ways(from, to, dimension) {
                (None, None) => (false, false),
                (Some(_), None) => (true, false),
                (None, Some(_)) => (false, true),
                (Some(_), Some(_)) if round.bound => (!round.negative, round.negative),
                (Some(ahead), Some(behind)) if ahead != behind => (ahead < behind, behind < ahead),
                _ if self.rules.tie.is_none() => (true, true),
                _ => (!round.negative, round.negative),
            };
            positive.extend(plus.then_some(dimension as u16));
            negative.extend(minus.then_some((dimension + dimensions) as u16));
        }
        positive.extend(negative);
        positive
    }

    /// Hops by such ports.
    fn hops(&self, from: u32, to: u32, rounds: &[Round]) -> u32 {
        let of = |dimension: usize| match self.both_ways(from, to, dimension) {
            (Some(ahead), Some(behind)) if rounds[dimension].bound => {
                if rounds[dimension].negative { behind } else { ahead }
            }
            (ahead, behind) => ahead.into_iter().chain(behind).min().unwrap_or(0),
        };
        (0..self.torus.dimensions()).map(of).sum()
    }

    /// Bound to nothing.
    fn free(&self) -> Vec<Round> {
        vec![Round::default(); self.torus.dimensions()]
    }

    /// The live ports that bring a packet nearer, and the one by which it escapes.
    pub fn outputs(&self, from: u32, to: u32, rounds: &[Round]) -> (Vec<u16>, u16) {
        let mut nearer = self.nearer(from, to, rounds);
        nearer.retain(|&port| self.is_live(from, port.into()));
        let escape = match &self.table {
            None => nearer[0],
            Some(_) => self.table_port(from, to).expect("there is a table"),
        };
        (nearer, escape)
    }

    /// Whether the escape has two virtual channels, which a dateline parts.
    pub fn has_dateline(&self) -> bool {
        matches!(self.rules.escape, EscapeRule::Dateline)
    }

    /// Of a pair of virtual channels from `first` on, the one that a packet to a router takes
    /// behind a port: the second one as long as it has to pass the dateline in its dimension.
    /// Without datelines there is the first one alone.
    pub fn of_pair(&self, first: usize, from: u32, to: u32, port: u16) -> usize {
        let dimension = usize::from(port) % self.torus.dimensions();
        let (mut at, mut passes) = (from, false);
        while self.has_dateline() && self.at(at, dimension) != self.at(to, dimension) {
            let place = self.beside(at, port.into()).expect("ways stay in the torus");
            let forward = place[dimension] > self.at(at, dimension);
            passes |= forward != (usize::from(port) < self.torus.dimensions());
            at = self.torus.node(&place).expect("it is in the torus");
        }
        first + usize::from(passes)
    }

    /// The port by which the table leads from a router to another, if it is what leads packets out.
    pub fn table_port(&self, from: u32, to: u32) -> Option<u16> {
        self.table.as_ref()?.get(&(from, to)).copied()
    }

    /// The course of a packet that is injected now.
    pub fn inject(&self, source: u32, destination: u32, random: &mut ChaCha8Rng) -> Course {
        if matches!(self.rule, Rule::Outside) {
            return self.course(&self.made.inject(source, destination, Some(random)));
        }
        let mut rounds = self.free();
        if self.rules.tie == Some(Tie::Random) {
            let drawn: u8 = random.random();
            for (dimension, round) in rounds.iter_mut().enumerate() {
                round.negative = drawn >> dimension & 1 == 1;
            }
        }
        let (mut to, mut kind) = (destination, None);
        match self.rule {
            Rule::Goal => {
                rounds = self.drawn_orthant(source, destination, random);
                kind = self.orthant(source, destination, &rounds);
            }
            Rule::Valiant | Rule::Romm | Rule::Rlb => {
                if matches!(self.rule, Rule::Rlb) {
                    let told = rounds;
                    rounds = self.drawn_orthant(source, destination, random);
                    for (round, told) in rounds.iter_mut().zip(told) {
                        round.negative = if round.bound { round.negative } else { told.negative };
                    }
                }
                let node = loop {
                    let node = match self.rule {
                        Rule::Valiant => random.random_range(0..self.torus.nodes()),
                        _ => self.drawn_between(source, destination, &rounds, random),
                    };
                    if self.has_end(node) || !self.has_table() {
                        break node;
                    }
                };
                let way = |from, to| self.hops(from, to, &rounds);
                let longer = way(source, node) + way(node, destination);
                if longer > self.hops(source, destination, &self.free()) {
                    kind = Some(Misroute::AtSource);
                }
                to = if node == source { destination } else { node };
            }
            _ => {}
        }
        let drawn = if self.rules.selection.draws() { random.random() } else { 0 };
        Course { to, rounds, drawn, kind }
    }

    /// The ways round rings that GOAL draws: the short one of d hops with probability (k - d) / k, so
    /// either way by the hops of the other one.
    fn drawn_orthant(&self, source: u32, destination: u32, random: &mut ChaCha8Rng) -> Vec<Round> {
        self.bound(source, destination, |_, ahead, behind| {
            random.random_range(0..(ahead + behind) as u16) < ahead as u16
        })
    }

    /// A node between two others, each as likely: on the ways round that a packet is bound to, else on
    /// a shortest way, in the half of a ring that is told or drawn.
    fn drawn_between(
        &self,
        source: u32,
        destination: u32,
        rounds: &[Round],
        random: &mut ChaCha8Rng,
    ) -> u32 {
        let ports = self.nearer(source, destination, rounds);
        let leads = |port: usize| ports.contains(&(port as u16));
        let mut place = self.torus.coordinates(source);
        for (dimension, at) in place.iter_mut().enumerate() {
            let [plus, minus] = [dimension, dimension + self.torus.dimensions()];
            let back = leads(minus) && (!leads(plus) || random.random());
            let (ahead, behind) = self.both_ways(source, destination, dimension);
            let Some(hops) = (if back { behind } else { ahead }) else { continue };
            let steps = u32::from(random.random_range(0..=hops as u16));
            let size = self.torus.sizes()[dimension];
            *at = (*at + if back { size - steps } else { steps }) % size;
        }
        self.torus.node(&place).expect("it lies inside")
    }

    /// Whether packets can end at a node.
    fn has_end(&self, node: u32) -> bool {
        let mut terminals = 0..self.fabric.terminals();
        terminals.any(|it| self.fabric.terminal_router(it) == Some(node))
    }

    /// A course of the fast engine.
    fn course(&self, course: &flitlab_routing::Course) -> Course {
        let &flitlab_routing::Course { to, heading, drawn, kind } = course;
        let round = |dimension| Round {
            bound: heading.bound >> dimension & 1 == 1,
            negative: heading.negative >> dimension & 1 == 1,
        };
        Course { to, rounds: (0..self.torus.dimensions()).map(round).collect(), drawn, kind }
    }

    /// What a rule of another crate decides.
    fn ask(&self, router: u32, course: &Course, used: &[Option<u32>], full: u32) -> Option<Course> {
        let mut heading = Heading::default();
        for (dimension, round) in course.rounds.iter().enumerate() {
            heading.bound |= u8::from(round.bound) << dimension;
            heading.negative |= u8::from(round.negative) << dimension;
        }
        let &Course { to, drawn, kind, .. } = course;
        let course = flitlab_routing::Course { to, heading, drawn, kind };
        let used: Vec<u32> = used.iter().map(|used| used.unwrap_or(u32::MAX)).collect();
        self.made.decide(router, course, &used, full).map(|decided| self.course(&decided))
    }

    /// Bound in every ring with hops to go, to the negative direction where `goes_back` says so,
    /// which is told the dimension and the hops ahead and behind.
    fn bound(
        &self,
        source: u32,
        destination: u32,
        mut goes_back: impl FnMut(usize, u32, u32) -> bool,
    ) -> Vec<Round> {
        let mut rounds = self.free();
        for (dimension, round) in rounds.iter_mut().enumerate() {
            let ways = self.both_ways(source, destination, dimension);
            if let (Some(ahead), Some(behind)) = ways {
                *round = Round { bound: true, negative: goes_back(dimension, ahead, behind) };
            }
        }
        rounds
    }

    /// A longer way than the shortest is a detour.
    fn orthant(&self, source: u32, destination: u32, rounds: &[Round]) -> Option<Misroute> {
        let longer = self.hops(source, destination, rounds);
        let shortest = self.hops(source, destination, &self.free());
        (longer > shortest).then_some(Misroute::Orthant)
    }

    /// Whether a virtual channel is the adaptive one.
    pub fn is_adaptive(&self, vc: usize) -> bool {
        vc == usize::from(self.rules.channels.adaptive)
    }

    /// Whether packets decide at routers.
    pub fn decides(&self) -> bool {
        self.made.decides()
    }

    /// Lets a packet that asks at a router decide, if it is yet to do so there: `used` flits behind
    /// each live port on the adaptive channel, of a buffer of `buffer`.
    pub fn decide_at(&self, packet: &mut Packet, router: u32, used: &[Option<u32>], buffer: u32) {
        let end = self.fabric.terminal_router(packet.destination);
        if !packet.undecided || packet.asked_at == Some(router) || end == Some(router) {
            return;
        }
        packet.asked_at = Some(router);
        let escape = self.rules.channels.escape;
        let has_escaped = packet.virtual_channel == escape
            || self.has_dateline() && packet.virtual_channel == escape + 1;
        let course = packet.course.clone().expect("it has been injected");
        let sizes = (buffer, packet.flits);
        let decided = if has_escaped { None } else { self.decide(router, course, used, sizes) };
        let asks_again = !has_escaped && self.made.decides_on_the_way();
        packet.undecided = decided.is_none() && asks_again;
        packet.course = decided.or(packet.course.take());
    }

    /// What is decided for a packet at a router, if it leads anywhere else: `used` flits behind each live port on the adaptive
    /// channel, of a buffer of `buffer`, the packet having so many `flits`.
    fn decide(
        &self,
        source: u32,
        course: Course,
        used: &[Option<u32>],
        (buffer, flits): (u32, u32),
    ) -> Option<Course> {
        let destination = course.to;
        match self.rule {
            Rule::Minimal | Rule::Goal | Rule::Valiant | Rule::Romm | Rule::Rlb => None,
            Rule::Outside => self.ask(source, &course, used, (buffer + 1).saturating_sub(flits)),
            Rule::ChannelQueue => {
                let rounds = self.bound(source, destination, |dimension, ahead, behind| {
                    let used = |port: usize| u64::from(used[port].unwrap_or(u32::MAX));
                    let positive = used(dimension) * u64::from(ahead);
                    let negative = used(dimension + self.torus.dimensions()) * u64::from(behind);
                    negative < positive || negative == positive && behind < ahead
                });
                let kind = self.orthant(source, destination, &rounds);
                Some(Course { rounds, kind, ..course })
            }
            Rule::Profit(family, weights, full_distance) => {
                let detours = self.detours(source, &course, family);
                let shortest = self.hops(source, destination, &self.free());
                let behind = |rounds: &[Round], to: u32| -> Vec<u32> {
                    let mut ports = self.nearer(source, to, rounds);
                    // What has failed since is not alive either.
                    let is_live = |port: usize| self.is_live(source, port) && used[port].is_some();
                    ports.retain(|&port| is_live(port.into()));
                    let of_port = |&port: &u16| used[usize::from(port)].expect("it is live");
                    ports.iter().map(of_port).collect()
                };
                // Eta follows what is used on the shortest ways, from nothing to no room.
                let minimal = behind(&course.rounds, destination);
                let mean = f64::from(minimal.iter().sum::<u32>()) / minimal.len() as f64;
                let share = mean / f64::from((buffer + 1).saturating_sub(flits));
                let distance =
                    weights.distance + (full_distance - weights.distance) * share.min(1.0);
                let weights = Weights { distance, ..weights };
                let profit = |rounds: &[Round], to: u32, hops: u32| {
                    let of_ports = behind(rounds, to);
                    profit(&of_ports, used, (buffer, flits), (shortest, hops), &weights)
                };
                let minimal = profit(&course.rounds, destination, shortest);
                let mut best: Option<(f64, Detour)> = None;
                for detour in detours {
                    let pays = profit(&detour.rounds, detour.node, detour.hops);
                    if pays > best.as_ref().map_or(minimal, |best| best.0) {
                        best = Some((pays, detour));
                    }
                }
                best.map(|(_, it)| Course {
                    to: it.node,
                    rounds: it.rounds,
                    kind: Some(it.kind),
                    ..course
                })
            }
        }
    }

    /// All detours of a packet, in the order in which the first of the best ones is taken.
    fn detours(&self, source: u32, course: &Course, family: Family) -> Vec<Detour> {
        let destination = course.to;
        let shortest = self.hops(source, destination, &self.free());
        if shortest < 2 {
            return Vec::new();
        }
        match family {
            Family::Orthants => self.orthants(source, course),
            Family::IntermediateNodes { steps, percent } => {
                let steps = steps.max(shortest * percent / 100);
                let mut outflanking: Vec<Vec<u32>> = self
                    .lambdas(source, destination)
                    .iter()
                    .filter_map(|lambda| self.outflanking((source, destination), lambda, steps))
                    .collect();
                if self.torus.dimensions() > 3 {
                    outflanking.sort_by_key(|place| {
                        let node = self.torus.node(place).expect("it lies inside");
                        self.through(source, node, destination)
                    });
                }
                let outflank = outflanking.into_iter().map(|place| (place, Misroute::OutFlank));
                let middles = self.middles(source, destination).into_iter();
                let wraparound = middles.map(|place| (place, Misroute::Wraparound));
                let all = outflank.chain(wraparound);
                all.filter_map(|(place, kind)| self.detour(source, course, &place, kind)).collect()
            }
        }
    }

    /// Hops of the shortest ways from one node to another and on to a third.
    fn through(&self, source: u32, node: u32, destination: u32) -> u32 {
        self.hops(source, node, &self.free()) + self.hops(node, destination, &self.free())
    }

    /// The other orthants: some of the dimensions that are rings, half rings excepted, go the long
    /// way round.
    fn orthants(&self, source: u32, course: &Course) -> Vec<Detour> {
        let destination = course.to;
        let dimensions = self.torus.dimensions();
        let is_told = |&dimension: &usize| {
            let ways = self.both_ways(source, destination, dimension);
            matches!(ways, (Some(ahead), Some(behind)) if ahead != behind)
        };
        let told: Vec<usize> = (0..dimensions).filter(is_told).collect();
        let mut detours = Vec::new();
        for longer in 1..1u32 << dimensions {
            if (0..dimensions).any(|it| longer >> it & 1 == 1 && !told.contains(&it)) {
                continue;
            }
            let mut rounds = course.rounds.clone();
            for &dimension in &told {
                let ways = self.both_ways(source, destination, dimension);
                let goes_long = longer >> dimension & 1 == 1;
                let negative = (ways.1 < ways.0) != goes_long;
                rounds[dimension] = Round { bound: true, negative };
            }
            let hops = self.hops(source, destination, &rounds);
            let kind = Misroute::Orthant;
            detours.push(Detour { node: destination, hops, rounds, kind });
        }
        detours
    }

    /// 1 where the shortest way is positive in a dimension, -1 where it is negative; half rings are
    /// positive.
    fn step(&self, source: u32, destination: u32, dimension: usize) -> i64 {
        match self.both_ways(source, destination, dimension) {
            (None, None) => 0,
            (Some(ahead), Some(behind)) => {
                if behind < ahead {
                    -1
                } else {
                    1
                }
            }
            (ahead, _) => {
                if ahead.is_some() {
                    1
                } else {
                    -1
                }
            }
        }
    }

    /// The vectors lambda of equations (9) to (14), relative to the shortest way's directions: a
    /// step aside where there are no hops, or a step back in one dimension and one beyond the
    /// destination in another.
    fn lambdas(&self, source: u32, destination: u32) -> Vec<Vec<i64>> {
        let dimensions = self.torus.dimensions();
        let of = |places: &[(usize, i64)]| {
            let value = |dimension| places.iter().find(|it| it.0 == dimension).map_or(0, |it| it.1);
            (0..dimensions).map(value).collect::<Vec<i64>>()
        };
        let moves = |&dimension: &usize| self.step(source, destination, dimension) != 0;
        let moving: Vec<usize> = (0..dimensions).filter(moves).collect();
        let still: Vec<usize> = (0..dimensions).filter(|it| !moving.contains(it)).collect();
        let mut all = Vec::new();
        if moving.len() == 1 {
            // Ends in one line: all four of (13) and (14), which together use all of its
            // non-minimal directions.
            let line = moving[0];
            for (number, &aside) in still.iter().enumerate() {
                all.push(match number {
                    0 => of(&[(aside, 1), (line, 1)]),
                    1 => of(&[(aside, 1), (line, -1)]),
                    _ => of(&[(aside, 1)]),
                });
                let alone = still.len() == 1;
                all.push(of(&[(aside, -1), (line, if alone { -1 } else { 0 })]));
            }
            return all;
        }
        for later in (0..moving.len()).rev() {
            for earlier in (0..later).rev() {
                all.push(of(&[(moving[earlier], -1), (moving[later], 1)]));
                all.push(of(&[(moving[earlier], 1), (moving[later], -1)]));
            }
        }
        for &aside in &still {
            all.push(of(&[(aside, 1)]));
            all.push(of(&[(aside, -1)]));
        }
        all
    }

    /// The outflanking node of a vector lambda, equations (2) and (3); `None` beyond the edge of an
    /// open dimension.
    fn outflanking(&self, ends: (u32, u32), lambda: &[i64], steps: u32) -> Option<Vec<u32>> {
        let (source, destination) = ends;
        let mut place = Vec::new();
        for (dimension, &aside) in lambda.iter().enumerate() {
            let (from, to) =
                (i64::from(self.at(source, dimension)), i64::from(self.at(destination, dimension)));
            let size = i64::from(self.torus.sizes()[dimension]);
            let step = self.step(source, destination, dimension);
            let steps = i64::from(steps);
            let at = match (aside, step) {
                // The middle of the shortest way, rounded down from where a way that wraps around
                // is unrolled.
                (0, 1) if to < from => (from + to + size) / 2,
                (0, -1) if to > from => (from + to + size) / 2,
                (0, _) => (from + to) / 2,
                (_, 0) => from + aside * steps,
                (1, _) => to + step * steps,
                _ => from - step * steps,
            };
            if !self.torus.closed(dimension) && !(0..size).contains(&at) {
                return None;
            }
            place.push(at.rem_euclid(size) as u32);
        }
        Some(place)
    }

    /// The wraparound nodes, equation (1): the middles of all orthants, dimension 0 the lowest bit
    /// of beta. Of a ring the bit says whether it is the middle of the positive way, or that of the
    /// negative one.
    fn middles(&self, source: u32, destination: u32) -> Vec<Vec<u32>> {
        let dimensions = self.torus.dimensions();
        let goes = |beta: u32| (0..dimensions).all(|d| beta >> d & 1 == 0 || self.torus.closed(d));
        let middle = |beta: u32, dimension: usize| {
            let (from, to) = (self.at(source, dimension), self.at(destination, dimension));
            let size = self.torus.sizes()[dimension];
            if !self.torus.closed(dimension) {
                return (from + to) / 2;
            }
            let ahead = (to + size - from) % size;
            let other = if beta >> dimension & 1 == 1 { size } else { 0 };
            (from + (ahead + other) / 2) % size
        };
        let betas = (0..1u32 << dimensions).filter(|&beta| goes(beta));
        betas.map(|beta| (0..dimensions).map(|it| middle(beta, it)).collect()).collect()
    }

    /// A detour through a node, if it is one: it uses directions at both ends that no shortest way
    /// uses, and the node is one where packets can end.
    fn detour(
        &self,
        source: u32,
        course: &Course,
        place: &[u32],
        kind: Misroute,
    ) -> Option<Detour> {
        let node = self.torus.node(place).expect("it lies inside");
        let destination = course.to;
        let is_other = |from, to| {
            [true, false].into_iter().all(|both_halves| {
                let minimal = self.shortest(source, destination, both_halves);
                self.shortest(from, to, both_halves).iter().any(|it| !minimal.contains(it))
            })
        };
        let leads_round = is_other(source, node) && is_other(node, destination);
        let hops = self.through(source, node, destination);
        let exists = leads_round && (self.has_end(node) || !self.has_table());
        exists.then(|| Detour { node, hops, rounds: course.rounds.clone(), kind })
    }

    /// The directions of all shortest ways, of half rings both or the positive one.
    fn shortest(&self, from: u32, to: u32, both_halves: bool) -> Vec<usize> {
        let dimensions = self.torus.dimensions();
        let mut directions = Vec::new();
        for dimension in 0..dimensions {
            let (ahead, behind) = self.both_ways(from, to, dimension);
            let least = ahead.into_iter().chain(behind).min();
            if least.is_some() {
                let goes_back = behind == least && (both_halves || ahead != least);
                directions.extend((ahead == least).then_some(dimension));
                directions.extend(goes_back.then_some(dimension + dimensions));
            }
        }
        directions
    }

    /// The port that a packet likes best of those `open` to it, each with the room behind it and
    /// the time at which its adaptive channel was granted last: `came` in a direction, at a router,
    /// with its random number.
    pub fn liked(
        &self,
        open: &[(u16, u32, Picoseconds)],
        came: Option<u16>,
        (router, drawn): (u32, u16),
    ) -> Option<u16> {
        let mut open = open.to_vec();
        open.sort_unstable();
        let first = open.first()?.0;
        let drawn = super::choosing::chance_at(router, drawn.into());
        Some(match **self.rules.selection {
            Selection::First => first,
            Selection::Straight => {
                came.filter(|came| open.iter().any(|it| it.0 == *came)).unwrap_or(first)
            }
            Selection::MostRoom => {
                let most = open.iter().map(|it| it.1).max()?;
                open.iter().find(|it| it.1 == most)?.0
            }
            Selection::Random => open[drawn as usize % open.len()].0,
            Selection::LeastRecent => {
                let longest_ago = open.iter().map(|it| it.2).min()?;
                open.iter().find(|it| it.2 == longest_ago)?.0
            }
            Selection::Outside(rule) => {
                let (mut room, mut granted) = ([0; 16], [Picoseconds::ZERO; 16]);
                for &(port, free, time) in &open {
                    (room[usize::from(port)], granted[usize::from(port)]) = (free, time);
                }
                let ports = open.iter().fold(0, |ports, it| ports | 1 << it.0);
                rule.prefers(&Outputs {
                    open: ports,
                    straight: came.map_or(u32::MAX, u32::from),
                    drawn: drawn as u32,
                    room: &room,
                    granted: &granted,
                }) as u16
            }
        })
    }
}

/// The profit of a way, equations (15) and (16): `of_ports` are the flits used behind the ports
/// along which it leaves, `used` those behind all ports, `hops` those of the shortest way and its
/// own.
fn profit(
    of_ports: &[u32],
    used: &[Option<u32>],
    (buffer, flits): (u32, u32),
    (shortest, hops): (u32, u32),
    weights: &Weights,
) -> f64 {
    // Without room for the packet behind any of its ports, the way is worth nothing.
    if !of_ports.iter().any(|used| used + flits <= buffer) {
        return 0.0;
    }
    let least = used.iter().flatten().copied().min().expect("one of its ports is live");
    let sum: u32 = of_ports.iter().sum();
    let is_idle = least == 0 && (sum == 0 || weights.idle == IdleRatio::AnyIdle);
    let mean = f64::from(sum) / of_ports.len() as f64;
    let first = if is_idle { 1.0 } else { f64::from(least) / mean };
    first + weights.distance * (f64::from(shortest) / f64::from(hops))
}

/// What both decide for packets in states that are drawn, which says more than where two runs part.
#[test]
fn the_reference_engine_decides_on_the_same_detours() {
    use flitlab_fabric::{Faults, Torus};
    use flitlab_routing::AdaptiveChannels;
    use flitlab_routing::adaptive::NonMinimalRule;
    use rand::SeedableRng;
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let rules_of_detours = [
        NonMinimalRule::new("cqr", ""),
        NonMinimalRule::new("goal", ""),
        NonMinimalRule::new("valiant", ""),
        NonMinimalRule::new("romm", ""),
        NonMinimalRule::new("rlb", ""),
        NonMinimalRule::new("profit", "distance_weight = 0.58"),
        NonMinimalRule::new("outflank", "distance_weight = 0.58"),
        NonMinimalRule::new("profit", "distance_weight = 3\nfull_weight_factor = 0.1"),
        NonMinimalRule::new("outflank", "distance_weight = 2.5\nfull_weight_factor = 0.44"),
    ];
    for sizes in [&[4, 3][..], &[4, 4], &[5, 4], &[3, 4, 4], &[2, 5], &[7]] {
        let fabric = Torus::new(sizes, &[]).unwrap().fabric(&Faults::default()).unwrap();
        for non_minimal in &rules_of_detours {
            for tie in [None, Some(Tie::Plus), Some(Tie::Random)] {
                let channels = AdaptiveChannels::default();
                let non_minimal = non_minimal.clone();
                let rules =
                    AdaptiveRules { non_minimal, tie, channels, ..AdaptiveRules::default() };
                let made = flitlab_routing::Adaptive::new(&fabric, rules.clone(), 1);
                let Ok(fast) = made else { continue };
                let routes = Routes::Adaptive(fast.clone());
                let plain = Adaptive::new(&fabric, &routes).unwrap();
                for _ in 0..300 {
                    let (source, to) = (
                        random.random_range(0..fabric.routers()),
                        random.random_range(0..fabric.routers()),
                    );
                    if source == to {
                        continue;
                    }
                    let (buffer, flits) = (18, random.random_range(1..=9));
                    let ports = 2 * sizes.len() as u32;
                    let used: Vec<Option<u32>> = (0..ports)
                        .map(|port| {
                            let target = fabric.target(fabric.outputs(source).start + port);
                            target.map(|_| random.random_range(0..=4) * 4)
                        })
                        .collect();
                    let slots: Vec<u32> = used.iter().map(|it| it.unwrap_or(u32::MAX)).collect();
                    let mut draws = random.clone();
                    let course = fast.inject(source, to, rules.is_random().then_some(&mut draws));
                    let plain_course = plain.inject(source, to, &mut random.clone());
                    let one = fast.decide(source, course, &slots, buffer - flits + 1);
                    let one = one.unwrap_or(course);
                    let other = plain.decide(source, plain_course.clone(), &used, (buffer, flits));
                    let other = other.unwrap_or(plain_course);
                    assert_eq!(
                        (one.to, one.kind),
                        (other.to, other.kind),
                        "{sizes:?} {rules:?} {source} {to} {used:?} {flits}"
                    );
                    let ports = (0..16u16)
                        .filter(|port| fast.ports(source, one.to, one.heading) >> port & 1 == 1);
                    let ports: Vec<u16> = ports.collect();
                    assert_eq!(
                        plain.nearer(source, other.to, &other.rounds),
                        ports,
                        "{sizes:?} {rules:?} {source} {to} {used:?} {flits}"
                    );
                }
            }
        }
    }
}
