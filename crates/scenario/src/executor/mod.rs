//! From scenarios to result rows: one simulation, or the many points of a sweep.

mod cautions;
mod checkpoint;
mod claims;
mod curve;
mod curves;
mod ends;
mod estimate;
mod grid;
mod kept_channels;
mod local;
mod output_queued;
mod over_bound;
mod place;
mod plan;
mod points;
mod rows;
mod saturation;
mod scenarios_of_rows;
mod several;
mod simulation;
mod slowdowns;
pub mod slurm;
mod store;
mod timeline;
mod warnings;
mod windows;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use curves::{CurveEvent, run_curves};
pub use estimate::RunCost;
pub use grid::{GridEvent, forget, low_loads_first, run_grid, run_share};
pub(crate) use kept_channels::MANY_CHANNELS;
pub use kept_channels::{Kept, KeptChannels};
pub use local::in_parallel;
pub use over_bound::OverBound;
pub use place::{PlaceError, PlaceSearch, Placed};
pub use plan::{Progress, Survey, plan, survey};
pub use points::{Obtained, Place, PointError, compute, label_at_load, label_of, obtain};
pub use saturation::{CRITERION, run_search, search_saturation};
pub use scenarios_of_rows::scenarios_of_rows;
pub use simulation::{BARS_OF_A_POINT, BARS_OF_A_RUN, Outcome, SetupError, Simulation, Work};
pub use store::{Store, StoreError};
pub use timeline::TimelineLog;

pub(crate) use warnings::TOO_LONG;
