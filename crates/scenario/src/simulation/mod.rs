//! One simulation of a scenario, from what is bound to an engine to the rows of its result.

mod cautions;
mod checkpoint;
mod kept_channels;
mod outcome;
mod output_queued;
mod over_bound;
mod pace;
mod rows;
mod run;
mod run_cost;
mod setup;
mod several;
mod slowdowns;
mod timeline;
mod warnings;
mod windows;

pub use checkpoint::{Checkpoint, CheckpointError};
pub(crate) use kept_channels::MANY_CHANNELS;
pub use kept_channels::{Kept, KeptChannels};
pub use outcome::{Outcome, Work};
pub use over_bound::OverBound;
pub use pace::Pace;
pub use run_cost::RunCost;
pub use setup::{BARS_OF_A_POINT, BARS_OF_A_RUN, SetupError, Simulation};
pub use timeline::TimelineLog;

pub(crate) use warnings::TOO_LONG;
