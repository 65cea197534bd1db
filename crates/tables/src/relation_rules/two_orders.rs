//! Two opposite orders of channels, one virtual channel each, and all shortest ways besides.
//!
//! With one virtual channel packets take the shortest of the ways along which an
//! [order](super::order) of the channels ascends. With two they ascend in virtual channel 0, then
//! descend in virtual channel 1: a turn that the order forbids in one virtual channel is allowed in
//! the other, and changing virtual channels is a turn of any kind. There is no cycle: each
//! (channel, virtual channel) comes before all that may follow it, virtual channel 0 in the order,
//! then virtual channel 1 against it.
//!
//! With more virtual channels the others are for any shortest way, without restriction, and the two
//! are the escape, as in `minimal-up-down` (\[silla-duato\]). Packets that have to escape lose next
//! to no ways by it.
//!
//! **Fat trees.** Where all shortest ways ascend in one order there is no escape: packets ascend in
//! it, in any virtual channels. So it is where terminals are at the edge alone and each pair has
//! shortest ways up and then down, as on fat trees of fat trees, though others may lead down and up
//! again. With four virtual channels and more packets for different outputs are [kept
//! apart](super::vcs_apart) in the virtual channels before a router where they have no choice.
//!
//! **Which order.** Of those that are found the one is taken in which the fullest channel has the
//! least to carry, if what is somewhere parts alike among all hops that it may take: throughput
//! with one virtual channel is nearly in inverse proportion to that (results/nue).
//!
//! **Longer ways.** Where shortest ways crowd some channels, as on fat trees of fat trees, the
//! first hop of a packet that is not in the escape may also lead to a router that is as far from
//! its destination, or farther by one. Behind it the packet goes the shortest way from there:
//! Valiant's detour (\[valiant\]), with a neighbor for the intermediate router. How much longer is
//! decided likewise, by the fullest channel.
//!
//! **Detours.** With two virtual channels and more a first hop to a router that is as far from the
//! destination is a detour, which is taken where no other hop has room: single pairs that share a
//! channel with others find a way round it. With one virtual channel detours cost more than they
//! gain, in all but permutations (results/nue).
//!
//! **Injection.** A packet that is injected leaves room for two more. Else packets that choose fill
//! the buffers of all their ways past saturation, and wait for each other there; with few virtual
//! channels throughput falls to a fraction (results/nue).

use super::evenness::Evenness;
use super::minimal::{VcCounts, relation_as_escape, with_escape};
use super::order::{Ordered, fat_tree_order, order};
use super::shortest::{FirstHop, from_everywhere};
use super::tree::middle;
use super::vcs_apart::apart;
use super::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::VirtualChannel;
use flitlab_routing::relation::{NoRelation, Relation};

impl RelationRule {
    /// `two-orders`.
    pub const TWO_ORDERS: Row<Self> = Row::new(
        "two-orders",
        "ways up an order of channels in virtual channel 0, down it in 1; all shortest ways \
              in others.",
        Self { injection_bubble: 2, ..Self::usual(make) },
    );
}

/// By how many hops a way may be longer because of its first one, as good as any other.
const LONGER: [u32; 3] = [0, 1, 2];

/// By how many it may be longer where no other hop has room, with two virtual channels and more.
const DETOUR: u32 = 1;

pub(super) fn make(
    fabric: &Fabric,
    parameters: &RelationParameters,
) -> Result<Relation, NoRelation> {
    in_order(fabric, &best_order(fabric, parameters)?, parameters.vcs)
}

/// The relation of a fabric that needs one order alone, such as a fat tree; `None` of others.
pub(super) fn of_fat_tree(
    fabric: &Fabric,
    parameters: &RelationParameters,
) -> Result<Option<Relation>, NoRelation> {
    let rank = fat_tree_order(fabric, &parameters.tree_from(fabric, middle)?);
    let ordered = rank.map(|rank| Ordered { rank, is_enough: true });
    ordered.map(|ordered| in_order(fabric, &ordered, parameters.vcs)).transpose()
}

/// The relation of an order, with the longer ways that suit it.
fn in_order(fabric: &Fabric, ordered: &Ordered, vcs: u8) -> Result<Relation, NoRelation> {
    let longer = longer(fabric, ordered, vcs)?;
    let detour = if vcs > 1 { DETOUR } else { 0 };
    with_vcs(fabric, ordered, vcs, FirstHop { longer, detour })
}

/// The order whose fullest channel carries the least.
fn best_order(fabric: &Fabric, parameters: &RelationParameters) -> Result<Ordered, NoRelation> {
    order(fabric, &parameters.tree_from(fabric, middle)?, |rank| {
        let relation = opposite(fabric, rank, parameters.vcs.min(2), FirstHop::SHORTEST)?;
        let mut evenness = Evenness::new(fabric, &relation);
        Ok((evenness.fullest(), evenness.burdens()))
    })
}

/// By how many hops a way may be longer than the shortest because of its first one. That for which
/// the fullest channel has the least to carry, of equals the least: longer ways that relieve
/// nothing cost throughput, as on Cascade.
fn longer(fabric: &Fabric, ordered: &Ordered, vcs: u8) -> Result<u32, NoRelation> {
    let mut best = (0, f64::INFINITY);
    for longer in LONGER {
        // Further virtual channels are like the third.
        let first = FirstHop { longer, detour: 0 };
        let relation = with_vcs(fabric, ordered, vcs.min(3), first)?;
        let fullest = Evenness::new(fabric, &relation).fullest();
        // Sums in another order differ in their last digits.
        if fullest < best.1 * (1.0 - 1e-9) {
            best = (longer, fullest);
        }
    }
    Ok(best.0)
}

/// The relation of an order with so many virtual channels.
fn with_vcs(
    fabric: &Fabric,
    ordered: &Ordered,
    vcs: u8,
    first: FirstHop,
) -> Result<Relation, NoRelation> {
    let Ordered { rank, is_enough } = ordered;
    if *is_enough {
        let ascends = |before: VirtualChannel, next: VirtualChannel| {
            rank[before.channel as usize] < rank[next.channel as usize]
        };
        return Ok(apart(fabric, from_everywhere(fabric, vcs, first, ascends)?.finish()));
    }
    if vcs <= 2 {
        return opposite(fabric, rank, vcs, first);
    }
    let escape = from_everywhere(fabric, 2, FirstHop::SHORTEST, against_each_other(rank))?;
    let vcs = VcCounts { all: vcs, escape: 2 };
    with_escape(fabric, vcs, first, relation_as_escape(escape.relation()))
}

/// The relation with one virtual channel or two.
fn opposite(
    fabric: &Fabric,
    rank: &[u32],
    vcs: u8,
    first: FirstHop,
) -> Result<Relation, NoRelation> {
    Ok(from_everywhere(fabric, vcs, first, against_each_other(rank))?.finish())
}

/// The turns that are legal in the two virtual channels.
fn against_each_other(rank: &[u32]) -> impl Fn(VirtualChannel, VirtualChannel) -> bool + '_ {
    |before, next| {
        let ascends = rank[before.channel as usize] < rank[next.channel as usize];
        next.vc > before.vc || next.vc == before.vc && ascends == (before.vc == 0)
    }
}

#[cfg(test)]
mod tests;
