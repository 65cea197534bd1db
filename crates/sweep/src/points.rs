//! Points of a sweep: taken from the store, or computed and kept.

use std::time::{Duration, Instant};

use crate::store::{Store, StoreError};
use flitlab_report::{Label, PointResult, is_setting};
use flitlab_scenario::simulation::{SetupError, Simulation};
use flitlab_scenario::{Identity, LOAD, Point, Scenario, load_text};
use flitlab_traffic::OfferedLoad;

/// A point that was computed, or found in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Obtained {
    pub point: PointResult,
    /// How long it was computed by the clock; `None` if it was found.
    pub computed: Option<Duration>,
}

/// Why a point is not there.
#[derive(Debug, thiserror::Error)]
pub enum PointError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Which of a sweep's points a result is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// The number of the sweep's point. If loads are found, it stands for all that are tried.
    pub point: usize,
    /// Of a search for saturation, how many loads were tried before.
    pub tried: u32,
    /// The load, if a curve has found it.
    pub load: Option<f64>,
}

impl Place {
    /// That of a point whose load is written.
    pub fn of_point(point: usize) -> Self {
        Self { point, tried: 0, load: None }
    }
}

/// Returns the label of a sweep's point in results. `number` is the point's or, in a search for
/// saturation, the number of the tried load.
pub fn label_of(point: &Point, number: u32) -> Label {
    Label {
        series: point.series.clone(),
        figure: point.figure.clone(),
        point: number,
        repetition: point.repetition,
        seed: point.scenario.seed,
        settings: point.of_grid.iter().filter(|(key, _)| is_setting(key)).cloned().collect(),
    }
}

/// Returns the label of a curve's point at a load that the curve has found.
pub fn label_at_load(point: &Point, number: u32, load: f64) -> Label {
    let mut label = label_of(point, number);
    label.settings.push((LOAD.into(), load_text(&OfferedLoad::Fraction(load))));
    label
}

/// The point of a scenario; simulated on one thread if the store does not have it. If another
/// thread is simulating it, this one waits for that.
///
/// # Errors
/// If the scenario can't be simulated, or the point not be read or kept.
pub fn obtain(
    store: &Store,
    identity: &Identity,
    scenario: &Scenario,
) -> Result<Obtained, PointError> {
    let _claim = store.claim(identity);
    if let Some(point) = store.find(identity)? {
        return Ok(Obtained { point, computed: None });
    }
    let begun = Instant::now();
    let point = store.keep(identity, &simulated(scenario)?)?;
    Ok(Obtained { point, computed: Some(begun.elapsed()) })
}

fn simulated(scenario: &Scenario) -> Result<PointResult, SetupError> {
    let mut found = Simulation::new(scenario)?.run(&mut |_| {}).found;
    found.channels = scenario.kept.channels.keep(&scenario.network.fabric, found.channels);
    Ok(found)
}

/// The point of a scenario, simulated on one thread, with values rounded as the files of results have
/// them.
///
/// # Errors
/// If the scenario can't be simulated.
pub fn compute(scenario: &Scenario) -> Result<PointResult, SetupError> {
    Ok(crate::store::as_read_back(&simulated(scenario)?))
}
