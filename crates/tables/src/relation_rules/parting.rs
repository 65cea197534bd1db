//! `two-orders` with the terminals of each router of a fat tree parted among the channels that lead
//! there.
//!
//! Where a buffer holds packets for many outputs, the first of them holds up those behind it that
//! could go on: with one queue an input a large switch passes 0.59 of what its outputs could carry
//! (\[input-queueing\]). At the last router there is no such loss if each channel that leads there
//! is for one terminal, as under D-mod-K in fat trees (\[d-mod-k\]). Which terminal has which
//! channel is turned round from router to router, so that terminals of equal numbers don't share
//! the channels before.
//!
//! Up to there packets choose as before, among all hops that can lead to the channel. Packets that
//! can't come to it from their source take any way. A router with fewer such channels than
//! terminals is left alone: parted among sources, or with several channels for a terminal, its
//! throughput falls (results/nue).
//!
//! Even traffic gains by it. Few flows lose: those that share a channel can't go round each other.

use super::order::up_then_down;
use super::two_orders;
use super::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_routing::relation::{Hop, NoRelation, Relation};
use flitlab_routing::relation::{RelationBuilder as Builder, TERMINAL_CLASSES};

impl RelationRule {
    /// `parted`.
    pub const PARTED: Row<Self> = Row::new(
        "parted",
        "two-orders; on fat trees each terminal has a channel of its own to its switch.",
        Self { make, ..Self::TWO_ORDERS.component },
    );
}

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let relation = two_orders::make(fabric, parameters)?;
    Ok(if up_then_down(fabric).is_some() { part(fabric, relation) } else { relation })
}

/// The relation with the terminals of each router parted. It must have no escape and no ring.
fn part(fabric: &Fabric, relation: Relation) -> Relation {
    let terminals = fabric.terminals_by_router();
    let mut builder = Builder::of(fabric, relation);
    for (turn, destination) in fabric.ends().into_iter().enumerate() {
        let mut last: Vec<u32> =
            fabric.outputs(destination).filter_map(|own| fabric.opposite(own)).collect();
        last.sort_unstable();
        let classes = terminals[destination as usize].len().min(TERMINAL_CLASSES.into());
        if (2..=last.len()).contains(&classes) {
            let place = |class: usize| class % classes * last.len() / classes + turn;
            let all = 0..usize::from(TERMINAL_CLASSES);
            let channels: Vec<u32> = all.map(|class| last[place(class) % last.len()]).collect();
            part_at(&mut builder, destination, &channels);
        }
    }
    builder.finish()
}

/// Parts the terminals of a router; each class of them has one of the channels that lead there.
fn part_at(builder: &mut Builder<'_>, destination: u32, channels: &[u32]) {
    let relation = builder.relation();
    let fabric = builder.fabric();
    let after = |relation: &Relation, state: u32, hop: &Hop| {
        let at = relation.router(fabric, state).expect("packets are at live places");
        relation.arrived(fabric.outputs(at).start + u32::from(hop.port), hop.vc) as usize
    };
    let states = relation.states_towards(fabric, destination);
    // By state: the classes of packets that come to it but for detours, a bit each.
    let mut here = vec![0; relation.states() as usize];
    for (class, &channel) in channels.iter().enumerate() {
        for vc in 0..relation.vcs() {
            here[relation.arrived(channel, vc) as usize] |= 1 << class;
        }
    }
    for &state in &states {
        let hops = relation.hops(state, destination).iter().filter(|hop| !hop.is_fallback());
        let ahead = hops.fold(0, |ahead, hop| ahead | here[after(relation, state, hop)]);
        here[state as usize] = ahead;
    }
    // Those that can't come to their channel from their source take any way.
    let mut lost = vec![0; here.len()];
    for &state in states.iter().rev() {
        if relation.place(state).is_none() {
            lost[state as usize] = !here[state as usize];
        }
        for hop in relation.hops(state, destination) {
            lost[after(relation, state, hop)] |= lost[state as usize];
        }
    }
    here.iter_mut().zip(&lost).for_each(|(here, lost)| *here |= lost);
    let mut hops = Vec::new();
    for &state in &states {
        let (relation, own) = (builder.relation(), here[state as usize]);
        hops.clear();
        for hop in relation.hops(state, destination) {
            let ahead = here[after(relation, state, hop)] & own;
            if ahead != 0 {
                // No packets of other classes come here.
                hops.push(Hop { classes: ahead | !own, ..*hop });
            }
        }
        builder.set(state, destination, &mut hops);
    }
}

#[cfg(test)]
mod tests;
