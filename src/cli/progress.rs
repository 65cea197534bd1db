//! Progress on standard error: on a terminal a line that goes on, once the work takes more than a
//! second; elsewhere a line now and then, once it takes more than ten.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use terminal_size::{Width, terminal_size_of};

use super::program::{self, Standing};
use super::say::say;
use super::text::duration;
use super::time_left::{SweepTime, TimeLeft};
use flitlab::measure::{Phase, Progress};
use flitlab::units::time_text;

/// How long work may take before its progress is shown on a terminal.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long work may take elsewhere before its first line, and the least time between two lines.
const PATIENCE_OFF_TERMINAL: Duration = Duration::from_secs(10);

/// Two lines are at least one over this of the elapsed time apart: work of days writes a hundred of
/// them, not thousands.
const PART: u32 = 20;

/// How often the clock in the bar goes on while nothing else does.
const TICK: Duration = Duration::from_millis(500);

/// Columns from which on there is room for a bar beside the text.
const ROOMY: u16 = 60;

/// A line that shows up late or not at all, and is gone when the last copy of it is.
#[derive(Clone)]
pub(super) struct Bar(Arc<Line>);

struct Line {
    bar: ProgressBar,
    started: Instant,
    /// Points of a sweep that will not be done, since their series have ended before them.
    left_out: AtomicU64,
    /// Whether it is over: nothing is drawn any more, whatever threads that are given up still do.
    over: AtomicBool,
    /// The current activity.
    message: Mutex<String>,
    sweep_time: Mutex<SweepTime>,
    /// When the phase of a simulation began that is under way.
    phase: Mutex<Option<(Phase, Instant)>>,
}

/// How long work may take elsewhere before it is said what is being set up.
const PATIENCE_OFF_TERMINAL_AT_FIRST: Duration = Duration::from_secs(2);

impl Bar {
    /// For one simulation, from the reading of its scenario on.
    pub(super) fn of_run() -> Self {
        Self::new(100, "setting up")
    }

    /// For the points of a sweep.
    pub(super) fn of_sweep(points: u64) -> Self {
        Self::new(points, "")
    }

    /// For work of which only the time is known that it has taken.
    pub(super) fn of_work(what: &str) -> Self {
        Self::new(0, what)
    }

    fn new(length: u64, message: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::hidden());
        let line = Arc::new(Line {
            bar,
            started: Instant::now(),
            left_out: AtomicU64::new(0),
            over: AtomicBool::new(false),
            message: Mutex::new(message.into()),
            sweep_time: Mutex::default(),
            phase: Mutex::default(),
        });
        let shown = Self(line);
        if let Some(program) = program::current() {
            program.shows(shown.clone());
        } else if stderr().is_terminal() {
            let weak = Arc::downgrade(&shown.0);
            // A thread that can't be started shows nothing.
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(PATIENCE);
                while let Some(line) = weak.upgrade().filter(|line| !line.is_over()) {
                    line.show();
                    drop(line);
                    thread::sleep(TICK);
                }
            });
        } else {
            let weak = Arc::downgrade(&shown.0);
            let setting_up = !message.is_empty();
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(match setting_up {
                    true => PATIENCE_OFF_TERMINAL_AT_FIRST,
                    false => PATIENCE_OFF_TERMINAL,
                });
                while let Some(line) = weak.upgrade().filter(|line| !line.is_over()) {
                    say(&line.told());
                    let elapsed = line.started.elapsed();
                    drop(line);
                    thread::sleep(PATIENCE_OFF_TERMINAL.max(elapsed / PART));
                }
            });
        }
        shown
    }

    /// How far the work is; `None` if it is over.
    pub(super) fn standing(&self) -> Option<Standing> {
        (!self.0.is_over()).then(|| Standing {
            done: self.0.bar.position(),
            of: self.0.bar.length().unwrap_or(0),
            text: self.0.text(),
        })
    }

    /// How long work takes at the least whose progress is shown; `None` if none is.
    pub(super) fn patience() -> Option<Duration> {
        let patience = if stderr().is_terminal() { PATIENCE } else { PATIENCE_OFF_TERMINAL };
        program::current().is_none().then_some(patience)
    }

    /// A simulation has come this far. The end of a measurement is not known: the bar shows the
    /// windows done of the most there can be.
    pub(super) fn simulated(&self, progress: Progress) {
        let phase = match progress.phase {
            Phase::WarmUp => "warming up",
            Phase::Measuring => "measuring",
        };
        let percent = u64::from(progress.done) * 100 / u64::from(progress.most.max(1));
        let rate = progress.time.0 as f64 / 1e6 / self.0.started.elapsed().as_secs_f64().max(1e-3);
        // Four digits: the line has to fit into 80 columns.
        let digit = 10u64.pow(progress.time.0.max(1).ilog10().saturating_sub(3));
        let simulated = time_text(progress.time / digit * digit);
        self.doing(&format!("{phase}, {simulated} at {} us/s", digits(rate)));
        let mut since = self.0.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if since.is_none_or(|(phase, _)| phase != progress.phase) {
            *since = Some((progress.phase, Instant::now()));
        }
        drop(since);
        if !self.0.is_over() {
            self.0.bar.set_position(percent.min(100));
        }
    }

    /// Sets the current activity.
    pub(super) fn doing(&self, what: &str) {
        let mut message = self.0.message.lock().unwrap_or_else(PoisonError::into_inner);
        message.clear();
        message.push_str(what);
    }

    /// Sets what to expect of the simulations of each point of a sweep, and the number of threads.
    pub(super) fn expect(&self, times: &[Vec<Duration>], threads: usize) {
        self.sweep_time().expect(times, threads);
    }

    /// Sets whether it is still being found out what to expect of the points.
    pub(super) fn await_plan(&self, awaited: bool) {
        self.sweep_time().set_awaited(awaited);
    }

    /// One thing more is done.
    pub(super) fn one_done(&self) {
        if !self.0.is_over() {
            self.0.bar.inc(1);
        }
    }

    /// A simulation for this point of a sweep is there, computed in so long; `None` if it was kept.
    pub(super) fn simulated_for(&self, point: usize, computed: Option<Duration>) {
        self.sweep_time().simulated(point, computed);
    }

    /// This point of a sweep is done.
    pub(super) fn point_done(&self, point: usize) {
        self.finished(point);
        self.one_done();
    }

    /// Nothing is left to simulate for this point of a sweep; what is counted are others.
    pub(super) fn finished(&self, point: usize) {
        self.sweep_time().finish(point);
    }

    fn sweep_time(&self) -> MutexGuard<'_, SweepTime> {
        self.0.sweep_time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// So many things are to do that are not done, as far as is known.
    pub(super) fn open(&self, things: u64) {
        if !self.0.is_over() {
            self.0.bar.set_length(self.0.bar.position() + things);
        }
    }

    /// So many points of the sweep will not be done.
    pub(super) fn left_out(&self, points: u64) {
        self.0.left_out.store(points, Ordering::Relaxed);
    }

    /// Things done, and to do in all.
    pub(super) fn count(&self) -> (u64, u64) {
        (self.0.bar.position(), self.0.bar.length().unwrap_or(0))
    }

    /// Lets something be printed above the bar, whether that is shown or not.
    pub(super) fn above<R>(&self, print: impl FnOnce() -> R) -> R {
        if self.0.is_over() { print() } else { self.0.bar.suspend(print) }
    }

    /// Takes the line away for good.
    pub(super) fn finish(&self) {
        self.0.finish();
    }
}

/// A number with three digits or more.
fn digits(number: f64) -> String {
    match number {
        0.0..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

impl Line {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn finish(&self) {
        if !self.over.swap(true, Ordering::Relaxed) {
            self.bar.finish_and_clear();
        }
    }

    /// Draws what is known now.
    fn show(&self) {
        let length = self.bar.length().unwrap_or(0);
        if self.bar.is_hidden() {
            let columns = terminal_size_of(stderr()).map_or(80, |(Width(columns), _)| columns);
            let template = match length {
                0 => "{wide_msg}",
                _ if columns < ROOMY => "{wide_msg}",
                _ => "{bar:20} {wide_msg}",
            };
            let style = ProgressStyle::with_template(template).expect("a valid template");
            self.bar.set_style(style.progress_chars("=> "));
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(self.text());
        if self.is_over() {
            self.bar.finish_and_clear();
        }
    }

    /// What is known now, in words.
    fn text(&self) -> String {
        let length = self.bar.length().unwrap_or(0);
        let elapsed = self.started.elapsed();
        let so_far = duration(elapsed.as_secs_f64());
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let done = self.bar.position();
        match (length, message.is_empty()) {
            (0, _) => format!("{message}, {so_far}"),
            (_, false) => format!("{done:>3}% {message}, {so_far}"),
            _ => {
                let (left_out, some_left_out) = self.left_out();
                let length = length.saturating_sub(left_out);
                let left = self.left(elapsed, done, length);
                format!("{done}/{length}{some_left_out}, {so_far} so far{left}")
            }
        }
    }

    /// What is known now, in a line of its own: what is done, what is left, and for how long.
    fn told(&self) -> String {
        let length = self.bar.length().unwrap_or(0);
        let elapsed = self.started.elapsed();
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let done = self.bar.position();
        let so_far = duration(elapsed.as_secs_f64());
        match (length, message.is_empty()) {
            (0, _) => format!("{message}, {so_far} so far"),
            (_, false) => {
                let left = self.left_of_measuring(done).map_or_else(String::new, |left| {
                    format!(", at most about {} left", duration(left))
                });
                format!("{done}% done, {message}; {so_far} so far{left}")
            }
            _ => {
                let (left_out, some_left_out) = self.left_out();
                let open = length.saturating_sub(done + left_out);
                let left = self.left(elapsed, done, length.saturating_sub(left_out));
                format!(
                    "{done} of {length} done{some_left_out}, {open} to go; {so_far} so far{left}"
                )
            }
        }
    }

    /// Points that are left out, and how that is said.
    fn left_out(&self) -> (u64, String) {
        match self.left_out.load(Ordering::Relaxed) {
            0 => (0, String::new()),
            points => (points, format!(", {points} left out")),
        }
    }

    /// Seconds that are left of a measurement of which so many percent are done, if it takes the most
    /// windows that it may.
    fn left_of_measuring(&self, done: u64) -> Option<f64> {
        let since = *self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, since) = since.filter(|(phase, _)| *phase == Phase::Measuring)?;
        (done > 0).then(|| since.elapsed().as_secs_f64() * (100.0 / done.min(100) as f64 - 1.0))
    }

    /// How long a sweep still takes, in words, if that is known.
    fn left(&self, elapsed: Duration, done: u64, all: u64) -> String {
        let sweep_time = self.sweep_time.lock().unwrap_or_else(PoisonError::into_inner);
        sweep_time.left(elapsed, done, all).map_or_else(String::new, TimeLeft::text)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flitlab::units::Picoseconds;

    /// As it is told where there is no terminal.
    fn told(bar: &Bar) -> String {
        let told = bar.0.told();
        bar.finish();
        told
    }

    #[test]
    fn off_a_terminal_it_is_said_what_is_done_and_what_is_left() {
        let sweep = Bar::of_sweep(3);
        sweep.expect(&[40, 40, 80].map(|seconds| vec![Duration::from_secs(seconds)]), 2);
        sweep.point_done(0);
        let said = told(&sweep);
        assert!(said.starts_with("1 of 3 done, 2 to go; "), "{said}");
        assert!(said.contains(" so far, about ") && said.ends_with(" left"), "{said}");

        let sweep = Bar::of_sweep(9);
        sweep.point_done(0);
        sweep.left_out(3);
        let said = told(&sweep);
        assert!(said.starts_with("1 of 9 done, 3 left out, 5 to go; "), "{said}");

        let run = Bar::of_run();
        let at = |phase, done| Progress { phase, time: Picoseconds(2_000_000), done, most: 50 };
        run.simulated(at(Phase::WarmUp, 10));
        run.simulated(at(Phase::Measuring, 10));
        let said = told(&run);
        assert!(said.starts_with("20% done, measuring, 2 us at "), "{said}");
        assert!(said.contains(" so far, at most about ") && said.ends_with(" left"), "{said}");

        let work = Bar::of_work("reading the trace");
        let said = told(&work);
        assert!(said.starts_with("reading the trace, ") && said.ends_with(" so far"), "{said}");
    }
}
