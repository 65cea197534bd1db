//! How a scenario's routes are found.

use std::fmt;
use std::sync::Arc;

use crate::routing::angara::{Algorithm, Choices, Freedoms, memory_needed, unroutable};
use crate::routing::{
    Adaptive, AdaptiveRules, DirectionOrder, HalfRing, Region, Routes, TableFile, TableFileError,
    Unroutable,
};
use crate::topology::Fabric;
use crate::units::memory_text;

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
    /// Packets choose their way hop by hop.
    Adaptive(AdaptiveRules),
}

/// Why a fabric can't be routed.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutingError {
    Unroutable(Unroutable),
    /// The table of a file does not fit, for this reason.
    Table(TableFileError),
    /// Making the table takes more memory than there is, in bytes: needed and free.
    Memory(u64, u64),
    /// The fabric is none for adaptive routing, for this reason.
    Adaptive(String),
}

impl fmt::Display for RoutingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unroutable(error) => error.fmt(formatter),
            Self::Adaptive(reason) => formatter.write_str(reason),
            Self::Memory(needed, free) => write!(
                formatter,
                "making this table takes about {} of memory, and {} are free",
                memory_text(*needed),
                memory_text(*free)
            ),
            Self::Table(error) => write!(formatter, "the routing table does not fit: {error}"),
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
            Self::Adaptive(rules) => Adaptive::new(fabric, rules, seed)
                .map(Routes::Adaptive)
                .map_err(RoutingError::Adaptive),
            Self::Angara { algorithm, freedoms } => {
                self.check(fabric)?;
                let choices = Choices::new(Region::new(fabric), freedoms);
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
            Self::Adaptive(_) => Adaptive::check(fabric).map(drop).map_err(RoutingError::Adaptive),
            Self::Angara { freedoms, .. } => {
                let region = Region::new(fabric);
                enough_memory(&region, freedoms)?;
                let unroutable = unroutable(&region, freedoms);
                let Some(&(source, destination)) = unroutable.first() else { return Ok(()) };
                Err(RoutingError::Unroutable(Unroutable {
                    routing: "Angara routing",
                    first: (fabric.router_name(source), fabric.router_name(destination)),
                    pairs: unroutable.len() as u64,
                }))
            }
        }
    }

    /// Whether the routes depend on the seed.
    pub(super) fn is_random(&self) -> bool {
        match self {
            Self::Angara { algorithm, .. } => *algorithm == Algorithm::Genetic,
            Self::Adaptive(rules) => rules.is_random(),
            Self::DirectionOrder { .. } | Self::File(_) => false,
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
            Self::Angara { freedoms: Freedoms { first_and_last_steps: false, .. }, .. } => {
                "first and last steps may lead around: set `first_and_last_steps = true`; `flitlab \
                 route` names the pairs"
            }
            Self::Angara { .. } => {
                "no first and last step leads around these failures without a risk of deadlock; \
                 `flitlab route` names the pairs"
            }
            Self::Adaptive(_) => {
                "where something has failed, tables lead around it: try [routing.angara]"
            }
            Self::File(_) => "`flitlab route SCENARIO --save FILE` makes a table for a scenario",
        }
    }
}

/// The bytes that making a table takes, if that many are free.
///
/// # Errors
/// If they are not.
pub fn enough_memory(region: &Region<'_>, freedoms: Freedoms) -> Result<u64, RoutingError> {
    let needed = memory_needed(region, freedoms);
    match memory_free().filter(|&free| needed > free) {
        Some(free) => Err(RoutingError::Memory(needed, free)),
        None => Ok(needed),
    }
}

/// Bytes of memory that programs can still have; `None` where the system does not say.
fn memory_free() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}
