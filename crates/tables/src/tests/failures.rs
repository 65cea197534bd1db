//! Rules on fabrics with failures: as long as the fabric is connected they have a relation that is
//! proved, with virtual channels enough.

use std::any::Any;
use std::sync::Arc;

use super::*;
use flitlab_fabric::{Channel, NONE};
use flitlab_routing::phased;
use rand::{RngExt, SeedableRng, seq::IndexedRandom};
use rand_chacha::ChaCha8Rng;

/// The rules that lead round what has failed, with the keys that matter there.
const LEADS_ROUND: [(&str, &str); 24] = [
    ("minimal-by-hop", ""),
    ("dragonfly-minimal", ""),
    ("valiant", ""),
    ("valiant", "via = \"router\""),
    ("valiant", "via = \"router-elsewhere\""),
    ("valiant", "via = \"router-or-end\""),
    ("ugal", ""),
    ("ugal", "minimal_channels = \"apart\""),
    ("ugal", "via = \"router\""),
    ("ugal", "via = \"router\"\nminimal_channels = \"apart\""),
    ("ugal", "via = \"router-elsewhere\""),
    ("ugal", "via = \"router-or-end\""),
    ("ugal", "via = \"router-or-end\"\nminimal_channels = \"apart\""),
    ("par", ""),
    ("par", "via = \"router\""),
    ("par", "via = \"router-elsewhere\""),
    ("par", "via = \"router-or-end\""),
    ("omniwar", ""),
    ("omniwar", "weights = \"product\""),
    ("dimwar", ""),
    ("dimwar", "channels = \"by-hop\""),
    ("dal", ""),
    ("dal", "weights = \"product\""),
    ("polarized", ""),
];

/// A fabric with failures that leave it connected.
fn failed_fabric(seed: u64) -> Option<Fabric> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut any = |from: u32, to: u32| random.random_range(from..=to);
    let orders = [GlobalOrder::Relative, GlobalOrder::PalmTree, GlobalOrder::Absolute];
    let between = Some(any(0, 3)).filter(|&cables| cables > 0);
    let cables = GlobalCables { order: orders[any(0, 2) as usize], between };
    let terminals = any(1, 2);
    let cabling = match seed % 6 {
        0 | 1 => {
            let (groups, routers, global) = (any(2, 7), any(1, 4), any(1, 3));
            Dragonfly { routers, terminals, global, groups, cables }.cabling()
        }
        2 => {
            let (groups, leaves, spines, global) = (any(2, 4), any(1, 3), any(1, 3), any(1, 3));
            DragonflyPlus { groups, leaves, spines, global, terminals, cables }.cabling()
        }
        3 | 4 => {
            let sizes =
                [vec![4], vec![3, 3], vec![4, 2], vec![2, 2, 2], vec![3, 2, 2], vec![2, 2, 2, 2]];
            let redundancy = any(1, 2);
            HyperX { sizes: sizes.choose(random)?.clone(), redundancy, terminals }.cabling()
        }
        _ => RandomRegular { routers: 8, degree: 3, terminals, seed }.cabling(),
    };
    let fabric = cabling.ok()?.fabric().ok()?;
    let cables = Amount::Count(random.random_range(1..=6));
    let routers = Amount::Count(random.random_range(0..=2));
    let failures = RandomFailures { cables, routers, seed: random.random() };
    Failures { random: Some(failures), ..Failures::default() }.apply(&fabric).ok()
}

fn apply(fabric: &Fabric, cables: &[(u32, u32)], routers: &[u32]) -> Fabric {
    let channel = |&(from, to): &(u32, u32)| {
        let mut outputs = fabric.outputs(from);
        outputs.find(|&channel| fabric.target(channel) == Some(to)).expect("a cable")
    };
    let cables = cables.iter().map(channel).collect();
    Failures { cables, routers: routers.to_vec(), random: None }.apply(fabric).unwrap()
}

/// What a rule needs there: from the least number of virtual channels on that it accepts.
fn accepted(
    spec: &PhasedSpec,
    fabric: &Fabric,
) -> Result<(u8, Arc<dyn PhasedRule>, Relation), NoRelation> {
    let mut refused = None;
    for vcs in 1..=16 {
        match spec.relation(fabric, &parameters(vcs, false)) {
            Ok((rule, relation)) => return Ok((vcs, rule, relation)),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("it was tried"))
}

/// Walks along each way that packets may draw: every course leads on to its via, and from there to
/// the destination.
fn check_courses(fabric: &Fabric, rule: &dyn PhasedRule, relation: &Relation, what: &str) {
    let rule: &dyn Any = rule;
    let detours = rule.downcast_ref::<Ugal>().map(|ugal| &ugal.valiant);
    let Some(detours) = detours.or(rule.downcast_ref()) else { return };
    let phases = relation.phases().expect("its rule has phases");
    let ends = fabric.ends();
    let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let mut all = 0.0;
        detours.for_each_course((from, to), &mut |Course { phase, via }, share| {
            all += share;
            let mut places = vec![(from, phase, if via == NONE { to } else { via })];
            let mut seen = std::collections::HashSet::new();
            while let Some((at, phase, target)) = places.pop() {
                if at == to || !seen.insert((at, phase, target)) {
                    continue;
                }
                let (phase, target) = match phases.phases[usize::from(phase)] {
                    Phase::Via { then } if phases.is_reached(target, at) => (then, to),
                    _ => (phase, target),
                };
                if matches!(phases.phases[usize::from(phase)], Phase::Decides { .. }) {
                    continue;
                }
                let hops = relation.hops(relation.in_phase(at, phase), target);
                assert!(
                    !hops.is_empty(),
                    "{what}: from {from} by {via} to {to} at {at} in {phase}"
                );
                for hop in hops {
                    let next = fabric.target(fabric.outputs(at).start + u32::from(hop.port));
                    places.push((next.expect("it is live"), hop.phase, target));
                }
            }
        });
        assert!((all - 1.0).abs() < 1e-9, "{what}: the shares are {all}");
    }
}

fn lead_round(seeds: std::ops::Range<u64>) {
    let (mut tried, mut further) = (0, 0);
    for seed in seeds {
        let Some(fabric) = failed_fabric(seed) else { continue };
        for (name, keys) in LEADS_ROUND {
            let spec = PhasedSpec::new(name, keys);
            let what = format!("seed {seed}, {spec:?}");
            match accepted(&spec, &fabric) {
                Ok((vcs, rule, relation)) => {
                    tried += 1;
                    let proof = prove_relation(&fabric, &relation);
                    let flaw = proof.flaws.first().map(|flaw| flaw.describe(&fabric));
                    assert_eq!(flaw, None, "{what} with {vcs} virtual channels");
                    let ends = fabric.ends().len() as u64;
                    assert_eq!(proof.pairs, ends * (ends - 1), "{what}");
                    check_courses(&fabric, &*rule, &relation, &what);
                }
                Err(NoRelation::NoGroups | NoRelation::NoRows) => {
                    let is_of_shape = match name {
                        "omniwar" | "dimwar" | "dal" => !fabric.joined_dimensions().is_empty(),
                        _ => !fabric.groups().is_empty(),
                    };
                    assert!(!is_of_shape, "{what}");
                }
                Err(NoRelation::LongWays { needed, .. }) => {
                    assert!(needed > 16, "{what}: {needed}");
                    further += 1;
                }
                Err(error) => panic!("{what}: {error}"),
            }
        }
    }
    assert!(tried > 100 && further * 5 < tried, "{tried} {further}");
}

#[test]
fn rules_lead_round_whatever_has_failed() {
    lead_round(0..60);
}

#[test]
#[ignore = "long: 3,000 fabrics with failures (FLITLAB_SCENARIOS)"]
fn rules_lead_round_in_many() {
    let number = |name: &str, usual| std::env::var(name).map_or(usual, |it| it.parse().unwrap());
    let first = number("FLITLAB_FIRST", 0);
    lead_round(first..first + number("FLITLAB_SCENARIOS", 3_000));
}

/// With the one cable between two groups out of service, packets between these go by a third group,
/// as detours do: no rule with detours needs a virtual channel more.
#[test]
fn one_failed_cable_between_groups_costs_detours_no_virtual_channel() {
    let whole = dragonfly(9, GlobalOrder::Relative, None);
    let joins =
        |from: u32, to: u32| whole.groups()[from as usize] == 0 && whole.groups()[to as usize] == 1;
    let ends = (0..whole.routers())
        .find_map(|from| whole.neighbors(from).find(|&to| joins(from, to)).map(|to| (from, to)));
    let fabric = apply(&whole, &[ends.unwrap()], &[]);
    for (name, keys, on_whole, _) in NEEDS {
        let Some(on_whole) = on_whole else { continue };
        let (vcs, _, relation) = accepted(&PhasedSpec::new(name, keys), &fabric).unwrap();
        assert!(prove_relation(&fabric, &relation).holds(), "{name} {keys}");
        let more = match name {
            "dragonfly-minimal" => 1,
            "minimal-by-hop" => vcs - on_whole,
            _ => 0,
        };
        assert_eq!(vcs, on_whole + more, "{name} {keys}");
    }
}

/// A packet goes along the row by another switch, and a row of two has none.
#[test]
fn rules_of_a_hyperx_lead_round_a_failed_cable() {
    let needs = |fabric: &Fabric, name: &str, keys: &str| {
        let (vcs, _, relation) = accepted(&PhasedSpec::new(name, keys), fabric).unwrap();
        assert!(prove_relation(fabric, &relation).holds(), "{name}");
        vcs
    };
    let rows = apply(&hyperx(), &[(0, 1)], &[]);
    assert_eq!(needs(&rows, "omniwar", ""), 3);
    assert_eq!(needs(&rows, "dimwar", ""), 2);
    assert_eq!(needs(&rows, "dimwar", "channels = \"by-hop\""), 4);
    assert_eq!(needs(&rows, "dal", ""), 2);
    let cube = HyperX { sizes: vec![2, 2, 2], redundancy: 1, terminals: 1 };
    let cube = apply(&cube.cabling().unwrap().fabric().unwrap(), &[(0, 1)], &[]);
    assert_eq!(needs(&cube, "omniwar", ""), 5);
    assert_eq!(needs(&cube, "dimwar", ""), 3);
    assert_eq!(needs(&cube, "dimwar", "channels = \"by-hop\""), 6);
    assert_eq!(needs(&cube, "dal", ""), 2);
}

/// What a rule can't carry it says by pair, with the cable.
#[test]
fn a_refusal_names_a_pair_and_the_failed_cable() {
    let refused = |fabric: &Fabric, name: &str, keys: &str, vcs| {
        let spec = PhasedSpec::new(name, keys);
        spec.relation(fabric, &parameters(vcs, false)).unwrap_err().to_string()
    };
    let rows = apply(&hyperx(), &[(0, 1)], &[]);
    let cable = rows.failed_cable_name(&rows.failed_cables()[0]);
    let order = refused(&rows, "hyperx-order", "", 2);
    assert_eq!(
        order,
        format!("from S0 to S1: {cable} is out of service, and the rule has no way round")
    );
    let deroutes = refused(&rows, "omniwar", "deroutes = 0", 8);
    assert_eq!(
        deroutes,
        format!(
            "from S0 to S1: with {cable} out of service `deroutes` has to be 1 at least, and is 0"
        )
    );
    let few = refused(&rows, "omniwar", "", 2);
    assert_eq!(
        few,
        format!(
            "from S0 to S1: with {cable} out of service packets take 2 hops, and for such ways the rule needs 3 virtual \
             channels; there are 2"
        )
    );
}

/// Hops of a rule of which those in the upper virtual channels lead into one lower.
#[derive(Debug)]
struct Lowered {
    rule: Arc<dyn PhasedRule>,
    from: u8,
}

impl PhasedRule for Lowered {
    fn phases(&self) -> Phases {
        self.rule.phases()
    }

    fn hops(&self, fabric: &Fabric, at: At, hops: &mut Vec<Hop>) {
        self.rule.hops(fabric, at, hops);
        hops.iter_mut().filter(|hop| hop.vc >= self.from && hop.vc > 0).for_each(|hop| hop.vc -= 1);
    }

    fn longest(&self) -> u32 {
        self.rule.longest()
    }

    fn start(&self, ends: (u32, u32), drawn: Drawn) -> Course {
        self.rule.start(ends, drawn)
    }

    fn for_each_course(&self, ends: (u32, u32), each: &mut dyn FnMut(Course, f64)) {
        self.rule.for_each_course(ends, each);
    }

    fn decide(&self, packet: &Deciding<'_>, queues: &mut dyn Queues) -> Course {
        self.rule.decide(packet, queues)
    }

    fn steps(&self) -> String {
        self.rule.steps()
    }

    fn onward(&self, fabric: &Fabric, router: u32, destination: u32) -> Channel {
        self.rule.onward(fabric, router, destination)
    }
}

/// A hop of a way round onto a lower virtual channel closes a cycle, which the proof finds.
#[test]
fn hops_round_in_a_lower_virtual_channel_are_refused_by_the_proof() {
    let whole = dragonfly(5, GlobalOrder::Relative, None);
    let group = |router: u32| whole.groups()[router as usize];
    // No cable is left from group 0 to 1, from 1 to 2, and so on round.
    let channels = (0..whole.channel_slots()).filter(|&channel| {
        whole.target(channel).is_some_and(|to| (group(whole.source(channel)) + 1) % 5 == group(to))
    });
    let failures = Failures { cables: channels.collect(), ..Failures::default() };
    let grouped = failures.apply(&whole).unwrap();
    let cube = HyperX { sizes: vec![2, 2, 2], redundancy: 1, terminals: 1 };
    let cube = cube.cabling().unwrap().fabric().unwrap();
    let cube = apply(&cube, &[(0, 1), (2, 6), (4, 5)], &[]);
    // The first switch has no cable left along its row.
    let alone = apply(&hyperx(), &[(0, 1), (0, 2), (0, 3)], &[]);
    // With the virtual channels from which on all hops are in one lower.
    let rules: [(&Fabric, &str, &str, &[u8]); 9] = [
        (&grouped, "dragonfly-minimal", "", &[1, 2]),
        (&grouped, "ugal", "", &[1, 2]),
        (&grouped, "ugal", "minimal_channels = \"apart\"", &[1, 2]),
        (&grouped, "valiant", "", &[1, 2]),
        (&grouped, "par", "", &[1, 2, 3]),
        (&cube, "omniwar", "", &[1, 2, 3]),
        (&alone, "dimwar", "", &[1, 2]),
        (&cube, "dimwar", "channels = \"by-hop\"", &[1, 2]),
        (&cube, "polarized", "", &[1, 2, 3, 4]),
    ];
    for (fabric, name, keys, refused) in rules {
        let (vcs, rule, relation) = accepted(&PhasedSpec::new(name, keys), fabric).unwrap();
        assert!(prove_relation(fabric, &relation).holds(), "{name} {keys}");
        let closes_a_cycle = |&from: &u8| {
            let lowered = Lowered { rule: rule.clone(), from };
            let relation = phased::relation(fabric, ("lowered", &lowered), vcs).unwrap();
            prove_relation(fabric, &relation).cycle().is_some()
        };
        let found: Vec<u8> = (1..vcs).filter(closes_a_cycle).collect();
        assert_eq!(found, refused, "{name} {keys}");
    }
}

/// On trees and on a Dragonfly+ some hops of the rule lead to switches without any that leads on.
#[test]
fn polarized_takes_no_hop_into_a_dead_end() {
    let tree = Tree { arity: 4, levels: 3, terminals: 4 }.cabling().unwrap().fabric().unwrap();
    let cables = GlobalCables::default();
    let plus = DragonflyPlus { groups: 5, leaves: 4, spines: 4, global: 4, terminals: 1, cables };
    let plus = plus.cabling().unwrap().fabric().unwrap();
    for fabric in [tree, plus] {
        let (_, _, relation) = accepted(&PhasedSpec::new("polarized", ""), &fabric).unwrap();
        let proof = prove_relation(&fabric, &relation);
        let flaw = proof.flaws.first().map(|flaw| flaw.describe(&fabric));
        assert_eq!(flaw, None);
    }
}
