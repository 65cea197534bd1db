//! The highest load that a scenario's network sustains.

use super::points::{Obtained, PointError, obtain};
use super::simulation::{SetupError, Simulation};
use super::store::Store;
use crate::{Point, Scenario};
use flitlab_measure::{Saturation, bisect};
use flitlab_report::Status;

/// How a load is judged, for the output.
pub const CRITERION: &str = "the load is shown to be steady: no channel gets more than it can carry, no source \
                             queue grows, and all run empty again and again; an undecided load counts as not \
                             sustained";

/// The highest load that is worth a try: the throughput bound (load 1 if that is not known), or as
/// much as each source can create.
pub(super) fn highest_load(simulation: &Simulation) -> f64 {
    let (bound, most) = bound_and_most(simulation);
    if most < bound * ROUNDING * ROUNDING { most } else { bound }
}

/// What is more than can be created by rounding alone is refused.
const ROUNDING: f64 = 1.0 - 1e-9;

/// The throughput bound, load 1 if that is not known, and as much as each source can create.
pub(super) fn bound_and_most(simulation: &Simulation) -> (f64, f64) {
    let bound = simulation.forecast().throughput();
    let bound = bound.map_or(1.0, |flits| flits / simulation.fabric().capacity());
    let created = simulation.load().map_or(f64::INFINITY, |load| load.highest_fraction);
    (bound, created * ROUNDING)
}

/// Searches for the highest load of which `sustained` says that it is, between 0 and the throughput
/// bound (load 1 if that is not known), or the most that each source can create.
///
/// # Errors
/// If the scenario can't be simulated, and those of `sustained`.
pub fn search_saturation<E: From<SetupError>>(
    scenario: &Scenario,
    tolerance: f64,
    sustained: impl FnMut(f64) -> Result<bool, E>,
) -> Result<Saturation, E> {
    bisect(highest_load(&Simulation::new(scenario)?), tolerance, sustained)
}

/// The search of a sweep's point: loads are taken from the store, or computed and kept, and handed
/// to `each` in their order.
///
/// # Errors
/// If the scenario can't be simulated, or a point not be read or kept, and those of `each`.
pub fn run_search<E: From<PointError> + From<SetupError>>(
    point: &Point,
    tolerance: f64,
    store: &Store,
    mut each: impl FnMut(Obtained) -> Result<(), E>,
) -> Result<Saturation, E> {
    search_saturation(&point.scenario, tolerance, |load| {
        let identity = point.identity.at_load(load);
        let obtained = obtain(store, &identity, &point.scenario.at_load(load))?;
        let sustained = obtained.point.measured.status == Status::Steady;
        each(obtained)?;
        Ok(sustained)
    })
}
