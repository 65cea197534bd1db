//! Two opposite orders of channels, one lane each, and all shortest ways besides.
//!
//! With one lane packets take the shortest of the ways along which an [order](super::order) of the channels ascends. With
//! two they ascend in lane 0, then descend in lane 1: a turn that the order forbids in one lane is allowed in the other, and
//! changing lanes is a turn of any kind. There is no cycle: each (channel, lane) comes before all that may follow it, lane
//! 0 in the order, then lane 1 against it. On fat trees the order that is found lets packets through few switches only
//! (results/nue), so there it should have more than two lanes.
//!
//! With more lanes the others are for any shortest way, without restriction, and the two are the escape, as in
//! `minimal-up-down` (F. Silla and J. Duato, 2000). Packets that have to escape lose next to no ways by it.
//!
//! **Longer ways.** Where shortest ways crowd some channels, as on fat trees of fat trees, the first hop of a packet that is
//! not in the escape may also lead to a router that is as far from its destination, or farther by one. Behind it the
//! packet goes the shortest way from there: Valiant's detour (L. G. Valiant, "A Scheme for Fast Parallel Communication",
//! 1982), with a neighbor for the intermediate router. How much farther is decided before anything is simulated:
//! [`detour`].

use super::minimal::{Lanes, relation_as_escape, with_escape};
use super::order::order;
use super::shortest::from_everywhere;
use super::tree::{Tree, middle};
use super::{NoRelation, Relation, RelationParameters, RelationRule};
use crate::routing::LaneChannel;
use crate::topology::{Fabric, NONE, breadth_first};

impl RelationRule {
    /// `two-orders`.
    pub const TWO_ORDERS: Self = Self {
        name: "two-orders",
        doc: "shortest ways up an order of channels in lane 0, then down it in lane 1; further lanes are for all shortest \
              ways, with these two as the escape.",
        avoids_deadlock: true,
        least_lanes: 1,
        make,
    };
}

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let root = parameters.root.unwrap_or_else(|| middle(fabric));
    if root >= fabric.routers() {
        return Err(NoRelation::Root { root, routers: fabric.routers() });
    }
    let rank = order(fabric, &Tree::new(fabric, root, parameters.tree));
    let rank = |place: LaneChannel| rank[place.channel as usize];
    let legal = |before: LaneChannel, next: LaneChannel| {
        let ascends = rank(before) < rank(next);
        next.lane > before.lane || next.lane == before.lane && ascends == (before.lane == 0)
    };
    let escape = parameters.lanes.min(2);
    let lanes = Lanes { all: parameters.lanes, escape };
    let ordered = from_everywhere(fabric, escape, legal)?;
    if lanes.all == escape {
        return Ok(ordered.finish());
    }
    with_escape(fabric, lanes, detour(fabric), relation_as_escape(ordered.relation()))
}

/// By how many hops a way may be longer than the shortest because of its first one: 0, 1 or 2. That for which the
/// fullest channel has the least to carry, of equals the most, if every terminal sends to every other and
/// what is at a router parts alike among all hops that it may take.
fn detour(fabric: &Fabric) -> u32 {
    let fullest = [0, 1, 2].map(|longer| fullest_channel(fabric, longer));
    let least = fullest.iter().copied().fold(f64::INFINITY, f64::min);
    // Sums in another order differ in their last digits.
    let equal = |load: &f64| *load <= least * (1.0 + 1e-9);
    (0..).zip(&fullest).filter(|(_, load)| equal(load)).map(|(longer, _)| longer).max().unwrap_or(0)
}

/// Pairs of terminals whose messages cross the fullest channel.
fn fullest_channel(fabric: &Fabric, longer: u32) -> f64 {
    let terminals: Vec<f64> =
        fabric.terminals_by_router().iter().map(|own| own.len() as f64).collect();
    let mut loads = vec![0.0; fabric.channel_slots() as usize];
    let (mut hops_left, mut order) = (vec![NONE; fabric.routers() as usize], Vec::new());
    let mut passing = vec![0.0; fabric.routers() as usize];
    for destination in fabric.ends() {
        breadth_first(destination, &mut hops_left, &mut order, |at| fabric.neighbors(at));
        // What parts at a router among the channels of ways that are so much longer than the shortest at most.
        let mut part = |router: u32, flow: f64, longer: u32, passing: &mut [f64]| {
            let left = hops_left[router as usize];
            let leads = |target: u32| hops_left[target as usize].saturating_add(1) <= left + longer;
            let outputs = fabric.outputs(router);
            let own = outputs.filter_map(|it| Some((it, fabric.target(it)?)));
            let own = own.filter(|&(_, target)| leads(target));
            let share = flow / own.clone().count() as f64;
            for (channel, target) in own {
                loads[channel as usize] += share;
                passing[target as usize] += share;
            }
        };
        passing.fill(0.0);
        for &router in &order[1..] {
            let flow = terminals[router as usize] * terminals[destination as usize];
            if flow > 0.0 {
                part(router, flow, longer, &mut passing);
            }
        }
        for &router in order[1..].iter().rev() {
            if passing[router as usize] > 0.0 {
                part(router, passing[router as usize], 0, &mut passing);
            }
        }
    }
    loads.into_iter().fold(0.0, f64::max)
}

#[cfg(test)]
mod tests;
