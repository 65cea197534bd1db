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
pub use hyperx_omniwar::hyperx_omniwar;
pub use kept::{Kept, KeptError};
pub use nue_faults::nue_faults;
pub use nue_runtime::nue_runtime;
pub use nue_throughput::nue_throughput;
pub use outflank::{Outflank, outflank, outflank_sizes};
pub use outflank_angara::outflank_angara;
pub use path_selection::{PathSelectionTable, path_selection};
pub use path_throughput::{PathSelectionFigure, path_selection_figure};
pub use record::{Different, PRINTED, Record, Replay, Seen, Simulated, is_machine_time};
pub use slim_fly::slim_fly;

use serde::Serialize;
use serde::de::DeserializeOwned;

use flitlab_report::figure::Figure;
use flitlab_report::rows_text;
use flitlab_scenario::executor::in_parallel;

/// How much is computed, and with how many threads; results do not depend on the threads.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'k> {
    /// A sample that takes seconds, instead of all.
    pub quick: bool,
    pub threads: usize,
    pub simulations: Simulations<'k>,
}

/// Where simulations come from.
#[derive(Clone, Copy, Debug)]
pub enum Simulations<'k> {
    /// All are done, and nothing is kept.
    Done,
    /// Those of an interrupted run of this reproduction are not done again; the others are kept.
    Kept(&'k Kept),
    /// Those of a record are not done again but for some, which are compared.
    Replayed(&'k Replay),
}

#[cfg(test)]
const SAMPLE: Extent<'_> = Extent { quick: true, threads: 2, simulations: Simulations::Done };

impl Extent<'_> {
    /// Returns the kept result of a simulation, or simulates. `of` names all that the result
    /// depends on.
    fn simulated<T>(self, of: &str, simulate: impl FnOnce() -> T) -> T
    where
        T: Serialize + DeserializeOwned,
    {
        match self.simulations {
            Simulations::Done => simulate(),
            Simulations::Kept(kept) => kept.get(of, simulate),
            Simulations::Replayed(replay) => replay.get(of, simulate),
        }
    }
}

/// The result of a reproduction.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// For people.
    pub text: String,
    /// Names without extension, and rows as CSV.
    pub tables: Vec<(&'static str, String)>,
    /// Names without extension.
    pub figures: Vec<(String, Figure)>,
    /// The rows of all tables.
    pub json: serde_json::Value,
}

impl Reproduction {
    /// Returns the result that consists of one table of rows.
    fn of_rows<R: Serialize>(
        name: &'static str,
        rows: &[R],
        text: String,
        figures: Vec<(String, Figure)>,
    ) -> Self {
        Self { text, tables: vec![(name, rows_text(rows))], figures, json: json(rows) }
    }
}

/// How far a reproduction is: jobs done, of how many, and what the latest one gave in a line, if
/// jobs take long.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64, &str);

/// A routing table that its algorithm made is wrong: what, and where.
pub type Flawed = String;

/// Does all jobs in parallel, beginning with the first, and gives their results in the same order.
/// `note` is the line about a result that goes to `progress`.
fn all<J: Sync, R: Send>(
    jobs: &[J],
    extent: Extent<'_>,
    work: impl Fn(&J) -> R + Sync,
    note: impl Fn(&R) -> String,
    progress: Progress<'_>,
) -> Vec<R> {
    let numbered: Vec<(usize, &J)> = jobs.iter().enumerate().collect();
    let mut results: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    let mut done = 0;
    let take = |(place, result): (usize, R)| {
        done += 1;
        progress(done, jobs.len() as u64, note(&result).trim_end());
        results[place] = Some(result);
        Ok::<(), std::convert::Infallible>(())
    };
    let Ok(()) = in_parallel(&numbered, extent.threads, |&(place, job)| (place, work(job)), take);
    results.into_iter().map(|result| result.expect("every job gives a result")).collect()
}

fn json<R: Serialize>(rows: &[R]) -> serde_json::Value {
    serde_json::to_value(rows).expect("rows of plain fields")
}
