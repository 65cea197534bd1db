//! Points of a sweep: taken from the store, or computed and kept.

use std::fmt;

use super::simulation::{SetupError, Simulation};
use super::store::{Store, StoreError, StoredPoint};
use crate::scenario::{Identity, Scenario};

/// A point, and whether it had to be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Obtained {
    pub point: StoredPoint,
    pub computed: bool,
}

/// Why a point is not there.
#[derive(Debug)]
pub enum PointError {
    Setup(SetupError),
    Store(StoreError),
}

impl fmt::Display for PointError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setup(error) => error.fmt(formatter),
            Self::Store(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for PointError {}

impl From<SetupError> for PointError {
    fn from(error: SetupError) -> Self {
        Self::Setup(error)
    }
}

impl From<StoreError> for PointError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// The point of a scenario; simulated on one thread if the store does not have it. If another thread is
/// simulating it, this one waits for that.
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
        return Ok(Obtained { point, computed: false });
    }
    let outcome = Simulation::new(scenario)?.run("", 0, &mut |_| {});
    Ok(Obtained { point: store.keep(identity, &outcome)?, computed: true })
}
