//! A proof that looks at one of several virtual channels finds what one finds that looks at all, in
//! relations that are right and in mutants in which some virtual channels differ.

use super::*;
use crate::relation_proof::prove_alike;
use crate::relation_proof::tests::changed;
use crate::relation_rules::{RELATION_RULES, RelationParameters};
use crate::{prove_relation, test_fabric};
use flitlab_fabric::builders::{Dragonfly, GlobalCables, GlobalOrder, HyperX, RandomRegular, Tree};
use flitlab_routing::phased::{PhasedParameters, PhasedSpec};
use flitlab_routing::relation::RelationBuilder;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) fn tree() -> Fabric {
    Tree { arity: 3, levels: 3, terminals: 2 }.cabling().unwrap().fabric().unwrap()
}

pub(crate) fn dragonfly() -> Fabric {
    let cables = GlobalCables { order: GlobalOrder::Relative, between: None };
    let dragonfly = Dragonfly { routers: 2, terminals: 1, global: 2, groups: 5, cables };
    dragonfly.cabling().unwrap().fabric().unwrap()
}

pub(crate) fn hyperx() -> Fabric {
    let hyperx = HyperX { sizes: vec![3, 3], redundancy: 1, terminals: 2 };
    hyperx.cabling().unwrap().fabric().unwrap()
}

fn random_graph() -> Fabric {
    let graph = RandomRegular { routers: 12, degree: 3, terminals: 2, seed: 5 };
    graph.cabling().unwrap().fabric().unwrap()
}

/// The rule's relation in so many virtual channels, even if these are too few.
pub(crate) fn phased(fabric: &Fabric, (name, keys): (&str, &str), vcs: u8) -> Option<Relation> {
    let parameters = PhasedParameters { vcs, largest_packet: 16, clamps: true };
    Some(PhasedSpec::new(name, keys).relation(fabric, &parameters).ok()?.1)
}

/// What two proofs have to agree on: all numbers, and the kind of the first flaw.
pub(crate) fn essence(proof: &RelationProof) -> (u64, u64, u32, Option<&'static str>) {
    let kind = proof.flaws.first().map(|flaw| match flaw {
        RelationFlaw::DeadEnd { .. } => "dead end",
        RelationFlaw::NoChannel { .. } => "no channel",
        RelationFlaw::Loop { .. } => "loop",
        RelationFlaw::NoEscape { .. } => "no escape",
        RelationFlaw::NoBubble { .. } => "no bubble",
        RelationFlaw::Missed { .. } => "missed",
        RelationFlaw::Cycle(_) => "cycle",
    });
    (proof.pairs, proof.dependencies, proof.longest, kind)
}

/// Proves a relation by classes, and virtual channel by virtual channel. Returns the number of
/// classes, and whether the relation is right.
fn agree(fabric: &Fabric, relation: &Relation, name: &str) -> (u8, bool) {
    let all = !relation.has_escape();
    let alike = AlikeVcs::new(fabric, relation);
    let by_class = prove_alike(fabric, relation, all, &alike);
    let one_by_one = prove_alike(fabric, relation, all, &AlikeVcs::apart(relation));
    assert_eq!(by_class.holds(), one_by_one.holds(), "{name}");
    if one_by_one.holds() || one_by_one.flaws.iter().all(RelationFlaw::is_cycle) {
        assert_eq!(essence(&by_class), essence(&one_by_one), "{name}");
    }
    let named = by_class.flaws.iter().all(|flaw| !flaw.describe(fabric).is_empty());
    assert!(
        // Dependencies between escapes may be indirect.
        named && by_class.cycle().is_none_or(|cycle| !all || waits_for_itself(fabric, cycle)),
        "{name}"
    );
    (alike.count(), by_class.holds())
}

/// Whether each virtual channel begins where the one before ends.
fn waits_for_itself(fabric: &Fabric, cycle: &[VirtualChannel]) -> bool {
    let next = cycle.iter().cycle().skip(1);
    cycle
        .iter()
        .zip(next)
        .all(|(one, next)| fabric.target(one.channel) == Some(fabric.source(next.channel)))
}

#[test]
fn virtual_channels_that_a_rule_treats_alike_are_looked_at_once() {
    let classes = |fabric: &Fabric, rule: (&str, &str), vcs| {
        AlikeVcs::new(fabric, &phased(fabric, rule, vcs).unwrap()).count()
    };
    assert_eq!(classes(&tree(), ("nearest-ancestor", ""), 8), 1);
    // Three steps of two virtual channels each, and two that no step has.
    assert_eq!(classes(&dragonfly(), ("ugal", "via = \"group\""), 8), 4);
    assert_eq!(classes(&dragonfly(), ("ugal", "via = \"group\""), 3), 3);
    // The escape, and the rest.
    assert_eq!(classes(&hyperx(), ("dal", ""), 8), 2);
    let minimal = RELATION_RULES.iter().find(|rule| rule.name == "minimal-up-down").unwrap();
    let parameters = RelationParameters { vcs: 8, ..RelationParameters::default() };
    let relation = minimal.relation(&tree(), &parameters).unwrap();
    assert!(AlikeVcs::new(&tree(), &relation).count() <= 2);
}

#[test]
fn a_proof_by_classes_finds_what_one_finds_that_looks_at_all_virtual_channels() {
    let (mut fewer, mut wrong) = (0, 0);
    let fabrics =
        [tree(), random_graph(), hyperx(), test_fabric(&[4, 3], &[(0, 0)]), test_fabric(&[6], &[])];
    for (number, fabric) in fabrics.iter().enumerate() {
        for rule in RELATION_RULES {
            for vcs in [1, 2, 3, 5] {
                let parameters = RelationParameters { vcs, ..RelationParameters::default() };
                let Ok(relation) = rule.relation(fabric, &parameters) else { continue };
                if relation.has_ring() {
                    continue;
                }
                let name = format!("{} on {number} with {vcs}", rule.name);
                let (classes, right) = agree(fabric, &relation, &name);
                fewer += usize::from(classes < vcs);
                wrong += usize::from(!right);
            }
        }
    }
    assert!(fewer > 20 && wrong > 5, "{fewer} {wrong}");
}

/// Builds a relation with the phases of another one, whose lists of hops `change` has changed.
pub(crate) fn changed_phases(
    fabric: &Fabric,
    relation: &Relation,
    change: &mut dyn FnMut(u32, u32, &mut Vec<Hop>),
) -> Relation {
    let phases = relation.phases().unwrap();
    let targets: Vec<u32> =
        phases.destinations(fabric).into_iter().chain(phases.vias(fabric)).collect();
    let mut builder = RelationBuilder::with_phases(fabric, relation.vcs(), phases.clone()).unwrap();
    for &target in &targets {
        for state in 0..relation.states() {
            let mut hops = relation.hops(state, target).to_vec();
            if !hops.is_empty() {
                change(state, target, &mut hops);
            }
            builder.set(state, target, &mut hops);
        }
    }
    builder.finish_phases(relation.longest(), false)
}

/// Changes a list of hops at random: one is lost, one is in another virtual channel, or one is by
/// another port.
pub(crate) fn mutate(random: &mut dyn Rng, (ports, vcs): (usize, u8), hops: &mut Vec<Hop>) {
    let place = random.random_range(0..hops.len());
    let hop = hops[place];
    let other = Hop {
        port: u16::try_from(random.random_range(0..ports)).unwrap(),
        vc: random.random_range(0..vcs),
        ..hop
    };
    match random.random_range(0..4) {
        0 => _ = hops.remove(place),
        1 => hops[place].vc = other.vc,
        2 => hops.push(Hop { vc: hop.vc, ..other }),
        _ => hops.push(other),
    }
}

#[test]
fn mutants_are_judged_alike_by_classes_and_one_by_one() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut right, mut wrong) = (0, 0);
    let minimal = RELATION_RULES.iter().find(|rule| rule.name == "minimal-up-down").unwrap();
    let (tree, random_graph) = (tree(), random_graph());
    for fabric in [&tree, &random_graph] {
        for vcs in [2, 4] {
            let parameters = RelationParameters { vcs, ..RelationParameters::default() };
            let relation = minimal.relation(fabric, &parameters).unwrap();
            for _ in 0..25 {
                let at = random.random_range(0..relation.states());
                let seed: u64 = random.random_range(0..1 << 32);
                let mutant = changed(fabric, &relation, |state, destination, hops| {
                    let mut own = ChaCha8Rng::seed_from_u64(seed + u64::from(destination % 3));
                    if state == at && !hops.is_empty() {
                        let router = relation.router(fabric, state).unwrap();
                        mutate(&mut own, (fabric.outputs(router).len(), vcs), hops);
                    }
                });
                match agree(fabric, &mutant, "mutant").1 {
                    true => right += 1,
                    false => wrong += 1,
                }
            }
        }
    }
    assert!(right > 5 && wrong > 5, "{right} {wrong}");
}

/// Of eight virtual channels up a tree one turns up again behind its way down.
#[test]
fn one_virtual_channel_that_differs_from_seven_others_is_found() {
    let fabric = tree();
    let relation = phased(&fabric, ("nearest-ancestor", ""), 8).unwrap();
    assert!(prove_relation(&fabric, &relation).holds());
    let ends = fabric.ends();
    let is_end = |router: u32| ends.contains(&router);
    for odd in 0..8 {
        // From the middle level, packets may go down to a wrong switch in this virtual channel.
        let mutant = changed_phases(&fabric, &relation, &mut |state, target, hops| {
            let router = relation.router(&fabric, state).unwrap();
            if !is_end(router) {
                for (port, channel) in (0u16..).zip(fabric.outputs(router)) {
                    let down =
                        fabric.target(channel).is_some_and(|next| is_end(next) && next != target);
                    if down {
                        hops.push(Hop::new(port, odd));
                    }
                }
            }
        });
        assert_eq!(AlikeVcs::new(&fabric, &mutant).count(), 2);
        let proof = prove_relation(&fabric, &mutant);
        assert!(!proof.holds(), "virtual channel {odd} closes a circle");
        let whole = prove_alike(&fabric, &mutant, true, &AlikeVcs::apart(&mutant));
        assert_eq!(essence(&proof).3, essence(&whole).3);
    }
}
