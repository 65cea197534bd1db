//! How evenly a relation uses the channels, without simulating it.

use flitlab_fabric::{Fabric, NONE};
use flitlab_routing::relation::Relation;

/// Loads of channels if every terminal sends to every other one. The load of a state is divided
/// evenly among all hops that it has and that are no fallbacks.
pub(super) struct Evenness<'a> {
    fabric: &'a Fabric,
    relation: &'a Relation,
    /// By channel: pairs of terminals, of which parts count.
    loads: Vec<f64>,
    /// The states to which packets for a destination come, each behind those to which it leads,
    /// with their routers.
    order: Vec<(u32, u32)>,
    /// By state: the latest destination for which a packet has come to it.
    seen: Vec<u32>,
}

impl<'a> Evenness<'a> {
    /// The relation must have no circles but by its fallbacks.
    pub(super) fn new(fabric: &'a Fabric, relation: &'a Relation) -> Self {
        let mut even = Self {
            fabric,
            relation,
            loads: vec![0.0; fabric.channel_slots() as usize],
            order: Vec::new(),
            seen: vec![NONE; relation.states() as usize],
        };
        let terminals = fabric.terminals_by_router();
        let ends = fabric.ends();
        let mut flow = vec![0.0; relation.states() as usize];
        for &destination in &ends {
            for &source in ends.iter().filter(|&&source| source != destination) {
                let pairs =
                    terminals[source as usize].len() * terminals[destination as usize].len();
                flow[relation.injected(source) as usize] = pairs as f64;
            }
            even.come_to(&ends, destination);
            for at in (0..even.order.len()).rev() {
                let (state, router) = even.order[at];
                let hops = even.hops(state, router, destination);
                let share = std::mem::take(&mut flow[state as usize]) / hops.len() as f64;
                for (channel, after) in hops {
                    even.loads[channel as usize] += share;
                    if let Some(after) = after {
                        flow[after as usize] += share;
                    }
                }
            }
        }
        even
    }

    /// Pairs whose messages cross the fullest channel.
    pub(super) fn fullest(&self) -> f64 {
        self.loads.iter().copied().fold(0.0, f64::max)
    }

    /// By destination's place among the ends times routers plus source: the squares of the loads of
    /// the channels that the pair's packets cross, added up; on average, where they have a choice.
    pub(super) fn burdens(&mut self) -> Vec<f64> {
        let (fabric, ends) = (self.fabric, self.fabric.ends());
        let routers = fabric.routers() as usize;
        let mut burdens = vec![0.0; ends.len() * routers];
        let mut ahead = vec![0.0; self.relation.states() as usize];
        self.seen.fill(NONE);
        for (own, &destination) in burdens.chunks_mut(routers).zip(&ends) {
            self.come_to(&ends, destination);
            for &(state, router) in &self.order {
                let hops = self.hops(state, router, destination);
                let count = hops.len() as f64;
                let through = |(channel, after): (u32, Option<u32>)| {
                    let load = self.loads[channel as usize];
                    load * load + after.map_or(0.0, |after| ahead[after as usize])
                };
                ahead[state as usize] = hops.into_iter().map(through).sum::<f64>() / count;
            }
            for &source in ends.iter().filter(|&&source| source != destination) {
                own[source as usize] = ahead[self.relation.injected(source) as usize];
            }
        }
        burdens
    }

    /// The channels of the hops of a state, and the states to which they lead unless it is the
    /// destination.
    fn hops(&self, state: u32, router: u32, destination: u32) -> Vec<(u32, Option<u32>)> {
        let hops = self.relation.hops(state, destination).iter().filter(|hop| !hop.is_fallback());
        let lead = |hop: &flitlab_routing::relation::Hop| {
            let channel = self.fabric.outputs(router).start + u32::from(hop.port);
            let ends = self.fabric.target(channel) == Some(destination);
            (channel, (!ends).then(|| self.relation.arrived(channel, hop.vc)))
        };
        hops.map(lead).collect()
    }

    /// Finds the states to which packets for a destination come from anywhere, in their order.
    fn come_to(&mut self, sources: &[u32], destination: u32) {
        self.order.clear();
        let mut way = Vec::new();
        for &source in sources.iter().filter(|&&source| source != destination) {
            let start = self.relation.injected(source);
            way.push((start, source, 0));
            while let Some((state, router, next)) = way.last_mut() {
                let Some(hop) = self.relation.hops(*state, destination).get(*next) else {
                    self.order.push((*state, *router));
                    way.pop();
                    continue;
                };
                *next += 1;
                let channel = self.fabric.outputs(*router).start + u32::from(hop.port);
                let after = self.relation.arrived(channel, hop.vc);
                let target = self.fabric.target(channel).expect("hops lead somewhere");
                if !hop.is_fallback()
                    && target != destination
                    && self.seen[after as usize] != destination
                {
                    self.seen[after as usize] = destination;
                    way.push((after, target, 0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation_rules::{RelationParameters, RelationRule};
    use crate::test_fabric;

    /// In a ring of four two of six pairs of neighbours a way are on each channel's shortest ways,
    /// in halves: one to the next router, and two halves to the one opposite.
    #[test]
    fn a_ring_of_four_parts_alike() {
        let fabric = test_fabric(&[4], &[]);
        let parameters = RelationParameters::default();
        let relation = RelationRule::MINIMAL.relation(&fabric, &parameters).unwrap();
        let mut evenness = Evenness::new(&fabric, &relation);
        assert_eq!(evenness.fullest(), 2.0);
        let burdens = evenness.burdens();
        // From router 1, and from router 2, to the first.
        assert_eq!(burdens[..3], [0.0, 4.0, 8.0]);
    }

    /// Under Up*/Down* all that passes the root passes its channels, so the sum of loads is that of
    /// all hops.
    #[test]
    fn loads_add_up_to_the_hops_of_all_pairs() {
        let fabric = test_fabric(&[3, 3], &[]);
        let parameters = RelationParameters::default();
        let relation = RelationRule::UP_DOWN.relation(&fabric, &parameters).unwrap();
        let evenness = Evenness::new(&fabric, &relation);
        let sum: f64 = evenness.loads.iter().sum();
        // Of a pair all ways are equally long.
        let mut hops = 0;
        for destination in 0..9 {
            for source in (0..9).filter(|&source| source != destination) {
                let (mut state, mut at) = (relation.injected(source), source);
                while at != destination {
                    let channel = fabric.outputs(at).start
                        + u32::from(relation.hops(state, destination)[0].port);
                    at = fabric.target(channel).unwrap();
                    state = relation.arrived(channel, 0);
                    hops += 1;
                }
            }
        }
        assert!((sum - f64::from(hops)).abs() < 1e-9, "{sum} {hops}");
    }
}
