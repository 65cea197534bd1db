//! What the rule promises on any fabric, and what its order and its first hops are on fabrics where
//! that is known.

use super::super::order::up_then_down;
use super::super::tree::Tree;
use super::*;
use crate::prove_relation;
use crate::test_fabric;
use flitlab_base::registry::Row;
use flitlab_fabric::builders::{self, Cascade, DirectorTree, Kautz, RandomRegular};
use flitlab_fabric::{Cabling, breadth_first};
use flitlab_routing::relation::{Hop, RelationBuilder};

fn random(seed: u64) -> Fabric {
    let routers = 9 + 2 * u32::try_from(seed % 12).unwrap();
    let graph = RandomRegular { routers, degree: 4, terminals: 2, seed };
    graph.cabling().unwrap().fabric().unwrap()
}

/// The fabric without each of its cables whose number is divisible, as far as it stays connected.
fn with_failures(fabric: &Fabric, seed: u64) -> Fabric {
    let mut left = fabric.clone();
    for cable in fabric.cables().filter(|&cable| u64::from(cable) % 5 == seed % 5).take(6) {
        let next = left.without(&[cable], &[]);
        let reached = Tree::new(&next, 0, super::super::TreeOrder::BreadthFirst).order.len();
        if reached == fabric.routers() as usize {
            left = next;
        }
    }
    left
}

/// Edge switches under six directors, as Tsubame2.5's, but fewer.
fn directors() -> Fabric {
    let tree = DirectorTree {
        edges: 27,
        directors: 6,
        line_chips: 6,
        fabric_chips: 3,
        inner_cables: 2,
        uplinks: 160,
        terminals: 157,
    };
    tree.cabling().unwrap().fabric().unwrap()
}

#[test]
fn every_pair_of_random_fabrics_is_connected_without_a_cycle_in_any_virtual_channels() {
    for seed in 0..12 {
        let whole = random(seed);
        for fabric in [&whole, &with_failures(&whole, seed)] {
            let ends = fabric.ends().len() as u64;
            for vcs in [1, 2, 3, 4, 8] {
                let parameters = RelationParameters { vcs, ..RelationParameters::default() };
                let relation = RelationRule::TWO_ORDERS.relation(fabric, &parameters).unwrap();
                let proof = prove_relation(fabric, &relation);
                let flaws: Vec<_> = proof.flaws.iter().map(|flaw| flaw.describe(fabric)).collect();
                assert!(proof.holds(), "{seed} {vcs}: {flaws:?}");
                assert_eq!(proof.pairs, ends * (ends - 1), "{seed} {vcs}");
                assert_eq!(relation.has_escape(), vcs > 2);
                if vcs == 3 {
                    let again = RelationRule::TWO_ORDERS.relation(fabric, &parameters).unwrap();
                    assert!(relation == again, "{seed}");
                }
            }
        }
    }
}

/// The hops of one state more: back to the lower virtual channel, in which the order ascends once
/// more.
#[test]
fn a_way_back_to_the_first_virtual_channel_is_refused() {
    let fabric = random(3);
    let parameters = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = RelationRule::TWO_ORDERS.relation(&fabric, &parameters).unwrap();
    let mut builder = RelationBuilder::new(&fabric, 2).unwrap();
    for &destination in &fabric.ends() {
        for state in 0..relation.states() {
            let mut hops = relation.hops(state, destination).to_vec();
            for at in 0..hops.len() {
                hops.push(Hop::new(hops[at].port, 0));
            }
            builder.set(state, destination, &mut hops);
        }
    }
    let proof = prove_relation(&fabric, &builder.finish());
    assert!(!proof.holds() && proof.cycle().is_some());
}

/// On a Kautz graph: with a second virtual channel no way but a detour is longer than the longest
/// of the shortest.
#[test]
fn a_second_virtual_channel_makes_all_ways_shortest_where_they_are_short() {
    let kautz = Kautz { degree: 3, length: 2, redundancy: 2, terminals: 2 };
    let fabric = kautz.cabling().unwrap().fabric().unwrap();
    let longest = |vcs| {
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let relation = RelationRule::TWO_ORDERS.relation(&fabric, &parameters).unwrap();
        relation.without_detours(&fabric).longest()
    };
    let minimal = RelationRule::MINIMAL.relation(&fabric, &RelationParameters::default()).unwrap();
    assert!(longest(1) >= longest(2) && longest(2) == minimal.longest());
}

#[test]
fn detours_are_first_hops_to_routers_as_far_from_the_destination() {
    let fabric = random(5);
    let mut hops_left = vec![0; fabric.routers() as usize];
    for vcs in [1, 2, 4] {
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let relation = RelationRule::TWO_ORDERS.relation(&fabric, &parameters).unwrap();
        let mut detours = 0;
        for &destination in &fabric.ends() {
            breadth_first(destination, &mut hops_left, &mut Vec::new(), |at| fabric.neighbors(at));
            for state in 0..relation.states() {
                for hop in relation.hops(state, destination).iter().filter(|hop| hop.detour) {
                    let router = relation.router(&fabric, state).unwrap();
                    let next = fabric.target(fabric.outputs(router).start + u32::from(hop.port));
                    let [here, there] = [router, next.unwrap()].map(|at| hops_left[at as usize]);
                    assert!(relation.place(state).is_none() && !hop.escape);
                    // With two virtual channels the way from a nearer router may be longer, since
                    // it has to be legal.
                    assert!(vcs == 2 || there == here);
                    detours += 1;
                }
            }
        }
        assert_eq!(detours > 0, vcs > 1, "{vcs}");
        let straight = relation.without_detours(&fabric);
        assert!(!straight.has_detours() && relation.has_detours() == (vcs > 1));
        assert!(prove_relation(&fabric, &straight).holds());
    }
}

/// The order that is found, and by how many hops first ones may make ways longer.
fn found(fabric: &Fabric, vcs: u8) -> (Ordered, u32) {
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    let ordered = best_order(fabric, &parameters).unwrap();
    let longer = longer(fabric, &ordered, vcs).unwrap();
    (ordered, longer)
}

#[test]
fn the_first_hop_is_free_where_shortest_ways_crowd_channels() {
    // Edge switches that share a line chip have no other shortest way than through it.
    assert_eq!(found(&directors(), 4).1, 2);
    // A torus' shortest ways are as even as can be. On Cascade a hop to a router that is as far
    // relieves nothing.
    assert_eq!(found(&test_fabric(&[5, 5], &[]), 4).1, 0);
    let cascade = Cascade { columns: 8, rows: 4, global: 64, ..Cascade::default() };
    let cascade = cascade.cabling().unwrap().fabric().unwrap();
    assert_eq!(found(&cascade, 4).1, 0);
}

/// On fat trees all shortest ways ascend in one order, though they have many roots; with some
/// cables failed few don't.
#[test]
fn on_fat_trees_all_shortest_ways_are_offered() {
    let tree = builders::Tree { arity: 4, levels: 3, terminals: 4 };
    let whole = tree.cabling().unwrap().fabric().unwrap();
    assert!(found(&whole, 1).0.is_enough);
    for vcs in [1, 2, 5] {
        let parameters = RelationParameters { vcs, ..RelationParameters::default() };
        let relation = RelationRule::TWO_ORDERS.relation(&whole, &parameters).unwrap();
        let minimal = RelationRule::MINIMAL.relation(&whole, &parameters).unwrap();
        let ports = |hops: &[Hop]| {
            let mut ports: Vec<u16> = hops.iter().map(|hop| hop.port).collect();
            ports.dedup();
            ports
        };
        for destination in whole.ends() {
            let comes_to = |&at: &u32| !relation.hops(at, destination).is_empty();
            for state in (0..relation.states()).filter(comes_to) {
                let own = relation.hops(state, destination);
                let all = minimal.hops(state, destination);
                assert_eq!(ports(own), ports(all), "{vcs} {state} {destination}");
                // With more virtual channels some are kept for other packets (vcs_apart.rs).
                assert!(vcs > 2 || own == all, "{vcs} {state} {destination}");
            }
        }
    }
    let broken = with_failures(&whole, 1);
    let fullest = |rule: Row<RelationRule>| {
        let relation = rule.relation(&broken, &RelationParameters::default()).unwrap();
        Evenness::new(&broken, &relation).fullest()
    };
    let [own, of_tree] = [RelationRule::TWO_ORDERS, RelationRule::UP_DOWN].map(fullest);
    assert!(own < 0.7 * of_tree, "{own} {of_tree}");
}

/// Edge switches under directors have shortest ways that lead down and up again, and close cycles
/// with the others.
#[test]
fn fat_trees_of_fat_trees_have_ways_up_and_then_down_in_all_virtual_channels() {
    let directors = directors();
    let parameters = RelationParameters { vcs: 2, ..RelationParameters::default() };
    let relation = |rule: Row<RelationRule>| rule.relation(&directors, &parameters).unwrap();
    assert!(prove_relation(&directors, &relation(RelationRule::MINIMAL)).cycle().is_some());
    for rule in [RelationRule::TWO_ORDERS, RelationRule::BUBBLE_COLOURING] {
        let relation = relation(rule);
        let proof = prove_relation(&directors, &relation);
        assert!(proof.holds() && proof.longest == 4, "{}: {:?}", rule.name, proof.flaws.first());
        assert!(!relation.has_ring() && !relation.has_escape());
        let first = relation.hops(relation.injected(0), 20);
        assert_eq!(
            first.len(),
            2 * directors.outputs(0).len(),
            "by each cable, in each virtual channel"
        );
    }
    // Of a ring whose every other router has terminals, opposite pairs can't go up and down once.
    let mut cabling = Cabling::default();
    for router in 0..8 {
        cabling.router(format!("S{router}"));
    }
    for router in 0..8 {
        cabling.cable(router, (router + 1) % 8);
    }
    for terminal in 0..4 {
        cabling.terminal(format!("H{terminal}"), 2 * terminal);
    }
    assert_eq!(up_then_down(&cabling.fabric().unwrap()), None);
    // Where all routers have terminals, none is above another.
    assert_eq!(up_then_down(&test_fabric(&[2], &[])), None);
}
