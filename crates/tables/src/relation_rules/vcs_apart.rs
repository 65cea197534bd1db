//! Packets for different outputs of a router kept apart in the virtual channels that lead there, by
//! halves.
//!
//! A buffer whose first packet waits for one output holds up those behind it that could have
//! another one. OBQA keeps packets for different outputs in different virtual channels (\[obqa\]).
//! With a virtual channel for each output, or a few outputs, packets no longer have the choice of
//! virtual channels that evens out how full these are, and throughput falls (results/nue). So here
//! each output has half of the virtual channels, from another one on than its neighbours: with four
//! virtual channels output 0 has virtual channels 0 and 1, output 1 has 1 and 2, output 3 has 3 and
//! 0.

use flitlab_fabric::Fabric;
use flitlab_routing::relation::RelationBuilder as Builder;
use flitlab_routing::relation::{Hop, Relation};

/// With fewer virtual channels an output would have only one of them.
const MIN_VCS: u8 = 4;

/// The relation without those hops whose virtual channel is not for the output by which packets
/// have to leave the router that they lead to. Where packets have a choice of routers, or have
/// arrived, any virtual channel is right. Only hops are left out, and of no port all, so what was
/// free of deadlock without an escape still is.
pub(super) fn apart(fabric: &Fabric, relation: Relation) -> Relation {
    if relation.vcs() < MIN_VCS {
        return relation;
    }
    let mut builder = Builder::of(fabric, relation);
    let mut hops: Vec<Hop> = Vec::new();
    for destination in fabric.ends() {
        for state in 0..builder.relation().states() {
            let relation = builder.relation();
            let own = relation.hops(state, destination);
            if own.is_empty() {
                continue;
            }
            let at = relation.router(fabric, state).expect("packets are at live places");
            let suits = |hop: &&Hop| {
                let channel = fabric.outputs(at).start + u32::from(hop.port);
                let next = relation.arrived(channel, hop.vc);
                let output = only_output(fabric, relation, next, destination);
                output.is_none_or(|output| is_for(hop.vc, relation.vcs(), output))
            };
            hops.clear();
            hops.extend(own.iter().filter(suits));
            builder.set(state, destination, &mut hops);
        }
    }
    builder.finish()
}

/// The first port by which packets go on from a state, if all lead to one router.
fn only_output(fabric: &Fabric, relation: &Relation, state: u32, destination: u32) -> Option<u16> {
    let (first, others) = relation.hops(state, destination).split_first()?;
    let outputs = fabric.outputs(relation.router(fabric, state)?);
    let target = |hop: &Hop| fabric.target(outputs.start + u32::from(hop.port));
    others.iter().all(|hop| target(hop) == target(first)).then_some(first.port)
}

/// Whether a virtual channel is one of the half that an output has; of an odd number it is the
/// larger half.
fn is_for(vc: u8, vcs: u8, output: u16) -> bool {
    let [vc, vcs] = [vc, vcs].map(u16::from);
    (vc + vcs - output % vcs) % vcs < vcs.div_ceil(2)
}

#[cfg(test)]
mod tests;
