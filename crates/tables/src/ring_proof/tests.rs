//! The proof finds what is wrong with relations with a ring that were made wrong.

use super::*;
use crate::prove_relation;
use crate::relation_proof::tests::changed as with_other_hops;
use crate::relation_rules::{RelationParameters, RelationRule};
use crate::test_fabric;
use flitlab_fabric::builders::RandomRegular;

fn random() -> Fabric {
    let graph = RandomRegular { routers: 12, degree: 3, terminals: 2, seed: 5 };
    graph.cabling().unwrap().fabric().unwrap()
}

fn relation(fabric: &Fabric, vcs: u8) -> Relation {
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    RelationRule::BUBBLE_COLOURING.relation(fabric, &parameters).unwrap()
}

/// The proof of a relation with other hops.
fn changed(
    fabric: &Fabric,
    relation: &Relation,
    change: impl Fn(u32, u32, &mut Vec<Hop>),
) -> RelationProof {
    prove_relation(fabric, &with_other_hops(fabric, relation, change))
}

/// Of all flaws, that there are some of a kind and only of kinds.
fn only(proof: &RelationProof, is: impl Fn(&RelationFlaw) -> bool) {
    assert!(!proof.flaws.is_empty());
    assert!(proof.flaws.iter().all(is), "{:?}", proof.flaws);
}

#[test]
fn the_rings_of_the_rule_are_right_with_any_virtual_channels() {
    for fabric in [random(), test_fabric(&[5], &[]), test_fabric(&[3, 4], &[(0, 0)])] {
        for vcs in [1, 2, 3] {
            let relation = relation(&fabric, vcs);
            let proof = prove_relation(&fabric, &relation);
            assert!(relation.has_ring() && proof.holds(), "{:?}", proof.flaws);
            // Each cable of the tree in both directions, in each virtual channel.
            let routers = u64::from(fabric.routers());
            assert_eq!(proof.dependencies, 2 * (routers - 1) * u64::from(vcs));
            assert_eq!(proof.pairs, routers * (routers - 1));
            assert!(proof.longest < u32::MAX);
        }
    }
}

#[test]
fn a_hop_along_the_ring_for_some_terminals_alone_is_found() {
    let fabric = random();
    let relation = relation(&fabric, 1);
    let parted = |ring: Ring| {
        changed(&fabric, &relation, |_, destination, hops| {
            let own = hops.iter_mut().filter(|hop| destination == 3 && hop.ring == ring);
            own.for_each(|hop| hop.classes = 1);
        })
    };
    let keeps_none =
        |flaw: &RelationFlaw| matches!(flaw, RelationFlaw::NoEscape { destination: 3, .. });
    for ring in [Ring::Along, Ring::Enters] {
        assert!(parted(ring).flaws.iter().any(keeps_none), "{ring:?}");
    }
    // Off the ring there are always the hops of the ring besides.
    assert!(parted(Ring::Off).holds());
}

#[test]
fn a_hop_onto_the_ring_that_does_not_say_so_takes_its_bubble() {
    let fabric = random();
    let relation = relation(&fabric, 1);
    let silent = changed(&fabric, &relation, |state, destination, hops| {
        if destination == 3 && relation.place(state).is_none() {
            hops.iter_mut().for_each(|hop| hop.ring = Ring::Off);
        }
    });
    let no_bubble = |flaw: &RelationFlaw| match flaw {
        RelationFlaw::NoBubble { destination: 3, .. } => true,
        // With them went what they had to enter by.
        RelationFlaw::NoEscape { destination: 3, after: None, .. } => true,
        _ => false,
    };
    only(&silent, no_bubble);
    assert!(silent.flaws.iter().any(|flaw| matches!(flaw, RelationFlaw::NoBubble { .. })));
    assert!(silent.flaws.iter().all(RelationFlaw::is_cycle));

    let pretending = changed(&fabric, &relation, |state, _, hops| {
        if relation.place(state).is_none() {
            for hop in hops.iter_mut().filter(|hop| hop.ring == Ring::Enters) {
                hop.ring = Ring::Along;
            }
        }
    });
    assert!(pretending.flaws.iter().any(|flaw| matches!(flaw, RelationFlaw::NoBubble { .. })));
}

#[test]
fn who_is_on_the_ring_has_to_be_let_on_along_it_and_who_is_not_onto_it() {
    let fabric = random();
    let relation = relation(&fabric, 2);
    let stuck = changed(&fabric, &relation, |state, destination, hops| {
        if destination == 7 && hops.len() > 1 && relation.place(state).is_some() {
            hops.retain(|hop| hop.ring != Ring::Along);
        }
    });
    only(&stuck, |flaw| {
        matches!(flaw, RelationFlaw::NoEscape { destination: 7, after: Some(_), .. })
    });
    let outside = changed(&fabric, &relation, |state, destination, hops| {
        let off = hops.iter().any(|hop| hop.ring == Ring::Off);
        if destination == 7 && relation.place(state).is_none() && off {
            hops.retain(|hop| hop.ring == Ring::Off);
        }
    });
    only(&outside, |flaw| {
        matches!(flaw, RelationFlaw::NoEscape { destination: 7, after: None, .. })
    });
}

#[test]
fn a_ring_that_does_not_lead_past_the_destination_is_found() {
    // A ring of five: the tour goes to and fro along four of its cables. Made to turn back before
    // its ends it is two.
    let fabric = test_fabric(&[5], &[]);
    let relation = relation(&fabric, 1);
    let turned = changed(&fabric, &relation, |state, _, hops| {
        let Some(place) = relation.place(state) else { return };
        let at = fabric.target(place.channel).unwrap();
        let back = fabric.opposite(place.channel).unwrap() - fabric.outputs(at).start;
        for hop in hops.iter_mut().filter(|hop| hop.ring == Ring::Along) {
            hop.port = u16::try_from(back).unwrap();
            hop.escape = true;
        }
    });
    assert!(
        turned.flaws.iter().any(|flaw| matches!(flaw, RelationFlaw::Missed { .. })),
        "{:?}",
        turned.flaws
    );
}

#[test]
fn shortest_ways_that_lead_in_circles_and_dead_ends_are_found() {
    let fabric = random();
    let relation = relation(&fabric, 1);
    // All channels for one destination as good as any other.
    let round = changed(&fabric, &relation, |_, destination, hops| {
        if destination == 2 {
            hops.iter_mut().for_each(|hop| hop.escape = false);
        }
    });
    only(&round, |flaw| matches!(flaw, RelationFlaw::Loop { destination: 2, .. }));
    assert_eq!(round.longest, u32::MAX);
    let dead = changed(&fabric, &relation, |state, destination, hops| {
        if (state, destination) == (relation.injected(4), 2) {
            hops.clear();
        }
    });
    let flaw = RelationFlaw::DeadEnd { destination: 2, at: 4, after: None, phase: None };
    assert_eq!((dead.flaws, dead.pairs), (vec![flaw], 12 * 11 - 1));
    let vacant = changed(&fabric, &relation, |state, destination, hops| {
        if (state, destination) == (relation.injected(4), 2) {
            hops.push(Hop::new(9, 0));
        }
    });
    only(&vacant, |flaw| matches!(flaw, RelationFlaw::NoChannel { destination: 2, at: 4, .. }));
}
