//! Packets that pass through phases, from docs/model.md alone: no table of the fast engine is asked.
//! `legs` has the rules whose ways have legs, `rows` those of a HyperX, `distances` those that compare
//! distances.

mod distances;
mod legs;
mod rows;

use std::any::Any;

use flitlab_base::units::Picoseconds;
use flitlab_fabric::Fabric;
use flitlab_routing::{RelationRoutes, Routes, adaptive::Misroute, phased::Ugal, relation::Hop};

use super::choosing::chance_at;
use super::packet::Packet;
use super::ways::{drawn, splitmix};
use distances::Distances;
use legs::Legs;
use rows::Rows;

/// The rule and the fabric, as a reader of the model sees them.
pub enum Phased<'a> {
    Legs(Legs<'a>),
    Rows(Rows<'a>),
    Distances(Distances<'a>),
}

/// How far a packet is.
#[derive(Clone, Copy, Debug)]
pub enum Progress {
    Legs(legs::Progress),
    Rows(rows::Progress),
    Distances(distances::Progress),
}

impl<'a> Phased<'a> {
    /// `None` if packets don't pass through phases.
    pub fn new(fabric: &'a Fabric, routes: &'a Routes) -> Option<Self> {
        let Routes::Relation(routes) = routes else { return None };
        let any: &dyn Any = &**routes.rule.as_ref()?;
        let legs = Legs::new(fabric, routes, any).map(Self::Legs);
        let own = legs
            .or_else(|| Rows::new(fabric, routes, any).map(Self::Rows))
            .or_else(|| Distances::new(fabric, routes, any).map(Self::Distances));
        Some(own.expect("the reference engine knows all rules"))
    }

    /// The time at whose multiples routers see what is out at others, if they do.
    pub fn age(routes: &Routes) -> Option<Picoseconds> {
        let Routes::Relation(routes) = routes else { return None };
        let rule: &dyn Any = &**routes.rule.as_ref()?;
        rule.downcast_ref::<Ugal>()?.others.map(|(_, age)| age)
    }

    /// How a packet starts that is injected now.
    pub fn start(&self, packet: &Packet) -> Progress {
        match self {
            Self::Legs(legs) => Progress::Legs(legs.start(packet)),
            Self::Rows(rows) => Progress::Rows(rows.start(packet)),
            Self::Distances(_) => Progress::Distances(distances::Progress::default()),
        }
    }

    /// The hops of a packet at a router; none where it has to decide first.
    pub fn hops(&self, packet: &Packet, router: u32) -> Vec<Hop> {
        match (self, packet.progress) {
            (Self::Legs(legs), Some(Progress::Legs(progress))) => {
                legs.hops(progress, packet, router)
            }
            (Self::Rows(rows), Some(Progress::Rows(progress))) => {
                rows.hops(progress, packet, router)
            }
            (Self::Distances(own), Some(Progress::Distances(progress))) => {
                own.hops(progress, packet, router)
            }
            _ => unreachable!("it has been injected"),
        }
    }

    /// Notes that a packet goes on from a router by a port and a virtual channel.
    pub fn take(&self, packet: &mut Packet, router: u32, (port, vc): (u16, usize)) {
        packet.before = None;
        packet.progress = Some(match (self, packet.progress) {
            (Self::Legs(legs), Some(Progress::Legs(progress))) => {
                Progress::Legs(legs.take(progress, packet, (router, port)))
            }
            (Self::Rows(rows), Some(Progress::Rows(progress))) => {
                Progress::Rows(rows.take(progress, packet, router, (port, vc)))
            }
            (Self::Distances(_), Some(Progress::Distances(progress))) => {
                Progress::Distances(progress.gone_on())
            }
            _ => unreachable!("it has been injected"),
        });
    }

    /// Lets a packet decide at a router, if it has to. `used` gives the flits out by a port in some
    /// virtual channels, `elsewhere` what was out by any channel when routers last saw it.
    pub fn decide(
        &self,
        packet: &mut Packet,
        router: u32,
        used: impl Fn(u16, &[u8]) -> u32,
        elsewhere: impl Fn(u32) -> u32,
    ) {
        packet.before = packet.before.or(packet.progress);
        packet.progress = Some(match (self, packet.progress) {
            (Self::Legs(legs), Some(Progress::Legs(progress))) => {
                Progress::Legs(legs.decide(progress, packet, router, (used, elsewhere)))
            }
            (Self::Rows(rows), Some(Progress::Rows(progress))) => {
                Progress::Rows(rows.decide(progress, packet, router, used))
            }
            (Self::Distances(own), Some(Progress::Distances(progress))) => {
                Progress::Distances(own.decide(progress, packet, router, used))
            }
            _ => unreachable!("it has been injected"),
        });
    }
}

impl Progress {
    /// Where the packet left the minimal ways.
    pub fn misroute(&self) -> Option<Misroute> {
        match self {
            Self::Legs(legs) => legs.misroute(),
            Self::Rows(rows) => rows.left_at,
            Self::Distances(distances) => distances.left_at,
        }
    }
}

/// Where a packet leaves the minimal ways that does so at a router.
fn left_at(fabric: &Fabric, packet: &Packet, router: u32) -> Option<Misroute> {
    let is_source = ends(fabric, packet).0 == router;
    Some(if is_source { Misroute::AtSource } else { Misroute::OnTheWay })
}

/// What routers see of others: what was out by all channels at the last multiple of a time.
#[derive(Default)]
pub struct Seen {
    /// How many multiples were over.
    multiples: Option<u64>,
    /// By channel of the fabric.
    flits: Vec<u32>,
}

impl Seen {
    /// Looks anew, before anything happens at a time, if it is the first one since a multiple.
    pub fn look(
        &mut self,
        (age, now): (Picoseconds, Picoseconds),
        channels: u32,
        out: impl Fn(u32) -> u32,
    ) {
        let multiples = Some(now.0 / age.0);
        if self.multiples != multiples {
            self.multiples = multiples;
            self.flits = (0..channels).map(out).collect();
        }
    }

    pub fn of(&self, channel: u32) -> u32 {
        self.flits[channel as usize]
    }
}

/// The routers of a packet's source and destination.
fn ends(fabric: &Fabric, packet: &Packet) -> (u32, u32) {
    let router = |terminal| fabric.terminal_router(terminal).expect("it is live");
    (router(packet.source), router(packet.destination))
}

/// Of the ports among which a packet chooses at a router, the first with the least cost, from one by
/// chance on if ties are drawn; `None` if it has no choice.
fn least_of(
    routes: &RelationRoutes,
    packet: &Packet,
    router: u32,
    mut ports: Vec<u16>,
    cost: impl Fn(u16) -> u64,
) -> Option<u16> {
    if ports.len() < 2 {
        return None;
    }
    if routes.random_ties {
        let chance = drawn(routes.seed, packet.source, packet.sequence) >> 48;
        let first = chance_at(router, chance) as usize % ports.len();
        ports.rotate_left(first);
    }
    let least = ports.iter().map(|&port| cost(port)).min();
    ports.into_iter().find(|&port| Some(cost(port)) == least)
}

/// The random number of a place in the sequence of a packet, by its source and its number there,
/// below `count`.
fn drawn_below(seed: u64, (source, number): (u32, u32), place: u32, count: usize) -> usize {
    let of_packet = drawn(seed, source, number);
    let step = 11_400_714_819_323_198_485u128 * (u128::from(place) + 1);
    let mixed = splitmix((u128::from(of_packet) + step) as u64);
    ((u128::from(mixed >> 32) * count as u128) >> 32) as usize
}
