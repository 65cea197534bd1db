//! Whether and where a new packet is derouted.

use super::{Routing, Settings};
use flitlab_base::narrow::narrow;
use flitlab_fabric::Torus;
use flitlab_routing::adaptive::profit::{IdleRatio, WeighedRoute, best_detour};
use flitlab_routing::adaptive::{Candidate, Leg, orthants, outflank, wraparound};

/// Packets with less than this distance to go are never derouted.
const MIN_DISTANCE: u32 = 2;

/// The ways open to the packets of a node's current message.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    pub(super) minimal: Leg,
    candidates: Vec<Candidate>,
    /// The minimal way and the candidates as the profit sees them; none if there's nothing to
    /// decide.
    minimal_way: Option<WeighedRoute>,
    detours: Vec<WeighedRoute>,
    idle: Option<IdleRatio>,
}

impl Ways {
    /// Finds the ways from `source` to `destination`.
    pub(super) fn find(
        &mut self,
        torus: &Torus,
        settings: &Settings,
        source: u32,
        destination: u32,
    ) {
        self.minimal = Leg::minimal(torus, source, destination, 0);
        self.candidates.clear();
        self.detours.clear();
        self.minimal_way = None;
        if self.minimal.distance() < MIN_DISTANCE {
            return;
        }
        let weights = match &settings.routing {
            Routing::AdaptiveBubble => return,
            Routing::PickOrthant(weights) => {
                orthants(torus, source, destination, &mut self.candidates);
                weights
            }
            Routing::OutFlank { outflank: rule, wraparound: midpoint, weights } => {
                outflank(torus, source, destination, *rule, &mut self.candidates);
                wraparound(torus, source, destination, *midpoint, &mut self.candidates);
                weights
            }
        };
        let dimensions = narrow(torus.dimensions());
        self.idle = Some(weights.idle);
        self.minimal_way = Some(WeighedRoute::minimal(&self.minimal, dimensions, weights));
        let way = |candidate| WeighedRoute::detour(candidate, &self.minimal, dimensions, weights);
        self.detours.extend(self.candidates.iter().map(way));
    }

    /// Estimates the bytes that the detours of a node take: as many as there are orthants, and as
    /// many outflanking nodes as pairs of dimensions.
    pub(super) fn bytes_of_one(torus: &Torus) -> usize {
        let dimensions = torus.dimensions();
        let detours = (1 << dimensions) + dimensions * dimensions;
        detours * (size_of::<Candidate>() + size_of::<WeighedRoute>())
    }

    /// The detour of the next packet, if it takes one.
    #[inline]
    pub(super) fn choose(&self, used: &[u8], capacity: u32) -> Option<&Candidate> {
        let (minimal, idle) = (self.minimal_way.as_ref()?, self.idle?);
        let number = best_detour(minimal, self.detours.iter().copied(), used, capacity, idle)?;
        Some(&self.candidates[number])
    }
}
