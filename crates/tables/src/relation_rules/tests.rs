//! What holds for all rules, and the ways of small fabrics by hand.

use std::collections::BTreeSet;

use super::*;
use crate::test_fabric;
use flitlab_fabric::Cabling;
use flitlab_routing::relation::Hop;

/// Switches joined by these cables in this order, a terminal each.
fn fabric(routers: u32, cables: &[(u32, u32)]) -> Fabric {
    let mut cabling = Cabling::default();
    for router in 0..routers {
        cabling.router(format!("S{router}"));
    }
    for &(one, other) in cables {
        cabling.cable(one, other);
    }
    for router in 0..routers {
        cabling.terminal(format!("H{router}"), router);
    }
    cabling.fabric().unwrap()
}

/// The routers and virtual channels that packets can go through from one router to another, all
/// ways in order.
fn ways(
    fabric: &Fabric,
    relation: &Relation,
    source: u32,
    destination: u32,
) -> Vec<Vec<(u32, u8)>> {
    let mut found = Vec::new();
    let mut open = vec![(relation.injected(source), source, Vec::new())];
    while let Some((state, router, way)) = open.pop() {
        if router == destination {
            found.push(way);
            continue;
        }
        for hop in relation.hops(state, destination).iter().rev() {
            let channel = fabric.outputs(router).start + u32::from(hop.port);
            let next = fabric.target(channel).unwrap();
            let mut way: Vec<(u32, u8)> = way.clone();
            way.push((next, hop.vc));
            open.push((relation.arrived(channel, hop.vc), next, way));
        }
    }
    found
}

/// The network of \[path-selection\], Figure 1, switches a to e, as its text gives it: from a to e
/// by b or c, and d behind b.
const FIGURE_1: [(u32, u32); 5] = [(0, 1), (0, 2), (1, 4), (2, 4), (1, 3)];

#[test]
fn up_down_offers_both_ways_of_figure_1_and_never_turns_up() {
    let fabric = fabric(5, &FIGURE_1);
    let parameters = RelationParameters::default();
    let relation = RelationRule::UP_DOWN.relation(&fabric, &parameters).unwrap();
    assert_eq!(ways(&fabric, &relation, 0, 4), [[(1, 0), (4, 0)], [(2, 0), (4, 0)]]);
    assert_eq!(ways(&fabric, &relation, 4, 0), [[(1, 0), (0, 0)], [(2, 0), (0, 0)]]);
    // By e it would go down, then up.
    assert_eq!(ways(&fabric, &relation, 1, 2), [[(0, 0), (2, 0)]]);
    assert_eq!(ways(&fabric, &relation, 3, 2), [[(1, 0), (0, 0), (2, 0)]]);
    assert_eq!(relation.longest(), 3);
    // Nobody comes to b by e on the way to c.
    let channel = fabric.outputs(4).find(|&channel| fabric.target(channel) == Some(1)).unwrap();
    assert_eq!(relation.hops(relation.arrived(channel, 0), 2), []);
    assert_eq!(relation.hops(relation.arrived(channel, 0), 0), [Hop::new(0, 0)]);
}

#[test]
fn every_virtual_channel_is_offered_and_numbers_of_states_can_be_taken_back() {
    let fabric = test_fabric(&[4, 4], &[]);
    let parameters = RelationParameters { vcs: 3, ..RelationParameters::default() };
    let relation = RelationRule::UP_DOWN.relation(&fabric, &parameters).unwrap();
    assert_eq!(relation.hops(relation.injected(0), 1), [0, 1, 2].map(|vc| Hop::new(0, vc)));
    for state in 0..relation.states() {
        match relation.place(state) {
            Some(place) => assert_eq!(relation.arrived(place.channel, place.vc), state),
            None => assert_eq!(relation.injected(relation.router(&fabric, state).unwrap()), state),
        }
    }
}

/// Of virtual channels that are alike one is looked at, and nothing is lost or kept by that.
#[test]
fn what_no_packet_reaches_has_no_hops_in_any_virtual_channel_and_the_rest_has() {
    let mut fewer = 0;
    let ring = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)];
    for fabric in [fabric(6, &ring), fabric(5, &FIGURE_1), test_fabric(&[4, 3], &[(0, 0)])] {
        for rule in RELATION_RULES {
            for vcs in [1, 2, 5] {
                let parameters = RelationParameters { vcs, ..RelationParameters::default() };
                let Ok(relation) = rule.relation(&fabric, &parameters) else { continue };
                fewer += usize::from(relation.alike_vcs(&fabric).len() < usize::from(vcs));
                for destination in fabric.ends() {
                    let mut open: Vec<(u32, u32)> = fabric
                        .ends()
                        .iter()
                        .map(|&source| (relation.injected(source), source))
                        .collect();
                    let mut reached = BTreeSet::new();
                    while let Some((state, router)) = open.pop() {
                        if router == destination || !reached.insert(state) {
                            continue;
                        }
                        for hop in relation.hops(state, destination) {
                            let channel = fabric.outputs(router).start + u32::from(hop.port);
                            let next = fabric.target(channel).unwrap();
                            open.push((relation.arrived(channel, hop.vc), next));
                        }
                    }
                    for state in 0..relation.states() {
                        let has_hops = !relation.hops(state, destination).is_empty();
                        assert_eq!(has_hops, reached.contains(&state), "{} {vcs}", rule.name);
                    }
                }
            }
        }
    }
    assert!(fewer > 10, "{fewer}");
}

#[test]
fn no_rule_has_the_name_of_one_with_phases() {
    let names = RELATION_RULES.map(|rule| rule.name);
    assert!(names.iter().all(|name| PhasedKind::RESERVED.contains(name)));
    assert_eq!(PhasedKind::RESERVED.len(), names.len() + RelationRule::RESERVED.len());
}
