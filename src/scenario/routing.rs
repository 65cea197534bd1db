//! How a scenario's routes are found.

use std::fmt;
use std::sync::Arc;

use crate::routing::angara::{Algorithm, Choices, Freedoms};
use crate::routing::{DirectionOrder, HalfRing, Region, Routes, TableFile, Unroutable};
use crate::topology::Fabric;

/// How routes are found; every pair of live nodes has one.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutingSpec {
    DirectionOrder {
        half_ring: HalfRing,
    },
    /// A table for Angara, made for the fabric.
    Angara {
        algorithm: Algorithm,
        freedoms: Freedoms,
    },
    /// A table that was read from a file.
    File(Arc<TableFile>),
}

/// Why a fabric can't be routed.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutingError {
    Unroutable(Unroutable),
    /// The table of a file does not fit, for this reason.
    Table(String),
}

impl fmt::Display for RoutingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unroutable(error) => error.fmt(formatter),
            Self::Table(reason) => formatter.write_str(reason),
        }
    }
}

impl RoutingSpec {
    /// The routes of a fabric. `seed` matters to algorithms that draw at random.
    ///
    /// # Errors
    /// If a pair of live nodes has no legal route, or a file's table does not fit.
    pub fn routes(&self, fabric: &Fabric, seed: u64) -> Result<Routes, RoutingError> {
        match *self {
            Self::DirectionOrder { half_ring } => DirectionOrder::new(fabric, half_ring)
                .map(Routes::DirectionOrder)
                .map_err(RoutingError::Unroutable),
            Self::File(ref file) => {
                file.fits(fabric).map_err(RoutingError::Table)?;
                Ok(Routes::Table(file.table.clone()))
            }
            Self::Angara { algorithm, freedoms } => {
                let choices = all_routable(fabric, freedoms)?;
                Ok(Routes::Table(algorithm.table(&choices, freedoms, seed).table))
            }
        }
    }

    /// Whether every pair of live nodes has a route; makes no table.
    pub(super) fn check(&self, fabric: &Fabric) -> Result<(), RoutingError> {
        match *self {
            Self::DirectionOrder { half_ring } => {
                DirectionOrder::new(fabric, half_ring).map(drop).map_err(RoutingError::Unroutable)
            }
            Self::File(ref file) => file.fits(fabric).map_err(RoutingError::Table),
            Self::Angara { freedoms, .. } => all_routable(fabric, freedoms).map(drop),
        }
    }

    /// What to know where a pair has no route.
    pub(super) fn help(&self) -> &'static str {
        match self {
            Self::DirectionOrder { .. } => {
                "direction order takes each dimension in one go, one way or the other; it can't \
                 leave a row to pass a failure and come back to it; first and last steps may: try \
                 [routing.angara]"
            }
            Self::Angara { .. } => {
                "no first and last step leads around these failures without a risk of deadlock"
            }
            Self::File(_) => "`flitlab route SCENARIO --save FILE` makes a table for a scenario",
        }
    }
}

fn all_routable(fabric: &Fabric, freedoms: Freedoms) -> Result<Choices<'_>, RoutingError> {
    let choices = Choices::new(Region::whole(fabric), freedoms);
    match choices.unroutable().first() {
        None => Ok(choices),
        Some(&(source, destination)) => Err(RoutingError::Unroutable(Unroutable {
            routing: "Angara routing",
            first: (fabric.router_name(source), fabric.router_name(destination)),
            pairs: choices.unroutable().len() as u64,
        })),
    }
}
