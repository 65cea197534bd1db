//! Survival of random failures by the routing of a torus: with which freedoms every pair still has
//! a legal route.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{Freedoms, Region, unroutable};
use flitlab_base::narrow::narrow;
use flitlab_fabric::{Faults, Torus};

/// The parts that fail at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Cables between two nodes, in both directions.
    Cables,
    /// Nodes with all their cables.
    Nodes,
}

/// Counts, over systems with random failures, of those in which every pair of live nodes has a
/// legal route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resilience {
    /// Systems that were drawn.
    pub systems: u32,
    /// Systems whose live nodes are connected by some way. No rules can route the others.
    pub connected: u32,
    /// Systems that direction order alone routes.
    pub direction_order: u32,
    /// Systems that are routed with first and last steps that keep the order.
    pub steps: u32,
    /// Systems that are routed with steps that break the order where no deadlock can follow.
    pub relaxation: u32,
}

/// Draws `systems` systems with `failures` failures each, in addition to the `known` ones. Equal
/// seeds give equal systems.
pub fn resilience(
    torus: &Torus,
    known: &Faults,
    failure: Failure,
    failures: usize,
    systems: u32,
    seed: u64,
) -> Resilience {
    let count = |system: u32| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // A stream for each case, whatever else is drawn.
        random.set_stream(u64::from(system) << 16 | (failures as u64) << 1 | failure as u64);
        let faults = more_faults(torus, known, failure, failures, &mut random);
        survived(torus, &faults)
    };
    let sum = |one: Resilience, other: Resilience| Resilience {
        systems: one.systems + other.systems,
        connected: one.connected + other.connected,
        direction_order: one.direction_order + other.direction_order,
        steps: one.steps + other.steps,
        relaxation: one.relaxation + other.relaxation,
    };
    (0..systems).into_par_iter().map(count).reduce(Resilience::default, sum)
}

fn more_faults(
    torus: &Torus,
    known: &Faults,
    failure: Failure,
    failures: usize,
    random: &mut ChaCha8Rng,
) -> Faults {
    let mut faults = known.clone();
    let lost: Vec<u32> = known.lost_nodes().collect();
    let nodes = (0..torus.nodes()).filter(|node| !lost.contains(node));
    match failure {
        Failure::Nodes => {
            let mut nodes: Vec<u32> = nodes.collect();
            let (chosen, _) = nodes.partial_shuffle(random, failures);
            faults.nodes.extend_from_slice(chosen);
        }
        Failure::Cables => {
            let dimensions = narrow(torus.dimensions());
            let mut cables: Vec<(u32, u32)> = nodes
                .flat_map(|node| (0..dimensions).map(move |direction| (node, direction)))
                .filter(|&(node, direction)| {
                    let other = torus.neighbor(node, direction);
                    let back = other.map(|other| (other, torus.opposite(direction)));
                    other.is_some_and(|other| !lost.contains(&other))
                        && !known.cables.contains(&(node, direction))
                        && back.is_some_and(|back| !known.cables.contains(&back))
                })
                .collect();
            let (chosen, _) = cables.partial_shuffle(random, failures);
            faults.cables.extend_from_slice(chosen);
        }
    }
    faults
}

/// Every freedom keeps the routes of the ones before.
fn survived(torus: &Torus, faults: &Faults) -> Resilience {
    let mut found = Resilience { systems: 1, ..Resilience::default() };
    let Ok(fabric) = torus.fabric(faults) else { return found };
    found.connected = 1;
    let region = Region::new(&fabric);
    let routable = |first_and_last_steps, relaxation| {
        let freedoms = Freedoms { first_and_last_steps, relaxation };
        u32::from(unroutable(&region, freedoms).is_empty())
    };
    found.direction_order = routable(false, false);
    found.steps = if found.direction_order == 1 { 1 } else { routable(true, false) };
    found.relaxation = if found.steps == 1 { 1 } else { routable(true, true) };
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_failures_everything_is_routable() {
        let torus = Torus::new(&[4, 3, 2], &[]).unwrap();
        let found = resilience(&torus, &Faults::default(), Failure::Cables, 0, 3, 1);
        let all =
            Resilience { systems: 3, connected: 3, direction_order: 3, steps: 3, relaxation: 3 };
        assert_eq!(found, all);
    }

    #[test]
    fn each_freedom_helps_and_equal_seeds_give_equal_systems() {
        let torus = Torus::new(&[4, 4, 4], &[]).unwrap();
        for failure in [Failure::Cables, Failure::Nodes] {
            let study = || resilience(&torus, &Faults::default(), failure, 6, 60, 7);
            let found = study();
            assert_eq!(found, study());
            assert!(found.direction_order < found.steps, "{found:?}");
            assert!(found.steps <= found.relaxation, "{found:?}");
            assert!(found.relaxation <= found.connected, "{found:?}");
        }
    }

    #[test]
    fn known_failures_do_not_fail_again() {
        let torus = Torus::new(&[4, 2], &[]).unwrap();
        let known = Faults { cables: vec![(1, 2)], nodes: vec![6], outside: vec![] };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        // All the others, each once: 12 less the known one and three of the lost node.
        let faults = more_faults(&torus, &known, Failure::Cables, 100, &mut random);
        assert_eq!(faults.cables.len(), 1 + 12 - 1 - 3);
        let faults = more_faults(&torus, &known, Failure::Nodes, 100, &mut random);
        assert_eq!(faults.nodes.len(), 8);
    }
}
