//! The verdict on right and wrong routings, and on those that only look alike.

use flitlab_base::narrow::narrow;
use flitlab_base::registry::Row;
use std::sync::Arc;

use super::*;
use crate::agnostic::Algorithm;
use crate::relation_rules::{RelationParameters, RelationRule};
use crate::test_fabric;
use flitlab_routing::adaptive::NonMinimalRule;
use flitlab_routing::{AdaptiveRules, DirectionRules, HalfRing, Header, RelationRoutes};

const WHOLE: FlowControl = FlowControl { bubble: false, wormhole: false, atomic: false };
const BUBBLE: FlowControl = FlowControl { bubble: true, wormhole: false, atomic: false };
const WORMS: FlowControl = FlowControl { bubble: false, wormhole: true, atomic: false };

fn cycle_of(
    sizes: &[u32],
    cables: &[(u32, u32)],
    rules: &DirectionRules,
    datelines: impl Fn(&DirectionOrder, u32, &Route) -> u16,
) -> Option<Vec<Channel>> {
    let fabric = test_fabric(sizes, cables);
    let order = DirectionOrder::new(&fabric, rules.clone()).unwrap();
    in_order(&fabric, &order, |source, route| datelines(&order, source, route)).circle()
}

#[test]
fn the_classes_of_a_dateline_leave_no_cycle_and_one_class_does() {
    for half_ring in [HalfRing::Plus, HalfRing::Balanced, HalfRing::Random] {
        for order in [vec![], vec![0, 2, 1, 3], vec![3, 0, 1, 2]] {
            let rules = DirectionRules { order, half_ring, dateline: true };
            for sizes in [[8, 8], [5, 4], [4, 7], [6, 3]] {
                assert_eq!(cycle_of(&sizes, &[], &rules, DirectionOrder::datelines), None);
            }
            let one_class = cycle_of(&[5, 4], &[], &rules, |_, _, _| 0).unwrap();
            assert!(one_class.len() >= 4);
            // Classes that have nothing to do with the dateline are no better.
            let wrong = cycle_of(&[8, 8], &[], &rules, |order, source, route| {
                u16::from(order.at(source)[1] % 2 == 1)
                    * (1 + 2 * (narrow::<u16>(route.hops()) % 2))
            });
            assert!(wrong.is_some());
        }
    }
}

#[test]
fn a_row_that_has_failed_needs_no_classes() {
    let rules = DirectionRules { dateline: true, ..DirectionRules::default() };
    assert_eq!(cycle_of(&[7], &[(2, 0)], &rules, DirectionOrder::datelines), None);
}

fn ordered(sizes: &[u32], flow: FlowControl) -> Result<Freedom, Danger> {
    let fabric = test_fabric(sizes, &[]);
    let order = DirectionOrder::new(&fabric, HalfRing::Plus).unwrap();
    prove_deadlock_free(&fabric, &Routes::DirectionOrder(order), flow)
}

#[test]
fn rings_of_three_need_no_rule_and_longer_ones_do() {
    for sizes in [&[3, 3][..], &[2, 3, 2], &[3], &[2, 2, 2, 2]] {
        for flow in [WHOLE, BUBBLE, WORMS] {
            assert_eq!(ordered(sizes, flow), Ok(Freedom::NoCircle), "{sizes:?}");
        }
    }
    for sizes in [&[4][..], &[3, 5], &[2, 6, 3]] {
        assert_eq!(ordered(sizes, BUBBLE), Ok(Freedom::Bubble), "{sizes:?}");
        for flow in [WHOLE, WORMS] {
            let Err(Danger::Channels(circle)) = ordered(sizes, flow) else { panic!("{sizes:?}") };
            let fabric = test_fabric(sizes, &[]);
            let ring = fabric.ring(circle[0]);
            assert!(ring.is_some() && circle.iter().all(|&channel| fabric.ring(channel) == ring));
        }
    }
}

/// What is said of large tori without looking at the pairs is what the pairs say of small ones.
#[test]
fn rings_alone_say_what_all_pairs_say() {
    for sizes in [&[3, 3][..], &[4, 3], &[5], &[2, 2], &[7, 2, 3]] {
        // Two cables would part a single ring.
        let many = if sizes.iter().product::<u32>() > 5 { 3 } else { 2 };
        for cables in [&[][..], &[(0, 0)], &[(0, 0), (0, 1)]].into_iter().take(many) {
            let fabric = test_fabric(sizes, cables);
            for dateline in [false, true] {
                let rules = DirectionRules { dateline, ..HalfRing::Plus.into() };
                let Ok(order) = DirectionOrder::new(&fabric, rules) else { continue };
                let order = Routes::DirectionOrder(order);
                for flow in [WHOLE, BUBBLE, WORMS] {
                    if flow.bubble && dateline {
                        continue;
                    }
                    let all = prove_deadlock_free(&fabric, &order, flow);
                    let rings = by_rings(&fabric, (LONG, dateline), flow);
                    assert_eq!(all.is_ok(), rings.is_ok(), "{sizes:?} {cables:?} {flow:?}");
                    assert!(all.is_err() || all == rings, "{sizes:?} {cables:?} {flow:?}");
                }
            }
        }
    }
}

#[test]
fn a_table_that_turns_against_the_order_is_found_to_deadlock_in_spite_of_the_bubble() {
    use crate::Region;
    use crate::angara::{Choices, Freedoms, sssp};
    let fabric = test_fabric(&[4, 4], &[]);
    let choices = Choices::new(Region::new(&fabric), Freedoms::default());
    let mut table = choices.table(&sssp(&choices).selection);
    let judge = |table: &flitlab_routing::RouteTable, flow| {
        prove_deadlock_free(&fabric, &Routes::Table(table.clone()), flow)
    };
    assert_eq!(judge(&table, BUBBLE), Ok(Freedom::Bubble));
    assert!(judge(&table, WHOLE).is_err() && judge(&table, WORMS).is_err());
    for source in 0..16 {
        let torus = fabric.coordinates();
        let up = torus.neighbor(source, 1).unwrap();
        let destination = torus.neighbor(up, 0).unwrap();
        let header = Header::default().with_first_step(1).with_direction(0, true);
        table.set(source, destination, header);
    }
    let Err(Danger::Channels(circle)) = judge(&table, BUBBLE) else { panic!("it turns") };
    let ring = fabric.ring(circle[0]);
    assert!(circle.iter().any(|&channel| fabric.ring(channel) != ring));
}

#[test]
fn escapes_of_adaptive_packets_count_where_buffers_hold_whole_packets() {
    let judge = |sizes: &[u32], cables: &[(u32, u32)], flow| {
        let fabric = test_fabric(sizes, cables);
        let rules = AdaptiveRules::default();
        let adaptive = crate::adaptive(&fabric, rules, &Algorithm::UP_DOWN, 1).unwrap();
        prove_deadlock_free(&fabric, &Routes::Adaptive(adaptive), flow)
    };
    assert_eq!(judge(&[4, 4], &[], BUBBLE), Ok(Freedom::Bubble));
    assert_eq!(judge(&[3, 3], &[], WHOLE), Ok(Freedom::Escape));
    // Detours lead two hops round a ring of three.
    let fabric = test_fabric(&[3, 3], &[]);
    let rules =
        AdaptiveRules { non_minimal: NonMinimalRule::new("goal", ""), ..AdaptiveRules::default() };
    let orthants = Routes::Adaptive(Adaptive::new(&fabric, rules, 1).unwrap());
    assert!(prove_deadlock_free(&fabric, &orthants, WHOLE).is_err());
    assert_eq!(prove_deadlock_free(&fabric, &orthants, BUBBLE), Ok(Freedom::Bubble));
    assert_eq!(judge(&[4, 4], &[(0, 0)], WHOLE), Ok(Freedom::Escape));
    assert!(judge(&[4, 4], &[], WHOLE).is_err());
    // Worms turn from each dimension into each other one; in one dimension they don't.
    for (sizes, cables) in [(&[4, 4][..], &[][..]), (&[3, 3], &[]), (&[2, 2], &[]), (&[9, 9], &[])]
    {
        assert!(judge(sizes, cables, WORMS).is_err(), "{sizes:?}");
    }
    assert_eq!(judge(&[3], &[], WORMS), Ok(Freedom::NoCircle));
    assert!(judge(&[16, 16], &[(0, 0)], WORMS).is_err());
}

#[test]
fn escapes_of_relations_count_where_buffers_hold_whole_packets() {
    let fabric = test_fabric(&[4, 4], &[]);
    let judge = |rule: Row<RelationRule>, flow| {
        let vcs = rule.least_vcs.max(2);
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let relation = Arc::new(rule.relation(&fabric, &parameters).unwrap());
        let routes = Routes::Relation(RelationRoutes::new(relation, None, 1));
        prove_deadlock_free(&fabric, &routes, flow)
    };
    assert_eq!(judge(RelationRule::MINIMAL_NUE, WHOLE), Ok(Freedom::Escape));
    assert!(judge(RelationRule::MINIMAL_NUE, WORMS).is_err());
    for flow in [WHOLE, WORMS] {
        assert_eq!(judge(RelationRule::UP_DOWN, flow), Ok(Freedom::NoCircle));
        assert!(judge(RelationRule::MINIMAL, flow).is_err());
    }
    assert_eq!(judge(RelationRule::BUBBLE_COLOURING, WHOLE), Ok(Freedom::Bubble));
}
