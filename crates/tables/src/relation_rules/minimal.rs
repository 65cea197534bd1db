//! Minimal adaptive routing: any output that brings a packet nearer, with or without an escape.
//!
//! `minimal` alone offers all shortest ways in all virtual channels. On fabrics where these close
//! no cycle, such as fat trees, it can't deadlock; on others the proof names the cycle.
//!
//! With an escape it is the methodology of Silla and Duato (\[silla-duato\]; first in
//! \[silla-duato-1997\]): virtual channel 0 keeps the original channels, on which a routing without
//! cycles is in force, and the other virtual channels are the new channels, which packets take
//! along shortest ways without restriction. A packet may enter an original channel from anywhere,
//! as if it were injected there, and never goes back to the new ones. Which original channel it may
//! enter is that routing's own choice from there: of Up*/Down* all its shortest legal ways, of Nue
//! the table's port. That new channels are to be preferred is up to the selection.
//!
//! Nue's table is one of a single virtual channel; among the terminals of a router it may differ,
//! and that to the one of lowest number is taken.

use super::shortest::{FirstHop, shortest};
use super::up_down::up_down;
use super::{RelationParameters, RelationRule};
use crate::agnostic::{Algorithm, Parameters};
use flitlab_base::registry::Row;
use flitlab_fabric::{Channel, Fabric, NONE, breadth_first};
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::RelationBuilder as Builder;
use flitlab_routing::relation::{Hop, NoRelation, Relation};

impl RelationRule {
    /// `minimal`.
    pub const MINIMAL: Row<Self> = Row::new(
        "minimal",
        "all shortest ways in all virtual channels; can deadlock where these close a cycle.",
        Self {
            avoids_deadlock: false,
            ..Self::usual(|fabric, parameters| Ok(shortest(fabric, parameters.vcs, |_, _| true)?))
        },
    );

    /// `minimal-up-down`.
    pub const MINIMAL_UP_DOWN: Row<Self> = Row::new(
        "minimal-up-down",
        "all shortest ways in virtual channels 1 and up, with Up*/Down* in virtual channel 0 as \
              the escape.",
        Self { least_vcs: 2, ..Self::usual(minimal_up_down) },
    );

    /// `minimal-nue`.
    pub const MINIMAL_NUE: Row<Self> = Row::new(
        "minimal-nue",
        "all shortest ways in virtual channels 1 and up, with Nue's table in virtual channel 0 as \
              the escape.",
        Self { least_vcs: 2, ..Self::usual(minimal_nue) },
    );
}

fn minimal_up_down(
    fabric: &Fabric,
    parameters: &RelationParameters,
) -> Result<Relation, NoRelation> {
    let own = RelationParameters { vcs: 1, ..*parameters };
    let builder = up_down(fabric, &own)?;
    let escape = builder.relation();
    let vcs = VcCounts { all: parameters.vcs, escape: 1 };
    with_escape(fabric, vcs, FirstHop::SHORTEST, relation_as_escape(escape))
}

fn minimal_nue(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let of_one_vc = Parameters { vcs: 1, ..Parameters::default() };
    let table = Algorithm::NUE.generate(fabric, &of_one_vc);
    let table = table.map_err(|error| NoRelation::Table(error.to_string()))?.table;
    let first: Vec<Option<u32>> =
        fabric.terminals_by_router().iter().map(|own| own.first().copied()).collect();
    let vcs = VcCounts { all: parameters.vcs, escape: 1 };
    with_escape(fabric, vcs, FirstHop::SHORTEST, |_, router, destination, hops| {
        let terminal = first[destination as usize].expect("destinations have terminals");
        hops.extend(table.port(router, terminal).map(|port| Hop::new(port, 0)));
    })
}

/// The hops that a relation of the virtual channels of an escape allows, for [`with_escape`].
pub(super) fn relation_as_escape(
    escape: &Relation,
) -> impl Fn(Option<VirtualChannel>, u32, u32, &mut Vec<Hop>) + '_ {
    move |before, router, destination, hops| {
        let state = match before {
            Some(place) => escape.arrived(place.channel, place.vc),
            None => escape.injected(router),
        };
        hops.extend(escape.hops(state, destination).iter().copied());
    }
}

/// How many virtual channels there are, the first of which are the escape's.
#[derive(Clone, Copy)]
pub(super) struct VcCounts {
    pub all: u8,
    pub escape: u8,
}

/// Shortest ways in the virtual channels behind those of the escape, and an escape: `escape(before,
/// router, destination, hops)` adds its hops for a packet at `router` that came there through
/// `before` of the escape, or is new to it.
pub(super) fn with_escape(
    fabric: &Fabric,
    vcs: VcCounts,
    first_hop: FirstHop,
    escape: impl Fn(Option<VirtualChannel>, u32, u32, &mut Vec<Hop>),
) -> Result<Relation, NoRelation> {
    let mut builder = Builder::new(fabric, vcs.all)?;
    let (mut hops_left, mut order) = (vec![NONE; fabric.routers() as usize], Vec::new());
    let (mut first, mut own, mut hops) = (Vec::new(), Vec::new(), Vec::new());
    for destination in fabric.ends() {
        breadth_first(destination, &mut hops_left, &mut order, |at| fabric.neighbors(at));
        for &router in order.iter().filter(|&&router| router != destination) {
            first.clear();
            own.clear();
            let outputs = fabric.outputs(router);
            for Onward { port, nearer, detour, .. } in onward(fabric, router, &hops_left, first_hop)
            {
                let free = (vcs.escape..vcs.all).map(|vc| Hop::new(port, vc));
                first.extend(free.clone().map(|hop| Hop { detour, ..hop }));
                if nearer {
                    own.extend(free);
                }
            }
            for list in [&mut first, &mut own] {
                let before = list.len();
                escape(None, router, destination, list);
                list[before..].iter_mut().for_each(|hop| hop.escape = true);
            }
            let injected = builder.relation().injected(router);
            builder.set(injected, destination, &mut first);
            for own_end in outputs.clone() {
                let Some(channel) = fabric.opposite(own_end) else { continue };
                let back = |hop: &&Hop| outputs.start + u32::from(hop.port) != own_end;
                hops.clear();
                hops.extend(own.iter().filter(|hop| hop.escape || back(hop)));
                let first_free = builder.relation().arrived(channel, vcs.escape);
                builder.set(first_free, destination, &mut hops);
                for vc in vcs.escape + 1..vcs.all {
                    let state = builder.relation().arrived(channel, vc);
                    builder.set_like(state, first_free, destination);
                }
                for vc in 0..vcs.escape {
                    hops.clear();
                    escape(Some(VirtualChannel { channel, vc }), router, destination, &mut hops);
                    hops.iter_mut().for_each(|hop| hop.escape = true);
                    let state = builder.relation().arrived(channel, vc);
                    builder.set(state, destination, &mut hops);
                }
            }
        }
    }
    Ok(builder.finish())
}

/// A channel by which a packet can begin its way.
pub(super) struct Onward {
    pub port: u16,
    pub channel: Channel,
    /// Whether it begins a shortest way.
    pub nearer: bool,
    pub detour: bool,
}

/// The channels of a router, to which so many hops are left from every router, by which packets can
/// begin their way.
pub(super) fn onward(
    fabric: &Fabric,
    router: u32,
    hops_left: &[u32],
    first_hop: FirstHop,
) -> impl Iterator<Item = Onward> {
    let left = hops_left[router as usize];
    (0u16..).zip(fabric.outputs(router)).filter_map(move |(port, channel)| {
        let next = fabric.target(channel)?;
        let through = hops_left[next as usize].saturating_add(1);
        let back = fabric.opposite(channel);
        let leads_on = |it: Channel| {
            let target = fabric.target(it).filter(|_| Some(it) != back);
            target.is_some_and(|at| hops_left[at as usize].saturating_add(2) == through)
        };
        let nearer = through == left;
        // A longer way goes on over another cable.
        let goes_on = nearer || fabric.outputs(next).any(leads_on);
        let detour = first_hop.begins(through, left).filter(|_| goes_on)?;
        Some(Onward { port, channel, nearer, detour })
    })
}
