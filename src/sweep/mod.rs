//! From scenarios to result rows: one simulation, or the many points of a sweep.

mod local;
mod simulation;

pub use local::{Job, run_jobs};
pub use simulation::{Outcome, SetupError, Simulation, Work};
