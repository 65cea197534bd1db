//! Packets whose ways have legs. A packet is told by what it has done on its present leg.

use std::any::Any;

use flitlab_fabric::Fabric;
use flitlab_routing::{
    RelationRoutes,
    adaptive::Misroute,
    phased::{CountedVcs, Equal, Minimal, SeenQueues, Ugal, Valiant, Weights},
    relation::Hop,
};

use super::{drawn_below, ends};
use crate::engine::packet::Packet;

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
    /// Hops within groups on this leg, or all hops where there are no groups.
    within: u32,
    /// Whether the cable between groups of this leg is behind it.
    crossed: bool,
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
    /// The hops between two routers without leaving their group.
    inside: Vec<Vec<Option<u32>>>,
    /// Most hops within groups before the cable between them: of ways from routers with terminals to
    /// such, to groups, and from any router; and most of those after it.
    before: u32,
    before_group: u32,
    before_from_any: u32,
    before_group_from_any: u32,
    after: u32,
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
        let mut inside = vec![vec![None; routers]; routers];
        for at in 0..routers {
            inside[at][at] = Some(0);
            for next in
                fabric.neighbors(at as u32).filter(|&next| group[next as usize] == group[at])
            {
                inside[at][next as usize] = Some(u32::from(next as usize != at));
            }
        }
        for by in 0..routers {
            for from in 0..routers {
                for to in 0..routers {
                    let around = inside[from][by].zip(inside[by][to]).map(|(one, two)| one + two);
                    inside[from][to] = inside[from][to].into_iter().chain(around).min();
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
            inside,
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
        let outside = |from: u32, to: Target| self.group[from as usize] != self.group_of(to);
        let to_ends: Vec<Target> = ends.iter().map(|&to| Target::Router(to)).collect();
        let most = |from: &[u32], to: &[Target]| {
            let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
            let pairs = pairs.filter(|&(from, to)| outside(from, to));
            pairs.map(|(from, to)| self.most_within(from, to)).max().unwrap_or(0)
        };
        let before = most(&ends, &to_ends);
        let before_group = most(&ends, &self.all_groups());
        let before_from_any = most(&routers, &to_ends);
        let before_group_from_any = most(&routers, &self.all_groups());
        let (mut after, mut within) = (0, 0);
        for &to in &to_ends {
            for &at in &routers {
                if !outside(at, to) {
                    within = within.max(self.left(at, to).unwrap_or(0));
                    continue;
                }
                for (_, next) in self.onward(at, to) {
                    if !outside(next, to) {
                        after = after.max(self.left(next, to).expect("a way leads on"));
                    }
                }
            }
        }
        (self.before, self.before_group, self.before_from_any) =
            (before, before_group, before_from_any);
        self.before_group_from_any = before_group_from_any;
        self.after = after.max(within.saturating_sub(before));
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

    fn inside(&self, from: u32, to: u32) -> Option<u32> {
        self.inside[from as usize][to as usize]
    }

    /// The hops of the ways from a router to a target.
    fn left(&self, at: u32, to: Target) -> Option<u32> {
        let own = self.group_of(to);
        let in_group = |from: u32| match to {
            Target::Router(router) => self.inside(from, router),
            Target::Group(_) => Some(0),
        };
        if self.group[at as usize] == own {
            return in_group(at);
        }
        let over = (0..self.fabric.routers()).flat_map(|gate| {
            let to_gate = self.inside(at, gate);
            let nexts = self.fabric.neighbors(gate);
            let nexts = nexts.filter(|&next| self.group[next as usize] == own);
            nexts.filter_map(move |next| Some(to_gate? + 1 + in_group(next)?))
        });
        over.min()
    }

    /// The ports that lead on from a router to a target, and the routers behind them.
    fn onward(&self, at: u32, to: Target) -> Vec<(u16, u32)> {
        let Some(left) = self.left(at, to) else { return Vec::new() };
        let outputs = self.fabric.outputs(at);
        let channels = outputs.clone().filter_map(|channel| {
            let next = self.fabric.target(channel)?;
            let group = self.group[next as usize];
            let may_cross = group == self.group[at as usize] || group == self.group_of(to);
            let leads = may_cross && left > 0 && self.left(next, to) == Some(left - 1);
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
        Progress { leg, within: 0, crossed: false, late: false, undecided }
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
                Progress { leg: Leg::FromVia, within: 0, crossed: false, ..progress }
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

    fn hops_of(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        let destination = Target::Router(ends(self.fabric, packet).1);
        let via_groups = match self.rule {
            Rule::Minimal => None,
            Rule::Valiant(rule) => Some(rule.goes_via_groups()),
            Rule::Ugal(rule) => Some(rule.valiant.goes_via_groups()),
        };
        // Most hops before and after the cable between groups: of the leg to a via and from it.
        let straight = [self.before, self.after];
        let (first, second) = match via_groups {
            None => ([0, 0], straight),
            Some(false) => (straight, straight),
            Some(true) => ([self.before_group, 0], [self.before_from_any, self.after]),
        };
        // The steps behind the cable follow those before it; all that may be taken before it comes
        // first where packets may begin their detour late.
        let (mut behind, mut behind_first) = (straight[0], first[0]);
        let mut from_via = first[0] + first[1];
        let mut behind_late = 0;
        if self.decides_late() {
            let late = match via_groups {
                Some(true) => [self.before_group_from_any, 0],
                _ => [self.before_from_any, self.after],
            };
            behind_late = 1 + late[0];
            behind = behind.max(behind_late);
            behind_first = behind_first.max(behind_late);
            from_via = (behind_first + first[1]).max(behind_late + late[1]);
        }
        let steps = [
            from_via + second[0] + second[1],
            behind + straight[1],
            if via_groups.is_some() { 2 } else { 1 },
        ];
        let steps = steps.into_iter().max().expect("three");
        let (to, first_step, before, behind, first_cable) = match progress.leg {
            Leg::Straight if self.starts_apart() => {
                // As if a first leg were behind it.
                (destination, from_via, straight[0], from_via + straight[0], 1)
            }
            Leg::Straight => (destination, 0, straight[0], behind, 0),
            Leg::ToVia(via) if progress.late => (via, 1, behind_late - 1, behind_late, 0),
            Leg::ToVia(via) => (via, 0, first[0], behind_first, 0),
            Leg::FromVia | Leg::FromEnd => {
                (destination, from_via, second[0], from_via + second[0], 1)
            }
        };
        let vcs = u32::from(self.routes.relation.vcs());
        let width = (vcs / steps).max(1);
        let mut hops = Vec::new();
        for (port, next) in self.onward(router, to) {
            let step = if self.group[next as usize] != self.group[router as usize] {
                first_cable
            } else if progress.crossed {
                behind + progress.within
            } else if progress.within >= before {
                behind + progress.within - before
            } else {
                first_step + progress.within
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
            progress.undecided = self.decides_late() && begins && !progress.crossed && leaves;
        } else {
            (progress.crossed, progress.within) = (true, 0);
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
