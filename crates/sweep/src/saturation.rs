//! The highest load that a scenario's network sustains.

use crate::points::{Obtained, PointError, obtain};
use crate::store::Store;
use flitlab_measure::{Saturation, bisect};
use flitlab_report::Status;
use flitlab_scenario::simulation::{SetupError, Simulation};
use flitlab_scenario::{Point, Scenario};

/// How a load is judged, for the output.
pub const CRITERION: &str = "the load is shown to be steady: no channel gets more than it can carry, no source \
                             queue grows, and all run empty again and again; an undecided load counts as not \
                             sustained";

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
    bisect(Simulation::new(scenario)?.highest_load(), tolerance, sustained)
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
