//! Published results computed again, beside the published values.
//!
//! Each reproduction is a function that gives a [`Reproduction`]: a table for people, rows for CSV
//! and JSON, figures. Values that only a figure of a paper shows are not repeated; numbers in its
//! text are.

mod angara_collectives;
mod angara_day;
mod angara_figure_4;
mod angara_figure_5;
mod angara_figure_6;
mod angara_readings;
mod angara_table_2;
mod angara_table_3;
mod bounds;
mod dragonfly_ugal;
mod ember_torus;
mod extent;
mod hyperx_omniwar;
mod ideal_routers;
mod kept;
mod load_curves;
mod nue_faults;
mod nue_runtime;
mod nue_tables;
mod nue_throughput;
mod outflank;
mod outflank_angara;
mod path_selection;
mod path_selection_runtime;
mod path_throughput;
mod path_utilisation;
mod record;
mod slim_fly;
mod tori;

pub use angara_collectives::angara_collectives;
pub use angara_day::angara_day;
pub use angara_figure_4::angara_figure_4;
pub use angara_figure_5::angara_figure_5;
pub use angara_figure_6::angara_figure_6;
pub use angara_table_2::angara_table_2;
pub use angara_table_3::angara_table_3;
pub use bounds::bounds;
pub use dragonfly_ugal::dragonfly_ugal;
pub use ember_torus::ember_torus;
#[cfg(test)]
use extent::SAMPLE;
pub use extent::{Extent, Flawed, Progress, Reproduction, Simulations};
use extent::{all, json};
pub use hyperx_omniwar::hyperx_omniwar;
pub use kept::{Kept, KeptError};
pub use nue_faults::nue_faults;
pub use nue_runtime::nue_runtime;
pub use nue_throughput::nue_throughput;
pub use outflank::{Outflank, outflank, outflank_sizes};
pub use outflank_angara::outflank_angara;
pub use path_selection::{PathSelectionTable, path_selection};
pub use path_selection_runtime::path_selection_runtime;
pub use path_throughput::{PathSelectionFigure, path_selection_figure};
pub use record::{Different, PRINTED, Record, Replay, Seen, Simulated, is_machine_time};
pub use slim_fly::slim_fly;
