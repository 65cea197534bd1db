//! `flitlab sweep task`: what a task of a job array does. Job scripts call it.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;

use super::super::summary::print_text;
use super::super::text::counted_are;
use super::super::threads::Threads;
use super::super::{COMMIT, Failure, components};
use super::results::point_text;
use flitlab::measure::Saturation;
use flitlab::scenario::{self, CurvePrecision, Loads};
use flitlab::sweep::slurm::Submission;
use flitlab::sweep::{
    CurveEvent, Obtained, Store, in_parallel, label_of, run_curves, run_search, run_share,
};

/// Compute the points of one task of a job array; job scripts call this
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  flitlab sweep task results/torus-8x8x8-patterns/slurm/1 0")]
pub(super) struct Task {
    /// The folder of the submission
    #[arg(value_name = "SUBMISSION")]
    submission: PathBuf,
    /// The number of the task
    #[arg(value_name = "TASK")]
    task: usize,
    #[command(flatten)]
    threads: Threads,
}

impl Task {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let submission = Submission::open(&self.submission)?;
        let results = submission.results();
        if let Some(other) = submission.other_version() {
            return Err(Failure::input(format!(
                "this is flitlab {}, and flitlab {other} submitted the job: submit it again, with \
                 flitlab sweep resubmit {}",
                env!("CARGO_PKG_VERSION"),
                results.display()
            )));
        }
        let Some(identities) = submission.tasks.get(self.task) else {
            return Err(Failure::input(format!(
                "{} has tasks 0 to {}, not {}",
                self.submission.display(),
                submission.tasks.len().saturating_sub(1),
                self.task
            )));
        };
        let document = components::open(&submission.scenario())?;
        let sweep = scenario::Sweep::read(&document)?;
        // Two series may have the same point, and only one of them end before it.
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, point) in sweep.points.iter().enumerate() {
            places.entry(point.identity.to_string()).or_default().push(place);
        }
        let share: Option<Vec<&Vec<usize>>> =
            identities.iter().map(|identity| places.get(identity)).collect();
        let Some(share) = share else {
            return Err(Failure::input(format!(
                "points of this task are not those of {}: a file that it reads has changed since the \
                 job was submitted",
                submission.scenario().display()
            )));
        };
        let share: Vec<usize> = share.into_iter().flatten().copied().collect();
        let store = Store::share(results, COMMIT)?;
        match sweep.loads {
            Loads::Written { past_saturation } => {
                self.compute(&sweep, &share, past_saturation, &store)
            }
            Loads::Curve(precision) => self.draw(&sweep, &share, precision, &store),
            Loads::Saturation { tolerance } => self.search(&sweep, &share, tolerance, &store),
        }
    }

    fn compute(
        &self,
        sweep: &scenario::Sweep,
        share: &[usize],
        past_saturation: Option<usize>,
        store: &Store,
    ) -> Result<(), Failure> {
        let mut obtained = 0;
        let threads = self.threads.count();
        run_share(&sweep.points, share, past_saturation, store, threads, |number, point| {
            obtained += 1;
            say(sweep, number, &point)
        })?;
        match share.len() - obtained {
            0 => Ok(()),
            left_out => print_text(&format!(
                "{} left out, since the series had ended past saturation\n",
                counted_are(left_out, "point")
            )),
        }
    }

    fn draw(
        &self,
        sweep: &scenario::Sweep,
        share: &[usize],
        precision: CurvePrecision,
        store: &Store,
    ) -> Result<(), Failure> {
        let together = sweep.points_of_a_search();
        // Of points that are equal to those of another curve some may be there.
        let mut first: Vec<usize> = share.iter().map(|place| place - place % together).collect();
        first.sort_unstable();
        first.dedup();
        run_curves(sweep, precision, &first, store, self.threads.count(), |event| match event {
            CurveEvent::Point(place, obtained) => say(sweep, place.point, &obtained),
            CurveEvent::Open(_) | CurveEvent::Finished(_) => Ok(()),
        })
    }

    fn search(
        &self,
        sweep: &scenario::Sweep,
        share: &[usize],
        tolerance: f64,
        store: &Store,
    ) -> Result<(), Failure> {
        let search = |&number: &usize| {
            let point = &sweep.points[number];
            run_search(point, tolerance, store, |obtained| say(sweep, number, &obtained))
        };
        in_parallel(share, self.threads.count(), search, |found: Result<Saturation, Failure>| {
            found.map(drop)
        })
    }
}

/// A line for the log.
fn say(sweep: &scenario::Sweep, number: usize, obtained: &Obtained) -> Result<(), Failure> {
    let label = label_of(&sweep.points[number], u32::try_from(number).unwrap_or(u32::MAX));
    let known = if obtained.computed.is_some() { "" } else { " (was there)" };
    print_text(&format!(
        "{}{known}\n",
        point_text(&label, &obtained.point.measured, sweep.repetitions > 1)
    ))
}
