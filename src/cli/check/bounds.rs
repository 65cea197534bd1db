//! Loads that no rule exceeds which goes by some ways.

use serde::Serialize;

use flitlab::measure::{BoundedWays, LoadBound, USUAL_WORK};
use flitlab::simulation::Simulation;

/// A bound, in fractions of the fabric's capacity.
#[derive(Debug, Serialize)]
pub(super) struct Bound {
    ways: BoundedWays,
    /// The load if packets that have several ways share them alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_alike_load: Option<f64>,
    /// A load that these ways were found to carry, and one that they don't exceed; none if that was
    /// not computed.
    reached_load: Option<f64>,
    bound_load: Option<f64>,
}

/// Looks for the bounds of a scenario, for a second or so.
pub(super) fn of(simulation: &Simulation) -> Vec<Bound> {
    let capacity = simulation.fabric().capacity();
    let bound = |bound: LoadBound| Bound {
        ways: bound.ways,
        shared_alike_load: bound.evenly.map(|load| load / capacity),
        reached_load: bound.found.map(|found| found.0 / capacity),
        bound_load: bound.found.map(|found| found.1 / capacity),
    };
    simulation.load_bounds(USUAL_WORK).into_iter().map(bound).collect()
}

/// What is said of each, in words.
pub(super) fn lines(bounds: &[Bound]) -> impl Iterator<Item = String> + '_ {
    bounds.iter().map(|bound| {
        let ways = match bound.ways {
            BoundedWays::Minimal => "minimal ways",
            BoundedWays::Valiant => "Valiant's ways",
            BoundedWays::Own => "the routing's ways",
            BoundedWays::Any => "any ways",
        };
        let (Some(reached), Some(most)) = (bound.reached_load, bound.bound_load) else {
            return format!("{ways}: not computed, as it would take long");
        };
        let load = if most <= reached * (1.0 + 1e-6) {
            format!("{most:.4}")
        } else {
            format!("{most:.4} at most, {reached:.4} at least")
        };
        let alike = bound.shared_alike_load.filter(|&alike| alike < reached * (1.0 - 1e-6));
        let alike = alike.map_or(String::new(), |alike| format!("; {alike:.4} if shared alike"));
        format!("{ways}: load {load}{alike}")
    })
}
