//! The proof by router and phase finds what the one finds that follows packets channel by channel.

use super::*;
use crate::alike_vcs::tests::{changed_phases, dragonfly, essence, hyperx, mutate, phased, tree};
use crate::choice_proof::{Packets, prove_phases};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rules with and without vias, decisions, groups and pairs of targets.
const RULES: [(&str, &str); 13] = [
    ("nearest-ancestor", ""),
    ("minimal-by-hop", ""),
    ("dragonfly-minimal", ""),
    ("valiant", "via = \"group\""),
    ("valiant", "via = \"router\""),
    ("ugal", ""),
    ("ugal", "via = \"router\""),
    ("par", ""),
    ("par", "via = \"router\""),
    ("hyperx-order", "order = \"adaptive\""),
    ("dimwar", ""),
    ("omniwar", "deroutes = 1"),
    ("polarized", ""),
];

/// Both proofs, virtual channel by virtual channel.
fn both(fabric: &Fabric, relation: &Relation) -> [RelationProof; 2] {
    let phases = relation.phases().unwrap();
    let apart = AlikeVcs::apart(relation);
    let packets = Packets::without_escapes(fabric, relation.vcs());
    [
        prove_by_phase(fabric, (relation, phases), &apart),
        prove_phases(fabric, &packets, (relation, phases), (&apart, true)),
    ]
}

#[test]
fn the_proof_by_phase_finds_what_the_one_by_channel_finds() {
    let (mut right, mut wrong) = (0, 0);
    for (number, fabric) in [tree(), dragonfly(), hyperx()].iter().enumerate() {
        for rule in RULES {
            for vcs in [1, 2, 3, 5, 8] {
                let Some(relation) = phased(fabric, rule, vcs) else { continue };
                let [by_phase, by_channel] = both(fabric, &relation);
                let same = [&by_phase, &by_channel].map(|proof| (essence(proof), proof.cycle()));
                assert_eq!(same[0], same[1], "{rule:?} on {number} with {vcs}");
                // One dead end is found once, however many channels lead there.
                assert_eq!(by_phase.flaws.first(), by_channel.flaws.first(), "{rule:?}");
                let found = AlikeVcs::new(fabric, &relation);
                let task = (&relation, relation.phases().unwrap());
                let alike = found.of_vcs(prove_by_phase(fabric, task, &found));
                assert_eq!(
                    essence(&alike),
                    essence(&by_channel),
                    "{rule:?} on {number} with {vcs}"
                );
                match by_channel.holds() {
                    true => right += 1,
                    false => wrong += 1,
                }
            }
        }
    }
    assert!(right > 30 && wrong > 10, "{right} {wrong}");
}

#[test]
fn mutants_are_judged_alike_by_phase_and_by_channel() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut kinds = std::collections::BTreeMap::new();
    for fabric in [tree(), dragonfly(), hyperx()] {
        for rule in RULES {
            let Some(relation) = phased(&fabric, rule, 4) else { continue };
            for _ in 0..12 {
                let share = *[0.5, 0.02, 0.002].get(random.random_range(0..3)).unwrap();
                let mutant = changed_phases(&fabric, &relation, &mut |state, _, hops| {
                    if random.random_bool(share) {
                        let router = relation.router(&fabric, state).unwrap();
                        mutate(&mut random, (fabric.outputs(router).len(), 4), hops);
                    }
                });
                let [by_phase, by_channel] = both(&fabric, &mutant).map(|proof| essence(&proof).3);
                // A packet that comes to a dead end may have walked in a circle before.
                assert_eq!(by_phase.is_some(), by_channel.is_some(), "{rule:?}");
                let found = AlikeVcs::new(&fabric, &mutant);
                let task = (&mutant, mutant.phases().unwrap());
                let alike = prove_by_phase(&fabric, task, &found);
                assert_eq!(alike.holds(), by_channel.is_none(), "{rule:?}");
                *kinds.entry(by_channel).or_insert(0) += 1;
            }
        }
    }
    assert!(kinds.len() >= 4 && kinds.values().all(|&count| count > 2), "{kinds:?}");
}
