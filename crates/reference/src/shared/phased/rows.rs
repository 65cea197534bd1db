//! Packets on a HyperX, which choose dimensions. A packet is told by the hops that it has taken.

use std::any::Any;

use flitlab_fabric::Fabric;
use flitlab_routing::{
    RelationRoutes,
    adaptive::Misroute,
    phased::{Channels, Choice, Cost, Dal, DimWar, OmniWar, Order},
    relation::Hop,
};

use super::{drawn_below, ends, least_of, left_at};
use crate::shared::packet::Packet;

/// How far a packet is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    hops: u32,
    /// Hops that did not lead to its destination's coordinate.
    detours: u32,
    /// The dimensions of those, a bit each.
    derouted: u32,
    /// Whether its last hop was one of them.
    just_derouted: bool,
    escaped: bool,
    /// Whether it has gone down on a way up and down.
    fell: bool,
    /// Whether it goes from the last dimension to the first; `None` if it has yet to decide.
    backwards: Option<bool>,
    /// The port that it has chosen at this router.
    chosen: Option<u16>,
    /// Where it chose the first of its detours.
    pub left_at: Option<Misroute>,
}

/// A hop by a port.
#[derive(Clone, Copy)]
struct Step {
    port: u16,
    dimension: usize,
    next: u32,
    /// Whether it leads to the destination's coordinate.
    aligns: bool,
}

enum Rule<'a> {
    Order(&'a Order),
    DimWar(&'a DimWar),
    OmniWar(&'a OmniWar),
    Dal(&'a Dal),
}

/// The rule, and the sizes of the dimensions.
pub struct Rows<'a> {
    fabric: &'a Fabric,
    routes: &'a RelationRoutes,
    rule: Rule<'a>,
    sizes: &'a [u32],
    /// The fewest hops from one router to another.
    between: Vec<Vec<u32>>,
    /// By router: its place on the ways up and down.
    height: Vec<(u32, u32)>,
    /// The fewest hops up and then down, and the fewest hops down alone.
    rising: Vec<Vec<u32>>,
    falling: Vec<Vec<u32>>,
    /// Whether a hop in the order of dimensions is missing.
    is_broken: bool,
    /// The most hops between routers without a way from dimension to dimension; 0 if all have one.
    round: u32,
}

const FAR: u32 = 1 << 20;

impl<'a> Rows<'a> {
    /// `None` if the rule is none of these.
    pub fn new(fabric: &'a Fabric, routes: &'a RelationRoutes, any: &'a dyn Any) -> Option<Self> {
        let order = any.downcast_ref().map(Rule::Order);
        let dim_war = any.downcast_ref().map(Rule::DimWar);
        let omni_war = any.downcast_ref().map(Rule::OmniWar);
        let rule = order.or(dim_war).or(omni_war).or(any.downcast_ref().map(Rule::Dal))?;
        let all = fabric.routers() as usize;
        let mut own = Self {
            fabric,
            routes,
            rule,
            sizes: fabric.joined_dimensions(),
            between: vec![vec![FAR; all]; all],
            height: Vec::new(),
            rising: vec![vec![FAR; all]; all],
            falling: vec![vec![FAR; all]; all],
            is_broken: false,
            round: 0,
        };
        own.measure();
        Some(own)
    }

    fn measure(&mut self) {
        let all = self.fabric.routers() as usize;
        let (fabric, ends) = (self.fabric, self.fabric.ends());
        let nexts = |at: usize| fabric.neighbors(at as u32).map(|next| next as usize);
        // Hop by hop, until nothing is nearer.
        let relax = |between: &mut Vec<Vec<u32>>, leads: &dyn Fn(usize, usize) -> bool| {
            (0..all).for_each(|at| between[at][at] = 0);
            loop {
                let before = between.clone();
                for at in 0..all {
                    for next in nexts(at).filter(|&next| leads(at, next)) {
                        let further = between[next].clone();
                        for (steps, further) in between[at].iter_mut().zip(further) {
                            *steps = (*steps).min(1 + further);
                        }
                    }
                }
                if *between == before {
                    break;
                }
            }
        };
        relax(&mut self.between, &|_, _| true);
        let Some(&root) = ends.first() else { return };
        self.height = (0..all).map(|at| (self.between[root as usize][at], at as u32)).collect();
        let height = self.height.clone();
        relax(&mut self.falling, &|at, next| height[next] > height[at]);
        // Up by any hop, or down from here.
        self.rising.clone_from(&self.falling);
        for _ in 0..all {
            for at in 0..all {
                for next in nexts(at).filter(|&next| height[next] < height[at]) {
                    for to in 0..all {
                        self.rising[at][to] = self.rising[at][to].min(1 + self.rising[next][to]);
                    }
                }
            }
        }
        for at in (0..all as u32).filter(|&at| fabric.neighbors(at).next().is_some()) {
            for &to in &ends {
                let first = self.ahead(at, to).first().copied();
                self.is_broken |= first.is_some_and(|it| !self.leads_on(at, to, it));
                if ends.contains(&at) && self.goes_round(at, to) {
                    self.round = self.round.max(self.between[at as usize][to as usize]);
                }
            }
        }
    }

    /// Whether a cable leads from a router to the destination's coordinate.
    fn leads_on(&self, router: u32, to: u32, dimension: usize) -> bool {
        self.fabric.neighbors(router).any(|next| {
            let moves = self.ahead(router, next) == [dimension];
            moves && self.coordinate(next, dimension) == self.coordinate(to, dimension)
        })
    }

    /// Whether no way leads from dimension to dimension, with a deroute in each.
    fn goes_round(&self, mut at: u32, to: u32) -> bool {
        while let Some(&dimension) = self.ahead(at, to).first() {
            let direct = |from: u32| {
                let mut nexts = self.fabric.neighbors(from);
                nexts.find(|&next| {
                    let moves = self.ahead(from, next) == [dimension];
                    moves && self.coordinate(next, dimension) == self.coordinate(to, dimension)
                })
            };
            let row = self.fabric.neighbors(at).filter(|&next| self.ahead(at, next) == [dimension]);
            let by_others = row.filter_map(direct).next();
            match direct(at).or(by_others) {
                Some(next) => at = next,
                None => return true,
            }
        }
        false
    }

    /// The ports that lead on along ways up and then down, whether each leads down, and the hops
    /// behind it.
    fn up_and_down(&self, router: u32, to: u32, fell: bool) -> Vec<(u16, bool, u32)> {
        let outputs = self.fabric.outputs(router);
        let (at, to) = (router as usize, to as usize);
        let left = if fell { self.falling[at][to] } else { self.rising[at][to] };
        let ports = outputs.clone().filter_map(|channel| {
            let next = self.fabric.target(channel)? as usize;
            let falls = self.height[next] > self.height[at];
            let behind = if falls { self.falling[next][to] } else { self.rising[next][to] };
            let leads = (falls || !fell) && behind + 1 == left;
            leads.then_some(((channel - outputs.start) as u16, falls, behind))
        });
        ports.collect()
    }

    fn coordinate(&self, router: u32, dimension: usize) -> u32 {
        let before: u32 = self.sizes[..dimension].iter().product();
        router / before % self.sizes[dimension]
    }

    /// The dimensions in which a router is not aligned with another.
    fn ahead(&self, router: u32, to: u32) -> Vec<usize> {
        let differs = |&at: &usize| self.coordinate(router, at) != self.coordinate(to, at);
        (0..self.sizes.len()).filter(differs).collect()
    }

    fn step(&self, router: u32, port: u16, to: u32) -> Option<Step> {
        let next = self.fabric.target(self.fabric.outputs(router).start + u32::from(port))?;
        let &[dimension] = &self.ahead(router, next)[..] else { return None };
        let aligns = self.coordinate(next, dimension) == self.coordinate(to, dimension);
        Some(Step { port, dimension, next, aligns })
    }

    pub fn start(&self, packet: &Packet) -> Progress {
        let backwards = match self.rule {
            Rule::Order(Order { choice: Choice::Drawn, .. }) => Some(self.coin(packet)),
            _ => None,
        };
        Progress { backwards, ..Progress::default() }
    }

    fn coin(&self, packet: &Packet) -> bool {
        drawn_below(self.routes.seed, (packet.source, packet.sequence), 0, 2) == 1
    }

    /// The virtual channels of step `number` of `all`.
    fn vcs_of(&self, number: u32, all: u32) -> Vec<u32> {
        let vcs = u32::from(self.routes.relation.vcs());
        let each = (vcs / all).max(1);
        let last = vcs - each;
        (0..each).map(|it| (number * each).min(last) + it).collect()
    }

    /// Whether a packet goes round all the way, under `dimwar`.
    fn packet_goes_round(&self, packet: &Packet) -> bool {
        let (from, to) = ends(self.fabric, packet);
        self.round > 0 && self.goes_round(from, to)
    }

    /// All hops of a packet at a router, whatever port it has chosen.
    fn all_hops(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        let (from, to) = ends(self.fabric, packet);
        let (ahead, dimensions) = (self.ahead(router, to), self.sizes.len() as u32);
        let left = |router: u32| self.between[router as usize][to as usize];
        let ports = 0..self.fabric.outputs(router).len() as u16;
        let steps = ports.clone().filter_map(|port| self.step(router, port, to));
        let mut hops = Vec::new();
        if let Rule::DimWar(rule) = self.rule
            && self.packet_goes_round(packet)
        {
            let with_vcs =
                |port: u16, vcs: Vec<u32>| vcs.into_iter().map(move |vc| Hop::new(port, vc as u8));
            match rule.channels {
                Channels::Two => {
                    for (port, ..) in self.up_and_down(router, to, progress.fell) {
                        hops.extend(with_vcs(port, self.vcs_of(2, 3)));
                    }
                }
                Channels::ByHop => {
                    let all = self.round.max(2 * dimensions);
                    for step in steps.filter(|step| left(step.next) + 1 == left(router)) {
                        hops.extend(with_vcs(step.port, self.vcs_of(progress.hops, all)));
                    }
                }
            }
            return hops;
        }
        let escapes = matches!(self.rule, Rule::Dal(_)) && self.routes.relation.vcs() > 1;
        if escapes && self.is_broken {
            for (port, ..) in self.up_and_down(router, to, progress.fell) {
                hops.push(Hop { escape: true, ..Hop::new(port, 0) });
            }
        }
        for step in steps {
            let Step { port, dimension, aligns, next } = step;
            let is_ahead = ahead.contains(&dimension);
            if !is_ahead && !matches!(self.rule, Rule::OmniWar(_)) {
                continue;
            }
            let is_first = ahead.first() == Some(&dimension);
            // A deroute is of use only where a cable leads on.
            let may_deroute = self.leads_on(next, to, dimension);
            let (allowed, vcs) = match self.rule {
                Rule::Order(_) => {
                    let back = progress.backwards.expect("it has decided");
                    let turn = if back { ahead.last() } else { ahead.first() };
                    (aligns && turn == Some(&dimension), self.vcs_of(back.into(), 2))
                }
                Rule::DimWar(rule) => {
                    let second = progress.just_derouted;
                    let all = self.round.max(2 * dimensions);
                    let vcs = match rule.channels {
                        Channels::Two if self.round > 0 => self.vcs_of(second.into(), 3),
                        Channels::Two => self.vcs_of(second.into(), 2),
                        Channels::ByHop => self.vcs_of(progress.hops, all),
                    };
                    (is_first && (aligns || !second && may_deroute), vcs)
                }
                Rule::OmniWar(rule) => {
                    let most = dimensions + u32::from(rule.deroutes);
                    // All hops of the packet, if it goes on by the fewest, and those that it would
                    // have taken without a deroute.
                    let hops = progress.hops + 1 + left(next);
                    let straight = self.ahead(from, to).len() as u32;
                    let comes_nearer = left(next) + 1 == left(router);
                    let may = hops - straight <= rule.deroutes.into() && (is_ahead || comes_nearer);
                    (may, self.vcs_of(progress.hops, most))
                }
                Rule::Dal(_) => {
                    let vcs = u32::from(self.routes.relation.vcs());
                    if escapes && !self.is_broken && is_first && aligns {
                        hops.push(Hop { escape: true, ..Hop::new(port, 0) });
                    }
                    let derouted = progress.derouted >> dimension & 1 == 1;
                    let may = aligns || !derouted && may_deroute;
                    (may && !progress.escaped, (u32::from(vcs > 1)..vcs).collect())
                }
            };
            if allowed {
                hops.extend(vcs.into_iter().map(|vc| Hop::new(port, vc as u8)));
            }
        }
        hops.sort_by_key(|hop| (hop.port, hop.vc));
        hops
    }

    /// The hops of a packet at a router; none where it has to decide first.
    pub fn hops(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        if matches!(self.rule, Rule::Order(_)) && progress.backwards.is_none() {
            return Vec::new();
        }
        let mut hops = self.all_hops(progress, packet, router);
        if let Some(chosen) = progress.chosen {
            hops.retain(|hop| hop.escape || hop.port == chosen);
        }
        hops
    }

    /// How far a packet is that goes on from a router.
    pub fn take(
        &self,
        progress: Progress,
        packet: &Packet,
        router: u32,
        (port, vc): (u16, usize),
    ) -> Progress {
        let (_, to) = ends(self.fabric, packet);
        let step = self.step(router, port, to).expect("it is a hop along a row");
        let is_dal = matches!(self.rule, Rule::Dal(_)) && self.routes.relation.vcs() > 1;
        let escaped = progress.escaped || is_dal && vc == 0;
        let follows_heights = match self.rule {
            Rule::Dal(_) => self.is_broken && escaped,
            Rule::DimWar(_) => self.packet_goes_round(packet),
            _ => false,
        };
        let falls =
            follows_heights && self.height[step.next as usize] > self.height[router as usize];
        Progress {
            hops: progress.hops + 1,
            detours: progress.detours + u32::from(!step.aligns),
            derouted: progress.derouted | u32::from(!step.aligns) << step.dimension,
            just_derouted: !step.aligns,
            escaped,
            fell: progress.fell || falls,
            chosen: None,
            ..progress
        }
    }

    /// Lets a packet decide at a router.
    pub fn decide(
        &self,
        progress: Progress,
        packet: &Packet,
        router: u32,
        used: impl Fn(u16, &[u8]) -> u32,
    ) -> Progress {
        let (_, to) = ends(self.fabric, packet);
        if router == to || progress.chosen.is_some() {
            return progress;
        }
        let all: Vec<u8> = (0..self.routes.relation.vcs()).collect();
        let out = |port: u16| u64::from(used(port, &all));
        let cost = match self.rule {
            Rule::Order(Order { choice: Choice::Adaptive, .. }) if progress.backwards.is_none() => {
                let least = |back: bool| {
                    let way = Progress { backwards: Some(back), ..progress };
                    let hops = self.all_hops(way, packet, router);
                    hops.iter().map(|hop| out(hop.port)).min().expect("it leads on")
                };
                let (forth, back) = (least(false), least(true));
                let backwards = if forth == back { self.coin(packet) } else { back < forth };
                return Progress { backwards: Some(backwards), ..progress };
            }
            Rule::Order(_) => return progress,
            Rule::DimWar(rule) => rule.cost,
            Rule::OmniWar(rule) => rule.cost,
            Rule::Dal(rule) => rule.cost,
        };
        let mut ports: Vec<u16> = Vec::new();
        let hops = self.all_hops(progress, packet, router);
        hops.iter().filter(|hop| !hop.escape).for_each(|hop| ports.push(hop.port));
        ports.dedup();
        // How many penalties a port costs, or else the hops by it.
        let label = |port: u16| -> u64 {
            let step = self.step(router, port, to).expect("it is a hop");
            let round = self.packet_goes_round(packet) && matches!(self.rule, Rule::DimWar(_));
            let by_heights =
                matches!(self.rule, Rule::DimWar(rule) if rule.channels == Channels::Two);
            let left = match self.rule {
                Rule::DimWar(_) if round && by_heights => {
                    let ways = self.up_and_down(router, to, progress.fell);
                    ways.iter().find(|way| way.0 == port).expect("it is one of them").2
                }
                Rule::DimWar(_) if round => self.between[step.next as usize][to as usize],
                Rule::OmniWar(_) => self.between[step.next as usize][to as usize],
                _ => self.ahead(step.next, to).len() as u32,
            };
            match cost {
                Cost::Sum(_) => u64::from(round || !step.aligns),
                Cost::Product(_) => u64::from(left) + 1,
            }
        };
        let of_port = |port: u16| match cost {
            Cost::Sum(penalty) => out(port) + u64::from(penalty) * label(port),
            Cost::Product(more) => (out(port) + u64::from(more)) * label(port),
        };
        let least = ports.iter().map(|&port| label(port)).min();
        let chosen = least_of(self.routes, packet, router, ports, of_port);
        let goes_astray = |port: &u16| Some(label(*port)) > least;
        let leaves = chosen.filter(goes_astray).and_then(|_| left_at(self.fabric, packet, router));
        Progress { chosen, left_at: progress.left_at.or(leaves), ..progress }
    }
}
