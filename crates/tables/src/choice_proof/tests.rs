//! The proof accepts what the rules allow on any torus with failures, and refuses what breaks them.

use super::*;
use crate::adaptive_routing::{allowed, prove_as};
use crate::agnostic::Algorithm;
use crate::prove_adaptive;
use crate::test_fabric;
use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use flitlab_fabric::{Faults, Torus};
use flitlab_routing::adaptive::{NonMinimalRule, Tie};
use flitlab_routing::{Adaptive, AdaptiveChannels, AdaptiveRules, EscapeRule};

fn outflank() -> NonMinimalRule {
    NonMinimalRule::new("outflank", "steps = 1")
}

fn fabrics() -> Vec<Fabric> {
    let faults = Faults { cables: vec![(1, 0), (9, 1)], nodes: vec![5], ..Faults::default() };
    vec![
        test_fabric(&[6], &[(2, 0)]),
        test_fabric(&[4, 4], &[(0, 0), (0, 2), (10, 1)]),
        test_fabric(&[5, 3, 3], &[(0, 0), (17, 1), (40, 2)]),
        test_fabric(&[4, 2, 2, 2], &[(0, 0), (3, 1)]),
        Torus::new(&[5, 4], &[1]).unwrap().fabric(&faults).unwrap(),
        test_fabric(&[4, 4, 2], &[]),
    ]
}

fn adaptive(
    fabric: &Fabric,
    non_minimal: NonMinimalRule,
    tie: Option<Tie>,
    escape: Row<Algorithm>,
) -> Adaptive {
    let rules =
        AdaptiveRules { non_minimal, tie, escape: EscapeRule::Table, ..AdaptiveRules::default() };
    crate::adaptive(fabric, rules, &escape, 1).unwrap()
}

#[test]
fn every_rule_is_proved_on_tori_with_failures() {
    for (number, fabric) in fabrics().iter().enumerate() {
        let ends = fabric.live_terminals().count() as u64;
        for non_minimal in [
            NonMinimalRule::default(),
            NonMinimalRule::new("profit", ""),
            NonMinimalRule::new("goal", ""),
            outflank(),
            NonMinimalRule::new("rlb", ""),
        ] {
            for tie in [None, Some(Tie::Plus), Some(Tie::Random)] {
                for escape in [Algorithm::NUE, Algorithm::UP_DOWN] {
                    let rule = non_minimal.clone();
                    let proof = prove_adaptive(fabric, &adaptive(fabric, rule, tie, escape));
                    assert!(
                        proof.holds(),
                        "{number} {non_minimal:?}: {}",
                        proof.flaws[0].describe(fabric)
                    );
                    assert_eq!(proof.pairs, ends * (ends - 1));
                    assert!(proof.dependencies > 0 && proof.longest < 4 * fabric.routers());
                }
            }
        }
    }
}

/// A routing whose escapes have datelines.
fn dated(fabric: &Fabric, non_minimal: NonMinimalRule, tie: Option<Tie>) -> Adaptive {
    let escape = EscapeRule::Dateline;
    let channels = escape.usual_channels();
    let rules = AdaptiveRules { non_minimal, tie, escape, channels, ..AdaptiveRules::default() };
    Adaptive::new(fabric, rules, 1).unwrap()
}

#[test]
fn escapes_with_datelines_are_proved_and_no_others_in_their_place() {
    let (mut joined, mut swapped) = (0, 0);
    for sizes in [&[8][..], &[5, 4], &[4, 2, 3], &[3, 3], &[2, 2, 2]] {
        let fabric = test_fabric(sizes, &[]);
        let rules = [
            NonMinimalRule::default(),
            NonMinimalRule::new("profit", ""),
            NonMinimalRule::new("goal", ""),
            NonMinimalRule::new("cqr", ""),
            outflank(),
            NonMinimalRule::new("valiant", ""),
            NonMinimalRule::new("rlb", ""),
        ];
        for non_minimal in rules {
            for tie in [None, Some(Tie::Plus), Some(Tie::Random)] {
                let adaptive = dated(&fabric, non_minimal.clone(), tie);
                let proof = prove_adaptive(&fabric, &adaptive);
                let flaw = proof.flaws.first().map(|flaw| flaw.describe(&fabric));
                assert_eq!(flaw, None, "{sizes:?} {non_minimal:?} {tie:?}");
                assert!(proof.dependencies > 0 || fabric.routers() == 8, "{sizes:?}");
                // One class in place of two.
                let flaws = changed(&fabric, &adaptive, |_, _, hops| {
                    hops.iter_mut().filter(|hop| hop.vc < 4).for_each(|hop| hop.vc &= !1);
                });
                joined += usize::from(flaws.iter().any(RelationFlaw::is_cycle));
                // The other class for every other destination.
                let flaws = changed(&fabric, &adaptive, |_, errand, hops| {
                    let turn = u8::from(errand.to % 2 == 0);
                    hops.iter_mut().filter(|hop| hop.vc < 4).for_each(|hop| hop.vc ^= turn);
                });
                swapped += usize::from(flaws.iter().any(RelationFlaw::is_cycle));
            }
        }
    }
    // Rings of two have no cycle, and on rings of three shortest ways have one hop.
    assert!(joined > 30 && swapped > 30, "{joined} {swapped}");
}

/// What the proof says of packets whose hops are changed after the rule has given them.
fn changed(
    fabric: &Fabric,
    adaptive: &Adaptive,
    change: impl Fn(Head, Errand, &mut Vec<Hop>) + Sync,
) -> Vec<RelationFlaw> {
    let hops = |head: Head, errand: Errand, hops: &mut Vec<Hop>| {
        let first = hops.len();
        allowed(adaptive, head, errand, hops);
        let mut own = hops.split_off(first);
        change(head, errand, &mut own);
        hops.extend(own);
    };
    prove_as(fabric, adaptive, hops).flaws
}

fn torus() -> (Fabric, Adaptive) {
    let fabric = test_fabric(&[5, 4], &[(0, 0), (7, 1)]);
    let adaptive = adaptive(&fabric, NonMinimalRule::default(), None, Algorithm::UP_DOWN);
    (fabric, adaptive)
}

#[test]
fn a_place_without_an_escape_is_found() {
    let (fabric, adaptive) = torus();
    let flaws = changed(&fabric, &adaptive, |head, errand, hops| {
        if head.router == 3 && errand.to == 12 && hops.len() > 1 {
            hops.retain(|hop| !hop.escape);
        }
    });
    let no_escape =
        |flaw: &RelationFlaw| matches!(flaw, RelationFlaw::NoEscape { destination: 12, at: 3, .. });
    assert!(!flaws.is_empty() && flaws.iter().all(no_escape), "{flaws:?}");
    let flaws = changed(&fabric, &adaptive, |head, errand, hops| {
        if head.router == 3 && errand.to == 12 {
            hops.clear();
        }
    });
    assert!(matches!(flaws[0], RelationFlaw::DeadEnd { destination: 12, at: 3, .. }));
}

#[test]
fn a_hop_through_a_failed_cable_or_into_no_channel_is_found() {
    let (fabric, adaptive) = torus();
    for (port, vc) in [(0, 2), (1, 9), (40, 2)] {
        let flaws = changed(&fabric, &adaptive, |head, _, hops| {
            if head.router == 0 {
                hops.push(Hop::new(port, vc));
            }
        });
        assert!(matches!(flaws[0], RelationFlaw::NoChannel { at: 0, .. }), "{flaws:?}");
    }
}

/// A packet that leaves the escape again may be led back to where it was, and for ever.
#[test]
fn packets_that_leave_the_escape_again_can_go_round_in_circles() {
    let fabric = test_fabric(&[4, 4], &[(0, 0), (12, 0)]);
    let adaptive = adaptive(&fabric, NonMinimalRule::default(), None, Algorithm::UP_DOWN);
    let hops = |head: Head, errand: Errand, hops: &mut Vec<Hop>| {
        let head = match errand.leg {
            Leg::Fixed { .. } => head,
            _ => Head { came: None, ..head },
        };
        allowed(&adaptive, head, errand, hops);
    };
    let flaws = prove_as(&fabric, &adaptive, hops).flaws;
    assert!(flaws.iter().any(|flaw| matches!(flaw, RelationFlaw::Loop { .. })), "{flaws:?}");
}

/// The cycle is one of indirect dependencies alone: the table has none.
#[test]
fn escapes_that_wait_for_each_other_by_way_of_adaptive_hops_are_found() {
    let fabric = test_fabric(&[4, 4, 3], &[]);
    let adaptive =
        adaptive(&fabric, NonMinimalRule::default(), Some(Tie::Plus), Algorithm::UP_DOWN);
    let nearer = |from: u32, to: u32, port: u16| {
        let next = fabric.target(fabric.outputs(from).start + u32::from(port)).unwrap();
        let torus = fabric.coordinates();
        let apart = |dimension, at| {
            let (one, other) = (torus.coordinate(at, dimension), torus.coordinate(to, dimension));
            let size = torus.sizes()[dimension];
            one.abs_diff(other).min(size - one.abs_diff(other))
        };
        let distance = |at| (0..3).map(|dimension| apart(dimension, at)).sum::<u32>();
        distance(next) < distance(from)
    };
    // Packets may leave the escape where they get no farther by it.
    let flaws = prove_as(&fabric, &adaptive, |head, errand, hops| {
        let came_nearer = head.came.is_some_and(|came| {
            let back = fabric.opposite(came.channel).unwrap();
            let from = fabric.target(back).unwrap();
            let port = came.channel - fabric.outputs(from).start;
            nearer(from, errand.to, narrow::<u16>(port))
        });
        let head = if came_nearer && !matches!(errand.leg, Leg::Fixed { .. }) {
            Head { came: None, ..head }
        } else {
            head
        };
        allowed(&adaptive, head, errand, hops);
    })
    .flaws;
    assert!(matches!(&flaws[..], [RelationFlaw::Cycle(places)] if places.len() > 1), "{flaws:?}");
}

#[test]
fn direction_order_round_whole_rings_is_a_cycle_without_the_bubble() {
    let fabric = test_fabric(&[5, 4], &[]);
    let (order, table) = (
        Adaptive::new(&fabric, AdaptiveRules::default(), 1).unwrap(),
        adaptive(&fabric, NonMinimalRule::default(), None, Algorithm::NUE),
    );
    assert!(!order.has_table() && table.has_table() && prove_adaptive(&fabric, &table).holds());
    let flaws = prove_adaptive(&fabric, &order).flaws;
    assert!(matches!(&flaws[..], [RelationFlaw::Cycle(places)] if places.len() >= 4), "{flaws:?}");
}

/// \[outflank\], Theorem 1: each leg needs an escape of its own.
#[test]
fn one_escape_for_both_legs_is_a_cycle() {
    let fabric = test_fabric(&[4, 4], &[(0, 0)]);
    let channels = AdaptiveChannels { escape_to_intermediate: 1, ..AdaptiveChannels::default() };
    let rules = AdaptiveRules { non_minimal: outflank(), channels, ..AdaptiveRules::default() };
    let adaptive = crate::adaptive(&fabric, rules, &Algorithm::UP_DOWN, 1).unwrap();
    let flaws = prove_adaptive(&fabric, &adaptive).flaws;
    assert!(matches!(&flaws[..], [RelationFlaw::Cycle(_)]), "{flaws:?}");
}
