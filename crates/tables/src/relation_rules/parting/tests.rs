//! Each terminal has a channel of its own to its router, as far as there are enough.

use std::collections::BTreeSet;

use crate::relation_rules::{RelationParameters, RelationRule};
use flitlab_fabric::Fabric;
use flitlab_fabric::builders::{DirectorTree, Tree};
use flitlab_routing::relation::Relation;

fn relation(fabric: &Fabric, vcs: u8) -> Relation {
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    RelationRule::PARTED.relation(fabric, &parameters).unwrap()
}

/// The channels by which packets of a class come to a router from another one, whatever they
/// choose.
fn last(
    (fabric, relation): (&Fabric, &Relation),
    (source, destination): (u32, u32),
    class: u8,
) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut open = vec![relation.injected(source)];
    let mut seen = BTreeSet::new();
    while let Some(state) = open.pop() {
        let list = relation.of_class(relation.list(state, destination), class);
        let at = relation.router(fabric, state).unwrap();
        assert!(!relation.hops_of_list(list).is_empty(), "{at} to {destination}, class {class}");
        for hop in relation.hops_of_list(list) {
            let channel = fabric.outputs(at).start + u32::from(hop.port);
            let after = relation.arrived(channel, hop.vc);
            if fabric.target(channel) == Some(destination) {
                found.insert(channel);
            } else if seen.insert(after) {
                open.push(after);
            }
        }
    }
    found
}

#[test]
fn each_terminal_of_a_fat_tree_has_a_channel_of_its_own() {
    let tree = Tree { arity: 4, levels: 3, terminals: 4 };
    let fabric = tree.cabling().unwrap().fabric().unwrap();
    let relation = relation(&fabric, 2);
    let ends = fabric.ends();
    for &destination in &ends {
        let mut channels = BTreeSet::new();
        for class in 0..4 {
            for &source in ends.iter().filter(|&&source| source != destination) {
                let found = last((&fabric, &relation), (source, destination), class);
                assert_eq!(found.len(), 1, "{source} to {destination}, class {class}");
                channels.extend(found);
            }
        }
        // From everywhere the same one, and each class another one.
        assert_eq!(channels.len(), 4);
    }
    // They still choose on the way up.
    let first = relation.list(relation.injected(ends[0]), ends[15]);
    assert_eq!(
        relation.hops_of_list(relation.of_class(first, 0)).len(),
        2,
        "a cable, two virtual channels"
    );
    let channel = fabric.outputs(ends[0]).start;
    let next = relation.arrived(channel, 0);
    let most = (0..4).map(|class| {
        let list = relation.of_class(relation.list(next, ends[15]), class);
        relation.hops_of_list(list).len()
    });
    assert_eq!(most.max(), Some(8), "four cables, two virtual channels");
}

/// With unequal numbers of cables some sources can't come by the channel of a terminal; packets
/// from there arrive all the same.
#[test]
fn terminals_whose_channel_is_out_of_reach_are_reached_by_others() {
    let size = DirectorTree {
        edges: 9,
        directors: 2,
        line_chips: 3,
        fabric_chips: 2,
        inner_cables: 1,
        uplinks: 32,
        terminals: 25,
    };
    let fabric = size.cabling().unwrap().fabric().unwrap();
    let relation = relation(&fabric, 1);
    let (mut alone, mut several) = (0, 0);
    for destination in 0..9 {
        for source in (0..9).filter(|&source| source != destination) {
            for class in 0..3 {
                let found = last((&fabric, &relation), (source, destination), class);
                if found.len() == 1 { alone += 1 } else { several += 1 }
            }
        }
    }
    assert!(alone > several && several > 0, "{alone} {several}");
}

#[test]
fn terminals_for_which_there_are_too_few_channels_share_them_all() {
    let tree = Tree { arity: 2, levels: 3, terminals: 3 };
    let fabric = tree.cabling().unwrap().fabric().unwrap();
    assert!(!relation(&fabric, 2).has_classes());
    let ends = fabric.ends();
    assert_eq!(last((&fabric, &relation(&fabric, 2)), (ends[0], ends[3]), 1).len(), 2);
}
