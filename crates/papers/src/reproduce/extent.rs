//! What a reproduction is asked for, what it gives, and how its jobs are done.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Kept, Replay};
use flitlab_report::figure::Figure;
use flitlab_report::rows_text;
use flitlab_sweep::in_parallel;

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
pub(super) const SAMPLE: Extent<'_> =
    Extent { quick: true, threads: 2, simulations: Simulations::Done };

impl Extent<'_> {
    /// Returns the kept result of a simulation, or simulates. `of` names all that the result
    /// depends on.
    pub(super) fn simulated<T>(self, of: &str, simulate: impl FnOnce() -> T) -> T
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
    pub(super) fn of_rows<R: Serialize>(
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
pub(super) fn all<J: Sync, R: Send>(
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

pub(super) fn json<R: Serialize>(rows: &[R]) -> serde_json::Value {
    serde_json::to_value(rows).expect("rows of plain fields")
}
