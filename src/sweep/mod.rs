//! From scenarios to result rows: one simulation, or the many points of a sweep.

mod local;
mod saturation;
mod simulation;

pub use local::in_parallel;
pub use saturation::{CRITERION, find_saturation};
pub use simulation::{Outcome, SetupError, Simulation, Work};
