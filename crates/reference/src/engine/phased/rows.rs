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
use crate::engine::packet::Packet;

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
}

impl<'a> Rows<'a> {
    /// `None` if the rule is none of these.
    pub fn new(fabric: &'a Fabric, routes: &'a RelationRoutes, any: &'a dyn Any) -> Option<Self> {
        let order = any.downcast_ref().map(Rule::Order);
        let dim_war = any.downcast_ref().map(Rule::DimWar);
        let omni_war = any.downcast_ref().map(Rule::OmniWar);
        let rule = order.or(dim_war).or(omni_war).or(any.downcast_ref().map(Rule::Dal))?;
        Some(Self { fabric, routes, rule, sizes: fabric.joined_dimensions() })
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
        Some(Step { port, dimension, aligns })
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

    /// All hops of a packet at a router, whatever port it has chosen.
    fn all_hops(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        let (_, to) = ends(self.fabric, packet);
        let ahead = self.ahead(router, to);
        let ports = 0..self.fabric.outputs(router).len() as u16;
        let steps = ports.filter_map(|port| self.step(router, port, to));
        let mut hops = Vec::new();
        for step in steps.filter(|step| ahead.contains(&step.dimension)) {
            let Step { port, dimension, aligns } = step;
            let is_first = ahead.first() == Some(&dimension);
            let (allowed, vcs) = match self.rule {
                Rule::Order(_) => {
                    let back = progress.backwards.expect("it has decided");
                    let turn = if back { ahead.last() } else { ahead.first() };
                    (aligns && turn == Some(&dimension), self.vcs_of(back.into(), 2))
                }
                Rule::DimWar(rule) => {
                    let second = progress.just_derouted;
                    let vcs = match rule.channels {
                        Channels::Two => self.vcs_of(second.into(), 2),
                        Channels::ByHop => self.vcs_of(progress.hops, 2 * self.sizes.len() as u32),
                    };
                    (is_first && (aligns || !second), vcs)
                }
                Rule::OmniWar(rule) => {
                    let all = self.sizes.len() as u32 + u32::from(rule.deroutes);
                    let may = aligns || progress.detours < rule.deroutes.into();
                    (may, self.vcs_of(progress.hops, all))
                }
                Rule::Dal(_) => {
                    let vcs = u32::from(self.routes.relation.vcs());
                    if vcs > 1 && is_first && aligns {
                        hops.push(Hop { escape: true, ..Hop::new(port, 0) });
                    }
                    let may = aligns || progress.derouted >> dimension & 1 == 0;
                    (may && !progress.escaped, (u32::from(vcs > 1)..vcs).collect())
                }
            };
            if allowed {
                hops.extend(vcs.into_iter().map(|vc| Hop::new(port, vc as u8)));
            }
        }
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
        Progress {
            hops: progress.hops + 1,
            detours: progress.detours + u32::from(!step.aligns),
            derouted: progress.derouted | u32::from(!step.aligns) << step.dimension,
            just_derouted: !step.aligns,
            escaped: progress.escaped || is_dal && vc == 0,
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
        let ahead = self.ahead(router, to).len() as u64;
        let of_port = |port: u16| {
            let aligns = self.step(router, port, to).expect("it is a hop").aligns;
            match cost {
                Cost::Sum(penalty) => out(port) + if aligns { 0 } else { penalty.into() },
                Cost::Product(more) => (out(port) + u64::from(more)) * (ahead + u64::from(!aligns)),
            }
        };
        let chosen = least_of(self.routes, packet, router, ports, of_port);
        let goes_astray = |port: &u16| !self.step(router, *port, to).expect("it is a hop").aligns;
        let leaves = chosen.filter(goes_astray).and_then(|_| left_at(self.fabric, packet, router));
        Progress { chosen, left_at: progress.left_at.or(leaves), ..progress }
    }
}
