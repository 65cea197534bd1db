//! Hops that are known of whole meshes, failures, and turns that close a cycle.

use super::*;
use crate::relation_proof::tests::changed;
use crate::{RelationProof, prove_relation, test_fabric};
use flitlab_base::narrow::narrow;
use flitlab_fabric::builders::Tree;
use flitlab_fabric::{Faults, Torus};
use flitlab_routing::relation::Hop;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A mesh without some of its cables, each by a router and a direction.
fn mesh(sizes: &[u32], cables: &[(u32, u32)]) -> Fabric {
    let open: Vec<usize> = (0..sizes.len()).collect();
    let faults = Faults { cables: cables.to_vec(), ..Faults::default() };
    Torus::new(sizes, &open).unwrap().fabric(&faults).unwrap()
}

fn make_with(fabric: &Fabric, vcs: u8) -> Result<Relation, NoRelation> {
    let parameters = RelationParameters { vcs, ..RelationParameters::default() };
    RelationRule::NEGATIVE_FIRST.relation(fabric, &parameters)
}

/// Sizes of one to four dimensions.
fn sizes(random: &mut ChaCha8Rng) -> Vec<u32> {
    let dimensions = random.random_range(1..=4);
    let most = [9, 6, 4, 3][dimensions - 1];
    (0..dimensions).map(|_| random.random_range(2..=most)).collect()
}

fn proof(fabric: &Fabric, relation: &Relation) -> RelationProof {
    let proof = prove_relation(fabric, relation);
    let flaws: Vec<String> = proof.flaws.iter().map(|flaw| flaw.describe(fabric)).collect();
    assert!(proof.holds(), "{flaws:?}");
    proof
}

#[test]
fn on_whole_meshes_all_shortest_paths_with_the_negative_hops_first_are_offered() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for _ in 0..30 {
        let (sizes, vcs) = (sizes(&mut random), random.random_range(1..=4));
        let fabric = mesh(&sizes, &[]);
        let relation = make_with(&fabric, vcs).unwrap();
        let nodes = u64::from(fabric.routers());
        let proof = proof(&fabric, &relation);
        assert_eq!(proof.pairs, nodes * (nodes - 1), "{sizes:?}");
        assert_eq!(proof.longest, sizes.iter().map(|size| size - 1).sum(), "{sizes:?}");
        let torus = fabric.torus().unwrap();
        for from in 0..fabric.routers() {
            for to in (0..fabric.routers()).filter(|&to| to != from) {
                let leads = |direction: &u32| {
                    let dimension = torus.dimension(*direction);
                    let [at, end] = [from, to].map(|node| torus.coordinate(node, dimension));
                    if torus.positive(*direction) { at < end } else { at > end }
                };
                let leading: Vec<u32> = (0..torus.directions()).filter(leads).collect();
                let negative = leading.iter().any(|&it| !torus.positive(it));
                let first = leading.iter().filter(|it| torus.positive(**it) != negative);
                let hops =
                    first.flat_map(|&it| (0..vcs).map(move |vc| Hop::new(narrow::<u16>(it), vc)));
                let hops: Vec<Hop> = hops.collect();
                assert_eq!(relation.hops(relation.injected(from), to), hops, "{sizes:?}");
            }
        }
    }
}

#[test]
fn around_failures_the_rule_is_proved_or_refused() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let (mut proved, mut refused) = (0, 0);
    for _ in 0..60 {
        let sizes = sizes(&mut random);
        let fabric = mesh(&sizes, &[]);
        let cables: Vec<Channel> = fabric.cables().collect();
        let cable = cables[random.random_range(0..cables.len())];
        let fabric = fabric.without(&[cable], &[]);
        match make_with(&fabric, random.random_range(1..=3)) {
            Ok(relation) => {
                proof(&fabric, &relation);
                proved += 1;
            }
            Err(error) => {
                assert!(matches!(error, NoRelation::NoPath(..)), "{error}");
                refused += 1;
            }
        }
    }
    assert!(proved >= 10 && refused >= 10, "{proved} proved, {refused} refused");
}

#[test]
fn paths_round_a_failure_are_longer_and_the_lowest_row_has_none() {
    // From (2,1) to (1,1) by y below: two hops more, of which the first is negative too.
    let fabric = mesh(&[3, 3], &[(5, 2)]);
    let relation = make_with(&fabric, 1).unwrap();
    proof(&fabric, &relation);
    assert_eq!(relation.hops(relation.injected(5), 4), [Hop::new(3, 0)]);
    // Nothing is below the cable from (2,0) to (1,0).
    let none = NoRelation::NoPath("(0,0)".into(), "(2,0)".into());
    assert_eq!(make_with(&mesh(&[3, 3], &[(2, 2)]), 1), Err(none));
}

#[test]
fn each_forbidden_turn_closes_a_cycle() {
    let fabric = mesh(&[3, 3, 2], &[]);
    let relation = make_with(&fabric, 1).unwrap();
    let torus = fabric.torus().unwrap().clone();
    let mut turns = 0;
    for at in 0..fabric.routers() {
        for (plus, minus) in (0..9).map(|turn| (turn / 3, turn % 3 + 3)) {
            let ends = (torus.neighbor(at, plus + 3), torus.neighbor(at, minus));
            let (Some(from), Some(to)) = ends else { continue };
            if minus == plus + 3 {
                continue;
            }
            // From one diagonal neighbor to the other, by the positive hop before the negative one.
            let after = relation.arrived(fabric.outputs(from).start + plus, 0);
            let mutant = changed(&fabric, &relation, |state, destination, hops| {
                if destination == to && state == relation.injected(from) {
                    hops.push(Hop::new(narrow::<u16>(plus), 0));
                } else if destination == to && state == after {
                    hops.push(Hop::new(narrow::<u16>(minus), 0));
                }
            });
            let proof = prove_relation(&fabric, &mutant);
            let cycle = proof.cycle().expect("three legal turns close it");
            let turn = [fabric.outputs(from).start + plus, fabric.outputs(at).start + minus];
            assert!(turn.iter().all(|it| cycle.iter().any(|place| place.channel == *it)));
            turns += 1;
        }
    }
    assert!(turns > 30, "{turns}");
}

#[test]
fn fabrics_with_rings_and_without_coordinates_are_refused() {
    let tree = Tree { arity: 2, levels: 2, terminals: 2 };
    let tree = tree.cabling().unwrap().fabric().unwrap();
    let half_open = Torus::new(&[4, 4], &[1]).unwrap().fabric(&Faults::default()).unwrap();
    for (fabric, has) in
        [(test_fabric(&[6], &[]), "rings"), (half_open, "rings"), (tree, "no coordinates")]
    {
        assert_eq!(make_with(&fabric, 1), Err(NoRelation::NoMesh { rule: NAME, has }));
    }
    // A dimension of two routers has one cable, and is no ring.
    let cube = test_fabric(&[2, 2, 2], &[]);
    proof(&cube, &make_with(&cube, 1).unwrap());
}
