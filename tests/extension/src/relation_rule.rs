//! All shortest ways, with a virtual channel for each hop: the n-th hop is in virtual channel n. So
//! virtual channels never decrease, and packets can't deadlock, on any fabric.

use std::collections::VecDeque;

use flitlab::registry::Row;
use flitlab::routing::relation::{Hop, NoRelation, Relation, RelationBuilder};
use flitlab::tables::relation_rules::{RelationParameters, RelationRule};
use flitlab::topology::Fabric;

/// The rule.
pub static HOP_VCS: Row<RelationRule> = Row::new(
    "hop-vcs",
    "all shortest ways, each hop in the next virtual channel.",
    RelationRule {
        avoids_deadlock: true,
        least_vcs: 1,
        injection_bubble: 0,
        keeps_bubble: false,
        make,
    },
);

fn make(fabric: &Fabric, parameters: &RelationParameters) -> Result<Relation, NoRelation> {
    let vcs = parameters.vcs;
    let mut builder = RelationBuilder::new(fabric, vcs)?;
    for destination in fabric.ends() {
        let distance = distances(fabric, destination);
        let longest = distance.iter().flatten().max().copied().unwrap_or(0);
        if longest > vcs.into() {
            let needed = u8::try_from(longest).unwrap_or(u8::MAX);
            return Err(NoRelation::VirtualChannels { needed, vcs });
        }
        for router in (0..fabric.routers()).filter(|&router| router != destination) {
            let nearer = |vc: u8| -> Vec<Hop> {
                let ports = (0..).zip(fabric.outputs(router));
                let is_nearer = |channel| {
                    let next = fabric.target(channel).and_then(|next| distance[next as usize]);
                    next.zip(distance[router as usize]).is_some_and(|(next, here)| next < here)
                };
                let ports = ports.filter(|&(_, channel)| is_nearer(channel));
                ports.map(|(port, _)| Hop::new(port, vc)).collect()
            };
            let state = builder.relation().injected(router);
            builder.set(state, destination, &mut nearer(0));
            for channel in fabric.outputs(router).filter_map(|own| fabric.opposite(own)) {
                for vc in 0..vcs - 1 {
                    let state = builder.relation().arrived(channel, vc);
                    builder.set(state, destination, &mut nearer(vc + 1));
                }
            }
        }
    }
    Ok(builder.finish())
}

/// Hops from each router to a destination, along cables that have not failed.
fn distances(fabric: &Fabric, destination: u32) -> Vec<Option<u32>> {
    let mut distance = vec![None; fabric.routers() as usize];
    distance[destination as usize] = Some(0);
    let mut queue = VecDeque::from([destination]);
    while let Some(router) = queue.pop_front() {
        let next = distance[router as usize].map(|hops| hops + 1);
        for neighbor in fabric.neighbors(router) {
            if distance[neighbor as usize].is_none() {
                distance[neighbor as usize] = next;
                queue.push_back(neighbor);
            }
        }
    }
    distance
}
