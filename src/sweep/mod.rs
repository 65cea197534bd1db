//! From scenarios to result rows: one simulation, or the many points of a sweep.

mod claims;
mod ends;
mod estimate;
mod grid;
mod local;
mod plan;
mod points;
mod saturation;
mod simulation;
mod store;

pub use grid::run_grid;
pub use local::in_parallel;
pub use plan::{Plan, plan};
pub use points::{Obtained, PointError, obtain};
pub use saturation::{CRITERION, find_saturation, search_saturation};
pub use simulation::{Outcome, SetupError, Simulation, Work};
pub use store::{Store, StoreError, StoredDeadlock, StoredPoint};
