//! `flitlab sweep`: the points of a grid, in parallel, each kept as soon as it is finished.

pub(super) mod bounds;
mod collect;
mod command;
mod dry_run;
mod options;
mod results;
mod status;
mod submit;
mod survey;
mod sweep_folder;
mod task;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;

use super::again::{again, hint};
use super::folder::Output;
use super::input::Input;
use super::interrupt::Interrupt;
use super::progress::Bar;
use super::summary::{SaturationNote, mention};
use super::threads::Threads;
use super::{Failure, folder, program, slow_build, text, unasked, unlike};
use crate::cli::say::say;
pub(super) use command::SweepCommand;
use flitlab::scenario::{self, CurvePrecision, Loads, Point};
use flitlab::simulation::Simulation;
use flitlab::stop;
use flitlab::sweep::{
    CurveEvent, GridEvent, Place, Store, in_parallel, plan, run_curves, run_grid, run_search,
};
use options::{Executor, SlurmOptions};
use results::Results;
use sweep_folder::SweepFolder;

/// How often it is seen whether a sweep is over that is too short to be estimated.
const LOOK: Duration = Duration::from_millis(50);

/// Run a scenario at every point of its [sweep], in parallel
///
/// A finished point is on the disk at once, in points/ and points.csv. At the end there are figures
/// of latency and throughput, one curve a series, in results/NAME. A sweep that was ended, however
/// it was ended, goes on with --resume, and gives what it would have given undisturbed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  flitlab sweep scenarios/desmos/desmos-uniform.toml\n  \
                        flitlab sweep scenarios/angara/torus-8x8x8-patterns.toml --threads 2 --out curves\n  \
                        flitlab sweep scenarios/angara/torus-8x8x8-patterns.toml --out curves --resume\n  \
                        flitlab sweep scenarios/angara/torus-8x8x8-patterns.toml --dry-run\n  \
                        flitlab sweep scenarios/angara/torus-8x8x8-patterns.toml --executor slurm \
                        --time 2h --points-per-task 4\n  \
                        flitlab sweep status results/torus-8x8x8-patterns")]
pub(super) struct Sweep {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    output: Output,
    /// Go on in the folder in which this sweep was begun; points that are there are not computed
    /// again, points whose values have changed are
    #[arg(long)]
    resume: bool,
    /// List the points with an estimate of their time, and run and write nothing
    #[arg(long)]
    dry_run: bool,
    /// What computes the points; results do not depend on it
    #[arg(long, value_enum, value_name = "EXECUTOR", default_value_t)]
    executor: Executor,
    #[command(flatten)]
    slurm: SlurmOptions,
}

impl Sweep {
    pub(super) fn execute(self) -> Result<(), Failure> {
        let document = self.input.document()?;
        let read =
            if self.dry_run { scenario::Sweep::read_without_tables } else { scenario::Sweep::read };
        let bar = Bar::of_work("setting up");
        let mut sweep = read(&document)?;
        bar.finish();
        if self.output.no_figures {
            sweep.figures.formats = Some(Vec::new());
        }
        if self.executor == Executor::Local {
            self.slurm.refuse()?;
        }
        let (vain, first) = sweep.repeats_in_vain();
        let repeated = sweep.points.len() / sweep.repetitions.max(1) as usize;
        if let Some(first) = first.filter(|_| vain < repeated) {
            say(&format!(
                "note: {vain} of {repeated} points draw nothing at random, so their {} repetitions will be equal; {}",
                sweep.repetitions,
                match first.series.as_str() {
                    "" => "one each would be enough".into(),
                    series => format!("the first of them is of series `{series}`"),
                }
            ));
        } else if vain > 0 {
            let way_out = match sweep.points.len() > sweep.repetitions as usize {
                true => "leave `repetitions` out",
                false => "one `flitlab run` says as much",
            };
            say(&format!(
                "note: nothing here is drawn at random, so the {} repetitions will be equal: {way_out}",
                sweep.repetitions
            ));
        }
        for note in text::notes(sweep.points.iter().map(|point| &point.scenario)) {
            say(&format!("note: {note}"));
        }
        for note in text::far_rates(sweep.points.iter().map(|point| &point.scenario)) {
            say(&format!("warning: {note}"));
        }
        let mut notes: Vec<&str> = Vec::new();
        for note in sweep.points.iter().flat_map(|it| it.scenario.network.topology.notes()) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
                say(&format!("note: {note}"));
            }
        }
        if sweep.by_group > 0 {
            say(&format!("note: {}", text::channels_by_group(sweep.by_group, sweep.points.len())));
        }
        if let Some(differ) = unasked::text(&sweep.unasked) {
            say(&format!("note: {differ}"));
        }
        slow_build::mention();
        if self.dry_run {
            return dry_run::execute(&self, &sweep);
        }
        for differ in unlike::texts(&sweep.unlike(unlike::PATIENCE)) {
            say(&format!("note: {differ}"));
        }
        let first = &sweep.points.first().expect("a sweep has a point").scenario;
        let scenario = folder::resolved_by(&sweep.resolved()?);
        if self.executor == Executor::Slurm {
            if self.output.no_figures {
                return Err(Failure::input(
                    "--no-figures means nothing with --executor slurm\nhelp: give it to `flitlab \
                     sweep collect`, which draws them",
                ));
            }
            return submit::execute(&self, &sweep, &scenario);
        }
        let simulation = Simulation::new(first)?;
        let out = self.output.out.as_deref();
        // What nobody waits for any more begins no folder.
        stop::look();
        let place = if self.resume {
            SweepFolder::resume(&first.name, out, &sweep.points)?
        } else {
            if out.is_none() {
                sweep_folder::mention_unfinished(&first.name, &sweep.points);
            }
            SweepFolder::begin(&first.name, out)?
        };
        folder::write(&place.results.join("scenario.toml"), &scenario)?;
        if !self.output.json {
            let headline = text::headline(&simulation);
            let one = match sweep.loads {
                Loads::Curve(_) => "curve",
                Loads::Written { .. } | Loads::Saturation { .. } => "point",
            };
            mention(&format!("{headline}: {}\n", text::counted(sweep.points.len(), one)));
        }
        let again = again(&self.output, self.resume, &place.results);
        self.run(&sweep, &scenario, &simulation, &place, &again)
            .map_err(|failure| hint(failure, &again))
    }

    /// As a program calls it.
    pub(super) fn for_a_program(&mut self, text: Option<&str>) {
        self.input.text = text.map(str::to_owned);
    }

    /// Runs what is not finished, and writes the results of all.
    fn run(
        &self,
        sweep: &scenario::Sweep,
        resolved: &str,
        simulation: &Simulation,
        place: &SweepFolder,
        again: &str,
    ) -> Result<(), Failure> {
        let bar = Bar::of_sweep(sweep.points.len() as u64);
        let interrupt = Interrupt::watch({
            let (bar, again) = (bar.clone(), again.to_owned());
            let written = matches!(sweep.loads, Loads::Written { .. });
            let what = match sweep.loads {
                Loads::Written { .. } | Loads::Curve(_) => "points",
                Loads::Saturation { .. } => "searches",
            };
            let identity = |point: &Point| point.identity.to_string();
            let all: Vec<String> = sweep.points.iter().map(identity).collect();
            let results = place.results.clone();
            move || {
                let (done, total) = bar.count();
                bar.finish();
                // Of an earlier call's points some may not have been looked at yet.
                let done = match Store::names(&results) {
                    Ok(names) if written => {
                        let names: HashSet<String> = names.into_iter().collect();
                        all.iter().filter(|&identity| names.contains(identity)).count() as u64
                    }
                    _ => done,
                };
                farewell(done, total, what, &again);
            }
        })?;
        let json = self.output.json;
        let (folder, resolved) = (&place.results, resolved.to_owned());
        let mut results = Results::begin(folder, resolved, json, sweep, bar.clone(), interrupt)?;
        let saturation =
            estimated(sweep, place, &bar, self.threads.count(), || match sweep.loads {
                Loads::Written { past_saturation } => self
                    .run_grid(sweep, past_saturation, &place.store, &bar, &mut results)
                    .map(|()| Vec::new()),
                Loads::Curve(precision) => self
                    .run_curves(sweep, precision, &place.store, &bar, &mut results)
                    .map(|()| Vec::new()),
                Loads::Saturation { tolerance } => {
                    self.run_searches(sweep, tolerance, &place.store, &bar, &mut results)
                }
            });
        bar.finish();
        for path in place.store.damaged() {
            say(&format!("note: {} was damaged, and its point is computed again", path.display()));
        }
        let saturation = saturation?;
        if place.resumed && !self.output.json {
            let (known, was) = (results.known, if results.known == 1 { "was" } else { "were" });
            mention(&format!("{} {was} there already\n", text::counted(known, "point")));
        }
        results.conclude(saturation, simulation)
    }

    fn run_grid(
        &self,
        sweep: &scenario::Sweep,
        past_saturation: Option<usize>,
        store: &Store,
        bar: &Bar,
        results: &mut Results<'_>,
    ) -> Result<(), Failure> {
        let threads = self.threads.count();
        let left_out =
            run_grid(&sweep.points, past_saturation, store, threads, |event| match event {
                GridEvent::Point(number, obtained) => {
                    results.take(Place::of_point(number), &sweep.points[number], *obtained)
                }
                GridEvent::LeftOut(points) => {
                    bar.left_out(points as u64);
                    Ok(())
                }
            })?;
        results.leave_out(&left_out);
        if !left_out.is_empty() {
            bar.finish();
            say(&format!(
                "note: {} left out, since the series had ended past saturation (sweep.past_saturation)",
                text::counted_are(left_out.len(), "point")
            ));
        }
        Ok(())
    }

    fn run_curves(
        &self,
        sweep: &scenario::Sweep,
        precision: CurvePrecision,
        store: &Store,
        bar: &Bar,
        results: &mut Results<'_>,
    ) -> Result<(), Failure> {
        let searches: Vec<usize> =
            (0..sweep.points.len()).step_by(sweep.points_of_a_search()).collect();
        run_curves(sweep, precision, &searches, store, self.threads.count(), |event| {
            match event {
                CurveEvent::Open(points) => bar.open(points as u64),
                CurveEvent::Point(place, obtained) => {
                    results.take(place, &sweep.points[place.point], *obtained)?;
                    bar.one_done();
                }
                CurveEvent::Finished(first) => {
                    (first..first + sweep.points_of_a_search()).for_each(|it| bar.finished(it));
                }
            }
            Ok(())
        })
    }

    fn run_searches(
        &self,
        sweep: &scenario::Sweep,
        tolerance: f64,
        store: &Store,
        bar: &Bar,
        results: &mut Results<'_>,
    ) -> Result<Vec<SaturationNote>, Failure> {
        let results = Mutex::new(results);
        let take = |place: Place, obtained| {
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.take(place, &sweep.points[place.point], obtained)
        };
        let numbered: Vec<(usize, &Point)> = sweep.points.iter().enumerate().collect();
        let enter = program::for_threads();
        let search = |&(number, point): &(usize, &Point)| {
            enter(0);
            let mut tried = 0;
            let found = run_search(point, tolerance, store, |obtained| {
                tried += 1;
                take(Place { tried: tried - 1, ..Place::of_point(number) }, obtained)
            })?;
            Ok::<_, Failure>((number, SaturationNote::new(point, number, tolerance, &found)))
        };
        let mut notes = Vec::new();
        in_parallel(&numbered, self.threads.count(), search, |note| {
            let note = note?;
            bar.point_done(note.0);
            notes.push(note);
            Ok::<(), Failure>(())
        })?;
        notes.sort_by_key(|(number, _)| *number);
        Ok(notes.into_iter().map(|(_, note)| note).collect())
    }
}

/// Runs `work`; meanwhile estimates its time, once its progress is shown.
fn estimated<R>(
    sweep: &scenario::Sweep,
    place: &SweepFolder,
    bar: &Bar,
    threads: usize,
    work: impl FnOnce() -> R,
) -> R {
    let Some(patience) = Bar::patience() else { return work() };
    let over = AtomicBool::new(false);
    bar.await_plan(true);
    let estimate = || {
        let begun = Instant::now();
        while begun.elapsed() < patience {
            thread::sleep(LOOK);
            if over.load(Ordering::Relaxed) {
                return;
            }
        }
        if let Ok(plans) = plan(sweep, Some(&place.results)) {
            let times: Vec<Vec<Duration>> = plans.into_iter().map(|(_, times)| times).collect();
            bar.expect(&times, threads);
        }
        bar.await_plan(false);
    };
    thread::scope(|scope| {
        scope.spawn(estimate);
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Returns the last message of an interrupted sweep.
fn farewell(done: u64, all: u64, what: &str, again: &str) {
    say(&format!("interrupted: {done} of {all} {what} are finished; finished points are kept"));
    say(&format!("go on with\n    {again}"));
}
