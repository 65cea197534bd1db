//! Packets whose ways have legs. A packet is told by what it has done on its present leg.

use std::any::Any;
use std::collections::BTreeSet;

use flitlab_fabric::Fabric;
use flitlab_routing::{
    RelationRoutes,
    adaptive::Misroute,
    phased::{CountedVcs, Equal, Minimal, SeenQueues, Ugal, Valiant, Weights},
    relation::Hop,
};

use super::{drawn_below, ends};
use crate::shared::packet::Packet;

/// What a leg leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Router(u32),
    Group(u32),
}

/// The legs of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    /// To the destination at once.
    Straight,
    ToVia(Target),
    FromVia,
    /// To the destination at once, as from a via, since the packet has drawn one of its ends.
    FromEnd,
}

/// How far a packet is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    leg: Leg,
    /// Hops on this leg since the last of these, or all where there are no groups.
    within: u32,
    /// The cables between groups of this leg that are behind it.
    crossed: u32,
    /// Whether its leg to a via began after a hop.
    late: bool,
    pub undecided: bool,
}

impl Progress {
    /// Where the packet left the minimal ways.
    pub fn misroute(&self) -> Option<Misroute> {
        match self.leg {
            Leg::Straight | Leg::FromEnd => None,
            Leg::ToVia(_) | Leg::FromVia if self.late => Some(Misroute::OnTheWay),
            Leg::ToVia(_) | Leg::FromVia => Some(Misroute::AtSource),
        }
    }
}

/// The rule and the fabric, as a reader of the model sees them.
pub struct Legs<'a> {
    fabric: &'a Fabric,
    routes: &'a RelationRoutes,
    rule: Rule<'a>,
    /// By router: its group; all are one group where ways have the fewest hops.
    group: Vec<u32>,
    by_groups: bool,
    /// The cables between groups and the hops from one router to another, on ways with the fewest
    /// such cables, and of those the fewest hops.
    between: Vec<Vec<Option<(u32, u32)>>>,
    /// Of ways with one cable between groups at most, the most hops within groups before it: of ways
    /// from routers with terminals to such, to groups, and from any router; and most of those after
    /// it.
    before: u32,
    before_group: u32,
    before_from_any: u32,
    before_group_from_any: u32,
    after: u32,
    /// Of ways with more cables, by those behind: the most hops within a group before the next one,
    /// and last the rest of the longest way of all. Empty if there are none.
    round: Vec<u32>,
}

/// The parts of a leg within groups, between which are its cables between groups.
#[derive(Clone)]
struct Stretches {
    /// By the cables behind: the most hops. What is left of a way behind its last cable goes on into
    /// later ones.
    most: Vec<u32>,
    /// By the same: the number of the first hop.
    from: Vec<u32>,
}

impl Stretches {
    fn of(most: &[u32], first: u32) -> Self {
        let before = |stretch: usize| most[..stretch].iter().sum::<u32>();
        Self { most: most.to_vec(), from: (0..most.len()).map(|it| first + before(it)).collect() }
    }

    /// The number behind all.
    fn end(&self) -> u32 {
        self.from.last().expect("one") + self.most.last().expect("one")
    }

    /// The number of a hop within a group, after so many cables and so many hops since.
    fn number(&self, mut stretch: usize, mut hops: u32) -> u32 {
        while stretch + 1 < self.most.len() && hops >= self.most[stretch] {
            hops -= self.most[stretch];
            stretch += 1;
        }
        self.from[stretch] + hops
    }
}

/// The stretches of all legs, and how many numbers they take.
struct Steps {
    straight: Stretches,
    /// To the destination at once, of pairs whose ways have more cables than one.
    round: Stretches,
    first: Stretches,
    late: Stretches,
    second: Stretches,
    needed: u32,
}

enum Rule<'a> {
    Minimal,
    Valiant(&'a Valiant),
    Ugal(&'a Ugal),
}

impl<'a> Legs<'a> {
    /// `None` if the rule is none of these.
    pub fn new(fabric: &'a Fabric, routes: &'a RelationRoutes, any: &'a dyn Any) -> Option<Self> {
        let (rule, by_groups) = if let Some(rule) = any.downcast_ref::<Minimal>() {
            (Rule::Minimal, rule.is_by_groups())
        } else if let Some(rule) = any.downcast_ref::<Valiant>() {
            (Rule::Valiant(rule), rule.is_by_groups())
        } else {
            let rule: &Ugal = any.downcast_ref()?;
            (Rule::Ugal(rule), rule.valiant.is_by_groups())
        };
        let routers = fabric.routers() as usize;
        let group = if by_groups { fabric.groups().to_vec() } else { vec![0; routers] };
        let mut between = vec![vec![None; routers]; routers];
        for at in 0..routers {
            for next in fabric.neighbors(at as u32) {
                between[at][next as usize] =
                    Some((u32::from(group[next as usize] != group[at]), 1));
            }
            between[at][at] = Some((0, 0));
        }
        for by in 0..routers {
            for from in 0..routers {
                for to in 0..routers {
                    let halves = between[from][by].zip(between[by][to]);
                    let around = halves.map(|(one, two)| (one.0 + two.0, one.1 + two.1));
                    between[from][to] = between[from][to].into_iter().chain(around).min();
                }
            }
        }
        let (before, before_group, before_from_any, after) = (0, 0, 0, 0);
        let before_group_from_any = 0;
        let mut own = Self {
            fabric,
            routes,
            rule,
            group,
            by_groups,
            between,
            round: Vec::new(),
            before,
            before_group,
            before_from_any,
            before_group_from_any,
            after,
        };
        own.measure();
        Some(own)
    }

    fn measure(&mut self) {
        let ends = self.fabric.ends();
        let routers: Vec<u32> = (0..self.fabric.routers()).collect();
        if !self.by_groups {
            let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
            let left = pairs.filter_map(|(from, to)| self.left(from, Target::Router(to)));
            self.before = left.max().unwrap_or(0);
            return;
        }
        let to_ends: Vec<Target> = ends.iter().map(|&to| Target::Router(to)).collect();
        let most = |from: &[u32], to: &[Target]| {
            let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
            let pairs = pairs.filter(|&(from, to)| self.cables(from, to) == Some(1));
            pairs.map(|(from, to)| self.most_within(from, to)).max().unwrap_or(0)
        };
        let before = most(&ends, &to_ends);
        let before_group = most(&ends, &self.all_groups());
        let before_from_any = most(&routers, &to_ends);
        let before_group_from_any = most(&routers, &self.all_groups());
        let (mut after, mut within) = (0, 0);
        for &to in &to_ends {
            for &at in &routers {
                match self.cables(at, to) {
                    Some(0) => within = within.max(self.left(at, to).unwrap_or(0)),
                    Some(1) => {
                        let behind = self.onward(at, to).into_iter();
                        let behind = behind.filter(|&(_, next)| self.cables(next, to) == Some(0));
                        let left = behind.map(|(_, next)| self.left(next, to));
                        after = after.max(left.flatten().max().unwrap_or(0));
                    }
                    _ => {}
                }
            }
        }
        let round = self.measure_round(&ends);
        self.round = round;
        (self.before, self.before_group, self.before_from_any) =
            (before, before_group, before_from_any);
        self.before_group_from_any = before_group_from_any;
        self.after = after.max(within.saturating_sub(before));
    }

    /// Follows all ways with more cables than one.
    fn measure_round(&self, ends: &[u32]) -> Vec<u32> {
        let mut stretches: Vec<u32> = Vec::new();
        // The last stretches: the cables behind them, and their hops.
        let mut last: Vec<(usize, u32)> = Vec::new();
        for &to in ends {
            let target = Target::Router(to);
            let far = ends.iter().filter(|&&from| self.cables(from, target) > Some(1));
            let mut open: Vec<(u32, usize, u32)> = far.map(|&from| (from, 0, 0)).collect();
            let mut known = BTreeSet::new();
            while let Some((at, cables, hops)) = open.pop() {
                if !known.insert((at, cables, hops)) {
                    continue;
                }
                if self.cables(at, target) == Some(0) {
                    last.push((cables, hops));
                } else {
                    stretches.resize(stretches.len().max(cables + 1), 0);
                    stretches[cables] = stretches[cables].max(hops);
                }
                for (_, next) in self.onward(at, target) {
                    let crosses = self.group[at as usize] != self.group[next as usize];
                    open.push(if crosses {
                        (next, cables + 1, 0)
                    } else {
                        (next, cables, hops + 1)
                    });
                }
            }
        }
        let all: u32 = stretches.iter().sum();
        let longest =
            last.iter().map(|&(cables, hops)| stretches[..cables].iter().sum::<u32>() + hops);
        if let Some(longest) = longest.max() {
            stretches.push(longest.saturating_sub(all));
        }
        stretches
    }

    fn all_groups(&self) -> Vec<Target> {
        let most = self.group.iter().max().copied().unwrap_or(0);
        (0..=most).map(Target::Group).collect()
    }

    fn group_of(&self, target: Target) -> u32 {
        match target {
            Target::Router(router) => self.group[router as usize],
            Target::Group(group) => group,
        }
    }

    /// The cables between groups and the hops of the ways from a router to a target.
    fn way(&self, at: u32, to: Target) -> Option<(u32, u32)> {
        let own = &self.between[at as usize];
        match to {
            Target::Router(router) => own[router as usize],
            Target::Group(group) => {
                let members = (0..own.len()).filter(|&router| self.group[router] == group);
                members.filter_map(|router| own[router]).min()
            }
        }
    }

    fn cables(&self, at: u32, to: Target) -> Option<u32> {
        self.way(at, to).map(|way| way.0)
    }

    fn left(&self, at: u32, to: Target) -> Option<u32> {
        self.way(at, to).map(|way| way.1)
    }

    /// The ports that lead on from a router to a target, and the routers behind them.
    fn onward(&self, at: u32, to: Target) -> Vec<(u16, u32)> {
        let Some((cables, hops)) = self.way(at, to) else { return Vec::new() };
        let outputs = self.fabric.outputs(at);
        let channels = outputs.clone().filter_map(|channel| {
            let next = self.fabric.target(channel)?;
            let crosses = self.group[next as usize] != self.group[at as usize];
            let behind = self.way(next, to)?;
            let leads = hops > 0 && (behind.0 + u32::from(crosses), behind.1 + 1) == (cables, hops);
            leads.then_some(((channel - outputs.start) as u16, next))
        });
        channels.collect()
    }

    /// The most hops within its group that a packet can take before it leaves it.
    fn most_within(&self, at: u32, to: Target) -> u32 {
        let group = self.group[at as usize];
        let nexts = self.onward(at, to).into_iter();
        let stays = nexts.filter(|&(_, next)| self.group[next as usize] == group);
        stays.map(|(_, next)| 1 + self.most_within(next, to)).max().unwrap_or(0)
    }

    /// How a packet starts that is injected now.
    pub fn start(&self, packet: &Packet) -> Progress {
        let leg = match self.rule {
            Rule::Valiant(rule) => self.detour(rule, packet, 0).unwrap_or(Leg::Straight),
            Rule::Minimal | Rule::Ugal(_) => Leg::Straight,
        };
        let undecided = matches!(self.rule, Rule::Ugal(_));
        Progress { leg, within: 0, crossed: 0, late: false, undecided }
    }

    /// The leg with which the detour of this number begins that a packet draws; none if there is
    /// nothing to draw.
    fn detour(&self, rule: &Valiant, packet: &Packet, number: u32) -> Option<Leg> {
        let (from, to) = ends(self.fabric, packet);
        let mut targets = match rule.goes_via_groups() {
            true => self.all_groups(),
            false => self.fabric.ends().into_iter().map(Target::Router).collect(),
        };
        if rule.avoids_groups() {
            targets.sort_by_key(|&target| self.group_of(target));
        }
        targets.retain(|target| match *target {
            Target::Router(_) if rule.avoids_groups() => {
                ![from, to].map(|it| self.group[it as usize]).contains(&self.group_of(*target))
            }
            Target::Router(router) => rule.draws_ends() || router != from && router != to,
            Target::Group(group) => ![from, to].map(|it| self.group[it as usize]).contains(&group),
        });
        if self.by_groups {
            // Neither leg has more than one cable between groups, wherever the first one ends.
            let is_direct = |at, to| self.cables(at, to).is_some_and(|cables| cables <= 1);
            let gates = |group: u32| {
                let all =
                    (0..self.fabric.routers()).filter(move |&at| self.group[at as usize] == group);
                all.filter(move |&at| {
                    self.fabric.neighbors(at).any(|next| self.group[next as usize] != group)
                })
            };
            targets.retain(|&target| {
                let leads_on = match target {
                    Target::Router(via) => is_direct(via, Target::Router(to)),
                    Target::Group(group) => {
                        gates(group).all(|at| is_direct(at, Target::Router(to)))
                    }
                };
                is_direct(from, target) && leads_on
            });
        }
        if targets.is_empty() {
            return None;
        }
        let of_packet = (packet.source, packet.sequence);
        let target = targets[drawn_below(self.routes.seed, of_packet, number, targets.len())];
        let is_end = [from, to].map(Target::Router).contains(&target);
        Some(if is_end { Leg::FromEnd } else { Leg::ToVia(target) })
    }

    /// The leg on which a packet goes on from a router.
    fn turned(&self, progress: Progress, router: u32) -> Progress {
        let is_there = |via| match via {
            Target::Router(it) => it == router,
            Target::Group(it) => it == self.group[router as usize],
        };
        match progress.leg {
            Leg::ToVia(via) if is_there(via) => {
                Progress { leg: Leg::FromVia, within: 0, crossed: 0, ..progress }
            }
            _ => progress,
        }
    }

    /// The hops of a packet at a router; none where it has to decide first.
    pub fn hops(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        if progress.undecided {
            return Vec::new();
        }
        self.hops_of(self.turned(progress, router), packet, router)
    }

    /// The stretches of all legs, with the first numbers of their hops.
    fn all_steps(&self) -> Steps {
        let via_groups = match self.rule {
            Rule::Minimal => None,
            Rule::Valiant(rule) => Some(rule.goes_via_groups()),
            Rule::Ugal(rule) => Some(rule.valiant.goes_via_groups()),
        };
        // Most hops before and after the cable between groups: of the leg to a via and from it.
        let straight = [self.before, self.after];
        let (first, second) = match via_groups {
            None => {
                let straight = Stretches::of(&self.along_all(), 0);
                let needed = straight.end().max(straight.most.len() as u32 - 1);
                let round = straight.clone();
                let (first, second, late) = (straight.clone(), straight.clone(), straight.clone());
                return Steps { straight, round, first, late, second, needed };
            }
            Some(false) => (straight, straight),
            Some(true) => ([self.before_group, 0], [self.before_from_any, self.after]),
        };
        let late = match via_groups {
            Some(true) => [self.before_group_from_any, 0],
            _ => [self.before_from_any, self.after],
        };
        let apart = self.starts_apart();
        let mut legs = Steps {
            straight: Stretches::of(&straight, 0),
            round: Stretches::of(if self.round.is_empty() { &[0] } else { &self.round }, 0),
            first: Stretches::of(&first, 0),
            late: Stretches::of(&late, 1),
            second: Stretches::of(&second, 0),
            needed: 0,
        };
        // All that may be taken before the first cable comes before what is behind it, where packets
        // may begin their detour late, and where something has failed.
        let has_failed = self.by_groups && !self.fabric.failed_cables().is_empty();
        let aligns = has_failed || !self.round.is_empty();
        let mut before = vec![legs.first.from[0] + first[0]];
        if self.decides_late() {
            before.push(1 + late[0]);
        }
        if aligns && !self.round.is_empty() {
            before.push(self.round[0]);
        }
        if aligns && !apart {
            before.push(straight[0]);
        }
        let first_cable = before.into_iter().max().expect("one");
        if aligns {
            legs.first.from[1] = first_cable;
            legs.late.from[1] = first_cable;
            legs.straight.from[1] = first_cable;
        } else if self.decides_late() {
            legs.first.from[1] = first_cable;
            legs.late.from[1] = 1 + late[0];
            legs.straight.from[1] = straight[0].max(1 + late[0]);
        }
        let mut via = legs.first.end();
        if self.decides_late() {
            via = via.max(legs.late.end());
        }
        legs.second = Stretches::of(&second, via);
        if apart {
            // As if a first leg were behind it.
            legs.straight = Stretches::of(&straight, via);
        }
        if aligns {
            let mut second_cable = via + second[0];
            if apart {
                second_cable = second_cable.max(via + straight[0]);
            }
            if !self.round.is_empty() {
                second_cable = second_cable.max(first_cable + self.round[1]);
                legs.round.from[1] = first_cable;
                let mut next = second_cable;
                for stretch in 2..self.round.len() {
                    legs.round.from[stretch] = next;
                    next += self.round[stretch];
                }
            }
            legs.second.from[1] = second_cable;
            if apart {
                legs.straight.from[1] = second_cable;
            }
        }
        let cables = 2.max(self.round.len().saturating_sub(1) as u32);
        let all = [legs.straight.end(), legs.second.end(), legs.round.end(), cables];
        Steps { needed: all.into_iter().max().expect("four"), ..legs }
    }

    /// The stretches of all minimal ways together.
    fn along_all(&self) -> Vec<u32> {
        if self.round.is_empty() {
            return vec![self.before, self.after];
        }
        let mut all = self.round.clone();
        all[0] = all[0].max(self.before);
        let (sum, direct) = (all.iter().sum::<u32>(), all[0] + self.after);
        *all.last_mut().expect("some") += direct.saturating_sub(sum);
        all
    }

    fn hops_of(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        let (from, to) = ends(self.fabric, packet);
        let destination = Target::Router(to);
        let steps = self.all_steps();
        let goes_round = self.cables(from, destination) > Some(1);
        let minimal = matches!(self.rule, Rule::Minimal);
        let (to, leg, cable) = match progress.leg {
            Leg::Straight if goes_round && !minimal => (destination, &steps.round, 0),
            Leg::Straight => (destination, &steps.straight, u32::from(self.starts_apart())),
            Leg::ToVia(via) if progress.late => (via, &steps.late, 0),
            Leg::ToVia(via) => (via, &steps.first, 0),
            Leg::FromVia | Leg::FromEnd => (destination, &steps.second, 1),
        };
        let vcs = u32::from(self.routes.relation.vcs());
        let width = (vcs / steps.needed).max(1);
        let mut hops = Vec::new();
        for (port, next) in self.onward(router, to) {
            let step = if self.group[next as usize] != self.group[router as usize] {
                cable + progress.crossed
            } else {
                leg.number(progress.crossed as usize, progress.within)
            };
            let vc = (step * width).min(vcs - width);
            hops.extend((vc..vc + width).map(|vc| Hop::new(port, vc as u8)));
        }
        hops
    }

    /// Whether packets without a detour take the steps of the second leg of one.
    fn starts_apart(&self) -> bool {
        match self.rule {
            Rule::Minimal => false,
            Rule::Valiant(_) => true,
            Rule::Ugal(rule) => rule.apart,
        }
    }

    fn decides_late(&self) -> bool {
        match self.rule {
            Rule::Ugal(rule) => rule.valiant.decides_late(),
            Rule::Minimal | Rule::Valiant(_) => false,
        }
    }

    /// Notes that a packet goes on from a router by a port.
    pub fn take(
        &self,
        progress: Progress,
        packet: &Packet,
        (router, port): (u32, u16),
    ) -> Progress {
        let channel = self.fabric.outputs(router).start + u32::from(port);
        let next = self.fabric.target(channel).expect("it is live");
        let mut progress = self.turned(progress, router);
        if self.group[next as usize] == self.group[router as usize] {
            progress.within += 1;
            let leaves =
                self.group[next as usize] != self.group[ends(self.fabric, packet).1 as usize];
            let begins = progress.leg == Leg::Straight && progress.within == 1;
            progress.undecided = self.decides_late() && begins && progress.crossed == 0 && leaves;
        } else {
            (progress.crossed, progress.within) = (progress.crossed + 1, 0);
        }
        progress
    }

    /// Lets a packet decide at a router. `used` gives the flits out by a port in some virtual
    /// channels.
    pub fn decide(
        &self,
        progress: Progress,
        packet: &Packet,
        router: u32,
        (used, elsewhere): (impl Fn(u16, &[u8]) -> u32, impl Fn(u32) -> u32),
    ) -> Progress {
        let (_, to) = ends(self.fabric, packet);
        if !progress.undecided || router == to {
            return progress;
        }
        let Rule::Ugal(rule) = self.rule else { unreachable!("others decide nothing") };
        let straight = Progress { undecided: false, ..progress };
        let all: Vec<u8> = (0..self.routes.relation.vcs()).collect();
        // The least queue of a way, with its port.
        let least = |way: Progress, of_way: bool| -> (u32, u16) {
            let hops = self.hops_of(way, packet, router);
            let queues = hops.iter().map(|hop| {
                let own = hops.iter().filter(|it| it.port == hop.port).map(|it| it.vc);
                let own: Vec<u8> = own.collect();
                (used(hop.port, if of_way { &own } else { &all }), hop.port)
            });
            queues.min().expect("there is a way")
        };
        let mut chosen: Option<(u64, u64, Progress)> = None;
        for number in 0..rule.candidates {
            let Some(leg) = self.detour(&rule.valiant, packet, number) else { break };
            let late = progress.within > 0;
            let by_detour = Progress { leg, late, within: 0, ..straight };
            if leg == Leg::ToVia(Target::Router(router)) {
                // It is there already.
                chosen = None;
                break;
            }
            let via = match leg {
                Leg::ToVia(via) => Some(via),
                _ => None,
            };
            let of_way = match rule.queues {
                CountedVcs::All => false,
                CountedVcs::OfWay => true,
                CountedVcs::IfShared => least(straight, false).1 == least(by_detour, false).1,
            };
            let hops = match rule.weights {
                Weights::Double => [1, 2],
                Weights::Equal => [1, 1],
                Weights::Hops => {
                    let left = self.left(router, Target::Router(to)).expect("it is connected");
                    [left, via.map_or(left, |via| self.length(router, via, to))]
                }
            };
            let queue = |way: Progress, via| match rule.others {
                None => least(way, of_way).0,
                Some((seen, _)) => self.seen(router, (via, to), seen, &elsewhere),
            };
            let one = u64::from(queue(straight, None)) * u64::from(hops[0]);
            let other = u64::from(queue(by_detour, via)) * u64::from(hops[1]);
            if chosen.is_none_or(|(_, best, _)| other < best) {
                chosen = Some((one, other, by_detour));
            }
        }
        let of_packet = (packet.source, packet.sequence);
        let draw = || drawn_below(self.routes.seed, of_packet, u32::MAX - router, 2) == 1;
        let detours = chosen.filter(|&(one, other, _)| {
            let other = other + u64::from(rule.threshold);
            one > other || one == other && rule.equal == Equal::Drawn && draw()
        });
        detours.map_or(straight, |(.., way)| way)
    }

    /// What is seen of others on a way along the lowest ports.
    fn seen(
        &self,
        from: u32,
        (via, to): (Option<Target>, u32),
        seen: SeenQueues,
        elsewhere: impl Fn(u32) -> u32,
    ) -> u32 {
        let mut channels = Vec::new();
        let mut at = from;
        for target in via.into_iter().chain([Target::Router(to)]) {
            while let Some(&(port, next)) = self.onward(at, target).first() {
                channels.push((self.fabric.outputs(at).start + u32::from(port), at, next));
                at = next;
            }
        }
        match seen {
            SeenQueues::OfWay => channels.iter().map(|&(channel, ..)| elsewhere(channel)).sum(),
            SeenQueues::OfGroup => {
                let group = |router: u32| self.group[router as usize];
                let crossing = channels.iter().find(|(_, at, next)| group(*at) != group(*next));
                crossing.or(channels.first()).map_or(0, |&(channel, ..)| elsewhere(channel))
            }
        }
    }

    /// The hops by way of a target, where the lowest ports are taken.
    fn length(&self, from: u32, via: Target, to: u32) -> u32 {
        match self.onward(from, via).first() {
            Some(&(_, next)) => 1 + self.length(next, via, to),
            None => self.left(from, Target::Router(to)).expect("it is connected"),
        }
    }
}
