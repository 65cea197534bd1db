//! Many simulations: the points of a [`Sweep`](flitlab_scenario::Sweep), computed here or by the
//! tasks of a job array and kept, and searches that simulate what they find out.
//!
//! | module | what it is for |
//! |---|---|
//! | `points`, `store`, `claims` | one point, taken from the folder of results or computed and kept |
//! | `grid`, `ends` | points whose loads are written, on all cores; series that end past saturation |
//! | `curves`, `curve` | curves that find their loads |
//! | `saturation` | the highest load that is sustained |
//! | `plan` | how far a sweep is, and how long the rest will take |
//! | [`slurm`] | job arrays |
//! | `scenarios_of_rows` | which scenario a row of results is of |
//! | `place` | nodes on which applications end soonest |
//! | `local` | jobs side by side on this machine |

mod claims;
mod curve;
mod curves;
mod ends;
mod grid;
mod local;
mod place;
mod plan;
mod points;
mod saturation;
mod scenarios_of_rows;
pub mod slurm;
mod store;

pub use curves::{CurveEvent, run_curves};
pub use grid::{GridEvent, forget, low_loads_first, run_grid, run_share};
pub use local::in_parallel;
pub use place::{PlaceError, PlaceSearch, Placed};
pub use plan::{Progress, Survey, plan, survey};
pub use points::{Obtained, Place, PointError, compute, label_at_load, label_of, obtain};
pub use saturation::{CRITERION, run_search, search_saturation};
pub use scenarios_of_rows::scenarios_of_rows;
pub use store::{Store, StoreError};
