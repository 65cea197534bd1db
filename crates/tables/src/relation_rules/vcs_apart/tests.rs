//! Which virtual channels packets have on a tree, where each way down is the only one.

use std::collections::BTreeMap;

use crate::prove_relation;
use crate::relation_rules::{RelationParameters, RelationRule};
use flitlab_base::registry::Row;
use flitlab_fabric::Fabric;
use flitlab_fabric::builders::Tree;
use flitlab_routing::relation::Relation;

fn tree() -> Fabric {
    Tree { arity: 4, levels: 3, terminals: 5 }.cabling().unwrap().fabric().unwrap()
}

fn relation(fabric: &Fabric, rule: Row<RelationRule>, vcs: u8) -> Relation {
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    rule.relation(fabric, &parameters).unwrap()
}

/// By port of a state's hops: the router that it leads to, and its virtual channels.
fn vcs_by_port(
    (fabric, relation): (&Fabric, &Relation),
    (state, destination): (u32, u32),
) -> BTreeMap<u16, (u32, Vec<u8>)> {
    let at = relation.router(fabric, state).unwrap();
    let mut found = BTreeMap::new();
    for hop in relation.hops(state, destination) {
        let next = fabric.target(fabric.outputs(at).start + u32::from(hop.port)).unwrap();
        found.entry(hop.port).or_insert((next, Vec::new())).1.push(hop.vc);
    }
    found
}

#[test]
fn packets_for_an_output_have_half_of_the_virtual_channels_before_it_and_all_elsewhere() {
    let fabric = tree();
    let relation = relation(&fabric, RelationRule::TWO_ORDERS, 4);
    let up_and_down = (&fabric, &relation);
    let ends = fabric.ends();
    let mut halves = BTreeMap::new();
    for &destination in &ends {
        for state in 0..relation.states() {
            for (port, (next, vcs)) in vcs_by_port(up_and_down, (state, destination)) {
                let at = relation.router(&fabric, state).unwrap();
                let channel = fabric.outputs(at).start + u32::from(port);
                let after = relation.arrived(channel, vcs[0]);
                let onward = vcs_by_port(up_and_down, (after, destination));
                if onward.len() == 1 {
                    assert_eq!(vcs.len(), 2, "from {at} to {destination}");
                    // Whatever the destination and the way, the same output has the same virtual
                    // channels.
                    let (&output, _) = onward.first_key_value().unwrap();
                    let known = halves.entry((next, output)).or_insert_with(|| vcs.clone());
                    assert_eq!(*known, vcs, "from {at} to {destination}");
                } else {
                    assert_eq!(vcs, [0, 1, 2, 3], "from {at} to {destination}");
                }
            }
        }
    }
    // Of each router below the roots' level and of the roots: four outputs down, each with another
    // half.
    assert_eq!(halves.len(), (16 + 16) * 4);
    for at in 16..48 {
        let mut own: Vec<&Vec<u8>> =
            halves.range((at, 0)..(at + 1, 0)).map(|(_, vcs)| vcs).collect();
        own.sort();
        own.dedup();
        assert_eq!(own.len(), 4, "{at}");
    }
}

#[test]
fn the_relation_is_right_with_any_virtual_channels_and_untouched_with_few() {
    let fabric = tree();
    for vcs in 1..=9 {
        for rule in [RelationRule::TWO_ORDERS, RelationRule::BUBBLE_COLOURING] {
            let own = relation(&fabric, rule, vcs);
            let proof = prove_relation(&fabric, &own);
            assert!(proof.holds(), "{} {vcs}: {:?}", rule.name, proof.flaws.first());
            assert_eq!(proof.pairs, 16 * 15);
            let minimal = relation(&fabric, RelationRule::MINIMAL, vcs);
            let alike = |state| {
                fabric.ends().iter().all(|&to| own.hops(state, to) == minimal.hops(state, to))
            };
            assert_eq!((0..own.states()).all(alike), vcs < 4, "{} {vcs}", rule.name);
        }
    }
}
