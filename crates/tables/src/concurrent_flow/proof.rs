//! Whether lengths prove a bound. This shares nothing with the search: shortest ways are found by
//! relaxing hop after hop until nothing gets shorter (Bellman and Ford), or by following each way of
//! a relation.

use std::collections::HashMap;

use super::{Carried, Problem, Ways};
use flitlab_fabric::{Fabric, NONE};
use flitlab_routing::phased::Course;
use flitlab_routing::relation::{Phase, Relation};

impl Carried {
    /// Whether the lengths prove the bound: whether no split can carry more.
    pub fn is_proved(&self, problem: &Problem<'_>) -> bool {
        let &Problem { fabric, demands, capacities, ways, .. } = problem;
        if self.bound.is_infinite() {
            return true;
        }
        let carry: f64 =
            self.lengths.iter().zip(capacities).map(|(&length, rate)| length as f64 * rate).sum();
        let mut value = 0.0;
        for (destination, sources) in &demands.towards {
            let distances = match ways {
                Ways::Any => distances(fabric, &self.lengths, *destination),
                Ways::Of(..) => Vec::new(),
            };
            let mut known = HashMap::new();
            for &(source, amount) in sources {
                let Ways::Of(relation, rule) = ways else {
                    value += amount * distances[source as usize];
                    continue;
                };
                let mut paths = Paths {
                    fabric,
                    relation,
                    lengths: &self.lengths,
                    destination: *destination,
                    known: &mut known,
                };
                let (Some(rule), Some(phases)) = (rule, relation.phases()) else {
                    let start = relation.injected(source);
                    value += amount * paths.shortest((start, source), *destination);
                    continue;
                };
                let target = phases.target(source, *destination);
                rule.for_each_course((source, *destination), &mut |course, share| {
                    let Course { phase, via } = course;
                    let place = (relation.in_phase(source, phase), source);
                    let target = if via == NONE { target } else { via };
                    value += amount * share * paths.shortest(place, target);
                });
            }
        }
        // Sums of rounded numbers, in another order.
        value > 0.0 && value * self.bound >= carry * (1.0 - 1e-12)
    }
}

/// By router: the length of the shortest way to a destination.
fn distances(fabric: &Fabric, lengths: &[u64], destination: u32) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; fabric.routers() as usize];
    distances[destination as usize] = 0.0;
    let mut is_changed = true;
    while std::mem::take(&mut is_changed) {
        for router in 0..fabric.routers() {
            for channel in fabric.outputs(router) {
                let Some(next) = fabric.target(channel) else { continue };
                let by = distances[next as usize] + lengths[channel as usize] as f64;
                if by < distances[router as usize] {
                    distances[router as usize] = by;
                    is_changed = true;
                }
            }
        }
    }
    distances
}

/// The ways of a relation to a destination.
struct Paths<'a> {
    fabric: &'a Fabric,
    relation: &'a Relation,
    lengths: &'a [u64],
    destination: u32,
    /// By state and target.
    known: &'a mut HashMap<(u32, u32), f64>,
}

impl Paths<'_> {
    fn shortest(&mut self, (state, router): (u32, u32), target: u32) -> f64 {
        if router == self.destination {
            return 0.0;
        }
        if let Some(&known) = self.known.get(&(state, target)) {
            return known;
        }
        let (mut least, relation) = (f64::INFINITY, self.relation);
        for hop in relation.hops(state, target).iter().filter(|hop| !hop.is_fallback()) {
            let channel = self.fabric.outputs(router).start + u32::from(hop.port);
            let next = self.fabric.target(channel).expect("hops lead somewhere");
            let (mut phase, mut onward) = (hop.phase, target);
            let state = match relation.phases() {
                None => relation.arrived(channel, hop.vc),
                Some(phases) => {
                    if let Phase::Via { then } = phases.phases[usize::from(phase)]
                        && phases.is_reached(target, next)
                    {
                        (phase, onward) = (then, self.destination);
                    }
                    relation.in_phase(next, phase)
                }
            };
            let behind = self.shortest((state, next), onward);
            least = least.min(self.lengths[channel as usize] as f64 + behind);
        }
        self.known.insert((state, target), least);
        least
    }
}
