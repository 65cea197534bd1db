//! How a scenario's routes are found.

use crate::routing::angara::{Algorithm, Choices, Freedoms, Region};
use crate::routing::{DirectionOrder, HalfRing, Routes, Unroutable};
use crate::topology::Fabric;

/// How routes are found; every pair of live nodes has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutingSpec {
    DirectionOrder {
        half_ring: HalfRing,
    },
    /// A table for Angara, made for the fabric.
    Angara {
        algorithm: Algorithm,
        freedoms: Freedoms,
    },
}

impl RoutingSpec {
    /// The routes of a fabric. `seed` matters to algorithms that draw at random.
    ///
    /// # Errors
    /// If a pair of live nodes has no legal route.
    pub fn routes(self, fabric: &Fabric, seed: u64) -> Result<Routes, Unroutable> {
        match self {
            Self::DirectionOrder { half_ring } => {
                DirectionOrder::new(fabric, half_ring).map(Routes::DirectionOrder)
            }
            Self::Angara { algorithm, freedoms } => {
                let choices = all_routable(fabric, freedoms)?;
                Ok(Routes::Table(algorithm.table(&choices, freedoms, seed).table))
            }
        }
    }

    /// Whether every pair of live nodes has a route; makes no table.
    pub(super) fn check(self, fabric: &Fabric) -> Result<(), Unroutable> {
        match self {
            Self::DirectionOrder { half_ring } => DirectionOrder::new(fabric, half_ring).map(drop),
            Self::Angara { freedoms, .. } => all_routable(fabric, freedoms).map(drop),
        }
    }

    /// What to know where a pair has no route.
    pub(super) fn help(self) -> &'static str {
        match self {
            Self::DirectionOrder { .. } => {
                "direction order takes each dimension in one go, one way or the other; it can't \
                 leave a row to pass a failure and come back to it; first and last steps may: try \
                 [routing.angara]"
            }
            Self::Angara { .. } => {
                "no first and last step leads around these failures without a risk of deadlock"
            }
        }
    }
}

fn all_routable(fabric: &Fabric, freedoms: Freedoms) -> Result<Choices<'_>, Unroutable> {
    let choices = Choices::new(Region::whole(fabric), freedoms);
    match choices.unroutable().first() {
        None => Ok(choices),
        Some(&(source, destination)) => Err(Unroutable {
            routing: "Angara routing",
            first: (fabric.router_name(source), fabric.router_name(destination)),
            pairs: choices.unroutable().len() as u64,
        }),
    }
}
