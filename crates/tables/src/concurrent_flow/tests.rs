use std::sync::Arc;

use microlp::{ComparisonOp, OptimizationDirection, Problem as Program};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::relation_rules::{RelationParameters, RelationRule};
use flitlab_fabric::builders::{Dragonfly, GlobalCables, HyperX, RandomRegular, SlimFly, Tree};
use flitlab_routing::phased::{PhasedParameters, PhasedSpec};

type Rule = (Arc<dyn PhasedRule>, Relation);

const WORK: u64 = 20_000_000;

fn rule(fabric: &Fabric, name: &str, keys: &str) -> Rule {
    let parameters = PhasedParameters { vcs: 1, largest_packet: 1, clamps: true };
    PhasedSpec::new(name, keys).relation(fabric, &parameters).unwrap()
}

/// Each terminal sends a flit a flit time to one of another router.
fn to_routers(fabric: &Fabric, next: impl Fn(u32) -> u32) -> Demands {
    let terminals = fabric.terminals_by_router();
    let pair = |router: u32| (router, next(router), terminals[router as usize].len() as f64);
    Demands::new((0..fabric.routers()).map(pair))
}

fn uniform(fabric: &Fabric) -> Demands {
    let live: Vec<u32> = fabric.live_terminals().collect();
    let router = |terminal: u32| fabric.terminal_router(terminal).unwrap();
    let share = 1.0 / (live.len() - 1) as f64;
    let pairs = live.iter().flat_map(|&from| live.iter().map(move |&to| (from, to)));
    Demands::new(pairs.filter(|(a, b)| a != b).map(|(a, b)| (router(a), router(b), share)))
}

fn capacities(fabric: &Fabric) -> Vec<f64> {
    let exists = |channel| f64::from(u8::from(fabric.target(channel).is_some()));
    (0..fabric.channel_slots()).map(exists).collect()
}

/// The load if ways are shared alike, and the best one.
fn carried(fabric: &Fabric, demands: &Demands, ways: Ways<'_>) -> (f64, Carried) {
    let capacities = capacities(fabric);
    let problem = Problem { fabric, demands, capacities: &capacities, ways, enough: f64::INFINITY };
    let evenly = if let Ways::Of(..) = ways { problem.evenly() } else { 0.0 };
    let best = problem.best(WORK);
    assert!(best.is_proved(&problem));
    assert!(evenly <= best.reached * (1.0 + 1e-9) && best.reached <= best.bound, "{best:?}");
    (evenly, best)
}

/// Whether the load that is reached is the highest, up to a relative difference of a millionth.
fn is_exact(carried: &Carried) -> bool {
    carried.reached == carried.bound || carried.bound <= carried.reached * (1.0 + 1e-6)
}

/// What a rule carries, where all is known.
fn by_rule(fabric: &Fabric, demands: &Demands, name: &str, keys: &str) -> (f64, f64) {
    let (rule, relation) = rule(fabric, name, keys);
    let (evenly, best) = carried(fabric, demands, Ways::Of(&relation, Some(&*rule)));
    assert!(is_exact(&best), "{name}: {best:?}");
    (evenly, best.bound)
}

fn dragonfly(routers: u32, global: u32, groups: u32) -> Fabric {
    let cables = GlobalCables::default();
    let dragonfly = Dragonfly { routers, terminals: global, global, groups, cables };
    dragonfly.cabling().unwrap().fabric().unwrap()
}

fn hyperx() -> Fabric {
    let hyperx = HyperX { sizes: vec![4, 4], redundancy: 1, terminals: 4 };
    hyperx.cabling().unwrap().fabric().unwrap()
}

fn random_graph(routers: u32, degree: u32, seed: u64) -> Fabric {
    let graph = |seed| RandomRegular { routers, degree, terminals: 1, seed };
    let connected = |seed| graph(seed).cabling().ok()?.fabric().ok();
    (1000 * seed..).find_map(connected).unwrap()
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-6 * expected, "{what}: {found} {expected}");
}

/// On balanced Dragonflies (p = h, g = a h + 1), to the next group:
///
/// - minimal ways have one cable for a p terminals;
/// - by way of a group that is neither end's, two cables between groups for each packet: each group
///   gets 2 a p x over g - 1 cables, of which those by g - 2 others are as full;
/// - of any ways, those to the next group by the one cable, all others by two. Of g - 1 cables a
///   group, a p x - 1 packets take two: 2 a p x - 1 = a h.
#[test]
fn a_dragonfly_carries_what_cables_between_groups_do() {
    for (a, h) in [(4, 2), (8, 4)] {
        let groups = a * h + 1;
        let fabric = dragonfly(a, h, groups);
        let next_group = to_routers(&fabric, |router| (router + a) % (a * groups));
        let (terminals, groups) = (f64::from(a * h), f64::from(groups));
        let minimal = by_rule(&fabric, &next_group, "dragonfly-minimal", "");
        assert_eq!(minimal.0, 1.0 / terminals);
        assert_near(minimal.1, minimal.0, "minimal");
        let valiant = by_rule(&fabric, &next_group, "valiant", "via = \"group\"");
        assert_near(valiant.0, (groups - 2.0) / (2.0 * terminals), "by way of a group");
        assert_near(valiant.1, valiant.0, "by way of a group");
        let (_, any) = carried(&fabric, &next_group, Ways::Any);
        assert!(is_exact(&any), "{any:?}");
        assert_near(any.bound, (terminals + 1.0) / (2.0 * terminals), "any");
    }
}

/// Uniform traffic loads cables between groups with a p a p / (n - 1) of each pair of groups.
#[test]
fn a_dragonfly_carries_uniform_traffic_by_minimal_ways() {
    let fabric = dragonfly(4, 2, 9);
    let (evenly, best) = by_rule(&fabric, &uniform(&fabric), "dragonfly-minimal", "");
    // Local: own router to another 2 x 2, and from and to each 2 x 8 for its two cables.
    let local = (2.0 * 2.0 + 2.0 * 2.0 * 16.0) / 71.0;
    let global = 8.0 * 8.0 / 71.0;
    assert_near(evenly, 1.0 / f64::max(local, global), "shared alike");
    assert_near(best, evenly, "best");
}

/// A switch's four terminals send along one cable of a row and one of a column, each order half: two
/// orders meet there. Two hops in place of two with one detour each need four, on six channels.
#[test]
fn a_hyperx_carries_its_complement() {
    let fabric = hyperx();
    let complement = to_routers(&fabric, |router| 15 - router);
    for name in ["minimal-by-hop", "hyperx-order"] {
        let minimal = by_rule(&fabric, &complement, name, "");
        assert_near(minimal.0, 0.25, name);
        assert_near(minimal.1, 0.25, name);
    }
    let valiant = by_rule(&fabric, &complement, "valiant", "");
    assert!((0.43..0.5).contains(&valiant.0), "{valiant:?}");
    let (_, dimwar) = by_rule(&fabric, &complement, "dimwar", "");
    let (_, polarized) = by_rule(&fabric, &complement, "polarized", "");
    let (_, any) = carried(&fabric, &complement, Ways::Any);
    assert!(is_exact(&any));
    assert_near(any.bound, 0.5, "any");
    assert_near(dimwar, 0.5, "dimwar");
    assert_near(polarized, 0.5, "polarized");
    // 12 of 63 others are a hop away along each dimension, and 36 both: on 3 channels each.
    let channel = 4.0 * (12.0 + 36.0) / 63.0 / 3.0;
    let all = by_rule(&fabric, &uniform(&fabric), "minimal-by-hop", "");
    assert_near(all.0, 1.0 / channel, "uniform");
}

#[test]
fn a_tree_carries_all_and_a_slim_fly_an_eighth_of_its_worst() {
    let tree = Tree { arity: 4, levels: 3, terminals: 4 }.cabling().unwrap().fabric().unwrap();
    let across = Demands::new((0..16).map(|router| (router, (router + 8) % 16, 4.0)));
    assert_near(by_rule(&tree, &across, "nearest-ancestor", "").0, 1.0, "tree");
    let (_, any) = carried(&tree, &across, Ways::Any);
    assert_near(any.bound, 1.0, "tree");
    let slim = SlimFly { prime: 5, terminals: 4 }.cabling().unwrap().fabric().unwrap();
    let worst = to_routers(&slim, |router| (router + 7) % 50);
    assert_near(by_rule(&slim, &worst, "minimal-by-hop", "").0, 0.125, "slim fly");
    let all = by_rule(&slim, &uniform(&slim), "minimal-by-hop", "");
    assert_near(all.0, 0.956_730_769, "slim fly, uniform");
}

/// Relations without phases: Up*/Down* leads all that passes the root over its channels.
#[test]
fn relations_without_phases_carry_less_than_any_ways() {
    let fabric = random_graph(10, 3, 1);
    let demands = uniform(&fabric);
    let relation = RelationRule::UP_DOWN.relation(&fabric, &RelationParameters::default());
    let relation = relation.unwrap();
    let (evenly, up_down) = carried(&fabric, &demands, Ways::Of(&relation, None));
    let (_, any) = carried(&fabric, &demands, Ways::Any);
    assert!(evenly > 0.0 && up_down.bound < any.reached, "{up_down:?} {any:?}");
}

/// The flow of each destination by channel as variables, which shares nothing with the search.
fn by_channel(fabric: &Fabric, demands: &Demands) -> f64 {
    let mut program = Program::new(OptimizationDirection::Maximize);
    let load = program.add_var(1.0, (0.0, f64::INFINITY));
    let channels: Vec<u32> =
        (0..fabric.channel_slots()).filter(|&it| fabric.target(it).is_some()).collect();
    let mut used: Vec<Vec<_>> = channels.iter().map(|_| Vec::new()).collect();
    for (destination, sources) in &demands.towards {
        let flows: Vec<_> =
            channels.iter().map(|_| program.add_var(0.0, (0.0, f64::INFINITY))).collect();
        for router in (0..fabric.routers()).filter(|router| router != destination) {
            let own = sources.iter().find(|source| source.0 == router).map_or(0.0, |it| it.1);
            let mut row = vec![(load, own)];
            for (&channel, &flow) in channels.iter().zip(&flows) {
                let leaves = f64::from(u8::from(fabric.source(channel) == router));
                let enters = f64::from(u8::from(fabric.target(channel) == Some(router)));
                row.push((flow, enters - leaves));
            }
            program.add_constraint(row, ComparisonOp::Eq, 0.0);
        }
        used.iter_mut().zip(&flows).for_each(|(used, &flow)| used.push((flow, 1.0)));
    }
    for row in used {
        program.add_constraint(row, ComparisonOp::Le, 1.0);
    }
    program.solve().unwrap().into_solution().unwrap().objective()
}

#[test]
fn random_graphs_carry_what_the_program_by_channel_says() {
    for seed in 0..8 {
        let fabric = random_graph(8, 3, seed);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut pair = || {
            let (from, to) = (random.random_range(0..8), random.random_range(0..8));
            (from, to, f64::from(random.random_range(1..4)))
        };
        let demands = Demands::new((0..12).map(|_| pair()).collect::<Vec<_>>());
        let (_, best) = carried(&fabric, &demands, Ways::Any);
        assert!(is_exact(&best), "{seed}: {best:?}");
        assert_near(best.bound, by_channel(&fabric, &demands), "any ways");
    }
}

#[test]
fn slow_channels_carry_less() {
    let fabric = hyperx();
    let complement = to_routers(&fabric, |router| 15 - router);
    let mut capacities = capacities(&fabric);
    let mut best = |capacity: f64| {
        capacities.iter_mut().filter(|it| **it > 0.0).for_each(|it| *it = capacity);
        let enough = f64::INFINITY;
        let ways = Ways::Any;
        let demands = &complement;
        let problem = Problem { fabric: &fabric, demands, capacities: &capacities, ways, enough };
        problem.best(WORK).bound
    };
    assert_near(best(0.25), 0.125, "a quarter");
    assert_near(best(1.0), 0.5, "all");
}

/// A proof that was tampered with is refused.
#[test]
fn wrong_lengths_and_wrong_bounds_are_refused() {
    let fabric = dragonfly(4, 2, 9);
    let demands = to_routers(&fabric, |router| (router + 4) % 36);
    let capacities = capacities(&fabric);
    let (valiant, relation) = rule(&fabric, "valiant", "");
    for ways in [Ways::Any, Ways::Of(&relation, Some(&*valiant))] {
        let enough = f64::INFINITY;
        let problem =
            Problem { fabric: &fabric, demands: &demands, capacities: &capacities, ways, enough };
        let best = problem.best(WORK);
        assert!(best.is_proved(&problem));
        let lower = Carried { bound: best.bound * 0.999, ..best.clone() };
        assert!(!lower.is_proved(&problem));
        let channels = 0..best.lengths.len() as u64;
        for lengths in
            [vec![0; best.lengths.len()], vec![1; best.lengths.len()], channels.collect()]
        {
            let other = Carried { lengths, ..best.clone() };
            assert!(!other.is_proved(&problem), "{other:?}");
        }
    }
}

/// Less work gives a wider interval around the same load, never a wrong one.
#[test]
fn less_work_gives_a_wider_interval() {
    let slim = SlimFly { prime: 5, terminals: 4 }.cabling().unwrap().fabric().unwrap();
    let demands = to_routers(&slim, |router| (router + 7) % 50);
    let capacities = capacities(&slim);
    let ways = Ways::Any;
    let enough = f64::INFINITY;
    let problem =
        Problem { fabric: &slim, demands: &demands, capacities: &capacities, ways, enough };
    let [little, more] = [0, WORK].map(|work| problem.best(work));
    // As the program by destination gives it, in a minute.
    let load = 0.623_402_83;
    assert!(little.reached <= more.reached && more.bound <= little.bound);
    assert!(more.reached <= load && load <= more.bound, "{more:?}");
    assert!(more.bound < 1.1 * more.reached, "{} {}", more.reached, more.bound);
}
