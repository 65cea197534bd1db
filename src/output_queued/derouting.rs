//! Whether and where a new packet is derouted.

use super::{Routing, Settings};
use crate::adaptive::profit::{IdleRatio, Way, Weights, best_detour};
use crate::adaptive::{Candidate, Derouting, Leg, orthants, outflank, wraparound};
use crate::topology::Torus;

/// Detours of less than this many hops' distance are never taken.
const LEAST_DISTANCE: u32 = 2;

/// The ways open to the packets of a node's current message.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    minimal: Leg,
    candidates: Vec<Candidate>,
    minimal_way: Option<Way>,
    detours: Vec<Way>,
}

impl Ways {
    /// Finds the ways from `source` to `destination`.
    pub(super) fn find(&mut self, torus: &Torus, settings: &Settings, source: u32, destination: u32) {
        self.minimal = Leg::minimal(torus, source, destination, 0);
        self.candidates.clear();
        self.detours.clear();
        self.minimal_way = None;
        if self.minimal.distance() < LEAST_DISTANCE {
            return;
        }
        let weights: &Weights = match &settings.routing {
            Routing::AdaptiveBubble => return,
            Routing::PickOrthant(weights) => {
                orthants(torus, source, destination, &mut self.candidates);
                weights
            }
            Routing::OutFlank(rule, midpoint, weights) => {
                outflank(torus, source, destination, *rule, &mut self.candidates);
                wraparound(torus, source, destination, *midpoint, &mut self.candidates);
                weights
            }
        };
        let dimensions = torus.dimensions() as u32;
        self.minimal_way = Some(Way::minimal(&self.minimal, dimensions, weights));
        let way = |candidate| Way::detour(candidate, &self.minimal, dimensions, weights);
        self.detours.extend(self.candidates.iter().map(way));
    }

    /// The first leg of the next packet, and the kind and node of its detour, if it takes one.
    #[inline]
    pub(super) fn choose(
        &self,
        used: &[u8],
        capacity: u32,
        idle: IdleRatio,
    ) -> (Leg, Option<(Derouting, u32)>) {
        let detour = self
            .minimal_way
            .as_ref()
            .and_then(|minimal| best_detour(minimal, &self.detours, used, capacity, idle));
        match detour {
            None => (self.minimal, None),
            Some(number) => {
                let candidate = &self.candidates[number];
                (candidate.first, Some((candidate.kind, candidate.node)))
            }
        }
    }
}
