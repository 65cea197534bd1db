//! The proof finds what is wrong with relations that were made wrong.

use super::*;
use crate::relation_rules::{RELATION_RULES, RelationParameters, RelationRule, TreeOrder, udwm};
use crate::test_fabric;
use flitlab_fabric::builders::{RandomRegular, Tree};
use flitlab_routing::relation::RelationBuilder;

fn random(seed: u64) -> Fabric {
    let graph = RandomRegular { routers: 16, degree: 4, terminals: 4, seed };
    graph.cabling().unwrap().fabric().unwrap()
}

fn fabrics() -> Vec<(&'static str, Fabric)> {
    let tree = Tree { arity: 3, levels: 3, terminals: 2 };
    vec![
        ("ring", test_fabric(&[6], &[])),
        ("torus", test_fabric(&[4, 4], &[])),
        ("torus with failures", test_fabric(&[5, 3, 3], &[(0, 0), (17, 1), (40, 2)])),
        ("fat tree", tree.cabling().unwrap().fabric().unwrap()),
        ("random 1", random(1)),
        ("random 2", random(2)),
    ]
}

/// The same relation with other hops.
pub(crate) fn changed(
    fabric: &Fabric,
    relation: &Relation,
    change: impl Fn(u32, u32, &mut Vec<Hop>),
) -> Relation {
    let mut builder = RelationBuilder::new(fabric, relation.vcs()).unwrap();
    for (destination, terminals) in (0u32..).zip(fabric.terminals_by_router()) {
        for state in (0..relation.states()).filter(|_| !terminals.is_empty()) {
            let mut hops = relation.hops(state, destination).to_vec();
            if relation.router(fabric, state).is_some_and(|at| at != destination) {
                change(state, destination, &mut hops);
            }
            builder.set(state, destination, &mut hops);
        }
    }
    builder.finish()
}

#[test]
fn every_rule_keeps_what_it_promises_on_any_fabric() {
    for (name, fabric) in fabrics() {
        let ends = fabric.terminals_by_router().iter().filter(|own| !own.is_empty()).count() as u64;
        for rule in RELATION_RULES {
            for vcs in [1, 2, 4] {
                for (tree, root) in [
                    (TreeOrder::BreadthFirst, None),
                    (TreeOrder::DepthFirst, None),
                    (TreeOrder::BreadthFirst, Some(fabric.routers() / 2)),
                ] {
                    let parameters = RelationParameters { vcs, tree, root };
                    let Ok(relation) = rule.relation(&fabric, &parameters) else {
                        let meshes = rule == RelationRule::NEGATIVE_FIRST;
                        assert!(vcs < rule.least_vcs || meshes, "{name} {}", rule.name);
                        continue;
                    };
                    let proof = prove_relation(&fabric, &relation);
                    let flaws: Vec<String> =
                        proof.flaws.iter().map(|flaw| flaw.describe(&fabric)).collect();
                    let acyclic = rule.avoids_deadlock || name == "fat tree";
                    assert_eq!(proof.holds(), acyclic, "{name} {} {vcs}: {flaws:?}", rule.name);
                    assert!(acyclic || proof.cycle().is_some() && proof.flaws.len() == 1);
                    assert_eq!(proof.pairs, ends * (ends - 1), "{name} {}", rule.name);
                    let longest = relation.longest();
                    if relation.has_ring() {
                        // Choices that lead in circles end, since packets stay on the ring at last.
                        let bounded = longest == u32::MAX || proof.longest >= longest;
                        assert!(bounded && proof.longest < u32::MAX, "{name}");
                    } else {
                        assert_eq!(proof.longest, longest, "{name} {}", rule.name);
                    }
                }
            }
        }
    }
}

#[test]
fn the_strict_reading_of_udwm_is_right_too_and_a_higher_virtual_channel_is_not() {
    let fabric = random(3);
    let parameters = RelationParameters { vcs: 3, ..RelationParameters::default() };
    let strict = udwm(&fabric, &parameters, false).unwrap();
    assert!(prove_relation(&fabric, &strict).holds());
    // Every virtual channel after every hop: turns can be had again and again.
    let free = changed(&fabric, &strict, |_, _, hops| {
        let ports: Vec<u16> = hops.iter().map(|hop| hop.port).collect();
        hops.extend(ports.iter().flat_map(|&port| (0..3).map(move |vc| Hop::new(port, vc))));
    });
    assert!(!prove_relation(&fabric, &free).holds());
}

#[test]
fn a_turn_from_down_to_up_closes_a_cycle_that_is_named() {
    // 0 is the root of the ring: at 3, farthest from it, all packets come down.
    let fabric = test_fabric(&[6], &[]);
    let relation = RelationRule::UP_DOWN.relation(&fabric, &RelationParameters::default()).unwrap();
    assert!(prove_relation(&fabric, &relation).holds());
    let turning = changed(&fabric, &relation, |state, destination, hops| {
        // On from 3 in the same direction, for packets to the router behind it.
        if let Some(place) = relation.place(state).filter(|_| destination == 4) {
            let forth =
                fabric.source(place.channel) == 2 && fabric.target(place.channel) == Some(3);
            if forth {
                hops.push(Hop::new(0, 0));
            }
        }
        if state == relation.injected(2) && destination == 4 {
            hops.push(Hop::new(0, 0));
        }
    });
    let proof = prove_relation(&fabric, &turning);
    // One turn opens one direction of the ring: 2 to 3 to 4, and round by the root.
    let cycle = proof.cycle().map(<[_]>::len);
    assert_eq!(cycle, Some(6), "{:?}", proof.flaws);
    assert!(proof.flaws[0].describe(&fabric).contains("(2) +x virtual channel 0"));
}

#[test]
fn minimal_routing_on_a_ring_deadlocks_round_it() {
    let fabric = test_fabric(&[6], &[]);
    let parameters = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = RelationRule::MINIMAL.relation(&fabric, &parameters).unwrap();
    let proof = prove_relation(&fabric, &relation);
    assert!(proof.cycle().is_some_and(|cycle| cycle.len() >= 6));
    assert_eq!((proof.longest, proof.pairs), (3, 30));
}

#[test]
fn an_escape_that_may_be_left_again_needs_its_indirect_dependencies() {
    // Going back from the escape to the new channels puts any two escape channels one after the
    // other.
    let fabric = random(1);
    let parameters = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = RelationRule::MINIMAL_UP_DOWN.relation(&fabric, &parameters).unwrap();
    let stays = prove_relation(&fabric, &relation);
    assert!(stays.holds());
    let leaves = changed(&fabric, &relation, |state, destination, hops| {
        let at = relation.router(&fabric, state).unwrap();
        let new = relation.hops(relation.injected(at), destination);
        hops.extend(new.iter().filter(|hop| !hop.escape));
    });
    let proof = prove_relation(&fabric, &leaves);
    assert!(proof.dependencies > stays.dependencies);
    let cycle = proof.cycle().expect("up after down, by way of a new channel");
    assert!(cycle.iter().all(|place| place.vc == 0));
}

#[test]
fn an_escape_has_to_be_there_wherever_packets_come() {
    let fabric = test_fabric(&[4, 4], &[]);
    let parameters = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = RelationRule::MINIMAL_UP_DOWN.relation(&fabric, &parameters).unwrap();
    let without = changed(&fabric, &relation, |state, destination, hops| {
        if destination == 5 && relation.place(state).is_some_and(|place| place.vc == 1) {
            hops.retain(|hop| !hop.escape);
        }
    });
    let proof = prove_relation(&fabric, &without);
    assert!(proof.flaws.iter().all(|flaw| {
        matches!(flaw, RelationFlaw::NoEscape { destination: 5, after: Some(_), .. })
    }));
    assert!(!proof.holds());
}

#[test]
fn dead_ends_loops_and_ports_that_lead_nowhere_are_found() {
    let fabric = test_fabric(&[4, 4], &[]);
    let relation = RelationRule::UP_DOWN.relation(&fabric, &RelationParameters::default()).unwrap();
    let dead = changed(&fabric, &relation, |state, destination, hops| {
        if state == relation.injected(3) && destination == 7 {
            hops.clear();
        }
    });
    let flaw = RelationFlaw::DeadEnd { destination: 7, at: 3, after: None, phase: None };
    let proof = prove_relation(&fabric, &dead);
    assert_eq!((proof.flaws, proof.pairs), (vec![flaw], 16 * 15 - 1));

    let vacant = changed(&fabric, &relation, |state, destination, hops| {
        if state == relation.injected(3) && destination == 7 {
            hops.push(Hop::new(9, 0));
        }
    });
    let proof = prove_relation(&fabric, &vacant);
    assert!(matches!(proof.flaws[..], [RelationFlaw::NoChannel { at: 3, destination: 7, .. }]));

    // Round in +x for ever.
    let round = changed(&fabric, &relation, |_, destination, hops| {
        if destination == 7 {
            *hops = vec![Hop::new(0, 0)];
        }
    });
    let proof = prove_relation(&fabric, &round);
    let looped = |flaw: &RelationFlaw| match flaw {
        RelationFlaw::Loop { destination: 7, places } => places.len() == 4,
        _ => false,
    };
    assert!(proof.flaws.iter().any(looped));
    assert_eq!(round.longest(), u32::MAX);
}

/// Hops for some classes of terminals alone.
#[test]
fn a_class_without_a_hop_is_found_and_so_is_an_escape_that_is_not_for_all() {
    let fabric = test_fabric(&[3, 3], &[]);
    let parameters = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let up_down = RelationRule::UP_DOWN.relation(&fabric, &parameters).unwrap();
    let at = up_down.injected(4);
    let halves = |bits: u32| {
        changed(&fabric, &up_down, |state, to, hops| {
            if (state, to) == (at, 0) {
                for hop in hops.iter_mut() {
                    hop.classes = if hop.vc == 0 { 0xffff } else { bits };
                }
            }
        })
    };
    let parted = halves(0xffff_0000);
    assert!(prove_relation(&fabric, &parted).holds());
    let [low, high] = [3, 20].map(|class| parted.of_class(parted.list(at, 0), class));
    assert!(parted.hops_of_list(low).iter().all(|hop| hop.vc == 0));
    assert!(parted.hops_of_list(high).iter().all(|hop| hop.vc == 1));
    let flaw = RelationFlaw::DeadEnd { destination: 0, at: 4, after: None, phase: None };
    assert_eq!(prove_relation(&fabric, &halves(0xfffe_0000)).flaws, [flaw]);

    let minimal = RelationRule::MINIMAL_UP_DOWN.relation(&fabric, &parameters).unwrap();
    let of_some = |escape: bool| {
        changed(&fabric, &minimal, |state, to, hops| {
            if (state, to) == (at, 0) {
                let own = hops.iter_mut().filter(|hop| hop.escape == escape);
                own.for_each(|hop| hop.classes = 1);
            }
        })
    };
    assert!(prove_relation(&fabric, &of_some(false)).holds());
    let flaw = RelationFlaw::NoEscape { destination: 0, at: 4, after: None };
    assert_eq!(prove_relation(&fabric, &of_some(true)).flaws.last(), Some(&flaw));
}
