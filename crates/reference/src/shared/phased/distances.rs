//! Packets whose hops are told by distances between routers.

use std::any::Any;

use flitlab_fabric::Fabric;
use flitlab_routing::{
    RelationRoutes,
    adaptive::Misroute,
    phased::{Among, Ancestor, Cost, Polarized},
    relation::Hop,
};

use super::{drawn_below, ends, least_of, left_at};
use crate::shared::packet::Packet;

/// How far a packet is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    hops: u32,
    /// The port that it has chosen at this router.
    chosen: Option<u16>,
    /// Where it first chose a port that gains less than another one.
    pub left_at: Option<Misroute>,
}

impl Progress {
    /// After a hop.
    pub fn gone_on(self) -> Self {
        Self { hops: self.hops + 1, chosen: None, ..self }
    }
}

enum Rule<'a> {
    Polarized(&'a Polarized),
    Ancestor(&'a Ancestor),
}

/// The rule, and the hops between all routers.
pub struct Distances<'a> {
    fabric: &'a Fabric,
    routes: &'a RelationRoutes,
    rule: Rule<'a>,
    between: Vec<Vec<i64>>,
    /// The most hops of a packet.
    longest: u32,
}

const FAR: i64 = 1 << 30;

impl<'a> Distances<'a> {
    /// `None` if the rule is none of these.
    pub fn new(fabric: &'a Fabric, routes: &'a RelationRoutes, any: &'a dyn Any) -> Option<Self> {
        let polarized = any.downcast_ref().map(Rule::Polarized);
        let rule = polarized.or(any.downcast_ref().map(Rule::Ancestor))?;
        let routers = fabric.routers() as usize;
        let mut between = vec![vec![FAR; routers]; routers];
        for (at, row) in between.iter_mut().enumerate() {
            fabric.neighbors(at as u32).for_each(|next| row[next as usize] = 1);
            row[at] = 0;
        }
        for by in 0..routers {
            for from in 0..routers {
                for to in 0..routers {
                    between[from][to] = between[from][to].min(between[from][by] + between[by][to]);
                }
            }
        }
        let mut own = Self { fabric, routes, rule, between, longest: 0 };
        let all = fabric.ends();
        let pairs = all.iter().flat_map(|&from| all.iter().map(move |&to| (from, to)));
        let unknown = vec![None; routers];
        let longest = pairs.map(|(from, to)| own.farthest((from, to), from, &mut unknown.clone()));
        let longest = longest.max().flatten();
        own.longest = longest.unwrap_or(0).max(1);
        Some(own)
    }

    /// The most hops that a packet can still take; `None` if it does not arrive. By router: what is
    /// known.
    fn farthest(
        &self,
        ends: (u32, u32),
        at: u32,
        known: &mut Vec<Option<Option<u32>>>,
    ) -> Option<u32> {
        if at == ends.1 {
            return Some(0);
        }
        if let Some(hops) = known[at as usize] {
            return hops;
        }
        let ways = self.allowed(ends, at).into_iter();
        let nexts = ways.filter_map(|(port, _)| {
            let channel = self.fabric.outputs(at).start + u32::from(port);
            self.farthest(ends, self.fabric.target(channel).expect("it is live"), known)
        });
        let most = nexts.max().map(|hops| hops + 1);
        known[at as usize] = Some(most);
        most
    }

    /// The ports by which a packet may go on from a router and arrive.
    fn onward(&self, ends: (u32, u32), at: u32) -> Vec<(u16, u64)> {
        let mut ways = self.allowed(ends, at);
        if let Rule::Ancestor(_) = self.rule {
            return ways;
        }
        let mut known = vec![None; self.between.len()];
        ways.retain(|&(port, _)| {
            let channel = self.fabric.outputs(at).start + u32::from(port);
            let next = self.fabric.target(channel).expect("it is live");
            self.farthest(ends, next, &mut known).is_some()
        });
        ways
    }

    /// The ports that the rule allows a packet at a router, and how many penalties each costs.
    fn allowed(&self, (source, to): (u32, u32), at: u32) -> Vec<(u16, u64)> {
        let from = |router: u32| self.between[source as usize][router as usize];
        let left = |router: u32| self.between[router as usize][to as usize];
        let outputs = self.fabric.outputs(at);
        let ports = outputs.clone().filter_map(|channel| {
            let next = self.fabric.target(channel)?;
            let port = (channel - outputs.start) as u16;
            match self.rule {
                Rule::Ancestor(_) => (left(next) < left(at)).then_some((port, 0)),
                Rule::Polarized(_) => {
                    let (before, after) = (left(at) - from(at), left(next) - from(next));
                    let away = from(at) < left(at) && from(next) > from(at);
                    let towards = from(at) >= left(at) && left(next) < left(at);
                    match before - after {
                        0 if away || towards => Some((port, 2)),
                        1 => Some((port, 1)),
                        2 => Some((port, 0)),
                        _ => None,
                    }
                }
            }
        });
        ports.collect()
    }

    /// The hops of a packet at a router.
    pub fn hops(&self, progress: Progress, packet: &Packet, router: u32) -> Vec<Hop> {
        let vcs = u32::from(self.routes.relation.vcs());
        let each = match self.rule {
            Rule::Ancestor(_) => vcs,
            Rule::Polarized(_) => (vcs / self.longest).max(1),
        };
        let first = match self.rule {
            Rule::Ancestor(_) => 0,
            Rule::Polarized(_) => (progress.hops * each).min(vcs - each),
        };
        let ways = self.onward(ends(self.fabric, packet), router).into_iter();
        let chosen = |port: u16| progress.chosen.is_none_or(|it| it == port);
        let ports = ways.map(|(port, _)| port).filter(|&port| chosen(port));
        let hops = ports.flat_map(|port| (first..first + each).map(move |vc| (port, vc)));
        hops.map(|(port, vc)| Hop::new(port, vc as u8)).collect()
    }

    /// Lets a packet choose a port at a router.
    pub fn decide(
        &self,
        progress: Progress,
        packet: &Packet,
        router: u32,
        used: impl Fn(u16, &[u8]) -> u32,
    ) -> Progress {
        let ends = ends(self.fabric, packet);
        if router == ends.1 || progress.chosen.is_some() {
            return progress;
        }
        let all: Vec<u8> = (0..self.routes.relation.vcs()).collect();
        let out = |port: u16| u64::from(used(port, &all));
        let ways = self.onward(ends, router);
        let ports: Vec<u16> = ways.iter().map(|&(port, _)| port).collect();
        let chosen = match self.rule {
            Rule::Ancestor(rule) if rule.among != Among::All && ports.len() > 1 => {
                let (count, number) = match rule.among {
                    Among::Drawn(count) => (u32::from(count), packet.sequence),
                    // The number of its flow in place of the packet's.
                    _ => (1, packet.destination),
                };
                let numbers = (packet.source, number);
                let draws = (0..count).map(|number| {
                    let place = 256 + router * count + number;
                    ports[drawn_below(self.routes.seed, numbers, place, ports.len())]
                });
                let draws: Vec<u16> = draws.collect();
                let least = draws.iter().map(|&port| out(port)).min();
                match draws[..] {
                    [only] => Some(only),
                    _ => draws.into_iter().find(|&port| Some(out(port)) == least),
                }
            }
            Rule::Ancestor(_) => least_of(self.routes, packet, router, ports, out),
            Rule::Polarized(rule) => {
                let Cost::Sum(penalty) = rule.cost else { unreachable!("its keys say so") };
                let cost = |port: u16| {
                    let way = ways.iter().find(|way| way.0 == port).expect("it is one of them");
                    out(port) + u64::from(penalty) * way.1
                };
                least_of(self.routes, packet, router, ports, cost)
            }
        };
        let least = ways.iter().map(|way| way.1).min();
        let loses = |port: &u16| ways.iter().any(|way| way.0 == *port && Some(way.1) > least);
        let leaves = chosen.filter(loses).and_then(|_| left_at(self.fabric, packet, router));
        Progress { chosen, left_at: progress.left_at.or(leaves), ..progress }
    }
}
