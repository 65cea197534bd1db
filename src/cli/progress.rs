//! Progress on standard error, if the work takes more than a second. Where that is no terminal, one
//! line says that something long has begun.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use terminal_size::{Width, terminal_size_of};

use super::program::{self, Standing};
use super::say::say;
use super::text::duration;
use flitlab::measure::{Phase, Progress};
use flitlab::units::time_text;

/// How long work may take before its progress is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long it may take where standard error is no terminal, before one line says what it is.
const PATIENCE_OF_FILES: Duration = Duration::from_secs(3);

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
    /// Whether it is over: nothing is drawn any more, whatever threads that are given up still do.
    over: AtomicBool,
    /// The current activity.
    message: Mutex<String>,
    estimate: Mutex<Estimate>,
}

/// How long the points of a sweep are thought to take.
#[derive(Default)]
struct Estimate {
    /// Seconds of one thread, by point; empty if nothing is known.
    seconds: Vec<f64>,
    /// Points that are done, until their times are known.
    done: Vec<usize>,
    threads: usize,
    /// They are being thought about: until then the first points, which are the quickest, say
    /// nothing.
    awaited: bool,
}

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
            over: AtomicBool::new(false),
            message: Mutex::new(message.into()),
            estimate: Mutex::default(),
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
        } else if !message.is_empty() {
            let weak = Arc::downgrade(&shown.0);
            let begun = message.to_owned();
            let _ = thread::Builder::new().spawn(move || {
                thread::sleep(PATIENCE_OF_FILES);
                let mention = weak.upgrade().and_then(|line| line.mention(&begun));
                if let Some(mention) = mention {
                    say(&mention);
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

    /// Returns whether the bar is visible.
    pub(super) fn is_wanted() -> bool {
        program::current().is_none() && stderr().is_terminal()
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

    /// Sets the expected work of the points of a sweep, in seconds of one thread, and the number of
    /// threads.
    pub(super) fn expect(&self, seconds: Vec<f64>, threads: usize) {
        let mut estimate = self.0.estimate.lock().unwrap_or_else(PoisonError::into_inner);
        (estimate.seconds, estimate.threads) = (seconds, threads);
    }

    /// Sets whether the expected work of the points is still being estimated.
    pub(super) fn await_plan(&self, awaited: bool) {
        let mut estimate = self.0.estimate.lock().unwrap_or_else(PoisonError::into_inner);
        estimate.awaited = awaited;
    }

    /// One thing more is done.
    pub(super) fn one_done(&self) {
        if !self.0.is_over() {
            self.0.bar.inc(1);
        }
    }

    /// This point of a sweep is done.
    pub(super) fn point_done(&self, point: usize) {
        let mut estimate = self.0.estimate.lock().unwrap_or_else(PoisonError::into_inner);
        estimate.done.push(point);
        drop(estimate);
        self.one_done();
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

    /// Returns a line that says what takes long, if that is not over. Of a simulation it is the
    /// setting up with which it has `begun`, since other lines follow.
    fn mention(&self, begun: &str) -> Option<String> {
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        let is_setting_up = *message == begun || self.bar.length() == Some(0);
        (!self.is_over() && is_setting_up).then(|| format!("note: {message}, which takes a while"))
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
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let done = self.bar.position();
        match (length, message.is_empty()) {
            (0, _) => format!("{message}, {}", duration(elapsed.as_secs_f64())),
            (_, false) => format!("{done:>3}% {message}, {}", duration(elapsed.as_secs_f64())),
            _ => {
                let left = self.left(elapsed, done, length);
                let left = left
                    .map_or_else(String::new, |left| format!(", about {} left", duration(left)));
                format!("{done}/{length}, {} so far{left}", duration(elapsed.as_secs_f64()))
            }
        }
    }

    /// Seconds that are left of a sweep: what its other points are thought to take, by how long
    /// those took that are done; without an idea of either, as long a point as so far.
    fn left(&self, elapsed: Duration, done: u64, all: u64) -> Option<f64> {
        let estimate = self.estimate.lock().unwrap_or_else(PoisonError::into_inner);
        estimate.left(elapsed.as_secs_f64(), done, all)
    }
}

impl Estimate {
    fn left(&self, elapsed: f64, done: u64, all: u64) -> Option<f64> {
        if self.seconds.is_empty() {
            return (done > 0 && !self.awaited)
                .then(|| elapsed / done as f64 * (all - done.min(all)) as f64);
        }
        let whole: f64 = self.seconds.iter().sum();
        let found: f64 = self.done.iter().filter_map(|&point| self.seconds.get(point)).sum();
        let expected = whole / self.threads.max(1) as f64;
        let share = if whole > 0.0 { found / whole } else { 1.0 };
        // The more is done, the more the clock counts, and the less what was thought beforehand.
        let by_clock = if share > 0.0 { elapsed / share } else { expected };
        let total = share * by_clock + (1.0 - share) * expected;
        Some((total * (1.0 - share)).max(0.0))
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

    #[test]
    fn what_is_left_of_a_sweep_begins_with_its_plan_and_ends_with_the_clock() {
        let estimate = |done: Vec<usize>| Estimate {
            seconds: vec![1.0, 1.0, 8.0],
            done,
            threads: 2,
            awaited: true,
        };
        assert_eq!(estimate(vec![]).left(0.0, 0, 3), Some(5.0));
        // Two tenths of the work in two seconds: ten seconds in all, of which a fifth is believed.
        let left = estimate(vec![0, 1]).left(2.0, 2, 3).unwrap();
        assert!((left - 0.8 * (0.2 * 10.0 + 0.8 * 5.0)).abs() < 1e-9, "{left}");
        assert_eq!(estimate(vec![0, 1, 2]).left(9.0, 3, 3), Some(0.0));
    }

    #[test]
    fn setting_up_that_takes_long_is_mentioned_where_there_is_no_terminal() {
        let run = Bar::of_run();
        let said = |bar: &Bar| bar.0.mention("setting up");
        assert_eq!(said(&run).as_deref(), Some("note: setting up, which takes a while"));
        run.doing("the first window");
        assert_eq!(said(&run), None);
        let check = Bar::of_work("reading the scenario");
        check.doing("looking at all pairs of nodes");
        let mention = said(&check);
        assert_eq!(
            mention.as_deref(),
            Some("note: looking at all pairs of nodes, which takes a while")
        );
        check.finish();
        assert_eq!(said(&check), None);
    }

    #[test]
    fn without_a_plan_points_that_are_left_take_as_long_as_those_that_are_done() {
        assert_eq!(Estimate::default().left(4.0, 0, 10), None);
        assert_eq!(Estimate::default().left(4.0, 2, 10), Some(16.0));
        let awaited = Estimate { awaited: true, ..Estimate::default() };
        assert_eq!(awaited.left(4.0, 2, 10), None, "a plan is about to come");
    }
}
